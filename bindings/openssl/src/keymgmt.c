/*
 * Key management: keys are generated, imported, exported, compared and described.
 */

#include "provider.h"
#include <openssl/core_names.h>
#include <string.h>

static int has(const void *context, int selection) {
    const Key *key = context;
    if (!key) {
        return 0;
    }
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) && !key->secret) {
        return 0;
    }
    return !(selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) || key->public_key;
}

/* The public key of a pair follows from its secret key, so comparing the public keys is enough. */
static int match(const void *one_context, const void *other_context, int selection) {
    const Key *one = one_context, *other = other_context;
    if (one->set != other->set) {
        return 0;
    }
    if (!(selection & OSSL_KEYMGMT_SELECT_KEYPAIR)) {
        return 1;
    }
    return one->public_key && other->public_key
           && memcmp(one->public_key, other->public_key, one->sizes.public_key) == 0;
}

/* Any bytes of the right length are a public key. */
static int validate(const void *context, int selection, int type) {
    (void)type;
    const Key *key = context;
    if (!has(key, selection)) {
        return fail(key->provider, REASON_KEY, "the key has no %s part",
                    key->public_key ? "private" : "public");
    }
    if (!(selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY)) {
        return 1;
    }
    unsigned char public_key[MAX_PUBLIC_KEY];
    size_t length = sizeof public_key;
    if (!succeeded(key->provider, aioli_signing_key_public(key->secret, public_key, &length))) {
        return 0;
    }
    return memcmp(public_key, key->public_key, length) == 0
           || fail(key->provider, REASON_KEY, "the public key does not belong to the private key");
}

/* Keys never change once they are filled, so a copy is the key itself or its public part. */
static void *duplicate(const void *context, int selection) {
    const Key *key = context;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == OSSL_KEYMGMT_SELECT_KEYPAIR
        || ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && !key->secret)) {
        return key->public_key ? key_share((Key *)key) : key_new(key->provider, key->set);
    }
    Key *copy = key_new(key->provider, key->set);
    if (copy && (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && key->public_key
        && !key_set_public(copy, key->public_key, key->sizes.public_key)) {
        key_free(copy);
        return NULL;
    }
    return copy;
}

/* Takes the key that a decoder made. */
static void *load(const void *reference, size_t size) {
    Key *key = NULL;
    if (size == sizeof key) {
        memcpy(&key, reference, size);
        memset((void *)reference, 0, size);
    }
    return key;
}

/* Import and export. */

static const OSSL_PARAM pair_types[] = {
    OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, NULL, 0),
    OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, NULL, 0),
    OSSL_PARAM_END,
};

static const OSSL_PARAM *key_types(int selection) {
    if (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) {
        return pair_types;
    }
    static const OSSL_PARAM public_types[] = {
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, NULL, 0),
        OSSL_PARAM_END,
    };
    return selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY ? public_types : NULL;
}

static int import_secret(Key *key, const OSSL_PARAM *seed, const OSSL_PARAM *public_key) {
    if (seed->data_type != OSSL_PARAM_OCTET_STRING) {
        return fail(key->provider, REASON_PARAMETER, "priv is an octet string, the seed of %zu bytes",
                    key->sizes.secret_key);
    }
    AioliSigningKey *secret;
    if (!succeeded(key->provider,
                   aioli_signing_key_from_seed(key->set->algorithm, seed->data, seed->data_size, &secret))) {
        return 0;
    }
    if (!key_set_secret(key, secret)) {
        aioli_signing_key_free(secret);
        return 0;
    }
    return !public_key
           || (public_key->data_size == key->sizes.public_key
               && memcmp(public_key->data, key->public_key, public_key->data_size) == 0)
           || fail(key->provider, REASON_KEY, "pub does not belong to priv");
}

static int import(void *context, int selection, const OSSL_PARAM params[]) {
    Key *key = context;
    const OSSL_PARAM *seed = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PRIV_KEY);
    const OSSL_PARAM *public_key = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PUB_KEY);
    if (public_key && public_key->data_type != OSSL_PARAM_OCTET_STRING) {
        return fail(key->provider, REASON_PARAMETER, "pub is an octet string, the public key of %zu bytes",
                    key->sizes.public_key);
    }
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) && seed) {
        return import_secret(key, seed, public_key);
    }
    if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && public_key) {
        return key_set_public(key, public_key->data, public_key->data_size);
    }
    return fail(key->provider, REASON_PARAMETER, "a key is imported from priv, its seed, or from pub");
}

/* Writes the seed to `seed`, which has room for MAX_SEED bytes; the caller erases it. */
static int write_seed(const Key *key, unsigned char *seed, size_t *length) {
    *length = MAX_SEED;
    return succeeded(key->provider, aioli_signing_key_seed(key->secret, seed, length));
}

int key_export(Key *key, int selection, OSSL_CALLBACK *callback, void *argument) {
    if (!(selection & OSSL_KEYMGMT_SELECT_KEYPAIR) || !has(key, selection & OSSL_KEYMGMT_SELECT_KEYPAIR)) {
        return fail(key->provider, REASON_KEY, "the key does not have the parts to export");
    }
    unsigned char seed[MAX_SEED];
    OSSL_PARAM params[3], *next = params;
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, key->public_key, key->sizes.public_key);
    int done = 1;
    if (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) {
        size_t length;
        done = write_seed(key, seed, &length);
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, seed, length);
    }
    *next = OSSL_PARAM_construct_end();
    done = done && callback(params, argument);
    OPENSSL_cleanse(seed, sizeof seed);
    return done;
}

