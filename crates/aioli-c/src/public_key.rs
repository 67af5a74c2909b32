//! Public keys, which are bytes to C, and verification.

use crate::algorithm::{number, set};
use crate::edge::{self, Output, guarded};
use crate::status::{AioliStatus, Failure};
use aioli::any::{self, MessageDigest, Signature, VerifyingKey};
use aioli::pkcs8::{EncodePublicKey, Identifiers, LineEnding};

/// The format DER of a key file.
pub const AIOLI_DER: u32 = 0;
/// The format PEM of a key file.
pub const AIOLI_PEM: u32 = 1;

/// A public key with its expansion: for many verifications with one key.
#[derive(Debug)]
pub struct AioliExpandedVerifyingKey(any::ExpandedVerifyingKey);

/// Reads a public key from the contents of a file: SubjectPublicKeyInfo as PEM or DER. Tells its
/// set too.
///
/// # Safety
///
/// `file` is an input, `algorithm` may be written; `public_key` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_public_key_read(
    file: *const u8,
    file_length: usize,
    algorithm: *mut u32,
    public_key: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises an input.
        let file = unsafe { edge::input("file", file, file_length) }?;
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("algorithm", algorithm) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(public_key, length) }?;
        let key = Identifiers::OQS.decode_public_key(file)?;
        output.write(key.as_bytes())?;
        place.write(number(key.algorithm()));
        Ok(())
    })
}

/// Writes a public key as the contents of a file: SubjectPublicKeyInfo as AIOLI_DER or AIOLI_PEM,
/// with the identifiers of the Open Quantum Safe provider.
///
/// # Safety
///
/// `public_key` is an input; `file` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_public_key_write(
    algorithm: u32,
    public_key: *const u8,
    public_key_length: usize,
    format: u32,
    file: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises an input.
        let key = unsafe { key(algorithm, public_key, public_key_length) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(file, length) }?;
        let pem = || key.to_public_key_pem(LineEnding::LF).map_err(|error| encoding(error.into()));
        let der = || key.to_public_key_der().map_err(|error| encoding(error.into()));
        match format {
            AIOLI_DER => output.write(der()?.as_bytes()),
            AIOLI_PEM => output.write(pem()?.as_bytes()),
            _ => Err(unknown_format(format)),
        }
    })
}

/// Verifies a signature of a message: AIOLI_STATUS_OK if it is valid,
/// AIOLI_STATUS_INVALID_SIGNATURE if not, AIOLI_STATUS_WRONG_LENGTH if key or signature have not
/// the length of the set. Any other status means that nothing was verified.
///
/// # Safety
///
/// `public_key`, `message` and `signature` are inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_verify(
    algorithm: u32,
    public_key: *const u8,
    public_key_length: usize,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises an input.
        let key = unsafe { key(algorithm, public_key, public_key_length) }?;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", message, message_length) }?;
        // SAFETY: the caller promises an input.
        let signature = unsafe { edge::input("signature", signature, signature_length) }?;
        Ok(key.verify(message, &Signature::from_bytes(key.algorithm(), signature)?)?)
    })
}

/// Verifies a signature of the message that a digest was computed from (aioli_hasher_finish()).
///
/// # Safety
///
/// `public_key`, `digest` and `signature` are inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_verify_digest(
    algorithm: u32,
    public_key: *const u8,
    public_key_length: usize,
    digest: *const u8,
    digest_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises an input.
        let key = unsafe { key(algorithm, public_key, public_key_length) }?;
        // SAFETY: the caller promises an input.
        let digest = unsafe { edge::input("digest", digest, digest_length) }?;
        // SAFETY: the caller promises an input.
        let signature = unsafe { edge::input("signature", signature, signature_length) }?;
        let digest = MessageDigest::from_bytes(key.algorithm(), digest)?;
        Ok(key.verify_digest(&digest, &Signature::from_bytes(key.algorithm(), signature)?)?)
    })
}

/// Expands a public key.
///
/// # Safety
///
/// `public_key` is an input, and `expanded` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_verifying_key_expand(
    algorithm: u32,
    public_key: *const u8,
    public_key_length: usize,
    expanded: *mut *mut AioliExpandedVerifyingKey,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises an input.
        let key = unsafe { key(algorithm, public_key, public_key_length) }?;
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("expanded", expanded) }?;
        edge::give(place, AioliExpandedVerifyingKey(key.expand()));
        Ok(())
    })
}

/// Verifies a signature of a message, as aioli_verify() does, with an expanded key.
///
/// # Safety
///
/// `key` is a key; `message` and `signature` are inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_verify(
    key: *const AioliExpandedVerifyingKey,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", message, message_length) }?;
        // SAFETY: the caller promises an input.
        let signature = unsafe { edge::input("signature", signature, signature_length) }?;
        Ok(key.verify(message, &Signature::from_bytes(key.algorithm(), signature)?)?)
    })
}

/// Verifies a signature of the message that a digest was computed from, with an expanded key.
///
/// # Safety
///
/// `key` is a key; `digest` and `signature` are inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_verify_digest(
    key: *const AioliExpandedVerifyingKey,
    digest: *const u8,
    digest_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a key.
        let key = &unsafe { edge::object("key", key) }?.0;
        // SAFETY: the caller promises an input.
        let digest = unsafe { edge::input("digest", digest, digest_length) }?;
        // SAFETY: the caller promises an input.
        let signature = unsafe { edge::input("signature", signature, signature_length) }?;
        let digest = MessageDigest::from_bytes(key.algorithm(), digest)?;
        Ok(key.verify_digest(&digest, &Signature::from_bytes(key.algorithm(), signature)?)?)
    })
}

/// Frees an expanded key. NULL is allowed.
///
/// # Safety
///
/// `key` is NULL or a key, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_expanded_verifying_key_free(key: *mut AioliExpandedVerifyingKey) {
    // SAFETY: the caller promises the last use of a key.
    unsafe { edge::free(key) }
}

/// A public key from its bytes.
///
/// # Safety
///
/// `bytes` is an input.
unsafe fn key(algorithm: u32, bytes: *const u8, length: usize) -> Result<VerifyingKey, Failure> {
    // SAFETY: the caller promises an input.
    let bytes = unsafe { edge::input("public_key", bytes, length) }?;
    Ok(VerifyingKey::from_bytes(set(algorithm)?, bytes)?)
}

pub(crate) fn unknown_format(format: u32) -> Failure {
    let message = format!("{format} is no format of a key file; AIOLI_DER and AIOLI_PEM are");
    Failure::new(AioliStatus::KeyFormat, message)
}

/// Writing a key fails for want of randomness or memory alone.
pub(crate) fn encoding(error: aioli::pkcs8::pkcs8::Error) -> Failure {
    Failure::new(AioliStatus::Internal, format!("the key could not be written: {error}"))
}
