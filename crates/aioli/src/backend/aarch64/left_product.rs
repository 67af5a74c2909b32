//! The left product on NEON: products for two rows of `left` at a time, looked up in registers.
//!
//! **Idea.** `tbl` looks up 16 nibbles in a table of 16 bytes, and a byte has room for two
//! products. Let a and b be the coefficients of two rows of `left`. Entry e of their table has
//! `a e` in its low and `b e` in its high nibble. So one instruction multiplies 16 elements of
//! `right` by both. A register of `right` is split once into its low and its high nibbles, so each
//! pair of rows has two accumulators. At the end of the tile a shift-and-insert for each row brings
//! them into place:
//!
//! ```text
//! right         h3 l3 h2 l2 h1 l1 h0 l0     two elements a byte
//! low nibbles    . l3  . l2  . l1  . l0  -> table(a, b) -> bl al bl al bl al bl al   low accumulator
//! high nibbles   . h3  . h2  . h1  . h0  -> table(a, b) -> bh ah bh ah bh ah bh ah   high accumulator
//!
//! row of a      ah al of each byte          sli low, high, #4     keeps al, inserts ah above it
//! row of b      bh bl of each byte          sri high, low, #4     keeps bh, inserts bl below it
//! ```
//!
//! **Five rows at a step.** The three-way XOR of the SHA-3 extension adds two products to an
//! accumulator. With this extension four look-ups add five rows of `right`: `tbl` in two registers
//! takes an index of five bits. Processors that have the extension do it as fast as in one register
//! (Neoverse V1, N2, V2 and Cortex-X4 in LLVM's schedules, Apple M1 as published). The four bits of
//! an element of the fifth row e go above those of the other four rows. The upper half of each
//! table is its lower half plus the products with one bit of e:
//!
//! ```text
//! low nibbles    . . . e0 a3 a2 a1 a0  |  . . . e1 b3 b2 b1 b0  |  . . . e2 c3 c2 c1 c0  |  . . . e3 d3 d2 d1 d0
//! indices        m = e >> i & 0x11     low: sli a, m, #4     high: sri m, a, #4
//! ```
//!
//! Without the extension a step takes two rows, with tables of one register, as two registers are
//! slower on some processors (Cortex-A72).
//!
//! **Tables.** `left` is secret, so no table is fetched by a coefficient. All tables are computed
//! first, from the multiples of all pairs of a column at once. The table of pair j collects its
//! bytes from six registers, by constant indices:
//!
//! ```text
//! pairs       p0 p1 p2 .. p11 .. p15      a byte p is a + 16 b
//! registers   p      α p    (1 + α) p         bits 0 and 1 of e choose zero, or byte j of one of these
//!             α^2 p  α^3 p  (α^2 + α^3) p     bits 2 and 3 of e choose zero, or byte j of one of these
//! ```
//!
//! **Bound.** Five rows of `right` and one pair of rows of `left` take eight look-ups, four
//! three-way XORs and two loads: 320 multiply-accumulates in 14 instructions. The five rows take
//! five loads besides, and 18 instructions for their indices. Without the extension two rows take
//! four look-ups, four XORs and a load: 128 multiply-accumulates in nine instructions.
//!
//! **Wanted.** The loop has loads, `tbl`, `eor3`, the indices and nothing else; no accumulator is
//! in memory but those of a twelfth pair. The compiler would fetch all tables of the loop's body
//! first and move accumulators to memory, so the loop is assembly (`groups`). For six pairs and a
//! triangle it has 112 instructions, 17 multiply-accumulates each; for nine pairs and a full matrix
//! 151, 19 each.
//!
//! **Quirks.** The last tile overlaps the one before it, and its accumulators are masked, so no
//! byte beyond a row is touched. The loads of the last rows that reach a tile are masked too, as
//! the diagonal may cut one of these rows. It cuts no second one, as m-vectors are longer than a
//! register; for shorter ones the portable backend multiplies.

mod groups;

use super::vector::*;
use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::gf16;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand, Output, has_rows};
use core::mem::MaybeUninit;
use groups::add_groups;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
pub(super) fn left_product(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    product::<false>(left, right, out);
}

/// The same, with three-way XORs.
#[target_feature(enable = "sha3")]
pub(super) fn left_product_sha3(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    product::<true>(left, right, out);
}

