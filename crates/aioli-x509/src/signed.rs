//! The parts that certificates and requests share: a signed part, an algorithm, a signature; PEM
//! around it.

use crate::Error;
use aioli::any::{Signature, VerifyingKey};
use aioli::pkcs8::{FormatError, Identifiers};
use der::asn1::{AnyRef, BitStringRef};
use der::pem::LineEnding;
use der::{Decode, Encode, Sequence};
use rustls_pki_types::pem::{PemObject, SectionKind};
use std::borrow::Cow;
use x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoOwned};

/// The outer structure of a certificate and of a request.
#[derive(Sequence)]
struct Signed<'a> {
    content: AnyRef<'a>,
    algorithm: AlgorithmIdentifierRef<'a>,
    signature: BitStringRef<'a>,
}

/// Verifies the signature of a certificate or a request by a key.
pub(crate) fn verify(what: &'static str, der: &[u8], key: &VerifyingKey) -> Result<(), Error> {
    let Signed { content, algorithm, signature } = Signed::from_der(der).map_err(Error::encoding(what))?;
    let expected = Identifiers::OQS.get(key.algorithm());
    if algorithm.oid != expected {
        return Err(Error::SignatureAlgorithm { expected, given: algorithm.oid });
    }
    if algorithm.parameters.is_some() {
        return Err(aioli::Error::from(FormatError::Parameters).into());
    }
    let signature = signature.as_bytes().ok_or(aioli::Error::InvalidSignature)?;
    let signature = Signature::from_bytes(key.algorithm(), signature)?;
    // DER has one encoding of each length, so these are the bytes that were signed.
    let signed = content.to_der().map_err(Error::encoding(what))?;
    Ok(key.verify(&signed, &signature)?)
}

/// The public key in a certificate or a request.
pub(crate) fn key(what: &'static str, info: &SubjectPublicKeyInfoOwned) -> Result<VerifyingKey, Error> {
    Ok(Identifiers::OQS.decode_public_key(&info.to_der().map_err(Error::encoding(what))?)?)
}

/// The contents of the PEM blocks of this kind in a file; or the file itself if it is not PEM.
///
/// Nothing else is copied: other blocks may be private keys, and a file that is not PEM may be a
/// secret that was taken for something else.
pub(crate) fn blocks<'a>(
    file: &'a [u8],
    wanted: SectionKind,
    label: &'static str,
) -> Result<Vec<Cow<'a, [u8]>>, Error> {
    if !file.windows(BEGIN.len()).any(|window| window == BEGIN) {
        return Ok(vec![file.into()]);
    }
    let [begin, end] = ["BEGIN", "END"].map(|edge| format!("-----{edge} {label}-----"));
    let find = |text: &[u8], edge: &str| text.windows(edge.len()).position(|window| window == edge.as_bytes());
    let mut found = Vec::new();
    let mut rest = file;
    while let Some(at) = find(rest, &begin) {
        let length = find(&rest[at..], &end).ok_or(Error::Pem)? + end.len();
        let block;
        (block, rest) = rest[at..].split_at(length);
        match <(SectionKind, Vec<u8>)>::pem_slice_iter(block).next() {
            Some(Ok((kind, contents))) if kind == wanted => found.push(contents.into()),
            _ => return Err(Error::Pem),
        }
    }
    if found.is_empty() { Err(Error::Missing { label }) } else { Ok(found) }
}

/// Whether a file has the beginning of a block of PEM for a certificate or a request.
pub(crate) fn mentions_certificates(file: &[u8]) -> bool {
    [b"-----BEGIN CERTIFICATE-----".as_slice(), b"-----BEGIN CERTIFICATE REQUEST-----"]
        .into_iter()
        .any(|begin| file.windows(begin.len()).any(|window| window == begin))
}

/// PEM with this label.
pub(crate) fn pem(label: &'static str, der: &[u8]) -> String {
    der::pem::encode_string(label, LineEnding::LF, der).expect("a certificate is far below the length of a PEM file")
}

pub(crate) const BEGIN: &[u8] = b"-----BEGIN ";
