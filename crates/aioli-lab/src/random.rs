//! Bytes for keys, salts and messages: the same on every run, and nearly free.
//!
//! Every implementation draws from this generator, those in C included, so that none pays for a
//! system call that another avoids. It is only for measuring: its output is predictable.

use aioli::signature::rand_core::{TryCryptoRng, TryRng};
use std::cell::Cell;
use std::convert::Infallible;

/// The generator of this thread, splitmix64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random;

impl Random {
    /// The next `N` bytes.
    pub(crate) fn bytes<const N: usize>() -> [u8; N] {
        let mut bytes = [0; N];
        Self::fill(&mut bytes);
        bytes
    }

    /// Overwrites `bytes` with the next ones.
    pub(crate) fn fill(bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&Self::next().to_le_bytes()[..chunk.len()]);
        }
    }

    fn next() -> u64 {
        let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        STATE.set(state);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(Self::next() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(Self::next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        Self::fill(bytes);
        Ok(())
    }
}

// The implementations require this trait of their generator. No secret drawn here protects
// anything.
impl TryCryptoRng for Random {}

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}
