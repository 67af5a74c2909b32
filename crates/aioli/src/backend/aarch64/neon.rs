//! The left product on NEON: products of two rows of X at a time, looked up in registers.
//!
//! **Idea.** `tbl` looks up 16 nibbles in a table of 16 bytes, and a byte has room for two products: with the table
//! whose entry e is `a e` in the low and `b e` in the high nibble, one instruction multiplies 16 elements of the operand
//! by the coefficients of two rows of X. A register of the operand is split once into its low and its high nibbles, so
//! two accumulators serve a pair of rows; at the end of the tile one shift-and-insert each brings them into place:
//!
//! ```text
//! operand       h3 l3 h2 l2 h1 l1 h0 l0     two elements a byte
//! low nibbles    . l3  . l2  . l1  . l0  -> table(a, b) -> bl al bl al bl al bl al   low accumulator
//! high nibbles   . h3  . h2  . h1  . h0  -> table(a, b) -> bh ah bh ah bh ah bh ah   high accumulator
//!
//! row of a      ah al of each byte          sli low, high, #4     keeps al, inserts ah above it
//! row of b      bh bl of each byte          sri high, low, #4     keeps bh, inserts bl below it
//! ```
//!
//! Two rows of the operand are added at a step, so that the SHA-3 extension's three-way XOR takes two products into an
//! accumulator; without it there are two.
//!
//! X is secret, so no table is fetched by a coefficient. All of them are computed first, from the multiples of all
//! pairs of a column at once: the table of pair j collects its bytes from registers, by constant indices:
//!
//! ```text
//! pairs      p0 p1 p2 .. p11 .. p15      p = a + 16 b, so p, x p, (1 + x) p, x^2 p, x^3 p, (x^2 + x^3) p are six registers
//! table j    bits 0, 1 of e choose among nothing and byte j of the first three, bits 2, 3 of the last three
//! ```
//!
//! **Bound.** For two rows of the operand and one pair of X two look-ups for each half and one three-way XOR (else two):
//! 128 multiply-accumulates in six instructions (else eight), and beside them a load and two splittings for a row and
//! a table for a pair.
//!
//! **Wanted.** In the loop `ldp`, `tbl`, `eor3` and the splitting, nothing else; no accumulator in memory. Left to
//! itself the compiler fetches all tables of the loop's body first and moves accumulators to memory, so the steps are
//! assembly. For nine pairs they make 76 instructions for two rows, 15 multiply-accumulates each.
//!
//! **Quirks.** The last tile overlaps the one before it and its accumulators are masked, so no byte beyond a row is
//! touched; so are the loads that the diagonal cuts, which begin in the row above it.

use super::vector::*;
use crate::backend::{MAX_ROWS, portable};
use crate::memory::wipe;
use crate::packed::{Coefficients, Rows};
use core::mem::MaybeUninit;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    product::<false>(x, rows, out, stride);
}

/// The same, with three-way XORs.
#[target_feature(enable = "sha3")]
pub(super) fn left_product_sha3(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    product::<true>(x, rows, out, stride);
}

#[inline(always)]
fn product<const SHA3: bool>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    if rows.row_bytes() < REGISTER || x.rows() == 0 {
        return portable::left_product(x, rows, out, stride);
    }
    let pairs = x.rows().div_ceil(2);
    let mut scratch = [const { MaybeUninit::uninit() }; BLOCK / 2 * MAX_PAIRS];
    for first in (0..rows.count()).step_by(BLOCK) {
        let count = BLOCK.min(rows.count() - first);
        let tables = build_tables(x, first, count, &mut scratch);
        let block = Block { rows, first, count, tables, x_rows: x.rows(), stride };
        // Two registers wide where the accumulators leave room.
        match (pairs, rows.row_bytes() >= 2 * REGISTER) {
            (1, true) => block.add_product::<SHA3, 1, 2>(out),
            (1, _) => block.add_product::<SHA3, 1, 1>(out),
            (2, true) => block.add_product::<SHA3, 2, 2>(out),
            (2, _) => block.add_product::<SHA3, 2, 1>(out),
            (3, true) => block.add_product::<SHA3, 3, 2>(out),
            (3, _) => block.add_product::<SHA3, 3, 1>(out),
            (4, true) => block.add_product::<SHA3, 4, 2>(out),
            (4, _) => block.add_product::<SHA3, 4, 1>(out),
            (5, true) => block.add_product::<SHA3, 5, 2>(out),
            (5, _) => block.add_product::<SHA3, 5, 1>(out),
            (6, _) => block.add_product::<SHA3, 6, 1>(out),
            (7, _) => block.add_product::<SHA3, 7, 1>(out),
            (8, _) => block.add_product::<SHA3, 8, 1>(out),
            (9, _) => block.add_product::<SHA3, 9, 1>(out),
            (10, _) => block.add_product::<SHA3, 10, 1>(out),
            (11, _) => block.add_product::<SHA3, 11, 1>(out),
            _ => block.add_product::<SHA3, MAX_PAIRS, 1>(out),
        }
        // SAFETY: any bytes are valid registers, and registers are as many bytes.
        wipe(unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast::<u8>(), size_of_val(tables)) });
    }
}

