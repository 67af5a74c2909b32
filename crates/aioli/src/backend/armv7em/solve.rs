//! The linear system of signing: Gaussian elimination by columns, in constant time.
//!
//! Columns stay columns, and row operations add multiples of one column to those on its right, as
//! in [`portable::solve`](crate::backend::portable::solve). But here rows leave the elimination
//! from the top. After p pivots the first p rows are done, and the next row, the slot, becomes the
//! pivot row. If the slot's entry is zero, the first row below with a non-zero entry is added to
//! it. All rows below the slot are then cleared.
//!
//! A pivot row is needed later only for its entries to the right. Each column keeps its entries in
//! the pivot rows, in the order of the pivots, and a column without a pivot adds no place. So at
//! the end the kept entries are an upper triangle, which is solved from below.
//!
//! The number of pivots before a column is secret. But a system of full rank has m pivots, so at
//! most n - m columns have none, and the rows before `column - (n - m)` are done. They need not be
//! touched, which saves a third. If one of them is not done all the same, the rank is below m. Then
//! some row is never done, as each remaining column finishes one row at most, and the result says
//! so.

use crate::backend::contract::{MAX_EQUATIONS, MAX_UNKNOWNS};
use crate::backend::portable::solve::nibble_mask;
use crate::ct;
use crate::gf16;
use crate::memory::wipe;

/// See [`Backend::solve`](crate::backend::Backend::solve).
///
/// Never inlined, so that its large frame exists only during the call.
#[inline(never)]
pub(super) fn solve(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    let n = x.len();
    let pairs = m.div_ceil(16);
    assert!(pairs <= PAIRS && n <= UNKNOWNS && packed.len() == (n + 1) * m / 2, "shape of a linear system");
    let spare = n.saturating_sub(m);
    assert!(spare < 15, "more unknowns than a linear system has");

    // The columns of A, y, and one more to make pairs.
    let mut columns = [[0; STRIDE]; UNKNOWNS + 2];
    for (column, bytes) in columns.iter_mut().zip(packed.chunks_exact(m / 2)) {
        // SAFETY: any words are valid bytes, and any bytes valid words.
        let (_, rows, _) = unsafe { column[KEPT..].align_to_mut::<u8>() };
        rows[..m / 2].copy_from_slice(bytes);
    }
    // All ones in the nibbles of the rows that are not done.
    let mut undone: [u64; PAIRS] = core::array::from_fn(|w| nibble_mask(m.saturating_sub(16 * w)));
    let mut pivot_rows = [0; PAIRS];
    let mut multiples = [[0; 4]; PAIRS];
    let mut coefficients = [0; UNKNOWNS / 2 + 1];
    for c in 0..n {
        let live = c.saturating_sub(spare) / 16..pairs;
        let (now, later) = columns.split_at_mut(c + 1);
        let column = &now[c][KEPT..];

        // Finds the slot, and the first row not done with a non-zero entry; `pivot` has that entry.
        let mut pivot = 0;
        let mut still_looking = u64::MAX;
        let mut before = live.start.checked_sub(1).map_or(0, |w| undone[w] >> 60);
        for w in live.clone() {
            let slot = undone[w] & !(undone[w] << 4 | before);
            before = undone[w] >> 60;
            let candidates = column[w] & undone[w];
            let nonzero = (candidates | candidates >> 1 | candidates >> 2 | candidates >> 3) & gf16::ONES;
            let lowest = nonzero & nonzero.wrapping_neg() & still_looking;
            still_looking &= u64::from(ct::nonzero64(nonzero)).wrapping_sub(1);
            let lowest = (lowest << 4).wrapping_sub(lowest);
            pivot |= column[w] & lowest;
            pivot_rows[w] = slot | lowest;
            multiples[w][0] = slot;
        }
        let found = ct::barrier(!still_looking);
        let inverse = gf16::inverse(fold(pivot));
        x[c] = inverse;

        // The entries below the slot divided by the pivot, and their multiples; all zero if there
        // is no pivot.
        let masks = ct::barrier(gf16::bit_masks(inverse));
        for w in live.clone() {
            let below = undone[w] & !multiples[w][0];
            let [g, g1, g2, g3] = gf16::multiples(gf16::mul_word(gf16::multiples(column[w]), masks) & below);
            multiples[w] = [g3, g2, g1, g];
            undone[w] ^= (undone[w] ^ below) & found;
            pivot_rows[w] &= found;
        }
        let coefficients = &mut coefficients[..(n - c).div_ceil(2)];
        let count = coefficients.len() as u32;
        let shift = c as u32 % 2 * 4;
        let rows = pivot_rows[live.start..].as_ptr();
        let multiples = multiples[live.start..].as_ptr();
        let first = later[..2 * coefficients.len()].as_mut_ptr().cast::<u64>();
        // SAFETY: there are 2 * count later columns of STRIDE word pairs. The kernels work on those
        // of `live`, which end at KEPT + pairs <= STRIDE, and byte c / 2 is within each column.
        // `count` is not zero as c < n, nor is the length of `live` as c - spare < m. Coefficients,
        // masks and multiples are as many as the kernels are told.
        unsafe {
            let from_live = first.add(KEPT + live.start);
            let kept = first.cast::<u8>().add(c / 2);
            let live = live.len() as u32;
            aioli_armv7em_pivot_row(from_live, rows, coefficients.as_mut_ptr(), kept, count, shift, live);
            aioli_armv7em_eliminate(from_live, coefficients.as_ptr(), multiples, live);
        }
    }
    substitute(&mut columns[..n + 1], x);
    let left_over = undone.into_iter().fold(0, |all, word| all | word);
    wipe(columns[..n + 2].as_flattened_mut());
    wipe(&mut undone);
    wipe(&mut pivot_rows);
    wipe(multiples.as_flattened_mut());
    wipe(&mut coefficients);
    wipe(packed);
    1 ^ ct::nonzero64(left_over)
}

