//! The reasons for refusing a file, apart from the other errors because programs that have no paths
//! share them.

use crate::envelope::EnvelopeError;
use crate::sshsig::SshError;
use std::fmt;

/// Why a file was refused.
#[derive(Debug)]
pub(crate) enum Reason {
    /// It is longer than any key or signature file.
    TooLong { limit: u64 },
    /// The file is no key, or a key that is not supported.
    Key(aioli::Error),
    /// The envelope of the signature is malformed.
    Envelope(EnvelopeError),
    /// The signature is not in the form of OpenSSH, or of another scheme.
    Ssh(SshError),
    /// A certificate or request was not made, read or accepted.
    Certificate(aioli_x509::Error),
    /// A line of a file of keys is malformed.
    Line { number: usize, what: String },
    /// No signature of any set has this length.
    RawSignature { given: usize, expected: usize, algorithm: aioli::Algorithm },
    /// The file has no known form of a key or signature.
    Unknown { bytes: usize },
    /// The file has neither a certificate nor a request for one.
    NoCertificate,
    /// The first line of a passphrase file is empty.
    EmptyPassphrase,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => write!(f, "longer than {limit} bytes, so neither key nor signature"),
            Self::Key(error) => error.fmt(f),
            Self::Envelope(error) => error.fmt(f),
            Self::Ssh(error) => error.fmt(f),
            Self::Certificate(error) => error.fmt(f),
            Self::Line { number, what } => write!(f, "line {number}: {what}"),
            Self::RawSignature { given, expected, algorithm } => write!(
                f,
                "neither an envelope nor a bare signature: {given} bytes, but a signature of {algorithm} has {expected}"
            ),
            Self::Unknown { bytes } => write!(
                f,
                "neither a key nor a signature: not PEM, DER or an envelope, and no raw one has {bytes} bytes"
            ),
            Self::NoCertificate => f.write_str("neither a certificate nor a request for one"),
            Self::EmptyPassphrase => f.write_str("the passphrase, the first line, is empty"),
        }
    }
}
