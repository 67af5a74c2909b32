//! The encodings of keys: the choices of cryptography's `serialization`, by name.

use aioli::pkcs8::Form;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The name of a member of an enum of cryptography, or a name itself.
fn name(object: &Bound<'_, PyAny>, what: &str, known: &[&str]) -> PyResult<String> {
    // `str` of a member is "Encoding.PEM", whether the enum is Python's or native.
    let text = object.str()?.to_string();
    let name = match object.is_instance_of::<PyString>() {
        true => text.as_str(),
        false => text.rsplit('.').next().unwrap_or_default(),
    };
    match known.contains(&name) {
        true => Ok(name.into()),
        false => Err(PyValueError::new_err(format!("{what} is {text}; expected one of {}", known.join(", ")))),
    }
}

/// The outer form of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Pem,
    Der,
    /// The bare bytes, without a format around them.
    Raw,
}

impl Encoding {
    /// Reads the encoding and the format, whose name beside raw is `structure`.
    pub(crate) fn of(encoding: &Bound<'_, PyAny>, format: &Bound<'_, PyAny>, structure: &str) -> PyResult<Self> {
        let encoding = name(encoding, "encoding", &["PEM", "DER", "Raw"])?;
        let format = name(format, "format", &[structure, "Raw"])?;
        match (encoding.as_str(), format.as_str()) {
            ("Raw", "Raw") => Ok(Self::Raw),
            ("PEM", name) if name == structure => Ok(Self::Pem),
            ("DER", name) if name == structure => Ok(Self::Der),
            _ => {
                let message = format!(
                    "encoding {encoding} with format {format}; expected PEM or DER with {structure}, or Raw with Raw"
                );
                Err(PyValueError::new_err(message))
            }
        }
    }
}

/// The form inside of the structure, by the names that `aioli convert --to` has.
pub(crate) fn form(name: &str) -> PyResult<Form> {
    match name {
        "oqs" => Ok(Form::OpenQuantumSafe),
        "bouncycastle" => Ok(Form::BouncyCastle),
        "pq-mayo" => Ok(Form::PqMayo),
        _ => Err(PyValueError::new_err(format!("form is {name}; expected one of oqs, bouncycastle, pq-mayo"))),
    }
}

/// The passphrase that a private key is to be encrypted under.
///
/// cryptography's builder of encryptions is refused: it asks for a method of its own.
pub(crate) fn passphrase<'py>(encryption: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let class = encryption.get_type().name()?.to_string();
    let passphrase = match class.as_str() {
        "NoneType" | "NoEncryption" => return Ok(None),
        "BestAvailableEncryption" => encryption.getattr("password")?,
        _ => encryption.clone(),
    };
    let passphrase = passphrase.cast_into::<PyBytes>().map_err(|_| {
        let expected = "a passphrase in bytes, BestAvailableEncryption, NoEncryption or None";
        PyTypeError::new_err(format!("encryption_algorithm is {class}; expected {expected}"))
    })?;
    match passphrase.as_bytes().is_empty() {
        true => Err(PyValueError::new_err("the passphrase is empty; None leaves the key unencrypted")),
        false => Ok(Some(passphrase)),
    }
}
