//! The five operations over any parameter set and backend, with their memory from the allocator.
//!
//! Keys are given as what they hold; [`keys`](crate::keys) and [`hazmat`](crate::hazmat) put types
//! around them.
//!
//! Nothing here, and no operation of the scheme, is inlined: the compiler shares such functions
//! between crates, so a program or test is not compiled for all sets and backends a second time.

use crate::Error;
use crate::backend::Backend;
use crate::backend::unwritten::unwritten;
use crate::memory;
use crate::message::MessageDigest;
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use crate::scheme::keygen::{self, ExpandSkBuffers, KeygenBuffers};
use crate::scheme::protect;
use crate::scheme::public_map::{self, PublicMap};
use crate::scheme::sign::{Request, SecretMap, SignBuffers};
use crate::scheme::verify::{self, VerifyBuffers};
use crate::scheme::verify_group::{GroupBuffers, group, verify_group};
use crate::sig::Signature;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The parts of an expanded secret key that signing reads beside the seed.
#[derive(Clone)]
pub(crate) struct ExpandedSecret {
    /// O, V rows of O elements, one a byte.
    pub(crate) oil: Box<[u8]>,
    /// P1 and then Q, packed.
    pub(crate) p1_q: Box<[u8]>,
}

/// The compact public key of a secret seed.
#[inline(never)]
pub(crate) fn verifying_key<P: ParameterSet, B: Backend>(b: B, seed_sk: &[u8]) -> P::PublicKeyBytes {
    memory::with(P::P_BYTES, KeygenBuffers::bytes::<P>(P::V), |window, memory| {
        keygen::keygen::<P, B>(b, seed_sk, P::V, window, memory)
    })
}

/// Expands a secret seed.
#[inline(never)]
pub(crate) fn expand_signing_key<P: ParameterSet, B: Backend>(b: B, seed_sk: &[u8]) -> ExpandedSecret {
    let mut oil = vec![0; P::V * P::O].into_boxed_slice();
    let mut p1_q = unwritten(P::P_BYTES);
    memory::with(0, ExpandSkBuffers::bytes::<P>(), |_, memory| {
        keygen::expand_sk::<P, B>(b, seed_sk, &mut oil, &mut p1_q, memory);
    });
    ExpandedSecret { oil, p1_q }
}

/// Expands the seed of a public key: P1 and then P2, packed.
#[inline(never)]
pub(crate) fn expand_verifying_key<P: ParameterSet, B: Backend>(b: B, seed: &[u8; PUBLIC_SEED_BYTES]) -> Box<[u8]> {
    let mut p = unwritten(P::P_BYTES);
    public_map::expand_p(b, seed, &mut p);
    p
}

/// Signs with a secret seed, trying at most `samples` vinegar samples. With a public key, V and the
/// signature are checked.
///
/// # Errors
///
/// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`], [`Error::FaultDetected`].
#[inline(never)]
pub(crate) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    (seed_sk, public_key): (&[u8], Option<&[u8]>),
    digest: &MessageDigest<P>,
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    let request = Request::new::<P>(seed_sk, digest, randomizer, samples)?;
    memory::with(P::P_BYTES, SignBuffers::bytes::<P>(false, P::V), |window, memory| {
        protect::sign::<P, B>(b, &request, SecretMap::Compact(window), public_key, P::V, memory)
    })
    .map(Signature::from_bytes)
}

/// Signs with an expanded key as [`sign`] does.
///
/// # Errors
///
/// Those of [`sign`].
#[inline(never)]
pub(crate) fn sign_expanded<P: ParameterSet, B: Backend>(
    b: B,
    (seed_sk, expanded, public_key): (&[u8], &ExpandedSecret, Option<&[u8]>),
    digest: &MessageDigest<P>,
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    let request = Request::new::<P>(seed_sk, digest, randomizer, samples)?;
    let secret = SecretMap::Expanded { oil: &expanded.oil, p1_q: &expanded.p1_q };
    memory::with(0, SignBuffers::bytes::<P>(true, P::V), |_, memory| {
        protect::sign::<P, B>(b, &request, secret, public_key, P::V, memory)
    })
    .map(Signature::from_bytes)
}

/// Verifies with a compact public key.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
#[inline(never)]
pub(crate) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    public_key: &[u8],
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    let seed = verify::public_seed(public_key);
    // The buffers begin at a cache line, too.
    let window_bytes = P::P_BYTES.next_multiple_of(memory::ALIGNMENT);
    memory::with(window_bytes + VerifyBuffers::bytes::<P>(P::N), 0, |memory, _| {
        let (window, memory) = memory.split_at_mut(window_bytes);
        let p = PublicMap::from_seed(b, seed, window);
        accept(verify::verify::<P, B>(b, public_key, p, digest.as_ref(), signature.as_ref(), P::N, memory))
    })
}

/// Verifies with a compact public key and its P1 and P2.
///
/// # Errors
///
/// [`Error::InvalidSignature`].
#[inline(never)]
pub(crate) fn verify_expanded<P: ParameterSet, B: Backend>(
    b: B,
    (public_key, p): (&[u8], &[u8]),
    digest: &MessageDigest<P>,
    signature: &Signature<P>,
) -> Result<(), Error> {
    memory::with(VerifyBuffers::bytes::<P>(P::N), 0, |memory, _| {
        let p = PublicMap::from_memory(p);
        accept(verify::verify::<P, B>(b, public_key, p, digest.as_ref(), signature.as_ref(), P::N, memory))
    })
}

/// Verifies many signatures, each beside the digest of its message, with one compact public key and
/// its P1 and P2.
#[inline(never)]
pub(crate) fn verify_many<P: ParameterSet, B: Backend>(
    b: B,
    (public_key, p): (&[u8], &[u8]),
    signed: &[(MessageDigest<P>, Signature<P>)],
) -> Vec<Result<(), Error>> {
    let group = group::<P>();
    let mut results = Vec::with_capacity(signed.len());
    memory::with(GroupBuffers::bytes::<P>(group), 0, |memory, _| {
        for signed in signed.chunks(group) {
            let parts = signed.iter().map(|(digest, signature)| (digest.as_ref(), signature.as_ref()));
            let valid = verify_group::<P, B>(b, public_key, PublicMap::from_memory(p), parts, memory);
            results.extend((0..signed.len()).map(|i| accept(valid >> i & 1 != 0)));
        }
    });
    results
}

fn accept(valid: bool) -> Result<(), Error> {
    if valid { Ok(()) } else { Err(Error::InvalidSignature) }
}
