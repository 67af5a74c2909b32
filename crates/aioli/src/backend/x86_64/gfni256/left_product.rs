//! The left product with GFNI on registers of 32 bytes, for processors without AVX-512.
//!
//! The same products as in [`gfni512`](super::gfni512), two rows of R at a step (without a three-way XOR nothing is won
//! by four). Sixteen registers hold the accumulators of six pairs of rows of X, so that a tile is walked once for each
//! six pairs, while it is in L1. There are no masks: the last tile of a row overlaps the one before, and bytes left of
//! the diagonal are cleared by an AND.
#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::backend::x86_64::gfni::{self, CHUNK};
use crate::packed::{Coefficients, Operand, has_rows};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The left product, see the [module](self). Rows shorter than a register, which the scheme has none of, go to the
/// portable kernel.
#[target_feature(enable = "avx2,gfni")]
pub(in crate::backend::x86_64) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    gfni::in_chunks(x, rows, out, |x, rows, out| match x.rows().min(rows.count()) {
        0 => {}
        _ if rows.row_bytes() < TILE => portable::left_product::left_product(x, rows, out, stride),
        _ => product(x, rows, out, stride),
    });
}

/// The product tile by tile, and each tile for one group of pairs of rows of X after the other.
#[inline(never)]
#[target_feature(enable = "avx2,gfni")]
fn product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    let row_bytes = rows.row_bytes();
    assert!(has_rows(out, x.rows(), stride, row_bytes), "length of a left product");
    let mut matrices: Scratch = [const { MaybeUninit::uninit() }; CHUNK / 2 * WORDS + WORDS];
    let pairs = x.rows().div_ceil(2);
    let matrices = build(x, pairs, &mut matrices);
    // As few groups as can be, of nearly the same size.
    let first = if pairs > MAX_PAIRS { pairs.div_ceil(2) } else { pairs };
    let mut done = 0;
    while done < row_bytes {
        // The last tile ends with the row; what the one before has added to is left alone.
        let column = done.min(row_bytes - TILE);
        let tile = Tile { rows, column, skip: done - column, row_words: pairs };
        for (begin, end) in [(0, first), (first, pairs)].into_iter().filter(|(begin, end)| begin < end) {
            let (matrices, x_rows) = (&matrices[begin..], x.rows().min(2 * end) - 2 * begin);
            let out = &mut out[2 * begin * stride + column..];
            match end - begin {
                1 => tile.add_product::<1>(matrices, x_rows, out, stride),
                2 => tile.add_product::<2>(matrices, x_rows, out, stride),
                3 => tile.add_product::<3>(matrices, x_rows, out, stride),
                4 => tile.add_product::<4>(matrices, x_rows, out, stride),
                5 => tile.add_product::<5>(matrices, x_rows, out, stride),
                _ => tile.add_product::<MAX_PAIRS>(matrices, x_rows, out, stride),
            }
        }
        done = column + TILE;
    }
    crate::memory::wipe(matrices);
}

/// One tile of R: 32 bytes of every row.
struct Tile<'a> {
    rows: Operand<'a>,
    /// The byte of row 0 that the tile begins with.
    column: usize,
    /// How many of its bytes were in the tile before.
    skip: usize,
    /// Matrices for two rows of R.
    row_words: usize,
}

