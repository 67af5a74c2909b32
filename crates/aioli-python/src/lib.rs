//! The native half of the Python package `aioli`, as the module `aioli._aioli`.
//!
//! Python hands over immutable `bytes`, which are read while other threads run; any other buffer is
//! copied first, since its owner may change it. Nothing here panics on bad input, and an error says
//! what would have been accepted.

mod arrow;
mod certificate;
mod columns;
mod edge;
mod encoding;
mod hasher;
mod keys;
mod pool;
mod table;

use pyo3::prelude::*;

// Documentation for users is in the classes and functions, which Python shows.
#[pymodule(gil_used = false)]
mod _aioli {
    use aioli::Algorithm;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use crate::arrow::Column;
    #[pymodule_export]
    use crate::certificate::verify_certificate;
    #[pymodule_export]
    use crate::hasher::MessageHasher;
    #[pymodule_export]
    use crate::keys::{SigningKey, VerifyingKey, load_private_key, load_public_key};
    #[pymodule_export]
    use crate::table::{KeyTable, sign_table, verify_table};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = Algorithm::ALL.map(Algorithm::name);
        module.add("ALGORITHMS", PyTuple::new(module.py(), names)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
