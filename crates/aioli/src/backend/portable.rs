//! The backend for any machine, in words of 64 bits.
//!
//! The left product has two forms, by what may address memory: tables of products where the operand is public, bit
//! slices where nothing is. Loops run over arrays in memory whose lengths are constants, which compilers turn into
//! vector instructions of any width.

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

/// By tables where the operand is public and its rows are long enough to pay for them, else by bit slices.
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    match x.rows() {
        _ if !rows.is_public() || rows.row_bytes() < TABLE => by_slices(x, rows, out, stride),
        ..=8 => by_tables::<u32>(x, rows, out, stride),
        9..=16 => by_tables::<u64>(x, rows, out, stride),
        _ => by_tables::<Pair>(x, rows, out, stride),
    }
}

/// The product by tables, for public operands: one look-up multiplies two elements, which stand in the same column of
/// two rows, by the coefficients of all rows of X.
///
/// The index is the byte of both elements; the entry has in nibble r the sum of their products with the two
/// coefficients of row r of X. So a sum of entries is a column of the result, and transpositions turn columns into
/// rows. The address depends on the operand, which is public; what is secret is in the table. A byte of the operand
/// costs one look-up, for up to 32 rows of X, and two rows of it one table for every [`SPAN`] bytes.
fn by_tables<E: Entry>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    // For the columns of low and those of high nibbles.
    let mut sums = [[E::default(); SPAN]; 2];
    let mut indices = [[[0; SPAN]; GROUP]; 2];
    let mut tables = [[E::default(); TABLE]; GROUP];
    for span in (0..rows.row_bytes()).step_by(SPAN) {
        let width = SPAN.min(rows.row_bytes() - span);
        for sums in &mut sums {
            sums[..width].fill(E::default());
        }
        let reaching = (0..rows.count()).take_while(|i| i * rows.step() < span + width).count();
        // Where a row begins in the span, what it has there, and its coefficients.
        let part = |i: usize| match i < reaching {
            true => {
                let begin = (i * rows.step()).max(span);
                (begin - span, &rows.row(i)[begin - i * rows.step()..][..span + width - begin], x.of_row(i))
            }
            false => (width, &[][..], &[][..]),
        };
        for first in (0..reaching).step_by(2 * GROUP) {
            let (begin, ..) = part(first);
            let [low, high] = &mut indices;
            for (g, ((low, high), table)) in low.iter_mut().zip(high).zip(&mut tables).enumerate() {
                let ((one, a, x_a), (other, b, x_b)) = (part(first + 2 * g), part(first + 2 * g + 1));
                fill_table(table, x_a, x_b);
                // Entry 0 of every table is zero.
                low[begin..one].fill(0);
                high[begin..one].fill(0);
                let (alone, a) = a.split_at(other - one);
                pair_up(&mut low[one..other], &mut high[one..other], alone, &[0; SPAN]);
                pair_up(&mut low[other..width], &mut high[other..width], a, b);
            }
            for (sums, indices) in sums.iter_mut().zip(&indices) {
                add_looked_up(&mut sums[begin..width], indices.each_ref().map(|i| &i[begin..width]), &tables);
            }
        }
        add_columns(&sums, x.rows(), width, &mut out[span..], stride);
    }
    crate::memory::wipe(sums.as_flattened_mut());
    crate::memory::wipe(tables.as_flattened_mut());
}

/// The low nibbles of `a` and `b` as bytes into `low`, their high nibbles into `high`.
fn pair_up(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) {
    for (((low, high), a), b) in low.iter_mut().zip(high).zip(a).zip(b) {
        *low = a & 15 | b << 4;
        *high = a >> 4 | b & 0xf0;
    }
}

/// Adds to each sum what the tables have for its indices.
#[inline(never)]
fn add_looked_up<E: Entry>(sums: &mut [E], indices: [&[u8]; GROUP], tables: &[[E; TABLE]; GROUP]) {
    let indices = indices.map(|indices| &indices[..sums.len()]);
    for (j, sum) in sums.iter_mut().enumerate() {
        for (indices, table) in indices.iter().zip(tables) {
            *sum = *sum ^ table[usize::from(indices[j])];
        }
    }
}

