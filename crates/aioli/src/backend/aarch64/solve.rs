//! Solving with NEON: the elimination by columns of
//! [`portable::solve`](crate::backend::portable::solve), two columns and two pivots at a time.
//!
//! **Layout.** Two columns share their registers: a byte has their two entries in one row, so the
//! pivot row is never half a byte. Rows are permuted, the even ones first, which does not change
//! the solution.
//!
//! ```text
//! column c       c1 c0 | c3 c2 | ..          sli c, d, #4     d0 c0 | d2 c2 | ..     even rows of both
//! column d       d1 d0 | d3 d2 | ..          sri d, c, #4     d1 c1 | d3 c3 | ..     odd rows, right behind them
//! ```
//!
//! **Idea.** Let s and t be the entries of the two columns in the pivot row; elimination adds `s g`
//! and `t g`. `tbl` fetches and broadcasts the byte of both. Reduced carry-less products with 0 ..
//! 15 make the table of their multiples, and one `tbl` by g multiplies 16 rows of both.
//!
//! **Two pivots.** The first pivot of a pair, in row p, turns every column c into `c + c[p] g`; the
//! second, in row q, turns it into `c + c[q] h`. One after the other they make
//! `c + c[p] (g + g[q] h) + c[q] h`, where c\[p\] and c\[q\] are the entries before both. So later
//! pairs are loaded once, their two tables do not depend on each other, and a three-way XOR adds
//! both.
//!
//! **Constant time.** The pivot's row is secret. It is a minimum of places and goes only into the
//! indices of `tbl` and into compares, which are registers. No address and no branch depends on it.
//! A column without a pivot has place 255, out of range of every `tbl`, which gives zero; so g = 0.
//!
//! **Cost.** A pair has `REGISTERS` registers. With the SHA-3 extension a later pair of columns and
//! two pivots take about 26 + 4 `REGISTERS` instructions. Nine registers take 68, as they leave
//! none for constants. From seven on the loop is assembly (`columns`).

mod columns;

use super::vector::*;
use crate::backend::contract::MAX_UNKNOWNS;
use crate::gf16::{IN_PIVOT_ROW, INVERSE};
use crate::memory::wipe;
use columns::add_multiples;

/// See [`Backend::solve`](crate::backend::Backend::solve).
pub(super) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    for_size::<false>(columns, m, x)
}

/// The same, with three-way XORs.
#[target_feature(enable = "sha3")]
pub(super) fn solve_sha3(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    for_size::<true>(columns, m, x)
}

#[inline(always)]
fn for_size<const SHA3: bool>(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(16) {
        ..=4 => solve_in::<SHA3, 4>(columns, m, x),
        5 => solve_in::<SHA3, 5>(columns, m, x),
        6 | 7 => solve_in::<SHA3, 7>(columns, m, x),
        _ => solve_in::<SHA3, 9>(columns, m, x),
    }
}

/// Solves with `REGISTERS` registers a pair of columns.
#[inline(always)]
fn solve_in<const SHA3: bool, const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(m <= 16 * REGISTERS && m.is_multiple_of(2), "rows of a linear system");
    assert!(packed.len() == (x.len() + 1) * m / 2 && x.len() < 2 * MAX_PAIRS, "shape of a linear system");
    let mut pairs = [[splat(0); REGISTERS]; MAX_PAIRS];
    let pairs = &mut pairs[..(x.len() + 1).div_ceil(2)];
    let mut bytes = [0; 16 * MAX_REGISTERS + 16];
    for (i, pair) in pairs.iter_mut().enumerate() {
        join::<REGISTERS>(&packed[i * m..], m, &mut bytes);
        *pair = core::array::from_fn(|n| load_at(&bytes, 16 * n));
    }
    // The places of the rows that have no pivot yet; 255 for the others.
    let mut places: [_; REGISTERS] = core::array::from_fn(|n| {
        let places = add(load(&IOTA), splat(16 * n as u8));
        select(less(places, splat(m as u8)), places, splat(255))
    });
    let mut pivots = [[splat(0); 2]; MAX_PAIRS];
    let nibbles = splat(15);

    for c in 0..x.len().div_ceil(2) {
        // The first column's pivot changes the second column of the pair before that one's pivot is
        // sought.
        let first = Pivot::new(pairs[c].map(|pair| and(pair, nibbles)), &mut places);
        let table = table_of(first.place.select(pairs[c]));
        let pair = core::array::from_fn(|n| xor(pairs[c][n], look_up(table, first.g[n])));
        let mut second = pair.map(shift_right::<4>);
        if 2 * c + 1 == x.len() {
            // The second column is y, in which no pivot is sought.
            second = [splat(0); REGISTERS];
            pairs[c] = pair;
        }
        let second = Pivot::new(second, &mut places);
        let table = table_of(second.place.select(first.g));
        let g: [_; REGISTERS] = core::array::from_fn(|n| xor(first.g[n], look_up(table, second.g[n])));
        let h = second.g;
        pivots[c] = [first.place.0, second.place.0];
        if SHA3 && REGISTERS > 5 {
            // SAFETY: only called where the extension may be used.
            unsafe { add_multiples(&mut pairs[c + 1..], pivots[c], &g, &h) };
        } else {
            for later in &mut pairs[c + 1..] {
                let by_g = table_of(first.place.select(*later));
                let by_h = table_of(second.place.select(*later));
                for n in 0..REGISTERS {
                    later[n] = xor3(later[n], look_up(by_g, g[n]), look_up(by_h, h[n]));
                }
            }
        }
    }

    let y = pairs[x.len() / 2]
        .map(|pair| if x.len().is_multiple_of(2) { and(pair, nibbles) } else { shift_right::<4>(pair) });
    for (x, &pivot) in x.iter_mut().zip(pivots.as_flattened()) {
        *x = first(Place(pivot).select(y));
    }
    let left_over = places.into_iter().fold(splat(255), min);
    let full_rank = least(equal(left_over, splat(255))) & 1;
    pairs.fill([splat(0); REGISTERS]);
    zeroize::optimization_barrier(pairs);
    pivots.fill([splat(0); 2]);
    zeroize::optimization_barrier(&pivots);
    wipe(&mut bytes);
    wipe(packed);
    full_rank
}

