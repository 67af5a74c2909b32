//! Secret and public keys.

use crate::edge::{Bytes, Set, invalid_signature, no_context, raised};
use crate::encoding::{Encoding, form, passphrase};
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, FormatError, Identifiers, LineEnding};
use aioli::{Error, any};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::hash::{DefaultHasher, Hash, Hasher};
use zeroize::Zeroizing;

/// A secret key.
///
/// It cannot be pickled, and repr() does not show it.
#[pyclass(frozen, module = "aioli")]
pub(crate) struct SigningKey {
    pub(crate) key: any::SigningKey,
    pub(crate) expanded: Option<any::ExpandedSigningKey>,
}

#[pymethods]
impl SigningKey {
    /// Makes a fresh key from the operating system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>, algorithm: Set) -> PyResult<Self> {
        algorithm.warn(py)?;
        py.detach(|| any::SigningKey::generate(algorithm.0)).map(Self::from).map_err(raised)
    }

    /// Makes a key from its seed, which is the encoded secret key.
    #[staticmethod]
    fn from_seed(py: Python<'_>, algorithm: Set, seed: Bytes) -> PyResult<Self> {
        any::SigningKey::from_bytes(algorithm.0, seed.get(py)).map(Self::from).map_err(raised)
    }

    /// The name of the set.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.key.algorithm().name()
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> VerifyingKey {
        py.detach(|| self.key.verifying_key()).into()
    }

    /// The same key with the values that all its signatures share, so that each is faster.
    ///
    /// With checked=True every signature is verified before it is released, which protects the key
    /// against faults of the machine.
    #[pyo3(signature = (*, checked = false))]
    fn expand(&self, py: Python<'_>, checked: bool) -> PyResult<Self> {
        let expanded = py.detach(|| {
            let expanded = self.key.expand();
            if checked { expanded.checked(&self.key.verifying_key()) } else { Ok(expanded) }
        });
        Ok(Self { key: self.key.clone(), expanded: Some(expanded.map_err(raised)?) })
    }

    /// Signs a message with fresh randomness.
    #[pyo3(signature = (data, context = None))]
    fn sign<'py>(&self, py: Python<'py>, data: Bytes, context: Option<Bytes>) -> PyResult<Bound<'py, PyBytes>> {
        no_context(py, context)?;
        let data = data.get(py);
        self.signed(py, || Ok(any::MessageDigest::of(self.key.algorithm(), data)))
    }

    /// Signs the message that MessageHasher computed the digest of.
    fn sign_digest<'py>(&self, py: Python<'py>, digest: Bytes) -> PyResult<Bound<'py, PyBytes>> {
        let digest = digest.get(py);
        self.signed(py, || any::MessageDigest::from_bytes(self.key.algorithm(), digest))
    }

    /// Writes the key, as encoding and format of cryptography's serialization name it or their
    /// names do: PEM or DER with PKCS8, or Raw with Raw, which is the seed.
    ///
    /// encryption_algorithm is a passphrase, BestAvailableEncryption, NoEncryption or None. form
    /// says who is to read the key: oqs, bouncycastle or pq-mayo.
    #[pyo3(signature = (encoding, format, encryption_algorithm, *, form = "oqs"))]
    fn private_bytes<'py>(
        &self,
        py: Python<'py>,
        encoding: &Bound<'py, PyAny>,
        format: &Bound<'py, PyAny>,
        encryption_algorithm: &Bound<'py, PyAny>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let encoding = Encoding::of(encoding, format, "PKCS8")?;
        let key = Identifiers::OQS.encode(&self.key).form(self::form(form)?);
        let passphrase = passphrase(encryption_algorithm)?;
        let passphrase = passphrase.as_ref().map(|passphrase| passphrase.as_bytes());
        let text = |pem: Zeroizing<String>| Zeroizing::new(pem.as_bytes().to_vec());
        let encoded = py.detach(|| match (encoding, passphrase) {
            (Encoding::Raw, _) => Ok(Zeroizing::new(self.key.as_bytes().to_vec())),
            (Encoding::Der, None) => key.to_pkcs8_der().map(|der| der.to_bytes()),
            (Encoding::Der, Some(passphrase)) => key.to_pkcs8_encrypted_der(passphrase).map(|der| der.to_bytes()),
            (Encoding::Pem, None) => key.to_pkcs8_pem(LineEnding::LF).map(text),
            (Encoding::Pem, Some(passphrase)) => key.to_pkcs8_encrypted_pem(passphrase, LineEnding::LF).map(text),
        });
        if encoding == Encoding::Raw && passphrase.is_some() {
            return Err(PyValueError::new_err("bare bytes cannot be encrypted; expected PEM or DER with PKCS8"));
        }
        encoded.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The seed: private_bytes with Raw and Raw.
    fn private_bytes_raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.key.as_bytes())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("secret keys cannot be pickled; private_bytes writes them"))
    }

    fn __repr__(&self) -> String {
        format!("<aioli.SigningKey of {}>", self.key.algorithm())
    }
}

impl SigningKey {
    /// The signature of a message, whose digest is computed while other threads run.
    fn signed<'py>(
        &self,
        py: Python<'py>,
        digest: impl FnOnce() -> Result<any::MessageDigest, Error> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let signature = py.detach(|| match &self.expanded {
            Some(key) => key.sign_digest(&digest()?),
            None => self.key.sign_digest(&digest()?),
        });
        signature.map(|signature| PyBytes::new(py, signature.as_bytes())).map_err(raised)
    }
}

impl From<any::SigningKey> for SigningKey {
    fn from(key: any::SigningKey) -> Self {
        Self { key, expanded: None }
    }
}

