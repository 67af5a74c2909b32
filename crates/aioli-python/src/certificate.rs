//! X.509 certificates that a MAYO key signed.

use crate::edge::{Bytes, invalid_signature, raised};
use aioli_x509::{Certificate, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns None if the certificate was issued directly by the other one, whose key is of MAYO.
///
/// The arguments are certificates of cryptography or their DER or PEM. Names, algorithm and
/// signature are checked; validity periods, extensions and revocation are not. Raises
/// InvalidSignature if the signature is wrong, and ValueError for anything else.
#[pyfunction]
pub(crate) fn verify_certificate(cert: &Bound<'_, PyAny>, issuer: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = cert.py();
    let (cert, issuer) = (certificate(cert, "cert")?, certificate(issuer, "issuer")?);
    if cert.fields().issuer() != issuer.fields().subject() {
        return Err(PyValueError::new_err("cert names another issuer than the subject of issuer"));
    }
    let key = issuer.key().map_err(|error| match error {
        Error::Mayo(error) => raised(error),
        error => PyValueError::new_err(format!("issuer: {error}")),
    })?;
    py.detach(|| cert.verify_signature(&key)).map_err(|error| match error {
        Error::Mayo(error) => invalid_signature(py, error.to_string()),
        error => PyValueError::new_err(format!("cert: {error}")),
    })
}

/// The certificate in any of the accepted forms.
fn certificate(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Certificate> {
    let py = object.py();
    let bytes: Bytes = match object.hasattr("public_bytes")? {
        true => {
            let encodings = py.import("cryptography.hazmat.primitives.serialization")?.getattr("Encoding")?;
            object.call_method1("public_bytes", (encodings.getattr("DER")?,))?.extract()?
        }
        false => object.extract()?,
    };
    let refused = |reason| PyValueError::new_err(format!("{what} is not one certificate in PEM or DER: {reason}"));
    let mut all = Certificate::read_all(bytes.get(py)).map_err(|error| refused(error.to_string()))?;
    match all.len() {
        1 => Ok(all.swap_remove(0)),
        given => Err(refused(format!("there are {given}"))),
    }
}
