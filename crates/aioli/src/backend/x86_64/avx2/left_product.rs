//! The left product on AVX2: products of two rows of X at a time, looked up in registers.
//!
//! **Idea.** `vpshufb` looks up 32 nibbles in a table of 16 bytes, and a byte has room for two products: with the table
//! whose entry e is `a e` in the low and `b e` in the high nibble, one instruction multiplies 32 elements of the operand
//! by the coefficients of two rows of X. A tile of 32 bytes is split once into its low and its high nibbles, so two
//! accumulators serve a pair of rows; only at the end of the tile are they sorted into the two rows of the product:
//!
//! ```text
//! operand       h3 l3 h2 l2 h1 l1 h0 l0     two elements a byte
//! low nibbles    . l3  . l2  . l1  . l0  -> table(a, b) -> bl al bl al bl al bl al   low accumulator
//! high nibbles   . h3  . h2  . h1  . h0  -> table(a, b) -> bh ah bh ah bh ah bh ah   high accumulator
//! row of a      ah al of each byte          row of b      bh bl of each byte
//! ```
//!
//! X is secret, so no table is fetched by a coefficient. All of them are computed first: a table is linear in the four
//! multiples 1, x, x^2, x^3 times the coefficient pair, and a shuffle by a constant spreads those four bytes.
//!
//! **Bound.** Two shuffles and two XORs for 128 multiply-accumulates: 128 a cycle where two shuffles and four vector
//! instructions start in one (Zen 3 to 5), 96 where three do (Ice Lake and later). The tables cost about two cycles
//! for each pair of coefficients.
//!
//! **Wanted.** In the loop `vbroadcasti128` from memory, `vpshufb`, `vpxor` and nothing else; no accumulator in memory.
//!
//! **Quirks.** The last tile overlaps the one before it and its accumulators are masked, so no byte beyond a row is
//! touched; so are the loads that the diagonal cuts, which begin in the row above it.

use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    let row_bytes = rows.row_bytes();
    if row_bytes < TILE || x.rows() == 0 {
        return portable::left_product::left_product(x, rows, out, stride);
    }
    let pairs = x.rows().div_ceil(2);
    // Few accumulators leave room for two registers of the operand, which share the tables.
    let width = if pairs <= 2 && row_bytes >= 2 * TILE { 2 * TILE } else { TILE };
    let mut scratch = [const { MaybeUninit::uninit() }; BLOCK * MAX_PAIRS];
    for first in (0..rows.count()).step_by(BLOCK) {
        let count = BLOCK.min(rows.count() - first);
        let tables = build_tables(x, first, count, &mut scratch);
        // Nothing of the block lies to the left of its first row.
        let mut column = first * rows.step() / width * width;
        while column < row_bytes {
            let tile = Tile { rows, first, column: column.min(row_bytes - width), new_from: column };
            for (group, pairs) in groups(pairs) {
                let (tables, out) = (&tables[group * count..][..pairs * count], &mut out[2 * group * stride..]);
                let x_rows = (x.rows() - 2 * group).min(2 * pairs);
                match pairs {
                    1 if width > TILE => tile.add_product::<1, 2>(tables, x_rows, out, stride),
                    1 => tile.add_product::<1, 1>(tables, x_rows, out, stride),
                    2 if width > TILE => tile.add_product::<2, 2>(tables, x_rows, out, stride),
                    2 => tile.add_product::<2, 1>(tables, x_rows, out, stride),
                    3 => tile.add_product::<3, 1>(tables, x_rows, out, stride),
                    4 => tile.add_product::<4, 1>(tables, x_rows, out, stride),
                    5 => tile.add_product::<5, 1>(tables, x_rows, out, stride),
                    _ => tile.add_product::<GROUP, 1>(tables, x_rows, out, stride),
                }
            }
            column += width;
        }
        tables.fill(_mm_setzero_si128());
        zeroize::optimization_barrier(tables);
    }
}

/// A column of the operand, one or two registers wide, in the rows of a block.
struct Tile<'a> {
    rows: Operand<'a>,
    /// The first row of the block.
    first: usize,
    /// The byte of row 0 that the tile begins below.
    column: usize,
    /// Bytes before this one were in the tile before.
    new_from: usize,
}

