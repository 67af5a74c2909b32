//! Arguments from JavaScript, checked for their type, and objects for it.
//!
//! Secrets are copied into memory that is wiped. The glue of wasm-bindgen would leave a copy of a
//! `&str` or `&[u8]` in freed memory.

use crate::error::Error;
use aioli::Algorithm;
use js_sys::{ArrayBuffer, JsString, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

/// The set of a name.
pub(crate) fn set(name: &JsValue) -> Result<Algorithm, Error> {
    let name = name.as_string().ok_or_else(|| Error::wrong_type("the name of the set", "a string"))?;
    Ok(name.parse()?)
}

/// The bytes of a typed array, a `DataView`, a Node `Buffer` or an `ArrayBuffer`.
pub(crate) fn bytes(what: &str, value: &JsValue) -> Result<Vec<u8>, Error> {
    Ok(view(value).ok_or_else(|| Error::wrong_type(what, "an ArrayBuffer or a view of one"))?.to_vec())
}

/// The bytes of a secret.
pub(crate) fn secret_bytes(what: &str, value: &JsValue) -> Result<Zeroizing<Vec<u8>>, Error> {
    bytes(what, value).map(Zeroizing::new)
}

/// The bytes of a file, or of a text in UTF-8. They may be secret.
pub(crate) fn text_or_bytes(what: &str, value: &JsValue) -> Result<Zeroizing<Vec<u8>>, Error> {
    if let Some(text) = value.dyn_ref::<JsString>() {
        // The room for everything is reserved here: growing would leave copies of a secret behind.
        let mut copy = Zeroizing::new(String::with_capacity(3 * text.length() as usize));
        let decoded = char::decode_utf16(text.iter());
        decoded.for_each(|unit| copy.push(unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        return Ok(Zeroizing::new(std::mem::take(&mut *copy).into_bytes()));
    }
    let bytes = view(value).ok_or_else(|| Error::wrong_type(what, "a string, an ArrayBuffer or a view of one"))?;
    Ok(Zeroizing::new(bytes.to_vec()))
}

/// The passphrase, if there is one. An empty one is refused, as it protects nothing.
pub(crate) fn passphrase(value: &JsValue) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let passphrase = text_or_bytes("the passphrase", value)?;
    match passphrase.is_empty() {
        true => Err(Error::wrong_type("the passphrase", "longer than nothing; leave it out for a key in the clear")),
        false => Ok(Some(passphrase)),
    }
}

/// An object with these properties.
pub(crate) fn object<'a>(properties: impl IntoIterator<Item = (&'a str, JsValue)>) -> Object {
    let object = Object::new();
    for (name, value) in properties {
        // A fresh object takes any property, so this cannot fail.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object
}

/// Runs `f` and then clears the stack that it used.
///
/// The stack is part of the module's memory, where small temporaries of a secret would be left.
/// Results return through the caller's frame, so they must not hold a secret by value.
pub(crate) fn with_cleared_stack<T>(f: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn run<T>(f: impl FnOnce() -> T) -> T {
        f()
    }
    #[inline(never)]
    fn clear() {
        let mut stack = [0_u8; STACK];
        // Memory that may be written cannot be a constant elsewhere.
        std::hint::black_box(&mut stack);
    }
    let result = run(f);
    clear();
    result
}

/// More than what any operation uses: the tests of the library run on stacks of 128 KiB.
const STACK: usize = 128 << 10;

fn view(value: &JsValue) -> Option<Uint8Array> {
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return Some(bytes.clone());
    }
    if ArrayBuffer::is_view(value) {
        let view = value.unchecked_ref::<js_sys::DataView>();
        let [offset, length] = [view.byte_offset(), view.byte_length()].map(|number| number as u32);
        return Some(Uint8Array::new_with_byte_offset_and_length(&view.buffer(), offset, length));
    }
    value.is_instance_of::<ArrayBuffer>().then(|| Uint8Array::new(value))
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Bytes as WebCrypto takes them. */
export type Bytes = ArrayBuffer | ArrayBufferView;
"#;
