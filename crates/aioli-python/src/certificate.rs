//! X.509 certificates that a MAYO key signed.

use crate::edge::{Bytes, invalid_signature, raised};
use aioli::pkcs8::pkcs8::der::asn1::{AnyRef, BitStringRef};
use aioli::pkcs8::pkcs8::der::{self, Decode, Document, Reader, SliceReader, Tag, TagNumber, Tagged};
use aioli::pkcs8::pkcs8::spki::AlgorithmIdentifierRef;
use aioli::pkcs8::{FormatError, Identifiers};
use aioli::{Error, any};
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
    let (cert, issuer) = (contents(cert, "cert")?, contents(issuer, "issuer")?);
    let cert = Certificate::read(cert.as_bytes()).map_err(|error| malformed("cert", error))?;
    let issuer = Certificate::read(issuer.as_bytes()).map_err(|error| malformed("issuer", error))?;
    if cert.issuer != issuer.subject {
        return Err(PyValueError::new_err("cert names another issuer than the subject of issuer"));
    }
    let key = Identifiers::OQS.decode_public_key(issuer.public_key).map_err(raised)?;
    let oid = Identifiers::OQS.get(key.algorithm());
    let expected = AlgorithmIdentifierRef { oid, parameters: None };
    if let Some(given) = cert.algorithms.into_iter().find(|given| *given != expected) {
        let message = format!(
            "cert is signed by the algorithm {}, expected {oid} without parameters: the key of issuer is of {}",
            given.oid,
            key.algorithm()
        );
        return Err(PyValueError::new_err(message));
    }
    let verdict: Result<(), Error> =
        py.detach(|| key.verify(cert.signed, &any::Signature::from_bytes(key.algorithm(), cert.signature)?));
    verdict.map_err(|error| invalid_signature(py, error.to_string()))
}

/// The DER of a certificate in any of the accepted forms.
fn contents(certificate: &Bound<'_, PyAny>, what: &str) -> PyResult<Document> {
    let py = certificate.py();
    let bytes: Bytes = match certificate.hasattr("public_bytes")? {
        true => {
            let encodings = py.import("cryptography.hazmat.primitives.serialization")?.getattr("Encoding")?;
            certificate.call_method1("public_bytes", (encodings.getattr("DER")?,))?.extract()?
        }
        false => certificate.extract()?,
    };
    let bytes = bytes.get(py);
    let text = str::from_utf8(bytes).ok().filter(|text| text.contains("-----BEGIN "));
    let document = match text {
        Some(pem) => match Document::from_pem(pem) {
            Ok((LABEL, document)) => Ok(document),
            Ok(_) => return Err(raised(FormatError::Label { expected: LABEL }.into())),
            Err(error) => Err(error),
        },
        None => Document::from_der(bytes),
    };
    document.map_err(|error| malformed(what, error))
}

fn malformed(what: &str, error: der::Error) -> PyErr {
    PyValueError::new_err(format!("{what} is not a certificate in PEM or DER: {error}"))
}

/// What is needed of a certificate, as it stands in its DER.
struct Certificate<'a> {
    signed: &'a [u8],
    issuer: &'a [u8],
    subject: &'a [u8],
    public_key: &'a [u8],
    /// The algorithm is named twice, within and beside what is signed.
    algorithms: [AlgorithmIdentifierRef<'a>; 2],
    signature: &'a [u8],
}

impl<'a> Certificate<'a> {
    fn read(der: &'a [u8]) -> der::Result<Self> {
        let mut outer = SliceReader::new(sequence(der)?)?;
        let signed = outer.tlv_bytes()?;
        let beside = AlgorithmIdentifierRef::decode(&mut outer)?;
        let bits = BitStringRef::decode(&mut outer)?;
        outer.finish()?;
        let signature = bits.as_bytes().ok_or_else(|| Tag::BitString.value_error())?;

        let mut inner = SliceReader::new(sequence(signed)?)?;
        // The version, which old certificates lack, stands before the serial number.
        if AnyRef::decode(&mut inner)?.tag() == VERSION {
            inner.tlv_bytes()?;
        }
        let within = AlgorithmIdentifierRef::decode(&mut inner)?;
        let issuer = inner.tlv_bytes()?;
        let _validity = inner.tlv_bytes()?;
        let subject = inner.tlv_bytes()?;
        let public_key = inner.tlv_bytes()?;
        Ok(Self { signed, issuer, subject, public_key, algorithms: [within, beside], signature })
    }
}

/// The contents of a sequence.
fn sequence(der: &[u8]) -> der::Result<&[u8]> {
    let any = AnyRef::from_der(der)?;
    any.tag().assert_eq(Tag::Sequence)?;
    Ok(any.value())
}

const LABEL: &str = "CERTIFICATE";
const VERSION: Tag = Tag::ContextSpecific { constructed: true, number: TagNumber(0) };
