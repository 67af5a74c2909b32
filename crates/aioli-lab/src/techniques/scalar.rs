//! One element at a time: the baseline, and the same with products and inverses from tables.
//!
//! The baseline computes each product by shifts and masks. The table variant looks it up in tables
//! of [`OVERHEAD_BYTES`] bytes, at addresses that depend on secrets. Both share an elimination that
//! branches on secrets. So **neither is constant time**; both are for study only.

use aioli::gf16;
use aioli::packed::{Coefficients, Operand, Output};
use std::hint::black_box;

/// A way to compute products and inverses in GF(16).
pub(super) trait Field {
    fn mul(a: u8, b: u8) -> u8;
    fn inverse(a: u8) -> u8;
}

/// Arithmetic by shifts and masks.
pub(super) struct Computed;

impl Field for Computed {
    #[inline(always)]
    fn mul(a: u8, b: u8) -> u8 {
        gf16::mul(a, b)
    }

    fn inverse(a: u8) -> u8 {
        gf16::inverse(a)
    }
}

/// Arithmetic by tables.
pub(super) struct Tables;

impl Field for Tables {
    #[inline(always)]
    fn mul(a: u8, b: u8) -> u8 {
        PRODUCTS[usize::from(a << 4 | b)]
    }

    fn inverse(a: u8) -> u8 {
        INVERSES[usize::from(a)]
    }
}

/// `left * right`, see [`Backend::left_product`](aioli::backend::Backend::left_product).
pub(super) fn left_product<F: Field>(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    out.clear(left.rows(), right.row_bytes());
    let stride = out.stride();
    let out = out.bytes_mut();
    for i in 0..right.count() {
        let row = right.row(i);
        for (r, &coefficient) in left.of_row(i).iter().enumerate() {
            let out = &mut out[r * stride + i * right.step()..][..row.len()];
            for (out, &byte) in out.iter_mut().zip(row) {
                // An opaque byte keeps the compiler from vectorizing the loop: this is one element
                // at a time.
                let byte = black_box(byte);
                *out ^= F::mul(coefficient, byte & 15) | F::mul(coefficient, byte >> 4) << 4;
            }
        }
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

/// The product of `a` and `b` at index `a * 16 + b`.
static PRODUCTS: [u8; 256] = {
    let mut products = [0; 256];
    let mut i = 0;
    while i < products.len() {
        products[i] = gf16::mul(i as u8 >> 4, i as u8 & 15);
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
    fn tables_hold_the_field_and_take_272_bytes() {
        for a in 0..16 {
            assert_eq!(Tables::inverse(a), gf16::inverse(a));
            for b in 0..16 {
                assert_eq!(Tables::mul(a, b), gf16::mul(a, b));
            }
        }
        assert_eq!(OVERHEAD_BYTES, 272);
    }
}
