//! The left product with GFNI on registers of 32 bytes, for processors without AVX-512.
//!
//! The same products as in [`gfni512`](super::gfni512), two rows of R at a step (without a three-way XOR nothing is won
//! by four). Sixteen registers hold the accumulators of six pairs of rows of X, so that a tile is walked once for each
//! six pairs, while it is in L1. There are no masks: the last tile of a row overlaps the one before, and bytes left of
//! the diagonal are cleared by an AND.
#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use super::gfni::{self, CHUNK};
use crate::backend::{MAX_ROWS, portable};
use crate::packed::{Coefficients, Rows};
use core::arch::x86_64::*;

/// The left product, see the [module](self). Rows shorter than a register, which the scheme has none of, go to the
/// portable kernel.
#[target_feature(enable = "avx2,gfni")]
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let pairs = x.rows().div_ceil(2);
    gfni::in_chunks(x, rows, out, |x, rows, out| match pairs.div_ceil(pairs.div_ceil(MAX_PAIRS).max(1)) {
        0 => {}
        _ if rows.row_bytes() < TILE => portable::left_product(x, rows, out, stride),
        1 => product::<1>(x, rows, out, stride),
        2 => product::<2>(x, rows, out, stride),
        3 => product::<3>(x, rows, out, stride),
        4 => product::<4>(x, rows, out, stride),
        5 => product::<5>(x, rows, out, stride),
        _ => product::<MAX_PAIRS>(x, rows, out, stride),
    });
}

/// The product in groups of `PAIRS` pairs of rows of X: tile by tile, and each tile group by group.
#[inline(never)]
#[target_feature(enable = "avx2,gfni")]
fn product<const PAIRS: usize>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let row_bytes = rows.row_bytes();
    assert!(row_bytes >= TILE && out.len() >= (x.rows() - 1) * stride + row_bytes, "length of a left product");
    let groups = x.rows().div_ceil(2 * PAIRS);
    let mut matrices = [0; CHUNK / 2 * MAX_PAIRS * 2 + WORDS];
    let row_words = groups * PAIRS;
    build(x, row_words, &mut matrices);
    let mut done = 0;
    while done < row_bytes {
        // The last tile ends with the row; what the one before has added to is left alone.
        let column = done.min(row_bytes - TILE);
        for group in 0..groups {
            let x_rows = (x.rows() - 2 * PAIRS * group).min(2 * PAIRS);
            let matrices = &matrices[group * PAIRS..];
            let out = &mut out[2 * PAIRS * group * stride + column..][..(x_rows - 1) * stride + TILE];
            tile::<PAIRS>(matrices, row_words, rows, column, done - column, x_rows, out, stride);
        }
        done = column + TILE;
    }
    crate::memory::wipe(&mut matrices[..rows.count().div_ceil(2) * row_words]);
}

/// One tile of the product, the 32 bytes from `column` on, for up to `PAIRS` pairs of rows of X.
///
/// Bound: a broadcast load, two affine products and two XORs for a pair of rows of X and two rows of R, which is 256
/// multiply-accumulates; four instructions for two rows of R to interleave them.
///
/// Wanted: `vgf2p8affineqb ymm` and `vpxor ymm`, no accumulator in memory: 2 `PAIRS` accumulators, two operands, a matrix
/// and a product make 16 registers at `PAIRS` = 6.
#[inline]
#[target_feature(enable = "avx2,gfni")]
#[expect(
    clippy::too_many_arguments,
    reason = "the loop nest of one kernel, cut where the number of rows is a constant"
)]
fn tile<const PAIRS: usize>(
    matrices: &[u64],
    row_words: usize,
    rows: Rows<'_>,
    column: usize,
    skip: usize,
    x_rows: usize,
    out: &mut [u8],
    stride: usize,
) {
    let low = _mm256_set1_epi8(0x0f);
    let step = rows.step();
    let begun = |column: usize| column.checked_div(step).map_or(rows.count(), |row| rows.count().min(row + 1));
    let (whole, reached) = (begun(column), begun(column + TILE - 1));
    assert!(matrices.len() >= reached.div_ceil(2) * row_words + PAIRS && PAIRS <= row_words, "matrices of a tile");
    let mut sums = [[_mm256_setzero_si256(); 2]; PAIRS];
    let mut row = rows.bytes().as_ptr().wrapping_add(column);
    let mut advance = rows.row_bytes();
    for i in (0..reached).step_by(2) {
        let mut at = [row; 2];
        for at in &mut at {
            advance = advance.wrapping_sub(step);
            *at = row;
            row = row.wrapping_add(advance);
        }
        // SAFETY: the tile ends within the row. It begins within it in a whole row. A row that the diagonal cuts is not
        // the first, and begins less than a tile right of `column`: what is read before it belongs to the row above,
        // row 0 being no shorter than a tile. A row that does not reach the tile, or is none, is not read.
        let [a, b] = unsafe {
            if i + 2 <= whole {
                at.map(|at| {
                    _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(2 * TILE).cast());
                    _mm256_loadu_si256(at.cast())
                })
            } else {
                let second = if i + 1 < reached { (at[1], i + 1) } else { (at[0], usize::MAX) };
                [(at[0], i), second].map(|(at, i)| {
                    let gap =
                        if i < whole { 0 } else { i.saturating_mul(step.max(1)).saturating_sub(column).min(TILE) };
                    _mm256_and_si256(_mm256_loadu_si256(at.cast()), from_byte(gap))
                })
            }
        };
        let operands = [select(low, a, _mm256_slli_epi16::<4>(b)), select(low, _mm256_srli_epi16::<4>(a), b)];
        for j in 0..PAIRS {
            // SAFETY: below the length asserted above, as i / 2 < reached.div_ceil(2) and j < PAIRS.
            let matrix = unsafe { *matrices.get_unchecked(i / 2 * row_words + j) };
            let matrix = _mm256_set1_epi64x(matrix as i64);
            for half in 0..2 {
                let product = _mm256_gf2p8affine_epi64_epi8::<0>(operands[half], matrix);
                sums[j][half] = _mm256_xor_si256(sums[j][half], product);
            }
        }
    }
    let keep = from_byte(skip);
    assert!(out.len() >= (x_rows - 1) * stride + TILE && x_rows <= 2 * PAIRS, "length of a left product");
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
        add(2 * j, select(low, even, _mm256_slli_epi16::<4>(odd)));
        add(2 * j + 1, select(low, _mm256_srli_epi16::<4>(even), odd));
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
fn build(x: Coefficients<'_>, row_words: usize, matrices: &mut [u64]) {
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
        let to: &mut [u64; WORDS] = matrices[i * row_words..].first_chunk_mut().expect("room for the largest X");
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
}

/// The bits of `a` where `mask` is set and those of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx2")]
fn select(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, a), _mm256_andnot_si256(mask, b))
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
