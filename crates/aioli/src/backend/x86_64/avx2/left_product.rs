//! The left product on AVX2: products for two rows of `left` at a time, looked up in registers.
//!
//! **Idea.** `vpshufb` looks up 32 nibbles in a table of 16 bytes, and a byte has room for two
//! products. Let a and b be the coefficients of two rows of `left`. Entry e of their table has
//! `a e` in its low and `b e` in its high nibble. So one instruction multiplies 32 elements of
//! `right` by both. A tile of 32 bytes is split once into its low and its high nibbles, so each
//! pair of rows has two accumulators. The end of the tile sorts them into the two rows of the
//! product:
//!
//! ```text
//! right         h3 l3 h2 l2 h1 l1 h0 l0     two elements a byte
//! low nibbles    . l3  . l2  . l1  . l0  -> table(a, b) -> bl al bl al bl al bl al   low accumulator
//! high nibbles   . h3  . h2  . h1  . h0  -> table(a, b) -> bh ah bh ah bh ah bh ah   high accumulator
//! row of a      ah al of each byte          row of b      bh bl of each byte
//! ```
//!
//! `left` is secret, so no table is fetched by a coefficient: all tables are computed first. A
//! table is linear in 1, α, α^2, α^3 times the pair (a, b), and shuffles by constants spread those
//! four bytes over its entries.
//!
//! **Bound.** Two shuffles and two XORs make 128 multiply-accumulates. So the bound is 128 a cycle
//! if two shuffles and four vector instructions start in a cycle (Zen 3 to 5). It is 96 if two
//! shuffles and three vector instructions do (Ice Lake and later). The tables cost about two cycles
//! for each pair of coefficients.
//!
//! **Wanted.** The loop has `vbroadcasti128` from memory, `vpshufb`, `vpxor` and nothing else; no
//! accumulator is in memory.
//!
//! **Quirks.** The last tile overlaps the one before it, and its accumulators are masked, so no
//! byte beyond a row is touched. Loads that the diagonal cuts begin in the row above, and are
//! masked too.

use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::backend::x86_64::masks::from_byte;
use crate::backend::x86_64::vector::{load_16, load_32, store_32};
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn left_product(
    left: Coefficients<'_>,
    right: Operand<'_>,
    out: &mut [u8],
    stride: usize,
) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    let row_bytes = right.row_bytes();
    if row_bytes < TILE || left.rows() == 0 {
        return portable::left_product::left_product(left, right, out, stride);
    }
    let pairs = left.rows().div_ceil(2);
    // Few accumulators leave room for two registers of `right`, which share the tables.
    let width = if pairs <= 2 && row_bytes >= 2 * TILE { 2 * TILE } else { TILE };
    let mut scratch = [const { MaybeUninit::uninit() }; BLOCK * MAX_PAIRS];
    for first in (0..right.count()).step_by(BLOCK) {
        let count = BLOCK.min(right.count() - first);
        let tables = build_tables(left, first, count, &mut scratch);
        // Nothing of the block lies to the left of its first row.
        let mut column = first * right.step() / width * width;
        while column < row_bytes {
            let tile = Tile { right, first, column: column.min(row_bytes - width), new_from: column };
            for (group, pairs) in groups(pairs) {
                let tables = &tables[group * count..][..pairs * count];
                let out = &mut out[2 * group * stride..];
                let left_rows = (left.rows() - 2 * group).min(2 * pairs);
                match pairs {
                    1 if width > TILE => tile.add_product::<1, 2>(tables, left_rows, out, stride),
                    1 => tile.add_product::<1, 1>(tables, left_rows, out, stride),
                    2 if width > TILE => tile.add_product::<2, 2>(tables, left_rows, out, stride),
                    2 => tile.add_product::<2, 1>(tables, left_rows, out, stride),
                    3 => tile.add_product::<3, 1>(tables, left_rows, out, stride),
                    4 => tile.add_product::<4, 1>(tables, left_rows, out, stride),
                    5 => tile.add_product::<5, 1>(tables, left_rows, out, stride),
                    _ => tile.add_product::<GROUP, 1>(tables, left_rows, out, stride),
                }
            }
            column += width;
        }
        tables.fill(_mm_setzero_si128());
        zeroize::optimization_barrier(tables);
    }
}

/// A tile of `right`: one or two registers of columns, in the rows of a block.
struct Tile<'a> {
    right: Operand<'a>,
    /// The first row of the block.
    first: usize,
    /// The byte of row 0 below which the tile begins.
    column: usize,
    /// The first byte of row 0 that no tile before has reached.
    new_from: usize,
}

