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
//! All tables are made first, in `left_product/tables.rs`.
//!
//! **Bound.** Two shuffles and two XORs make 128 multiply-accumulates. So the bound is 128 a cycle
//! if two shuffles and four vector instructions start in a cycle (Zen 3 to 5). It is 96 if two
//! shuffles and three vector instructions do (Ice Lake and later).
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
use crate::backend::x86_64::vector::{interleave, load_32, write_or_add};
use crate::packed::{Coefficients, Operand, Output, has_rows};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use tables::Table;

pub(super) mod tables;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn left_product(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    let row_bytes = right.row_bytes();
    if row_bytes < TILE || left.rows() == 0 || right.count() == 0 {
        return portable::left_product::left_product(left, right, out);
    }
    let pairs = left.rows().div_ceil(2);
    // Few accumulators leave room for two registers of `right`, which share the tables.
    let width = if pairs <= 2 && row_bytes >= 2 * TILE { 2 * TILE } else { TILE };
    let mut scratch = [const { MaybeUninit::uninit() }; BLOCK * MAX_PAIRS];
    for first in (0..right.count()).step_by(BLOCK) {
        let count = BLOCK.min(right.count() - first);
        let tables = tables::build(left.columns_in(first..first + count), &mut scratch);
        let mut out = out.next_term(0);
        // Nothing of the block lies to the left of its first row.
        let mut column = first * right.step() / width * width;
        while column < row_bytes {
            let tile = Tile { right, first, column: column.min(row_bytes - width), new_from: column };
            for (group, pairs) in groups(pairs) {
                let tables = &tables[group * count..][..pairs * count];
                let out = out.from_column(2 * group * out.stride);
                let left_rows = (left.rows() - 2 * group).min(2 * pairs);
                match pairs {
                    1 if width > TILE => tile.write_product::<1, 2>(tables, left_rows, out),
                    1 => tile.write_product::<1, 1>(tables, left_rows, out),
                    2 if width > TILE => tile.write_product::<2, 2>(tables, left_rows, out),
                    2 => tile.write_product::<2, 1>(tables, left_rows, out),
                    3 => tile.write_product::<3, 1>(tables, left_rows, out),
                    4 => tile.write_product::<4, 1>(tables, left_rows, out),
                    5 => tile.write_product::<5, 1>(tables, left_rows, out),
                    _ => tile.write_product::<GROUP, 1>(tables, left_rows, out),
                }
            }
            column += width;
        }
        if !left.is_public() {
            tables.fill(_mm_setzero_si128());
            zeroize::optimization_barrier(tables);
        }
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
    /// Writes or adds the product of this tile, `REGISTERS` wide, and a group of `PAIRS` pairs of
    /// rows of `left`. The last pair may lack its second row.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn write_product<const PAIRS: usize, const REGISTERS: usize>(
        &self,
        tables: &[Table],
        left_rows: usize,
        out: Output<'_>,
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
            self.column + REGISTERS * TILE <= row_bytes
                && self.first + tables.len() <= right.count()
                && has_rows(out.bytes, left_rows, out.stride, row_bytes),
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
        // The distance from this tile to that of the next row, before a step is subtracted.
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
            let mut write = |j: usize, sum: __m256i| {
                if j < left_rows {
                    // SAFETY: `out` has `left_rows` rows, and the tile lies within a row, as
                    // asserted above.
                    unsafe {
                        let at = out.bytes.as_mut_ptr().add(j * out.stride + column).cast();
                        write_or_add(at, sum, out.adds.then_some(new));
                    }
                }
            };
            for p in 0..PAIRS {
                let [first, second] = interleave(low[p][w], high[p][w]);
                write(2 * p, first);
                write(2 * p + 1, second);
            }
        }
    }
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

/// Bytes of a tile: one register.
const TILE: usize = 32;
/// The most pairs of rows in a group: their accumulators take twelve of the sixteen registers.
const GROUP: usize = 6;
/// The most pairs of rows that `left` has.
const MAX_PAIRS: usize = MAX_ROWS / 2;
const _: () = assert!(MAX_ROWS.is_multiple_of(2) && MAX_PAIRS <= 2 * GROUP);
/// Rows of `right` whose tables are in memory at a time: at most 15 KiB of tables.
const BLOCK: usize = 80;
