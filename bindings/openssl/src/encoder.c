/*
 * Encoders: keys to DER, PEM and text. With a cipher, which OpenSSL sets where the user asked for
 * one, a private key becomes an EncryptedPrivateKeyInfo (PBES2).
 */

#include "provider.h"
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <string.h>

enum { MAX_CIPHER = 64, MAX_PASSPHRASE = 1024, BYTES_A_LINE = 15 };

/* Longer than any key file, as DER. */
enum { MAX_FILE = MAX_PUBLIC_KEY + 256 };

typedef struct {
    const Provider *provider;
    char cipher[MAX_CIPHER]; /* empty: not encrypted */
} Encoder;

static void *new_context(void *provider) {
    Encoder *context = OPENSSL_zalloc(sizeof *context);
    if (!context) {
        fail(provider, REASON_MEMORY, "an encoder");
        return NULL;
    }
    context->provider = provider;
    return context;
}

static void free_context(void *context) {
    OPENSSL_free(context);
}

static const OSSL_PARAM *settable(void *provider) {
    (void)provider;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_END,
    };
    return list;
}

static int set_params(void *argument, const OSSL_PARAM params[]) {
    Encoder *context = argument;
    const OSSL_PARAM *p = OSSL_PARAM_locate_const(params, OSSL_ENCODER_PARAM_CIPHER);
    char *name = context->cipher;
    if (!p) {
        return 1;
    }
    if (!p->data) {
        *name = 0;
        return 1;
    }
    return OSSL_PARAM_get_utf8_string(p, &name, MAX_CIPHER)
           || fail(context->provider, REASON_PARAMETER, "cipher is a name of less than %d characters", MAX_CIPHER);
}

/* The encodings. Each writes to `out` and returns 1, or puts an error on the queue. */

static int encrypt(const Encoder *context, BIO *out, int pem, const unsigned char *file, size_t length,
                   OSSL_PASSPHRASE_CALLBACK *ask, void *argument) {
    const Provider *provider = context->provider;
    const char *name = *context->cipher ? context->cipher : "AES-256-CBC";
    char passphrase[MAX_PASSPHRASE];
    size_t passphrase_length = 0;
    if (!ask || !ask(passphrase, sizeof passphrase, &passphrase_length, NULL, argument)) {
        OPENSSL_cleanse(passphrase, sizeof passphrase);
        return fail(provider, REASON_ENCODING, "an encrypted key needs a passphrase");
    }
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(provider->library, name, NULL);
    const unsigned char *at = file;
    PKCS8_PRIV_KEY_INFO *key = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)length);
    X509_SIG *encrypted = NULL;
    if (cipher && key) {
        encrypted = PKCS8_encrypt_ex(-1, cipher, passphrase, (int)passphrase_length, NULL, 0, 0, key,
                                     provider->library, NULL);
    }
    OPENSSL_cleanse(passphrase, sizeof passphrase);
    int done = encrypted && (pem ? PEM_write_bio_PKCS8(out, encrypted) : i2d_PKCS8_bio(out, encrypted)) > 0;
    X509_SIG_free(encrypted);
    PKCS8_PRIV_KEY_INFO_free(key);
    EVP_CIPHER_free(cipher);
    return done || fail(provider, REASON_ENCODING, "the key cannot be encrypted by %s", name);
}

static int write_file(const Encoder *context, BIO *out, const char *pem, const unsigned char *file, size_t length) {
    int done = pem ? PEM_write_bio(out, pem, "", file, (long)length) > 0
                   : BIO_write(out, file, (int)length) == (int)length;
    return done || fail(context->provider, REASON_ENCODING, "the output cannot be written");
}

static int encode_private(const Encoder *context, BIO *out, const Key *key, int pem, int always_encrypted,
                          OSSL_PASSPHRASE_CALLBACK *ask, void *argument) {
    if (!key->secret) {
        return fail(context->provider, REASON_KEY, "the key has no private part");
    }
    unsigned char file[MAX_FILE];
    size_t length = sizeof file;
    int done = succeeded(context->provider, aioli_signing_key_write(key->secret, AIOLI_DER, NULL, 0, file, &length));
    if (done && (always_encrypted || *context->cipher)) {
        done = encrypt(context, out, pem, file, length, ask, argument);
    } else if (done) {
        done = write_file(context, out, pem ? PEM_STRING_PKCS8INF : NULL, file, length);
    }
    OPENSSL_cleanse(file, sizeof file);
    return done;
}

static int encode_public(const Encoder *context, BIO *out, const Key *key, int pem) {
    if (!key->public_key) {
        return fail(context->provider, REASON_KEY, "there is no key");
    }
    unsigned char file[MAX_FILE];
    size_t length = sizeof file;
    return succeeded(context->provider, aioli_public_key_write(key->set->algorithm, key->public_key,
                                                               key->sizes.public_key, AIOLI_DER, file, &length))
           && write_file(context, out, pem ? PEM_STRING_PUBLIC : NULL, file, length);
}