/// Some rows of the operand and the tables of their coefficients.
struct Block<'a> {
    rows: Rows<'a>,
    /// The first row and how many.
    first: usize,
    count: usize,
    /// Those of two rows of the operand together, the two of a pair side by side.
    tables: &'a [[Table; 2]],
    x_rows: usize,
    stride: usize,
}

impl Block<'_> {
    /// Adds the product of all `PAIRS` pairs of rows of X, the last one perhaps without its second, `TILE` registers of
    /// columns at a time.
    #[inline(always)]
    fn add_product<const SHA3: bool, const PAIRS: usize, const TILE: usize>(&self, out: &mut [u8]) {
        let width = TILE * REGISTER;
        let row_bytes = self.rows.row_bytes();
        assert!(row_bytes >= width && self.rows.offset(self.rows.count()) == self.rows.bytes().len(), "length of rows");
        // Nothing of the block lies to the left of its first row.
        let mut column = self.first * self.rows.step() / width * width;
        assert!(out.len() >= (self.x_rows - 1) * self.stride + row_bytes, "length of a product");
        while column < row_bytes {
            let begin = column.min(row_bytes - width);
            // SAFETY: `begin + width <= row_bytes`, and the rows have their lengths, as asserted above.
            let mut sums = unsafe { self.sums_of_tile::<SHA3, PAIRS, TILE>(begin) };
            if begin < column {
                // In the tile before were those in front of `column`.
                for (t, (low, high)) in sums.iter_mut().enumerate() {
                    let new = from((column - begin).saturating_sub(t * REGISTER).min(REGISTER));
                    *low = low.map(|low| and(low, new));
                    *high = high.map(|high| and(high, new));
                }
            }
            for (t, (low, high)) in sums.into_iter().enumerate() {
                let mut at = begin + t * REGISTER;
                for p in 0..PAIRS {
                    let mut row = |value| {
                        // SAFETY: a tile within a row of `out`, which has all of them, as asserted above.
                        let out = unsafe { &mut *out.as_mut_ptr().add(at).cast() };
                        store(out, xor(load(out), value));
                        at += self.stride;
                    };
                    row(low_nibbles(low[p], high[p]));
                    if p + 1 < PAIRS || self.x_rows.is_multiple_of(2) {
                        row(high_nibbles(low[p], high[p]));
                    }
                }
            }
            column += width;
        }
    }

    /// The low and the high accumulators for the columns from byte `column` on.
    ///
    /// # Safety
    ///
    /// The tile ends within row 0, and the rows of the operand have the lengths that they say.
    #[inline(always)]
    unsafe fn sums_of_tile<const SHA3: bool, const PAIRS: usize, const TILE: usize>(
        &self,
        column: usize,
    ) -> [([Vector; PAIRS], [Vector; PAIRS]); TILE] {
        let (bytes, step, row_bytes) = (self.rows.bytes(), self.rows.step(), self.rows.row_bytes());
        let nibbles = splat(15);
        let split = |register| (and(register, nibbles), shift_right::<4>(register));
        let load_tile = |at: usize| -> [Vector; TILE] {
            // SAFETY: a row reaches as far to the right as row 0, so the tile ends within it. In front of it are the
            // rows above, the first of which alone is longer than from the beginning of the tile to that of the row.
            core::array::from_fn(|t| unsafe { load(&*bytes.as_ptr().add(at + t * REGISTER).cast()) })
        };
        let mut sums = [([splat(0); PAIRS], [splat(0); PAIRS]); TILE];
        let mut start = self.first * step;
        // Wraps where the tile begins before the row; what is read then begins in the row above.
        let mut at = (self.rows.offset(self.first) + column).wrapping_sub(start);
        let tables = self.tables.as_chunks::<PAIRS>().0;
        // Of so many rows the diagonal cuts nothing here.
        let whole = (column + step).saturating_sub(start).checked_div(step).unwrap_or(self.count).min(self.count);
        let twos = whole / 2;
        let mut next_tables = tables[..twos].as_ptr().cast();
        for _ in 0..twos {
            let a = load_tile(at).map(split);
            let next = at.wrapping_add(row_bytes - start).wrapping_sub(step);
            let b = load_tile(next).map(split);
            for p in 0..PAIRS {
                // SAFETY: `twos * PAIRS` of them are there.
                let pair = unsafe { next_two(&mut next_tables) };
                for t in 0..TILE {
                    let (low, high) = &mut sums[t];
                    add_products::<SHA3>(&mut low[p], &mut high[p], pair, a[t], b[t]);
                }
            }
            start += 2 * step;
            at = next.wrapping_add(row_bytes + step - start).wrapping_sub(step);
        }
        for i in 2 * twos..self.count {
            let gap = start.saturating_sub(column);
            if gap >= TILE * REGISTER {
                break;
            }
            let tile = load_tile(at);
            for (t, (low, high)) in sums.iter_mut().enumerate() {
                let mask = from(gap.saturating_sub(t * REGISTER).min(REGISTER));
                let (tile_low, tile_high) = split(and(tile[t], mask));
                for (p, tables) in tables[i / 2].iter().enumerate() {
                    low[p] = xor(low[p], look_up(tables[i % 2], tile_low));
                    high[p] = xor(high[p], look_up(tables[i % 2], tile_high));
                }
            }
            at = at.wrapping_add(row_bytes - start).wrapping_sub(step);
            start += step;
        }
        sums
    }
}

