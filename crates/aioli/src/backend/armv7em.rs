//! Cortex-M4 and its like (Armv7E-M with a floating-point unit), with the inner loops in assembly.
//!
//! - `aes128_ctr` looks AES up in tables, as nothing that it encrypts here is secret. It computes
//!   the constant part of the first two rounds once for up to 256 blocks.
//! - `left_product/tables` multiplies with P, which is public, by tables of products that elements
//!   of P address, two rows of P at a time. P is expanded for as many columns as the window has
//!   room for.
//! - `left_product/slices` multiplies secrets with secrets, in bit slices.
//! - `solve` solves the linear system by elimination of columns, and touches only the rows that may
//!   still be in use.
//!
//! `build.rs` names the targets of this backend.
#![allow(unsafe_code, reason = "calls of kernels in assembly")]

mod aes128_ctr;
mod left_product;
mod solve;

use super::contract::Backend;
use super::kind::BackendKind;
use super::portable;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;

core::arch::global_asm!(
    include_str!("armv7em/kernel.s"),
    include_str!("armv7em/aes128_ctr.s"),
    include_str!("armv7em/left_product/columns.s"),
    include_str!("armv7em/solve/eliminate.s"),
    include_str!("armv7em/left_product/look_up.s"),
    include_str!("armv7em/solve/pivot_row.s"),
    include_str!("armv7em/left_product/slices.s"),
    include_str!("armv7em/left_product/table.s"),
    options(raw)
);

/// Armv7E-M; see the [module](super) for what a token means.
#[derive(Clone, Copy, Debug)]
pub struct Armv7em(());

impl Armv7em {
    /// The token, which every processor of these targets has.
    pub const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Backend for Armv7em {
    const NAME: &'static str = BackendKind::Armv7em.name();

    const REGISTER: usize = 4;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        left_product::left_product(left, right, out);
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        mut out: Output<'_>,
    ) {
        out.clear(left.rows(), part.width());
        if !left_product::left_product_of_stream(left, key, part, window, out.bytes, out.stride) {
            portable::stream::left_product(self, left, key, part, window, out);
        }
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
