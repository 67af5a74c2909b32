//! The left product on vectors of 128 bits: products for two rows of `left` at a time, looked up in
//! registers.
//!
//! **Idea.** `i8x16.swizzle` looks up 16 nibbles in a table of 16 bytes, and a byte has room for
//! two products. Entry e of the table of coefficients a and b, of two rows of `left`, has `a e` in
//! its low and `b e` in its high nibble. So one instruction multiplies 16 elements of `right` by
//! both:
//!
//! ```text
//! right         h3 l3 h2 l2 h1 l1 h0 l0     two elements a byte
//! low nibbles    . l3  . l2  . l1  . l0  -> table(a, b) -> bl al bl al bl al bl al   low accumulator
//! high nibbles   . h3  . h2  . h1  . h0  -> table(a, b) -> bh ah bh ah bh ah bh ah   high accumulator
//! ```
//!
//! **Bound.** A row of `right` and a pair of rows of `left` take a load, two look-ups and two XORs
//! for 64 multiply-accumulates. On x86-64 engines put a saturating addition in front of each
//! look-up, as `pshufb` treats places out of range otherwise: seven instructions.
//!
//! **Wanted.** The loop over the rows of `right` keeps the accumulators of [`MAX_PAIRS`] pairs in
//! registers, of which x86-64 has 16 without AVX-512.
//!
//! **Quirks.** The last tile overlaps the one before it, and its accumulators are masked, so no
//! byte beyond a row is touched. A row that the diagonal cuts is masked as well. It cuts no second
//! one, as m-vectors are longer than a register; for shorter ones the portable backend multiplies.
//!
//! **Cost.** Tables are computed, as `left` is secret: each takes 4 broadcasts, 4 masks and 3 XORs,
//! once for all tiles.

use super::vector::*;
use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand, Output, has_rows};
use core::mem::MaybeUninit;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
pub(super) fn left_product(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    // No m-vector of any set is this short.
    if right.row_bytes() < REGISTER || (1..REGISTER).contains(&right.step()) || left.rows() == 0 || right.count() == 0 {
        return portable::left_product::left_product(left, right, out);
    }
    assert!(right.offset(right.count()) == right.bytes().len(), "length of rows");
    assert!(has_rows(out.bytes, left.rows(), out.stride, right.row_bytes()), "length of a product");
    let pairs = left.rows().div_ceil(2);
    let in_pass = pairs.div_ceil(pairs.div_ceil(MAX_PAIRS));
    for first in (0..right.count()).step_by(BLOCK) {
        let count = BLOCK.min(right.count() - first);
        let mut out = out.next_term(0);
        for pair in (0..pairs).step_by(in_pass) {
            let pass = Pass { left, right, first, count, pair };
            match in_pass.min(pairs - pair) {
                1 => pass.write::<1>(out.from_column(0)),
                2 => pass.write::<2>(out.from_column(0)),
                3 => pass.write::<3>(out.from_column(0)),
                4 => pass.write::<4>(out.from_column(0)),
                _ => pass.write::<MAX_PAIRS>(out.from_column(0)),
            }
        }
    }
}

/// A few pairs of rows of `left`, and the rows of `right` whose tables are in memory together.
struct Pass<'a> {
    left: Coefficients<'a>,
    right: Operand<'a>,
    /// The first row of `right`, and the number of them.
    first: usize,
    count: usize,
    /// The first pair of rows of `left`.
    pair: usize,
}

