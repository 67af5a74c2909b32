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
//! With the SHA-3 extension, whose three-way XOR takes two products into an accumulator, five rows of the operand are
//! added at a step by four look-ups: `tbl` in two registers has room for an index of five bits, and where there is this
//! extension it is as fast as in one (Neoverse V1, N2, V2 and Cortex-X4 in LLVM's schedules, Apple M1 as published).
//! The four bits of an element of the fifth row e go above those of the other four rows, and the upper half of their
//! tables is the lower one plus the products with one bit of e:
//!
//! ```text
//! low nibbles    . . . e0 a3 a2 a1 a0  |  . . . e1 b3 b2 b1 b0  |  . . . e2 c3 c2 c1 c0  |  . . . e3 d3 d2 d1 d0
//! indices        m = e >> i & 0x11     low: sli a, m, #4     high: sri m, a, #4
//! ```
//!
//! Without the extension a step is two rows, with tables of one register: there are processors (Cortex-A72) on which
//! two are slower.
//!
//! X is secret, so no table is fetched by a coefficient. All of them are computed first, from the multiples of all
//! pairs of a column at once: the table of pair j collects its bytes from registers, by constant indices:
//!
//! ```text
//! pairs      p0 p1 p2 .. p11 .. p15      p = a + 16 b, so p, x p, (1 + x) p, x^2 p, x^3 p, (x^2 + x^3) p are six registers
//! table j    bits 0, 1 of e choose among nothing and byte j of the first three, bits 2, 3 of the last three
//! ```
//!
//! **Bound.** For five rows of the operand and one pair of X eight look-ups, four three-way XORs and two loads: 320
//! multiply-accumulates in 14 instructions; and beside them five loads, and 18 instructions for the indices of five
//! rows. (Without the extension for two rows four look-ups, four XORs and a load: 128 in nine.)
//!
//! **Wanted.** In the loop loads, `tbl`, `eor3` and the indices, nothing else; no accumulator in memory but those of a
//! twelfth pair. Left to itself the compiler fetches all tables of the loop's body first and moves accumulators to
//! memory, so the loop is assembly (`groups`). For six pairs and a triangle it has 112 instructions, 17
//! multiply-accumulates each; for nine pairs and a full matrix 151, 19 each.
//!
//! **Quirks.** The last tile overlaps the one before it and its accumulators are masked, so no byte beyond a row is
//! touched; so are the loads of the last rows that reach a tile, of which the diagonal may cut one. It cuts no second one,
//! as m-vectors are longer than a register; where they are not, the portable backend multiplies.

mod groups;

use super::vector::*;
use crate::backend::contract::MAX_ROWS;
use crate::backend::portable;
use crate::gf16;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand, has_rows};
use core::mem::MaybeUninit;
use groups::add_groups;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
pub(super) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    product::<false>(x, rows, out, stride);
}

/// The same, with three-way XORs.
#[target_feature(enable = "sha3")]
pub(super) fn left_product_sha3(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    product::<true>(x, rows, out, stride);
}

#[inline(always)]
fn product<const SHA3: bool>(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    // No m-vector is so short.
    if rows.row_bytes() < REGISTER || (1..REGISTER).contains(&rows.step()) || x.rows() == 0 {
        return portable::left_product::left_product(x, rows, out, stride);
    }
    let mut scratch = [const { MaybeUninit::uninit() }; SCRATCH];
    let product = Product { x, rows, stride };
    match x.rows().div_ceil(2) {
        1 => product.add::<SHA3, 1>(&mut scratch, out),
        2 => product.add::<SHA3, 2>(&mut scratch, out),
        3 => product.add::<SHA3, 3>(&mut scratch, out),
        4 => product.add::<SHA3, 4>(&mut scratch, out),
        5 => product.add::<SHA3, 5>(&mut scratch, out),
        6 => product.add::<SHA3, 6>(&mut scratch, out),
        7 => product.add::<SHA3, 7>(&mut scratch, out),
        8 => product.add::<SHA3, 8>(&mut scratch, out),
        9 => product.add::<SHA3, 9>(&mut scratch, out),
        10 => product.add::<SHA3, 10>(&mut scratch, out),
        11 => product.add::<SHA3, 11>(&mut scratch, out),
        _ => product.add::<SHA3, MAX_PAIRS>(&mut scratch, out),
    }
}

/// A left product.
struct Product<'a> {
    x: Coefficients<'a>,
    rows: Operand<'a>,
    stride: usize,
}

