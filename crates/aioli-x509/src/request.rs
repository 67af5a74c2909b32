//! A request for a certificate, which its key has signed.

use crate::{Error, Host, host, signed};
use aioli::any::{SigningKey, VerifyingKey};
use der::oid::AssociatedOid;
use der::{Decode, Encode};
use rustls_pki_types::pem::SectionKind;
use x509_cert::builder::Builder;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::name::Name;
use x509_cert::request::{CertReq, ExtensionReq, RequestBuilder};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// A request for a certificate (PKCS#10), whose signature has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    der: Vec<u8>,
    parsed: CertReq,
    key: VerifyingKey,
}

impl Request {
    /// Asks for a certificate for a key, with this subject and these names.
    ///
    /// # Errors
    ///
    /// [`Error::Nameless`]; [`Error::Mayo`] if the key cannot sign.
    pub fn new(key: &SigningKey, subject: Name, hosts: &[Host]) -> Result<Self, Error> {
        if subject.is_empty() && hosts.is_empty() {
            return Err(Error::Nameless);
        }
        let mut builder = RequestBuilder::new(subject)?;
        if !hosts.is_empty() {
            builder.add_extension(&host::extension(hosts)?).map_err(Error::encoding(WHAT))?;
        }
        let verifying_key = key.verifying_key();
        let parsed = builder.build(&key.expand().checked(&verifying_key)?)?;
        let der = parsed.to_der().map_err(Error::encoding(WHAT))?;
        Ok(Self { der, parsed, key: verifying_key })
    }

    /// Reads a request in DER, and verifies that its key signed it.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`], [`Error::SignatureAlgorithm`], [`Error::Mayo`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let parsed = CertReq::from_der(der).map_err(Error::encoding(WHAT))?;
        let key = signed::key(WHAT, &parsed.info.public_key)?;
        signed::verify(WHAT, der, &key)?;
        Ok(Self { der: der.to_vec(), parsed, key })
    }

    /// Reads the request in the contents of a file, PEM or DER. See [`from_der`](Self::from_der).
    ///
    /// # Errors
    ///
    /// Those of [`from_der`](Self::from_der), and [`Error::Missing`] if a file of PEM has none.
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::from_der(&signed::blocks(file, SectionKind::Csr, LABEL)?[0])
    }

    /// The request in DER.
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// The request in PEM.
    pub fn to_pem(&self) -> String {
        signed::pem(LABEL, &self.der)
    }

    /// The subject that is asked for.
    pub fn subject(&self) -> &Name {
        &self.parsed.info.subject
    }

    /// The key that the certificate will be for.
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// The names of hosts that are asked for. All other wishes in a request are passed over: an
    /// authority decides on them itself.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`]; [`Error::NameKind`] and [`Error::Host`] if a name is not one of a host.
    pub fn hosts(&self) -> Result<Vec<Host>, Error> {
        let mut hosts = Vec::new();
        let wishes = self.parsed.info.attributes.iter().filter(|attribute| attribute.oid == ExtensionReq::OID);
        for value in wishes.flat_map(|attribute| attribute.values.iter()) {
            let extensions: ExtensionReq = value.decode_as().map_err(Error::encoding(WHAT))?;
            for extension in extensions.0.iter().filter(|extension| extension.extn_id == SubjectAltName::OID) {
                let names = SubjectAltName::from_der(extension.extn_value.as_bytes());
                hosts.extend(host::hosts(names.map_err(Error::encoding(WHAT))?)?);
            }
        }
        Ok(hosts)
    }

    pub(crate) fn key_info(&self) -> SubjectPublicKeyInfoOwned {
        self.parsed.info.public_key.clone()
    }
}

const WHAT: &str = "request for a certificate";
const LABEL: &str = "CERTIFICATE REQUEST";