impl Pass<'_> {
    /// Writes or adds the products, a register of columns at a time.
    #[inline(never)]
    fn write<const PAIRS: usize>(&self, out: Output<'_>) {
        let Output { bytes: out, stride, adds } = out;
        let Self { right, first, count, .. } = *self;
        let [row_bytes, step] = [right.row_bytes(), right.step()];
        let mut scratch = [const { MaybeUninit::uninit() }; BLOCK];
        let tables = self.build_tables::<PAIRS>(&mut scratch);
        // Column 0 of the first row, extrapolated as the row begins later.
        let place = right.offset(first).wrapping_sub(first * step);
        // Nothing of the block lies to the left of its first row.
        let mut column = first * step / REGISTER * REGISTER;
        let mut reached = 0;
        while column < row_bytes {
            let begin = column.min(row_bytes - REGISTER);
            while reached < count && (first + reached) * step <= begin {
                reached += 1;
            }
            let mut sums = Sums { low: [splat(0); PAIRS], high: [splat(0); PAIRS] };
            let mut row = right.bytes().as_ptr().wrapping_add(place.wrapping_add(begin));
            let mut distance = row_bytes.wrapping_sub((first + 1) * step);
            for tables in &tables[..reached] {
                // SAFETY: all rows end together and row 0 has the tile, so it ends within this row.
                // It begins within it, too, as the row is reached. `right` has all rows, as
                // `left_product` asserts.
                sums.add(tables, unsafe { load(&*row.cast()) });
                row = row.wrapping_add(distance);
                distance = distance.wrapping_sub(step);
            }
            let cut = (begin + REGISTER).saturating_sub((first + reached) * step);
            if reached < count && cut > 0 {
                // SAFETY: the tile ends within this row, as above. It begins by less than a
                // register in front of it, where another row lies: row 0 is always reached.
                let bytes = unsafe { load(&*row.cast()) };
                sums.add(&tables[reached], and(bytes, from(REGISTER - cut)));
            }
            // The tile before had the columns in front of `column`. They are added once, and
            // written a second time with the same sums.
            let new = from(column - begin);
            for p in 0..PAIRS {
                let [low, high] = [sums.low[p], sums.high[p]].map(|sum| if adds { and(sum, new) } else { sum });
                let l = 2 * (self.pair + p);
                write_at(out, l * stride + begin, adds, or(and(low, splat(15)), u8x16_shl(high, 4)));
                if l + 1 < self.left.rows() {
                    write_at(out, (l + 1) * stride + begin, adds, or(split(low).high, and(high, splat(0xf0))));
                }
            }
            column += REGISTER;
        }
        // SAFETY: the slice has as many bytes as the tables, and any bytes are valid vectors.
        wipe(unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast::<u8>(), size_of_val(tables)) });
    }

    /// Computes the tables of each row of `right` and pair of rows of `left`.
    fn build_tables<'t, const PAIRS: usize>(
        &self,
        scratch: &'t mut [MaybeUninit<[Vector; PAIRS]>; BLOCK],
    ) -> &'t mut [[Vector; PAIRS]] {
        let scratch = &mut scratch[..self.count];
        for (i, tables) in (self.first..).zip(&mut *scratch) {
            let column = &self.left.of_row(i)[2 * self.pair..];
            let pair = |p: usize| column[2 * p] | column.get(2 * p + 1).map_or(0, |second| second << 4);
            tables.write(core::array::from_fn(|p| table_of(pair(p))));
        }
        // SAFETY: the loop has written all of them.
        unsafe { core::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast(), scratch.len()) }
    }
}

/// The accumulators of a tile, by pairs of rows of `left`.
struct Sums<const PAIRS: usize> {
    low: [Vector; PAIRS],
    high: [Vector; PAIRS],
}

impl<const PAIRS: usize> Sums<PAIRS> {
    /// Adds the products of a row of `right`.
    #[inline(always)]
    fn add(&mut self, tables: &[Vector; PAIRS], row: Vector) {
        let Nibbles { low, high } = split(row);
        for (p, &table) in tables.iter().enumerate() {
            self.low[p] = xor(self.low[p], look_up(table, low));
            self.high[p] = xor(self.high[p], look_up(table, high));
        }
    }
}

/// The products of both elements of a byte with each element.
#[inline(always)]
fn table_of(pair: u8) -> Vector {
    let mut multiple = pair;
    let mut table = splat(0);
    for bit in &WITH_BIT {
        table = xor(table, and(splat(multiple), load(bit)));
        // Times α: α^4 = α + 1 folds the upper coefficients of both.
        multiple = ((multiple & 0x77) << 1) ^ ((multiple >> 3 & 0x11) * 3);
    }
    table
}

/// Writes the register that begins at byte `at`, or adds to it.
#[inline(always)]
fn write_at(out: &mut [u8], at: usize, adds: bool, sum: Vector) {
    let bytes = out[at..].first_chunk_mut().expect("a whole register");
    store(bytes, if adds { xor(load(bytes), sum) } else { sum });
}

/// All ones in the bytes from `start` to the end of a register.
#[inline(always)]
fn from(start: usize) -> Vector {
    load(MASKS[REGISTER - start..].first_chunk().expect("a whole register"))
}

/// The most pairs of rows of `left` in a pass: ten accumulators.
const MAX_PAIRS: usize = 5;
/// The most rows of `right` whose tables are in memory at a time; all rows of any set fit.
const BLOCK: usize = 160;

/// A window of 16 bytes from place 16 - start on is the mask of [`from`].
const MASKS: [u8; 2 * REGISTER] = {
    let mut masks = [0; 2 * REGISTER];
    let mut i = REGISTER;
    while i < masks.len() {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

/// All ones at the elements that have bit 0, 1, 2 or 3.
const WITH_BIT: [[u8; REGISTER]; 4] = {
    let mut masks = [[0; REGISTER]; 4];
    let mut e = 0;
    while e < 4 * REGISTER {
        masks[e / REGISTER][e % REGISTER] = if (e % REGISTER) >> (e / REGISTER) & 1 == 1 { 0xff } else { 0 };
        e += 1;
    }
    masks
};
