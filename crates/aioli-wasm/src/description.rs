//! Descriptions of files: keys, signatures, certificates and requests.

use crate::command::describe;
use crate::edge::{self, object, with_cleared_stack};
use crate::error::Error;
use js_sys::Array;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** A description of a file, or of a certificate in it. */
export interface Description {
    /** The kind of file. */
    readonly what: string;
    /** Names and values, in the words of `aioli inspect`. A name may occur more than once. */
    readonly facts: readonly (readonly [name: string, value: string])[];
}
"#;

/// Describes a file of a key, a signature, a request for a certificate, or certificates: one
/// description for each certificate in a chain. The passphrase opens an encrypted key. Nothing
/// secret is in a description. Certificates are described, and not judged.
#[wasm_bindgen(unchecked_return_type = "Description[]")]
pub fn describe(
    #[wasm_bindgen(unchecked_param_type = "string | Bytes")] file: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string | Bytes")] passphrase: &JsValue,
) -> Result<Array, JsValue> {
    let file = edge::text_or_bytes("the file", file)?;
    let passphrase = edge::passphrase(passphrase)?;
    let passphrase = passphrase.as_ref().map(|bytes| &bytes[..]);
    let descriptions = with_cleared_stack(|| describe::describe(&file, passphrase)).map_err(Error::from)?;
    let pair = |(name, value): &(&str, String)| Array::of2(&(*name).into(), &value.into());
    let description = |description: &describe::Description| {
        let facts: Array = description.facts.iter().map(pair).collect();
        object([("what", (&description.what).into()), ("facts", facts.into())])
    };
    Ok(descriptions.iter().map(description).collect())
}
