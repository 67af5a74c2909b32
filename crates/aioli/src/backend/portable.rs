//! The backend for any machine: words of sixteen nibbles, sixteen products at a time by masks.

use super::{Backend, MAX_ROWS};
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

/// By tables where the operand is public and wide enough to pay for them, else by masks.
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    match x.rows().div_ceil(8) {
        _ if !rows.is_public() || rows.row_bytes() < 2 * TABLE => by_masks(x, rows, out, stride),
        1 => by_tables::<1>(x, rows, out, stride),
        2 => by_tables::<2>(x, rows, out, stride),
        _ => by_tables::<{ MAX_ROWS / 8 }>(x, rows, out, stride),
    }
}

/// The product by masks, for secret operands: a tile of words stays in L1 for each row of X while the operand passes.
///
/// The four multiples x^b times the tile are made once and serve every row of X; a row costs four ANDs and four XORs a
/// word, which compilers turn into vector instructions of any width.
fn by_masks(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut accumulators = [[0; TILE / 8]; MAX_ROWS];
    let accumulators = &mut accumulators[..x.rows()];
    for tile in (0..rows.row_bytes()).step_by(TILE) {
        let width = TILE.min(rows.row_bytes() - tile);
        accumulators.fill([0; TILE / 8]);
        for i in 0..rows.count() {
            let Some(words) = load_tile(rows.row(i), i * rows.step(), tile) else { break };
            let twice = words.map(gf16::double);
            let four_times = twice.map(gf16::double);
            let multiples = [words, twice, four_times, four_times.map(gf16::double)];
            add_products(accumulators, &multiples, x.of_row(i));
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

/// Adds to each accumulator the tile, given by its four multiples, times the accumulator's coefficient.
///
/// Kept out of line so that the arrays stay in memory: the compiler then vectorizes the loops over words, where it would
/// otherwise take the arrays apart into sixty-four scalars.
#[inline(never)]
fn add_products(accumulators: &mut [Tile], multiples: &[Tile; 4], coefficients: &[u8]) {
    for (accumulator, &coefficient) in accumulators.iter_mut().zip(coefficients) {
        let masks = gf16::bit_masks(coefficient);
        for w in 0..TILE / 8 {
            accumulator[w] ^= multiples[0][w] & masks[0]
                ^ multiples[1][w] & masks[1]
                ^ multiples[2][w] & masks[2]
                ^ multiples[3][w] & masks[3];
        }
    }
}

/// The bytes of `row`, which begins at column `start`, that lie in the columns `tile .. tile + TILE`, the rest zero.
/// `None` if there are none.
#[inline(always)]
fn load_tile(row: &[u8], start: usize, tile: usize) -> Option<Tile> {
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

/// Bytes of a row handled together by masks; whole words.
const TILE: usize = 64;
type Tile = [u64; TILE / 8];

/// The product by tables, for public operands: one look-up multiplies a byte of the operand, two elements, by the
/// coefficients of all rows of X.
///
/// The entry for a byte has its products with X\[0\]\[i\], X\[1\]\[i\], ... in its bytes, so an accumulator is a column of
/// result bytes, and 8x8 transpositions turn them into rows. The address depends on the operand, which is public;
/// what is secret is in the table. A byte costs a look-up of `W` words for up to 16 W products, and a table of 256
/// entries is built for each row and [`SPAN`] bytes of it.
fn by_tables<const W: usize>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut accumulators = [[0; W]; SPAN];
    let mut tables = [[[0; W]; TABLE]; GROUP];
    for span in (0..rows.row_bytes()).step_by(SPAN) {
        let width = SPAN.min(rows.row_bytes() - span);
        let accumulators = &mut accumulators[..width];
        accumulators.fill([0; W]);
        // Rows that reach into the span, some at a time; those of a triangle begin at different columns, so the first
        // columns of a group are left to the rows that have them.
        for first in (0..rows.count()).step_by(GROUP) {
            if first * rows.step() >= span + width {
                break;
            }
            let mut parts = [&[][..]; GROUP];
            for ((i, part), table) in (first..rows.count()).zip(&mut parts).zip(&mut tables) {
                let start = i * rows.step();
                let skip = start.saturating_sub(span).min(width);
                *part = &rows.row(i)[(span + skip).saturating_sub(start)..][..width - skip];
                fill_table(table, x.of_row(i));
            }
            let shared = parts.iter().map(|part| part.len()).min().unwrap_or(0);
            for (part, table) in parts.iter().zip(&tables) {
                let alone = part.len() - shared;
                add_looked_up(&mut accumulators[width - part.len()..][..alone], &part[..alone], table);
            }
            let common = parts.map(|part| &part[part.len() - shared..]);
            add_group_looked_up(&mut accumulators[width - shared..], common, &tables);
        }
        for (column, block) in accumulators.chunks(8).enumerate() {
            for w in 0..W {
                let bytes = transpose_bytes(core::array::from_fn(|j| block.get(j).map_or(0, |words| words[w])));
                for (r, bytes) in (8 * w..x.rows().min(8 * w + 8)).zip(bytes) {
                    let out = &mut out[r * stride + span + 8 * column..][..block.len()];
                    crate::packed::add(out, &bytes.to_le_bytes());
                }
            }
        }
    }
    crate::memory::wipe(accumulators.as_flattened_mut());
    crate::memory::wipe(tables.as_flattened_mut().as_flattened_mut());
}

fn add_looked_up<const W: usize>(sums: &mut [[u64; W]], bytes: &[u8], table: &Table<W>) {
    for (sum, &byte) in sums.iter_mut().zip(bytes) {
        for (sum, product) in sum.iter_mut().zip(table[usize::from(byte)]) {
            *sum ^= product;
        }
    }
}

/// [`add_looked_up`] for all rows of a group: each sum is loaded and stored once.
fn add_group_looked_up<const W: usize>(sums: &mut [[u64; W]], [a, b, c, d]: [&[u8]; GROUP], t: &[Table<W>; GROUP]) {
    for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        for w in 0..W {
            sum[w] ^= t[0][usize::from(a)][w] ^ t[1][usize::from(b)][w] ^ t[2][usize::from(c)][w] ^ t[3][usize::from(d)][w];
        }
    }
}

/// `table[b]` becomes the products of the byte b with each of the coefficients, one a byte.
fn fill_table<const W: usize>(table: &mut Table<W>, coefficients: &[u8]) {
    let mut bits = [[0; W]; 8];
    for (w, coefficients) in coefficients.chunks(8).enumerate() {
        let mut low = [0; 8];
        low[..coefficients.len()].copy_from_slice(coefficients);
        for (b, multiple) in gf16::multiples(u64::from_le_bytes(low)).into_iter().enumerate() {
            bits[b][w] = multiple;
            bits[4 + b][w] = multiple << 4;
        }
    }
    table[0] = [0; W];
    for (b, bit) in bits.iter().enumerate() {
        let (known, new) = table[..2 << b].split_at_mut(1 << b);
        for (new, known) in new.iter_mut().zip(known) {
            for ((new, known), bit) in new.iter_mut().zip(known).zip(bit) {
                *new = *known ^ bit;
            }
        }
    }
}

/// Byte i of word j becomes byte j of word i.
#[inline(always)]
fn transpose_bytes(mut words: [u64; 8]) -> [u64; 8] {
    for (distance, mask) in [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
        for i in 0..8 {
            if i & distance == 0 {
                let swap = (words[i] >> (8 * distance) ^ words[i + distance]) & mask;
                words[i] ^= swap << (8 * distance);
                words[i + distance] ^= swap;
            }
        }
    }
    words
}

/// Entries of a table: one for each byte.
const TABLE: usize = 256;
type Table<const W: usize> = [[u64; W]; TABLE];
/// Rows of the operand handled together by tables.
const GROUP: usize = 4;
/// Columns handled together by tables: their accumulators stay in L1.
const SPAN: usize = 1024;

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
