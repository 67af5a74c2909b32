/*
 * Tests of the parts that the command openssl does not reach: keys as parameters, also for other
 * providers, copies of contexts, many pieces, an own library context, errors, and four threads
 * with one key.
 *
 *     test SET...
 */

#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROOM = 8192 };

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ERR_print_errors_fp(stderr);                                             \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* Checks that something failed and that the error queue says why. */
#define REFUSED(call, why)                                                                       \
    do {                                                                                         \
        ERR_clear_error();                                                                       \
        CHECK((call) <= 0);                                                                      \
        const char *said;                                                                        \
        ERR_peek_error_all(NULL, NULL, NULL, &said, NULL);                                       \
        if (!said || !strstr(said, why)) {                                                       \
            fprintf(stderr, "%s:%d: the error is not '%s':\n", __FILE__, __LINE__, why);        \
            ERR_print_errors_fp(stderr);                                                         \
            exit(1);                                                                             \
        }                                                                                        \
        ERR_clear_error();                                                                       \
    } while (0)

static const char message[] = "a message of some length";

static EVP_PKEY *generate(OSSL_LIB_CTX *library, const char *set) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(library, set, NULL);
    EVP_PKEY *key = NULL;
    CHECK(context && EVP_PKEY_keygen_init(context) > 0 && EVP_PKEY_generate(context, &key) > 0);
    EVP_PKEY_CTX_free(context);
    return key;
}

static size_t sign(OSSL_LIB_CTX *library, EVP_PKEY *key, unsigned char *signature) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = ROOM;
    CHECK(EVP_DigestSignInit_ex(context, NULL, NULL, library, NULL, key, NULL) > 0);
    CHECK(EVP_DigestSign(context, signature, &length, (const unsigned char *)message, sizeof message) > 0);
    EVP_MD_CTX_free(context);
    return length;
}

static int verify(OSSL_LIB_CTX *library, EVP_PKEY *key, const unsigned char *signature, size_t length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    CHECK(EVP_DigestVerifyInit_ex(context, NULL, NULL, library, NULL, key, NULL) > 0);
    int valid = EVP_DigestVerify(context, signature, length, (const unsigned char *)message, sizeof message);
    EVP_MD_CTX_free(context);
    return valid;
}

static EVP_PKEY *from_data(OSSL_LIB_CTX *library, const char *set, int selection, const unsigned char *public_key,
                           size_t public_length, const unsigned char *seed, size_t seed_length) {
    OSSL_PARAM params[3], *next = params;
    if (public_key) {
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)public_key, public_length);
    }
    if (seed) {
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, (void *)seed, seed_length);
    }
    *next = OSSL_PARAM_construct_end();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(library, set, NULL);
    EVP_PKEY *key = NULL;
    CHECK(context && EVP_PKEY_fromdata_init(context) > 0);
    if (EVP_PKEY_fromdata(context, &key, selection, params) <= 0) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

