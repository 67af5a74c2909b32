//! The backend for any machine: words of sixteen nibbles, sixteen products at a time by masks.

use super::{Backend, MAX_ROWS};
use crate::ct;
use crate::gf16;
use crate::packed::{Coefficients, Rows};
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

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

    fn left_product(self, x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
        left_product(x, rows, out, stride);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u64, out: &mut [u8]) {
        aes128_ctr(key, iv, first, out);
    }
}

/// The product tile by tile: one word array per row of X stays in registers or L1 while the rows of the operand pass.
///
/// The four multiples x^b times the tile are made once and serve every row of X; a row costs four ANDs and four XORs a
/// word, which compilers turn into vector instructions of any width.
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    let mut accumulators = [[0; TILE / 8]; MAX_ROWS];
    let accumulators = &mut accumulators[..x.rows()];
    for tile in (0..rows.row_bytes()).step_by(TILE) {
        let width = TILE.min(rows.row_bytes() - tile);
        accumulators.fill([0; TILE / 8]);
        for i in 0..rows.count() {
            let Some(words) = load_tile(rows.row(i), i * rows.step(), tile) else { break };
            let multiples = words.map(gf16::multiples);
            for (accumulator, &coefficient) in accumulators.iter_mut().zip(x.of_row(i)) {
                let masks = ct::barrier(gf16::bit_masks(coefficient));
                for (word, multiples) in accumulator.iter_mut().zip(multiples) {
                    *word ^= gf16::mul_word(multiples, masks);
                }
            }
        }
        for (r, accumulator) in accumulators.iter().enumerate() {
            let out = &mut out[r * stride + tile..][..width];
            for (out, word) in out.chunks_mut(8).zip(accumulator) {
                crate::packed::add(out, &word.to_le_bytes());
            }
        }
    }
    crate::memory::wipe(accumulators);
}

/// The bytes of `row`, which begins at column `start`, that lie in the columns `tile .. tile + TILE`, the rest zero.
/// `None` if there are none.
#[inline(always)]
fn load_tile(row: &[u8], start: usize, tile: usize) -> Option<[u64; TILE / 8]> {
    let mut bytes = [0; TILE];
    if start <= tile {
        let row = &row[tile - start..];
        match row.first_chunk() {
            Some(whole) => bytes = *whole,
            None => bytes[..row.len()].copy_from_slice(row),
        }
    } else {
        let gap = start - tile;
        let length = row.len().min(TILE.checked_sub(gap).filter(|&length| length > 0)?);
        bytes[gap..][..length].copy_from_slice(&row[..length]);
    }
    Some(core::array::from_fn(|i| u64::from_le_bytes(core::array::from_fn(|j| bytes[8 * i + j]))))
}

/// Bytes of a row handled together; whole words.
const TILE: usize = 64;

/// AES through RustCrypto, which finds AES-NI, VAES and the Arm extensions by itself.
///
/// Counter blocks are written and encrypted in place, a few KiB at a time so that both passes meet them in L1.
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u64, out: &mut [u8]) {
    const CHUNK: usize = 4096;
    let cipher = aes::Aes128::new(&Array(*key));
    let iv = u128::from_be_bytes(*iv);
    let mut counter = u128::from(first);
    let mut block = || {
        let block = Array((iv ^ counter).to_be_bytes());
        counter += 1;
        block
    };
    for chunk in out.chunks_mut(CHUNK) {
        let (blocks, tail) = Array::slice_as_chunks_mut(chunk);
        blocks.fill_with(&mut block);
        cipher.encrypt_blocks(blocks);
        if !tail.is_empty() {
            let mut last = block();
            cipher.encrypt_block(&mut last);
            tail.copy_from_slice(&last[..tail.len()]);
        }
    }
}
