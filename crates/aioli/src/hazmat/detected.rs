//! The operations on a backend that was detected.

use super::on;
use crate::Error;
use crate::backend::{DetectedBackend, with_backend};
use crate::keys::{ExpandedSigningKey, ExpandedVerifyingKey, SigningKey, VerifyingKey};
use crate::message::MessageDigest;
use crate::operations::ExpandedSecret;
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use crate::scheme::public_map;
use crate::scheme::sign::ALL_SAMPLES;
use crate::sig::Signature;
use alloc::vec::Vec;

/// AES-128 of the counter blocks of `seed`: P1 and P2 of a public key, or their first `p.len()`
/// bytes.
pub fn expand_p(backend: DetectedBackend, seed: &[u8; PUBLIC_SEED_BYTES], p: &mut [u8]) {
    with_backend!(backend, |b| public_map::expand_p(b, seed, p));
}

/// [`SigningKey::verifying_key`] on a backend.
pub fn verifying_key<P: ParameterSet>(backend: DetectedBackend, key: &SigningKey<P>) -> VerifyingKey<P> {
    with_backend!(backend, |b| on::verifying_key(b, key))
}

/// [`SigningKey::expand`] on a backend.
pub fn expand_signing_key<P: ParameterSet>(backend: DetectedBackend, key: &SigningKey<P>) -> ExpandedSigningKey<P> {
    with_backend!(backend, |b| on::expand_signing_key(b, key))
}

/// [`VerifyingKey::expand`] on a backend.
pub fn expand_verifying_key<P: ParameterSet>(
    backend: DetectedBackend,
    key: &VerifyingKey<P>,
) -> ExpandedVerifyingKey<P> {
    with_backend!(backend, |b| on::expand_verifying_key(b, key))
}

/// Signs with a given randomizer of `SALT_BYTES`.
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign<P: ParameterSet>(
    backend: DetectedBackend,
    key: &SigningKey<P>,
    digest: &MessageDigest<P>,
    randomizer: &[u8],
) -> Result<Signature<P>, Error> {
    with_backend!(backend, |b| on::sign(b, key, digest, randomizer, ALL_SAMPLES))
}

/// Signs with a given randomizer of `SALT_BYTES`, and verifies with `public_key`, see
/// [`ExpandedSigningKey::checked`].
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign_checked<P: ParameterSet>(
    backend: DetectedBackend,
    keys: (&SigningKey<P>, &VerifyingKey<P>),
    digest: &MessageDigest<P>,
    randomizer: &[u8],
) -> Result<Signature<P>, Error> {
    with_backend!(backend, |b| on::sign_checked(b, keys, digest, randomizer, ALL_SAMPLES))
}

/// Signs with a given randomizer of `SALT_BYTES` and an expanded key.
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
pub fn sign_expanded<P: ParameterSet>(
    backend: DetectedBackend,
    key: &ExpandedSigningKey<P>,
    digest: &MessageDigest<P>,
    randomizer: &[u8],
) -> Result<Signature<P>, Error> {
    with_backend!(backend, |b| on::sign_expanded(b, key, digest, randomizer, ALL_SAMPLES))
}

/// Verifies with a compact key.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
pub fn verify<P: ParameterSet>(
    backend: DetectedBackend,
    key: &VerifyingKey<P>,
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    with_backend!(backend, |b| on::verify(b, key, digest, signature))
}

/// Verifies with an expanded key.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
pub fn verify_expanded<P: ParameterSet>(
    backend: DetectedBackend,
    key: &ExpandedVerifyingKey<P>,
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    with_backend!(backend, |b| on::verify_expanded(b, key, digest, signature))
}

/// [`ExpandedVerifyingKey::verify_many`] on a backend.
pub fn verify_many<P: ParameterSet>(
    backend: DetectedBackend,
    key: &ExpandedVerifyingKey<P>,
    signed: &[(MessageDigest<P>, Signature<P>)],
) -> Vec<Result<(), Error>> {
    with_backend!(backend, |b| on::verify_many(b, key, signed))
}

/// An expanded signing key from its parts as [`ExpandedSigningKey`] documents them, unchecked:
/// parts that do not belong together give signatures that do not verify, or none.
///
/// # Errors
///
/// [`Error::Length`].
pub fn expanded_signing_key_from_parts<P: ParameterSet>(
    key: &SigningKey<P>,
    oil: &[u8],
    p1_q: &[u8],
) -> Result<ExpandedSigningKey<P>, Error> {
    check_length::<P>("oil matrix", oil.len(), P::V * P::O)?;
    check_length::<P>("expanded secret key", p1_q.len(), P::P_BYTES)?;
    Ok(ExpandedSigningKey::new(key, ExpandedSecret { oil: oil.into(), p1_q: p1_q.into() }))
}

/// An expanded public key from its compact key and P, the bytes that [`expand_p`] gives, unchecked.
/// Whoever chooses other bytes chooses another key, and can sign for it.
///
/// # Errors
///
/// [`Error::Length`].
pub fn expanded_verifying_key_from_parts<P: ParameterSet>(
    key: &VerifyingKey<P>,
    p: &[u8],
) -> Result<ExpandedVerifyingKey<P>, Error> {
    check_length::<P>("expanded public key", p.len(), P::P_BYTES)?;
    Ok(ExpandedVerifyingKey { key: *key, p: p.into() })
}

fn check_length<P: ParameterSet>(what: &'static str, given: usize, expected: usize) -> Result<(), Error> {
    match given == expected {
        true => Ok(()),
        false => Err(Error::Length { what, algorithm: P::ALGORITHM, expected, given }),
    }
}