static void keys_as_parameters(OSSL_LIB_CTX *library, const char *set, EVP_PKEY *key) {
    unsigned char public_key[ROOM], seed[ROOM], signature[ROOM], *encoded;
    size_t public_length, seed_length, length;
    CHECK(EVP_PKEY_get_octet_string_param(key, "pub", public_key, ROOM, &public_length));
    CHECK(EVP_PKEY_get_octet_string_param(key, "priv", seed, ROOM, &seed_length));
    CHECK(EVP_PKEY_get1_encoded_public_key(key, &encoded) == public_length);
    CHECK(memcmp(encoded, public_key, public_length) == 0);
    OPENSSL_free(encoded);

    EVP_PKEY *pair = from_data(library, set, EVP_PKEY_KEYPAIR, public_key, public_length, seed, seed_length);
    EVP_PKEY *public = from_data(library, set, EVP_PKEY_PUBLIC_KEY, public_key, public_length, NULL, 0);
    CHECK(pair && public && EVP_PKEY_eq(pair, key) == 1 && EVP_PKEY_eq(public, key) == 1);
    length = sign(library, pair, signature);
    CHECK((int)length == EVP_PKEY_get_size(key));
    CHECK(verify(library, public, signature, length) == 1);

    OSSL_PARAM *exported;
    CHECK(EVP_PKEY_todata(pair, EVP_PKEY_KEYPAIR, &exported) > 0);
    const OSSL_PARAM *p = OSSL_PARAM_locate_const(exported, "priv");
    CHECK(p && p->data_size == seed_length && memcmp(p->data, seed, seed_length) == 0);
    OSSL_PARAM_free(exported);
    REFUSED(EVP_PKEY_todata(public, EVP_PKEY_KEYPAIR, &exported), "does not have the parts");

    EVP_PKEY *copy = EVP_PKEY_dup(pair);
    CHECK(copy && EVP_PKEY_eq(copy, pair) == 1);
    EVP_PKEY_free(copy);

    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(library, pair, NULL);
    CHECK(EVP_PKEY_check(context) == 1 && EVP_PKEY_public_check(context) == 1);
    EVP_PKEY_CTX_free(context);
    context = EVP_PKEY_CTX_new_from_pkey(library, public, NULL);
    CHECK(EVP_PKEY_public_check(context) == 1);
    REFUSED(EVP_PKEY_check(context), "no private part");
    REFUSED(EVP_PKEY_sign_init(context), "signing needs a private key");
    EVP_PKEY_CTX_free(context);

    public_key[7] ^= 1;
    EVP_PKEY *other = from_data(library, set, EVP_PKEY_PUBLIC_KEY, public_key, public_length, NULL, 0);
    CHECK(other && EVP_PKEY_eq(other, pair) == 0);
    REFUSED(verify(library, other, signature, length), "signature");
    EVP_PKEY_free(other);
    REFUSED(from_data(library, set, EVP_PKEY_KEYPAIR, public_key, public_length, seed, seed_length) != NULL,
            "pub does not belong to priv");
    REFUSED(from_data(library, set, EVP_PKEY_PUBLIC_KEY, public_key, public_length - 1, NULL, 0) != NULL,
            "a public key of");
    REFUSED(from_data(library, set, EVP_PKEY_KEYPAIR, NULL, 0, seed, seed_length + 1) != NULL, "secret key");
    EVP_PKEY_free(pair);
    EVP_PKEY_free(public);
}

static void signatures(OSSL_LIB_CTX *library, EVP_PKEY *key) {
    unsigned char signature[ROOM];
    size_t length = sign(library, key, signature), room;
    CHECK(verify(library, key, signature, length) == 1);
    REFUSED(verify(library, key, signature, length - 1), "signature");
    signature[length / 2] ^= 1;
    REFUSED(verify(library, key, signature, length), "signature");

    /* Pieces, and a copy of the context after half of them. */
    EVP_MD_CTX *context = EVP_MD_CTX_new(), *copy = EVP_MD_CTX_new();
    CHECK(EVP_DigestSignInit_ex(context, NULL, NULL, library, NULL, key, NULL) > 0);
    for (size_t i = 0; i < sizeof message; i++) {
        CHECK(i != sizeof message / 2 || EVP_MD_CTX_copy_ex(copy, context) > 0);
        CHECK(EVP_DigestSignUpdate(context, message + i, 1) > 0);
    }
    CHECK(EVP_DigestSignUpdate(copy, message + sizeof message / 2, sizeof message - sizeof message / 2) > 0);
    EVP_MD_CTX *both[] = {context, copy};
    for (int i = 0; i < 2; i++) {
        CHECK(EVP_DigestSignFinal(both[i], NULL, &room) > 0 && room == length);
        CHECK(EVP_DigestSignFinal(both[i], signature, &room) > 0 && room == length);
        CHECK(verify(library, key, signature, length) == 1);
        EVP_MD_CTX_free(both[i]);
    }

    context = EVP_MD_CTX_new();
    CHECK(EVP_DigestVerifyInit_ex(context, NULL, NULL, library, NULL, key, NULL) > 0);
    CHECK(EVP_DigestVerifyUpdate(context, message, 5) > 0);
    CHECK(EVP_DigestVerifyUpdate(context, message + 5, sizeof message - 5) > 0);
    CHECK(EVP_DigestVerifyFinal(context, signature, length) == 1);
    REFUSED(EVP_DigestSignInit_ex(context, NULL, "SHA256", library, NULL, key, NULL), "do not choose SHA256");
    OSSL_PARAM context_string[] = {OSSL_PARAM_construct_octet_string("context-string", "x", 1),
                                   OSSL_PARAM_construct_end()};
    REFUSED(EVP_DigestSignInit_ex(context, NULL, NULL, library, NULL, key, context_string), "no context-string");
    EVP_MD_CTX_free(context);

    EVP_PKEY_CTX *whole = EVP_PKEY_CTX_new_from_pkey(library, key, NULL);
    room = length - 1;
    CHECK(EVP_PKEY_sign_init(whole) > 0);
    REFUSED(EVP_PKEY_sign(whole, signature, &room, (const unsigned char *)message, sizeof message), "a signature has");
    room = length;
    CHECK(EVP_PKEY_sign(whole, signature, &room, (const unsigned char *)message, sizeof message) > 0);
    CHECK(EVP_PKEY_verify_init(whole) > 0);
    CHECK(EVP_PKEY_verify(whole, signature, length, (const unsigned char *)message, sizeof message) == 1);
    REFUSED(EVP_PKEY_verify(whole, signature, length, (const unsigned char *)message, 3), "signature");
    EVP_PKEY_CTX_free(whole);
}

