//! Files of which only their contents tell what they are.

use crate::{Certificate, Error, Request, signed};
use aioli::any::VerifyingKey;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A certificate, or several, never none.
    Certificates(Vec<Certificate>),
    /// A request for a certificate.
    Request(Box<Request>),
}

impl Contents {
    /// Reads the contents of a file, PEM or DER. Returns `None` if it is neither a certificate nor
    /// a request, and an error if it is one that cannot be accepted.
    pub fn read(file: &[u8]) -> Option<Result<Self, Error>> {
        use Error::{Encoding, Missing, Pem};
        match (Certificate::read_all(file), Request::read(file)) {
            (Ok(certificates), _) => Some(Ok(Self::Certificates(certificates))),
            (_, Ok(request)) => Some(Ok(Self::Request(request.into()))),
            (Err(Encoding { .. }), Err(Encoding { .. })) | (Err(Missing { .. }), Err(Missing { .. })) => None,
            (Err(Pem), _) => signed::mentions_certificates(file).then_some(Err(Pem)),
            // A file of DER that has the structure of a request, or PEM with a block of one.
            (Err(Encoding { .. }), Err(error @ Error::Mayo(_) | error @ Error::SignatureAlgorithm { .. }))
            | (Err(Missing { .. }), Err(error)) => Some(Err(error)),
            (Err(error), _) => Some(Err(error)),
        }
    }

    /// The public key in the request or the first certificate.
    ///
    /// # Errors
    ///
    /// [`Error::Mayo`], in particular if the key is not one of MAYO.
    pub fn key(&self) -> Result<VerifyingKey, Error> {
        match self {
            Self::Certificates(certificates) => {
                certificates.first().ok_or(Error::Missing { label: "CERTIFICATE" })?.key()
            }
            Self::Request(request) => Ok(request.key().clone()),
        }
    }
}
