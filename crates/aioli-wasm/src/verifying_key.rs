//! Public keys: read, written, and used.

use crate::command::fingerprint::fingerprint;
use crate::edge;
use crate::error::Error;
use crate::expansion::expand;
use crate::message::{MessageDigest, digest};
use aioli::any;
use aioli::pkcs8::{EncodePublicKey, Identifiers, LineEnding};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

/// A compact public key.
#[wasm_bindgen]
#[derive(Debug)]
pub struct VerifyingKey(pub(crate) any::VerifyingKey);

#[wasm_bindgen]
impl VerifyingKey {
    /// Makes a key from its bytes, which do not say which set it is of.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(
        #[wasm_bindgen(unchecked_param_type = "Algorithm")] algorithm: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Bytes")] bytes: &JsValue,
    ) -> Result<Self, JsValue> {
        let bytes = edge::bytes("the public key", bytes)?;
        Ok(Self(any::VerifyingKey::from_bytes(edge::set(algorithm)?, &bytes).map_err(Error::from)?))
    }

    /// Reads the contents of a key file: SubjectPublicKeyInfo as PEM or DER.
    pub fn read(#[wasm_bindgen(unchecked_param_type = "string | Bytes")] file: &JsValue) -> Result<Self, JsValue> {
        let file = edge::text_or_bytes("the key file", file)?;
        Ok(Self(Identifiers::OQS.decode_public_key(&file).map_err(Error::from)?))
    }

    /// The fingerprint, as the command shows it: `SHA256:` and 43 characters.
    #[wasm_bindgen(getter)]
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.0)
    }

    /// The bytes of the key.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Uint8Array {
        Uint8Array::from(self.0.as_bytes())
    }

    /// The text of a key file: SubjectPublicKeyInfo.
    #[wasm_bindgen(js_name = toPem)]
    pub fn to_pem(&self) -> Result<String, JsValue> {
        Ok(self.0.to_public_key_pem(LineEnding::LF).map_err(Error::from)?)
    }

    /// The same as DER.
    #[wasm_bindgen(js_name = toDer)]
    pub fn to_der(&self) -> Result<Uint8Array, JsValue> {
        Ok(Uint8Array::from(self.0.to_public_key_der().map_err(Error::from)?.as_bytes()))
    }

    /// Expands P1 and P2: worth it for two or more verifications. The key stream comes from
    /// WebCrypto, which uses the processor's AES, and from this module where there is none.
    pub async fn expand(&self) -> ExpandedVerifyingKey {
        ExpandedVerifyingKey(expand(&self.0).await)
    }
}

/// A public key expanded for many verifications.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ExpandedVerifyingKey(any::ExpandedVerifyingKey);

/// The methods that compact and expanded keys share.
macro_rules! verify_by {
    ($($key:ident)*) => {$(
        #[wasm_bindgen]
        impl $key {
            /// The set that the key belongs to.
            #[wasm_bindgen(getter, unchecked_return_type = "Algorithm")]
            pub fn algorithm(&self) -> String {
                self.0.algorithm().name().into()
            }

            /// Whether a signature is valid for a message. Throws if it has another length than the
            /// signatures of the set.
            pub fn verify(
                &self,
                #[wasm_bindgen(unchecked_param_type = "Bytes")] signature: &JsValue,
                #[wasm_bindgen(unchecked_param_type = "Bytes")] message: &JsValue,
            ) -> Result<bool, JsValue> {
                let algorithm = self.0.algorithm();
                valid(self.0.verify_digest(&digest(algorithm, message)?, &read(algorithm, signature)?))
            }

            /// Whether a signature is valid for the message that the digest was computed from.
            #[wasm_bindgen(js_name = verifyDigest)]
            pub fn verify_digest(
                &self,
                #[wasm_bindgen(unchecked_param_type = "Bytes")] signature: &JsValue,
                digest: &MessageDigest,
            ) -> Result<bool, JsValue> {
                valid(self.0.verify_digest(&digest.0, &read(self.0.algorithm(), signature)?))
            }
        }
    )*};
}

verify_by! { VerifyingKey ExpandedVerifyingKey }

fn read(algorithm: aioli::Algorithm, signature: &JsValue) -> Result<any::Signature, Error> {
    Ok(any::Signature::from_bytes(algorithm, &edge::bytes("the signature", signature)?)?)
}

fn valid(verified: Result<(), aioli::Error>) -> Result<bool, JsValue> {
    match verified {
        Ok(()) => Ok(true),
        Err(aioli::Error::InvalidSignature) => Ok(false),
        Err(error) => Err(Error::from(error).into()),
    }
}
