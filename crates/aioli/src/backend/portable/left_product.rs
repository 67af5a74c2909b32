//! The left product in words of 64 bits, in two forms.
//!
//! A public `right` may address memory, so `tables` looks products up; for a secret one `slices`
//! uses no memory address that depends on it.

mod slices;
mod tables;

use crate::backend::contract::MAX_ROWS;
use crate::packed::{Coefficients, Operand, Output, has_rows};
use slices::{FEW_SUMS, SUMS};
use tables::{Pair, TABLE, WIDE};

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
///
/// Uses tables if `right` is public and its rows are long enough to repay them, bit slices
/// otherwise. Each variant is a call of its own, so the stack never holds the buffers of two.
pub(in crate::backend) fn left_product(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    assert!(has_rows(out.bytes, left.rows(), out.stride, right.row_bytes()), "length of a left product");
    let by_tables = right.is_public() && right.row_bytes() >= TABLE;
    match left.rows() {
        _ if left.rows() == 0 || right.count() == 0 => out.clear(left.rows(), right.row_bytes()),
        1..=8 if by_tables => tables::left_product::<u32, WIDE>(left, right, out),
        9..=16 if by_tables => tables::left_product::<u64, 2048>(left, right, out),
        _ if by_tables => tables::left_product::<Pair, 1024>(left, right, out),
        1..=8 => slices::left_product::<FEW_SUMS>(left, right, out),
        _ => slices::left_product::<SUMS>(left, right, out),
    }
}