/// The products of two coefficients with each element.
type Table = Vector;

/// Computes the tables of the columns `first .. first + count` of X, as [`Block`] keeps them.
#[inline(always)]
fn build_tables<'t>(
    x: Coefficients<'_>,
    first: usize,
    count: usize,
    tables: &'t mut [MaybeUninit<[Table; 2]>; BLOCK / 2 * MAX_PAIRS],
) -> &'t mut [[Table; 2]] {
    let pairs = x.rows().div_ceil(2);
    let tables = &mut tables[..count.div_ceil(2) * pairs];
    let (spread_low, spread_high) = (load(&SPREAD_LOW), load(&SPREAD_HIGH));
    let mut columns = [[0; 2 * REGISTER]; 2];
    for (i, tables) in tables.chunks_exact_mut(pairs).enumerate() {
        for (j, column) in columns.iter_mut().enumerate() {
            match 2 * i + j < count {
                true => column[..x.rows()].copy_from_slice(x.of_row(first + 2 * i + j)),
                false => column.fill(0),
            }
        }
        let multiples = columns.each_ref().map(|column| {
            let (even, odd) = deinterleave(column);
            let pair = low_nibbles(even, odd);
            let pair_2 = double(pair);
            let pair_4 = double(pair_2);
            let pair_8 = double(pair_4);
            [pair, pair_2, xor(pair, pair_2), pair_4, pair_8, xor(pair_4, pair_8)]
        });
        let (mut choice_low, mut choice_high) = (spread_low, spread_high);
        for table in tables {
            // What bits 0 and 1 of e choose, and what bits 2 and 3 do; nothing is out of range, and that gives zero.
            table.write(
                multiples
                    .map(|[a, b, c, d, e, f]| xor(look_up_3(a, b, c, choice_low), look_up_3(d, e, f, choice_high))),
            );
            (choice_low, choice_high) = (add(choice_low, splat(1)), add(choice_high, splat(1)));
        }
    }
    wipe(columns.as_flattened_mut());
    // SAFETY: the loops have written all of them.
    unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast(), tables.len()) }
}

/// x times both elements in all bytes.
#[inline(always)]
pub(super) fn double(elements: Vector) -> Vector {
    let carry = and(shift_right::<3>(elements), splat(0x11));
    let shifted = and(add(elements, elements), splat(0xee));
    xor3(shifted, carry, add(carry, carry))
}

/// All ones in the bytes from `start` to the end of a register.
#[inline(always)]
fn from(start: usize) -> Vector {
    load_at(&WINDOW, REGISTER - start)
}

const MAX_PAIRS: usize = MAX_ROWS / 2;
const _: () = assert!(MAX_ROWS.is_multiple_of(2) && MAX_PAIRS == 12);
/// Rows of the operand whose tables are in memory at a time, 15 KiB of them at most.
const BLOCK: usize = 80;
/// For each element e, the register that its bits 0 and 1 choose, times 16; out of range for none.
const SPREAD_LOW: [u8; 16] = spread(0);
/// The same for the bits 2 and 3.
const SPREAD_HIGH: [u8; 16] = spread(2);

const fn spread(shift: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut e = 0;
    while e < 16 {
        table[e] = [0x80, 0x00, 0x10, 0x20][e >> shift & 3];
        e += 1;
    }
    table
}

/// What masks are windows of.
const WINDOW: [u8; 2 * REGISTER] = {
    let mut window = [0; 2 * REGISTER];
    let mut i = REGISTER;
    while i < 2 * REGISTER {
        window[i] = 0xff;
        i += 1;
    }
    window
};
