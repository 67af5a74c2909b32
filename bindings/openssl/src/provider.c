/*
 * The provider: its configuration, the list of what it offers, its errors, and the code points that
 * it announces for TLS.
 *
 * In the section of openssl.cnf: `round2 = yes` offers the sets of round 2 too; `prefix = NAME`
 * puts NAME before all names.
 */

#include "provider.h"
#include <ctype.h>
#include <openssl/core_names.h>
#include <openssl/prov_ssl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The arc of the Open Quantum Safe project: 1.3.9999.8, the number in MAYO's name, a revision. */
#define IDENTIFIER(name, revision) \
    "1.3.9999.8." #name "." #revision, {0x30, 0x08, 0x06, 0x06, 0x2b, 0xce, 0x0f, 8, name, revision}

const Set sets[SETS] = {
    {AIOLI_MAYO1, 3, 128, 0xff7b, IDENTIFIER(1, 5)},        {AIOLI_MAYO2, 3, 128, 0xff7c, IDENTIFIER(2, 5)},
    {AIOLI_MAYO3, 3, 192, 0xff7d, IDENTIFIER(3, 5)},        {AIOLI_MAYO5, 3, 256, 0xff7e, IDENTIFIER(5, 5)},
    {AIOLI_MAYO1_ROUND2, 2, 128, 0xff32, IDENTIFIER(1, 3)}, {AIOLI_MAYO2_ROUND2, 2, 128, 0xff33, IDENTIFIER(2, 3)},
    {AIOLI_MAYO3_ROUND2, 2, 192, 0xff34, IDENTIFIER(3, 3)}, {AIOLI_MAYO5_ROUND2, 2, 256, 0xff35, IDENTIFIER(5, 3)},
};

/* The sets of round 3 come first. */
enum { SETS_OF_ROUND_3 = 4 };

const char *set_name(const Provider *provider, const Set *set) {
    return provider->names[set - sets];
}

/* Errors. */

static const OSSL_ITEM reasons[] = {
    {REASON_CONFIGURATION, "configuration of the provider"},
    {REASON_LIBRARY, "refused by the library"},
    {REASON_KEY, "wrong or missing key"},
    {REASON_PARAMETER, "wrong parameter"},
    {REASON_DIGEST, "no digest can be chosen"},
    {REASON_INVALID_SIGNATURE, "invalid signature"},
    {REASON_ROOM, "output too small"},
    {REASON_ENCODING, "cannot encode"},
    {REASON_MEMORY, "out of memory"},
    {0, NULL},
};

static void put_error(const Provider *provider, const char *file, int line, const char *function, uint32_t reason,
                      const char *format, va_list arguments) {
    if (provider->new_error && provider->set_error_debug && provider->vset_error) {
        provider->new_error(provider->handle);
        provider->set_error_debug(provider->handle, file, line, function);
        provider->vset_error(provider->handle, reason, format, arguments);
    }
}

int fail_at(const Provider *provider, const char *file, int line, const char *function, uint32_t reason,
            const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_error(provider, file, line, function, reason, format, arguments);
    va_end(arguments);
    return 0;
}

int succeeded_at(const Provider *provider, const char *file, int line, const char *function, AioliStatus status) {
    if (status == AIOLI_STATUS_OK) {
        return 1;
    }
    char message[300];
    size_t length = sizeof message;
    if (aioli_error_message(message, &length) != AIOLI_STATUS_OK) {
        length = 0;
    }
    uint32_t reason = status == AIOLI_STATUS_INVALID_SIGNATURE ? REASON_INVALID_SIGNATURE : REASON_LIBRARY;
    return fail_at(provider, file, line, function, reason, "%.*s", (int)length, message);
}

static const OSSL_ITEM *reason_strings(void *provider) {
    (void)provider;
    return reasons;
}

/* The operations that the provider offers. */

static const char *const encoder_kinds[ENCODERS] = {
    "provider=aioli,output=der,structure=PrivateKeyInfo",
    "provider=aioli,output=pem,structure=PrivateKeyInfo",
    "provider=aioli,output=der,structure=EncryptedPrivateKeyInfo",
    "provider=aioli,output=pem,structure=EncryptedPrivateKeyInfo",
    "provider=aioli,output=der,structure=SubjectPublicKeyInfo",
    "provider=aioli,output=pem,structure=SubjectPublicKeyInfo",
    "provider=aioli,output=text",
};

