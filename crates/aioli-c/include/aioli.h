/*
 * Aioli: MAYO post-quantum signatures. Made from the Rust sources; do not edit.
 *
 * Every function that can fail returns a status, AIOLI_STATUS_OK being 0; aioli_error_message()
 * says more about the last failure of the calling thread.
 *
 * Inputs are a pointer and a length; the pointer may be NULL if the length is 0, and nowhere else.
 * Outputs are a pointer and a length in and out: before the call the room there, after it the bytes
 * written. Where the room is too small, AIOLI_STATUS_BUFFER_TOO_SMALL is returned, no byte is
 * written, and the length becomes the room that is needed. After any other failure outputs are as
 * before.
 *
 * What a function makes through a pointer to a pointer belongs to the caller, who gives it to the
 * *_free function of its type, once. Nothing else needs to be freed, and no pointer that is given
 * to a function is kept.
 *
 * All functions may be called from any thread. An object may be used by many threads at a time as
 * long as every one of them takes it as const; an AioliHasher is changed by aioli_hasher_update().
 *
 * Secret keys are erased when they are freed. Copies in the caller's memory are the caller's to
 * erase.
 */


#ifndef AIOLI_H
#define AIOLI_H

#include <stddef.h>
#include <stdint.h>

/**
 * MAYO_1 of round 3.
 */
#define AIOLI_MAYO1 769

/**
 * MAYO_2 of round 3.
 */
#define AIOLI_MAYO2 770

/**
 * MAYO_3 of round 3.
 */
#define AIOLI_MAYO3 771

/**
 * MAYO_5 of round 3.
 */
#define AIOLI_MAYO5 773

/**
 * MAYO_1 of round 2.
 */
#define AIOLI_MAYO1_ROUND2 513

/**
 * MAYO_2 of round 2, which is broken at its claimed level: for comparison only.
 */
#define AIOLI_MAYO2_ROUND2 514

/**
 * MAYO_3 of round 2.
 */
#define AIOLI_MAYO3_ROUND2 515

/**
 * MAYO_5 of round 2.
 */
#define AIOLI_MAYO5_ROUND2 517

/**
 * The format DER of a key file.
 */
#define AIOLI_DER 0

/**
 * The format PEM of a key file.
 */
#define AIOLI_PEM 1

/**
 * The end of a function. A number is never given a second meaning.
 */
enum AioliStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It did what it was asked.
   */
  AIOLI_STATUS_OK = 0,
  /**
   * The signature is not valid for this message and key.
   */
  AIOLI_STATUS_INVALID_SIGNATURE = 1,
  /**
   * A key, signature, seed or digest does not have the length of its set.
   */
  AIOLI_STATUS_WRONG_LENGTH = 2,
  /**
   * The output does not fit; its length has become the room that is needed.
   */
  AIOLI_STATUS_BUFFER_TOO_SMALL = 3,
  /**
   * No parameter set has this number or name.
   */
  AIOLI_STATUS_UNKNOWN_ALGORITHM = 4,
  /**
   * A digest was made for another set than the key's.
   */
  AIOLI_STATUS_ALGORITHM_MISMATCH = 5,
  /**
   * A pointer is NULL that must not be.
   */
  AIOLI_STATUS_NULL_POINTER = 6,
  /**
   * The source of randomness of the operating system failed.
   */
  AIOLI_STATUS_RANDOMNESS = 7,
  /**
   * No signature could be made: the secret key is not genuine.
   */
  AIOLI_STATUS_SIGNING_FAILED = 8,
  /**
   * A key file was not understood.
   */
  AIOLI_STATUS_KEY_FORMAT = 9,
  /**
   * The key file is encrypted, and no passphrase was given.
   */
  AIOLI_STATUS_PASSPHRASE_NEEDED = 10,
  /**
   * The passphrase is wrong, or the encrypted key is damaged.
   */
  AIOLI_STATUS_WRONG_PASSPHRASE = 11,
  /**
   * The hasher has been finished.
   */
  AIOLI_STATUS_FINISHED = 12,
  /**
   * An error in Aioli itself. Nothing that it wrote should be used.
   */
  AIOLI_STATUS_INTERNAL = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AioliStatus AioliStatus;
#else
typedef uint32_t AioliStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A secret key with the values that all of its signatures share: for many signatures by one key.
 */
