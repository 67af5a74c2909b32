/*
 * Decoders: DER of PKCS#8 and SubjectPublicKeyInfo to keys. OpenSSL itself turns PEM and encrypted
 * keys into DER. Bytes that belong to another algorithm are left to its decoder, without an error.
 */

#include "provider.h"
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <string.h>

typedef struct {
    const Provider *provider;
    const Set *set;
} Decoder;

/* Longer than any key file: a key of round 2 with its public key is less than 6 KB. */
enum { MAX_FILE = 16384 };

static void *new_context(const Provider *provider, const Set *set) {
    Decoder *context = OPENSSL_zalloc(sizeof *context);
    if (!context) {
        fail(provider, REASON_MEMORY, "a decoder");
        return NULL;
    }
    *context = (Decoder){provider, set};
    return context;
}

static void free_context(void *context) {
    OPENSSL_free(context);
}

static int read_exactly(BIO *bio, unsigned char *bytes, size_t length) {
    size_t got;
    for (size_t done = 0; done < length; done += got) {
        if (!BIO_read_ex(bio, bytes + done, length - done, &got) || got == 0) {
            return 0;
        }
    }
    return 1;
}

/*
 * Reads one SEQUENCE and no byte after it, which belongs to the next reader. Returns its length,
 * and in `header` how much of that is tag and length; 0 if there is none of at most MAX_FILE bytes.
 */
static size_t read_sequence(BIO *bio, unsigned char *file, size_t *header) {
    if (!read_exactly(bio, file, 2) || file[0] != 0x30) {
        return 0;
    }
    size_t content = file[1], more = 0;
    if (content >= 0x80) {
        more = content - 0x80;
        if (more < 1 || more > 2 || !read_exactly(bio, file + 2, more)) {
            return 0;
        }
        content = more == 1 ? file[2] : (size_t)file[2] << 8 | file[3];
    }
    *header = 2 + more;
    if (*header + content > MAX_FILE || !read_exactly(bio, file + *header, content)) {
        return 0;
    }
    return *header + content;
}

/* Whether the object identifier of the set is at its place in what follows the header. */
static int names_set(const Set *set, const unsigned char *content, size_t length, int private) {
    /* The version, an INTEGER of one byte, comes first in a private key. */
    size_t at = private ? 3 : 0;
    return length >= at + IDENTIFIER_LENGTH && (!private || memcmp(content, (unsigned char[]){2, 1}, 2) == 0)
           && content[at] == 0x30
           && memcmp(content + at + 2, set->identifier + 2, IDENTIFIER_LENGTH - 2) == 0;
}

static Key *read_key(const Decoder *context, const unsigned char *file, size_t length, int private) {
    Key *key = key_new(context->provider, context->set);
    if (!key) {
        return NULL;
    }
    int done;
    if (private) {
        AioliSigningKey *secret = NULL;
        done = succeeded(key->provider, aioli_signing_key_read(file, length, NULL, 0, &secret))
               && key_set_secret(key, secret);
        if (!done) {
            aioli_signing_key_free(secret);
        }
    } else {
        unsigned char bytes[MAX_PUBLIC_KEY];
        size_t bytes_length = sizeof bytes;
        uint32_t algorithm;
        done = succeeded(key->provider, aioli_public_key_read(file, length, &algorithm, bytes, &bytes_length))
               && key_set_public(key, bytes, bytes_length);
    }
    if (!done) {
        key_free(key);
        return NULL;
    }
    return key;
}

/* Gives the key to OpenSSL; it is freed here unless it was taken. */
static int give(const Decoder *context, Key *key, OSSL_CALLBACK *callback, void *argument) {
    int type = OSSL_OBJECT_PKEY;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_int(OSSL_OBJECT_PARAM_TYPE, &type),
        OSSL_PARAM_construct_utf8_string(OSSL_OBJECT_PARAM_DATA_TYPE, (char *)set_name(context->provider, context->set),
                                         0),
        OSSL_PARAM_construct_octet_string(OSSL_OBJECT_PARAM_REFERENCE, &key, sizeof key),
        OSSL_PARAM_construct_end(),
    };
    int taken = callback(params, argument);
    key_free(key);
    return taken;
}

/* Returns 1 where the bytes are none of its business, so that OpenSSL asks the next decoder. */
static int decode(const Decoder *context, OSSL_CORE_BIO *in, int private, OSSL_CALLBACK *callback, void *argument) {
    BIO *bio = BIO_new_from_core_bio(context->provider->library, in);
    unsigned char *file = OPENSSL_malloc(MAX_FILE);
    if (!bio || !file) {
        BIO_free(bio);
        OPENSSL_free(file);
        return fail(context->provider, REASON_MEMORY, "a key file");
    }
    size_t header, length = read_sequence(bio, file, &header);
    BIO_free(bio);
    int done = 1;
    if (length > 0 && names_set(context->set, file + header, length - header, private)) {
        Key *key = read_key(context, file, length, private);
        done = key && give(context, key, callback, argument);
    }
    OPENSSL_clear_free(file, MAX_FILE);
    return done;
}

static int decode_private(void *context, OSSL_CORE_BIO *in, int selection, OSSL_CALLBACK *callback, void *argument,
                          OSSL_PASSPHRASE_CALLBACK *passphrase, void *passphrase_argument) {
    (void)selection, (void)passphrase, (void)passphrase_argument;
    return decode(context, in, 1, callback, argument);
}

static int decode_public(void *context, OSSL_CORE_BIO *in, int selection, OSSL_CALLBACK *callback, void *argument,
                         OSSL_PASSPHRASE_CALLBACK *passphrase, void *passphrase_argument) {
    (void)selection, (void)passphrase, (void)passphrase_argument;
    return decode(context, in, 0, callback, argument);
}

/* OpenSSL asks for this where the keys are to be managed by another provider than this one. */
static int export_object(void *context, const void *reference, size_t size, OSSL_CALLBACK *callback, void *argument) {
    (void)context;
    Key *key;
    if (size != sizeof key) {
        return 0;
    }
    memcpy(&key, reference, size);
    return key_export(key, key->secret ? OSSL_KEYMGMT_SELECT_KEYPAIR : OSSL_KEYMGMT_SELECT_PUBLIC_KEY, callback,
                      argument);
}

static int does_private(void *provider, int selection) {
    (void)provider;
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
}

/* A public key is not what a caller gets who wants a pair. */
static int does_public(void *provider, int selection) {
    (void)provider;
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
}

#define MAKE_CONTEXT(i, unused)                 \
    static void *new_##i(void *provider) {      \
        return new_context(provider, &sets[i]); \
    }
FOR_EACH_SET(MAKE_CONTEXT, unused)

#define MAKE_TABLE(i, part)                                         \
    static const OSSL_DISPATCH part##_##i[] = {                     \
        {OSSL_FUNC_DECODER_NEWCTX, (Function)new_##i},              \
        {OSSL_FUNC_DECODER_FREECTX, (Function)free_context},        \
        {OSSL_FUNC_DECODER_DOES_SELECTION, (Function)does_##part},  \
        {OSSL_FUNC_DECODER_DECODE, (Function)decode_##part},        \
        {OSSL_FUNC_DECODER_EXPORT_OBJECT, (Function)export_object}, \
        {0, NULL},                                                  \
    };
FOR_EACH_SET(MAKE_TABLE, private)
FOR_EACH_SET(MAKE_TABLE, public)

#define NAME_TABLES(i, unused) {private_##i, public_##i},
const OSSL_DISPATCH *const decoder_functions[SETS][DECODERS] = {FOR_EACH_SET(NAME_TABLES, unused)};
