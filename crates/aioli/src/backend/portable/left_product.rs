//! The left product in words of 64 bits, in two forms.
//!
//! Tables of products if the operand is public and may address memory (`tables.rs`), bit slices if nothing is
//! (`slices.rs`).

mod slices;
mod tables;

use crate::backend::contract::MAX_ROWS;
use crate::packed::{Coefficients, Operand, has_rows};
use slices::{FEW_SUMS, SUMS};
use tables::{Pair, TABLE, WIDE};

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
///
/// Uses tables if the operand is public and its rows are long enough to repay them, bit slices otherwise. Each variant
/// is a call of its own, so the stack never holds the buffers of two.
pub(in crate::backend) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    assert!(has_rows(out, x.rows(), stride, rows.row_bytes()), "length of a left product");
    let by_tables = rows.is_public() && rows.row_bytes() >= TABLE;
    match x.rows() {
        ..=8 if by_tables => tables::left_product::<u32, WIDE>(x, rows, out, stride),
        ..=16 if by_tables => tables::left_product::<u64, 2048>(x, rows, out, stride),
        _ if by_tables => tables::left_product::<Pair, 1024>(x, rows, out, stride),
        ..=8 => slices::left_product::<FEW_SUMS>(x, rows, out, stride),
        _ => slices::left_product::<SUMS>(x, rows, out, stride),
    }
}
