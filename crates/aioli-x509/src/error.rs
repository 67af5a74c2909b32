//! The errors of certificates and of what is signed with them.

use aioli::pkcs8::ObjectIdentifier;
use core::fmt;
use rustls_pki_types::UnixTime;

/// A certificate, request or signature was not made, read or accepted; each variant says why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The key or the signature was at fault, with [`aioli::Error::InvalidSignature`] for a
    /// signature that is not valid.
    Mayo(aioli::Error),
    /// It is not DER or not the structure of this object.
    Encoding {
        /// The kind of object, such as "certificate".
        what: &'static str,
        /// The fault in its encoding.
        error: der::Error,
    },
    /// The file looks like PEM, but a block in it is damaged or has no end.
    Pem,
    /// No PEM block of this kind is in the file.
    Missing {
        /// The label of such a block, such as `CERTIFICATE`.
        label: &'static str,
    },
    /// The signature is of one algorithm, and the object says or the key is of another.
    SignatureAlgorithm {
        /// The identifier of the key, or that in the signed part.
        expected: ObjectIdentifier,
        /// The identifier beside the signature.
        given: ObjectIdentifier,
    },
    /// The certificate is not that of an authority that may sign certificates.
    NotAnAuthority,
    /// The certificate is for another key.
    OtherKey,
    /// Another form of a signature than those that are understood.
    Unsupported {
        /// The part that is not understood, such as "digest".
        what: &'static str,
        /// The forms of it that are understood.
        expected: &'static str,
        /// The form that it has.
        given: String,
    },
    /// The certificate of the signer is not there.
    NoSigner,
    /// The certificate is for a key that must not sign, by its key usage.
    NotASigner,
    /// The signature is for another content.
    OtherContent,
    /// A text is neither a DNS name nor an IP address.
    Host(String),
    /// A name of another kind than DNS names and IP addresses was asked for.
    NameKind,
    /// Neither a subject nor a host name was given.
    Nameless,
    /// The period of validity ends before it begins, or after the year 9999.
    Validity,
    /// The certificate is not accepted.
    Refused(webpki::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mayo(error) => error.fmt(f),
            Self::Encoding { what, error } => write!(f, "not a {what}: {error}"),
            Self::Pem => f.write_str("PEM with a block that is damaged or has no end"),
            Self::Missing { label } => write!(f, "PEM without a block of the kind {label}"),
            Self::SignatureAlgorithm { expected, given } => {
                write!(f, "the signature is by the algorithm {given}, but expected is {expected}")
            }
            Self::NotAnAuthority => {
                f.write_str("the certificate is not that of an authority that may sign certificates")
            }
            Self::OtherKey => f.write_str("the certificate is for another key than the given one"),
            Self::Unsupported { what, expected, given } => write!(f, "{what}: {given}, but expected is {expected}"),
            Self::NoSigner => f.write_str("the certificate of the signer is not in the signature"),
            Self::NotASigner => f.write_str("the certificate of the signer is not for signatures, by its key usage"),
            Self::OtherContent => f.write_str("the signature is for another content, by the digest in it"),
            Self::Host(text) => write!(f, "neither a DNS name nor an IP address: {}", text.escape_debug()),
            Self::NameKind => f.write_str("a name is neither a DNS name nor an IP address"),
            Self::Nameless => f.write_str("neither a subject nor a host name is given"),
            Self::Validity => f.write_str("the period of validity ends before it begins, or after the year 9999"),
            Self::Refused(error) => refused(error, f),
        }
    }
}

/// The refusals that happen to well-made certificates in sentences, all others by their names.
fn refused(error: &webpki::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use webpki::Error as E;
    match error {
        E::BadDer => f.write_str("not a certificate of X.509 version 3 in DER"),
        E::CertExpired { time, not_after } => {
            write!(f, "expired at {}; the time to verify for is {}", Moment(not_after), Moment(time))
        }
        E::CertNotValidYet { time, not_before } => {
            write!(f, "not valid before {}; the time to verify for is {}", Moment(not_before), Moment(time))
        }
        E::CertNotValidForName(context) => {
            let presented = context.presented.join(", ");
            write!(f, "not valid for the name {}, but for: {}", context.expected.to_str(), presented.escape_debug())
        }
        E::UnknownIssuer => f.write_str("no trusted authority leads to it: its issuer is not known here"),
        E::InvalidSignatureForPublicKey => f.write_str("a signature is not valid under the key of its issuer"),
        E::UnsupportedSignatureAlgorithmContext(_) => f.write_str("signed by an algorithm that is no set of MAYO"),
        E::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            f.write_str("signed by another set than that of its issuer's key")
        }
        E::SignatureAlgorithmMismatch => f.write_str("names two different algorithms for its signature"),
        E::CaUsedAsEndEntity => f.write_str("the certificate of an authority, not of a server, client or signer"),
        E::EndEntityUsedAsCa => f.write_str("issued by a certificate that may not sign others"),
        E::PathLenConstraintViolated => f.write_str("more authorities on the way than one of them allows"),
        E::RequiredEkuNotFoundContext(_) => f.write_str("not meant for this purpose, by its extended key usage"),
        other => write!(f, "refused: {other:?}"),
    }
}

/// A time in the notation of RFC 3339.
struct Moment<'a>(&'a UnixTime);

impl fmt::Display for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = core::time::Duration::from_secs(self.0.as_secs());
        match der::DateTime::from_unix_duration(since) {
            Ok(date) => date.fmt(f),
            Err(_) => write!(f, "{} seconds after 1970", since.as_secs()),
        }
    }
}

impl std::error::Error for Error {}

impl From<aioli::Error> for Error {
    fn from(error: aioli::Error) -> Self {
        Self::Mayo(error)
    }
}

impl From<webpki::Error> for Error {
    fn from(error: webpki::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<x509_cert::builder::Error> for Error {
    fn from(error: x509_cert::builder::Error) -> Self {
        use x509_cert::builder::Error as E;
        match error {
            E::Asn1(error) => Self::encoding("certificate")(error),
            E::Signature(error) => match std::error::Error::source(&error).and_then(|source| source.downcast_ref()) {
                Some(&error) => Self::Mayo(error),
                None => Self::Mayo(aioli::Error::InvalidSignature),
            },
            // The builder checks nothing else here, and every key of the library can be encoded.
            _ => Self::encoding("certificate")(der::ErrorKind::Failed.into()),
        }
    }
}

impl Error {
    /// Makes the error of an object of this kind.
    pub(crate) fn encoding(what: &'static str) -> impl FnOnce(der::Error) -> Self {
        move |error| Self::Encoding { what, error }
    }
}
