/*
 * The test vectors in JSON: verification, signing, and key files.
 *
 *     vectors FOLDER
 */

#include "aioli.h"
#include "check.h"
#include <jansson.h>
#include <string.h>

enum { ROOM = 20000 };

typedef struct {
    uint8_t bytes[ROOM];
    size_t length;
} Bytes;

static unsigned digit(char c) {
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
    CHECK(found);
    return (unsigned)(found - digits);
}

/* The bytes of a field in hexadecimal, followed by zeros. */
static Bytes bytes(const json_t *object, const char *field) {
    Bytes out = {{0}, 0};
    const char *text = json_string_value(json_object_get(object, field));
    CHECK(text && strlen(text) % 2 == 0 && strlen(text) / 2 <= ROOM);
    for (; *text; text += 2) {
        out.bytes[out.length++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
    }
    return out;
}

static int is_valid(const json_t *test) {
    const char *result = json_string_value(json_object_get(test, "result"));
    CHECK(result && (strcmp(result, "valid") == 0 || strcmp(result, "invalid") == 0));
    return strcmp(result, "valid") == 0;
}

static int has_flag(const json_t *test, const char *wanted) {
    size_t i;
    json_t *flag;
    json_array_foreach(json_object_get(test, "flags"), i, flag) {
        if (strcmp(json_string_value(flag), wanted) == 0) {
            return 1;
        }
    }
    return 0;
}

static uint32_t set_of(const json_t *group) {
    uint32_t set = 0;
    OK(aioli_algorithm_from_name(json_string_value(json_object_get(group, "set")), &set));
    return set;
}

/* Calls `judge` for each test of a file; returns the sum of what it returns. */
static size_t each(const char *folder, const char *name, size_t (*judge)(uint32_t, const json_t *, const json_t *)) {
    char path[1000];
    json_error_t error;
    CHECK(snprintf(path, sizeof path, "%s/%s.json", folder, name) < (int)sizeof path);
    json_t *file = json_load_file(path, 0, &error), *group, *test;
    if (!file) {
        fprintf(stderr, "%s, line %d: %s\n", path, error.line, error.text);
        exit(1);
    }
    size_t i, j, sum = 0;
    json_int_t tests = 0;
    json_array_foreach(json_object_get(file, "testGroups"), i, group) {
        json_array_foreach(json_object_get(group, "tests"), j, test) {
            sum += judge(set_of(group), group, test);
            tests++;
        }
    }
    CHECK(tests > 0 && tests == json_integer_value(json_object_get(file, "numberOfTests")));
    json_decref(file);
    return sum;
}

/* Fails unless a status tells what the test expects. */
static void judged(const json_t *group, const json_t *test, AioliStatus status, AioliStatus refusal) {
    if (status != (is_valid(test) ? AIOLI_STATUS_OK : refusal) && (is_valid(test) || status != AIOLI_STATUS_WRONG_LENGTH)) {
        fprintf(stderr, "%s, test %d: %s\n", json_string_value(json_object_get(group, "set")),
                (int)json_integer_value(json_object_get(test, "tcId")), aioli_status_name(status));
        exit(1);
    }
}

static void verify_one(uint32_t set, const json_t *group, const json_t *test, const Bytes *key, const Bytes *signature) {
    Bytes message = bytes(test, "msg");
    AioliStatus status = aioli_verify(set, key->bytes, key->length, message.bytes, message.length, signature->bytes,
                                      signature->length);
    judged(group, test, status, AIOLI_STATUS_INVALID_SIGNATURE);
}

/* Verifies every key and signature that a test stands for; returns their number. */
static size_t verify(uint32_t set, const json_t *group, const json_t *test) {
    static const char *LISTS[] = {"sigLengths", "sigBits", "keyLengths", "keyBits"};
    Bytes key = bytes(group, "publicKey"), signature = bytes(test, "sig");
    size_t count = 0, i;
    for (int list = 0; list < 4; list++) {
        json_t *number;
        json_array_foreach(json_object_get(test, LISTS[list]), i, number) {
            size_t value = (size_t)json_integer_value(number);
            Bytes changed = list < 2 ? signature : key;
            if (list % 2) {
                CHECK(value / 8 < changed.length);
                changed.bytes[value / 8] ^= (uint8_t)(1 << (value % 8));
            } else {
                CHECK(value <= ROOM);
                changed.length = value;
            }
            verify_one(set, group, test, list < 2 ? &key : &changed, list < 2 ? &changed : &signature);
            count++;
        }
    }
    if (count == 0) {
        verify_one(set, group, test, &key, &signature);
        count++;
    }
    return count;
}

static AioliSigningKey *key_of(uint32_t set, const json_t *group) {
    AioliSigningKey *key = NULL;
    Bytes seed = bytes(group, "seed");
    OK(aioli_signing_key_from_seed(set, seed.bytes, seed.length, &key));
    return key;
}

static Bytes public_of(const AioliSigningKey *key) {
    Bytes public_key = {{0}, ROOM};
    OK(aioli_signing_key_public(key, public_key.bytes, &public_key.length));
    return public_key;
}

static int same(const Bytes *one, const Bytes *other) {
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

/*
 * The library draws randomizers itself, so most of these signatures are verified only. Returns
 * whether the signature was made, too.
 */
static size_t sign(uint32_t set, const json_t *group, const json_t *test) {
    AioliSigningKey *key = key_of(set, group);
    Bytes public_key = public_of(key), message = bytes(test, "msg"), signature = bytes(test, "sig");
    verify_one(set, group, test, &public_key, &signature);
    int made = has_flag(test, "Deterministic");
    if (made) {
        Bytes ours = {{0}, ROOM};
        OK(aioli_sign_deterministic(key, message.bytes, message.length, ours.bytes, &ours.length));
        CHECK(same(&ours, &signature));
    }
    aioli_signing_key_free(key);
    return (size_t)made;
}

/* The contents of a key file. */
static Bytes contents(const json_t *test) {
    const char *pem = json_string_value(json_object_get(test, "pem"));
    if (!pem) {
        return bytes(test, json_object_get(test, "raw") ? "raw" : "der");
    }
    Bytes out = {{0}, strlen(pem)};
    CHECK(out.length <= ROOM);
    memcpy(out.bytes, pem, out.length);
    return out;
}

static size_t public_file(uint32_t set, const json_t *group, const json_t *test) {
    AioliSigningKey *key = key_of(set, group);
    Bytes file = contents(test), read = {{0}, ROOM}, expected = public_of(key);
    aioli_signing_key_free(key);
    AioliStatus status;
    if (json_object_get(test, "raw")) {
        AioliExpandedVerifyingKey *expanded = NULL;
        status = aioli_verifying_key_expand(set, file.bytes, file.length, &expanded);
        aioli_expanded_verifying_key_free(expanded);
        read = file;
    } else {
        uint32_t read_set = 0;
        status = aioli_public_key_read(file.bytes, file.length, &read_set, read.bytes, &read.length);
        CHECK(status != AIOLI_STATUS_OK || read_set == set);
    }
    judged(group, test, status, AIOLI_STATUS_KEY_FORMAT);
    CHECK(status != AIOLI_STATUS_OK || same(&read, &expected));
    return 1;
}

static size_t private_file(uint32_t set, const json_t *group, const json_t *test) {
    Bytes file = contents(test), seed = {{0}, ROOM}, expected = bytes(group, "seed");
    const char *passphrase = json_string_value(json_object_get(test, "passphrase"));
    AioliSigningKey *key = NULL;
    AioliStatus status =
        json_object_get(test, "raw")
            ? aioli_signing_key_from_seed(set, file.bytes, file.length, &key)
            : aioli_signing_key_read(file.bytes, file.length, (const uint8_t *)passphrase,
                                     passphrase ? strlen(passphrase) : 0, &key);
    int is_passphrase = status == AIOLI_STATUS_WRONG_PASSPHRASE || status == AIOLI_STATUS_PASSPHRASE_NEEDED;
    judged(group, test, status, is_passphrase ? status : AIOLI_STATUS_KEY_FORMAT);
    if (status == AIOLI_STATUS_OK) {
        uint32_t read_set = 0;
        OK(aioli_signing_key_algorithm(key, &read_set));
        OK(aioli_signing_key_seed(key, seed.bytes, &seed.length));
        CHECK(read_set == set && same(&seed, &expected));
    }
    aioli_signing_key_free(key);
    return 1;
}

int main(int argc, char **argv) {
    static const char *SETS[] = {"mayo1",        "mayo2",        "mayo3",        "mayo5",
                                 "mayo1-round2", "mayo2-round2", "mayo3-round2", "mayo5-round2"};
    CHECK(argc == 2);
    for (int i = 0; i < 8; i++) {
        char name[40];
        snprintf(name, sizeof name, "verify-%s", SETS[i]);
        CHECK(each(argv[1], name, verify) > 250);
    }
    CHECK(each(argv[1], "sign", sign) == 8);
    CHECK(each(argv[1], "public-keys", public_file) > 30);
    CHECK(each(argv[1], "private-keys", private_file) > 100);
    puts("passed");
    return 0;
}
