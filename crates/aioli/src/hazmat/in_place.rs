//! The operations on the caller's memory, for machines without an allocator.
//!
//! Each operation takes a window and working memory. P1 and P2 are expanded into the window a part
//! at a time: from one row ([`min_window`]) to everything (`P_BYTES`), the larger the faster. The
//! products of P1 with secrets are made for some of its columns at a time, as many as the working
//! memory allows. Its size is given for a `width`, the number of columns, from 1 to V ([`keygen`],
//! [`sign`]), or from O to N ([`verify`]). That memory is cleared before and afterwards.

use crate::Error;
use crate::backend::Backend;
use crate::message::MessageDigest;
use crate::params::ParameterSet;
use crate::randomizer::Randomizer;
use crate::scheme::keygen::{self as generating, KeygenBuffers};
use crate::scheme::protect;
use crate::scheme::public_map::PublicMap;
use crate::scheme::sign::{self as signing, ALL_SAMPLES, Request, SecretMap, SignBuffers};
use crate::scheme::verify::{self as verifying, VerifyBuffers};
use crate::sig::Signature;

/// The smallest window, in bytes.
pub const fn min_window<P: ParameterSet>() -> usize {
    PublicMap::<'_, P>::MIN_WINDOW
}

/// Bytes of memory that [`keygen`] needs beside the window for `width` columns at a time.
pub const fn keygen_memory<P: ParameterSet>(width: usize) -> usize {
    KeygenBuffers::bytes::<P>(width)
}

/// Bytes of memory that [`sign`] needs beside the window for `width` columns at a time.
pub const fn sign_memory<P: ParameterSet>(width: usize) -> usize {
    SignBuffers::bytes::<P>(false, width)
}

/// Bytes of memory that [`verify`] needs beside the window for `width` columns at a time.
pub const fn verify_memory<P: ParameterSet>(width: usize) -> usize {
    VerifyBuffers::bytes::<P>(width)
}

/// Computes the public key of a secret key.
///
/// # Errors
///
/// [`Error::Memory`].
pub fn keygen<P: ParameterSet, B: Backend>(
    b: B,
    secret_key: &P::SecretKeyBytes,
    window: &mut [u8],
    memory: &mut [u8],
) -> Result<P::PublicKeyBytes, Error> {
    cleared::<P, _>(window, memory, keygen_memory::<P>, 1..=P::V, |window, width, memory| {
        generating::keygen::<P, B>(b, secret_key.as_ref(), width, window, memory)
    })
}

/// Signs; `randomizer` is `SALT_BYTES` of fresh randomness, or `None` for a deterministic
/// signature.
///
/// A given randomizer enters as it is, see [`hazmat`](super). `None` gives the signature of
/// `SigningKey::sign_deterministic`, whose randomizer is derived from the set and the seed.
///
/// # Errors
///
/// [`Error::Memory`], [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`],
/// [`Error::FaultDetected`].
pub fn sign<P: ParameterSet, B: Backend>(
    b: B,
    secret_key: &P::SecretKeyBytes,
    digest: &MessageDigest<P>,
    randomizer: Option<&[u8]>,
    window: &mut [u8],
    memory: &mut [u8],
) -> Result<Signature<P>, Error> {
    signed(secret_key, digest, randomizer, window, memory, |request, secret, width, memory| {
        signing::sign::<P, B>(b, request, secret, width, memory)
    })
}

/// Signs as [`sign`] does, in the same memory, and protects the signature against faults: V is
/// derived twice, and the signature is verified with the public key before it is released.
///
/// # Errors
///
/// Those of [`sign`]. [`Error::FaultDetected`] is also that of a signature that is not valid.
pub fn sign_checked<P: ParameterSet, B: Backend>(
    b: B,
    (secret_key, public_key): (&P::SecretKeyBytes, &P::PublicKeyBytes),
    digest: &MessageDigest<P>,
    randomizer: Option<&[u8]>,
    window: &mut [u8],
    memory: &mut [u8],
) -> Result<Signature<P>, Error> {
    signed(secret_key, digest, randomizer, window, memory, |request, secret, width, memory| {
        protect::sign::<P, B>(b, request, secret, Some(public_key.as_ref()), width, memory)
    })
}

/// Calls `sign` with the request, the window as the secret map, a width, and the memory.
fn signed<P: ParameterSet>(
    secret_key: &P::SecretKeyBytes,
    digest: &MessageDigest<P>,
    randomizer: Option<&[u8]>,
    window: &mut [u8],
    memory: &mut [u8],
    sign: impl FnOnce(&Request<'_>, SecretMap<'_>, usize, &mut [u8]) -> Result<P::SignatureBytes, Error>,
) -> Result<Signature<P>, Error> {
    let derived;
    let randomizer = match randomizer {
        Some(given) => given,
        None => {
            derived = Randomizer::<P>::deterministic(secret_key.as_ref());
            derived.as_ref()
        }
    };
    let request = Request::new::<P>(secret_key.as_ref(), digest, randomizer, ALL_SAMPLES)?;
    cleared::<P, _>(window, memory, sign_memory::<P>, 1..=P::V, |window, width, memory| {
        sign(&request, SecretMap::Compact(window), width, memory).map(Signature::from_bytes)
    })?
}

/// Verifies.
///
/// # Errors
///
/// [`Error::Memory`], [`Error::InvalidSignature`].
pub fn verify<P: ParameterSet, B: Backend>(
    b: B,
    public_key: &P::PublicKeyBytes,
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
    window: &mut [u8],
    memory: &mut [u8],
) -> Result<(), Error> {
    let public_key = public_key.as_ref();
    let seed = verifying::public_seed(public_key);
    let valid = cleared::<P, _>(window, memory, verify_memory::<P>, P::O..=P::N, |window, width, memory| {
        let p = PublicMap::from_seed(b, seed, window);
        verifying::verify::<P, B>(b, public_key, p, digest.as_ref(), signature.as_ref(), width, memory)
    })?;
    if valid { Ok(()) } else { Err(Error::InvalidSignature) }
}

/// Calls `f` with the window, the largest of `widths` for which the memory suffices, and that
/// memory, zero.
fn cleared<P: ParameterSet, T>(
    window: &mut [u8],
    memory: &mut [u8],
    needed: impl Fn(usize) -> usize,
    widths: core::ops::RangeInclusive<usize>,
    f: impl FnOnce(&mut [u8], usize, &mut [u8]) -> T,
) -> Result<T, Error> {
    if window.len() < min_window::<P>() {
        return Err(Error::Memory { expected: min_window::<P>(), given: window.len() });
    }
    let expected = needed(*widths.start());
    let Some(width) = widths.rev().find(|&width| needed(width) <= memory.len()) else {
        return Err(Error::Memory { expected, given: memory.len() });
    };
    let memory = &mut memory[..needed(width)];
    // Whatever a fault makes the scheme skip is then computed from zeros, not from what was here.
    memory.fill(0);
    let result = f(window, width, memory);
    crate::memory::wipe(memory);
    Ok(result)
}