/* Writes the key as DER, reads it again, and reads it with each of some bytes changed. */
static void encodings(OSSL_LIB_CTX *library, EVP_PKEY *key, int selection, const char *structure) {
    unsigned char *der = NULL;
    size_t length = 0;
    OSSL_ENCODER_CTX *encoder = OSSL_ENCODER_CTX_new_for_pkey(key, selection, "DER", structure, NULL);
    CHECK(encoder && OSSL_ENCODER_to_data(encoder, &der, &length) > 0);
    OSSL_ENCODER_CTX_free(encoder);
    for (size_t changed = 0; changed <= 40; changed++) {
        /* 0 changes nothing; 40 cuts the last byte off. */
        const unsigned char *at = der;
        size_t left = changed == 40 ? length - 1 : length;
        der[changed] ^= changed > 0 && changed < 40;
        EVP_PKEY *again = NULL;
        OSSL_DECODER_CTX *decoder =
            OSSL_DECODER_CTX_new_for_pkey(&again, "DER", structure, NULL, selection, library, NULL);
        int done = OSSL_DECODER_from_data(decoder, &at, &left);
        if (changed == 0) {
            CHECK(done > 0 && again && EVP_PKEY_eq(again, key) == 1 && left == 0);
        } else {
            CHECK(done <= 0 || EVP_PKEY_eq(again, key) != 1);
        }
        EVP_PKEY_free(again);
        OSSL_DECODER_CTX_free(decoder);
        der[changed] ^= changed > 0 && changed < 40;
    }
    ERR_clear_error();
    OPENSSL_clear_free(der, length);
}

/* The key that another provider would be given where this one decodes it. */
typedef struct {
    unsigned char public_key[ROOM], seed[ROOM];
    size_t public_length, seed_length;
} Exported;

static int take(const OSSL_PARAM params[], void *argument) {
    Exported *exported = argument;
    const OSSL_PARAM *public_key = OSSL_PARAM_locate_const(params, "pub");
    const OSSL_PARAM *seed = OSSL_PARAM_locate_const(params, "priv");
    void *place = exported->public_key;
    CHECK(public_key && OSSL_PARAM_get_octet_string(public_key, &place, ROOM, &exported->public_length));
    place = exported->seed;
    return !seed || OSSL_PARAM_get_octet_string(seed, &place, ROOM, &exported->seed_length);
}

static int construct(OSSL_DECODER_INSTANCE *decoder, const OSSL_PARAM *params, void *exported) {
    const OSSL_PARAM *p = OSSL_PARAM_locate_const(params, "reference");
    CHECK(p);
    return OSSL_DECODER_export(decoder, p->data, p->data_size, take, exported);
}

