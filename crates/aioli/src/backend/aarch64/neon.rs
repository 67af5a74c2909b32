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
//! Four rows of the operand are added at a step where the accumulators leave registers for their indices and tables,
//! else two; so one load brings four tables, and the SHA-3 extension's three-way XOR takes two products into an
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
//! **Wanted.** In the loop loads, `tbl`, `eor3` and the splitting, nothing else; no accumulator in memory. Left to
//! itself the compiler fetches all tables of the loop's body first and moves accumulators to memory, so the steps are
//! assembly. For nine pairs they make 135 instructions for four rows, 17 multiply-accumulates each.
//!
//! **Quirks.** The last tile overlaps the one before it and its accumulators are masked, so no byte beyond a row is
//! touched; so are the loads that the diagonal cuts, which begin in rows above it.

use super::vector::*;
use crate::backend::{MAX_ROWS, portable};
use crate::gf16;
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
    let mut scratch = [const { MaybeUninit::uninit() }; BLOCK * MAX_PAIRS];
    for first in (0..rows.count()).step_by(BLOCK) {
        let block = Block { x, rows, first, count: BLOCK.min(rows.count() - first), stride };
        match x.rows().div_ceil(2) {
            1 => block.add_product::<SHA3, 1, 4>(&mut scratch, out),
            2 => block.add_product::<SHA3, 2, 4>(&mut scratch, out),
            3 => block.add_product::<SHA3, 3, 4>(&mut scratch, out),
            4 => block.add_product::<SHA3, 4, 4>(&mut scratch, out),
            5 => block.add_product::<SHA3, 5, 4>(&mut scratch, out),
            6 => block.add_product::<SHA3, 6, 4>(&mut scratch, out),
            7 => block.add_product::<SHA3, 7, 4>(&mut scratch, out),
            8 => block.add_product::<SHA3, 8, 4>(&mut scratch, out),
            9 => block.add_product::<SHA3, 9, 4>(&mut scratch, out),
            10 => block.add_product::<SHA3, 10, 2>(&mut scratch, out),
            11 => block.add_product::<SHA3, 11, 2>(&mut scratch, out),
            _ => block.add_product::<SHA3, MAX_PAIRS, 2>(&mut scratch, out),
        }
    }
}

/// Some rows of the operand, and what they are multiplied by.
struct Block<'a> {
    x: Coefficients<'a>,
    rows: Rows<'a>,
    /// The first row and how many.
    first: usize,
    count: usize,
    stride: usize,
}

