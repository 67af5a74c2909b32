//! An authority: its own certificate, and those that it issues.

use crate::{Certificate, Error, Host, Request, host};
use aioli::any::{ExpandedSigningKey, SigningKey};
use core::time::Duration;
use der::asn1::OctetString;
use der::oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_CODE_SIGNING, ID_KP_EMAIL_PROTECTION, ID_KP_SERVER_AUTH};
use std::time::SystemTime;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder, CertificateBuilder};
use x509_cert::certificate::TbsCertificate;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, Extensions, ToExtension};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::time::Time;

pub use x509_cert::time::Validity;

/// The period of this many days from now.
///
/// # Errors
///
/// [`Error::Validity`] if it ends after the year 9999.
pub fn days(days: u32) -> Result<Validity, Error> {
    let now = SystemTime::now();
    let end = now.checked_add(Duration::from_secs(24 * 60 * 60 * u64::from(days))).ok_or(Error::Validity)?;
    let time = |time| Time::try_from(time).map_err(|_| Error::Validity);
    Ok(Validity::new(time(now)?, time(end)?))
}

/// An authority: a certificate, and the key in it. Its signatures are protected against faults, see
/// [`ExpandedSigningKey::checked`].
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct Authority {
    certificate: Certificate,
    key: ExpandedSigningKey,
}

impl Authority {
    /// An authority that certifies itself.
    ///
    /// # Errors
    ///
    /// [`Error::Nameless`], [`Error::Validity`]; [`Error::Mayo`] if the key cannot sign.
    pub fn root(key: &SigningKey, subject: Name, validity: Validity) -> Result<Self, Error> {
        let verifying_key = key.verifying_key();
        let info = SubjectPublicKeyInfoOwned::from_key(&verifying_key).map_err(builder::Error::from)?;
        let key = key.expand().checked(&verifying_key)?;
        let profile =
            Profile { issuer: subject.clone(), issuer_key: None, subject, role: Role::Authority { path_length: None } };
        Ok(Self { certificate: profile.sign(&key, info, validity)?, key })
    }

    /// An authority that has its certificate already.
    ///
    /// # Errors
    ///
    /// [`Error::OtherKey`], [`Error::NotAnAuthority`]; [`Error::Mayo`] if the certificate is not
    /// for a key of MAYO.
    pub fn new(key: &SigningKey, certificate: Certificate) -> Result<Self, Error> {
        let verifying_key = key.verifying_key();
        if certificate.key()? != verifying_key {
            return Err(Error::OtherKey);
        }
        if !certificate.is_authority() {
            return Err(Error::NotAnAuthority);
        }
        Ok(Self { certificate, key: key.expand().checked(&verifying_key)? })
    }

    /// The authority's own certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Issues a certificate for the subject and key of a request and the names given here: those of
    /// the request if the authority has checked them. With names it is for a server or client,
    /// without any for a client or [`Purpose::Signer`](crate::Purpose::Signer).
    ///
    /// # Errors
    ///
    /// [`Error::Nameless`], [`Error::Validity`]; [`Error::Mayo`] if the key cannot sign.
    pub fn issue(&self, request: &Request, hosts: Vec<Host>, validity: Validity) -> Result<Certificate, Error> {
        self.certify(request, Role::EndEntity { hosts }, validity)
    }

    /// Makes the sender of a request an authority, below which there may be `path_length` others.
    ///
    /// # Errors
    ///
    /// [`Error::Nameless`], [`Error::Validity`]; [`Error::Mayo`] if the key cannot sign.
    pub fn delegate(&self, request: &Request, path_length: u8, validity: Validity) -> Result<Certificate, Error> {
        self.certify(request, Role::Authority { path_length: Some(path_length) }, validity)
    }

    fn certify(&self, request: &Request, role: Role, validity: Validity) -> Result<Certificate, Error> {
        let fields = self.certificate.fields();
        let own = fields.get_extension::<SubjectKeyIdentifier>().map_err(Error::encoding("certificate"))?;
        let profile = Profile {
            issuer: fields.subject().clone(),
            issuer_key: own.map(|(_, identifier)| identifier.0),
            subject: request.subject().clone(),
            role,
        };
        profile.sign(&self.key, request.key_info(), validity)
    }
}

/// The holder of a certificate, which decides its extensions.
enum Role {
    Authority { path_length: Option<u8> },
    EndEntity { hosts: Vec<Host> },
}

/// A certificate that is about to be made.
struct Profile {
    issuer: Name,
    /// The identifier of the issuer's key, if its certificate has one.
    issuer_key: Option<OctetString>,
    subject: Name,
    role: Role,
}

impl Profile {
    fn sign(
        self,
        key: &ExpandedSigningKey,
        info: SubjectPublicKeyInfoOwned,
        validity: Validity,
    ) -> Result<Certificate, Error> {
        if validity.not_after.to_unix_duration() < validity.not_before.to_unix_duration() {
            return Err(Error::Validity);
        }
        let names = match &self.role {
            Role::EndEntity { hosts } if !hosts.is_empty() => Some(host::extension(hosts)?),
            // An authority is found by its subject.
            _ if self.subject.is_empty() => return Err(Error::Nameless),
            _ => None,
        };
        let mut builder = CertificateBuilder::new(self, serial_number()?, validity, info)?;
        if let Some(names) = names {
            builder.add_extension::<&SubjectAltName>(&names).map_err(Error::encoding("certificate"))?;
        }
        builder.build(key)?.try_into()
    }
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &Name) -> Name {
        self.issuer.clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        key: SubjectPublicKeyInfoRef<'_>,
        issuer_key: SubjectPublicKeyInfoRef<'_>,
        fields: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let mut extensions = Extensions::new();
        let mut add = |extension: builder::Result<Extension>| extension.map(|extension| extensions.push(extension));
        let subject = fields.subject();
        let identifier = match &self.issuer_key {
            Some(identifier) => {
                AuthorityKeyIdentifier { key_identifier: Some(identifier.clone()), ..Default::default() }
            }
            None => AuthorityKeyIdentifier::try_from(issuer_key)?,
        };
        let (constraints, usages) = match &self.role {
            &Role::Authority { path_length } => (
                BasicConstraints { ca: true, path_len_constraint: path_length },
                KeyUsages::KeyCertSign | KeyUsages::CRLSign,
            ),
            Role::EndEntity { hosts } => {
                let others: &[_] = match hosts.is_empty() {
                    true => &[ID_KP_EMAIL_PROTECTION, ID_KP_CODE_SIGNING],
                    false => &[ID_KP_SERVER_AUTH],
                };
                let purposes = ExtendedKeyUsage([others, &[ID_KP_CLIENT_AUTH]].concat());
                add(Ok(purposes.to_extension(subject, &[])?))?;
                (BasicConstraints { ca: false, path_len_constraint: None }, KeyUsages::DigitalSignature.into())
            }
        };
        add(Ok(constraints.to_extension(subject, &[])?))?;
        add(Ok(KeyUsage(usages).to_extension(subject, &[])?))?;
        add(Ok(SubjectKeyIdentifier::try_from(key)?.to_extension(subject, &[])?))?;
        add(Ok(identifier.to_extension(subject, &[])?))?;
        Ok(extensions)
    }
}

/// A positive number with 126 random bits.
fn serial_number() -> Result<SerialNumber, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| aioli::Error::Randomness)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    SerialNumber::new(&bytes).map_err(Error::encoding("certificate"))
}
