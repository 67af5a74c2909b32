//! Secret keys: made, read, written, and used.

use crate::edge::{self, with_cleared_stack};
use crate::error::Error;
use crate::message::{MessageDigest, digest};
use crate::verifying_key::VerifyingKey;
use aioli::any;
use aioli::pkcs8::{EncodePrivateKey, Identifiers, LineEnding};
use js_sys::{JsString, Uint8Array};
use wasm_bindgen::prelude::*;

/// A compact secret key. `free()` or `using` wipes its memory; without them it is wiped some time
/// after the object was forgotten. Nothing secret is a property of the object.
#[wasm_bindgen]
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct SigningKey(any::SigningKey);

#[wasm_bindgen]
impl SigningKey {
    /// Makes a fresh key from the randomness of `crypto.getRandomValues`.
    pub fn generate(#[wasm_bindgen(unchecked_param_type = "Algorithm")] algorithm: &JsValue) -> Result<Self, JsValue> {
        let algorithm = edge::set(algorithm)?;
        Ok(Self(with_cleared_stack(|| any::SigningKey::generate(algorithm)).map_err(Error::from)?))
    }

    /// Makes the key of a seed, which is the encoding of a secret key. The seed must be random and
    /// serve one set alone.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(
        #[wasm_bindgen(unchecked_param_type = "Algorithm")] algorithm: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Bytes")] seed: &JsValue,
    ) -> Result<Self, JsValue> {
        let seed = edge::secret_bytes("the seed", seed)?;
        let algorithm = edge::set(algorithm)?;
        Ok(Self(with_cleared_stack(|| any::SigningKey::from_bytes(algorithm, &seed)).map_err(Error::from)?))
    }

    /// Reads the contents of a key file: PKCS#8 as PEM or DER, encrypted or not. The file says
    /// which set the key is of. One that is not encrypted does not use the passphrase; one that
    /// would take more than 256 MiB to decrypt is refused.
    pub fn read(
        #[wasm_bindgen(unchecked_param_type = "string | Bytes")] file: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "string | Bytes")] passphrase: &JsValue,
    ) -> Result<Self, JsValue> {
        let file = edge::text_or_bytes("the key file", file)?;
        let passphrase = edge::passphrase(passphrase)?;
        let passphrase = passphrase.as_ref().map(|bytes| &bytes[..]);
        let key = with_cleared_stack(|| Identifiers::OQS.decode_private_key(&file, passphrase));
        Ok(Self(key.map_err(Error::from)?))
    }

    /// The seed, from which everything else follows. Secret; the caller wipes it.
    pub fn seed(&self) -> Uint8Array {
        Uint8Array::from(self.0.as_bytes())
    }

    /// The text of a key file: PKCS#8, encrypted by the passphrase if there is one (PBES2: scrypt,
    /// AES-256 in CBC mode).
    #[wasm_bindgen(js_name = toPem)]
    pub fn to_pem(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "string | Bytes")] passphrase: &JsValue,
    ) -> Result<JsString, JsValue> {
        let passphrase = edge::passphrase(passphrase)?;
        let pem = with_cleared_stack(|| match &passphrase {
            Some(passphrase) => self.0.to_pkcs8_encrypted_pem(passphrase, LineEnding::LF),
            None => self.0.to_pkcs8_pem(LineEnding::LF),
        });
        Ok(JsString::from(&**pem.map_err(Error::from)?))
    }

    /// The same as DER.
    #[wasm_bindgen(js_name = toDer)]
    pub fn to_der(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "string | Bytes")] passphrase: &JsValue,
    ) -> Result<Uint8Array, JsValue> {
        let passphrase = edge::passphrase(passphrase)?;
        let der = with_cleared_stack(|| match &passphrase {
            Some(passphrase) => self.0.to_pkcs8_encrypted_der(passphrase),
            None => self.0.to_pkcs8_der(),
        });
        Ok(Uint8Array::from(der.map_err(Error::from)?.as_bytes()))
    }

    /// Computes the public key.
    #[wasm_bindgen(js_name = verifyingKey)]
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(with_cleared_stack(|| self.0.verifying_key()))
    }

    /// Computes the values that all signatures by this key share: worth it for two or more. With
    /// `checked`, each signature is verified before it is released, which answers faults of the
    /// machine.
    #[allow(clippy::unused_async, reason = "callers need not change when the expansion leaves this thread")]
    pub async fn expand(&self, checked: Option<bool>) -> Result<ExpandedSigningKey, JsValue> {
        let expanded = with_cleared_stack(|| match checked {
            Some(true) => self.0.expand().checked(&self.0.verifying_key()),
            _ => Ok(self.0.expand()),
        });
        Ok(ExpandedSigningKey(expanded.map_err(Error::from)?))
    }
}

/// A secret key expanded for many signatures. Its memory is wiped as that of a `SigningKey`.
#[wasm_bindgen]
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct ExpandedSigningKey(any::ExpandedSigningKey);

/// The methods that compact and expanded keys share.
macro_rules! sign_by {
    ($($key:ident)*) => {$(
        #[wasm_bindgen]
        impl $key {
            /// The set that the key belongs to.
            #[wasm_bindgen(getter, unchecked_return_type = "Algorithm")]
            pub fn algorithm(&self) -> String {
                self.0.algorithm().name().into()
            }

            /// Signs with fresh randomness; returns the bare bytes of the signature.
            pub fn sign(
                &self,
                #[wasm_bindgen(unchecked_param_type = "Bytes")] message: &JsValue,
            ) -> Result<Uint8Array, JsValue> {
                let digest = digest(self.0.algorithm(), message)?;
                signed(|| self.0.sign_digest(&digest))
            }

            /// Signs the message that the digest was computed from.
            #[wasm_bindgen(js_name = signDigest)]
            pub fn sign_digest(&self, digest: &MessageDigest) -> Result<Uint8Array, JsValue> {
                signed(|| self.0.sign_digest(&digest.0))
            }
        }
    )*};
}

sign_by! { SigningKey ExpandedSigningKey }

fn signed(sign: impl FnOnce() -> Result<any::Signature, aioli::Error>) -> Result<Uint8Array, JsValue> {
    Ok(Uint8Array::from(with_cleared_stack(sign).map_err(Error::from)?.as_bytes()))
}