impl Block<'_> {
    /// Adds the product of all `PAIRS` pairs of rows of X, the last one perhaps without its second, a register of columns
    /// at a time and `GROUP` rows of the operand at a step.
    #[inline(always)]
    fn add_product<const SHA3: bool, const PAIRS: usize, const GROUP: usize>(
        &self,
        scratch: &mut [MaybeUninit<Table>; BLOCK * MAX_PAIRS],
        out: &mut [u8],
    ) {
        let tables = build_tables::<PAIRS, GROUP>(self.x, self.first, self.count, scratch);
        let (step, row_bytes) = (self.rows.step(), self.rows.row_bytes());
        assert!(
            row_bytes >= REGISTER && self.rows.offset(self.rows.count()) == self.rows.bytes().len(),
            "length of rows"
        );
        assert!(out.len() >= (self.x.rows() - 1) * self.stride + row_bytes, "length of a product");
        // Where column 0 of each row is, or were if the row had it; behind the last row, that again.
        let mut places = [0; BLOCK];
        for (i, place) in places.iter_mut().enumerate().take(self.count.next_multiple_of(2)) {
            let row = self.first + i.min(self.count - 1);
            *place = self.rows.offset(row).wrapping_sub(row * step);
        }
        // Nothing of the block lies to the left of its first row.
        let mut column = self.first * step / REGISTER * REGISTER;
        while column < row_bytes {
            let begin = column.min(row_bytes - REGISTER);
            // SAFETY: `begin + REGISTER <= row_bytes`, and the rows have their lengths, as asserted above; `SHA3` is as
            // this function's caller says.
            let (mut low, mut high) = unsafe { self.sums_of_tile::<SHA3, PAIRS, GROUP>(tables, &places, begin) };
            if begin < column {
                // In the tile before were those in front of `column`.
                let new = from(column - begin);
                low = low.map(|low| and(low, new));
                high = high.map(|high| and(high, new));
            }
            let mut row = out[begin..].as_mut_ptr();
            for p in 0..PAIRS {
                // SAFETY: a tile within a row of `out`, which has all of them, as asserted above.
                unsafe {
                    add_and_move(&mut row, self.stride, low_nibbles(low[p], high[p]));
                    if p + 1 < PAIRS || self.x.rows().is_multiple_of(2) {
                        add_and_move(&mut row, self.stride, high_nibbles(low[p], high[p]));
                    }
                }
            }
            column += REGISTER;
        }
        // SAFETY: any bytes are valid registers, and registers are as many bytes.
        wipe(unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast::<u8>(), size_of_val(tables)) });
    }

    /// The low and the high accumulators for the columns from byte `column` on.
    ///
    /// # Safety
    ///
    /// The tile ends within row 0, the rows of the operand have the lengths that they say, `tables` and `places` are those
    /// of this block, and `SHA3` is true only in functions that may use the extension.
    #[inline(always)]
    unsafe fn sums_of_tile<const SHA3: bool, const PAIRS: usize, const GROUP: usize>(
        &self,
        tables: &[[[Table; GROUP]; PAIRS]],
        places: &[usize; BLOCK],
        column: usize,
    ) -> ([Vector; PAIRS], [Vector; PAIRS]) {
        let step = self.rows.step();
        // A row reaches as far to the right as row 0, so the tile ends within it. Row 0, which lies in front of every
        // other row, is at least as long as from the beginning of the tile to that of the row: so the tile lies within
        // the operand, and what it has of rows above is masked.
        let bytes = self.rows.bytes().as_ptr().wrapping_add(column);
        // SAFETY: a tile within the rows, as said above.
        let load_row = |place: usize| unsafe { load(&*bytes.wrapping_add(place).cast()) };
        let split = |row| Nibbles { low: and(row, splat(15)), high: shift_right::<4>(row) };
        let (mut low, mut high) = ([splat(0); PAIRS], [splat(0); PAIRS]);
        // How far the tile begins before row i of the block.
        let gap = |i: usize| ((self.first + i) * step).saturating_sub(column);
        // Of so many rows the diagonal cuts nothing here.
        let whole = (column + step).saturating_sub(self.first * step).checked_div(step).unwrap_or(self.count);
        let groups = whole.min(self.count) / GROUP;
        let mut next_tables = tables.as_ptr().cast();
        for places in &places.as_chunks::<GROUP>().0[..groups] {
            // SAFETY: a table for each of the pairs and rows, and `SHA3` as the caller says.
            unsafe {
                add_group::<SHA3, PAIRS, GROUP>(&mut low, &mut high, &places.map(load_row).map(split), &mut next_tables)
            };
        }
        // The rest by twos.
        for i in (groups * GROUP..self.count).step_by(2).take_while(|&i| gap(i) < REGISTER) {
            let mut rows = [places[i], places[i + 1]].map(load_row);
            if i + 1 >= whole.min(self.count) {
                let nothing = if i + 1 < self.count { 0 } else { REGISTER };
                rows = [and(rows[0], from(gap(i))), and(rows[1], from(gap(i + 1).clamp(nothing, REGISTER)))];
            }
            for p in 0..PAIRS {
                let tables = &tables[i / GROUP][p];
                let pair = [tables[i % GROUP], tables[i % GROUP + 1]];
                // SAFETY: `SHA3` is true only where the caller may use the extension.
                unsafe { add_products::<SHA3>(&mut low[p], &mut high[p], pair, rows.map(split)) };
            }
        }
        (low, high)
    }
}

