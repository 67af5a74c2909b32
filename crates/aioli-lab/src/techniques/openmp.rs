//! The published experiment's threads: the baseline's loop, in C under OpenMP (feature `openmp`).
//!
//! The compiler may make vectors of the inner loop, as it may have in the experiment; so figures are to be compared with
//! `openmp_1`, not with the baseline in Rust.
#![allow(unsafe_code, reason = "a call of C")]

use aioli::packed::{Coefficients, Operand};

/// The baseline's left product, each thread doing some of the rows of X.
pub(super) fn left_product(threads: usize, x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    if x.rows() == 0 {
        return;
    }
    assert!(
        x.columns() == rows.count()
            && out.len() >= (x.rows() - 1) * stride + rows.row_bytes()
            && stride >= rows.row_bytes()
    );
    let elements: Vec<u8> = (0..x.columns()).flat_map(|i| x.of_row(i).iter().copied()).collect();
    let operand = rows.bytes();
    // SAFETY: C reads `columns * rows` elements, which were just collected, and the operand's rows, whose lengths `Operand`
    // has checked against its bytes; it writes rows of `out`, the last of which ends within it by the assertion, and
    // which are disjoint since they are no longer than the stride, so no two threads write the same byte.
    unsafe {
        aioli_lab_openmp_left_product(
            elements.as_ptr(),
            x.rows(),
            operand.as_ptr(),
            rows.count(),
            rows.row_bytes(),
            rows.step(),
            out.as_mut_ptr(),
            stride,
            threads as i32,
        );
    }
}

unsafe extern "C" {
    fn aioli_lab_openmp_left_product(
        x: *const u8,
        x_rows: usize,
        operand: *const u8,
        count: usize,
        row_bytes: usize,
        step: usize,
        out: *mut u8,
        stride: usize,
        threads: i32,
    );
}
