/*
 * Keys: filled once, shared by count. A key pair keeps its public key, so that it is computed once.
 */

#include "provider.h"
#include <string.h>

Key *key_new(const Provider *provider, const Set *set) {
    Key *key = OPENSSL_zalloc(sizeof *key);
    if (!key) {
        fail(provider, REASON_MEMORY, "a key");
        return NULL;
    }
    key->provider = provider;
    key->set = set;
    key->users = 1;
    int fits = succeeded(provider, aioli_sizes(set->algorithm, &key->sizes));
    if (fits && (key->sizes.secret_key > MAX_SEED || key->sizes.digest > MAX_DIGEST
                 || key->sizes.public_key > MAX_PUBLIC_KEY)) {
        fits = fail(provider, REASON_LIBRARY, "its keys are longer than those this provider was built for");
    }
    if (!fits) {
        OPENSSL_free(key);
        return NULL;
    }
    return key;
}

Key *key_share(Key *key) {
    if (key) {
        key->users++;
    }
    return key;
}

void key_free(Key *key) {
    if (!key || --key->users > 0) {
        return;
    }
    aioli_signing_key_free(key->secret);
    OPENSSL_free(key->public_key);
    OPENSSL_free(key);
}

static int is_empty(const Key *key) {
    return !key->public_key || fail(key->provider, REASON_KEY, "the key has been set before and cannot be changed");
}

int key_set_secret(Key *key, AioliSigningKey *secret) {
    if (!is_empty(key)) {
        return 0;
    }
    size_t length = key->sizes.public_key;
    unsigned char *bytes = OPENSSL_malloc(length);
    if (!bytes) {
        return fail(key->provider, REASON_MEMORY, "a public key");
    }
    if (!succeeded(key->provider, aioli_signing_key_public(secret, bytes, &length))) {
        OPENSSL_free(bytes);
        return 0;
    }
    key->secret = secret;
    key->public_key = bytes;
    return 1;
}

int key_set_public(Key *key, const unsigned char *bytes, size_t length) {
    if (!is_empty(key)) {
        return 0;
    }
    if (length != key->sizes.public_key) {
        return fail(key->provider, REASON_KEY, "a public key of %s has %zu bytes, given are %zu",
                    set_name(key->provider, key->set), key->sizes.public_key, length);
    }
    key->public_key = OPENSSL_memdup(bytes, length);
    return key->public_key || fail(key->provider, REASON_MEMORY, "a public key");
}
