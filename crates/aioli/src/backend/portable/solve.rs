//! The linear system of signing: Gauss-Jordan elimination by columns, in constant time.
//!
//! The columns of A come as m-vectors and stay columns. For each of them, from the left:
//!
//! 1. Find the pivot row: an unused row with a non-zero entry. It is a one-hot mask, never an
//!    index.
//! 2. Clear the rest of the column by row operations. On the columns to the right these are
//!    `column += (its entry in the pivot row) * g` with one m-vector g, so no row is moved and
//!    nothing is gathered. A column without a pivot has g = 0.
//!
//! At the end y has, in the pivot row of each column, that column's coordinate of the solution.
//! Columns without a pivot are free, and their coordinates are zero.
//!
//! Several rows may be possible as the pivot row, but the choice does not change the solution. A
//! alone determines the free columns, and only one solution has zero in all of them.

use crate::backend::contract::{MAX_EQUATIONS, MAX_UNKNOWNS};
use crate::ct;
use crate::gf16;
use crate::memory::wipe;
use crate::plants::{Leak, leak};

/// See [`Backend::solve`](crate::backend::Backend::solve).
pub(in crate::backend) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(16) {
        4 => solve_words::<4>(columns, m, x),
        5 => solve_words::<5>(columns, m, x),
        7 => solve_words::<7>(columns, m, x),
        _ => solve_words::<{ MAX_EQUATIONS.div_ceil(16) }>(columns, m, x),
    }
}

/// The columns of A and y.
const MAX_COLUMNS: usize = MAX_UNKNOWNS + 1;

/// An m-vector in words, zero beyond its end.
type Words<const WORDS: usize> = [u64; WORDS];

/// Solves with `WORDS` words a column.
fn solve_words<const WORDS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(
        m <= 16 * WORDS && packed.len() == (x.len() + 1) * m / 2 && x.len() < MAX_COLUMNS,
        "shape of a linear system"
    );
    let mut columns = [[0; WORDS]; MAX_COLUMNS];
    let mut pivots = [[0; WORDS]; MAX_COLUMNS];
    let columns = &mut columns[..x.len() + 1];
    for (words, bytes) in columns.iter_mut().zip(packed.chunks_exact(m / 2)) {
        *words = load(bytes);
    }

    // All ones in the nibbles of the rows that have no pivot yet.
    let mut unused: Words<WORDS> = core::array::from_fn(|w| nibble_mask(m.saturating_sub(16 * w)));
    for c in 0..x.len() {
        let column = columns[c];
        let pivot = lowest_nonzero(core::array::from_fn(|w| column[w] & unused[w]));
        let inverse = gf16::inverse(entry(column, pivot));
        leak(Leak::Solver, 1 ^ ct::nonzero(inverse));
        // Adding s g clears this column off the pivot row, and in the pivot row turns s into s /
        // pivot.
        let scaled = times(column.map(gf16::multiples), inverse);
        let in_pivot_row = u64::from(inverse ^ ct::nonzero(inverse)) * gf16::ONES;
        let g: Words<WORDS> = core::array::from_fn(|w| scaled[w] & !pivot[w] ^ in_pivot_row & pivot[w]);
        let g = g.map(gf16::multiples);
        for later in &mut columns[c + 1..] {
            let product = times(g, entry(*later, pivot));
            for (word, product) in later.iter_mut().zip(product) {
                *word ^= product;
            }
        }
        for (unused, pivot) in unused.iter_mut().zip(pivot) {
            *unused &= !pivot;
        }
        pivots[c] = pivot;
    }
    for (x, &pivot) in x.iter_mut().zip(pivots.iter()) {
        *x = entry(columns[columns.len() - 1], pivot);
    }
    let left_over = unused.into_iter().fold(0, |all, word| all | word);
    wipe(columns.as_flattened_mut());
    wipe(pivots.as_flattened_mut());
    wipe(packed);
    1 ^ ct::nonzero64(left_over)
}

/// The m-vector packed in `bytes`.
fn load<const WORDS: usize>(bytes: &[u8]) -> Words<WORDS> {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    words
}

/// All ones in the lowest `count` nibbles; in all of them from 16 on.
pub(in crate::backend) const fn nibble_mask(count: usize) -> u64 {
    if count >= 16 { u64::MAX } else { (1 << (4 * count)) - 1 }
}

/// All ones in the lowest nibble that is not zero, zero elsewhere.
#[inline(always)]
fn lowest_nonzero<const WORDS: usize>(words: Words<WORDS>) -> Words<WORDS> {
    let mut still_looking = u64::MAX;
    words.map(|word| {
        let nonzero = (word | word >> 1 | word >> 2 | word >> 3) & gf16::ONES;
        let lowest = nonzero & nonzero.wrapping_neg() & still_looking;
        still_looking &= ct::nonzero64(nonzero).wrapping_sub(1) as i8 as u64;
        lowest * 15
    })
}

/// The entry of a column in the row of a one-hot mask; zero if the mask is zero.
#[inline(always)]
fn entry<const WORDS: usize>(column: Words<WORDS>, row: Words<WORDS>) -> u8 {
    let mut word = 0;
    for (column, row) in column.into_iter().zip(row) {
        word |= column & row;
    }
    word |= word >> 32;
    word |= word >> 16;
    word |= word >> 8;
    word |= word >> 4;
    (word & 15) as u8
}

/// Elements, given by their four multiples, times one element.
#[inline(always)]
fn times<const WORDS: usize>(multiples: [[u64; 4]; WORDS], element: u8) -> Words<WORDS> {
    let masks = ct::barrier(gf16::bit_masks(element));
    multiples.map(|multiples| gf16::mul_word(multiples, masks))
}
