/*
 * Signs a file and verifies the signature, reading the file in pieces of constant size.
 *
 *     verify_file FILE
 */

#include <aioli.h>
#include <stdio.h>
#include <stdlib.h>

static void must(AioliStatus status, const char *doing) {
    if (status != AIOLI_STATUS_OK) {
        char message[300];
        size_t length = sizeof message;
        aioli_error_message(message, &length);
        fprintf(stderr, "%s: %s: %.*s\n", doing, aioli_status_name(status), (int)length, message);
        exit(1);
    }
}

/* Writes the digest of a file, which is signed in place of the file; returns its length. */
static size_t digest_of(const char *path, uint32_t set, uint8_t *digest, size_t room) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    AioliHasher *hasher;
    must(aioli_hasher_new(set, &hasher), "hash");
    uint8_t piece[1 << 16];
    size_t length;
    while ((length = fread(piece, 1, sizeof piece, file)) > 0) {
        must(aioli_hasher_update(hasher, piece, length), "hash");
    }
    if (ferror(file)) {
        perror(path);
        exit(1);
    }
    fclose(file);
    must(aioli_hasher_finish(hasher, digest, &room), "hash");
    aioli_hasher_free(hasher);
    return room;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    AioliSizes sizes;
    must(aioli_sizes(AIOLI_MAYO2, &sizes), "sizes");
    uint8_t *public_key = malloc(sizes.public_key), *signature = malloc(sizes.signature);
    size_t public_length = sizes.public_key, signature_length = sizes.signature;
    if (!public_key || !signature) {
        return 1;
    }

    AioliSigningKey *key;
    must(aioli_signing_key_generate(AIOLI_MAYO2, &key), "generate");
    must(aioli_signing_key_public(key, public_key, &public_length), "public key");

    uint8_t digest[64];
    size_t digest_length = digest_of(argv[1], AIOLI_MAYO2, digest, sizeof digest);
    must(aioli_sign_digest(key, digest, digest_length, signature, &signature_length), "sign");
    aioli_signing_key_free(key);

    must(aioli_verify_digest(AIOLI_MAYO2, public_key, public_length, digest, digest_length, signature, signature_length),
         "verify");
    printf("%s: a valid signature of %zu bytes\n", argv[1], signature_length);
    free(public_key);
    free(signature);
    return 0;
}
