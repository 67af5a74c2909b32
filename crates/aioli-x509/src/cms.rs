//! Signatures in the form of CMS (RFC 5652), as OpenSSL makes them for files, mail programs for
//! mails, and git for commits with certificates.
//!
//! The key does not sign the content but attributes, among them a digest of the content. Those of
//! a [`Signer`] name its certificate, too (RFC 5035), so its signatures are bound to one key.
//! Signatures without attributes are refused: one over attributes could be presented as one
//! without them, whose content is the attributes.
//!
//! ```
//! use aioli::{Algorithm, any::SigningKey};
//! use aioli_x509::cms::{SignedData, Signer};
//! use aioli_x509::{Authority, Request, Trust, days};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let authority = Authority::root(&SigningKey::generate(Algorithm::Mayo2)?, "CN=Root".parse()?, days(9)?)?;
//! let key = SigningKey::generate(Algorithm::Mayo1)?;
//! let request = Request::new(&key, "CN=Alice".parse()?, &[])?;
//! let certificate = authority.issue(&request, vec![], days(90)?)?;
//!
//! let signature = Signer::new(&key, vec![certificate])?.sign_detached(b"a message")?.to_pem();
//!
//! let signature = SignedData::read(signature.as_bytes())?;
//! let authorities = [authority.certificate().clone()];
//! let signer = signature.verify(&Trust::now(&authorities, &[]), signature.hash(b"a message"))?;
//! assert_eq!(signer.fields().subject().to_string(), "CN=Alice");
//! # Ok(())
//! # }
//! ```

mod attributes;
mod hasher;

pub use hasher::Hasher;

use crate::{Certificate, Error, Purpose, Trust, signed};
use aioli::Algorithm;
use aioli::any::{ExpandedSigningKey, Signature, SigningKey, VerifyingKey};
use aioli::pkcs8::{FormatError, Identifiers};
use attributes::Attributes;
use cms::cert::{CertificateChoices, IssuerAndSerialNumber};
use cms::content_info::{CmsVersion, ContentInfo};
use cms::signed_data::{EncapsulatedContentInfo, SignerIdentifier, SignerInfo};
use der::asn1::{Any, OctetString, OctetStringRef, SetOfVec};
use der::oid::db::rfc5911::{ID_DATA, ID_SIGNED_DATA};
use der::oid::db::rfc5912::ID_SHA_512;
use der::pem::Decoder;
use der::{Decode, Encode};
use x509_cert::ext::pkix::{KeyUsage, SubjectKeyIdentifier};
use x509_cert::spki::AlgorithmIdentifierOwned;
use x509_cert::time::Time;

/// A key with its certificate. Signatures are protected against faults, see
/// [`ExpandedSigningKey::checked`].
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct Signer {
    key: ExpandedSigningKey,
    chain: Vec<Certificate>,
    tells_time: bool,
}

impl Signer {
    /// A signer whose signatures hold these certificates: the key's own, and then those that lead
    /// to an authority.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] without any certificate; [`Error::OtherKey`] if the first is not for the
    /// key; [`Error::Mayo`] if it is not for a key of MAYO.
    pub fn new(key: &SigningKey, chain: Vec<Certificate>) -> Result<Self, Error> {
        let verifying_key = key.verifying_key();
        match chain.first() {
            None => Err(Error::Missing { label: "CERTIFICATE" }),
            Some(certificate) if certificate.key()? != verifying_key => Err(Error::OtherKey),
            Some(_) => Ok(Self { key: key.expand().checked(&verifying_key)?, chain, tells_time: true }),
        }
    }

    /// Leaves out the time of signing, which is what the signer's clock says and proves nothing.
    #[must_use]
    pub fn without_time(self) -> Self {
        Self { tells_time: false, ..self }
    }

    /// Signs a content that is kept elsewhere, by its digest.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`] if the key cannot sign; [`Error::Unsupported`] if the certificate has
    /// another encoding than DER.
    pub fn sign(&self, content: Hasher) -> Result<SignedData, Error> {
        self.signed_data(None, content)
    }

    /// Signs a content that is kept elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`] if the key cannot sign.
    pub fn sign_detached(&self, content: &[u8]) -> Result<SignedData, Error> {
        self.sign(Hasher::of(content))
    }