impl Tile<'_> {
    /// Adds the product of a group of `PAIRS` pairs of rows of X, the last one perhaps without its second, to a column
    /// of `W` registers.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn add_product<const PAIRS: usize, const W: usize>(
        &self,
        tables: &[Table],
        x_rows: usize,
        out: &mut [u8],
        stride: usize,
    ) {
        let (rows, step, row_bytes) = (self.rows, self.rows.step(), self.rows.row_bytes());
        let nibbles = _mm256_set1_epi8(15);
        let mut low = [[_mm256_setzero_si256(); W]; PAIRS];
        let mut high = low;
        let mut add_row = |tables: &[Table; PAIRS], tile: [__m256i; W]| {
            let tile_low = tile.map(|tile| _mm256_and_si256(tile, nibbles));
            let tile_high = tile.map(|tile| _mm256_and_si256(_mm256_srli_epi16::<4>(tile), nibbles));
            for p in 0..PAIRS {
                let table = _mm256_broadcastsi128_si256(tables[p]);
                for w in 0..W {
                    low[p][w] = _mm256_xor_si256(low[p][w], _mm256_shuffle_epi8(table, tile_low[w]));
                    high[p][w] = _mm256_xor_si256(high[p][w], _mm256_shuffle_epi8(table, tile_high[w]));
                }
            }
        };
        let tables = tables.as_chunks::<PAIRS>().0;
        assert!(self.column + W * TILE <= row_bytes && self.first + tables.len() <= rows.count(), "shape of a tile");
        // Rows that begin at or left of the tile, rows that begin within it.
        let begun = self.column.checked_div(step).map_or(rows.count(), |row| row + 1).saturating_sub(self.first);
        let (whole, cut) = tables.split_at(begun.min(tables.len()));
        let mut at =
            rows.bytes().as_ptr().wrapping_add((rows.offset(self.first) + self.column).wrapping_sub(self.first * step));
        let mut advance = row_bytes - self.first * step;
        for tables in whole {
            // SAFETY: the tile lies within this row.
            let tile = core::array::from_fn(|w| unsafe { _mm256_loadu_si256(at.wrapping_add(w * TILE).cast()) });
            add_row(tables, tile);
            // After the last row it is not used, and may be below zero.
            advance = advance.wrapping_sub(step);
            at = at.wrapping_add(advance);
        }
        for (i, tables) in (self.first + whole.len()..).zip(cut) {
            let gap = i * step - self.column;
            if gap >= W * TILE {
                break;
            }
            // What is read left of the row belongs to the row above.
            let at = rows.offset(i) - gap;
            let tile = core::array::from_fn(|w| {
                let begun = from(gap.saturating_sub(w * TILE).min(TILE));
                _mm256_and_si256(load(rows.bytes(), at + w * TILE), begun)
            });
            add_row(tables, tile);
        }
        for w in 0..W {
            let column = self.column + w * TILE;
            let new = from(self.new_from.saturating_sub(column).min(TILE));
            for p in 0..PAIRS {
                let (low, high) = (low[p][w], high[p][w]);
                let low_of_high = _mm256_slli_epi16::<4>(_mm256_and_si256(high, nibbles));
                let first = _mm256_or_si256(_mm256_and_si256(low, nibbles), low_of_high);
                let high_of_low = _mm256_and_si256(_mm256_srli_epi16::<4>(low), nibbles);
                let second = _mm256_or_si256(_mm256_andnot_si256(nibbles, high), high_of_low);
                add(&mut out[2 * p * stride + column..], _mm256_and_si256(first, new));
                if 2 * p + 1 < x_rows {
                    add(&mut out[(2 * p + 1) * stride + column..], _mm256_and_si256(second, new));
                }
            }
        }
    }
}

/// The products of two coefficients with each element.
type Table = __m128i;

