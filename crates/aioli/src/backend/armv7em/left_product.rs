//! The left product: by tables (`tables`) if `right` is public, in bit slices (`slices`) otherwise.

mod slices;
mod tables;

use crate::backend::contract::MAX_ROWS;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;

/// See [`Backend::left_product`](crate::backend::Backend::left_product).
///
/// Both kernels only add.
pub(super) fn left_product(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    out.clear(left.rows(), right.row_bytes());
    if left.rows() == 0 {
        return;
    }
    let Output { bytes: out, stride, .. } = out;
    if !right.is_public() || !tables::left_product_of_rows(left, right, out, stride) {
        slices::left_product(left, right, out, stride);
    }
}

/// See [`Backend::left_product_of_stream`](crate::backend::Backend::left_product_of_stream).
///
/// Returns false, with nothing changed, if the window is too small for tables.
pub(super) fn left_product_of_stream(
    left: Coefficients<'_>,
    key: &[u8; 16],
    part: &StreamPart,
    window: &mut [u8],
    out: &mut [u8],
    stride: usize,
) -> bool {
    assert!(left.rows() <= MAX_ROWS && left.columns() == part.count(), "shape of a left product");
    if left.rows() == 0 {
        return true;
    }
    tables::left_product_of_stream(left, key, part, window, out, stride)
}
