//! Secret keys: made, read, written, and used.

use crate::algorithm::{number, set};
use crate::edge::{self, Output, guarded};
use crate::public_key::{AIOLI_DER, AIOLI_PEM, encoding, unknown_format};
use crate::status::AioliStatus;
use aioli::any::{self, MessageDigest};
use aioli::pkcs8::{EncodePrivateKey, Identifiers, LineEnding};

/// A secret key.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct AioliSigningKey(any::SigningKey);

/// A secret key with the values that all of its signatures share: for many signatures by one key.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct AioliExpandedSigningKey(any::ExpandedSigningKey);

/// Makes a fresh key from the operating system's randomness.
///
/// # Safety
///
/// `key` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_generate(algorithm: u32, key: *mut *mut AioliSigningKey) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("key", key) }?;
        edge::give(place, AioliSigningKey(any::SigningKey::generate(set(algorithm)?)?));
        Ok(())
    })
}

/// Makes the key of a seed, which is the encoding of a secret key. The seed must be random and
/// serve one set alone.
///
/// # Safety
///
/// `seed` is an input, and `key` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_from_seed(
    algorithm: u32,
    seed: *const u8,
    seed_length: usize,
    key: *mut *mut AioliSigningKey,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("key", key) }?;
        // SAFETY: the caller promises an input.
        let seed = unsafe { edge::input("seed", seed, seed_length) }?;
        edge::give(place, AioliSigningKey(any::SigningKey::from_bytes(set(algorithm)?, seed)?));
        Ok(())
    })
}

/// Reads a key from the contents of a file: PKCS#8 as PEM or DER, encrypted or not. A file that is
/// not encrypted does not use the passphrase; length 0 means that there is none. A file that would
/// take more than 256 MiB or about a second to decrypt is refused.
///
/// # Safety
///
/// `file` and `passphrase` are inputs, and `key` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_read(
    file: *const u8,
    file_length: usize,
    passphrase: *const u8,
    passphrase_length: usize,
    key: *mut *mut AioliSigningKey,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("key", key) }?;
        // SAFETY: the caller promises an input.
        let file = unsafe { edge::input("file", file, file_length) }?;
        // SAFETY: the caller promises an input.
        let passphrase = unsafe { edge::input("passphrase", passphrase, passphrase_length) }?;
        let passphrase = Some(passphrase).filter(|passphrase| !passphrase.is_empty());
        edge::give(place, AioliSigningKey(Identifiers::OQS.decode_private_key(file, passphrase)?));
        Ok(())
    })
}

/// Writes a key as the contents of a file: PKCS#8 in the form of the Open Quantum Safe provider, as
/// AIOLI_DER or AIOLI_PEM. With a passphrase it is encrypted (PBES2: scrypt, AES-256 in CBC mode);
/// length 0 means that there is none.
///
/// # Safety
///
/// `key` is a key, `passphrase` an input; `file` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_write(
    key: *const AioliSigningKey,
    format: u32,
    passphrase: *const u8,
    passphrase_length: usize,
    file: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let passphrase = unsafe { edge::input("passphrase", passphrase, passphrase_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(file, length) }?;
        match (format, passphrase.is_empty()) {
            (AIOLI_DER, true) => output.write(key.to_pkcs8_der().map_err(encoding)?.as_bytes()),
            (AIOLI_DER, false) => output.write(key.to_pkcs8_encrypted_der(passphrase).map_err(encoding)?.as_bytes()),
            (AIOLI_PEM, true) => output.write(key.to_pkcs8_pem(LineEnding::LF).map_err(encoding)?.as_bytes()),
            (AIOLI_PEM, false) => {
                let pem = key.to_pkcs8_encrypted_pem(passphrase, LineEnding::LF).map_err(encoding)?;
                output.write(pem.as_bytes())
            }
            _ => Err(unknown_format(format)),
        }
    })
}

/// Tells which set a key belongs to.
///
/// # Safety
///
/// `key` is a key, and `algorithm` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_algorithm(key: *const AioliSigningKey, algorithm: *mut u32) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises that it may be written.
        unsafe { edge::place("algorithm", algorithm) }?.write(number(key.algorithm()));
        Ok(())
    })
}

