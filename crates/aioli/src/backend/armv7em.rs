//! Cortex-M4 and its like (Armv7E-M with a floating-point unit), with the inner loops in assembly.
//!
//! - AES from tables: nothing that it encrypts here is secret. What the counter leaves constant in the first two rounds is
//!   computed once for up to 256 blocks. (`aes.rs`, `aes_rounds.s`)
//! - Products with P, which is public, by tables of products that its elements address, two rows of P at a time; P is
//!   expanded for as many columns as the window has room for. (`tables.rs`, `look_up.s`)
//! - Products of secrets with secrets in bit slices. (`slices.rs`, `slices.s`)
//! - The linear system by elimination of columns, of which only the rows that can still be in use are touched. (`solve.rs`,
//!   `pivot_row.s`, `eliminate.s`)
//!
//! `build.rs` names the targets that this is for.
#![allow(unsafe_code, reason = "calls of kernels in assembly")]

mod aes;
mod slices;
mod solve;
mod tables;

use super::{Backend, MAX_ROWS};
use crate::packed::{Coefficients, Operand};
use crate::stream::StreamPart;

core::arch::global_asm!(
    include_str!("armv7em/kernel.s"),
    include_str!("armv7em/aes_rounds.s"),
    include_str!("armv7em/columns.s"),
    include_str!("armv7em/eliminate.s"),
    include_str!("armv7em/look_up.s"),
    include_str!("armv7em/pivot_row.s"),
    include_str!("armv7em/slices.s"),
    include_str!("armv7em/table.s"),
    options(raw)
);

/// Armv7E-M; see the [module](super) for what a token means.
#[derive(Clone, Copy, Debug)]
pub struct Armv7em(());

impl Armv7em {
    /// Always there on the targets that have it.
    pub const fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

impl Backend for Armv7em {
    const NAME: &'static str = "armv7em";

    const REGISTER: usize = 4;

    fn left_product(self, x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
        assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
        if !rows.is_public() || !tables::left_product_of_rows(x, rows, out, stride) {
            slices::left_product(x, rows, out, stride);
        }
    }

    fn left_product_of_stream(
        self,
        x: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: &mut [u8],
        stride: usize,
    ) {
        assert!(x.rows() <= MAX_ROWS && x.columns() == part.count(), "shape of a left product");
        if !tables::left_product_of_stream(x, key, part, window, out, stride) {
            crate::stream::left_product(self, x, key, part, window, out, stride);
        }
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        let mut stream = aes::Stream::new(key, iv);
        // Whole blocks where they belong if that is a word's place, the rest by way of a buffer.
        // SAFETY: words are four bytes on this target, lowest first.
        let (before, words, _) = unsafe { out.align_to_mut::<u32>() };
        let whole = if before.is_empty() { words.len() & !3 } else { 0 };
        stream.fill(u64::from(first), &mut words[..whole]);
        let mut blocks = [0; 64];
        for (i, chunk) in out[4 * whole..].chunks_mut(256).enumerate() {
            stream.fill(u64::from(first) + (whole / 4 + 16 * i) as u64, &mut blocks[..4 * chunk.len().div_ceil(16)]);
            // SAFETY: as above.
            let (_, bytes, _) = unsafe { blocks.align_to::<u8>() };
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        solve::solve(columns, m, x)
    }
}
