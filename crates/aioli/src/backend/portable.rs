//! The backend for any machine, in words of 64 bits.
//!
//! The left product has two forms, by what may address memory: tables of products where the operand is public
//! (`tables.rs`), bit slices where nothing is (`slices.rs`); key generation for O of eight columns uses them in turn
//! without leaving the layout of the tables (`key_product.rs`). Loops run over arrays in memory whose lengths are
//! constants, which compilers turn into vector instructions of any width.

mod key_product;
mod slices;
mod tables;

use super::{Backend, MAX_ROWS};
use crate::packed::{Coefficients, Operand, has_rows};
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use slices::{FEW_SUMS, SUMS};
use tables::{Pair, TABLE, WIDE};

/// Runs everywhere; see the [module](super) for what a token means.
#[derive(Clone, Copy, Debug)]
pub struct Portable(());

impl Portable {
    /// Always there.
    pub const fn detect() -> Self {
        Self(())
    }
}

impl Backend for Portable {
    const NAME: &'static str = "portable";

    fn left_product(self, x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
        left_product(x, rows, out, stride);
    }

    fn key_product(
        self,
        oil: Coefficients<'_>,
        p1: Operand<'_>,
        p2: Operand<'_>,
        memory: &mut [u8],
        p3: &mut [u8],
    ) -> bool {
        key_product::key_product(oil, p1, p2, memory, p3)
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        aes128_ctr(key, iv, first, out);
    }
}

/// By tables where the operand is public and its rows are long enough to pay for them, else by bit slices; each a call,
/// lest the stack holds the memory of all of them.
pub(super) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    assert!(has_rows(out, x.rows(), stride, rows.row_bytes()), "length of a left product");
    let by_tables = rows.is_public() && rows.row_bytes() >= TABLE;
    match x.rows() {
        ..=8 if by_tables => tables::left_product::<u32, WIDE>(x, rows, out, stride),
        ..=16 if by_tables => tables::left_product::<u64, 2048>(x, rows, out, stride),
        _ if by_tables => tables::left_product::<Pair, 1024>(x, rows, out, stride),
        ..=8 => slices::left_product::<FEW_SUMS>(x, rows, out, stride),
        _ => slices::left_product::<SUMS>(x, rows, out, stride),
    }
}

/// AES through RustCrypto, which finds AES-NI, VAES and the Arm extensions by itself.
///
/// Counter blocks stay in L1. From one run of 256 to the next only what is above the last byte of their numbers changes.
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    const BLOCKS: usize = 256;
    let cipher = aes::Aes128::new(&Array(*key));
    let mut counters = [Array(*iv); BLOCKS];
    let used = BLOCKS.min(out.len().div_ceil(16));
    for (i, counter) in counters[..used].iter_mut().enumerate() {
        counter[15] ^= (first as u8).wrapping_add(i as u8);
    }
    let above = u64::from_be_bytes(*iv[7..].first_chunk().expect("eight bytes"));
    for (run, out) in (u64::from(first) / 256..).zip(out.chunks_mut(16 * BLOCKS)) {
        let counters = &mut counters[..out.len().div_ceil(16)];
        let (before, after) = counters.split_at_mut(counters.len().min(BLOCKS - first as usize % BLOCKS));
        for (counters, number) in [(before, run), (after, run + 1)] {
            for counter in counters {
                counter[7..15].copy_from_slice(&(above ^ number).to_be_bytes());
            }
        }
        let (blocks, tail) = Array::slice_as_chunks_mut(out);
        let (counters, last) = counters.split_at(blocks.len());
        cipher.encrypt_blocks_b2b(counters, blocks).expect("a counter for each block");
        if let [mut last] = *last {
            cipher.encrypt_block(&mut last);
            tail.copy_from_slice(&last[..tail.len()]);
        }
    }
}

/// At the beginning of a cache line: a vector that straddles two costs more.
#[repr(align(64))]
struct Aligned<T>(T);
