//! The `.sig` files of the command.

use crate::command::envelope::{Envelope, bound_prefix};
use crate::edge;
use crate::error::Error;
use crate::verifying_key::VerifyingKey;
use aioli::any;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

/// A signature and the fingerprint of its key, as the command `aioli` writes them to `FILE.sig`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct SignatureFile(Envelope);

#[wasm_bindgen]
impl SignatureFile {
    /// Puts a signature together with the key that it was made with. `bound` says that it covers
    /// the fingerprint: then the message began with `SignatureFile.prefix(key)`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        key: &VerifyingKey,
        #[wasm_bindgen(unchecked_param_type = "Bytes")] signature: &JsValue,
        bound: Option<bool>,
    ) -> Result<Self, JsValue> {
        let signature = edge::bytes("the signature", signature)?;
        let signature = any::Signature::from_bytes(key.0.algorithm(), &signature).map_err(Error::from)?;
        Ok(Self(Envelope { signature, fingerprint: key.fingerprint(), bound: bound.unwrap_or(false) }))
    }

    /// Reads the contents of a file.
    pub fn read(#[wasm_bindgen(unchecked_param_type = "string | Bytes")] file: &JsValue) -> Result<Self, JsValue> {
        let file = edge::text_or_bytes("the signature file", file)?;
        Ok(Self(Envelope::parse(&file).map_err(Error::from)?))
    }

    /// Whether a file is meant to be one of these, rather than the bare bytes of a signature.
    #[wasm_bindgen(js_name = isMeant)]
    pub fn is_meant(#[wasm_bindgen(unchecked_param_type = "string | Bytes")] file: &JsValue) -> Result<bool, JsValue> {
        Ok(Envelope::is_meant(&edge::text_or_bytes("the signature file", file)?))
    }

    /// The bytes before the file in the message of a bound signature.
    pub fn prefix(key: &VerifyingKey) -> Uint8Array {
        Uint8Array::from(bound_prefix(&key.fingerprint()).as_bytes())
    }

    /// The set of the signature.
    #[wasm_bindgen(getter, unchecked_return_type = "Algorithm")]
    pub fn algorithm(&self) -> String {
        self.0.signature.algorithm().name().into()
    }

    /// The bytes of the signature.
    #[wasm_bindgen(getter)]
    pub fn signature(&self) -> Uint8Array {
        Uint8Array::from(self.0.signature.as_bytes())
    }

    /// The fingerprint of the key that the signature was made with.
    #[wasm_bindgen(getter)]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint.clone()
    }

    /// Whether the signature covers the fingerprint.
    #[wasm_bindgen(getter)]
    pub fn bound(&self) -> bool {
        self.0.bound
    }

    /// The text of the file.
    #[wasm_bindgen(js_name = toText)]
    pub fn to_text(&self) -> String {
        self.0.to_string()
    }
}
