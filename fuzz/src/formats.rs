//! Properties of every key file that is accepted.

use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::{
    DecodePrivateKey, DecodePublicKey, Document, EncodePrivateKey, EncodePublicKey, Identifiers, LineEnding,
};
use aioli::with_set;

/// Reads a public key. DER must be the only encoding of the key, and each way back must lead to it.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn public_key(file: &[u8]) {
    let Ok(key) = Identifiers::OQS.decode_public_key(file) else { return };
    let der = key.to_public_key_der().expect("an accepted key can be encoded");
    let pem = key.to_public_key_pem(LineEnding::LF).expect("an accepted key can be encoded");
    match Document::from_pem(str::from_utf8(file).unwrap_or_default()) {
        Ok((_, document)) => assert_eq!(document.as_bytes(), der.as_bytes(), "one encoding of a public key"),
        Err(_) => assert_eq!(file, der.as_bytes(), "one encoding of a public key"),
    }
    for encoded in [der.as_bytes(), pem.as_bytes()] {
        assert_eq!(Identifiers::OQS.decode_public_key(encoded).as_ref(), Ok(&key), "the way back");
    }
    with_set!(key.algorithm(), P => {
        let typed = aioli::VerifyingKey::<P>::from_public_key_der(der.as_bytes()).expect("the typed way back");
        assert_eq!(VerifyingKey::from(typed), key, "the typed way back");
    });
}

/// Reads a private key. Each way back from what is written must lead to it.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn private_key(file: &[u8], passphrase: Option<&[u8]>) {
    let Ok(key) = Identifiers::OQS.decode_private_key(file, passphrase) else { return };
    let der = key.to_pkcs8_der().expect("an accepted key can be encoded");
    let pem = key.to_pkcs8_pem(LineEnding::LF).expect("an accepted key can be encoded");
    for encoded in [der.as_bytes(), pem.as_bytes()] {
        let back = Identifiers::OQS.decode_private_key(encoded, None).expect("the way back");
        assert_eq!((back.algorithm(), back.as_bytes()), (key.algorithm(), key.as_bytes()), "the way back");
    }
    with_set!(key.algorithm(), P => {
        let typed = aioli::SigningKey::<P>::from_pkcs8_der(der.as_bytes()).expect("the typed way back");
        assert_eq!(SigningKey::from(typed).as_bytes(), key.as_bytes(), "the typed way back");
    });
}