/// `table[a | b << 4]` becomes a times each coefficient in `x_a` plus b times each in `x_b`.
#[inline(never)]
fn fill_table<E: Entry>(table: &mut [E; TABLE], x_a: &[u8], x_b: &[u8]) {
    let mut bits = [E::default(); 8];
    for (bits, coefficients) in bits.as_chunks_mut::<4>().0.iter_mut().zip([x_a, x_b]) {
        let mut words = [0; 2];
        for (word, coefficients) in words.iter_mut().zip(coefficients.chunks(16)) {
            *word = coefficients.iter().rfold(0, |word, &c| word << 4 | u64::from(c));
        }
        let [low, high] = words.map(gf16::multiples);
        *bits = core::array::from_fn(|b| E::new([low[b], high[b]]));
    }
    table[0] = E::default();
    for (b, bit) in bits.into_iter().enumerate() {
        let (known, new) = table[..2 << b].split_at_mut(1 << b);
        for (new, known) in new.iter_mut().zip(known) {
            *new = *known ^ bit;
        }
    }
}

/// Adds to `rows` rows of `out` the first `width` bytes of the columns in `low` and `high` nibbles.
#[inline(never)]
fn add_columns<E: Entry>([low, high]: &[[E; SPAN]; 2], rows: usize, width: usize, out: &mut [u8], stride: usize) {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let (low, high) = (low.as_chunks::<8>().0, high.as_chunks::<8>().0);
    for ((column, low), high) in (0..width).step_by(8).zip(low).zip(high) {
        for first in (0..rows).step_by(16) {
            // Bytes of the rows of even and of odd number.
            let mut bytes = core::array::from_fn(|j| {
                let (low, high) = (low[j].word(first / 16), high[j].word(first / 16));
                [low & LOW | (high & LOW) << 4, low >> 4 & LOW | high & !LOW]
            });
            transpose_bytes(&mut bytes);
            for (r, bytes) in (first..rows).zip(bytes.as_flattened()) {
                let out = &mut out[r * stride + column..];
                match out.first_chunk_mut::<8>() {
                    Some(out) if column + 8 <= width => *out = (u64::from_le_bytes(*out) ^ bytes).to_le_bytes(),
                    _ => crate::packed::add(&mut out[..width - column], &bytes.to_le_bytes()[..width - column]),
                }
            }
        }
    }
}

/// In both lanes byte i of word j becomes byte j of word i; in memory, for else compilers take the lanes apart.
#[inline(never)]
fn transpose_bytes(words: &mut [[u64; 2]; 8]) {
    exchange::<4>(words, 0x0000_0000_ffff_ffff);
    exchange::<2>(words, 0x0000_ffff_0000_ffff);
    exchange::<1>(words, 0x00ff_00ff_00ff_00ff);
}

#[inline(always)]
fn exchange<const DISTANCE: usize>(words: &mut [[u64; 2]; 8], mask: u64) {
    for i in (0..8).filter(|i| i & DISTANCE == 0) {
        let (a, b) = (words[i], words[i + DISTANCE]);
        let swap: [u64; 2] = core::array::from_fn(|lane| (a[lane] >> (8 * DISTANCE) ^ b[lane]) & mask);
        words[i] = core::array::from_fn(|lane| a[lane] ^ swap[lane] << (8 * DISTANCE));
        words[i + DISTANCE] = core::array::from_fn(|lane| b[lane] ^ swap[lane]);
    }
}

/// An entry of a table: one nibble for each row of X.
trait Entry: Copy + Default + core::ops::BitXor<Output = Self> {
    /// From the nibbles of rows 0 to 15 and 16 to 31; those that have no place are zero.
    fn new(words: [u64; 2]) -> Self;
    /// The nibbles of 16 rows.
    fn word(self, index: usize) -> u64;
}

impl Entry for u32 {
    fn new([low, _]: [u64; 2]) -> Self {
        low as u32
    }