/// Solves the triangle that the columns keep. `x` has the inverses of its diagonal, zero for a
/// column without a pivot, and receives the solution.
fn substitute(columns: &mut [[u64; STRIDE]], x: &mut [u8]) {
    let (columns, y) = columns.split_at_mut(x.len());
    let y = &mut y[0];
    for (c, (x, column)) in x.iter_mut().zip(columns).enumerate().rev() {
        *x = gf16::mul(*x, (y[c / 16] >> (c % 16 * 4) & 15) as u8);
        let masks = ct::barrier(gf16::bit_masks(*x));
        // Entries of y from c on are not read again, so their words may change.
        for (y, &word) in y.iter_mut().zip(&column[..c / 16 + 1]) {
            *y ^= gf16::mul_word(gf16::multiples(word), masks);
        }
    }
}

/// The sum of a word's nibbles: its only nibble that is not zero.
fn fold(word: u64) -> u8 {
    let word = word as u32 | (word >> 32) as u32;
    let word = word | word >> 16;
    let word = word | word >> 8;
    ((word | word >> 4) & 15) as u8
}

unsafe extern "C" {
    fn aioli_armv7em_pivot_row(
        columns: *const u64,
        rows: *const u64,
        coefficients: *mut u32,
        kept: *mut u8,
        count: u32,
        shift: u32,
        pairs: u32,
    );
    fn aioli_armv7em_eliminate(columns: *mut u64, coefficients: *const u32, multiples: *const [u64; 4], pairs: u32);
}

/// The most columns of A.
const UNKNOWNS: usize = MAX_UNKNOWNS;
/// Pairs of words, 16 nibbles each, of the largest m.
const PAIRS: usize = MAX_EQUATIONS.div_ceil(16);
/// Pairs of words of a column before row 0.
///
/// They and the rows that are done have room for the column's entries in pivot rows. Entry c is
/// written, as part of a byte, while row c - spare may not be done yet. That row is 16 - spare
/// elements further on.
const KEPT: usize = 1;
/// Pairs of words from one column to the next, which the kernels have as 80 bytes.
const STRIDE: usize = KEPT + PAIRS;
const _: () = assert!(8 * STRIDE == 80 && 16 * STRIDE >= UNKNOWNS);
