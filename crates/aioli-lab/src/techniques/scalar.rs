//! One element at a time: the scalar baseline, and the same with products looked up.
//!
//! Both are what a programmer writes first. Elements are unpacked, one to a byte, and multiplied
//! one after another. The baseline multiplies by logarithms, as textbooks do; the look-up tables
//! hold all products and inverses in [`OVERHEAD_BYTES`] bytes. Addresses and branches depend on
//! secrets, so **neither is constant time**; both are for study only.

use aioli::gf16;
use aioli::packed::{Coefficients, Operand, Output};

/// A way to compute products and inverses in GF(16).
pub(super) trait Field {
    fn mul(a: u8, b: u8) -> u8;
    fn inverse(a: u8) -> u8;
}

/// Arithmetic by logarithms to the base of the generator x.
pub(super) struct Logarithms;

impl Field for Logarithms {
    #[inline(always)]
    fn mul(a: u8, b: u8) -> u8 {
        if a == 0 || b == 0 {
            return 0;
        }
        POWERS[usize::from(LOGARITHMS[usize::from(a & 15)] + LOGARITHMS[usize::from(b & 15)]) & 31]
    }

    fn inverse(a: u8) -> u8 {
        if a == 0 { 0 } else { POWERS[usize::from(15 - LOGARITHMS[usize::from(a & 15)])] }
    }
}

/// Arithmetic by tables.
pub(super) struct Tables;

impl Field for Tables {
    #[inline(always)]
    fn mul(a: u8, b: u8) -> u8 {
        PRODUCTS[usize::from(a & 15)][usize::from(b & 15)]
    }

    fn inverse(a: u8) -> u8 {
        INVERSES[usize::from(a & 15)]
    }
}

/// `left * right`, see [`Backend::left_product`](aioli::backend::Backend::left_product).
pub(super) fn left_product<F: Field>(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    out.clear(left.rows(), right.row_bytes());
    let stride = out.stride();
    let out = out.bytes_mut();
    let length = 2 * right.row_bytes();
    let mut sums = vec![0; left.rows() * length];
    for i in 0..right.count() {
        let row: Vec<u8> = right.row(i).iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
        for (sums, &coefficient) in sums.chunks_exact_mut(length.max(1)).zip(left.of_row(i)) {
            for (sum, &element) in sums[2 * i * right.step()..].iter_mut().zip(&row) {
                *sum ^= F::mul(coefficient, element);
            }
        }
    }
    for (sums, out) in sums.chunks_exact(length.max(1)).zip(out.chunks_mut(stride.max(1))) {
        sums.as_chunks().0.iter().zip(out).for_each(|([low, high], out)| *out ^= low | high << 4);
    }
}

/// Solves `A x = y` by textbook elimination, see
/// [`Backend::solve`](aioli::backend::Backend::solve).
pub(super) fn solve<F: Field>(columns: &[u8], m: usize, x: &mut [u8]) -> u8 {
    let width = x.len() + 1;
    let mut rows = vec![vec![0; width]; m];
    for (c, column) in columns.chunks_exact(m / 2).enumerate() {
        for (i, row) in rows.iter_mut().enumerate() {
            row[c] = column[i / 2] >> (i % 2 * 4) & 15;
        }
    }
    let mut pivots = Vec::with_capacity(m);
    for column in 0..x.len() {
        let top = pivots.len();
        let Some(found) = (top..m).find(|&i| rows[i][column] != 0) else { continue };
        rows.swap(top, found);
        let inverse = F::inverse(rows[top][column]);
        rows[top].iter_mut().for_each(|entry| *entry = F::mul(inverse, *entry));
        let pivot = rows[top].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|&(i, _)| i != top) {
            let factor = row[column];
            for (entry, &pivot) in row[column..].iter_mut().zip(&pivot[column..]) {
                *entry ^= F::mul(factor, pivot);
            }
        }
        pivots.push(column);
        if pivots.len() == m {
            break;
        }
    }
    if pivots.len() < m {
        return 0;
    }
    x.fill(0);
    for (row, column) in rows.iter().zip(pivots) {
        x[column] = row[width - 1];
    }
    1
}

/// The powers of x, twice, so that a sum of two logarithms needs no reduction.
static POWERS: [u8; 32] = {
    let mut powers = [1; 32];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = gf16::mul(powers[i - 1], 2);
        i += 1;
    }
    powers
};

/// The logarithm of each element but zero.
static LOGARITHMS: [u8; 16] = {
    let mut logarithms = [0; 16];
    let mut i = 0;
    while i < 15 {
        logarithms[POWERS[i] as usize] = i as u8;
        i += 1;
    }
    logarithms
};

/// The product of `a` and `b` at row `a`, column `b`.
static PRODUCTS: [[u8; 16]; 16] = {
    let mut products = [[0; 16]; 16];
    let mut i = 0;
    while i < 256 {
        products[i >> 4][i & 15] = gf16::mul(i as u8 >> 4, i as u8 & 15);
        i += 1;
    }
    products
};

static INVERSES: [u8; 16] = {
    let mut inverses = [0; 16];
    let mut i = 0;
    while i < inverses.len() {
        inverses[i] = gf16::inverse(i as u8);
        i += 1;
    }
    inverses
};

/// Bytes in the tables.
pub(crate) const OVERHEAD_BYTES: usize = size_of_val(&PRODUCTS) + size_of_val(&INVERSES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_tables_are_the_field_and_tables_take_272_bytes() {
        for a in 0..16 {
            assert_eq!([Tables::inverse(a), Logarithms::inverse(a)], [gf16::inverse(a); 2]);
            for b in 0..16 {
                assert_eq!([Tables::mul(a, b), Logarithms::mul(a, b)], [gf16::mul(a, b); 2]);
            }
        }
        assert_eq!(OVERHEAD_BYTES, 272);
    }
}
