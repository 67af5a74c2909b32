//! Converts what Python gives to Rust values, and errors to Python's exceptions.

use aioli::pkcs8::FormatError;
use aioli::{Algorithm, Error};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView, PyType};
use std::ffi::CString;

/// Bytes that nobody changes.
pub(crate) struct Bytes(Py<PyBytes>);

impl Bytes {
    pub(crate) fn get(&self, py: Python<'_>) -> &[u8] {
        self.0.as_bytes(py)
    }
}

/// Takes `bytes` as they are, and copies any other buffer.
impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned().unbind()));
        }
        let copy = PyMemoryView::from(&object)?.call_method0("tobytes")?;
        Ok(Self(copy.cast_into::<PyBytes>()?.unbind()))
    }
}

/// The set with a name.
#[derive(Clone)]
pub(crate) struct Set(pub(crate) Algorithm);

impl<'py> FromPyObject<'_, 'py> for Set {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = object.extract()?;
        name.parse().map(Self).map_err(|error: Error| PyValueError::new_err(format!("{name:?}: {error}")))
    }
}

impl Set {
    /// Warns if the set should not protect anything.
    pub(crate) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let Some(text) = self.0.warning() else { return Ok(()) };
        let text = CString::new(text).expect("a warning has no zero");
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
    }
}

/// Refuses a context, which MAYO does not have. An empty one is none.
pub(crate) fn no_context(py: Python<'_>, context: Option<Bytes>) -> PyResult<()> {
    match context.map_or(0, |context| context.get(py).len()) {
        0 => Ok(()),
        given => {
            let message = format!("MAYO signs no context: expected None or no bytes, given {given}");
            Err(PyValueError::new_err(message))
        }
    }
}

/// `aioli.InvalidSignature`, which knows whether cryptography is installed.
pub(crate) fn invalid_signature(py: Python<'_>, message: String) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "aioli._errors", "InvalidSignature") {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(error) => error,
    }
}

/// The exception for an error of any operation but verification.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::KeyFormat(FormatError::Encrypted) => PyTypeError::new_err(message),
        Error::Randomness => PyOSError::new_err(message),
        Error::FaultDetected | Error::SamplesExhausted => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
