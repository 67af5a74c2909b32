//! The backend for any machine, in words of 64 bits.
//!
//! Loops run over arrays in memory whose lengths are constants, which compilers turn into vector
//! instructions of any width.

pub(super) mod aes128_ctr;
pub(super) mod left_product;
pub(super) mod shake256;
pub(super) mod solve;
pub(super) mod stream;

use super::contract::Backend;
use super::kind::BackendKind;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;

/// Runs everywhere; see the [module](super) for what a token means.
#[derive(Clone, Copy, Debug)]
pub struct Portable(());

impl Portable {
    /// The token, which every machine has.
    pub const fn new() -> Self {
        Self(())
    }

    /// The token, as the other backends give it: never `None`.
    pub const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Default for Portable {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Portable {
    const NAME: &'static str = BackendKind::Portable.name();

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        left_product::left_product(left, right, out);
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        stream::left_product(self, left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        aes128_ctr::aes128_ctr(key, iv, first, out);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        shake256::shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        solve::solve(columns, m, x)
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        f()
    }
}