static const char *const decoder_kinds[DECODERS] = {
    "provider=aioli,input=der,structure=PrivateKeyInfo",
    "provider=aioli,input=der,structure=SubjectPublicKeyInfo",
};

static OSSL_ALGORITHM algorithm(const char *names, const char *properties, const OSSL_DISPATCH *functions) {
    return (OSSL_ALGORITHM){names, properties, functions, "MAYO by Aioli"};
}

static void list_algorithms(Provider *provider) {
    OSSL_ALGORITHM *encoder = provider->encoder, *decoder = provider->decoder;
    for (int i = 0; i < provider->offered; i++) {
        const char *names = provider->all_names[i];
        provider->keymgmt[i] = algorithm(names, "provider=aioli", keymgmt_functions[i]);
        provider->signature[i] = algorithm(names, "provider=aioli", signature_functions);
        for (int kind = 0; kind < ENCODERS; kind++) {
            *encoder++ = algorithm(names, encoder_kinds[kind], encoder_functions[kind]);
        }
        for (int kind = 0; kind < DECODERS; kind++) {
            *decoder++ = algorithm(names, decoder_kinds[kind], decoder_functions[i][kind]);
        }
    }
}

static const OSSL_ALGORITHM *query(void *context, int operation, int *no_cache) {
    const Provider *provider = context;
    *no_cache = 0;
    switch (operation) {
    case OSSL_OP_KEYMGMT:
        return provider->keymgmt;
    case OSSL_OP_SIGNATURE:
        return provider->signature;
    case OSSL_OP_ENCODER:
        return provider->encoder;
    case OSSL_OP_DECODER:
        return provider->decoder;
    default:
        return NULL;
    }
}

/* Header files before OpenSSL 3.2 do not define the names of these parameters. */
static int capabilities(void *context, const char *capability, OSSL_CALLBACK *callback, void *argument) {
    Provider *provider = context;
    /* An application that asks for groups must not fail because this provider has none. */
    if (strcasecmp(capability, "TLS-SIGALG") != 0) {
        return 1;
    }
    for (int i = 0; i < provider->offered; i++) {
        unsigned code_point = sets[i].code_point, bits = sets[i].security_bits;
        int first = TLS1_3_VERSION, last = 0, never = -1;
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_utf8_string("tls-sigalg-iana-name", provider->names[i], 0),
            OSSL_PARAM_construct_utf8_string("tls-sigalg-name", provider->names[i], 0),
            OSSL_PARAM_construct_utf8_string("tls-sigalg-oid", (char *)sets[i].oid, 0),
            OSSL_PARAM_construct_uint("tls-sigalg-code-point", &code_point),
            OSSL_PARAM_construct_uint("tls-sigalg-sec-bits", &bits),
            OSSL_PARAM_construct_int("tls-min-tls", &first),
            OSSL_PARAM_construct_int("tls-max-tls", &last),
            OSSL_PARAM_construct_int("tls-min-dtls", &never),
            OSSL_PARAM_construct_int("tls-max-dtls", &never),
            OSSL_PARAM_construct_end(),
        };
        if (!callback(params, argument)) {
            return 0;
        }
    }
    return 1;
}

static const OSSL_PARAM *gettable(void *provider) {
    (void)provider;
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0),
        OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
        OSSL_PARAM_END,
    };
    return list;
}

static int get_params(void *provider, OSSL_PARAM params[]) {
    (void)provider;
    OSSL_PARAM *p;
    return (!(p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_NAME)) || OSSL_PARAM_set_utf8_ptr(p, "Aioli"))
           && (!(p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_VERSION))
               || OSSL_PARAM_set_utf8_ptr(p, aioli_version()))
           && (!(p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_BUILDINFO))
               || OSSL_PARAM_set_utf8_ptr(p, aioli_version()))
           && (!(p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS)) || OSSL_PARAM_set_int(p, 1));
}

/* Life and configuration. */