typedef struct AioliExpandedSigningKey AioliExpandedSigningKey;

/**
 * A public key with its expansion: for many verifications with one key.
 */
typedef struct AioliExpandedVerifyingKey AioliExpandedVerifyingKey;

/**
 * Computes the digest of a message that comes in pieces, in constant memory.
 */
typedef struct AioliHasher AioliHasher;

/**
 * A secret key.
 */
typedef struct AioliSigningKey AioliSigningKey;

/**
 * Lengths in bytes.
 */
typedef struct {
  /**
   * A secret key, which is the seed that it was made from.
   */
  size_t secret_key;
  /**
   * A public key.
   */
  size_t public_key;
  /**
   * A signature.
   */
  size_t signature;
  /**
   * A message digest.
   */
  size_t digest;
} AioliSizes;

/**
 * A signature to verify, with its message and key.
 */
typedef struct {
  /**
   * The set, such as AIOLI_MAYO2.
   */
  uint32_t algorithm;
  /**
   * The public key.
   */
  const uint8_t *public_key;
  /**
   * Its length in bytes.
   */
  size_t public_key_length;
  /**
   * The message.
   */
  const uint8_t *message;
  /**
   * Its length in bytes.
   */
  size_t message_length;
  /**
   * The signature.
   */
  const uint8_t *signature;
  /**
   * Its length in bytes.
   */
  size_t signature_length;
} AioliItem;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The name of a status, such as "AIOLI_STATUS_OK"; a static string. A number that is no status
 * gives "unknown status".
 */
const char *aioli_status_name(uint32_t status);

/**
 * Writes what was wrong, and what was expected, at the last failure of a function in this thread:
 * text in UTF-8 without a zero at its end, and empty if nothing has failed yet. A message never
 * holds a secret.
 *
 * Required:
 * `message` and `length` are an output.
 */
AioliStatus aioli_error_message(char *message, size_t *length);

/**
 * Tells how long the keys, signatures and digests of a set are.
 *
 * Required:
 * `sizes` may be written.
 */
AioliStatus aioli_sizes(uint32_t algorithm, AioliSizes *sizes);

/**
 * The name of a set, such as "mayo1" or "mayo1-round2": a static string, NULL if there is no such
 * set.
 */
const char *aioli_algorithm_name(uint32_t algorithm);

/**
 * Finds the set with a name.
 *
 * Required:
 * `name` is a string that ends with a zero, and `algorithm` may be written.
 */
AioliStatus aioli_algorithm_from_name(const char *name, uint32_t *algorithm);

/**
 * The version of the library, such as "0.1.0": a static string.
 */
const char *aioli_version(void);

/**
 * Makes a fresh key from the operating system's randomness.
 *
 * Required:
 * `key` may be written.
 */
AioliStatus aioli_signing_key_generate(uint32_t algorithm, AioliSigningKey **key);

/**
 * Makes the key of a seed, which is the encoding of a secret key. The seed must be random and
 * serve one set alone.
 *
 * Required:
 * `seed` is an input, and `key` may be written.
 */
AioliStatus aioli_signing_key_from_seed(uint32_t algorithm,
                                        const uint8_t *seed,
                                        size_t seed_length,
                                        AioliSigningKey **key);

/**
 * Reads a key from the contents of a file: PKCS#8 as PEM or DER, encrypted or not. A file that is
 * not encrypted does not use the passphrase; length 0 means that there is none. A file that would
 * take more than 256 MiB or about a second to decrypt is refused.
 *
 * Required:
 * `file` and `passphrase` are inputs, and `key` may be written.
 */
AioliStatus aioli_signing_key_read(const uint8_t *file,
                                   size_t file_length,
                                   const uint8_t *passphrase,
                                   size_t passphrase_length,
                                   AioliSigningKey **key);

/**
 * Writes a key as the contents of a file: PKCS#8 in the form of the Open Quantum Safe provider, as
 * AIOLI_DER or AIOLI_PEM. With a passphrase it is encrypted (PBES2: scrypt, AES-256 in CBC mode);
 * length 0 means that there is none.
 *
 * Required:
 * `key` is a key, `passphrase` an input; `file` and `length` are an output.
 */
AioliStatus aioli_signing_key_write(const AioliSigningKey *key,
                                    uint32_t format,
                                    const uint8_t *passphrase,
                                    size_t passphrase_length,
                                    uint8_t *file,
                                    size_t *length);

