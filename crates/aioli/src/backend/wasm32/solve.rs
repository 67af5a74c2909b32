//! Solving on vectors of 128 bits: the elimination by columns of
//! [`portable::solve`](crate::backend::portable::solve), two columns and two pivots at a time.
//!
//! **Layout.** A byte has the entries of two columns in one row. Rows are permuted, the even ones
//! first, which does not change the solution.
//!
//! ```text
//! columns      c1 c0 | c3 c2 | ..      d1 d0 | d3 d2 | ..
//! pair         d0 c0 | d2 c2 | ..   ,  d1 c1 | d3 c3 | ..
//! ```
//!
//! **Idea.** Let s and t be the entries of a later pair in the pivot row; elimination adds `s g` to
//! the one column and `t g` to the other. A register gets the multiples of both, `t e` and `s e` in
//! the byte at place e, by adding logarithms. Then `i8x16.swizzle` by g multiplies 16 rows of both.
//!
//! **Two pivots.** The first pivot of a pair, in row p, turns every column c into `c + c[p] g`; the
//! second, in row q, turns it into `c + c[q] h`. One after the other they make
//! `c + c[p] (g + g[q] h) + c[q] h`, where c\[p\] and c\[q\] are the entries before both. So later
//! pairs are loaded once, and their two tables do not depend on each other.
//!
//! **Bound.** A later pair of `REGISTERS` registers and two pivots take `10 REGISTERS + 28`
//! instructions of WebAssembly.
//!
//! **Quirks.** The pivot's row is secret, so it is fetched by masks, one for each register. A
//! column without a pivot has place 255, which is no row; its masks and its g are zero.
//!
//! **Cost.** On x86-64, `i8x16.swizzle` takes two instructions and a shift of bytes, too.

use super::vector::*;
use crate::backend::contract::{MAX_EQUATIONS, MAX_UNKNOWNS};
use crate::gf16::{self, IN_PIVOT_ROW, INVERSE};
use crate::memory::wipe;

/// See [`Backend::solve`](crate::backend::Backend::solve).
pub(super) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(REGISTER) {
        ..=4 => solve_in::<4>(columns, m, x),
        5 => solve_in::<5>(columns, m, x),
        6 | 7 => solve_in::<7>(columns, m, x),
        _ => solve_in::<{ MAX_EQUATIONS.div_ceil(REGISTER) }>(columns, m, x),
    }
}

/// Two columns, in memory and in registers.
type Pair<const REGISTERS: usize> = [[u8; REGISTER]; REGISTERS];
type Vectors<const REGISTERS: usize> = [Vector; REGISTERS];

/// Solves with `REGISTERS` registers a pair of columns.
fn solve_in<const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(m <= REGISTER * REGISTERS && m.is_multiple_of(2), "rows of a linear system");
    assert!(packed.len() == (x.len() + 1) * m / 2 && x.len() < 2 * MAX_PAIRS, "shape of a linear system");
    let mut pairs = [[[0; REGISTER]; REGISTERS]; MAX_PAIRS];
    let pairs = &mut pairs[..(x.len() + 1).div_ceil(2)];
    for (pair, columns) in pairs.iter_mut().zip(packed.chunks(m)) {
        join(columns, m / 2, pair.as_flattened_mut());
    }
    let mut rows = Rows::new(m);
    let mut pivots = [[NO_ROW; 2]; MAX_PAIRS];

    for c in 0..x.len().div_ceil(2) {
        let (pair, later) = pairs[c..].split_first_mut().expect("y and the columns before it");
        // The first column's pivot changes the second column of the pair before that one's pivot is
        // sought.
        let whole = loaded(pair);
        let first = Pivot::new(whole.map(|pair| and(pair, splat(15))), &mut rows);
        let table = multiples(first.row.select(whole));
        let whole: Vectors<REGISTERS> = core::array::from_fn(|n| xor(whole[n], look_up(table, first.g[n])));
        let mut second = whole.map(|pair| split(pair).high);
        if 2 * c + 1 == x.len() {
            // The second column is y, in which no pivot is sought.
            second = [splat(0); REGISTERS];
            stored(pair, whole);
        }
        let second = Pivot::new(second, &mut rows);
        let table = multiples(second.row.select(first.g));
        let g: Vectors<REGISTERS> = core::array::from_fn(|n| xor(first.g[n], look_up(table, second.g[n])));
        for pair in later {
            let whole = loaded(pair);
            let by_g = multiples(first.row.select(whole));
            let by_h = multiples(second.row.select(whole));
            let sum = |n: usize| xor(whole[n], xor(look_up(by_g, g[n]), look_up(by_h, second.g[n])));
            stored(pair, core::array::from_fn(sum));
        }
        pivots[c] = [first.row.number(), second.row.number()];
    }

    let y = loaded(&pairs[x.len() / 2]).map(|pair| if x.len().is_multiple_of(2) { pair } else { split(pair).high });
    for (x, &pivot) in x.iter_mut().zip(pivots.as_flattened()) {
        *x = first(Row::new(splat(pivot)).select(y)) & 15;
    }
    let full_rank = rows.all_are_used();
    wipe(pairs.as_flattened_mut().as_flattened_mut());
    wipe(pivots.as_flattened_mut());
    wipe(packed);
    full_rank
}

