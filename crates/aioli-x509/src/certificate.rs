//! A certificate: its bytes, and what is in them.

use crate::{Error, Host, host, signed};
use aioli::any::VerifyingKey;
use der::{Decode, Encode};
use rustls_pki_types::pem::SectionKind;
use rustls_pki_types::{CertificateDer, ServerName};
use webpki::EndEntityCert;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, SubjectAltName};

/// A certificate of X.509.
///
/// Reading one checks its encoding alone. [`Trust::verify`](crate::Trust::verify) says whether to
/// believe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    der: CertificateDer<'static>,
    parsed: x509_cert::Certificate,
}

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let parsed = x509_cert::Certificate::from_der(der).map_err(Error::encoding(WHAT))?;
        Ok(Self { der: CertificateDer::from(der.to_vec()), parsed })
    }

    /// Reads the certificates in the contents of a file: one in DER, or one and more in PEM, among
    /// which blocks of other kinds are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`]; [`Error::Missing`] if there is none in a file of PEM.
    pub fn read_all(file: &[u8]) -> Result<Vec<Self>, Error> {
        let blocks = signed::blocks(file, SectionKind::Certificate, LABEL)?;
        blocks.iter().map(|der| Self::from_der(der)).collect()
    }

    /// The certificate in DER.
    pub fn as_der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// The certificate in PEM.
    pub fn to_pem(&self) -> String {
        signed::pem(LABEL, &self.der)
    }

    /// All fields of the certificate.
    pub fn fields(&self) -> &x509_cert::certificate::TbsCertificate {
        self.parsed.tbs_certificate()
    }

    /// The public key.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`], in particular if the key is not one of MAYO.
    pub fn key(&self) -> Result<VerifyingKey, Error> {
        signed::key(WHAT, self.fields().subject_public_key_info())
    }

    /// The names of hosts that it is for.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`]; [`Error::NameKind`] and [`Error::Host`] if a name is not one of a host.
    pub fn hosts(&self) -> Result<Vec<Host>, Error> {
        match self.fields().get_extension::<SubjectAltName>().map_err(Error::encoding(WHAT))? {
            Some((_, names)) => host::hosts(names),
            None => Ok(Vec::new()),
        }
    }

    /// Whether it is that of an authority, which may sign certificates.
    pub fn is_authority(&self) -> bool {
        let constraints = self.fields().get_extension::<BasicConstraints>();
        let usage = self.fields().get_extension::<KeyUsage>();
        matches!(constraints, Ok(Some((_, BasicConstraints { ca: true, .. }))))
            && usage.is_ok_and(|usage| usage.is_none_or(|(_, usage)| usage.key_cert_sign()))
    }

    /// Verifies its signature by the key of its issuer, and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`], [`Error::SignatureAlgorithm`].
    pub fn verify_signature(&self, issuer: &VerifyingKey) -> Result<(), Error> {
        let expected = self.fields().signature();
        let given = self.parsed.signature_algorithm();
        if expected != given {
            return Err(Error::SignatureAlgorithm { expected: expected.oid, given: given.oid });
        }
        signed::verify(WHAT, &self.der, issuer)
    }

    /// Verifies that it is for this host.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`].
    pub fn verify_host(&self, host: &ServerName<'_>) -> Result<(), Error> {
        Ok(EndEntityCert::try_from(&self.der)?.verify_is_valid_for_subject_name(host)?)
    }
}

impl TryFrom<x509_cert::Certificate> for Certificate {
    type Error = Error;

    fn try_from(parsed: x509_cert::Certificate) -> Result<Self, Error> {
        let der = parsed.to_der().map_err(Error::encoding(WHAT))?;
        Ok(Self { der: der.into(), parsed })
    }
}

const WHAT: &str = "certificate";
const LABEL: &str = "CERTIFICATE";
