//! The backend for WebAssembly with vectors of 128 bits.
//!
//! A module with these instructions runs in an engine that has them or not at all, so the choice is
//! made when it is compiled: by `-Ctarget-feature=+simd128`. The compiler then vectorizes the
//! portable kernels, too.
#![allow(unsafe_code, reason = "loads and stores of vectors")]

mod aes128_ctr;
mod left_product;
mod solve;
mod vector;

use super::contract::Backend;
use super::kind::BackendKind;
use super::portable;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;

/// WebAssembly with vectors of 128 bits.
#[derive(Clone, Copy, Debug)]
pub struct Simd128(());

impl Simd128 {
    /// The token: what runs this module has the instructions.
    pub const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Backend for Simd128 {
    const NAME: &'static str = BackendKind::Simd128.name();

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
        portable::stream::left_product(self, left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        aes128_ctr::aes128_ctr(key, iv, first, out);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        portable::shake256::shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        solve::solve(columns, m, x)
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        f()
    }
}