/* Prints bytes as OpenSSL prints those of its keys. */
static int print_bytes(BIO *out, const char *label, const unsigned char *bytes, size_t length) {
    int done = BIO_printf(out, "%s:", label) > 0;
    for (size_t i = 0; done && i < length; i++) {
        done = BIO_printf(out, "%s%02x%s", i % BYTES_A_LINE == 0 ? "\n    " : "", bytes[i], i + 1 < length ? ":" : "\n")
               > 0;
    }
    return done;
}

static int encode_text(const Encoder *context, BIO *out, const Key *key, int with_secret) {
    if (!key->public_key || (with_secret && !key->secret)) {
        return fail(context->provider, REASON_KEY, "the key does not have the parts to print");
    }
    int done = BIO_printf(out, "%s %s-Key: (MAYO of round %d, %u bit security)\n", set_name(key->provider, key->set),
                          with_secret ? "Private" : "Public", key->set->round, key->set->security_bits)
               > 0;
    if (with_secret) {
        unsigned char seed[MAX_SEED];
        size_t length = sizeof seed;
        if (!succeeded(key->provider, aioli_signing_key_seed(key->secret, seed, &length))) {
            return 0;
        }
        done = done && print_bytes(out, "seed", seed, length);
        OPENSSL_cleanse(seed, sizeof seed);
    }
    done = done && print_bytes(out, "pub", key->public_key, key->sizes.public_key);
    return done || fail(context->provider, REASON_ENCODING, "the output cannot be written");
}

/* The kinds of output, in the order of the list in provider.c. */

typedef enum { DER, PEM, ENCRYPTED_DER, ENCRYPTED_PEM, PUBLIC_DER, PUBLIC_PEM, TEXT } Kind;

static int encode(const Encoder *context, OSSL_CORE_BIO *core_out, const Key *key, int selection, Kind kind,
                  OSSL_PASSPHRASE_CALLBACK *ask, void *argument) {
    BIO *out = BIO_new_from_core_bio(context->provider->library, core_out);
    if (!out) {
        return fail(context->provider, REASON_MEMORY, "an output");
    }
    int done = 0;
    switch (kind) {
    case DER:
    case PEM:
        done = encode_private(context, out, key, kind == PEM, 0, ask, argument);
        break;
    case ENCRYPTED_DER:
    case ENCRYPTED_PEM:
        done = encode_private(context, out, key, kind == ENCRYPTED_PEM, 1, ask, argument);
        break;
    case PUBLIC_DER:
    case PUBLIC_PEM:
        done = encode_public(context, out, key, kind == PUBLIC_PEM);
        break;
    case TEXT:
        done = encode_text(context, out, key, selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
        break;
    }
    BIO_free(out);
    return done;
}

static int does_private(void *provider, int selection) {
    (void)provider;
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
}

/* Public encoders refuse a pair: writing it must not lose the private key. */
static int does_public(void *provider, int selection) {
    (void)provider;
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) == OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
}

static int does_both(void *provider, int selection) {
    (void)provider;
    return selection == 0 || (selection & OSSL_KEYMGMT_SELECT_KEYPAIR);
}

#define FOR_EACH_KIND(do_)                                            \
    do_(DER, does_private) do_(PEM, does_private)                     \
    do_(ENCRYPTED_DER, does_private) do_(ENCRYPTED_PEM, does_private) \
    do_(PUBLIC_DER, does_public) do_(PUBLIC_PEM, does_public)         \
    do_(TEXT, does_both)

#define MAKE_TABLE(kind, does_selection)                                                                      \
    static int encode_##kind(void *context, OSSL_CORE_BIO *out, const void *key, const OSSL_PARAM abstract[], \
                             int selection, OSSL_PASSPHRASE_CALLBACK *ask, void *argument) {                  \
        if (abstract) {                                                                                       \
            return fail(((Encoder *)context)->provider, REASON_KEY, "the key is of another provider");        \
        }                                                                                                     \
        return encode(context, out, key, selection, kind, ask, argument);                                     \
    }                                                                                                         \
    static const OSSL_DISPATCH functions_##kind[] = {                                                         \
        {OSSL_FUNC_ENCODER_NEWCTX, (Function)new_context},                                                    \
        {OSSL_FUNC_ENCODER_FREECTX, (Function)free_context},                                                  \
        {OSSL_FUNC_ENCODER_SET_CTX_PARAMS, (Function)set_params},                                             \
        {OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS, (Function)settable},                                          \
        {OSSL_FUNC_ENCODER_DOES_SELECTION, (Function)does_selection},                                         \
        {OSSL_FUNC_ENCODER_ENCODE, (Function)encode_##kind},                                                  \
        {0, NULL},                                                                                            \
    };
FOR_EACH_KIND(MAKE_TABLE)

#define NAME_TABLE(kind, does_selection) functions_##kind,
const OSSL_DISPATCH *const encoder_functions[ENCODERS] = {FOR_EACH_KIND(NAME_TABLE)};
