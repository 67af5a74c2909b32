//! Errors as JavaScript sees them: an `Error` with a stable `code`.

use crate::command::envelope::EnvelopeError;
#[cfg(feature = "describe")]
use crate::command::reason::Reason;
use aioli::pkcs8::{self, FormatError};
use js_sys::Reflect;
use std::fmt::Display;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Why something was refused. The codes are stable; messages are for people. */
export interface AioliError extends Error {
    readonly name: "AioliError";
    readonly code:
        /** A key, signature or digest of the wrong length. */
        | "length"
        /** Values of different sets or rounds were used together. */
        | "algorithm-mismatch"
        /** No set has this name. */
        | "unknown-set"
        /** Neither a key file nor a key of a known kind. */
        | "key-format"
        /** The private key is encrypted and no passphrase was given. */
        | "encrypted"
        /** The passphrase is wrong or the file is damaged. */
        | "decryption"
        /** Not a signature file as the command `aioli` writes it. */
        | "signature-file"
        /** A certificate or request that is damaged or cannot be accepted. */
        | "certificate"
        /** A file that is none of the kinds that are read. */
        | "unknown-file"
        /** The source of randomness failed. */
        | "randomness"
        /** A check failed while signing, and no signature was released. */
        | "fault"
        /** The key was not made by key generation. */
        | "not-genuine"
        /** An argument is of another type than the method takes. */
        | "type"
        /** Something that these bindings do not cause. */
        | "internal";
}
"#;

/// An error on its way to JavaScript.
#[derive(Debug)]
pub(crate) struct Error {
    code: &'static str,
    message: String,
}

impl Error {
    /// An argument of another type than the method takes.
    pub(crate) fn wrong_type(what: &str, expected: &str) -> Self {
        Self { code: "type", message: format!("{what} is not {expected}") }
    }

    fn new(code: &'static str, error: &dyn Display) -> Self {
        Self { code, message: error.to_string() }
    }
}

impl From<aioli::Error> for Error {
    fn from(error: aioli::Error) -> Self {
        use aioli::Error as Library;
        let code = match error {
            Library::Length { .. } => "length",
            Library::AlgorithmMismatch { .. } => "algorithm-mismatch",
            Library::UnknownSet => "unknown-set",
            Library::KeyFormat(FormatError::Encrypted) => "encrypted",
            Library::KeyFormat(FormatError::Decryption) => "decryption",
            Library::KeyFormat(_) => "key-format",
            Library::Randomness => "randomness",
            Library::FaultDetected => "fault",
            Library::SamplesExhausted => "not-genuine",
            _ => "internal",
        };
        Self::new(code, &error)
    }
}

impl From<EnvelopeError> for Error {
    fn from(error: EnvelopeError) -> Self {
        Self::new("signature-file", &error)
    }
}

#[cfg(feature = "describe")]
impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        let code = match reason {
            Reason::Key(error) => return error.into(),
            Reason::Envelope(_) | Reason::Ssh(_) => "signature-file",
            Reason::Certificate(_) => "certificate",
            _ => "unknown-file",
        };
        Self::new(code, &reason)
    }
}

/// The failure of writing a key: encryption asks for randomness.
impl From<pkcs8::pkcs8::Error> for Error {
    fn from(error: pkcs8::pkcs8::Error) -> Self {
        Self::new("internal", &error)
    }
}

impl From<pkcs8::pkcs8::spki::Error> for Error {
    fn from(error: pkcs8::pkcs8::spki::Error) -> Self {
        Self::new("internal", &error)
    }
}

impl From<Error> for JsValue {
    fn from(Error { code, message }: Error) -> Self {
        let error = js_sys::Error::new(&message);
        error.set_name("AioliError");
        // A fresh object takes any property, so this cannot fail.
        let _ = Reflect::set(&error, &"code".into(), &code.into());
        error.into()
    }
}
