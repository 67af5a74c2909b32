/* Every function of aioli.h, for every set: what works, and what is refused. */

#include "aioli.h"
#include "check.h"
#include <string.h>

enum { ROOM = 20000, SETS = 8 };

static const uint32_t SET[SETS] = {AIOLI_MAYO1,        AIOLI_MAYO2,        AIOLI_MAYO3,        AIOLI_MAYO5,
                                   AIOLI_MAYO1_ROUND2, AIOLI_MAYO2_ROUND2, AIOLI_MAYO3_ROUND2, AIOLI_MAYO5_ROUND2};
static const uint8_t MESSAGE[] = "one message in three parts";
static const size_t LENGTH = sizeof MESSAGE - 1;

/* The message of the last failure holds this. */
static void said(const char *part) {
    char text[500];
    size_t length = sizeof text - 1;
    OK(aioli_error_message(text, &length));
    text[length] = 0;
    if (!strstr(text, part)) {
        fprintf(stderr, "\"%s\" does not say \"%s\"\n", text, part);
        exit(1);
    }
}

static void names_and_sizes(void) {
    uint32_t set = 7;
    CHECK(strcmp(aioli_version(), "0.1.0") == 0);
    for (int i = 0; i < SETS; i++) {
        OK(aioli_algorithm_from_name(aioli_algorithm_name(SET[i]), &set));
        CHECK(set == SET[i]);
    }
    CHECK(aioli_algorithm_name(0x304) == NULL);
    STATUS(AIOLI_STATUS_UNKNOWN_ALGORITHM, aioli_algorithm_from_name("mayo4", &set));
    said("mayo5-round2");
    CHECK(set == AIOLI_MAYO5_ROUND2);
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_algorithm_from_name(NULL, &set));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_algorithm_from_name("mayo1", NULL));

    AioliSizes sizes;
    OK(aioli_sizes(AIOLI_MAYO2_ROUND2, &sizes));
    CHECK(sizes.secret_key == 24 && sizes.public_key == 4912 && sizes.signature == 186 && sizes.digest == 32);
    STATUS(AIOLI_STATUS_UNKNOWN_ALGORITHM, aioli_sizes(0, &sizes));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_sizes(AIOLI_MAYO1, NULL));
    CHECK(strcmp(aioli_status_name(13), "AIOLI_STATUS_INTERNAL") == 0);
    CHECK(strcmp(aioli_status_name(14), "unknown status") == 0);
}

/* Key files of one key: every form reads back; what is no key is refused by name. */
static void key_files(uint32_t set, const AioliSigningKey *key, const uint8_t *public_key, size_t public_length) {
    static const uint8_t PASSPHRASE[] = "a passphrase";
    static uint8_t file[ROOM], read_public[ROOM];
    uint8_t seed[40], read_seed[40];
    size_t seed_length = sizeof seed;
    OK(aioli_signing_key_seed(key, seed, &seed_length));
    for (uint32_t format = AIOLI_DER; format <= AIOLI_PEM; format++) {
        for (size_t passphrase = 0; passphrase < sizeof PASSPHRASE; passphrase += sizeof PASSPHRASE - 1) {
            AioliSigningKey *read = NULL;
            size_t length = sizeof file, read_length = sizeof read_seed;
            uint32_t read_set = 0;
            OK(aioli_signing_key_write(key, format, PASSPHRASE, passphrase, file, &length));
            if (passphrase > 0) {
                STATUS(AIOLI_STATUS_PASSPHRASE_NEEDED, aioli_signing_key_read(file, length, NULL, 0, &read));
                STATUS(AIOLI_STATUS_WRONG_PASSPHRASE, aioli_signing_key_read(file, length, PASSPHRASE, 3, &read));
            }
            STATUS(AIOLI_STATUS_KEY_FORMAT, aioli_signing_key_read(file, length - 30, PASSPHRASE, passphrase, &read));
            CHECK(read == NULL);
            OK(aioli_signing_key_read(file, length, PASSPHRASE, passphrase, &read));
            OK(aioli_signing_key_algorithm(read, &read_set));
            OK(aioli_signing_key_seed(read, read_seed, &read_length));
            CHECK(read_set == set && read_length == seed_length && memcmp(read_seed, seed, seed_length) == 0);
            aioli_signing_key_free(read);
        }
        size_t length = sizeof file, read_length = sizeof read_public;
        uint32_t read_set = 0;
        OK(aioli_public_key_write(set, public_key, public_length, format, file, &length));
        OK(aioli_public_key_read(file, length, &read_set, read_public, &read_length));
        CHECK(read_set == set && read_length == public_length && memcmp(read_public, public_key, public_length) == 0);
        STATUS(AIOLI_STATUS_KEY_FORMAT, aioli_public_key_read(file, length - 30, &read_set, read_public, &read_length));
    }
    size_t length = sizeof file;
    STATUS(AIOLI_STATUS_KEY_FORMAT, aioli_public_key_write(set, public_key, public_length, 2, file, &length));
    said("AIOLI_PEM");
    STATUS(AIOLI_STATUS_KEY_FORMAT, aioli_signing_key_write(key, 2, NULL, 0, file, &length));
    CHECK(length == sizeof file);
}

