//! A provider of rustls with the sets of MAYO beside its own algorithms.

use crate::key::signing_key;
use aioli::pkcs8::{FormatError, Identifiers};
use aioli::{Algorithm, any};
use rustls::crypto::{CryptoProvider, KeyProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{PrivateKeyDer, SignatureVerificationAlgorithm};
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use std::sync::Arc;

/// A set, and the number that stands for it in handshakes.
///
/// TLS leaves 0xfe00 to 0xffff to private use. With a lower byte of 0, 1 or 2, rustls takes a
/// number for an algorithm of old and refuses it in TLS 1.3.
pub type CodePoint = (Algorithm, SignatureScheme);

/// The sets of round 3.
pub const ROUND_3: [CodePoint; 4] = [
    (Algorithm::Mayo1, SignatureScheme::Unknown(0xff7b)),
    (Algorithm::Mayo2, SignatureScheme::Unknown(0xff7c)),
    (Algorithm::Mayo3, SignatureScheme::Unknown(0xff7d)),
    (Algorithm::Mayo5, SignatureScheme::Unknown(0xff7e)),
];

/// The sets of round 2, of which MAYO_2 is broken at its claimed level.
pub const ROUND_2: [CodePoint; 4] = [
    (Algorithm::Mayo1Round2, SignatureScheme::Unknown(0xff32)),
    (Algorithm::Mayo2Round2, SignatureScheme::Unknown(0xff33)),
    (Algorithm::Mayo3Round2, SignatureScheme::Unknown(0xff34)),
    (Algorithm::Mayo5Round2, SignatureScheme::Unknown(0xff35)),
];

/// A provider with these sets, which it prefers to its own algorithms, for handshakes and for
/// certificates. It reads their private keys from PKCS#8.
///
/// A program makes one and keeps it: rustls wants lists that live as long as the program, so the
/// memory of each call is never freed.
pub fn provider(base: CryptoProvider, code_points: &[CodePoint]) -> CryptoProvider {
    let algorithms = code_points.iter().map(|&(algorithm, _)| aioli_x509::algorithms::of(algorithm));
    let own = base.signature_verification_algorithms;
    let mapping = code_points.iter().map(|&(algorithm, scheme)| {
        let list: &'static [&'static dyn SignatureVerificationAlgorithm] =
            std::slice::from_ref(&aioli_x509::algorithms::ALL[algorithm as usize]);
        (scheme, list)
    });
    let keys = Keys { base: base.key_provider, code_points: code_points.into() };
    CryptoProvider {
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            all: Vec::leak(algorithms.chain(own.all.iter().copied()).collect()),
            mapping: Vec::leak(mapping.chain(own.mapping.iter().copied()).collect()),
        },
        key_provider: Box::leak(Box::new(keys)),
        ..base
    }
}

/// Loads keys of MAYO itself, and leaves all others to another provider.
#[derive(Debug)]
struct Keys {
    base: &'static dyn KeyProvider,
    code_points: Vec<CodePoint>,
}

impl KeyProvider for Keys {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let PrivateKeyDer::Pkcs8(pkcs8) = &der else { return self.base.load_private_key(der) };
        let key: any::SigningKey = match Identifiers::OQS.decode_private_key(pkcs8.secret_pkcs8_der(), None) {
            Ok(key) => key,
            Err(aioli::Error::KeyFormat(FormatError::UnknownIdentifier(_))) => return self.base.load_private_key(der),
            Err(error) => return Err(Error::General(error.to_string())),
        };
        let known = self.code_points.iter().find(|(algorithm, _)| *algorithm == key.algorithm());
        let Some(&(_, scheme)) = known else {
            return Err(Error::General(format!("the provider has no code point for {}", key.algorithm())));
        };
        signing_key(&key, scheme)
    }
}