    #[inline(always)]
    fn word(self, _: usize) -> u64 {
        u64::from(self)
    }
}

impl Entry for u64 {
    fn new([low, _]: [u64; 2]) -> Self {
        low
    }

    #[inline(always)]
    fn word(self, _: usize) -> u64 {
        self
    }
}

/// Two words, aligned for vector instructions.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Pair([u64; 2]);

impl core::ops::BitXor for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl Entry for Pair {
    fn new(words: [u64; 2]) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn word(self, index: usize) -> u64 {
        self.0[index]
    }
}

/// Entries of a table: one for each byte.
const TABLE: usize = 256;
/// Columns handled together by tables, a multiple of 8.
const SPAN: usize = 1024;
/// Tables in use together.
const GROUP: usize = 6;

/// The product by bit slices, for secret operands.
///
/// Four planes hold bits 0 to 3 of the elements of a tile. Products of polynomials of degree 3 over GF(2) take nine
/// products of bits (Karatsuba, twice), of nine linear forms of the one factor and the same forms of the other. The
/// forms of the operand are made once for all rows of X, and the nine products are summed apart until all rows of the
/// operand are in: 18 operations multiply and add a slice, where [`gf16::mul_word`] takes 32.
fn by_slices(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut sums = [[Forms::ZERO; TILES]; MAX_ROWS];
    let mut forms = [[Forms::ZERO; SHARED]; TILES];
    let mut bytes = [[0; TILE]; TILES];
    for column in (0..rows.row_bytes()).step_by(TILES * TILE) {
        let width = (TILES * TILE).min(rows.row_bytes() - column);
        let tiles = width.div_ceil(TILE);
        for sums in &mut sums[..x.rows()] {
            sums[..tiles].fill(Forms::ZERO);
        }
        for first in (0..rows.count()).step_by(SHARED) {
            for g in 0..SHARED {
                let bytes = &mut bytes[..tiles];
                bytes.as_flattened_mut().fill(0);
                if first + g < rows.count() {
                    let start = (first + g) * rows.step();
                    let begin = start.clamp(column, column + width);
                    let part = &rows.row(first + g)[begin - start.min(begin)..][..column + width - begin];
                    bytes.as_flattened_mut()[begin - column..width].copy_from_slice(part);
                }
                for (bytes, forms) in bytes.iter().zip(&mut forms) {
                    forms[g].set(bytes);
                }
            }
            for (r, sums) in sums[..x.rows()].iter_mut().enumerate() {
                let masks = core::array::from_fn(|g| match first + g < rows.count() {
                    true => forms_of(ct::barrier(gf16::bit_masks(x.of_row(first + g)[r]))),
                    false => [0; 9],
                });
                add_products(&mut sums[..tiles], &forms, &masks);
            }
        }
        for (r, sums) in sums[..x.rows()].iter().enumerate() {
            let out = &mut out[r * stride + column..][..width];
            for ((out, sums), bytes) in out.chunks_mut(TILE).zip(sums).zip(&mut bytes) {
                sums.product(bytes);
                crate::packed::add(out, &bytes[..out.len()]);
            }
        }
    }
    crate::memory::wipe(sums.as_flattened_mut());
    crate::memory::wipe(forms.as_flattened_mut());
    crate::memory::wipe(bytes.as_flattened_mut());
}

/// Adds to the products in `sums` those of some rows of the operand with coefficients, whose forms the masks are.
#[inline(never)]
fn add_products(sums: &mut [Forms], forms: &[[Forms; SHARED]], masks: &[[u64; 9]; SHARED]) {
    for k in 0..9 {
        let masks: [u64; SHARED] = core::array::from_fn(|g| masks[g][k]);
        for (sums, forms) in sums.iter_mut().zip(forms) {
            let (sum, [a, b, c, d]) = (&mut sums.0[k], forms.each_ref().map(|forms| &forms.0[k]));
            for w in 0..PLANE {
                sum[w] ^= a[w] & masks[0] ^ b[w] & masks[1] ^ c[w] & masks[2] ^ d[w] & masks[3];
            }
        }
    }
}

