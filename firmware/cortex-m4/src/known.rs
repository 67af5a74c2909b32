//! The known answers that `build.rs` writes into the program.

use aioli::Algorithm;

/// The first record of NIST's file of a set.
pub(crate) struct Known {
    pub(crate) algorithm: Algorithm,
    pub(crate) secret_key: &'static [u8],
    pub(crate) message: &'static [u8],
    pub(crate) randomizer: &'static [u8],
    pub(crate) public_key: &'static [u8],
    pub(crate) signature: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/known.rs"));