/**
 * Tells which set a key belongs to.
 *
 * Required:
 * `key` is a key, and `algorithm` may be written.
 */
AioliStatus aioli_signing_key_algorithm(const AioliSigningKey *key, uint32_t *algorithm);

/**
 * Writes the seed of a key, its encoding. Secret: erase it after use.
 *
 * Required:
 * `key` is a key; `seed` and `length` are an output.
 */
AioliStatus aioli_signing_key_seed(const AioliSigningKey *key, uint8_t *seed, size_t *length);

/**
 * Computes the public key of a secret key.
 *
 * Required:
 * `key` is a key; `public_key` and `length` are an output.
 */
AioliStatus aioli_signing_key_public(const AioliSigningKey *key,
                                     uint8_t *public_key,
                                     size_t *length);

/**
 * Computes the values that all signatures by a key share. Both keys must be freed.
 *
 * Required:
 * `key` is a key, and `expanded` may be written.
 */
AioliStatus aioli_signing_key_expand(const AioliSigningKey *key,
                                     AioliExpandedSigningKey **expanded);

/**
 * Signs a message with fresh randomness.
 *
 * Required:
 * `key` is a key, `message` an input; `signature` and `signature_length` are an output.
 */
AioliStatus aioli_sign(const AioliSigningKey *key,
                       const uint8_t *message,
                       size_t message_length,
                       uint8_t *signature,
                       size_t *signature_length);

/**
 * Signs the message that a digest was computed from (aioli_hasher_finish()), with fresh
 * randomness.
 *
 * Required:
 * `key` is a key, `digest` an input; `signature` and `signature_length` are an output.
 */
AioliStatus aioli_sign_digest(const AioliSigningKey *key,
                              const uint8_t *digest,
                              size_t digest_length,
                              uint8_t *signature,
                              size_t *signature_length);

/**
 * Signs a message without randomness: the same key and message always give the same signature.
 *
 * Required:
 * `key` is a key, `message` an input; `signature` and `signature_length` are an output.
 */
AioliStatus aioli_sign_deterministic(const AioliSigningKey *key,
                                     const uint8_t *message,
                                     size_t message_length,
                                     uint8_t *signature,
                                     size_t *signature_length);

/**
 * Signs a message with fresh randomness and an expanded key.
 *
 * Required:
 * `key` is a key, `message` an input; `signature` and `signature_length` are an output.
 */
AioliStatus aioli_expanded_sign(const AioliExpandedSigningKey *key,
                                const uint8_t *message,
                                size_t message_length,
                                uint8_t *signature,
                                size_t *signature_length);

/**
 * Signs the message that a digest was computed from, with fresh randomness and an expanded key.
 *
 * Required:
 * `key` is a key, `digest` an input; `signature` and `signature_length` are an output.
 */
AioliStatus aioli_expanded_sign_digest(const AioliExpandedSigningKey *key,
                                       const uint8_t *digest,
                                       size_t digest_length,
                                       uint8_t *signature,
                                       size_t *signature_length);

/**
 * Erases and frees a key. NULL is allowed.
 *
 * Required:
 * `key` is NULL or a key, which is not used again.
 */
void aioli_signing_key_free(AioliSigningKey *key);

/**
 * Erases and frees an expanded key. NULL is allowed.
 *
 * Required:
 * `key` is NULL or a key, which is not used again.
 */
void aioli_expanded_signing_key_free(AioliExpandedSigningKey *key);

/**
 * Reads a public key from the contents of a file: SubjectPublicKeyInfo as PEM or DER. Tells its
 * set too.
 *
 * Required:
 * `file` is an input, `algorithm` may be written; `public_key` and `length` are an output.
 */
AioliStatus aioli_public_key_read(const uint8_t *file,
                                  size_t file_length,
                                  uint32_t *algorithm,
                                  uint8_t *public_key,
                                  size_t *length);

/**
 * Writes a public key as the contents of a file: SubjectPublicKeyInfo as AIOLI_DER or AIOLI_PEM,
 * with the identifiers of the Open Quantum Safe provider.
 *
 * Required:
 * `public_key` is an input; `file` and `length` are an output.
 */
AioliStatus aioli_public_key_write(uint32_t algorithm,
                                   const uint8_t *public_key,
                                   size_t public_key_length,
                                   uint32_t format,
                                   uint8_t *file,
                                   size_t *length);