#[inline(always)]
fn product<const SHA3: bool>(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    // No m-vector of any set is this short.
    if right.row_bytes() < REGISTER || (1..REGISTER).contains(&right.step()) || left.rows() == 0 || right.count() == 0 {
        return portable::left_product::left_product(left, right, out);
    }
    let mut scratch = [const { MaybeUninit::uninit() }; SCRATCH];
    let product = Product { left, right };
    match left.rows().div_ceil(2) {
        1 => product.write::<SHA3, 1>(&mut scratch, out),
        2 => product.write::<SHA3, 2>(&mut scratch, out),
        3 => product.write::<SHA3, 3>(&mut scratch, out),
        4 => product.write::<SHA3, 4>(&mut scratch, out),
        5 => product.write::<SHA3, 5>(&mut scratch, out),
        6 => product.write::<SHA3, 6>(&mut scratch, out),
        7 => product.write::<SHA3, 7>(&mut scratch, out),
        8 => product.write::<SHA3, 8>(&mut scratch, out),
        9 => product.write::<SHA3, 9>(&mut scratch, out),
        10 => product.write::<SHA3, 10>(&mut scratch, out),
        11 => product.write::<SHA3, 11>(&mut scratch, out),
        _ => product.write::<SHA3, MAX_PAIRS>(&mut scratch, out),
    }
}

/// A left product.
struct Product<'a> {
    left: Coefficients<'a>,
    right: Operand<'a>,
}

impl Product<'_> {
    /// Writes or adds the products of `PAIRS` pairs of rows of `left`, the last of which may lack
    /// its second row.
    #[inline(always)]
    fn write<const SHA3: bool, const PAIRS: usize>(
        &self,
        scratch: &mut [MaybeUninit<Vector>; SCRATCH],
        mut out: Output<'_>,
    ) {
        let in_block = BLOCK.min(SCRATCH / (registers::<SHA3>() * PAIRS) * group::<SHA3>());
        for first in (0..self.right.count()).step_by(in_block) {
            let block = Block { product: self, first, count: in_block.min(self.right.count() - first) };
            block.write_product::<SHA3, PAIRS>(scratch, out.next_term(0));
        }
    }
}

/// The rows of `right` whose tables are in memory together.
struct Block<'a> {
    product: &'a Product<'a>,
    first: usize,
    count: usize,
}

