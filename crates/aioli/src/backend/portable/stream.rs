//! The left product with a part of a key stream: rows are expanded into the window and multiplied
//! there.

use crate::backend::contract::Backend;
use crate::packed::{Coefficients, Output};
use crate::stream::{BLOCK, StreamPart};

/// See [`Backend::left_product_of_stream`]; any backend may use this, which calls its other
/// kernels.
///
/// Takes as many rows at a time as the window holds, at least one.
pub(in crate::backend) fn left_product<B: Backend>(
    b: B,
    left: Coefficients<'_>,
    key: &[u8; 16],
    part: &StreamPart,
    window: &mut [u8],
    mut out: Output<'_>,
) {
    // Without rows, `out` may be shorter than the columns that are skipped below.
    if left.rows() == 0 {
        return;
    }
    let mut first = 0;
    while first < part.count() {
        let begin = part.bytes(first).start;
        let start = begin - begin % BLOCK;
        let run = first + 1..=part.count().min(first + part.run());
        let end = run.take_while(|&end| part.bytes(end - 1).end - start <= window.len()).last();
        let end = end.expect("a window for one row");
        let filled = &mut window[..part.bytes(end - 1).end - start];
        b.aes128_ctr(key, &[0; 16], (start / BLOCK) as u32, filled);
        let right = part.rows(first, end, &filled[begin - start..]).public();
        b.left_product(left.columns_in(first..end), right, out.next_term(part.column(first)));
        first = end;
    }
}
