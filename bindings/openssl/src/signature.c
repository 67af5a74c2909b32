/*
 * Signatures. A message is hashed once, piece by piece, whether it comes through EVP_DigestSign*()
 * or whole through EVP_PKEY_sign().
 */

#include "provider.h"
#include <openssl/core_names.h>
#include <string.h>

typedef struct {
    const Provider *provider;
    Key *key;
    int signs;           /* or verifies */
    AioliHasher *hasher; /* of the message that comes in pieces */
} Signature;

static void *new_context(void *provider, const char *properties) {
    (void)properties;
    Signature *context = OPENSSL_zalloc(sizeof *context);
    if (!context) {
        fail(provider, REASON_MEMORY, "a signature context");
        return NULL;
    }
    context->provider = provider;
    return context;
}

static void free_context(void *argument) {
    Signature *context = argument;
    if (context) {
        aioli_hasher_free(context->hasher);
        key_free(context->key);
        OPENSSL_free(context);
    }
}

static void *duplicate_context(void *argument) {
    const Signature *context = argument;
    Signature *copy = new_context((void *)context->provider, NULL);
    if (!copy) {
        return NULL;
    }
    copy->signs = context->signs;
    copy->key = key_share(context->key);
    if (context->hasher && !succeeded(context->provider, aioli_hasher_copy(context->hasher, &copy->hasher))) {
        free_context(copy);
        return NULL;
    }
    return copy;
}

/* Takes the key of a new operation; NULL repeats the one before with its key. */
static int set_key(Signature *context, Key *key, int signs) {
    key = key ? key : context->key;
    if (!key || !key->public_key) {
        return fail(context->provider, REASON_KEY, "signing and verifying need a key");
    }
    if (signs && !key->secret) {
        return fail(context->provider, REASON_KEY, "signing needs a private key, given is a public key");
    }
    key_share(key);
    key_free(context->key);
    context->key = key;
    context->signs = signs;
    aioli_hasher_free(context->hasher);
    context->hasher = NULL;
    return 1;
}

/* A parameter that would change the signature must not be passed over. */
static int refuse_context_string(const Provider *provider, const OSSL_PARAM params[]) {
    const OSSL_PARAM *p = params ? OSSL_PARAM_locate_const(params, "context-string") : NULL;
    return !p || p->data_size == 0 || fail(provider, REASON_PARAMETER, "MAYO has no context-string");
}

static int sign_init(void *context, void *key, const OSSL_PARAM params[]) {
    return refuse_context_string(((Signature *)context)->provider, params) && set_key(context, key, 1);
}

static int verify_init(void *context, void *key, const OSSL_PARAM params[]) {
    return refuse_context_string(((Signature *)context)->provider, params) && set_key(context, key, 0);
}

/* Checks the room for a signature; says in `length` how long it is if nobody asks for more. */
static int has_room(const Signature *context, const unsigned char *signature, size_t *length, size_t room) {
    size_t needed = context->key->sizes.signature;
    *length = needed;
    return !signature || room >= needed
           || fail(context->provider, REASON_ROOM, "a signature has %zu bytes, the room %zu", needed, room);
}

/* The message is `tbs`, as with all schemes that hash by themselves. */
static int sign(void *argument, unsigned char *signature, size_t *length, size_t room, const unsigned char *tbs,
                size_t tbs_length) {
    Signature *context = argument;
    if (!context->key || !context->signs) {
        return fail(context->provider, REASON_KEY, "signing was not prepared");
    }
    if (!has_room(context, signature, length, room)) {
        return 0;
    }
    return !signature
           || succeeded(context->provider, aioli_sign(context->key->secret, tbs, tbs_length, signature, length));
}

static int verify(void *argument, const unsigned char *signature, size_t length, const unsigned char *tbs,
                  size_t tbs_length) {
    Signature *context = argument;
    if (!context->key || context->signs) {
        return fail(context->provider, REASON_KEY, "verifying was not prepared");
    }
    const Key *key = context->key;
    return succeeded(key->provider, aioli_verify(key->set->algorithm, key->public_key, key->sizes.public_key, tbs,
                                                 tbs_length, signature, length));
}

/* Messages in pieces. */

static int start(Signature *context, const char *digest, Key *key, const OSSL_PARAM params[], int signs) {
    if (digest && *digest && strcmp(digest, "UNDEF") != 0) {
        return fail(context->provider, REASON_DIGEST, "MAYO hashes the message itself; do not choose %s", digest);
    }
    return refuse_context_string(context->provider, params) && set_key(context, key, signs)
           && succeeded(context->provider, aioli_hasher_new(context->key->set->algorithm, &context->hasher));
}