/// Adds the products of a group of rows of the operand; the pointer to their tables moves on.
///
/// # Safety
///
/// The tables are there, and `SHA3` is true only in functions that may use the extension.
#[inline(always)]
unsafe fn add_group<const SHA3: bool, const PAIRS: usize, const GROUP: usize>(
    low: &mut [Vector; PAIRS],
    high: &mut [Vector; PAIRS],
    rows: &[Nibbles; GROUP],
    tables: &mut *const Table,
) {
    if let Some(&rows) = rows.first_chunk::<4>() {
        for (low, high) in low.iter_mut().zip(high) {
            // SAFETY: as the caller says.
            unsafe { add_products_of_four::<SHA3>(low, high, tables, rows) };
        }
        return;
    }
    let rows = *rows.first_chunk().expect("a group of at least two rows");
    // Of twelve pairs the accumulators leave registers for two tables alone.
    let by_two = if PAIRS < MAX_PAIRS { PAIRS / 2 * 2 } else { 0 };
    let (low, low_rest) = low.split_at_mut(by_two);
    let (high, high_rest) = high.split_at_mut(by_two);
    for (low, high) in low.as_chunks_mut().0.iter_mut().zip(high.as_chunks_mut().0) {
        // SAFETY: as the caller says.
        unsafe { add_products_of_two_pairs::<SHA3>(low, high, tables, rows) };
    }
    for (low, high) in low_rest.iter_mut().zip(high_rest) {
        // SAFETY: as the caller says.
        unsafe { add_products::<SHA3>(low, high, next_two(tables), rows) };
    }
}

/// The products of two coefficients with each element.
type Table = Vector;

/// Computes the tables of the columns `first .. first + count` of X: for each group of columns and each pair of rows
/// those of the group together, as they are loaded.
#[inline(always)]
fn build_tables<'t, const PAIRS: usize, const GROUP: usize>(
    x: Coefficients<'_>,
    first: usize,
    count: usize,
    scratch: &'t mut [MaybeUninit<Table>; BLOCK * MAX_PAIRS],
) -> &'t mut [[[Table; GROUP]; PAIRS]] {
    let scratch = scratch.as_chunks_mut::<GROUP>().0.as_chunks_mut::<PAIRS>().0;
    let groups = &mut scratch[..count.div_ceil(GROUP)];
    let (spread_low, spread_high) = (load(&SPREAD_LOW), load(&SPREAD_HIGH));
    let [times_2, times_4, times_8] = TIMES.each_ref().map(load);
    let mut last = [0; 2 * REGISTER];
    for (g, group) in groups.iter_mut().enumerate() {
        for h in (0..GROUP).step_by(2) {
            let multiples: [_; 2] = core::array::from_fn(|i| {
                let column = g * GROUP + h + i;
                // What is behind the column does not matter.
                let column = if column < count { x.of_rows_from(first + column) } else { &[] };
                let column = column.first_chunk().unwrap_or_else(|| {
                    last.fill(0);
                    last[..column.len()].copy_from_slice(column);
                    &last
                });
                let (even, odd) = deinterleave(column);
                let times = |table| low_nibbles(look_up(table, even), look_up(table, odd));
                let (pair, pair_2, pair_4, pair_8) =
                    (low_nibbles(even, odd), times(times_2), times(times_4), times(times_8));
                [pair, pair_2, xor(pair, pair_2), pair_4, pair_8, xor(pair_4, pair_8)]
            });
            let (mut choice_low, mut choice_high) = (spread_low, spread_high);
            for tables in &mut *group {
                // What bits 0 and 1 of e choose, and what bits 2 and 3 do; nothing is out of range, and that gives zero.
                for (table, [a, b, c, d, e, f]) in tables[h..].iter_mut().zip(multiples) {
                    table.write(xor(look_up_3(a, b, c, choice_low), look_up_3(d, e, f, choice_high)));
                }
                (choice_low, choice_high) = (add(choice_low, splat(1)), add(choice_high, splat(1)));
            }
        }
    }
    wipe(&mut last);
    // SAFETY: the loops have written all of them.
    unsafe { core::slice::from_raw_parts_mut(groups.as_mut_ptr().cast(), groups.len()) }
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
/// x, x^2 and x^3 times each element.
const TIMES: [[u8; 16]; 3] = {
    let mut tables = [[0; 16]; 3];
    let mut e = 0;
    while e < 16 {
        tables[0][e] = gf16::mul(2, e as u8);
        tables[1][e] = gf16::mul(4, e as u8);
        tables[2][e] = gf16::mul(8, e as u8);
        e += 1;
    }
    tables
};
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