    /// Signs a content, and keeps it together with the signature.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`] if the key cannot sign; [`Error::Encoding`] if the content is longer than
    /// 256 MiB.
    pub fn sign_enclosed(&self, content: &[u8]) -> Result<SignedData, Error> {
        let enclosed = OctetStringRef::new(content).and_then(|content| Any::encode_from(&content));
        self.signed_data(Some(enclosed.map_err(Error::encoding(WHAT))?), Hasher::of(content))
    }

    fn signed_data(&self, enclosed: Option<Any>, content: Hasher) -> Result<SignedData, Error> {
        let certificate = &self.chain[0];
        let digest_algorithm = AlgorithmIdentifierOwned { oid: content.algorithm(), parameters: None };
        let attributes = Attributes {
            digest: content.finish(),
            time: self.tells_time.then(Time::now).transpose().map_err(Error::encoding(WHAT))?,
            certificate: Some((ID_SHA_512, Hasher::of(certificate.as_der()).finish())),
        };
        let attributes = attributes.encode().map_err(Error::encoding(WHAT))?;
        let signature = self.key.sign(&attributes.to_der().map_err(Error::encoding(WHAT))?)?;
        let fields = certificate.fields();
        let signer = SignerInfo {
            version: CmsVersion::V1,
            sid: SignerIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
                issuer: fields.issuer().clone(),
                serial_number: fields.serial_number().clone(),
            }),
            digest_alg: digest_algorithm.clone(),
            signed_attrs: Some(attributes),
            signature_algorithm: AlgorithmIdentifierOwned {
                oid: Identifiers::OQS.get(self.key.algorithm()),
                parameters: None,
            },
            signature: OctetString::new(signature.as_bytes()).map_err(Error::encoding(WHAT))?,
            unsigned_attrs: None,
        };
        let encode = || {
            let certificates = self.chain.iter().map(|certificate| {
                x509_cert::Certificate::from_der(certificate.as_der()).map(CertificateChoices::Certificate)
            });
            let data = cms::signed_data::SignedData {
                version: CmsVersion::V1,
                digest_algorithms: SetOfVec::try_from(vec![digest_algorithm])?,
                encap_content_info: EncapsulatedContentInfo { econtent_type: ID_DATA, econtent: enclosed },
                certificates: Some(certificates.collect::<der::Result<Vec<_>>>()?.try_into()?),
                crls: None,
                signer_infos: vec![signer].try_into()?,
            };
            ContentInfo { content_type: ID_SIGNED_DATA, content: Any::encode_from(&data)? }.to_der()
        };
        let signature = SignedData::from_der(&encode().map_err(Error::encoding(WHAT))?)?;
        // Sets that are not sorted are sorted when they are written.
        if signature.signer() != Some(certificate) {
            return Err(unsupported("encoding of the certificate", "DER", "another"));
        }
        Ok(signature)
    }
}

/// A signature by one signer, with the certificates that came with it, and the content if that was
/// not kept elsewhere.
///
/// Reading one checks its form alone. [`verify`](Self::verify) says whether to believe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedData {
    der: Vec<u8>,
    content: Option<Vec<u8>>,
    certificates: Vec<Certificate>,
    signer: SignerInfo,
    attributes: Attributes,
}