impl Product<'_> {
    /// Adds the products of `PAIRS` pairs of rows of X, the last one perhaps without its second.
    #[inline(always)]
    fn add<const SHA3: bool, const PAIRS: usize>(&self, scratch: &mut [MaybeUninit<Vector>; SCRATCH], out: &mut [u8]) {
        let in_block = BLOCK.min(SCRATCH / (registers::<SHA3>() * PAIRS) * group::<SHA3>());
        for first in (0..self.rows.count()).step_by(in_block) {
            let block = Block { product: self, first, count: in_block.min(self.rows.count() - first) };
            block.add_product::<SHA3, PAIRS>(scratch, out);
        }
    }
}

/// Some rows of the operand.
struct Block<'a> {
    product: &'a Product<'a>,
    /// The first row and how many.
    first: usize,
    count: usize,
}

impl Block<'_> {
    /// Adds the product, a register of columns at a time and a group of rows of the operand at a step.
    #[inline(always)]
    fn add_product<const SHA3: bool, const PAIRS: usize>(
        &self,
        scratch: &mut [MaybeUninit<Vector>; SCRATCH],
        out: &mut [u8],
    ) {
        let Product { x, rows, stride } = *self.product;
        let tables = self.build_tables::<SHA3, PAIRS>(scratch);
        let (step, row_bytes) = (rows.step(), rows.row_bytes());
        assert!(row_bytes >= REGISTER && rows.offset(rows.count()) == rows.bytes().len(), "length of rows");
        assert!(has_rows(out, x.rows(), stride, row_bytes), "length of a product");
        // Where column 0 of each row is, or were if the row had it; of a group's missing rows, that of the last one.
        let mut places = [0; BLOCK];
        let mut place = rows.offset(self.first).wrapping_sub(self.first * step);
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
            // SAFETY: `begin + REGISTER <= row_bytes`, and the rows have their lengths, as asserted above; `SHA3` is as
            // this function's caller says.
            let (mut low, mut high) = unsafe { self.sums_of_tile::<SHA3, PAIRS>(tables, &places, begin, &reached) };
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
                    add_and_move(&mut row, stride, low_nibbles(low[p], high[p]));
                    if p + 1 < PAIRS || x.rows().is_multiple_of(2) {
                        add_and_move(&mut row, stride, high_nibbles(low[p], high[p]));
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
    unsafe fn sums_of_tile<const SHA3: bool, const PAIRS: usize>(
        &self,
        tables: &[Vector],
        places: &[usize; BLOCK],
        column: usize,
        reached: &Reached,
    ) -> ([Vector; PAIRS], [Vector; PAIRS]) {
        let rows = self.product.rows;
        // A row reaches as far to the right as row 0, so the tile ends within it. Row 0, which lies in front of every
        // other row, is at least as long as from the beginning of the tile to that of the row: so the tile lies within
        // the operand, and what it has of rows above is masked.
        let bytes = rows.bytes().as_ptr().wrapping_add(column);
        // SAFETY: a tile within the rows, as said above.
        let load_row = |place: usize| unsafe { load(&*bytes.wrapping_add(place).cast()) };
        let (mut low, mut high) = ([splat(0); PAIRS], [splat(0); PAIRS]);
        let mut next_tables = tables.as_ptr();
        // SAFETY: tables for each of the pairs and groups, and `SHA3` as the caller says.
        unsafe {
            if SHA3 {
                let places = &places.as_chunks().0[..reached.groups];
                let stride = (rows.step() == 0).then_some(rows.row_bytes());
                add_groups(&mut low, &mut high, bytes, places, stride, &mut next_tables);
            } else {
                for places in &places.as_chunks::<2>().0[..2 * reached.groups] {
                    let indices = places.map(load_row).map(split);
                    add_half::<SHA3, PAIRS>(&mut low, &mut high, &mut next_tables, indices);
                }
            }
        }
        // The diagonal may cut one row more, as rows begin in different tiles.
        let cut = (column + REGISTER).saturating_sub(reached.next_row);
        let rest = reached.others + usize::from(cut > 0);
        if rest > 0 {
            let zeros = (group::<SHA3>() - reached.others) * REGISTER - cut;
            // SAFETY: places of a whole group, as those of the missing rows are there; and a window of the masks, as
            // `zeros` is at most as many as a group has.
            let (places, masks) = unsafe {
                (places.as_ptr().add(reached.groups * group::<SHA3>()), MASKS.as_ptr().add(MASKS.len() / 2 - zeros))
            };
            // SAFETY: of at most as many rows as a group has; their tiles are within the operand, as said above.
            let masked = |i: usize| unsafe {
                let mask = masks.add((group::<SHA3>() - 1 - i) * REGISTER);
                and(load_row(*places.add(i)), load(&*mask.cast()))
            };
            // SAFETY: as above.
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

    /// Computes the tables of the block: for each group of rows of the operand and each pair of rows of X those of the
    /// group together, as they are loaded.
    #[inline(always)]
    fn build_tables<'t, const SHA3: bool, const PAIRS: usize>(
        &self,
        scratch: &'t mut [MaybeUninit<Vector>; SCRATCH],
    ) -> &'t mut [Vector] {
        let x = self.product.x;
        let groups = self.count.div_ceil(group::<SHA3>());
        let scratch = &mut scratch[..groups * PAIRS * registers::<SHA3>()];
        let (spread_low, spread_high) = (load(&SPREAD_LOW), load(&SPREAD_HIGH));
        let mut copies = [[0; 2 * REGISTER]; 5];
        let stride = x.elements().len() / x.columns();
        let enough = (group::<SHA3>() - 1) * stride + 2 * REGISTER;
        let pairs = |column: &[u8; 2 * REGISTER]| {
            let (even, odd) = deinterleave(column);
            let times = |table: &[u8; 16]| low_nibbles(look_up(load(table), even), look_up(load(table), odd));
            [low_nibbles(even, odd), times(&TIMES[0]), times(&TIMES[1]), times(&TIMES[2])]
        };
        for (g, tables) in scratch.chunks_exact_mut(PAIRS * registers::<SHA3>()).enumerate() {
            let first = g * group::<SHA3>();
            let elements = x.of_rows_from(self.first + first);
            let columns: [&[u8; 2 * REGISTER]; 5] = if first + group::<SHA3>() <= self.count && elements.len() >= enough
            {
                // What is behind a column does not matter.
                // SAFETY: so many columns and the bytes behind the beginning of the last one are there.
                core::array::from_fn(|i| unsafe { &*elements.as_ptr().add(i.min(group::<SHA3>() - 1) * stride).cast() })
            } else {
                for (i, copy) in copies.iter_mut().enumerate() {
                    copy.fill(0);
                    if first + i < self.count {
                        let column = x.of_row(self.first + first + i);
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
                let (mut choice_low, mut choice_high, mut place) = (spread_low, spread_high, splat(0));
                let (half, other_half) = tables.split_at_mut(PAIRS * registers::<SHA3>() / 2);
                for tables in (if h == 0 { half } else { other_half }).chunks_exact_mut(registers::<SHA3>() / 2) {
                    let tables = tables.chunks_exact_mut(registers::<SHA3>() / 4);
                    // What bits 0 and 1 of e choose, and what bits 2 and 3 do; nothing is out of range, and that gives
                    // zero.
                    for (table, ([a, b, c], [d, e, f], fifth)) in tables.zip(multiples) {
                        let products = xor(look_up_3(a, b, c, choice_low), look_up_3(d, e, f, choice_high));
                        table[0].write(products);
                        if let Some(table) = table.get_mut(1) {
                            table.write(xor(products, look_up(fifth, place)));
                        }
                    }
                    (choice_low, choice_high) = (add(choice_low, splat(1)), add(choice_high, splat(1)));
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
    /// They are so many groups and so many others.
    groups: usize,
    others: usize,
    /// Where the next row begins; far behind everything if there is none.
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
            (self.groups, self.others) = (self.groups + 1, 0);
        }
        self.next_row += step;
    }
}

/// Adds the products of a group of five rows of the operand; the pointer to their tables moves on.
///
/// # Safety
///
/// As for [`add_products`], and only for functions that may use the SHA-3 extension.
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
    // SAFETY: as the caller says.
    unsafe { add_half::<true, PAIRS>(low, high, tables, first) };
    let second = [indices(row(2), shift_right::<2>(fifth)), indices(row(3), shift_right::<3>(fifth))];
    // SAFETY: as the caller says.
    unsafe { add_half::<true, PAIRS>(low, high, tables, second) };
}

/// Adds what a half of a group's tables has for the indices; the pointer to them moves on.
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
        // SAFETY: as the caller says.
        unsafe { add_products::<SHA3>(&mut low[p], &mut high[p], tables, indices) };
    }
}

/// The indices of a row.
#[inline(always)]
fn split(row: Vector) -> Nibbles {
    Nibbles { low: and(row, splat(15)), high: shift_right::<4>(row) }
}

/// Rows of the operand in a group.
const fn group<const SHA3: bool>() -> usize {
    if SHA3 { 5 } else { 4 }
}

/// Registers of the four tables of a group and a pair.
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
/// The most rows of the operand whose tables are in memory at a time, and the most registers of tables, 44 KiB: they are
/// read once for each tile, and more would not stay in an L1 of 64 KiB. All rows of any set fit.
const BLOCK: usize = 160;
const SCRATCH: usize = 2816;
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

/// What the masks of a group are a window of, those of its last row first.
const MASKS: [u8; 10 * REGISTER] = {
    let mut masks = [0; 10 * REGISTER];
    let mut i = masks.len() / 2;
    while i < masks.len() {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};
