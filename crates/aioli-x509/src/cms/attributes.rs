//! The attributes that a key signs in place of the content.

use super::{Hasher, WHAT, unsupported};
use crate::Error;
use aioli::pkcs8::ObjectIdentifier;
use cms::signed_data::SignedAttributes;
use der::asn1::{Any, AnyRef, OctetString, OctetStringRef, SetOfVec};
use der::oid::db::rfc5911::{
    ID_AA_SIGNING_CERTIFICATE_V_2, ID_CONTENT_TYPE, ID_DATA, ID_MESSAGE_DIGEST, ID_SIGNING_TIME,
};
use der::oid::db::rfc5912::ID_SHA_256;
use der::{EncodeValue, Sequence, Tagged};
use x509_cert::attr::Attribute;
use x509_cert::spki::AlgorithmIdentifierRef;
use x509_cert::time::Time;

/// The attributes that mean something here. All others are passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    /// The digest of the content.
    pub(super) digest: Vec<u8>,
    /// The time of signing by the signer's clock.
    pub(super) time: Option<Time>,
    /// The digest of the signer's certificate, and its algorithm.
    pub(super) certificate: Option<(ObjectIdentifier, Vec<u8>)>,
}

impl Attributes {
    pub(super) fn encode(&self) -> der::Result<SignedAttributes> {
        let mut attributes = vec![
            attribute(ID_CONTENT_TYPE, &ID_DATA)?,
            attribute(ID_MESSAGE_DIGEST, &OctetStringRef::new(&self.digest)?)?,
        ];
        if let Some(time) = &self.time {
            attributes.push(attribute(ID_SIGNING_TIME, time)?);
        }
        if let Some((oid, digest)) = &self.certificate {
            let algorithm = Some(AlgorithmIdentifierRef { oid: *oid, parameters: None });
            let certificate = CertificateId { algorithm, digest: OctetStringRef::new(digest)?, issuer: None };
            attributes.push(attribute(
                ID_AA_SIGNING_CERTIFICATE_V_2,
                &SigningCertificate { ids: vec![certificate], policies: None },
            )?);
        }
        attributes.try_into()
    }

    pub(super) fn decode(attributes: &SignedAttributes) -> Result<Self, Error> {
        let encoding = || Error::encoding(WHAT);
        let absent = |what| unsupported(what, "one value", "none");
        let kind = value(attributes, ID_CONTENT_TYPE, CONTENT_TYPE)?.ok_or_else(|| absent(CONTENT_TYPE))?;
        let kind: ObjectIdentifier = kind.decode_as().map_err(encoding())?;
        if kind != ID_DATA {
            return Err(unsupported("signed kind of content", "data", kind));
        }
        let digest = value(attributes, ID_MESSAGE_DIGEST, DIGEST)?.ok_or_else(|| absent(DIGEST))?;
        let digest: OctetString = digest.decode_as().map_err(encoding())?;
        let time = value(attributes, ID_SIGNING_TIME, "signing time")?;
        let certificate = value(attributes, ID_AA_SIGNING_CERTIFICATE_V_2, "signing certificate")?;
        Ok(Self {
            digest: digest.as_bytes().to_vec(),
            time: time.map(Any::decode_as).transpose().map_err(encoding())?,
            certificate: certificate.map(signing_certificate).transpose()?,
        })
    }
}

/// The certificate that a value names first, which is the signer's.
fn signing_certificate(value: &Any) -> Result<(ObjectIdentifier, Vec<u8>), Error> {
    let SigningCertificate { ids, .. } = value.decode_as().map_err(Error::encoding(WHAT))?;
    let Some(CertificateId { algorithm, digest, .. }) = ids.first() else {
        return Err(unsupported("signing certificate", "one or more", "none"));
    };
    let algorithm = algorithm.as_ref().map_or(ID_SHA_256, |algorithm| algorithm.oid);
    Hasher::with(algorithm)?;
    Ok((algorithm, digest.as_bytes().to_vec()))
}

fn attribute<T: Tagged + EncodeValue>(oid: ObjectIdentifier, value: &T) -> der::Result<Attribute> {
    Ok(Attribute { oid, values: SetOfVec::try_from(vec![Any::encode_from(value)?])? })
}

/// The value of an attribute. One that occurs twice, or has several values, would be ambiguous.
fn value<'a>(
    attributes: &'a SignedAttributes,
    oid: ObjectIdentifier,
    what: &'static str,
) -> Result<Option<&'a Any>, Error> {
    let mut found = attributes.iter().filter(|attribute| attribute.oid == oid);
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(attribute), None) if attribute.values.len() == 1 => Ok(attribute.values.get(0)),
        _ => Err(unsupported(what, "one value", "several or an empty set")),
    }
}

/// The value of the attribute that names the signer's certificate, and maybe others (RFC 5035).
#[derive(Sequence)]
struct SigningCertificate<'a> {
    ids: Vec<CertificateId<'a>>,
    policies: Option<AnyRef<'a>>,
}

/// A certificate by its digest, which is SHA-256 if no algorithm is given.
#[derive(Sequence)]
struct CertificateId<'a> {
    #[asn1(optional = "true")]
    algorithm: Option<AlgorithmIdentifierRef<'a>>,
    digest: &'a OctetStringRef,
    issuer: Option<AnyRef<'a>>,
}

const CONTENT_TYPE: &str = "attribute content type";
const DIGEST: &str = "attribute message digest";