/// A public key.
#[pyclass(frozen, module = "aioli")]
pub(crate) struct VerifyingKey {
    key: any::VerifyingKey,
    expanded: Option<any::ExpandedVerifyingKey>,
}

#[pymethods]
impl VerifyingKey {
    /// Makes a key from its bare bytes.
    #[staticmethod]
    fn from_public_bytes(py: Python<'_>, algorithm: Set, data: Bytes) -> PyResult<Self> {
        any::VerifyingKey::from_bytes(algorithm.0, data.get(py)).map(Self::from).map_err(raised)
    }

    /// The name of the set.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.key.algorithm().name()
    }

    /// The same key with its matrices at hand, so that each verification is faster.
    fn expand(&self, py: Python<'_>) -> Self {
        Self { key: self.key.clone(), expanded: Some(py.detach(|| self.key.expand())) }
    }

    /// Returns None if the signature is valid for the message, and raises InvalidSignature if not.
    #[pyo3(signature = (signature, data, context = None))]
    fn verify(&self, py: Python<'_>, signature: Bytes, data: Bytes, context: Option<Bytes>) -> PyResult<()> {
        no_context(py, context)?;
        let data = data.get(py);
        self.verified(py, &signature, || any::MessageDigest::of(self.key.algorithm(), data))
    }

    /// The same for the message that MessageHasher computed the digest of.
    fn verify_digest(&self, py: Python<'_>, signature: Bytes, digest: Bytes) -> PyResult<()> {
        let digest = any::MessageDigest::from_bytes(self.key.algorithm(), digest.get(py)).map_err(raised)?;
        self.verified(py, &signature, || digest)
    }

    /// Writes the key, as encoding and format of cryptography's serialization name it or their
    /// names do: PEM or DER with SubjectPublicKeyInfo, or Raw with Raw.
    ///
    /// form says who is to read the key: oqs, bouncycastle or pq-mayo.
    #[pyo3(signature = (encoding, format, *, form = "oqs"))]
    fn public_bytes<'py>(
        &self,
        py: Python<'py>,
        encoding: &Bound<'py, PyAny>,
        format: &Bound<'py, PyAny>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let encoding = Encoding::of(encoding, format, "SubjectPublicKeyInfo")?;
        let key = Identifiers::OQS.encode(&self.key).form(self::form(form)?);
        let encoded = match encoding {
            Encoding::Raw => Ok(self.key.as_bytes().to_vec()),
            Encoding::Der => key.to_public_key_der().map(|der| der.into_vec()),
            Encoding::Pem => key.to_public_key_pem(LineEnding::LF).map(String::into_bytes),
        };
        encoded.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The bare bytes: public_bytes with Raw and Raw.
    fn public_bytes_raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.key.as_bytes())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().key == self.key)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.as_bytes().hash(&mut hasher);
        hasher.finish()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.get_type::<Self>().getattr("from_public_bytes")?;
        let arguments = (self.algorithm(), self.public_bytes_raw(py)).into_pyobject(py)?;
        Ok((make, arguments))
    }

    fn __repr__(&self) -> String {
        let start: String = self.key.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("<aioli.VerifyingKey of {}: {start}...>", self.key.algorithm())
    }
}

impl VerifyingKey {
    /// Verifies while other threads run. A signature of a wrong length is not valid.
    fn verified(
        &self,
        py: Python<'_>,
        signature: &Bytes,
        digest: impl FnOnce() -> any::MessageDigest + Send,
    ) -> PyResult<()> {
        let signature = signature.get(py);
        let verdict = py.detach(|| {
            let signature = any::Signature::from_bytes(self.key.algorithm(), signature)?;
            match &self.expanded {
                Some(key) => key.verify_digest(&digest(), &signature),
                None => self.key.verify_digest(&digest(), &signature),
            }
        });
        verdict.map_err(|error| invalid_signature(py, error.to_string()))
    }
}

impl From<any::VerifyingKey> for VerifyingKey {
    fn from(key: any::VerifyingKey) -> Self {
        Self { key, expanded: None }
    }
}

/// Reads a private key, PEM or DER, in any of the known forms.
///
/// A passphrase that is missing, or given for a key that is not encrypted, raises TypeError; a
/// wrong one raises ValueError.
#[pyfunction]
#[pyo3(signature = (data, password = None))]
pub(crate) fn load_private_key(py: Python<'_>, data: Bytes, password: Option<Bytes>) -> PyResult<SigningKey> {
    let data = data.get(py);
    let passphrase = password.as_ref().map(|password| password.get(py));
    let key = py.detach(|| match (Identifiers::OQS.decode_private_key(data, None), passphrase) {
        (Err(Error::KeyFormat(FormatError::Encrypted)), Some(passphrase)) => {
            Identifiers::OQS.decode_private_key(data, Some(passphrase))
        }
        (Ok(_), Some(_)) => Err(Error::KeyFormat(FormatError::Encrypted)),
        (key, _) => key,
    });
    match key {
        Err(Error::KeyFormat(FormatError::Encrypted)) if passphrase.is_some() => {
            Err(PyTypeError::new_err("a password was given, but the private key is not encrypted; expected None"))
        }
        key => key.map(SigningKey::from).map_err(raised),
    }
}

/// Reads a public key, PEM or DER, in any of the known forms.
#[pyfunction]
pub(crate) fn load_public_key(py: Python<'_>, data: Bytes) -> PyResult<VerifyingKey> {
    Identifiers::OQS.decode_public_key(data.get(py)).map(VerifyingKey::from).map_err(raised)
}
