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

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        aes128_ctr(key, iv, first, out);
    }
}

/// By bins where X is public, by tables where the operand is and is wide enough to pay for them, else by masks.
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    match x.rows().div_ceil(8) {
        _ if x.is_public() => by_bins(x, rows, out, stride),
        _ if !rows.is_public() || rows.row_bytes() < 2 * TABLE => by_masks(x, rows, out, stride),
        1 => by_tables::<1, 2048>(x, rows, out, stride),
        2 => by_tables::<2, 1024>(x, rows, out, stride),
        _ => by_tables::<{ MAX_ROWS / 8 }, 1024>(x, rows, out, stride),
    }
}

/// The product by masks, for secret operands.
///
/// The four multiples x^b times a part of a row are made once and serve every row of X; each costs four ANDs and four
/// XORs a word, in a loop that compilers turn into vector instructions of any width.
fn by_masks(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut multiples = [[0; PART / 8]; 4];
    by_parts(rows, |i, at, bytes| {
        load(bytes, &mut multiples[0]);
        for b in 1..4 {
            let (known, new) = multiples.split_at_mut(b);
            double(&known[b - 1], &mut new[0], bytes.len());
        }
        for (r, &coefficient) in x.of_row(i).iter().enumerate() {
            let masks = ct::barrier(gf16::bit_masks(coefficient));
            add_multiple(&mut out[r * stride + at..][..bytes.len()], &multiples, masks);
        }
    });
    crate::memory::wipe(multiples.as_flattened_mut());
}

/// The product by bins, for public X: each part of a row is added to one of sixteen bins of each row of X, the one of its
/// coefficient, and multiplied only when all rows of the operand are in.
fn by_bins(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut bins = [[[0; BIN]; 16]; MAX_ROWS];
    for column in (0..rows.row_bytes()).step_by(BIN) {
        let width = BIN.min(rows.row_bytes() - column);
        let bins = &mut bins[..x.rows()];
        bins.as_flattened_mut().fill([0; BIN]);
        for i in 0..rows.count() {
            let start = i * rows.step();
            if start >= column + width {
                break;
            }
            let skip = start.saturating_sub(column);
            let bytes = &rows.row(i)[column + skip - start..][..width - skip];
            // All but the ragged parts as arrays, whose length the compiler knows.
            let whole: Option<&[u8; BIN]> = bytes.first_chunk().filter(|_| bytes.len() == BIN);
            for (bins, &coefficient) in bins.iter_mut().zip(x.of_row(i)) {
                let bin = &mut bins[usize::from(coefficient)];
                match whole {
                    Some(bytes) => crate::packed::add(bin, bytes),
                    None => crate::packed::add(&mut bin[skip..width], bytes),
                }
            }
        }
        for (r, bins) in bins.iter().enumerate() {
            // Those with x^3 in their coefficient, then those with x^2, x, 1: Horner's rule.
            let mut sum = [0; BIN];
            for bit in (0..4).rev() {
                for word in sum.as_chunks_mut().0 {
                    *word = gf16::double(u64::from_le_bytes(*word)).to_le_bytes();
                }
                for (_, bin) in bins.iter().enumerate().filter(|(c, _)| c >> bit & 1 == 1) {
                    crate::packed::add(&mut sum, bin);
                }
            }
            crate::packed::add(&mut out[r * stride + column..][..width], &sum[..width]);
        }
    }
}

/// Columns handled together by bins: those of ten rows of X fill 20 KiB.
const BIN: usize = 128;

/// Calls `visit(i, column, bytes)` for the parts of each row i, with the column at which a part begins.
#[inline(always)]
fn by_parts(rows: Rows<'_>, mut visit: impl FnMut(usize, usize, &[u8])) {
    for i in 0..rows.count() {
        for (part, bytes) in rows.row(i).chunks(PART).enumerate() {
            visit(i, i * rows.step() + part * PART, bytes);
        }
    }
}

/// Reads bytes into words, padding the last one with zeros.
#[inline(always)]
fn load(bytes: &[u8], words: &mut [u64; PART / 8]) {
    let (whole, rest) = bytes.as_chunks();
    for (word, bytes) in words.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    if !rest.is_empty() {
        let mut padded = [0; 8];
        padded[..rest.len()].copy_from_slice(rest);
        words[whole.len()] = u64::from_le_bytes(padded);
    }
}

/// `twice` becomes x times `words`, in as many words as hold `bytes` bytes.
#[inline(always)]
fn double(words: &[u64; PART / 8], twice: &mut [u64; PART / 8], bytes: usize) {
    for (twice, word) in twice[..bytes.div_ceil(8)].iter_mut().zip(words) {
        *twice = gf16::double(*word);
    }
}

/// Adds to `out` the element with these [`gf16::bit_masks`] times the vector with these [`gf16::multiples`].
fn add_multiple(out: &mut [u8], [a, b, c, d]: &[[u64; PART / 8]; 4], masks: [u64; 4]) {
    assert!(out.len() <= PART);
    let product = |w: usize| gf16::mul_word([a[w], b[w], c[w], d[w]], masks);
    let (words, rest) = out.as_chunks_mut();
    for (w, out) in words.iter_mut().enumerate() {
        *out = (u64::from_le_bytes(*out) ^ product(w)).to_le_bytes();
    }
    if !rest.is_empty() {
        crate::packed::add(rest, &product(words.len()).to_le_bytes()[..rest.len()]);
    }
}

/// Bytes of a row handled together by masks.
const PART: usize = 512;

/// The product by tables, for public operands: one look-up multiplies a byte of the operand, two elements, by the
/// coefficients of all rows of X.
///
/// The entry for a byte has its products with X\[0\]\[i\], X\[1\]\[i\], ... in its bytes, so an accumulator is a column of
/// result bytes, and 8x8 transpositions turn them into rows. The address depends on the operand, which is public;
/// what is secret is in the table. A byte costs a look-up of `W` words for up to 16 W products, and a table of 256
/// entries is built for each row and `SPAN` bytes of it, whose accumulators stay in L1.
fn by_tables<const W: usize, const SPAN: usize>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
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
                    let out = &mut out[r * stride + span + 8 * column..];
                    match out.first_chunk_mut::<8>() {
                        Some(out) if block.len() == 8 => *out = (u64::from_le_bytes(*out) ^ bytes).to_le_bytes(),
                        _ => crate::packed::add(&mut out[..block.len()], &bytes.to_le_bytes()[..block.len()]),
                    }
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
            sum[w] ^=
                t[0][usize::from(a)][w] ^ t[1][usize::from(b)][w] ^ t[2][usize::from(c)][w] ^ t[3][usize::from(d)][w];
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

/// AES through RustCrypto, which finds AES-NI, VAES and the Arm extensions by itself.
///
/// Counter blocks are written and encrypted in place, a few KiB at a time so that both passes meet them in L1.
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
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