impl SignedData {
    /// Reads a signature in DER.
    ///
    /// # Errors
    ///
    /// [`Error::Encoding`]; [`Error::Unsupported`] if it has no signer or several, no signed
    /// attributes, another content than data, a digest that is not of SHA-2, or versions that do
    /// not fit its parts.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let encoding = || Error::encoding(WHAT);
        let info = ContentInfo::from_der(der).map_err(encoding())?;
        if info.content_type != ID_SIGNED_DATA {
            return Err(unsupported("kind of CMS", "signed data", info.content_type));
        }
        let data: cms::signed_data::SignedData = info.content.decode_as().map_err(encoding())?;
        let EncapsulatedContentInfo { econtent_type, econtent } = data.encap_content_info;
        if econtent_type != ID_DATA {
            return Err(unsupported("kind of content", "data", econtent_type));
        }
        let enclosed = econtent.map(|content| content.decode_as::<OctetString>()).transpose().map_err(encoding())?;
        let certificates = data.certificates.into_iter().flat_map(|certificates| certificates.0.into_vec());
        let certificates = certificates.filter_map(|choice| match choice {
            CertificateChoices::Certificate(certificate) => Some(certificate.try_into()),
            CertificateChoices::Other(_) => None,
        });
        let certificates = certificates.collect::<Result<_, Error>>()?;
        let mut signers = data.signer_infos.0.into_vec();
        let (Some(signer), []) = (signers.pop(), signers.as_slice()) else {
            let given = if signers.is_empty() { "none".into() } else { (signers.len() + 1).to_string() };
            return Err(unsupported("number of signers", "one", given));
        };
        let signed = signer.signed_attrs.as_ref().ok_or_else(|| unsupported("signed attributes", "some", "none"))?;
        let attributes = Attributes::decode(signed)?;
        Hasher::with(signer.digest_alg.oid)?;
        if !data.digest_algorithms.iter().any(|algorithm| algorithm.oid == signer.digest_alg.oid) {
            return Err(unsupported("list of digests", "that of the signer", "others"));
        }
        let version = match signer.sid {
            SignerIdentifier::IssuerAndSerialNumber(_) => CmsVersion::V1,
            SignerIdentifier::SubjectKeyIdentifier(_) => CmsVersion::V3,
        };
        if signer.version != version || data.version < version {
            return Err(unsupported("version of the form", "that of its parts", "another"));
        }
        Ok(Self {
            der: der.to_vec(),
            content: enclosed.map(OctetString::into_bytes).map(Into::into),
            certificates,
            signer,
            attributes,
        })
    }

    /// Reads the signature in the contents of a file: DER, or PEM with the label `CMS`, `PKCS7` or
    /// `SIGNED MESSAGE`.
    ///
    /// # Errors
    ///
    /// Those of [`from_der`](Self::from_der), [`Error::Pem`], and [`Error::Missing`] if the label
    /// is another.
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        if !file.windows(signed::BEGIN.len()).any(|window| window == signed::BEGIN) {
            return Self::from_der(file);
        }
        let mut decoder = Decoder::new_detect_wrap(file).map_err(|_| Error::Pem)?;
        if !LABELS.contains(&decoder.type_label()) {
            return Err(Error::Missing { label: LABELS[0] });
        }
        let mut der = Vec::new();
        decoder.decode_to_end(&mut der).map_err(|_| Error::Pem)?;
        Self::from_der(&der)
    }

    /// Whether the contents of a file are meant to be a signature of this form, damaged or not.
    pub fn is_meant(file: &[u8]) -> bool {
        let mut labels = LABELS.iter().map(|label| format!("-----BEGIN {label}-----"));
        // The identifier comes after the tag and the length of the whole, of at most six bytes.
        file.first() == Some(&SEQUENCE) && file.windows(TYPE.len()).take(7).any(|window| window == TYPE)
            || labels.any(|begin| file.windows(begin.len()).any(|window| window == begin.as_bytes()))
    }

    /// The signature in DER.
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// The signature in PEM, with the label `CMS`.
    pub fn to_pem(&self) -> String {
        signed::pem(LABELS[0], &self.der)
    }

    /// The signature in PEM with the label `SIGNED MESSAGE`, by which git knows it.
    pub fn to_signed_message(&self) -> String {
        signed::pem(LABELS[2], &self.der)
    }

    /// The content, unless it is kept elsewhere.
    pub fn content(&self) -> Option<&[u8]> {
        self.content.as_deref()
    }

    /// The certificates that came with the signature, in any order.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// The signer's certificate, if it came with the signature. Nothing says yet that the signer
    /// is its owner. Of several that the signature names, it is the one that is signed, too.
    pub fn signer(&self) -> Option<&Certificate> {
        let mut named = self.certificates.iter().filter(|certificate| self.names(certificate));
        // Several certificates of one key have one key identifier.
        let first = named.clone().next();
        named.find(|certificate| self.covers(certificate) == Ok(true)).or(first)
    }

    /// The set that it was made with.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`] if the identifier of its algorithm belongs to no set.
    pub fn algorithm(&self) -> Result<Algorithm, Error> {
        Ok(Identifiers::OQS.algorithm(self.signer.signature_algorithm.oid)?)
    }

    /// The time of signing by the signer's clock, if the signature tells it.
    pub fn time(&self) -> Option<Time> {
        self.attributes.time
    }

    /// Whether the signature covers the signer's certificate, which came with it. If not, anyone
    /// can compute a key under which it is valid, too.
    pub fn binds_signer(&self) -> bool {
        self.attributes.certificate.is_some() && self.signer().is_some()
    }

    /// A hasher for the content of this signature.
    #[expect(clippy::missing_panics_doc, reason = "the digest was checked when the signature was read")]
    pub fn hasher(&self) -> Hasher {
        Hasher::with(self.signer.digest_alg.oid).expect("the digest was checked when the signature was read")
    }

    /// The digest of a content in one piece, for [`verify`](Self::verify).
    pub fn hash(&self, content: &[u8]) -> Hasher {
        self.hasher().and(content)
    }

    /// Verifies that somebody signed this content to whose certificate a chain leads from an
    /// authority, and returns that certificate.
    ///
    /// # Errors
    ///
    /// [`Error::NoSigner`]; [`Error::Refused`] for the certificate, also if it is for other
    /// purposes than [`Purpose::Signer`]; [`Error::NotASigner`] if its key is not for signatures;
    /// and those of [`verify_by`](Self::verify_by).
    pub fn verify(&self, trust: &Trust<'_>, content: Hasher) -> Result<&Certificate, Error> {
        let signer = self.signer().ok_or(Error::NoSigner)?;
        let intermediates = [trust.intermediates, &self.certificates].concat();
        Trust { intermediates: &intermediates, ..*trust }.verify(signer, Purpose::Signer)?;
        let usage = signer.fields().get_extension::<KeyUsage>().map_err(Error::encoding(WHAT))?;
        if usage.is_some_and(|(_, usage)| !usage.digital_signature() && !usage.non_repudiation()) {
            return Err(Error::NotASigner);
        }
        self.verify_by(&signer.key()?, content)?;
        Ok(signer)
    }

    /// Verifies that a key signed this content. The signer's certificate, if it came with the
    /// signature, is held against the key and against what was signed, and is not verified itself.
    /// A signature that covers a certificate is refused without it, as it would not be bound to a
    /// key.
    ///
    /// # Errors
    ///
    /// [`Error::NoSigner`], [`Error::OtherKey`], [`Error::SignatureAlgorithm`];
    /// [`Error::OtherContent`]; [`Error::Mayo`] with [`aioli::Error::InvalidSignature`].
    pub fn verify_by(&self, key: &VerifyingKey, content: Hasher) -> Result<(), Error> {
        let AlgorithmIdentifierOwned { oid: given, parameters } = &self.signer.signature_algorithm;
        match self.signer() {
            Some(certificate) if certificate.key()? != *key => return Err(Error::OtherKey),
            Some(certificate) if !self.covers(certificate)? => return Err(aioli::Error::InvalidSignature.into()),
            None if self.attributes.certificate.is_some() => return Err(Error::NoSigner),
            _ => {}
        }
        let expected = Identifiers::OQS.get(key.algorithm());
        if *given != expected {
            return Err(Error::SignatureAlgorithm { expected, given: *given });
        }
        if parameters.is_some() {
            return Err(aioli::Error::from(FormatError::Parameters).into());
        }
        if content.algorithm() != self.signer.digest_alg.oid || content.finish() != self.attributes.digest {
            return Err(Error::OtherContent);
        }
        let signature = Signature::from_bytes(key.algorithm(), self.signer.signature.as_bytes())?;
        // The attributes are signed as a SET, whatever tag they have in the file.
        let signed = self.signer.signed_attrs.to_der().map_err(Error::encoding(WHAT))?;
        Ok(key.verify(&signed, &signature)?)
    }

    /// Whether the attributes have the digest of this certificate, or that of none.
    fn covers(&self, certificate: &Certificate) -> Result<bool, Error> {
        match &self.attributes.certificate {
            Some((algorithm, digest)) => Ok(Hasher::with(*algorithm)?.and(certificate.as_der()).finish() == *digest),
            None => Ok(true),
        }
    }

    /// Whether this is the certificate that the signature names.
    fn names(&self, certificate: &Certificate) -> bool {
        let fields = certificate.fields();
        match &self.signer.sid {
            SignerIdentifier::IssuerAndSerialNumber(name) => {
                (fields.issuer(), fields.serial_number()) == (&name.issuer, &name.serial_number)
            }
            SignerIdentifier::SubjectKeyIdentifier(name) => {
                let own = fields.get_extension::<SubjectKeyIdentifier>();
                matches!(own, Ok(Some((_, own))) if own == *name)
            }
        }
    }
}

fn unsupported(what: &'static str, expected: &'static str, given: impl ToString) -> Error {
    Error::Unsupported { what, expected, given: given.to_string() }
}

const WHAT: &str = "signature of CMS";
/// The labels of signatures in PEM: of RFC 7468, of older programs, and of git.
const LABELS: [&str; 3] = ["CMS", "PKCS7", "SIGNED MESSAGE"];
const SEQUENCE: u8 = 0x30;
/// The identifier of signed data in DER.
const TYPE: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