impl Block<'_> {
    /// Writes or adds the product, a register of columns at a time and a group of rows of `right`
    /// at a step.
    #[inline(always)]
    fn write_product<const SHA3: bool, const PAIRS: usize>(
        &self,
        scratch: &mut [MaybeUninit<Vector>; SCRATCH],
        out: Output<'_>,
    ) {
        let Product { left, right } = *self.product;
        let Output { bytes: out, stride, adds } = out;
        let tables = self.build_tables::<SHA3, PAIRS>(scratch);
        let step = right.step();
        let row_bytes = right.row_bytes();
        assert!(row_bytes >= REGISTER && right.offset(right.count()) == right.bytes().len(), "length of rows");
        assert!(has_rows(out, left.rows(), stride, row_bytes), "length of a product");
        // The place of column 0 of each row, extrapolated where the row begins later; a group's
        // missing rows have the place of the last row.
        let mut places = [0; BLOCK];
        let mut place = right.offset(self.first).wrapping_sub(self.first * step);
        let mut distance = row_bytes - self.first * step;
        for slot in &mut places[..self.count] {
            *slot = place;
            distance = distance.wrapping_sub(step);
            place = place.wrapping_add(distance);
        }
        let last = places[self.count - 1];
        places[self.count..self.count.next_multiple_of(group::<SHA3>())].fill(last);
        // Nothing of the block lies to the left of its first row.
        let mut column = self.first * step / REGISTER * REGISTER;
        let mut reached = if step == 0 { Reached::all::<SHA3>(self.count) } else { Reached::none(self.first * step) };
        while column < row_bytes {
            let begin = column.min(row_bytes - REGISTER);
            while reached.next_row <= begin {
                reached.add_row::<SHA3>(step);
                if reached.rows == self.count {
                    reached.next_row = usize::MAX;
                }
            }
            // SAFETY: `begin + REGISTER <= row_bytes`, and the rows have their lengths, as asserted
            // above. `SHA3` is true only in functions that may use the extension.
            let (mut low, mut high) = unsafe { self.sums_of_tile::<SHA3, PAIRS>(tables, &places, begin, &reached) };
            if begin < column && adds {
                // The tile before had the columns in front of `column`. They are added once, and
                // would be written a second time with the same sums.
                let new = from(column - begin);
                low = low.map(|low| and(low, new));
                high = high.map(|high| and(high, new));
            }
            let mut row = out[begin..].as_mut_ptr();
            for p in 0..PAIRS {
                // SAFETY: the tile is within a row of `out`, which has all rows, as asserted above.
                unsafe {
                    write_and_move(&mut row, stride, adds, low_nibbles(low[p], high[p]));
                    if p + 1 < PAIRS || left.rows().is_multiple_of(2) {
                        write_and_move(&mut row, stride, adds, high_nibbles(low[p], high[p]));
                    }
                }
            }
            column += REGISTER;
        }
        // SAFETY: the slice has as many bytes as the registers, and any bytes are valid registers.
        wipe(unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast::<u8>(), size_of_val(tables)) });
    }

    /// The low and the high accumulators for the columns from byte `column` on.
    ///
    /// # Safety
    ///
    /// The tile ends within row 0, and `right` has all bytes of its rows. `tables` and `places` are
    /// those of this block. `SHA3` is true only in functions that may use the extension.
    #[inline(always)]
    unsafe fn sums_of_tile<const SHA3: bool, const PAIRS: usize>(
        &self,
        tables: &[Vector],
        places: &[usize; BLOCK],
        column: usize,
        reached: &Reached,
    ) -> ([Vector; PAIRS], [Vector; PAIRS]) {
        let right = self.product.right;
        // All rows end together, so the tile ends within every row. A row that begins later than
        // the tile does so by less than the length of row 0. Row 0 lies in front of it in memory,
        // so the tile begins within `right` too. A mask removes the bytes of rows above.
        let bytes = right.bytes().as_ptr().wrapping_add(column);
        // SAFETY: the tile lies within `right`, as explained above.
        let load_row = |place: usize| unsafe { load(&*bytes.wrapping_add(place).cast()) };
        let mut low = [splat(0); PAIRS];
        let mut high = [splat(0); PAIRS];
        let mut next_tables = tables.as_ptr();
        // SAFETY: there are tables for each of the pairs and groups, and the caller vouches for
        // `SHA3`.
        unsafe {
            if SHA3 {
                let places = &places.as_chunks().0[..reached.groups];
                let stride = (right.step() == 0).then_some(right.row_bytes());
                add_groups(&mut low, &mut high, bytes, places, stride, &mut next_tables);
            } else {
                for places in &places.as_chunks::<2>().0[..2 * reached.groups] {
                    let indices = places.map(load_row).map(split);
                    add_half::<SHA3, PAIRS>(&mut low, &mut high, &mut next_tables, indices);
                }
            }
        }
        // The diagonal may cut one more row, and only one, as rows begin in different tiles.
        let cut = (column + REGISTER).saturating_sub(reached.next_row);
        let rest = reached.others + usize::from(cut > 0);
        if rest > 0 {
            let zeros = (group::<SHA3>() - reached.others) * REGISTER - cut;
            // SAFETY: a whole group has places, as its missing rows have some too.
            let places = unsafe { places.as_ptr().add(reached.groups * group::<SHA3>()) };
            // SAFETY: `zeros` is at most the bytes of a group's masks, half of `MASKS`.
            let masks = unsafe { MASKS.as_ptr().add(MASKS.len() / 2 - zeros) };
            // SAFETY: i is a row of the group, so its place and its mask are there; its tile lies
            // within `right`, as explained above.
            let masked = |i: usize| unsafe {
                let mask = masks.add((group::<SHA3>() - 1 - i) * REGISTER);
                and(load_row(*places.add(i)), load(&*mask.cast()))
            };
            // SAFETY: there are tables for the last group, and the caller vouches for `SHA3`.
            unsafe {
                if SHA3 && rest == group::<SHA3>() {
                    add_group(&mut low, &mut high, &mut next_tables, masked);
                } else {
                    add_half::<SHA3, PAIRS>(&mut low, &mut high, &mut next_tables, [masked(0), masked(1)].map(split));
                    if rest > 2 {
                        add_half::<SHA3, PAIRS>(
                            &mut low,
                            &mut high,
                            &mut next_tables,
                            [masked(2), masked(3)].map(split),
                        );
                    }
                }
            }
        }
        (low, high)
    }

    /// Computes the tables of the block, in the order in which the sums load them.
    ///
    /// Each half of each group of rows of `right` has the tables of all pairs of rows of `left`.
    #[inline(always)]
    fn build_tables<'t, const SHA3: bool, const PAIRS: usize>(
        &self,
        scratch: &'t mut [MaybeUninit<Vector>; SCRATCH],
    ) -> &'t mut [Vector] {
        let left = self.product.left;
        let groups = self.count.div_ceil(group::<SHA3>());
        let scratch = &mut scratch[..groups * PAIRS * registers::<SHA3>()];
        let spread_low = load(&SPREAD_LOW);
        let spread_high = load(&SPREAD_HIGH);
        let mut copies = [[0; 2 * REGISTER]; 5];
        let stride = left.elements().len() / left.columns();
        let enough = (group::<SHA3>() - 1) * stride + 2 * REGISTER;
        let pairs = |column: &[u8; 2 * REGISTER]| {
            let (even, odd) = deinterleave(column);
            let times = |table: &[u8; 16]| low_nibbles(look_up(load(table), even), look_up(load(table), odd));
            [low_nibbles(even, odd), times(&TIMES[0]), times(&TIMES[1]), times(&TIMES[2])]
        };
        for (g, tables) in scratch.chunks_exact_mut(PAIRS * registers::<SHA3>()).enumerate() {
            let first = g * group::<SHA3>();
            let elements = left.of_rows_from(self.first + first);
            let columns: [&[u8; 2 * REGISTER]; 5] = if first + group::<SHA3>() <= self.count && elements.len() >= enough
            {
                // The bytes behind a column do not matter.
                // SAFETY: `elements` has at least `enough` bytes: the columns, and a whole array
                // from the last one on.
                core::array::from_fn(|i| unsafe { &*elements.as_ptr().add(i.min(group::<SHA3>() - 1) * stride).cast() })
            } else {
                for (i, copy) in copies.iter_mut().enumerate() {
                    copy.fill(0);
                    if first + i < self.count {
                        let column = left.of_row(self.first + first + i);
                        copy[..column.len()].copy_from_slice(column);
                    }
                }
                copies.each_ref()
            };
            let fifth = if SHA3 { pairs(columns[4]) } else { [splat(0); 4] };
            for h in [0, 2] {
                let multiples = [0, 1].map(|i| {
                    let [pair, pair_2, pair_4, pair_8] = pairs(columns[h + i]);
                    ([pair, pair_2, xor(pair, pair_2)], [pair_4, pair_8, xor(pair_4, pair_8)], fifth[h + i])
                });
                let mut choice_low = spread_low;
                let mut choice_high = spread_high;
                let mut place = splat(0);
                let (half, other_half) = tables.split_at_mut(PAIRS * registers::<SHA3>() / 2);
                for tables in (if h == 0 { half } else { other_half }).chunks_exact_mut(registers::<SHA3>() / 2) {
                    let tables = tables.chunks_exact_mut(registers::<SHA3>() / 4);
                    // Bits 0 and 1 of e choose one product, bits 2 and 3 the other; two zero bits
                    // choose a place out of range, which gives zero.
                    for (table, ([a, b, c], [d, e, f], fifth)) in tables.zip(multiples) {
                        let products = xor(look_up_3(a, b, c, choice_low), look_up_3(d, e, f, choice_high));
                        table[0].write(products);
                        if let Some(table) = table.get_mut(1) {
                            table.write(xor(products, look_up(fifth, place)));
                        }
                    }
                    choice_low = add(choice_low, splat(1));
                    choice_high = add(choice_high, splat(1));
                    place = add(place, splat(1));
                }
            }
        }
        wipe(copies.as_flattened_mut());
        // SAFETY: the loops have written all of them.
        unsafe { core::slice::from_raw_parts_mut(scratch.as_mut_ptr().cast(), scratch.len()) }
    }
}

