//! The left product with GFNI on registers of 32 bytes, for processors without AVX-512.
//!
//! The idea is that of `gfni512`, explained in docs/gfni.md. A step takes two rows of `right`, as
//! four gain nothing without a three-way XOR. Sixteen registers hold the accumulators of six pairs
//! of rows of `left`, so a tile is walked once for each six pairs, while it is in L1. Loads and
//! stores have no masks: the last tile of a row overlaps the one before, and an AND clears the
//! bytes left of the diagonal.
#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::backend::x86_64::gfni::{self, CHUNK};
use crate::backend::x86_64::masks::from_byte;
use crate::backend::x86_64::vector::{interleave, load_32, prefetch, write_or_add};
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand, Output, has_rows};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
///
/// Rows shorter than a register, which the scheme never has, go to the portable kernel.
#[target_feature(enable = "avx2,gfni")]
pub(in crate::backend::x86_64) fn left_product(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    gfni::in_chunks(left, right, out, |left, right, out| {
        if right.row_bytes() < TILE {
            portable::left_product::left_product(left, right, out);
        } else {
            product(left, right, out);
        }
    });
}

/// The product tile by tile, and for each tile group by group of pairs of rows of `left`.
#[inline(never)]
#[target_feature(enable = "avx2,gfni")]
fn product(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    let row_bytes = right.row_bytes();
    assert!(has_rows(out.bytes, left.rows(), out.stride, row_bytes), "length of a left product");
    let mut matrices: Scratch = [const { MaybeUninit::uninit() }; CHUNK / 2 * WORDS + WORDS];
    let pairs = left.rows().div_ceil(2);
    let matrices = build(left, pairs, &mut matrices);
    // One group if possible, else two of nearly the same size.
    let first = if pairs > MAX_PAIRS { pairs.div_ceil(2) } else { pairs };
    let mut done = 0;
    while done < row_bytes {
        // The last tile ends with the row, and skips the bytes that the tile before has added.
        let column = done.min(row_bytes - TILE);
        let tile = Tile { right, column, skip: done - column, row_words: pairs };
        for (begin, end) in [(0, first), (first, pairs)].into_iter().filter(|(begin, end)| begin < end) {
            let matrices = &matrices[begin..];
            let left_rows = left.rows().min(2 * end) - 2 * begin;
            let out = out.from_column(2 * begin * out.stride + column);
            match end - begin {
                1 => tile.write_product::<1>(matrices, left_rows, out),
                2 => tile.write_product::<2>(matrices, left_rows, out),
                3 => tile.write_product::<3>(matrices, left_rows, out),
                4 => tile.write_product::<4>(matrices, left_rows, out),
                5 => tile.write_product::<5>(matrices, left_rows, out),
                _ => tile.write_product::<MAX_PAIRS>(matrices, left_rows, out),
            }
        }
        done = column + TILE;
    }
    wipe(matrices);
}

/// One tile of `right`: 32 bytes of every row.
struct Tile<'a> {
    right: Operand<'a>,
    /// The byte of row 0 below which the tile begins.
    column: usize,
    /// The number of its first bytes that were in the tile before.
    skip: usize,
    /// Words of matrices from two rows of `right` to the next two: the pairs of rows of `left`.
    row_words: usize,
}

