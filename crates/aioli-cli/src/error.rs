//! The errors of the command, and the exit code of each.

pub(crate) use crate::reason::Reason;

use crate::shown::shown;
use aioli::pkcs8::FormatError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit codes. They are stable; `aioli --help` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done, or every signature is valid.
    Done = 0,
    /// A signature is not valid, a fault was detected while signing, or a known answer differs.
    Invalid = 1,
    /// The arguments do not make sense. The argument parser exits with the same code.
    Usage = 2,
    /// Something could not be read or written.
    InputOutput = 3,
    /// Malformed or unsupported input.
    Malformed = 4,
    /// A key does not fit: wrong set, round or fingerprint, or not bound by the signature.
    KeyMismatch = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments contradict each other, or one that is needed is missing.
    Usage(String),
    /// An operation on a file failed; `doing` is its verb in the message.
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// A file of this name exists, and `--force` was not given.
    Exists(PathBuf),
    /// An output would replace a device, a directory or a link.
    NotRegular(PathBuf),
    /// An output would replace a private key.
    PrivateKey(PathBuf),
    /// An interrupted `keygen --force` left this file, which may be the only copy of a key.
    Leftover(PathBuf),
    /// Writing to standard output failed.
    Output(io::Error),
    /// Asking on the terminal failed.
    Terminal(io::Error),
    /// A file is malformed, or what is in it was not accepted or made.
    Malformed { path: PathBuf, reason: Reason },
    /// The signature was not made with the given key.
    OtherKey { path: PathBuf, expected: String, given: String },
    /// The signature does not cover the key, as `--bind-key` and git demand.
    NotBound(PathBuf),
    /// The key may not sign this: it is not known, or not for this purpose or time.
    NotAllowed { fingerprint: String, why: String },
    /// The signature and the key are of different sets or rounds.
    OtherSet { path: PathBuf, expected: aioli::Algorithm, given: String },
    /// The library failed.
    Library(aioli::Error),
}

impl Error {
    /// The code to exit with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::File { .. } | Self::Exists(_) | Self::Output(_) | Self::Terminal(_) => Exit::InputOutput,
            Self::NotRegular(_) | Self::PrivateKey(_) | Self::Leftover(_) => Exit::InputOutput,
            Self::Malformed { reason: Reason::Key(aioli::Error::KeyFormat(FormatError::Encrypted)), .. } => Exit::Usage,
            Self::OtherKey { .. } | Self::NotBound(_) | Self::NotAllowed { .. } | Self::OtherSet { .. } => {
                Exit::KeyMismatch
            }
            Self::Malformed { reason: Reason::Certificate(error), .. } => match error {
                aioli_x509::Error::Mayo(error) => Self::Library(*error).exit(),
                aioli_x509::Error::Refused(_) | aioli_x509::Error::NotASigner => Exit::Invalid,
                aioli_x509::Error::OtherContent => Exit::Invalid,
                aioli_x509::Error::OtherKey => Exit::KeyMismatch,
                aioli_x509::Error::Nameless | aioli_x509::Error::Host(_) | aioli_x509::Error::Validity => Exit::Usage,
                _ => Exit::Malformed,
            },
            Self::Malformed { .. } => Exit::Malformed,
            Self::Library(error) => match error {
                aioli::Error::InvalidSignature | aioli::Error::FaultDetected => Exit::Invalid,
                aioli::Error::AlgorithmMismatch { .. } => Exit::KeyMismatch,
                aioli::Error::Randomness => Exit::InputOutput,
                aioli::Error::UnknownSet | aioli::Error::UnknownBackend => Exit::Usage,
                aioli::Error::UnavailableBackend(_) => Exit::Usage,
                _ => Exit::Malformed,
            },
        }
    }

    /// Whether the reader of standard output has gone away, so nobody is left to tell.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::File { doing, path, source } => write!(f, "cannot {doing} {}: {source}", shown(path)),
            Self::Exists(path) => write!(f, "{} exists; use --force to overwrite it", shown(path)),
            Self::NotRegular(path) => write!(f, "{} is not a regular file, so it is not replaced", shown(path)),
            Self::PrivateKey(path) => write!(f, "{} is a private key, so it is not replaced", shown(path)),
            Self::Leftover(path) => write!(
                f,
                "{} exists: it may be a key that an interrupted keygen kept; move it back or remove it",
                shown(path)
            ),
            Self::Output(source) => write!(f, "cannot write to standard output: {source}"),
            Self::Terminal(source) => write!(f, "cannot ask for the passphrase: {source}"),
            Self::Malformed { path, reason } => write!(f, "{}: {reason}", shown(path)),
            Self::OtherKey { path, expected, given } => {
                write!(f, "{}: signature of the key {given}, but the given key is {expected}", shown(path))
            }
            Self::NotBound(path) => write!(
                f,
                "{}: the signature does not bind the key, as is demanded: it may be valid under other keys",
                shown(path)
            ),
            Self::NotAllowed { fingerprint, why } => write!(f, "signature of the key {fingerprint}: {why}"),
            Self::OtherSet { path, expected, given } => {
                write!(f, "{}: signature of {given}, but the key is for {expected}", shown(path))
            }
            Self::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<aioli::Error> for Error {
    fn from(error: aioli::Error) -> Self {
        Self::Library(error)
    }
}