impl Tile<'_> {
    /// Adds the product of this tile, `REGISTERS` wide, and a group of `PAIRS` pairs of rows of
    /// `left`, the last of which may lack its second row.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn add_product<const PAIRS: usize, const REGISTERS: usize>(
        &self,
        tables: &[Table],
        left_rows: usize,
        out: &mut [u8],
        stride: usize,
    ) {
        let right = self.right;
        let step = right.step();
        let row_bytes = right.row_bytes();
        let nibbles = _mm256_set1_epi8(15);
        let mut low = [[_mm256_setzero_si256(); REGISTERS]; PAIRS];
        let mut high = low;
        let mut add_row = |tables: &[Table; PAIRS], tile: [__m256i; REGISTERS]| {
            let tile_low = tile.map(|tile| _mm256_and_si256(tile, nibbles));
            let tile_high = tile.map(|tile| _mm256_and_si256(_mm256_srli_epi16::<4>(tile), nibbles));
            for p in 0..PAIRS {
                let table = _mm256_broadcastsi128_si256(tables[p]);
                for w in 0..REGISTERS {
                    low[p][w] = _mm256_xor_si256(low[p][w], _mm256_shuffle_epi8(table, tile_low[w]));
                    high[p][w] = _mm256_xor_si256(high[p][w], _mm256_shuffle_epi8(table, tile_high[w]));
                }
            }
        };
        let tables = tables.as_chunks::<PAIRS>().0;
        assert!(
            self.column + REGISTERS * TILE <= row_bytes && self.first + tables.len() <= right.count(),
            "shape of a tile"
        );
        // `whole` is for the rows that begin at or left of the tile, `cut` for those that begin
        // within it.
        let begun = self.column.checked_div(step).map_or(right.count(), |row| row + 1).saturating_sub(self.first);
        let (whole, cut) = tables.split_at(begun.min(tables.len()));
        let mut at = right
            .bytes()
            .as_ptr()
            .wrapping_add((right.offset(self.first) + self.column).wrapping_sub(self.first * step));
        // From this tile of a row to that of the next one, before a step is subtracted.
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
            if gap >= REGISTERS * TILE {
                break;
            }
            // Bytes left of the row belong to the row above, and the mask removes them.
            let at = right.offset(i) - gap;
            let tile = core::array::from_fn(|w| {
                let begun = from_byte(gap.saturating_sub(w * TILE).min(TILE));
                _mm256_and_si256(load(right.bytes(), at + w * TILE), begun)
            });
            add_row(tables, tile);
        }
        for w in 0..REGISTERS {
            let column = self.column + w * TILE;
            let new = from_byte(self.new_from.saturating_sub(column).min(TILE));
            for p in 0..PAIRS {
                let low = low[p][w];
                let high = high[p][w];
                let low_of_high = _mm256_slli_epi16::<4>(_mm256_and_si256(high, nibbles));
                let first = _mm256_or_si256(_mm256_and_si256(low, nibbles), low_of_high);
                let high_of_low = _mm256_and_si256(_mm256_srli_epi16::<4>(low), nibbles);
                let second = _mm256_or_si256(_mm256_andnot_si256(nibbles, high), high_of_low);
                add(&mut out[2 * p * stride + column..], _mm256_and_si256(first, new));
                if 2 * p + 1 < left_rows {
                    add(&mut out[(2 * p + 1) * stride + column..], _mm256_and_si256(second, new));
                }
            }
        }
    }
}

/// The products of two coefficients with each element.
type Table = __m128i;

