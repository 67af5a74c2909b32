//! The Method of the Four Russians, as published for MAYO: combinations of rows of the secret are
//! tabulated, and the public P looks them up.
//!
//! Element l of `left`'s column i is the coefficient of row i of P in row l of the product. For a
//! strip of `WIDTH` rows of P, the method makes all `16^WIDTH` combinations of their columns of
//! `left`, each packed into one word. Where P has the elements p, q at some column of the strip,
//! the word at index `p + 16 q` is added to the sums of that column: one look-up and one addition
//! for `WIDTH` times as many multiply-accumulates as `left` has rows. P is public, so no address
//! depends on a secret.

use aioli::backend::MAX_ROWS;
use aioli::gf16;
use aioli::packed::{Coefficients, Operand, Output};
use std::ops::BitXorAssign;

/// `left * right` with strips of `WIDTH` rows; `right` must be public.
pub(super) fn left_product<const WIDTH: usize>(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    out.clear(left.rows(), right.row_bytes());
    let stride = out.stride();
    let out = out.bytes_mut();
    debug_assert!(right.is_public(), "P looks up the table, so it must not be secret");
    match left.rows() {
        0 => {}
        1..=16 => packed::<u64, WIDTH>(left, right, out, stride),
        _ => packed::<u128, WIDTH>(left, right, out, stride),
    }
}

const _: () = assert!(MAX_ROWS <= 32, "a word holds the elements of one column of `left`");

/// Elements in a word, 4 bits each.
trait Word: Copy + Default + BitXorAssign {
    /// Adds an element at place `l`.
    fn add(&mut self, l: usize, element: u8);

    /// The element at place `l`.
    fn element(self, l: usize) -> u8;
}

macro_rules! words {
    ($($word:ident)*) => {
        $(impl Word for $word {
            #[inline(always)]
            fn add(&mut self, l: usize, element: u8) {
                *self ^= Self::from(element) << (4 * l);
            }

            #[inline(always)]
            fn element(self, l: usize) -> u8 {
                (self >> (4 * l)) as u8 & 15
            }
        })*
    };
}
words! { u64 u128 }

fn packed<W: Word, const WIDTH: usize>(left: Coefficients<'_>, right: Operand<'_>, out: &mut [u8], stride: usize) {
    let mut table = vec![W::default(); 1 << (4 * WIDTH)];
    for from in (0..right.row_bytes()).step_by(TILE) {
        let to = right.row_bytes().min(from + TILE);
        let mut sums = vec![W::default(); 2 * (to - from)];
        for strip in (0..right.count()).step_by(WIDTH) {
            if strip * right.step() >= to {
                break;
            }
            tabulate(&mut table, left, strip..right.count().min(strip + WIDTH));
            look_up::<W, WIDTH>(&table, right, strip, from..to, &mut sums);
        }
        for (r, out) in out.chunks_mut(stride.max(1)).take(left.rows()).enumerate() {
            for (out, [low, high]) in out[from..to].iter_mut().zip(sums.as_chunks().0) {
                *out ^= low.element(r) | high.element(r) << 4;
            }
        }
    }
}

/// All combinations of the columns of `left` in a strip: digit j of an index in base 16 is the
/// coefficient of column j.
fn tabulate<W: Word>(table: &mut [W], left: Coefficients<'_>, strip: std::ops::Range<usize>) {
    table[0] = W::default();
    for (j, i) in strip.enumerate() {
        let column = left.of_row(i);
        for bit in 0..4 {
            let mut multiple = W::default();
            column.iter().enumerate().for_each(|(l, &element)| multiple.add(l, gf16::mul(element, 1 << bit)));
            let known = 1 << (4 * j + bit);
            for index in 0..known {
                let mut sum = table[index];
                sum ^= multiple;
                table[known + index] = sum;
            }
        }
    }
}

/// Adds the combinations that the elements of a strip name to the sums of their columns, for the
/// bytes `columns` of P's rows. Rows of a triangle that begin further to the right add nothing
/// before their beginning.
#[inline(always)]
fn look_up<W: Word, const WIDTH: usize>(
    table: &[W],
    right: Operand<'_>,
    strip: usize,
    columns: std::ops::Range<usize>,
    sums: &mut [W],
) {
    let rows = WIDTH.min(right.count() - strip);
    // The bytes of row `strip + j` from a column on that all rows of the strip have.
    let part = |j: usize, from: usize, to: usize| {
        let start = (strip + j) * right.step();
        &right.row(strip + j)[from - start..to - start]
    };
    let mut from = columns.start.max(strip * right.step());
    for known in 1..=rows {
        // Up to where the next row begins.
        let to = if known < rows { columns.end.min((strip + known) * right.step()) } else { columns.end };
        if from >= to {
            continue;
        }
        let parts: [&[u8]; WIDTH] = std::array::from_fn(|j| if j < known { part(j, from, to) } else { &[][..] });
        let sums = sums[2 * (from - columns.start)..2 * (to - columns.start)].as_chunks_mut().0;
        for (at, [low, high]) in sums.iter_mut().enumerate() {
            let mut index = [0; 2];
            for (j, part) in parts[..known].iter().enumerate() {
                index[0] |= usize::from(part[at] & 15) << (4 * j);
                index[1] |= usize::from(part[at] >> 4) << (4 * j);
            }
            *low ^= table[index[0]];
            *high ^= table[index[1]];
        }
        from = to;
    }
}

/// Bytes of P's rows that are worked on at a time: their sums fit the first cache.
const TILE: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use aioli::backend::{Backend, Portable};

    #[test]
    fn strips_of_any_width_give_the_product_across_tiles_and_diagonals() {
        // Rows of the product, rows of P, bytes of its first row, step.
        for (rows, count, row_bytes, step) in [(5, 3, 2100, 0), (17, 7, 1300, 150), (16, 4, 40, 10), (1, 2, 8, 0)] {
            let bytes: Vec<u8> =
                (0..count * row_bytes - step * (count * (count - 1) / 2)).map(|i| (i * i / 7 + i) as u8).collect();
            let elements: Vec<u8> = (0..count * rows).map(|i| (i * 5 + i / 3) as u8 & 15).collect();
            let left = Coefficients::new(&elements, rows, rows);
            let right = if step == 0 {
                Operand::full(&bytes, count, row_bytes)
            } else {
                Operand::upper(&bytes, count, row_bytes, step)
            };
            let mut expected = vec![0x5a; rows * row_bytes];
            let mut found = [expected.clone(), expected.clone(), expected.clone()];
            Portable::new().left_product(left, right, Output::add_to(&mut expected, row_bytes));
            left_product::<1>(left, right.public(), Output::add_to(&mut found[0], row_bytes));
            left_product::<2>(left, right.public(), Output::add_to(&mut found[1], row_bytes));
            left_product::<3>(left, right.public(), Output::add_to(&mut found[2], row_bytes));
            for (i, found) in found.iter().enumerate() {
                assert!(*found == expected, "width {}: {rows} rows, {count} of {row_bytes}, step {step}", i + 1);
            }
        }
    }
}