impl Tile<'_> {
    /// Writes or adds the product for `PAIRS` pairs of rows of `left` to `left_rows` rows of `out`.
    /// The last pair may lack its second row.
    ///
    /// **Bound.** A pair of rows of `left` and two rows of `right` take a broadcast load, two
    /// affine products and two XORs: 256 multiply-accumulates. Six instructions interleave the two
    /// rows of `right`.
    ///
    /// **Wanted.** The loop has `vgf2p8affineqb ymm`, `vpxor ymm` and no accumulator in memory. Two
    /// operands, a matrix, a product and 2 `PAIRS` accumulators make 16 registers at `PAIRS` = 6.
    #[inline(never)]
    #[target_feature(enable = "avx2,gfni")]
    fn write_product<const PAIRS: usize>(&self, matrices: &[u64], left_rows: usize, out: Output<'_>) {
        let Self { right, column, row_words, .. } = *self;
        let step = right.step();
        let begun = |column: usize| column.checked_div(step).map_or(right.count(), |row| right.count().min(row + 1));
        // Rows that begin at or left of the tile, and those that begin left of its end.
        let whole = begun(column);
        let reached = begun(column + TILE - 1);
        assert!(
            column + TILE <= right.row_bytes()
                && matrices.len() >= (reached.div_ceil(2) - 1) * row_words + PAIRS
                && has_rows(out.bytes, left_rows, out.stride, TILE),
            "shape of a tile"
        );
        let mut sums = [[_mm256_setzero_si256(); 2]; PAIRS];
        let mut add = |matrices: *const u64, a: __m256i, b: __m256i| {
            let [even, odd] = interleave(a, b);
            for p in 0..PAIRS {
                // SAFETY: every call is for two rows of `right` of which at least one is reached,
                // and for these there are `PAIRS` matrices, as asserted above.
                let matrix = _mm256_set1_epi64x(unsafe { *matrices.wrapping_add(p) } as i64);
                sums[p][0] = _mm256_xor_si256(sums[p][0], _mm256_gf2p8affine_epi64_epi8::<0>(even, matrix));
                sums[p][1] = _mm256_xor_si256(sums[p][1], _mm256_gf2p8affine_epi64_epi8::<0>(odd, matrix));
            }
        };
        let mut matrix = matrices.as_ptr();
        let mut row = right.bytes().as_ptr().wrapping_add(column);
        let mut advance = right.row_bytes();
        for _ in 0..whole / 2 {
            let second = row.wrapping_add(advance.wrapping_sub(step));
            advance = advance.wrapping_sub(2 * step);
            // SAFETY: the tile begins and ends within whole rows.
            let [a, b] = unsafe { [row, second].map(|at| _mm256_loadu_si256(at.cast())) };
            for at in [row, second] {
                prefetch(at.wrapping_add(2 * TILE));
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
                let at = (right.offset(i) + column).wrapping_sub(i * step);
                // SAFETY: the tile ends within the row. A row that the diagonal cuts is not the
                // first, and begins less than a tile right of `column`. So the bytes before it
                // belong to the row above.
                let tile = unsafe { _mm256_loadu_si256(right.bytes().as_ptr().wrapping_add(at).cast()) };
                _mm256_and_si256(tile, from_byte(gap))
            });
            add(matrix, a, b);
            matrix = matrix.wrapping_add(row_words);
        }
        let keep = from_byte(self.skip);
        let mut write = |j: usize, sum: __m256i| {
            if j < left_rows {
                // SAFETY: `out` has a tile in each of the `left_rows` rows, as asserted above.
                unsafe {
                    write_or_add(out.bytes.as_mut_ptr().add(j * out.stride).cast(), sum, out.adds.then_some(keep))
                };
            }
        };
        for (p, &[even, odd]) in sums.iter().enumerate() {
            let [first, second] = interleave(even, odd);
            write(2 * p, first);
            write(2 * p + 1, second);
        }
    }
}