/// Writes the seed of a key, its encoding. Secret: erase it after use.
///
/// # Safety
///
/// `key` is a key; `seed` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_seed(
    key: *const AioliSigningKey,
    seed: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an output.
        unsafe { Output::new(seed, length) }?.write(key.as_bytes())
    })
}

/// Computes the public key of a secret key.
///
/// # Safety
///
/// `key` is a key; `public_key` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_public(
    key: *const AioliSigningKey,
    public_key: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(public_key, length) }?;
        output.demand(key.algorithm().public_key_bytes())?;
        output.write(key.verifying_key().as_bytes())
    })
}

/// Computes the values that all signatures by a key share. Both keys must be freed.
///
/// # Safety
///
/// `key` is a key, and `expanded` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_expand(
    key: *const AioliSigningKey,
    expanded: *mut *mut AioliExpandedSigningKey,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("expanded", expanded) }?;
        edge::give(place, AioliExpandedSigningKey(key.expand()));
        Ok(())
    })
}

/// Signs a message with fresh randomness.
///
/// # Safety
///
/// `key` is a key, `message` an input; `signature` and `signature_length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_sign(
    key: *const AioliSigningKey,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", message, message_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(signature, signature_length) }?;
        output.demand(key.algorithm().signature_bytes())?;
        output.write(key.sign(message)?.as_bytes())
    })
}

/// Signs the message that a digest was computed from (aioli_hasher_finish()), with fresh
/// randomness.
///
/// # Safety
///
/// `key` is a key, `digest` an input; `signature` and `signature_length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_sign_digest(
    key: *const AioliSigningKey,
    digest: *const u8,
    digest_length: usize,
    signature: *mut u8,
    signature_length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let digest = unsafe { edge::input("digest", digest, digest_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(signature, signature_length) }?;
        output.demand(key.algorithm().signature_bytes())?;
        output.write(key.sign_digest(&MessageDigest::from_bytes(key.algorithm(), digest)?)?.as_bytes())
    })
}

/// Signs a message without randomness: the same key and message always give the same signature.
///
/// # Safety
///
/// `key` is a key, `message` an input; `signature` and `signature_length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_sign_deterministic(
    key: *const AioliSigningKey,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", message, message_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(signature, signature_length) }?;
        output.demand(key.algorithm().signature_bytes())?;
        output.write(key.sign_deterministic(message)?.as_bytes())
    })
}

/// Signs a message with fresh randomness and an expanded key.
///
/// # Safety
///
/// `key` is a key, `message` an input; `signature` and `signature_length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_sign(
    key: *const AioliExpandedSigningKey,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", message, message_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(signature, signature_length) }?;
        output.demand(key.algorithm().signature_bytes())?;
        output.write(key.sign(message)?.as_bytes())
    })
}

/// Signs the message that a digest was computed from, with fresh randomness and an expanded key.
///
/// # Safety
///
/// `key` is a key, `digest` an input; `signature` and `signature_length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_sign_digest(
    key: *const AioliExpandedSigningKey,
    digest: *const u8,
    digest_length: usize,
    signature: *mut u8,
    signature_length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let digest = unsafe { edge::input("digest", digest, digest_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(signature, signature_length) }?;
        output.demand(key.algorithm().signature_bytes())?;
        output.write(key.sign_digest(&MessageDigest::from_bytes(key.algorithm(), digest)?)?.as_bytes())
    })
}

/// Erases and frees a key. NULL is allowed.
///
/// # Safety
///
/// `key` is NULL or a key, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_signing_key_free(key: *mut AioliSigningKey) {
    // SAFETY: the caller promises the last use of a key.
    unsafe { edge::free(key) }
}

/// Erases and frees an expanded key. NULL is allowed.
///
/// # Safety
///
/// `key` is NULL or a key, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_signing_key_free(key: *mut AioliExpandedSigningKey) {
    // SAFETY: the caller promises the last use of a key.
    unsafe { edge::free(key) }
}
