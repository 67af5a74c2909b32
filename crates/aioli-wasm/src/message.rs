//! Messages that come in pieces.

use crate::edge;
use crate::error::Error;
use aioli::any;
use wasm_bindgen::prelude::*;

/// Computes the digest of a message that comes in pieces, in constant memory.
#[wasm_bindgen]
#[derive(Debug)]
pub struct MessageHasher(any::MessageHasher);

#[wasm_bindgen]
impl MessageHasher {
    /// A hasher for a message to sign or verify with a key of this set.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "Algorithm")] algorithm: &JsValue) -> Result<Self, JsValue> {
        Ok(Self(any::MessageHasher::new(edge::set(algorithm)?)))
    }

    /// Reads the next piece.
    pub fn update(&mut self, #[wasm_bindgen(unchecked_param_type = "Bytes")] bytes: &JsValue) -> Result<(), JsValue> {
        self.0.update(&edge::bytes("the piece", bytes)?);
        Ok(())
    }

    /// The digest of all pieces so far, one after another.
    pub fn digest(&self) -> MessageDigest {
        MessageDigest(self.0.clone().finalize())
    }
}

/// The digest of a message, to sign or verify in its place.
#[wasm_bindgen]
#[derive(Debug)]
pub struct MessageDigest(pub(crate) any::MessageDigest);

#[wasm_bindgen]
impl MessageDigest {
    /// The digest of a message in one piece.
    pub fn of(
        #[wasm_bindgen(unchecked_param_type = "Algorithm")] algorithm: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Bytes")] message: &JsValue,
    ) -> Result<Self, JsValue> {
        Ok(Self(digest(edge::set(algorithm)?, message)?))
    }
}

/// The digest of a message in one piece.
pub(crate) fn digest(algorithm: aioli::Algorithm, message: &JsValue) -> Result<any::MessageDigest, Error> {
    Ok(any::MessageDigest::of(algorithm, &edge::bytes("the message", message)?))
}