static int digest_sign_init(void *context, const char *digest, void *key, const OSSL_PARAM params[]) {
    return start(context, digest, key, params, 1);
}

static int digest_verify_init(void *context, const char *digest, void *key, const OSSL_PARAM params[]) {
    return start(context, digest, key, params, 0);
}

static int update(void *argument, const unsigned char *piece, size_t length) {
    Signature *context = argument;
    if (!context->hasher) {
        return fail(context->provider, REASON_KEY, "hashing was not prepared");
    }
    return succeeded(context->provider, aioli_hasher_update(context->hasher, piece, length));
}

/* Writes the digest of the pieces. A copy is finished, since an application may add more pieces. */
static int finish(const Signature *context, unsigned char *digest, size_t *length) {
    AioliHasher *copy;
    if (!context->hasher) {
        return fail(context->provider, REASON_KEY, "hashing was not prepared");
    }
    if (!succeeded(context->provider, aioli_hasher_copy(context->hasher, &copy))) {
        return 0;
    }
    int done = succeeded(context->provider, aioli_hasher_finish(copy, digest, length));
    aioli_hasher_free(copy);
    return done;
}

static int digest_sign_final(void *argument, unsigned char *signature, size_t *length, size_t room) {
    Signature *context = argument;
    if (!context->key || !context->signs) {
        return fail(context->provider, REASON_KEY, "signing was not prepared");
    }
    if (!has_room(context, signature, length, room) || !signature) {
        return !signature;
    }
    unsigned char digest[MAX_DIGEST];
    size_t digest_length = sizeof digest;
    return finish(context, digest, &digest_length)
           && succeeded(context->provider,
                        aioli_sign_digest(context->key->secret, digest, digest_length, signature, length));
}

static int digest_verify_final(void *argument, const unsigned char *signature, size_t length) {
    Signature *context = argument;
    if (!context->key || context->signs) {
        return fail(context->provider, REASON_KEY, "verifying was not prepared");
    }
    unsigned char digest[MAX_DIGEST];
    size_t digest_length = sizeof digest;
    const Key *key = context->key;
    return finish(context, digest, &digest_length)
           && succeeded(key->provider, aioli_verify_digest(key->set->algorithm, key->public_key, key->sizes.public_key,
                                                           digest, digest_length, signature, length));
}

/* Parameters. */

static const OSSL_PARAM *gettable(void *context, void *provider) {
    (void)context, (void)provider;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_octet_string(OSSL_SIGNATURE_PARAM_ALGORITHM_ID, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

static int get_params(void *argument, OSSL_PARAM params[]) {
    const Signature *context = argument;
    OSSL_PARAM *p = OSSL_PARAM_locate(params, OSSL_SIGNATURE_PARAM_ALGORITHM_ID);
    if (!p) {
        return 1;
    }
    if (!context->key) {
        return fail(context->provider, REASON_KEY, "an identifier needs a key");
    }
    return OSSL_PARAM_set_octet_string(p, context->key->set->identifier, IDENTIFIER_LENGTH)
           || fail(context->provider, REASON_ROOM, "an identifier has %d bytes", IDENTIFIER_LENGTH);
}

const OSSL_DISPATCH signature_functions[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, (Function)new_context},
    {OSSL_FUNC_SIGNATURE_FREECTX, (Function)free_context},
    {OSSL_FUNC_SIGNATURE_DUPCTX, (Function)duplicate_context},
    {OSSL_FUNC_SIGNATURE_SIGN_INIT, (Function)sign_init},
    {OSSL_FUNC_SIGNATURE_SIGN, (Function)sign},
    {OSSL_FUNC_SIGNATURE_VERIFY_INIT, (Function)verify_init},
    {OSSL_FUNC_SIGNATURE_VERIFY, (Function)verify},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, (Function)digest_sign_init},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE, (Function)update},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL, (Function)digest_sign_final},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN, (Function)sign},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT, (Function)digest_verify_init},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE, (Function)update},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL, (Function)digest_verify_final},
    {OSSL_FUNC_SIGNATURE_DIGEST_VERIFY, (Function)verify},
    {OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, (Function)get_params},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, (Function)gettable},
    {0, NULL},
};