/* Reads the two switches and names the sets. */
static int configure(Provider *provider) {
    char *round2 = NULL, *prefix = NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_ptr("round2", &round2, 0),
        OSSL_PARAM_construct_utf8_ptr("prefix", &prefix, 0),
        OSSL_PARAM_construct_end(),
    };
    if (!provider->get_params(provider->handle, params)) {
        return fail(provider, REASON_CONFIGURATION, "the section in openssl.cnf cannot be read");
    }
    if (round2 && strcmp(round2, "yes") != 0 && strcmp(round2, "no") != 0) {
        return fail(provider, REASON_CONFIGURATION, "round2 is yes or no, not %s", round2);
    }
    provider->offered = round2 && strcmp(round2, "yes") == 0 ? SETS : SETS_OF_ROUND_3;
    prefix = prefix ? prefix : "";
    for (const char *c = prefix; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') {
            return fail(provider, REASON_CONFIGURATION, "prefix has letters, digits, - and _ only, not '%c'", *c);
        }
    }
    for (int i = 0; i < provider->offered; i++) {
        const char *name = aioli_algorithm_name(sets[i].algorithm);
        if (!name) {
            return fail(provider, REASON_CONFIGURATION, "the library does not know set %u", sets[i].algorithm);
        }
        snprintf(provider->names[i], NAME_ROOM, "%s%s", prefix, name);
        int length = snprintf(provider->all_names[i], NAME_ROOM, "%s%s:%s", prefix, name, sets[i].oid);
        if (length >= NAME_ROOM) {
            return fail(provider, REASON_CONFIGURATION, "prefix is too long: %s", prefix);
        }
    }
    return 1;
}

/* Certificates are understood only if OpenSSL has an object for each identifier. */
static int create_objects(const Provider *provider) {
    for (int i = 0; i < provider->offered; i++) {
        const char *name = provider->names[i], *oid = sets[i].oid;
        if (!provider->obj_create(provider->handle, oid, name, name)
            || !provider->obj_add_sigid(provider->handle, oid, "", oid)) {
            return fail(provider, REASON_CONFIGURATION,
                        "%s (%s): the name belongs to another provider; set prefix or round2 in openssl.cnf", name,
                        oid);
        }
    }
    return 1;
}

static void teardown(void *context) {
    Provider *provider = context;
    OSSL_LIB_CTX_free(provider->library);
    OPENSSL_free(provider);
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (Function)teardown},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (Function)gettable},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, (Function)get_params},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (Function)query},
    {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (Function)capabilities},
    {OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, (Function)reason_strings},
    {0, NULL},
};

__attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE *handle,
                                                               const OSSL_DISPATCH *in,
                                                               const OSSL_DISPATCH **out, void **context) {
    Provider *provider = OPENSSL_zalloc(sizeof *provider);
    if (!provider) {
        return 0;
    }
    provider->handle = handle;
    for (const OSSL_DISPATCH *offered = in; offered->function_id; offered++) {
        switch (offered->function_id) {
        case OSSL_FUNC_CORE_NEW_ERROR:
            provider->new_error = OSSL_FUNC_core_new_error(offered);
            break;
        case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
            provider->set_error_debug = OSSL_FUNC_core_set_error_debug(offered);
            break;
        case OSSL_FUNC_CORE_VSET_ERROR:
            provider->vset_error = OSSL_FUNC_core_vset_error(offered);
            break;
        case OSSL_FUNC_CORE_GET_PARAMS:
            provider->get_params = OSSL_FUNC_core_get_params(offered);
            break;
        case OSSL_FUNC_CORE_OBJ_CREATE:
            provider->obj_create = OSSL_FUNC_core_obj_create(offered);
            break;
        case OSSL_FUNC_CORE_OBJ_ADD_SIGID:
            provider->obj_add_sigid = OSSL_FUNC_core_obj_add_sigid(offered);
            break;
        }
    }
    int complete = provider->get_params && provider->obj_create && provider->obj_add_sigid;
    if (!complete) {
        fail(provider, REASON_CONFIGURATION, "OpenSSL 3.0 or later is needed");
    }
    if (!complete || !configure(provider) || !create_objects(provider)) {
        OPENSSL_free(provider);
        return 0;
    }
    provider->library = OSSL_LIB_CTX_new_child(handle, in);
    if (!provider->library) {
        fail(provider, REASON_MEMORY, "a library context");
        OPENSSL_free(provider);
        return 0;
    }
    list_algorithms(provider);
    *context = provider;
    *out = provider_functions;
    return 1;
}
