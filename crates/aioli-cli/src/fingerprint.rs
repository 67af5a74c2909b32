//! Fingerprints of public keys.

use aioli::any::VerifyingKey;
use aioli::pkcs8::EncodePublicKey;
use base64ct::{Base64Unpadded, Encoding};
use sha2::{Digest, Sha256};

/// The fingerprint of a public key: `SHA256:` and the unpadded base64 of a SHA-256 digest.
///
/// The digest is taken over the key's SubjectPublicKeyInfo in DER, the bytes that OpenSSL gives
/// too. They contain the identifier of the set, so keys of different sets or rounds differ.
pub(crate) fn fingerprint(key: &VerifyingKey) -> String {
    let der = key.to_public_key_der().expect("a public key is far below the length that DER can hold");
    format!("{PREFIX}{}", Base64Unpadded::encode_string(&Sha256::digest(der.as_bytes())))
}

/// Whether a text has the form of a fingerprint.
pub(crate) fn is_fingerprint(text: &str) -> bool {
    let digest = text.strip_prefix(PREFIX).map(Base64Unpadded::decode_vec);
    matches!(digest, Some(Ok(digest)) if digest.len() == 32)
}

const PREFIX: &str = "SHA256:";