/// Nine planes of a tile: linear forms of its elements, or sums of products of such.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Forms([[u64; PLANE]; 9]);

impl Default for Forms {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Forms {
    const ZERO: Self = Self([[0; PLANE]; 9]);

    /// The forms of the elements packed in `bytes`.
    #[inline(never)]
    fn set(&mut self, bytes: &[u8; TILE]) {
        let (words, _) = bytes.as_chunks();
        for w in 0..PLANE {
            let words = core::array::from_fn(|q| u64::from_le_bytes(words[PLANE * q + w]));
            for (plane, form) in self.0.iter_mut().zip(forms_of(transpose_bits(words))) {
                plane[w] = form;
            }
        }
    }

    /// The elements whose nine products these are, packed.
    #[inline(never)]
    fn product(&self, bytes: &mut [u8; TILE]) {
        let (words, _) = bytes.as_chunks_mut();
        for w in 0..PLANE {
            let [a, b, c, d, ab, cd, ac, bd, abcd] = self.0.map(|plane| plane[w]);
            // The seven coefficients of the product of polynomials, those of x^4, x^5, x^6 folded onto the low ones.
            let (e, f) = (a ^ b, ab ^ bd);
            let g = e ^ cd ^ ac;
            for (q, word) in transpose_bits([e ^ c ^ d ^ bd, a ^ cd ^ f, g, abcd ^ f ^ g ^ c]).into_iter().enumerate() {
                words[PLANE * q + w] = word.to_le_bytes();
            }
        }
    }
}

/// The nine linear forms of four coefficients.
#[inline(always)]
fn forms_of([a, b, c, d]: [u64; 4]) -> [u64; 9] {
    [a, b, c, d, a ^ b, c ^ d, a ^ c, b ^ d, a ^ b ^ c ^ d]
}

/// Bit i of each nibble of word j becomes bit j of that nibble of word i.
#[inline(always)]
fn transpose_bits(mut words: [u64; 4]) -> [u64; 4] {
    for (i, j, distance, mask) in [
        (0, 2, 2, 0x3333_3333_3333_3333),
        (1, 3, 2, 0x3333_3333_3333_3333),
        (0, 1, 1, 0x5555_5555_5555_5555),
        (2, 3, 1, 0x5555_5555_5555_5555),
    ] {
        let swap = (words[i] >> distance ^ words[j]) & mask;
        words[i] ^= swap << distance;
        words[j] ^= swap;
    }
    words
}

/// Words of a plane.
const PLANE: usize = 4;
/// Bytes of a tile, as many as four planes have.
const TILE: usize = 4 * 8 * PLANE;
/// Tiles handled together, by the same masks.
const TILES: usize = 8;
/// Rows of the operand that are added together.
const SHARED: usize = 4;

/// AES through RustCrypto, which finds AES-NI, VAES and the Arm extensions by itself.
///
/// Counter blocks are written and encrypted in place, a few KiB at a time so that both passes meet them in L1.
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    const CHUNK: usize = 4096;
    let cipher = aes::Aes128::new(&Array(*key));
    let (halves, _) = iv.as_chunks();
    let (high, low) = (halves[0], u64::from_be_bytes(halves[1]));
    let mut counter = u64::from(first);
    // By halves, of which the counter changes one: two stores a block.
    let mut count = |blocks: &mut [Array<u8, _>]| {
        for block in blocks {
            block.as_chunks_mut().0.copy_from_slice(&[high, (low ^ counter).to_be_bytes()]);
            counter += 1;
        }
    };
    for chunk in out.chunks_mut(CHUNK) {
        let (blocks, tail) = Array::slice_as_chunks_mut(chunk);
        count(blocks);
        cipher.encrypt_blocks(blocks);
        if !tail.is_empty() {
            let mut last = [Array::default()];
            count(&mut last);
            cipher.encrypt_blocks(&mut last);
            tail.copy_from_slice(&last[0][..tail.len()]);
        }
    }
}