/// Writes and returns the matrices of all pairs of rows of `left`, `row_words` words for two rows
/// of `right`.
///
/// Each of the [`ROW_MAPS`](gfni::ROW_MAPS) has a quarter of a register and is applied to the bytes
/// `left[j][i] | left[j][i + 1] << 4` of eight rows of `left`. Let t(l, j) be the result of map l
/// for row j. The halves of the register hold
///
/// ```text
/// t(0,0) .. t(0,7) t(1,0) .. t(1,7)        t(2,0) .. t(2,7) t(3,0) .. t(3,7)
/// ```
///
/// A byte shuffle brings them to the order `t(1,1) t(0,1) t(1,0) t(0,0) t(1,3) ..` and
/// `t(3,1) t(2,1) t(3,0) ..`. Interleaving the 16-bit words of the two halves makes the bytes of
/// the matrices, lowest first: `t(3,1) t(2,1) t(1,1) t(0,1) t(3,0) t(2,0) t(1,0) t(0,0)`.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn build<'m>(left: Coefficients<'_>, row_words: usize, matrices: &'m mut Scratch) -> &'m mut [u64] {
    let maps = gfni::ROW_MAPS.map(|map| map as i64);
    let maps = _mm256_setr_epi64x(maps[0], maps[1], maps[2], maps[3]);
    let order = _mm256_broadcastsi128_si256(_mm_setr_epi8(9, 1, 8, 0, 11, 3, 10, 2, 13, 5, 12, 4, 15, 7, 14, 6));
    let unused = from_byte(left.rows());
    let elements = left.elements();
    let columns = left.columns();
    let stride = elements.len() / columns.max(1);
    // From `cut` on, 32 bytes would reach beyond `left`: they are read from a copy with zeros
    // behind it.
    let cut = elements.len().saturating_sub(31);
    let mut tail = [0; 64];
    tail[..elements.len() - cut].copy_from_slice(&elements[cut..]);
    // The elements of column `i`, and zeros behind the last column.
    let column = |i: usize| {
        let begin = i * stride;
        let from = match i < columns {
            true if begin < cut => &elements[begin..],
            true => &tail[begin - cut..],
            false => &[0; 32],
        };
        _mm256_andnot_si256(unused, load_32(from.first_chunk().expect("a column of `left` or of its copy")))
    };
    for i in 0..columns.div_ceil(2) {
        let both = _mm256_or_si256(column(2 * i), _mm256_slli_epi16::<4>(column(2 * i + 1)));
        let eights = [
            _mm256_permute4x64_epi64::<0b00_00_00_00>(both),
            _mm256_permute4x64_epi64::<0b01_01_01_01>(both),
            _mm256_permute4x64_epi64::<0b10_10_10_10>(both),
        ];
        let to: &mut [MaybeUninit<u64>; WORDS] =
            matrices[i * row_words..].first_chunk_mut().expect("room for the most rows of `left`");
        for (v, eight) in eights.into_iter().enumerate() {
            if 4 * v < row_words {
                let mapped = _mm256_shuffle_epi8(_mm256_gf2p8affine_epi64_epi8::<0>(eight, maps), order);
                let low = _mm256_castsi256_si128(mapped);
                let high = _mm256_extracti128_si256::<1>(mapped);
                // SAFETY: `to` has twelve words, and these are words 4 v to 4 v + 3 with v at most
                // 2.
                unsafe {
                    let to = to.as_mut_ptr().add(4 * v).cast::<__m128i>();
                    _mm_storeu_si128(to, _mm_unpacklo_epi16(high, low));
                    _mm_storeu_si128(to.add(1), _mm_unpackhi_epi16(high, low));
                }
            }
        }
    }
    wipe(&mut tail);
    let used = columns.div_ceil(2) * row_words;
    assert!(used <= matrices.len(), "rows of a chunk");
    // SAFETY: at least `row_words` words were written for each two rows of `right`, so the first
    // `used` are initialized.
    unsafe { core::slice::from_raw_parts_mut(matrices.as_mut_ptr().cast(), used) }
}

/// Bytes of a register.
const TILE: usize = 32;

/// The most pairs of rows of `left` whose accumulators fit the sixteen registers.
const MAX_PAIRS: usize = 6;
const _: () = assert!(MAX_ROWS <= 2 * (2 * MAX_PAIRS), "two groups have room for all rows");

/// Words for two rows of `right` and the most rows of `left`.
const WORDS: usize = MAX_ROWS / 2;

/// Room for the matrices of [`CHUNK`] rows of `right`, and for the words that [`build`] writes
/// beyond.
type Scratch = [MaybeUninit<u64>; CHUNK / 2 * WORDS + WORDS];