/// Joins two packed columns of `half` bytes to a pair. The second one may be missing.
fn join(columns: &[u8], half: usize, pair: &mut [u8]) {
    let (first, second) = columns.split_at(half);
    let second = if second.is_empty() { &[0; MAX_EQUATIONS / 2][..half] } else { second };
    let (even, odd) = pair.split_at_mut(half);
    for (((even, odd), first), second) in even.iter_mut().zip(odd).zip(first).zip(second) {
        *even = first & 15 | second << 4;
        *odd = first >> 4 | second & 0xf0;
    }
}

#[inline(always)]
fn loaded<const REGISTERS: usize>(pair: &Pair<REGISTERS>) -> Vectors<REGISTERS> {
    core::array::from_fn(|n| load(&pair[n]))
}

#[inline(always)]
fn stored<const REGISTERS: usize>(pair: &mut Pair<REGISTERS>, vectors: Vectors<REGISTERS>) {
    for (bytes, vector) in pair.iter_mut().zip(vectors) {
        store(bytes, vector);
    }
}

/// The rows without a pivot: their numbers, and [`NO_ROW`] for all others.
struct Rows<const REGISTERS: usize>(Vectors<REGISTERS>);

impl<const REGISTERS: usize> Rows<REGISTERS> {
    fn new(m: usize) -> Self {
        Self(core::array::from_fn(|n| {
            let numbers = numbers(n);
            or(numbers, not_below(numbers, splat(m as u8)))
        }))
    }

    /// Takes the first of these rows in which a column, one element a byte, is not zero.
    #[inline(always)]
    fn take(&mut self, column: &Vectors<REGISTERS>) -> Row<REGISTERS> {
        let mut lowest = splat(NO_ROW);
        for (&row, &entry) in self.0.iter().zip(column) {
            lowest = min(lowest, or(row, equal(entry, splat(0))));
        }
        let row = Row::new(least(lowest));
        for (rows, here) in self.0.iter_mut().zip(row.masks) {
            *rows = or(*rows, here);
        }
        row
    }

    /// One if each row has a pivot, zero if not.
    fn all_are_used(&self) -> u8 {
        let lowest = self.0.into_iter().fold(splat(NO_ROW), |lowest, rows| min(lowest, rows));
        first(equal(least(lowest), splat(NO_ROW))) & 1
    }
}

/// A row, or none.
struct Row<const REGISTERS: usize> {
    /// Its number in all bytes; [`NO_ROW`] for none.
    number: Vector,
    /// All ones in its byte.
    masks: Vectors<REGISTERS>,
}

impl<const REGISTERS: usize> Row<REGISTERS> {
    #[inline(always)]
    fn new(number: Vector) -> Self {
        Self { number, masks: core::array::from_fn(|n| equal(numbers(n), number)) }
    }