/**
 * Verifies a signature of a message: AIOLI_STATUS_OK if it is valid,
 * AIOLI_STATUS_INVALID_SIGNATURE if not, AIOLI_STATUS_WRONG_LENGTH if key or signature have not
 * the length of the set. Any other status means that nothing was verified.
 *
 * Required:
 * `public_key`, `message` and `signature` are inputs.
 */
AioliStatus aioli_verify(uint32_t algorithm,
                         const uint8_t *public_key,
                         size_t public_key_length,
                         const uint8_t *message,
                         size_t message_length,
                         const uint8_t *signature,
                         size_t signature_length);

/**
 * Verifies a signature of the message that a digest was computed from (aioli_hasher_finish()).
 *
 * Required:
 * `public_key`, `digest` and `signature` are inputs.
 */
AioliStatus aioli_verify_digest(uint32_t algorithm,
                                const uint8_t *public_key,
                                size_t public_key_length,
                                const uint8_t *digest,
                                size_t digest_length,
                                const uint8_t *signature,
                                size_t signature_length);

/**
 * Expands a public key.
 *
 * Required:
 * `public_key` is an input, and `expanded` may be written.
 */
AioliStatus aioli_verifying_key_expand(uint32_t algorithm,
                                       const uint8_t *public_key,
                                       size_t public_key_length,
                                       AioliExpandedVerifyingKey **expanded);

/**
 * Verifies a signature of a message, as aioli_verify() does, with an expanded key.
 *
 * Required:
 * `key` is a key; `message` and `signature` are inputs.
 */
AioliStatus aioli_expanded_verify(const AioliExpandedVerifyingKey *key,
                                  const uint8_t *message,
                                  size_t message_length,
                                  const uint8_t *signature,
                                  size_t signature_length);

/**
 * Verifies a signature of the message that a digest was computed from, with an expanded key.
 *
 * Required:
 * `key` is a key; `digest` and `signature` are inputs.
 */
AioliStatus aioli_expanded_verify_digest(const AioliExpandedVerifyingKey *key,
                                         const uint8_t *digest,
                                         size_t digest_length,
                                         const uint8_t *signature,
                                         size_t signature_length);

/**
 * Frees an expanded key. NULL is allowed.
 *
 * Required:
 * `key` is NULL or a key, which is not used again.
 */
void aioli_expanded_verifying_key_free(AioliExpandedVerifyingKey *key);

/**
 * Makes a hasher for messages to be signed or verified with a set.
 *
 * Required:
 * `hasher` may be written.
 */
AioliStatus aioli_hasher_new(uint32_t algorithm, AioliHasher **hasher);

/**
 * Makes a second hasher that has read the same pieces.
 *
 * Required:
 * `hasher` is a hasher, and `copy` may be written.
 */
AioliStatus aioli_hasher_copy(const AioliHasher *hasher, AioliHasher **copy);

/**
 * Reads the next piece.
 *
 * Required:
 * `hasher` is a hasher that no other thread uses, and `bytes` an input.
 */
AioliStatus aioli_hasher_update(AioliHasher *hasher, const uint8_t *bytes, size_t length);

/**
 * Writes the digest of all pieces, for aioli_sign_digest() and aioli_verify_digest(). Afterwards
 * the hasher can only be freed; after a failure it is as before.
 *
 * Required:
 * `hasher` is a hasher that no other thread uses; `digest` and `length` are an output.
 */
AioliStatus aioli_hasher_finish(AioliHasher *hasher, uint8_t *digest, size_t *length);

/**
 * Frees a hasher. NULL is allowed.
 *
 * Required:
 * `hasher` is NULL or a hasher, which is not used again.
 */
void aioli_hasher_free(AioliHasher *hasher);

/**
 * Verifies many signatures on all cores, and writes for each the status that aioli_verify() would
 * return. Items with one key share its expansion, whatever their order. Returns AIOLI_STATUS_OK if
 * all are valid, AIOLI_STATUS_INVALID_SIGNATURE if some are not; any other status means that
 * nothing was verified and nothing written.
 *
 * Required:
 * `items` points to `count` items whose pointers are inputs, and `results` to as many statuses
 * that may be written; both may be NULL if the count is 0.
 */
AioliStatus aioli_verify_batch(const AioliItem *items, size_t count, AioliStatus *results);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AIOLI_H */
