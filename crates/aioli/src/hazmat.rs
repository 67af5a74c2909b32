//! The scheme with everything given: backend, randomizer, digest, number of samples.
//!
//! For known answers, tests, measurements and hardware security modules. Nothing here is unsafe to call, but a
//! randomizer that repeats gives up the hedge, and a digest that is not SHAKE256 of a message gives signatures that
//! other MAYO software cannot check.
//!
//! The functions here take a backend that was detected ([`DetectedBackend`](crate::backend::DetectedBackend)); those in
//! `hazmat::on` take the token of any [`Backend`](crate::backend::Backend), so that another crate may bring its own.

use crate::Error;
use crate::message::MessageDigest;
use crate::params::ParameterSet;
use crate::sig::array;

#[cfg(feature = "alloc")]
mod detected;
pub mod in_place;
#[cfg(feature = "alloc")]
pub mod on;

#[cfg(feature = "alloc")]
pub use detected::*;

/// Whether the program runs under the constant-time checker that it was built for.
#[cfg(aioli_ct)]
pub fn is_watched() -> bool {
    crate::backend::taint::is_watched()
}

/// Marks bytes as secret for the constant-time checker.
#[cfg(aioli_ct)]
pub fn mark_secret(bytes: &[u8]) {
    crate::ct::secret(bytes);
}

/// A message digest from its bytes.
///
/// # Errors
///
/// [`Error::Length`].
pub fn message_digest<P: ParameterSet>(bytes: &[u8]) -> Result<MessageDigest<P>, Error> {
    array::<P, P::DigestBytes>("message digest", bytes).map(MessageDigest)
}