/* Parameters. */

static const OSSL_PARAM *gettable(void *provider) {
    (void)provider;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, NULL),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_MANDATORY_DIGEST, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

static int get_seed(const Key *key, OSSL_PARAM *p) {
    unsigned char seed[MAX_SEED];
    size_t length;
    int done = write_seed(key, seed, &length) && OSSL_PARAM_set_octet_string(p, seed, length);
    OPENSSL_cleanse(seed, sizeof seed);
    return done;
}

static int get_params(void *context, OSSL_PARAM params[]) {
    const Key *key = context;
    for (OSSL_PARAM *p = params; p->key; p++) {
        int done = 1;
        if (strcmp(p->key, OSSL_PKEY_PARAM_BITS) == 0) {
            done = OSSL_PARAM_set_int(p, (int)(8 * key->sizes.public_key));
        } else if (strcmp(p->key, OSSL_PKEY_PARAM_SECURITY_BITS) == 0) {
            done = OSSL_PARAM_set_int(p, (int)key->set->security_bits);
        } else if (strcmp(p->key, OSSL_PKEY_PARAM_MAX_SIZE) == 0) {
            done = OSSL_PARAM_set_int(p, (int)key->sizes.signature);
        } else if (strcmp(p->key, OSSL_PKEY_PARAM_MANDATORY_DIGEST) == 0) {
            /* MAYO hashes the message itself. */
            done = OSSL_PARAM_set_utf8_string(p, "");
        } else if (key->public_key
                   && (strcmp(p->key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY) == 0
                       || strcmp(p->key, OSSL_PKEY_PARAM_PUB_KEY) == 0)) {
            done = OSSL_PARAM_set_octet_string(p, key->public_key, key->sizes.public_key);
        } else if (key->secret && strcmp(p->key, OSSL_PKEY_PARAM_PRIV_KEY) == 0) {
            done = get_seed(key, p);
        }
        if (!done) {
            return fail(key->provider, REASON_PARAMETER, "%s has another type or does not fit", p->key);
        }
    }
    return 1;
}

/* Generation. */

typedef struct {
    const Provider *provider;
    const Set *set;
    int selection;
} Generation;

static void *generation(const Provider *provider, const Set *set, int selection) {
    Generation *context = OPENSSL_zalloc(sizeof *context);
    if (!context) {
        fail(provider, REASON_MEMORY, "a key generation");
        return NULL;
    }
    *context = (Generation){provider, set, selection};
    return context;
}

static void *generate(void *context, OSSL_CALLBACK *progress, void *argument) {
    (void)progress, (void)argument;
    const Generation *generation = context;
    Key *key = key_new(generation->provider, generation->set);
    if (!key || !(generation->selection & OSSL_KEYMGMT_SELECT_KEYPAIR)) {
        return key;
    }
    AioliSigningKey *secret = NULL;
    if (!succeeded(key->provider, aioli_signing_key_generate(key->set->algorithm, &secret))
        || !key_set_secret(key, secret)) {
        aioli_signing_key_free(secret);
        key_free(key);
        return NULL;
    }
    return key;
}

static void generation_cleanup(void *context) {
    OPENSSL_free(context);
}

/* OpenSSL does not tell these two functions which set is meant, so each set has its own. */
#define MAKE_FUNCTIONS(i, unused)                                                     \
    static void *new_##i(void *provider) {                                            \
        return key_new(provider, &sets[i]);                                           \
    }                                                                                 \
    static void *generation_##i(void *provider, int selection, const OSSL_PARAM *p) { \
        (void)p;                                                                      \
        return generation(provider, &sets[i], selection);                             \
    }
FOR_EACH_SET(MAKE_FUNCTIONS, unused)

#define MAKE_TABLE(i, unused)                                          \
    static const OSSL_DISPATCH functions_##i[] = {                     \
        {OSSL_FUNC_KEYMGMT_NEW, (Function)new_##i},                    \
        {OSSL_FUNC_KEYMGMT_FREE, (Function)key_free},                  \
        {OSSL_FUNC_KEYMGMT_LOAD, (Function)load},                      \
        {OSSL_FUNC_KEYMGMT_GEN_INIT, (Function)generation_##i},        \
        {OSSL_FUNC_KEYMGMT_GEN, (Function)generate},                   \
        {OSSL_FUNC_KEYMGMT_GEN_CLEANUP, (Function)generation_cleanup}, \
        {OSSL_FUNC_KEYMGMT_GET_PARAMS, (Function)get_params},          \
        {OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, (Function)gettable},       \
        {OSSL_FUNC_KEYMGMT_HAS, (Function)has},                        \
        {OSSL_FUNC_KEYMGMT_MATCH, (Function)match},                    \
        {OSSL_FUNC_KEYMGMT_VALIDATE, (Function)validate},              \
        {OSSL_FUNC_KEYMGMT_DUP, (Function)duplicate},                  \
        {OSSL_FUNC_KEYMGMT_IMPORT, (Function)import},                  \
        {OSSL_FUNC_KEYMGMT_IMPORT_TYPES, (Function)key_types},         \
        {OSSL_FUNC_KEYMGMT_EXPORT, (Function)key_export},              \
        {OSSL_FUNC_KEYMGMT_EXPORT_TYPES, (Function)key_types},         \
        {0, NULL},                                                     \
    };
FOR_EACH_SET(MAKE_TABLE, unused)

#define NAME_TABLE(i, unused) functions_##i,
const OSSL_DISPATCH *const keymgmt_functions[SETS] = {FOR_EACH_SET(NAME_TABLE, unused)};