static void exported_by_decoders(OSSL_LIB_CTX *library, const char *set, EVP_PKEY *key, int selection) {
    unsigned char *der = NULL;
    size_t length = 0, left;
    int pair = selection == EVP_PKEY_KEYPAIR;
    const char *structure = pair ? "PrivateKeyInfo" : "SubjectPublicKeyInfo";
    OSSL_ENCODER_CTX *encoder = OSSL_ENCODER_CTX_new_for_pkey(key, selection, "DER", structure, NULL);
    CHECK(encoder && OSSL_ENCODER_to_data(encoder, &der, &length) > 0);
    OSSL_ENCODER_CTX_free(encoder);

    Exported exported = {0};
    const unsigned char *at = der;
    char properties[ROOM];
    snprintf(properties, sizeof properties, "provider=aioli,input=der,structure=%s", structure);
    OSSL_DECODER *decoder = OSSL_DECODER_fetch(library, set, properties);
    OSSL_DECODER_CTX *context = OSSL_DECODER_CTX_new();
    CHECK(decoder && context && OSSL_DECODER_CTX_add_decoder(context, decoder));
    CHECK(OSSL_DECODER_CTX_set_input_type(context, "DER"));
    CHECK(OSSL_DECODER_CTX_set_construct(context, construct));
    CHECK(OSSL_DECODER_CTX_set_construct_data(context, &exported));
    left = length;
    CHECK(OSSL_DECODER_from_data(context, &at, &left) > 0);
    OSSL_DECODER_CTX_free(context);
    OSSL_DECODER_free(decoder);

    EVP_PKEY *again = from_data(library, set, selection, exported.public_key, exported.public_length,
                                pair ? exported.seed : NULL, exported.seed_length);
    CHECK(again && EVP_PKEY_eq(again, key) == 1);
    CHECK((exported.seed_length > 0) == pair);
    EVP_PKEY_free(again);
    OPENSSL_cleanse(&exported, sizeof exported);
    OPENSSL_clear_free(der, length);
}

typedef struct {
    OSSL_LIB_CTX *library;
    const char *set;
    EVP_PKEY *key;
} Work;

static void *work(void *argument) {
    const Work *shared = argument;
    unsigned char signature[ROOM];
    for (int i = 0; i < 3; i++) {
        size_t length = sign(shared->library, shared->key, signature);
        CHECK(verify(shared->library, shared->key, signature, length) == 1);
        EVP_PKEY *own = generate(shared->library, shared->set);
        CHECK(own && verify(shared->library, own, signature, length) != 1);
        EVP_PKEY *copy = EVP_PKEY_dup(shared->key);
        EVP_PKEY_free(copy);
        EVP_PKEY_free(own);
    }
    ERR_clear_error();
    return NULL;
}

static void four_threads(Work *shared) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, shared) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *standard = OSSL_PROVIDER_load(library, "default");
    CHECK(OSSL_LIB_CTX_load_config(library, getenv("OPENSSL_CONF")) > 0);
    CHECK(OSSL_PROVIDER_available(library, "aioli"));
    for (int i = 1; i < argc; i++) {
        EVP_PKEY *key = generate(library, argv[i]);
        CHECK(key && EVP_PKEY_is_a(key, argv[i]));
        keys_as_parameters(library, argv[i], key);
        signatures(library, key);
        encodings(library, key, EVP_PKEY_KEYPAIR, "PrivateKeyInfo");
        encodings(library, key, EVP_PKEY_PUBLIC_KEY, "SubjectPublicKeyInfo");
        exported_by_decoders(library, argv[i], key, EVP_PKEY_KEYPAIR);
        exported_by_decoders(library, argv[i], key, EVP_PKEY_PUBLIC_KEY);
        Work shared = {library, argv[i], key};
        four_threads(&shared);
        EVP_PKEY_free(key);
        printf("%s: as it should be\n", argv[i]);
    }
    OSSL_PROVIDER_unload(standard);
    OSSL_LIB_CTX_free(library);
    return 0;
}