/// Computes the tables of the columns `first .. first + count` of X, those of a group of pairs of rows together.
#[inline]
#[target_feature(enable = "avx2")]
fn build_tables<'t>(
    x: Coefficients<'_>,
    first: usize,
    count: usize,
    tables: &'t mut [MaybeUninit<Table>; BLOCK * MAX_PAIRS],
) -> &'t mut [Table] {
    let pairs = x.rows().div_ceil(2);
    let tables = &mut tables[..pairs * count];
    // Those of the second group stand behind those of the first.
    let first_group = groups(pairs).next().map_or(0, |(_, pairs)| pairs);
    let (elements, stride) = (x.elements(), x.elements().len() / x.columns());
    let unused = from(x.rows());
    // From `cut` on, 32 bytes would reach beyond X: they are read from a copy with zeros behind it.
    let cut = elements.len().saturating_sub(TILE - 1);
    let mut tail = [0; 2 * TILE];
    tail[..elements.len() - cut].copy_from_slice(&elements[cut..]);
    let spreads = [(&SPREAD_LOW, &SPREAD_HIGH, 0), (&SPREAD_LOW, &SPREAD_HIGH, 8)].map(|(low, high, begin)| {
        [low, high].map(|spread| {
            // The bit for zero stays, as no place is above 7.
            _mm256_broadcastsi128_si256(_mm_add_epi8(constant(spread), _mm_set1_epi8(begin)))
        })
    });
    for i in 0..count {
        let begin = (first + i) * stride;
        let column = if begin < cut { load(elements, begin) } else { load(&tail, begin - cut) };
        // Both coefficients of a pair in the low byte of 16 bits, then 1, x, x^2, x^3 times them in 32 bits, then these
        // four and (after a byte that nobody asks for) 1 + x, .., x^2 + x^3 times them in 64 bits.
        let pair = _mm256_maddubs_epi16(_mm256_andnot_si256(unused, column), _mm256_set1_epi16(0x1001));
        let pair_2 = double(pair);
        let pair_4 = double(pair_2);
        let ones = _mm256_or_si256(pair, _mm256_slli_epi16::<8>(pair_2));
        let fours = _mm256_or_si256(pair_4, _mm256_slli_epi16::<8>(double(pair_4)));
        let halves = [_mm256_unpacklo_epi16(ones, fours), _mm256_unpackhi_epi16(ones, fours)];
        let sums = halves.map(|four| _mm256_xor_si256(four, _mm256_slli_epi32::<8>(four)));
        // The unpacking works within 16 bytes: pairs 0, 1 and 8, 9, then 2, 3 and 10, 11, ...
        let multiples = [
            _mm256_unpacklo_epi32(halves[0], sums[0]),
            _mm256_unpackhi_epi32(halves[0], sums[0]),
            _mm256_unpacklo_epi32(halves[1], sums[1]),
            _mm256_unpackhi_epi32(halves[1], sums[1]),
        ];
        let mut write = |p: usize, table: Table| {
            let at = if p < first_group {
                i * first_group + p
            } else {
                first_group * count + i * (pairs - first_group) + p - first_group
            };
            tables[at].write(table);
        };
        for (p, multiples) in (0..pairs).step_by(2).zip(multiples) {
            for (p, [low, high]) in (p..pairs).zip(spreads) {
                let both = _mm256_xor_si256(_mm256_shuffle_epi8(multiples, low), _mm256_shuffle_epi8(multiples, high));
                write(p, _mm256_castsi256_si128(both));
                if p + 8 < pairs {
                    write(p + 8, _mm256_extracti128_si256::<1>(both));
                }
            }
        }
    }
    wipe(&mut tail);
    // SAFETY: the loops have written the table of every pair for each of the `count` columns.
    unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast(), tables.len()) }
}

/// x times the elements in all bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn double(elements: __m256i) -> __m256i {
    let carry = _mm256_and_si256(_mm256_srli_epi16::<3>(elements), _mm256_set1_epi8(0x11));
    let shifted = _mm256_and_si256(_mm256_add_epi8(elements, elements), _mm256_set1_epi8(0xee_u8 as i8));
    _mm256_xor_si256(shifted, _mm256_xor_si256(carry, _mm256_add_epi8(carry, carry)))
}

/// The first pair and the number of pairs of each group, as few groups as can be and of nearly the same size.
#[inline(always)]
fn groups(pairs: usize) -> impl Iterator<Item = (usize, usize)> {
    let first = if pairs > GROUP { pairs.div_ceil(2) } else { pairs };
    [(0, first), (first, pairs - first)].into_iter().filter(|&(_, pairs)| pairs > 0)
}

/// All ones in the bytes from `start` to the end of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn from(start: usize) -> __m256i {
    load(&WINDOW, TILE - start)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m256i {
    let bytes: &[u8; TILE] = bytes[at..].first_chunk().expect("a whole tile");
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn constant(table: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm_loadu_si128(table.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8], value: __m256i) {
    let bytes: &mut [u8; TILE] = bytes.first_chunk_mut().expect("a whole tile");
    // SAFETY: the reference is to as many bytes as are written.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(out: &mut [u8], value: __m256i) {
    let sum = _mm256_xor_si256(load(out, 0), value);
    store(out, sum);
}

/// Bytes of a tile: one register.
const TILE: usize = 32;
/// Pairs of rows whose accumulators stay in twelve of the sixteen registers.
const GROUP: usize = 6;
const MAX_PAIRS: usize = MAX_ROWS / 2;
const _: () = assert!(MAX_ROWS.is_multiple_of(2) && MAX_PAIRS <= 2 * GROUP);
/// Rows of the operand whose tables are in memory at a time, 15 KiB of them at most.
const BLOCK: usize = 80;
/// For each element e, where its bits 0 and 1 times a pair stand among the multiples; the high bit stands for zero.
const SPREAD_LOW: [u8; 16] = spread(0, [0x80, 0, 1, 5]);
/// The same for the bits 2 and 3.
const SPREAD_HIGH: [u8; 16] = spread(2, [0x80, 2, 3, 7]);

const fn spread(shift: usize, places: [u8; 4]) -> [u8; 16] {
    let mut table = [0; 16];
    let mut e = 0;
    while e < 16 {
        table[e] = places[e >> shift & 3];
        e += 1;
    }
    table
}

/// What masks are windows of.
const WINDOW: [u8; 2 * TILE] = {
    let mut window = [0; 2 * TILE];
    let mut i = TILE;
    while i < 2 * TILE {
        window[i] = 0xff;
        i += 1;
    }
    window
};
