//! Messages that come in pieces.

use crate::edge::{Bytes, Set};
use aioli::any;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Computes the digest of a message that comes in pieces, in constant memory.
///
/// SigningKey.sign_digest and VerifyingKey.verify_digest take it in place of the message.
#[pyclass(frozen, module = "aioli")]
pub(crate) struct MessageHasher(Mutex<any::MessageHasher>);

#[pymethods]
impl MessageHasher {
    #[new]
    fn new(algorithm: Set) -> Self {
        Self(Mutex::new(any::MessageHasher::new(algorithm.0)))
    }

    /// The name of the set.
    #[getter]
    fn algorithm(&self, py: Python<'_>) -> &'static str {
        py.detach(|| self.lock().algorithm().name())
    }

    /// Reads the next piece.
    fn update(&self, py: Python<'_>, data: Bytes) {
        let data = data.get(py);
        py.detach(|| self.lock().update(data));
    }

    /// The digest of all pieces so far.
    fn finalize<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let digest = py.detach(|| self.lock().clone().finalize());
        PyBytes::new(py, digest.as_bytes())
    }

    /// A hasher that has read the same pieces.
    fn copy(&self, py: Python<'_>) -> Self {
        Self(Mutex::new(py.detach(|| self.lock().clone())))
    }
}

impl MessageHasher {
    /// Called without the interpreter's lock, which the holder of this one may be waiting for.
    fn lock(&self) -> MutexGuard<'_, any::MessageHasher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
