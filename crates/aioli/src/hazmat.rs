//! The scheme with everything given: backend, randomizer, digest, number of samples.
//!
//! For known answers, tests, measurements and hardware security modules. Nothing here is unsafe to
//! call, but a randomizer that repeats gives up the hedge, and a digest that is not SHAKE256 of a
//! message gives signatures that other MAYO software cannot check.
//!
//! A given randomizer is R itself. **With one seed and one R in MAYO_3 of both rounds, or in MAYO_5
//! of both, two signatures of one message give the secret key away**: R alone keeps their vinegar
//! vectors apart. Use one seed in one set only. Keys outside of this module take the R of
//! [`derive_randomizer`], into which the set is hashed.
//!
//! The functions here take a backend that was detected
//! ([`DetectedBackend`](crate::backend::DetectedBackend)); those in `hazmat::on` take the token of
//! any [`Backend`](crate::backend::Backend), so that another crate may bring its own.

use crate::Error;
use crate::message::MessageDigest;
use crate::params::ParameterSet;

#[cfg(feature = "alloc")]
mod detected;
pub mod in_place;
#[cfg(feature = "alloc")]
pub mod on;

#[cfg(aioli_plants)]
pub use crate::plants::{Leak, plant};
pub use crate::randomizer::derive_randomizer;
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
    MessageDigest::try_from(bytes)
}
