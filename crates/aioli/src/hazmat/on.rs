//! The operations over any [`Backend`], also one of another crate, with a number of vinegar
//! samples.

use crate::Error;
use crate::backend::Backend;
use crate::keys::{ExpandedSigningKey, ExpandedVerifyingKey, SigningKey, VerifyingKey};
use crate::message::MessageDigest;
use crate::operations;
use crate::params::ParameterSet;
use crate::sig::Signature;
use alloc::vec::Vec;

/// Computes a public key.
pub fn verifying_key<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>) -> VerifyingKey<P> {
    VerifyingKey(operations::verifying_key::<P, B>(b, key.as_ref()))
}

/// Expands a secret key.
pub fn expand_signing_key<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>) -> ExpandedSigningKey<P> {
    ExpandedSigningKey::new(key, operations::expand_signing_key::<P, B>(b, key.as_ref()))
}

/// Expands a public key.
pub fn expand_verifying_key<P: ParameterSet, B: Backend>(b: B, key: &VerifyingKey<P>) -> ExpandedVerifyingKey<P> {
    ExpandedVerifyingKey { key: *key, p: operations::expand_verifying_key::<P, B>(b, key.seed()) }
}

/// Signs, trying at most `samples` vinegar samples (the specification says 256).
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign<P: ParameterSet, B: Backend>(
    b: B,
    key: &SigningKey<P>,
    digest: &MessageDigest<P>,
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    operations::sign(b, (key.as_ref(), None), digest, randomizer, samples)
}

/// Signs, trying at most `samples` vinegar samples, and verifies with `public_key`, see
/// [`ExpandedSigningKey::checked`].
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign_checked<P: ParameterSet, B: Backend>(
    b: B,
    (key, public_key): (&SigningKey<P>, &VerifyingKey<P>),
    digest: &MessageDigest<P>,
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    operations::sign(b, (key.as_ref(), Some(public_key.as_ref())), digest, randomizer, samples)
}

/// Signs with an expanded key, trying at most `samples` vinegar samples.
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign_expanded<P: ParameterSet, B: Backend>(
    b: B,
    key: &ExpandedSigningKey<P>,
    digest: &MessageDigest<P>,
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    operations::sign_expanded(b, key.parts(), digest, randomizer, samples)
}

/// Verifies with a compact key.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
pub fn verify<P: ParameterSet, B: Backend>(
    b: B,
    key: &VerifyingKey<P>,
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    operations::verify(b, key.as_ref(), digest, signature)
}

/// Verifies with an expanded key.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
pub fn verify_expanded<P: ParameterSet, B: Backend>(
    b: B,
    key: &ExpandedVerifyingKey<P>,
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    operations::verify_expanded(b, (key.key.as_ref(), &key.p), digest, signature)
}

/// [`ExpandedVerifyingKey::verify_many`] on a backend.
pub fn verify_many<P: ParameterSet, B: Backend>(
    b: B,
    key: &ExpandedVerifyingKey<P>,
    signed: &[(MessageDigest<P>, Signature<P>)],
) -> Vec<Result<(), Error>> {
    operations::verify_many(b, (key.key.as_ref(), &key.p), signed)
}
