//! Signing with protection against faults: only what the public key verifies is released
//! (`docs/faults.md`).
//!
//! The check takes the seed and P3 from the public key that it is given, not from the secret key
//! with which it was signed: a fault in O gives a signature that fits the P3 of the wrong O.

use super::public_map::PublicMap;
use super::sign::{self, Request, SecretMap};
use super::verify::{VerifyBuffers, public_seed, verify};
use crate::Error;
use crate::backend::Backend;
use crate::memory::wipe;
use crate::params::ParameterSet;

/// Signs as [`sign::sign`] does. With a public key, also derives V a second time and verifies the
/// signature.
///
/// Verifying takes the same memory as signing, and P1 from there if all of it is in memory.
///
/// # Errors
///
/// Those of [`sign::sign`]; [`Error::FaultDetected`] if V or the signature is not right.
#[inline(never)]
pub(crate) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    request: &Request<'_>,
    mut secret: SecretMap<'_>,
    public_key: Option<&[u8]>,
    width: usize,
    memory: &mut [u8],
) -> Result<P::SignatureBytes, Error> {
    let Some(public_key) = public_key else {
        return sign::sign::<P, B>(b, request, secret, width, memory);
    };
    let mut signature = sign::sign::<P, B>(b, &request.with_vinegar_twice(), secret.reborrow(), width, memory)?;

    // Secrets remain in the memory, and verifying reads nothing that it has not written.
    let window_bytes = if secret.is_expanded() { PublicMap::<P>::MIN_WINDOW } else { 0 };
    let fits = |width: &usize| VerifyBuffers::bytes::<P>(*width) + window_bytes <= memory.len();
    let width = (P::O..=P::N).rev().find(fits).expect("signing takes more memory than verifying");
    #[cfg_attr(not(feature = "alloc"), expect(unused_variables, reason = "compact keys bring a window"))]
    let (memory, rest) = memory.split_at_mut(VerifyBuffers::bytes::<P>(width));
    let seed = public_seed(public_key);
    let p = match secret {
        SecretMap::Compact(window) if window.len() >= P::P_BYTES => PublicMap::from_memory(&window[..P::P_BYTES]),
        SecretMap::Compact(window) => PublicMap::from_seed(b, seed, window),
        #[cfg(feature = "alloc")]
        SecretMap::Expanded { p1_q, .. } => PublicMap::from_p1(&p1_q[..P::P1_BYTES], seed, rest),
    };
    if verify::<P, B>(b, public_key, p, request.digest, signature.as_ref(), width, memory) {
        return Ok(signature);
    }
    wipe(signature.as_mut());
    Err(Error::FaultDetected)
}
