//! The statuses with which functions end.

use aioli::Error;
use aioli::pkcs8::FormatError;
use std::borrow::Cow;
use std::cell::RefCell;

/// The end of a function. A number is never given a second meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AioliStatus {
    /// It did what it was asked.
    Ok = 0,
    /// The signature is not valid for this message and key.
    InvalidSignature = 1,
    /// A key, signature, seed or digest does not have the length of its set.
    WrongLength = 2,
    /// The output does not fit; its length has become the room that is needed.
    BufferTooSmall = 3,
    /// No parameter set has this number or name.
    UnknownAlgorithm = 4,
    /// A digest was made for another set than the key's.
    AlgorithmMismatch = 5,
    /// A pointer is NULL that must not be.
    NullPointer = 6,
    /// The source of randomness of the operating system failed.
    Randomness = 7,
    /// No signature could be made: the secret key is not genuine.
    SigningFailed = 8,
    /// A key file was not understood.
    KeyFormat = 9,
    /// The key file is encrypted, and no passphrase was given.
    PassphraseNeeded = 10,
    /// The passphrase is wrong, or the encrypted key is damaged.
    WrongPassphrase = 11,
    /// The hasher has been finished.
    Finished = 12,
    /// An error in Aioli itself. Nothing that it wrote should be used.
    Internal = 13,
}

/// A failure: its status and what aioli_error_message() says.
pub(crate) struct Failure {
    pub(crate) status: AioliStatus,
    pub(crate) message: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: AioliStatus, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Length { .. } => AioliStatus::WrongLength,
            Error::InvalidSignature => AioliStatus::InvalidSignature,
            Error::AlgorithmMismatch { .. } => AioliStatus::AlgorithmMismatch,
            Error::Randomness => AioliStatus::Randomness,
            Error::SamplesExhausted | Error::FaultDetected => AioliStatus::SigningFailed,
            Error::UnknownSet => AioliStatus::UnknownAlgorithm,
            Error::KeyFormat(FormatError::Encrypted) => AioliStatus::PassphraseNeeded,
            Error::KeyFormat(FormatError::Decryption) => AioliStatus::WrongPassphrase,
            Error::KeyFormat(_) => AioliStatus::KeyFormat,
            _ => AioliStatus::Internal,
        };
        Self::new(status, error.to_string())
    }
}

/// Keeps the message of a failure for `aioli_error_message`.
pub(crate) fn remember(failure: Failure) -> AioliStatus {
    // While a thread ends, its message may be gone already.
    let _ = LAST.try_with(|last| *last.borrow_mut() = failure.message);
    failure.status
}

/// The message of the last failure in this thread.
pub(crate) fn last_message() -> Cow<'static, str> {
    LAST.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

thread_local! {
    static LAST: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}