/// The rows of a block that begin in front of a tile or with it.
struct Reached {
    rows: usize,
    /// Whole groups of them.
    groups: usize,
    /// The rows behind the last whole group.
    others: usize,
    /// The column where the next row begins; `usize::MAX` behind the last row.
    next_row: usize,
}

impl Reached {
    const fn none(next_row: usize) -> Self {
        Self { rows: 0, groups: 0, others: 0, next_row }
    }

    const fn all<const SHA3: bool>(rows: usize) -> Self {
        Self { rows, groups: rows / group::<SHA3>(), others: rows % group::<SHA3>(), next_row: usize::MAX }
    }

    #[inline(always)]
    fn add_row<const SHA3: bool>(&mut self, step: usize) {
        self.rows += 1;
        self.others += 1;
        if self.others == group::<SHA3>() {
            self.groups += 1;
            self.others = 0;
        }
        self.next_row += step;
    }
}

/// Adds the products of a group of five rows of `right`; the pointer to their tables moves on.
///
/// # Safety
///
/// As for [`add_products`], and the caller may use the SHA-3 extension.
#[inline(always)]
unsafe fn add_group<const PAIRS: usize>(
    low: &mut [Vector; PAIRS],
    high: &mut [Vector; PAIRS],
    tables: &mut *const Vector,
    row: impl Fn(usize) -> Vector,
) {
    let fifth = row(4);
    let indices = |row, bits| {
        let bits = and(bits, splat(0x11));
        Nibbles { low: low_nibbles(row, bits), high: high_nibbles(row, bits) }
    };
    let first = [indices(row(0), fifth), indices(row(1), shift_right::<1>(fifth))];
    // SAFETY: the caller vouches for the tables and the extension.
    unsafe { add_half::<true, PAIRS>(low, high, tables, first) };
    let second = [indices(row(2), shift_right::<2>(fifth)), indices(row(3), shift_right::<3>(fifth))];
    // SAFETY: as above.
    unsafe { add_half::<true, PAIRS>(low, high, tables, second) };
}

