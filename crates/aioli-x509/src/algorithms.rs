//! The sets as signature algorithms of `rustls-webpki`, which `rustls` uses, too.

use aioli::Algorithm;
use aioli::any::{Signature, VerifyingKey};
use aioli::pkcs8::Identifiers;
use rustls_pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};

/// Verification with a set, under the identifier of [`Identifiers::OQS`].
pub fn of(algorithm: Algorithm) -> &'static dyn SignatureVerificationAlgorithm {
    ALL[algorithm as usize]
}

/// All sets, in the order of [`Algorithm::ALL`].
pub static ALL: [&dyn SignatureVerificationAlgorithm; COUNT] = {
    let mut all: [&dyn SignatureVerificationAlgorithm; COUNT] = [&Set(Algorithm::ALL[0]); COUNT];
    let mut i = 0;
    while i < COUNT {
        all[i] = &SETS[i];
        i += 1;
    }
    all
};

static SETS: [Set; COUNT] = {
    let mut sets = [const { Set(Algorithm::ALL[0]) }; COUNT];
    let mut i = 0;
    while i < COUNT {
        sets[i] = Set(Algorithm::ALL[i]);
        i += 1;
    }
    sets
};

/// The identifiers in DER. All have the same length.
static IDENTIFIERS: [[u8; 8]; COUNT] = {
    let mut identifiers = [[TAG_OF_IDENTIFIERS, 6, 0, 0, 0, 0, 0, 0]; COUNT];
    let mut i = 0;
    while i < COUNT {
        identifiers[i].split_at_mut(2).1.copy_from_slice(Identifiers::OQS.get(Algorithm::ALL[i]).as_bytes());
        i += 1;
    }
    identifiers
};

#[derive(Debug)]
struct Set(Algorithm);

impl SignatureVerificationAlgorithm for Set {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_bytes(self.0, public_key);
        let signature = Signature::from_bytes(self.0, signature);
        let (Ok(key), Ok(signature)) = (key, signature) else { return Err(InvalidSignature) };
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        AlgorithmIdentifier::from_slice(&IDENTIFIERS[self.0 as usize])
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.public_key_alg_id()
    }
}

const COUNT: usize = Algorithm::ALL.len();
const TAG_OF_IDENTIFIERS: u8 = 6;