    #[inline(always)]
    fn number(&self) -> u8 {
        first(self.number)
    }

    /// The byte of this row, in all bytes of a register; zero for no row.
    #[inline(always)]
    fn select(&self, rows: Vectors<REGISTERS>) -> Vector {
        let mut found = splat(0);
        for (rows, here) in rows.into_iter().zip(self.masks) {
            found = or(found, and(rows, here));
        }
        look_up(found, and(self.number, splat(15)))
    }
}

/// The pivot of a column: its row, and the m-vector g of the elimination.
struct Pivot<const REGISTERS: usize> {
    row: Row<REGISTERS>,
    /// g, one element a byte: elimination adds to each later column its entry in the pivot row
    /// times g.
    g: Vectors<REGISTERS>,
}

impl<const REGISTERS: usize> Pivot<REGISTERS> {
    /// Finds the pivot of a column, one element a byte.
    #[inline(always)]
    fn new(column: Vectors<REGISTERS>, rows: &mut Rows<REGISTERS>) -> Self {
        let row = rows.take(&column);
        let pivot = row.select(column);
        let table = multiples(look_up(load(&INVERSE), pivot));
        // An entry s of the pivot row becomes s / pivot.
        let own = look_up(load(&IN_PIVOT_ROW), pivot);
        let g = core::array::from_fn(|n| select(row.masks[n], own, look_up(table, column[n])));
        Self { row, g }
    }
}

/// The products of both elements of a byte with each element. `byte` is the byte in all places.
#[inline(always)]
fn multiples(byte: Vector) -> Vector {
    let Nibbles { low, high } = split(byte);
    let logarithms = load(&LOGARITHM);
    let product = |element, exponentials: &[u8; 16]| {
        let sum = add(look_up(logarithms, element), logarithms);
        // Less than 15: the difference has wrapped around if the sum is.
        look_up(load(exponentials), min(sum, sub(sum, splat(15))))
    };
    or(product(low, &EXPONENTIALS[0]), product(high, &EXPONENTIALS[1]))
}

/// The numbers of the rows in the n-th register of a pair.
#[inline(always)]
fn numbers(n: usize) -> Vector {
    add(load(&IOTA), splat((REGISTER * n) as u8))
}

/// The least byte, in all places.
#[inline(always)]
fn least(bytes: Vector) -> Vector {
    let least = min(bytes, i64x2_shuffle::<1, 0>(bytes, bytes));
    let least = min(least, i32x4_shuffle::<1, 0, 3, 2>(least, least));
    let least = min(least, i16x8_shuffle::<1, 0, 3, 2, 5, 4, 7, 6>(least, least));
    min(least, i8x16_shuffle::<1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14>(least, least))
}

/// Pairs of columns, of A and y together.
const MAX_PAIRS: usize = (MAX_UNKNOWNS + 1).div_ceil(2);

/// The number of no row.
const NO_ROW: u8 = 255;
const _: () = assert!(MAX_EQUATIONS.next_multiple_of(REGISTER) <= NO_ROW as usize);

const IOTA: [u8; REGISTER] = {
    let mut bytes = [0; REGISTER];
    let mut i = 0;
    while i < REGISTER {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
};

/// The powers of α, in the low and in the high nibble.
const EXPONENTIALS: [[u8; 16]; 2] = {
    let mut tables = [[0; 16]; 2];
    let mut power = 1;
    let mut e = 0;
    while e < 15 {
        tables[0][e] = power;
        tables[1][e] = power << 4;
        power = gf16::mul(power, 2);
        e += 1;
    }
    tables
};

/// Logarithms to the base α. That of zero is so large that no sum with it is in range of a table.
const LOGARITHM: [u8; 16] = {
    let mut table = [64; 16];
    let mut e = 0;
    while e < 15 {
        table[EXPONENTIALS[0][e] as usize] = e as u8;
        e += 1;
    }
    table
};