/// Joins two packed columns of `m` elements to `m` bytes, even rows first, and zeros up to
/// `REGISTERS` registers.
///
/// The second column may be missing, and more columns may follow.
#[inline(always)]
fn join<const REGISTERS: usize>(columns: &[u8], m: usize, bytes: &mut [u8; 16 * MAX_REGISTERS + 16]) {
    let half = m / 2;
    let length = 16 * REGISTERS.div_ceil(2);
    let mut copy = [0; 16 * MAX_REGISTERS + 16];
    let short = columns.len() < half + length;
    let columns = if short {
        copy[..columns.len()].copy_from_slice(columns);
        copy.as_slice()
    } else {
        columns
    };
    let first = &columns[..length];
    let second = &columns[half..][..length];
    // The odd rows overwrite the bytes beyond the even ones, and zeros the bytes beyond the odd
    // ones.
    let even = &mut bytes[..length];
    for at in (0..length).step_by(16) {
        store_at(even, at, low_nibbles(load_at(first, at), load_at(second, at)));
    }
    let odd = &mut bytes[half..][..length];
    for at in (0..length).step_by(16) {
        store_at(odd, at, high_nibbles(load_at(first, at), load_at(second, at)));
    }
    bytes[m..16 * REGISTERS].fill(0);
    if short {
        wipe(&mut copy);
    }
}

/// The pivot of a column: its place, and the m-vector g of the elimination.
struct Pivot<const REGISTERS: usize> {
    place: Place,
    /// g, one element a byte: elimination adds to each later column its entry in the pivot row
    /// times g.
    g: [Vector; REGISTERS],
}

impl<const REGISTERS: usize> Pivot<REGISTERS> {
    /// Finds the pivot of a column, one element a byte, and marks its row as used in `places`.
    #[inline(always)]
    fn new(column: [Vector; REGISTERS], places: &mut [Vector; REGISTERS]) -> Self {
        let mut lowest = splat(255);
        for n in 0..REGISTERS {
            lowest = min(lowest, or(places[n], equal(column[n], splat(0))));
        }
        let place = Place(splat(least(lowest)));
        let pivot = place.select(column);
        let inverse = look_up(load(&INVERSE), pivot);
        let table = table_of(inverse);
        // An entry s of the pivot row becomes s / pivot.
        let own = look_up(load(&IN_PIVOT_ROW), pivot);
        let g = core::array::from_fn(|n| {
            // Without a pivot `here` has the used rows, and both choices are zero.
            let here = equal(places[n], place.0);
            places[n] = or(places[n], here);
            select(here, own, look_up(table, column[n]))
        });
        Self { place, g }
    }
}

/// The place of a row, in all bytes of a register; 255 for none.
#[derive(Clone, Copy)]
struct Place(Vector);

impl Place {
    /// The byte of that row, in all bytes of a register; zero for no row.
    #[inline(always)]
    fn select<const REGISTERS: usize>(self, rows: [Vector; REGISTERS]) -> Vector {
        let (first, rest) = rows.split_at(4);
        let mut found = look_up_4([first[0], first[1], first[2], first[3]], self.0);
        let mut place = self.0;
        for rows in rest.chunks(4) {
            place = sub(place, splat(64));
            // A place out of range leaves `found` as it is.
            found = look_up_or(found, rows, place);
        }
        found
    }
}

/// The table of the products of both elements of a byte with each element. `byte` is the byte in
/// all places.
#[inline(always)]
fn table_of(byte: Vector) -> Vector {
    let elements = load(&IOTA);
    let low = polynomial_product(and(byte, splat(15)), elements);
    let high = polynomial_product(shift_right::<4>(byte), elements);
    // α^4 = α + 1 folds the three upper coefficients of both onto the lower ones.
    let upper = high_nibbles(low, high);
    xor3(low_nibbles(low, high), upper, add(upper, upper))
}

/// Pairs of columns, of A and y together.
const MAX_PAIRS: usize = (MAX_UNKNOWNS + 1).div_ceil(2);
/// The most registers of a pair.
const MAX_REGISTERS: usize = 9;