/* The digest, read in three pieces by a hasher that is copied on the way. */
static size_t digest_of_pieces(uint32_t set, uint8_t *digest, size_t room) {
    AioliHasher *first = NULL, *copy = NULL;
    OK(aioli_hasher_new(set, &first));
    OK(aioli_hasher_update(first, MESSAGE, 3));
    OK(aioli_hasher_copy(first, &copy));
    OK(aioli_hasher_update(first, (const uint8_t *)"else", 4));
    OK(aioli_hasher_update(copy, NULL, 0));
    OK(aioli_hasher_update(copy, MESSAGE + 3, LENGTH - 3));
    size_t length = 5;
    STATUS(AIOLI_STATUS_BUFFER_TOO_SMALL, aioli_hasher_finish(copy, digest, &length));
    AioliSizes sizes;
    OK(aioli_sizes(set, &sizes));
    CHECK(length == sizes.digest && length <= room);
    OK(aioli_hasher_finish(copy, digest, &length));
    STATUS(AIOLI_STATUS_FINISHED, aioli_hasher_finish(copy, digest, &length));
    STATUS(AIOLI_STATUS_FINISHED, aioli_hasher_update(copy, MESSAGE, 1));
    aioli_hasher_free(copy);
    aioli_hasher_free(first);
    return length;
}

static void sign_and_verify(uint32_t set) {
    AioliSizes sizes;
    OK(aioli_sizes(set, &sizes));
    AioliSigningKey *key = NULL;
    AioliExpandedSigningKey *expanded = NULL;
    AioliExpandedVerifyingKey *expanded_public = NULL;
    OK(aioli_signing_key_generate(set, &key));

    static uint8_t public_key[ROOM];
    uint8_t signature[1000], again[1000], digest[80];
    size_t public_length = 0;
    STATUS(AIOLI_STATUS_BUFFER_TOO_SMALL, aioli_signing_key_public(key, NULL, &public_length));
    CHECK(public_length == sizes.public_key);
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_signing_key_public(key, NULL, &public_length));
    OK(aioli_signing_key_public(key, public_key, &public_length));
    OK(aioli_signing_key_expand(key, &expanded));
    OK(aioli_verifying_key_expand(set, public_key, public_length, &expanded_public));

    size_t length = sizeof signature, digest_length = digest_of_pieces(set, digest, sizeof digest);
    OK(aioli_sign_deterministic(key, MESSAGE, LENGTH, signature, &length));
    CHECK(length == sizes.signature);
    length = sizeof again;
    OK(aioli_sign_deterministic(key, MESSAGE, LENGTH, again, &length));
    CHECK(memcmp(signature, again, length) == 0);

    for (int way = 0; way < 4; way++) {
        length = sizes.signature - 1;
        memset(signature, 0xa5, sizeof signature);
        STATUS(AIOLI_STATUS_BUFFER_TOO_SMALL, aioli_sign(key, MESSAGE, LENGTH, signature, &length));
        CHECK(length == sizes.signature && signature[0] == 0xa5);
        switch (way) {
        case 0: OK(aioli_sign(key, MESSAGE, LENGTH, signature, &length)); break;
        case 1: OK(aioli_sign_digest(key, digest, digest_length, signature, &length)); break;
        case 2: OK(aioli_expanded_sign(expanded, MESSAGE, LENGTH, signature, &length)); break;
        default: OK(aioli_expanded_sign_digest(expanded, digest, digest_length, signature, &length)); break;
        }
        CHECK(length == sizes.signature && signature[length] == 0xa5);
        OK(aioli_verify(set, public_key, public_length, MESSAGE, LENGTH, signature, length));
        OK(aioli_verify_digest(set, public_key, public_length, digest, digest_length, signature, length));
        OK(aioli_expanded_verify(expanded_public, MESSAGE, LENGTH, signature, length));
        OK(aioli_expanded_verify_digest(expanded_public, digest, digest_length, signature, length));
        for (size_t byte = 0; byte < length; byte += length / 5) {
            signature[byte] ^= 1;
            STATUS(AIOLI_STATUS_INVALID_SIGNATURE,
                   aioli_verify(set, public_key, public_length, MESSAGE, LENGTH, signature, length));
            STATUS(AIOLI_STATUS_INVALID_SIGNATURE,
                   aioli_expanded_verify(expanded_public, MESSAGE, LENGTH, signature, length));
            signature[byte] ^= 1;
        }
        STATUS(AIOLI_STATUS_INVALID_SIGNATURE,
               aioli_verify(set, public_key, public_length, MESSAGE, LENGTH - 1, signature, length));
        STATUS(AIOLI_STATUS_WRONG_LENGTH,
               aioli_verify(set, public_key, public_length, MESSAGE, LENGTH, signature, length - 1));
        STATUS(AIOLI_STATUS_WRONG_LENGTH,
               aioli_verify(set, public_key, public_length - 1, MESSAGE, LENGTH, signature, length));
        said("bytes, not");
        STATUS(AIOLI_STATUS_WRONG_LENGTH, aioli_verify_digest(set, public_key, public_length, digest, 1, signature, length));
    }

    /* The signature overwrites the message. */
    memcpy(again, MESSAGE, LENGTH);
    length = sizeof again;
    OK(aioli_sign(key, again, LENGTH, again, &length));
    OK(aioli_verify(set, public_key, public_length, MESSAGE, LENGTH, again, length));

    key_files(set, key, public_key, public_length);
    aioli_signing_key_free(key);
    aioli_expanded_signing_key_free(expanded);
    aioli_expanded_verifying_key_free(expanded_public);
}