impl Tile<'_> {
    /// Adds the product for `PAIRS` pairs of rows of X, the last one perhaps without its second, to `x_rows` rows of
    /// `out`, `stride` bytes apart.
    ///
    /// Bound: a broadcast load, two affine products and two XORs for a pair of rows of X and two rows of R, which is 256
    /// multiply-accumulates; six instructions for two rows of R to interleave them.
    ///
    /// Wanted: `vgf2p8affineqb ymm` and `vpxor ymm`, no accumulator in memory: 2 `PAIRS` accumulators, two operands, a
    /// matrix and a product make 16 registers at `PAIRS` = 6.
    #[inline(never)]
    #[target_feature(enable = "avx2,gfni")]
    fn add_product<const PAIRS: usize>(&self, matrices: &[u64], x_rows: usize, out: &mut [u8], stride: usize) {
        let (rows, column, step, row_words) = (self.rows, self.column, self.rows.step(), self.row_words);
        let begun = |column: usize| column.checked_div(step).map_or(rows.count(), |row| rows.count().min(row + 1));
        let (whole, reached) = (begun(column), begun(column + TILE - 1));
        assert!(
            column + TILE <= rows.row_bytes()
                && matrices.len() >= (reached.div_ceil(2) - 1) * row_words + PAIRS
                && has_rows(out, x_rows, stride, TILE),
            "shape of a tile"
        );
        let mut sums = [[_mm256_setzero_si256(); 2]; PAIRS];
        let mut add = |matrices: *const u64, a: __m256i, b: __m256i| {
            let [even, odd] = interleave(a, b);
            for j in 0..PAIRS {
                // SAFETY: all calls are for two rows of R of which the tile reaches one, so the length asserted above.
                let matrix = _mm256_set1_epi64x(unsafe { *matrices.wrapping_add(j) } as i64);
                sums[j][0] = _mm256_xor_si256(sums[j][0], _mm256_gf2p8affine_epi64_epi8::<0>(even, matrix));
                sums[j][1] = _mm256_xor_si256(sums[j][1], _mm256_gf2p8affine_epi64_epi8::<0>(odd, matrix));
            }
        };
        let mut matrix = matrices.as_ptr();
        let mut row = rows.bytes().as_ptr().wrapping_add(column);
        let mut advance = rows.row_bytes();
        for _ in 0..whole / 2 {
            let second = row.wrapping_add(advance.wrapping_sub(step));
            advance = advance.wrapping_sub(2 * step);
            // SAFETY: the tile begins and ends within whole rows.
            let [a, b] = unsafe { [row, second].map(|at| _mm256_loadu_si256(at.cast())) };
            for at in [row, second] {
                _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(2 * TILE).cast());
            }
            add(matrix, a, b);
            row = second.wrapping_add(advance);
            matrix = matrix.wrapping_add(row_words);
        }
        for i in (whole & !1..reached).step_by(2) {
            let [a, b] = [i, i + 1].map(|i| {
                if i >= reached {
                    return _mm256_setzero_si256();
                }
                let gap = if i < whole { 0 } else { i * step - column };
                let at = (rows.offset(i) + column).wrapping_sub(i * step);
                // SAFETY: the tile ends within the row. A row that the diagonal cuts is not the first, and begins less
                // than a tile right of `column`: what is read before it belongs to the row above.
                let tile = unsafe { _mm256_loadu_si256(rows.bytes().as_ptr().wrapping_add(at).cast()) };
                _mm256_and_si256(tile, from_byte(gap))
            });
            add(matrix, a, b);
            matrix = matrix.wrapping_add(row_words);
        }
        let keep = from_byte(self.skip);
        let mut add = |r: usize, sum: __m256i| {
            if r < x_rows {
                // SAFETY: the length of `out` asserted above, for r < x_rows.
                unsafe {
                    let at = out.as_mut_ptr().add(r * stride).cast();
                    _mm256_storeu_si256(at, _mm256_xor_si256(_mm256_loadu_si256(at), _mm256_and_si256(sum, keep)));
                }
            }
        };
        for (j, &[even, odd]) in sums.iter().enumerate() {
            let [first, second] = interleave(even, odd);
            add(2 * j, first);
            add(2 * j + 1, second);
        }
    }
}