/// Adds the entries of half a group's tables for the indices; the pointer to the tables moves on.
///
/// # Safety
///
/// As for [`add_products`].
#[inline(always)]
unsafe fn add_half<const SHA3: bool, const PAIRS: usize>(
    low: &mut [Vector; PAIRS],
    high: &mut [Vector; PAIRS],
    tables: &mut *const Vector,
    indices: [Nibbles; 2],
) {
    for p in 0..PAIRS {
        // SAFETY: the caller vouches for the tables and the extension.
        unsafe { add_products::<SHA3>(&mut low[p], &mut high[p], tables, indices) };
    }
}

/// The nibbles of a row, which are indices.
#[inline(always)]
fn split(row: Vector) -> Nibbles {
    Nibbles { low: and(row, splat(15)), high: shift_right::<4>(row) }
}

/// Rows of `right` in a group.
const fn group<const SHA3: bool>() -> usize {
    if SHA3 { 5 } else { 4 }
}

/// Registers of the four tables of a group of rows of `right` and a pair of rows of `left`.
const fn registers<const SHA3: bool>() -> usize {
    if SHA3 { 8 } else { 4 }
}

/// All ones in the bytes from `start` to the end of a register.
#[inline(always)]
fn from(start: usize) -> Vector {
    load_at(&MASKS, MASKS.len() / 2 - start)
}

const MAX_PAIRS: usize = MAX_ROWS / 2;
const _: () = assert!(MAX_ROWS.is_multiple_of(2) && MAX_PAIRS == 12);
/// The most rows of `right` whose tables are in memory at a time; all rows of any set fit.
const BLOCK: usize = 160;
/// The most registers of tables, 44 KiB. Each tile reads them once, and more would not stay in an
/// L1 of 64 KiB.
const SCRATCH: usize = 2816;
/// α, α^2 and α^3 times each element.
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
/// For each element e, 16 times the number of the register that its bits 0 and 1 choose; out of
/// range for zero.
const SPREAD_LOW: [u8; 16] = spread(0);
/// The same for bits 2 and 3.
const SPREAD_HIGH: [u8; 16] = spread(2);

/// For each element e, 16 times the number of the register that its bits `shift` and `shift + 1`
/// choose.
const fn spread(shift: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut e = 0;
    while e < 16 {
        table[e] = [0x80, 0x00, 0x10, 0x20][e >> shift & 3];
        e += 1;
    }
    table
}

/// The masks of a group, those of its last row first, are a window of this array.
const MASKS: [u8; 10 * REGISTER] = {
    let mut masks = [0; 10 * REGISTER];
    let mut i = masks.len() / 2;
    while i < masks.len() {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};