static void seeds_and_null(void) {
    uint8_t seed[32] = {9, 8, 7}, out[40];
    size_t length = sizeof out;
    AioliSigningKey *key = NULL;
    STATUS(AIOLI_STATUS_WRONG_LENGTH, aioli_signing_key_from_seed(AIOLI_MAYO1, seed, 23, &key));
    said("24 bytes, not 23");
    STATUS(AIOLI_STATUS_UNKNOWN_ALGORITHM, aioli_signing_key_from_seed(1, seed, 24, &key));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_signing_key_from_seed(AIOLI_MAYO1, NULL, 24, &key));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_signing_key_from_seed(AIOLI_MAYO1, seed, 24, NULL));
    CHECK(key == NULL);
    OK(aioli_signing_key_from_seed(AIOLI_MAYO1, seed, 24, &key));
    OK(aioli_signing_key_seed(key, out, &length));
    CHECK(length == 24 && memcmp(out, seed, 24) == 0);
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_signing_key_seed(NULL, out, &length));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_signing_key_seed(key, out, NULL));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_sign(key, NULL, 1, out, &length));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_sign(NULL, MESSAGE, LENGTH, out, &length));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_hasher_new(AIOLI_MAYO1, NULL));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_hasher_update(NULL, MESSAGE, 1));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_expanded_verify(NULL, MESSAGE, LENGTH, out, length));
    aioli_signing_key_free(key);
    aioli_signing_key_free(NULL);
    aioli_expanded_signing_key_free(NULL);
    aioli_expanded_verifying_key_free(NULL);
    aioli_hasher_free(NULL);
}

/* Three items of every set: valid, of another message, too short. And one of no set. */
static void batches(void) {
    enum { COUNT = 3 * SETS + 1 };
    static uint8_t public_key[SETS][ROOM], signature[SETS][1000];
    AioliItem items[COUNT];
    AioliStatus results[COUNT];
    AioliStatus expected[COUNT];
    for (int i = 0; i < SETS; i++) {
        AioliSigningKey *key = NULL;
        size_t public_length = ROOM, length = 1000;
        OK(aioli_signing_key_generate(SET[i], &key));
        OK(aioli_signing_key_public(key, public_key[i], &public_length));
        OK(aioli_sign(key, MESSAGE, LENGTH, signature[i], &length));
        aioli_signing_key_free(key);
        for (int j = 0; j < 3; j++) {
            AioliItem item = {SET[i],  public_key[i], public_length,          MESSAGE,
                              LENGTH - (j == 1), signature[i], length - (j == 2)};
            items[j * SETS + i] = item;
            expected[j * SETS + i] = j == 0   ? AIOLI_STATUS_OK
                                     : j == 1 ? AIOLI_STATUS_INVALID_SIGNATURE
                                              : AIOLI_STATUS_WRONG_LENGTH;
        }
    }
    OK(aioli_verify_batch(NULL, 0, NULL));
    OK(aioli_verify_batch(items, SETS, results));
    items[COUNT - 1] = items[0];
    items[COUNT - 1].algorithm = 5;
    expected[COUNT - 1] = AIOLI_STATUS_UNKNOWN_ALGORITHM;
    STATUS(AIOLI_STATUS_INVALID_SIGNATURE, aioli_verify_batch(items, COUNT, results));
    said("17 of 25");
    CHECK(memcmp(results, expected, sizeof expected) == 0);
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_verify_batch(items, COUNT, NULL));
    STATUS(AIOLI_STATUS_NULL_POINTER, aioli_verify_batch(NULL, COUNT, results));
}

int main(void) {
    names_and_sizes();
    for (int i = 0; i < SETS; i++) {
        sign_and_verify(SET[i]);
    }
    seeds_and_null();
    batches();
    puts("passed");
    return 0;
}