/// Writes the matrices of all pairs of rows of X, `row_words` words for two rows of R.
///
/// Each of the [`ROW_MAPS`](gfni::ROW_MAPS) is applied to the bytes `X[r][i] | X[r][i + 1] << 4` of eight rows of X in a
/// quarter of a register. With t(k, r) for the result of map k, the halves of the register hold
///
/// ```text
/// t(0,0) .. t(0,7) t(1,0) .. t(1,7)        t(2,0) .. t(2,7) t(3,0) .. t(3,7)
/// ```
///
/// A byte shuffle brings them to the order `t(1,1) t(0,1) t(1,0) t(0,0) t(1,3) ..` and `t(3,1) t(2,1) t(3,0) ..`, and
/// interleaving the 16-bit words of the two halves makes the bytes of the matrices, lowest first:
/// `t(3,1) t(2,1) t(1,1) t(0,1) t(3,0) t(2,0) t(1,0) t(0,0)`.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn build<'m>(x: Coefficients<'_>, row_words: usize, matrices: &'m mut Scratch) -> &'m mut [u64] {
    let maps = gfni::ROW_MAPS.map(|map| map as i64);
    let maps = _mm256_setr_epi64x(maps[0], maps[1], maps[2], maps[3]);
    let order = _mm256_broadcastsi128_si256(_mm_setr_epi8(9, 1, 8, 0, 11, 3, 10, 2, 13, 5, 12, 4, 15, 7, 14, 6));
    // Bytes from x.rows() on are cleared.
    let unused = from_byte(x.rows());
    let (elements, columns) = (x.elements(), x.columns());
    let stride = elements.len() / columns.max(1);
    // From `cut` on, 32 bytes would reach beyond X: they are read from a copy with zeros behind it.
    let cut = elements.len().saturating_sub(31);
    let mut tail = [0; 64];
    tail[..elements.len() - cut].copy_from_slice(&elements[cut..]);
    for i in 0..columns.div_ceil(2) {
        let mut column = [_mm256_setzero_si256(); 2];
        for (i, column) in (2 * i..columns).zip(&mut column) {
            let begin = i * stride;
            let from = if begin < cut { &elements[begin..] } else { &tail[begin - cut..] };
            let bytes: &[u8; 32] = from.first_chunk().expect("a column of X or of its copy");
            // SAFETY: 32 bytes.
            *column = _mm256_andnot_si256(unused, unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) });
        }
        let both = _mm256_or_si256(column[0], _mm256_slli_epi16::<4>(column[1]));
        let eights = [
            _mm256_permute4x64_epi64::<0b00_00_00_00>(both),
            _mm256_permute4x64_epi64::<0b01_01_01_01>(both),
            _mm256_permute4x64_epi64::<0b10_10_10_10>(both),
        ];
        let to: &mut [MaybeUninit<u64>; WORDS] =
            matrices[i * row_words..].first_chunk_mut().expect("room for the largest X");
        for (v, eight) in eights.into_iter().enumerate() {
            if 4 * v < row_words {
                let mapped = _mm256_shuffle_epi8(_mm256_gf2p8affine_epi64_epi8::<0>(eight, maps), order);
                let (low, high) = (_mm256_castsi256_si128(mapped), _mm256_extracti128_si256::<1>(mapped));
                // SAFETY: `to` has twelve words, of which these are four.
                unsafe {
                    let to = to.as_mut_ptr().add(4 * v).cast::<__m128i>();
                    _mm_storeu_si128(to, _mm_unpacklo_epi16(high, low));
                    _mm_storeu_si128(to.add(1), _mm_unpackhi_epi16(high, low));
                }
            }
        }
    }
    crate::memory::wipe(&mut tail);
    let used = columns.div_ceil(2) * row_words;
    assert!(used <= matrices.len(), "rows of a chunk");
    // SAFETY: each two rows of R have written `row_words` words at least, so the first `used` words are initialized.
    unsafe { core::slice::from_raw_parts_mut(matrices.as_mut_ptr().cast(), used) }
}

/// The low nibbles of `a`, each below that of `b`, and the high nibbles likewise.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let swap = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi16::<4>(a), b), _mm256_set1_epi8(0x0f));
    [_mm256_xor_si256(a, _mm256_slli_epi16::<4>(swap)), _mm256_xor_si256(b, swap)]
}

/// Ones in the bytes from `begin` on.
#[inline]
#[target_feature(enable = "avx2")]
fn from_byte(begin: usize) -> __m256i {
    const WINDOW: [[u8; 32]; 2] = [[0; 32], [0xff; 32]];
    let window = &WINDOW.as_flattened()[32 - begin..][..32];
    // SAFETY: 32 bytes.
    unsafe { _mm256_loadu_si256(window.as_ptr().cast()) }
}

/// Bytes of a register.
const TILE: usize = 32;

/// Pairs of rows of X whose accumulators fit the sixteen registers.
const MAX_PAIRS: usize = 6;

/// Words for two rows of R and the largest X.
const WORDS: usize = MAX_ROWS / 2;

/// Room for the matrices of [`CHUNK`] rows of R, and for what [`build`] writes beyond.
type Scratch = [MaybeUninit<u64>; CHUNK / 2 * WORDS + WORDS];
