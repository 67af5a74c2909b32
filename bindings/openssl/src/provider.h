/*
 * Declarations that the provider's files share: the sets, the provider itself, keys, and errors.
 */

#ifndef AIOLI_PROVIDER_H
#define AIOLI_PROVIDER_H

#include <aioli.h>
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

enum { SETS = 8, NAME_ROOM = 64, IDENTIFIER_LENGTH = 10 };

/* The most bytes of a seed, a digest and a public key of any set; key_new() holds them to it. */
enum { MAX_SEED = 40, MAX_DIGEST = 64, MAX_PUBLIC_KEY = 5560 };

/* A parameter set and its numbers outside MAYO. */
typedef struct {
    uint32_t algorithm;
    int round;
    unsigned security_bits;
    unsigned code_point;                         /* TLS signature scheme, for private use */
    const char *oid;                             /* in dots */
    unsigned char identifier[IDENTIFIER_LENGTH]; /* AlgorithmIdentifier without parameters, in DER */
} Set;

/* The sets, in the order of the functions that are made for each: see FOR_EACH_SET. */
extern const Set sets[SETS];

/* `do_(index, x)` for each index into `sets`. */
#define FOR_EACH_SET(do_, x) \
    do_(0, x) do_(1, x) do_(2, x) do_(3, x) do_(4, x) do_(5, x) do_(6, x) do_(7, x)

typedef void (*Function)(void);

enum { ENCODERS = 7, DECODERS = 2 };

/* One loaded provider. Nothing in it changes after OSSL_provider_init(). */
typedef struct {
    const OSSL_CORE_HANDLE *handle;
    OSSL_LIB_CTX *library; /* a child of the application's, for ciphers and core BIOs */
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    OSSL_FUNC_core_get_params_fn *get_params;
    OSSL_FUNC_core_obj_create_fn *obj_create;
    OSSL_FUNC_core_obj_add_sigid_fn *obj_add_sigid;
    int offered;                        /* how many of `sets`, from the first */
    char names[SETS][NAME_ROOM];        /* such as "mayo1" */
    char all_names[SETS][NAME_ROOM];    /* with the object identifier, such as "mayo1:1.3.9999.8.1.5" */
    OSSL_ALGORITHM keymgmt[SETS + 1];
    OSSL_ALGORITHM signature[SETS + 1];
    OSSL_ALGORITHM encoder[SETS * ENCODERS + 1];
    OSSL_ALGORITHM decoder[SETS * DECODERS + 1];
} Provider;

/* The name that the provider gives a set. */
const char *set_name(const Provider *provider, const Set *set);

/* The reason of an error; OpenSSL prints the text of provider.c beside the details. */
enum {
    REASON_CONFIGURATION = 1,
    REASON_LIBRARY,
    REASON_KEY,
    REASON_PARAMETER,
    REASON_DIGEST,
    REASON_INVALID_SIGNATURE,
    REASON_ROOM,
    REASON_ENCODING,
    REASON_MEMORY
};

/* Puts an error on OpenSSL's queue; always 0. */
#define fail(provider, reason, ...) fail_at(provider, __FILE__, __LINE__, __func__, reason, __VA_ARGS__)
int fail_at(const Provider *provider, const char *file, int line, const char *function, uint32_t reason,
            const char *format, ...);

/* 1 if the status is OK, otherwise puts the library's message on the queue. */
#define succeeded(provider, status) succeeded_at(provider, __FILE__, __LINE__, __func__, status)
int succeeded_at(const Provider *provider, const char *file, int line, const char *function, AioliStatus status);

/* A key, or the place of one. It is filled once and shared afterwards, by count. */
typedef struct {
    const Provider *provider;
    const Set *set;
    AioliSizes sizes;
    AioliSigningKey *secret;   /* NULL in a public key */
    unsigned char *public_key; /* NULL while there is no key at all */
    _Atomic int users;
} Key;

Key *key_new(const Provider *provider, const Set *set);
Key *key_share(Key *key);
void key_free(Key *key);

/* Take over what `key`, which is empty, becomes. Without success `secret` stays the caller's. */
int key_set_secret(Key *key, AioliSigningKey *secret);
int key_set_public(Key *key, const unsigned char *bytes, size_t length);

/* Gives the parts of the key in `selection` to the callback, as parameters. */
int key_export(Key *key, int selection, OSSL_CALLBACK *callback, void *argument);

/* The dispatch tables, by the index into `sets` and into the kinds of provider.c. */
extern const OSSL_DISPATCH *const keymgmt_functions[SETS];
extern const OSSL_DISPATCH signature_functions[];
extern const OSSL_DISPATCH *const encoder_functions[ENCODERS];
extern const OSSL_DISPATCH *const decoder_functions[SETS][DECODERS];

#endif