/// Computes the tables of columns `first` to `first + count - 1` of `left`.
///
/// The tables of a group of pairs of rows are contiguous, column after column.
#[inline]
#[target_feature(enable = "avx2")]
fn build_tables<'t>(
    left: Coefficients<'_>,
    first: usize,
    count: usize,
    tables: &'t mut [MaybeUninit<Table>; BLOCK * MAX_PAIRS],
) -> &'t mut [Table] {
    let pairs = left.rows().div_ceil(2);
    let tables = &mut tables[..pairs * count];
    // Pairs of the first group; the tables of the second follow those of the first.
    let first_group = groups(pairs).next().map_or(0, |(_, pairs)| pairs);
    let elements = left.elements();
    let stride = elements.len() / left.columns();
    let unused = from_byte(left.rows());
    // From `cut` on, 32 bytes would reach beyond `left`: they are read from a copy with zeros
    // behind it.
    let cut = elements.len().saturating_sub(TILE - 1);
    let mut tail = [0; 2 * TILE];
    tail[..elements.len() - cut].copy_from_slice(&elements[cut..]);
    let spreads = [(&SPREAD_LOW, &SPREAD_HIGH, 0), (&SPREAD_LOW, &SPREAD_HIGH, 8)].map(|(low, high, begin)| {
        [low, high].map(|spread| {
            // Places 0 to 7 become 8 to 15, and 0x80 keeps the bit that gives zero.
            _mm256_broadcastsi128_si256(_mm_add_epi8(load_16(spread), _mm_set1_epi8(begin)))
        })
    });
    for i in 0..count {
        let begin = (first + i) * stride;
        let column = if begin < cut { load(elements, begin) } else { load(&tail, begin - cut) };
        // A pair of coefficients is the low byte of 16 bits, and 1, α, α^2, α^3 times it fill 32
        // bits. The 64 bits of a pair have these four in bytes 0 to 3. Bytes 5 to 7 are the sums of
        // each two neighbours among them, and byte 4 is not used.
        let pair = _mm256_maddubs_epi16(_mm256_andnot_si256(unused, column), _mm256_set1_epi16(0x1001));
        let pair_2 = double(pair);
        let pair_4 = double(pair_2);
        let ones = _mm256_or_si256(pair, _mm256_slli_epi16::<8>(pair_2));
        let fours = _mm256_or_si256(pair_4, _mm256_slli_epi16::<8>(double(pair_4)));
        let halves = [_mm256_unpacklo_epi16(ones, fours), _mm256_unpackhi_epi16(ones, fours)];
        let sums = halves.map(|four| _mm256_xor_si256(four, _mm256_slli_epi32::<8>(four)));
        // Unpacking works within 16 bytes: pairs 0, 1 and 8, 9 come first, then 2, 3 and 10, 11,
        // ...
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

/// α times the elements in all bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn double(elements: __m256i) -> __m256i {
    let carry = _mm256_and_si256(_mm256_srli_epi16::<3>(elements), _mm256_set1_epi8(0x11));
    let shifted = _mm256_and_si256(_mm256_add_epi8(elements, elements), _mm256_set1_epi8(0xee_u8 as i8));
    _mm256_xor_si256(shifted, _mm256_xor_si256(carry, _mm256_add_epi8(carry, carry)))
}

/// The first pair and the number of pairs of each group: one group if possible, else two of nearly
/// the same size.
#[inline(always)]
fn groups(pairs: usize) -> impl Iterator<Item = (usize, usize)> {
    let first = if pairs > GROUP { pairs.div_ceil(2) } else { pairs };
    [(0, first), (first, pairs - first)].into_iter().filter(|&(_, pairs)| pairs > 0)
}

/// The tile of bytes from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m256i {
    load_32(bytes[at..].first_chunk().expect("a whole tile"))
}

/// Adds a tile onto the first bytes of `out`.
#[inline]
#[target_feature(enable = "avx2")]
fn add(out: &mut [u8], value: __m256i) {
    let out = out.first_chunk_mut().expect("a whole tile");
    store_32(out, _mm256_xor_si256(load_32(out), value));
}

/// Bytes of a tile: one register.
const TILE: usize = 32;
/// The most pairs of rows in a group: their accumulators take twelve of the sixteen registers.
const GROUP: usize = 6;
/// The most pairs of rows that `left` has.
const MAX_PAIRS: usize = MAX_ROWS / 2;
const _: () = assert!(MAX_ROWS.is_multiple_of(2) && MAX_PAIRS <= 2 * GROUP);
/// Rows of `right` whose tables are in memory at a time: at most 15 KiB of tables.
const BLOCK: usize = 80;
/// For each element e, the byte of a pair's multiples that is bits 0 and 1 of e times the pair;
/// 0x80 gives zero.
const SPREAD_LOW: [u8; 16] = spread(0, [0x80, 0, 1, 5]);
/// The same for bits 2 and 3.
const SPREAD_HIGH: [u8; 16] = spread(2, [0x80, 2, 3, 7]);

/// For each element e, the place that its bits `shift` and `shift + 1` choose.
const fn spread(shift: usize, places: [u8; 4]) -> [u8; 16] {
    let mut table = [0; 16];
    let mut e = 0;
    while e < 16 {
        table[e] = places[e >> shift & 3];
        e += 1;
    }
    table
}
