//! A secret key that signs handshakes.

use aioli::any::{self, ExpandedSigningKey};
use aioli::pkcs8::EncodePublicKey;
use core::fmt;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use std::sync::Arc;

/// A key for handshakes under this code point, for [`rustls::sign::CertifiedKey::new`].
///
/// It is expanded, and its signatures are protected against faults, see
/// [`ExpandedSigningKey::checked`].
///
/// # Errors
///
/// None with keys that the library made or read.
pub fn signing_key(key: &any::SigningKey, scheme: SignatureScheme) -> Result<Arc<dyn SigningKey>, Error> {
    let verifying_key = key.verifying_key();
    let public = verifying_key.to_public_key_der().map_err(|error| Error::General(error.to_string()))?;
    let key = key.expand().checked(&verifying_key).map_err(|error| Error::General(error.to_string()))?;
    Ok(Arc::new(Key(Arc::new(Parts { key, scheme, public: public.into_vec().into() }))))
}

#[derive(Clone)]
struct Key(Arc<Parts>);

struct Parts {
    key: ExpandedSigningKey,
    scheme: SignatureScheme,
    public: SubjectPublicKeyInfoDer<'static>,
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.0.scheme).then(|| Box::new(self.clone()) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(self.0.public.as_ref()))
    }

    /// The lower byte of the code point: TLS 1.2 takes it for an algorithm, and knows none such.
    fn algorithm(&self) -> SignatureAlgorithm {
        let [_, algorithm] = u16::from(self.0.scheme).to_be_bytes();
        SignatureAlgorithm::from(algorithm)
    }
}

impl Signer for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature = self.0.key.sign(message).map_err(|error| Error::General(error.to_string()))?;
        Ok(signature.as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme
    }
}

/// Prints nothing secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.0.key.algorithm();
        f.debug_struct("Key").field("algorithm", &algorithm).field("scheme", &self.0.scheme).finish_non_exhaustive()
    }
}
