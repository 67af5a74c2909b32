//! The errors of the library.

#[cfg(feature = "pkcs8")]
pub(crate) mod format;

use crate::algorithm::Algorithm;
use crate::backend::kind::BackendKind;

/// An operation failed; each variant says what was wrong and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A key, signature or other value of the wrong length.
    Length {
        /// The kind of value, such as "signature".
        what: &'static str,
        /// The set that it was read for.
        algorithm: Algorithm,
        /// The length of such a value, in bytes.
        expected: usize,
        /// The length that was given, in bytes.
        given: usize,
    },
    /// The signature is not valid for this message and key.
    InvalidSignature,
    /// Values of different parameter sets or rounds were used together, such as a key and a
    /// signature.
    AlgorithmMismatch {
        /// The set of the key, or the set that was asked for.
        expected: Algorithm,
        /// The set of the value that was given.
        given: Algorithm,
    },
    /// The source of randomness failed.
    Randomness,
    /// None of the vinegar samples gave a solvable system. With honest keys this happens with a
    /// probability below 2^-900, so it points to a key that was not made by key generation.
    SamplesExhausted,
    /// No parameter set has the name.
    UnknownSet,
    /// No backend has the name.
    UnknownBackend,
    /// A check of a signature in the making failed, and no signature was released: a fault
    /// disturbed the computation, or the parts of the key do not belong together.
    FaultDetected,
    /// This machine cannot run the requested backend.
    UnavailableBackend(BackendKind),
    /// The caller gave less working memory than an operation needs.
    Memory {
        /// The bytes that it needs.
        expected: usize,
        /// The bytes that it was given.
        given: usize,
    },
    /// A row names a key by an index that the list of keys does not have.
    KeyIndex {
        /// The number of keys in the list.
        keys: usize,
        /// The index that was given.
        given: usize,
    },
    /// A key file was not understood.
    #[cfg(feature = "pkcs8")]
    KeyFormat(format::FormatError),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Length { what, algorithm, expected, given } => {
                write!(f, "{what} of {algorithm} has {expected} bytes, not {given}")
            }
            Self::InvalidSignature => f.write_str("signature is not valid for this message and key"),
            Self::AlgorithmMismatch { expected, given } => {
                write!(f, "key is for {expected}, but what it is used with is of {given}")
            }
            Self::Randomness => f.write_str("source of randomness failed"),
            Self::SamplesExhausted => f.write_str("no vinegar sample gave a solvable system: the key is not genuine"),
            Self::UnknownSet => {
                f.write_str("unknown set; the sets are ")?;
                list(f, Algorithm::ALL.iter().map(|algorithm| algorithm.name()))
            }
            Self::UnknownBackend => {
                f.write_str("unknown backend; the backends are ")?;
                list(f, BackendKind::ALL.iter().map(|kind| kind.name()))
            }
            Self::FaultDetected => f.write_str(
                "signing was disturbed, or the key is damaged: a check failed, and no signature is released",
            ),
            Self::UnavailableBackend(kind) => write!(f, "this machine cannot run the backend {kind}"),
            Self::Memory { expected, given } => write!(f, "working memory of {expected} bytes needed, {given} given"),
            Self::KeyIndex { keys, given } => write!(f, "key {given} is not in the list, which has {keys} keys"),
            #[cfg(feature = "pkcs8")]
            Self::KeyFormat(error) => error.fmt(f),
        }
    }
}

/// Writes names with commas between them.
fn list(f: &mut core::fmt::Formatter<'_>, names: impl Iterator<Item = &'static str>) -> core::fmt::Result {
    names.enumerate().try_for_each(|(i, name)| write!(f, "{}{name}", if i > 0 { ", " } else { "" }))
}

impl core::error::Error for Error {}

impl From<Error> for signature::Error {
    fn from(error: Error) -> Self {
        #[cfg(feature = "alloc")]
        return Self::from_source(error);
        #[cfg(not(feature = "alloc"))]
        {
            let _ = error;
            Self::new()
        }
    }
}
