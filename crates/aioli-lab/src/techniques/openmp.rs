//! The threads of the published experiment: the baseline's loop in C under OpenMP (feature
//! `openmp`).
//!
//! The compiler may vectorize the inner loop, here as in the experiment. So compare these figures
//! with `openmp_1`, not with the baseline in Rust.
#![allow(unsafe_code, reason = "a call of C")]

use aioli::packed::{Coefficients, Operand, Output};

/// The baseline's left product; each thread computes some rows of the result.
pub(super) fn left_product(threads: usize, left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    out.clear(left.rows(), right.row_bytes());
    let stride = out.stride();
    let out = out.bytes_mut();
    if left.rows() == 0 {
        return;
    }
    assert!(
        left.columns() == right.count()
            && out.len() >= (left.rows() - 1) * stride + right.row_bytes()
            && stride >= right.row_bytes()
    );
    let elements: Vec<u8> = (0..left.columns()).flat_map(|i| left.of_row(i).iter().copied()).collect();
    let right_bytes = right.bytes();
    // SAFETY: C reads `columns * rows` elements, which were just collected, and the rows of the
    // operand, whose lengths `Operand` has checked against its bytes. It writes rows of `out`: the
    // last one ends within `out` by the assertion. They are disjoint, since none is longer than the
    // stride, so no two threads write the same byte.
    unsafe {
        aioli_lab_openmp_left_product(
            elements.as_ptr(),
            left.rows(),
            right_bytes.as_ptr(),
            right.count(),
            right.row_bytes(),
            right.step(),
            out.as_mut_ptr(),
            stride,
            threads as i32,
        );
    }
}

unsafe extern "C" {
    fn aioli_lab_openmp_left_product(
        left: *const u8,
        left_rows: usize,
        right: *const u8,
        count: usize,
        row_bytes: usize,
        step: usize,
        out: *mut u8,
        stride: usize,
        threads: i32,
    );
}
