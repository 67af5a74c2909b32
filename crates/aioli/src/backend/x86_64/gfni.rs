//! The parts of the left product that both GFNI kernels share; docs/gfni.md explains it.

use crate::backend::contract::MAX_ROWS;
use crate::packed::{Coefficients, Operand, Output};
use crate::sets::largest;

/// Rows of `right` whose matrices are built at a time: enough for all rows of every parameter set.
pub(super) const CHUNK: usize = 160;
const _: () = assert!(largest!(P => P::N) <= CHUNK);

/// Checks the shapes and calls `f` for at most [`CHUNK`] rows of `right` at a time.
#[inline(always)]
pub(super) fn in_chunks(
    left: Coefficients<'_>,
    right: Operand<'_>,
    mut out: Output<'_>,
    mut f: impl FnMut(Coefficients<'_>, Operand<'_>, Output<'_>),
) {
    assert!(left.rows() <= MAX_ROWS && left.columns() == right.count(), "shape of a left product");
    if left.rows() == 0 || right.count() == 0 {
        return out.clear(left.rows(), right.row_bytes());
    }
    if right.count() <= CHUNK {
        return f(left, right, out);
    }
    let step = right.step();
    for first in (0..right.count()).step_by(CHUNK) {
        let end = right.count().min(first + CHUNK);
        let bytes = &right.bytes()[right.offset(first)..right.offset(end)];
        let chunk = Operand::upper(bytes, end - first, right.row_bytes() - first * step, step);
        f(left.columns_in(first..end), chunk, out.next_term(first * step));
    }
}

/// `ROW_MAPS[l]` is the bit matrix, as `gf2p8affineqb` takes it, that maps an element g in each
/// nibble to B(l, g).
///
/// B(l, g) is row l of the matrix of multiplication by g: its bit j is the coefficient of α^l in
/// g α^j.
pub(super) const ROW_MAPS: [u64; 4] = {
    let mut maps = [0; 4];
    let mut l = 0;
    while l < 4 {
        // The map is linear: its column b is its value at g = α^b.
        let mut b = 0;
        while b < 4 {
            let mut j = 0;
            while j < 4 {
                let bit = (crate::gf16::mul(1 << b, 1 << j) >> l & 1) as u64;
                // Output bit j is the parity of the input masked by byte 7 - j. The high nibble has
                // the same map.
                maps[l] |= bit << (8 * (7 - j) + b) | bit << (8 * (7 - (j + 4)) + b + 4);
                j += 1;
            }
            b += 1;
        }
        l += 1;
    }
    maps
};

#[cfg(test)]
mod tests {
    use crate::backend::{Backend, Gfni256, Gfni512, Portable};
    use crate::packed::{Coefficients, Operand, Output};

    /// Pseudorandom bytes, different for every `seed`.
    fn noise(length: usize, seed: usize) -> Vec<u8> {
        let mut state = seed as u64 * 2 + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..length).map(next).collect()
    }

    /// Compares a backend with the portable one. `gap` bytes lie between the rows of the product,
    /// and as many elements between the columns of `left`.
    fn compare<B: Backend>(b: B, left_rows: usize, count: usize, row_bytes: usize, step: usize, gap: usize) {
        let elements: Vec<u8> = noise(count * (left_rows + gap), 1).iter().map(|byte| byte & 15).collect();
        let left = Coefficients::new(&elements, left_rows + gap, left_rows);
        let bytes = noise(count * row_bytes - step * (count * count.saturating_sub(1) / 2), 2);
        let right = if count > 0 {
            Operand::upper(&bytes, count, row_bytes, step)
        } else {
            Operand::full(&bytes, count, row_bytes)
        };
        let stride = row_bytes + gap;
        for adds in [true, false] {
            let mut wanted = noise(left_rows * stride - gap, 3);
            let mut got = wanted.clone();
            Portable::new().left_product(left, right, Output::new(&mut wanted, stride, adds));
            b.left_product(left, right, Output::new(&mut got, stride, adds));
            assert!(got == wanted, "{} of {left_rows} x {count} by {row_bytes} bytes, step {step}, gap {gap}", B::NAME);
        }
    }

    fn suite<B: Backend>(b: B) {
        for left_rows in 1..=24 {
            for count in [0, 1, 2, 3, 4, 5, 7, 8, 13, 78, 161, 324] {
                for row_bytes in [1, 31, 32, 33, 39, 63, 64, 65, 127, 128, 129, 440] {
                    compare(b, left_rows, count, row_bytes, 0, (count + row_bytes) % 3);
                }
            }
            for (count, vectors, step) in [
                (78, 78, 40),
                (64, 64, 32),
                (10, 60, 40),
                (17, 17, 32),
                (3, 3, 1),
                (5, 9, 7),
                (200, 200, 3),
                (9, 9, 71),
            ] {
                compare(b, left_rows, count, vectors * step, step, count % 3);
            }
            compare(b, left_rows, 5, 300, 70, 0);
            compare(b, left_rows, 170, 180, 1, 0);
        }
        for (left_rows, v, step) in [(18, 99, 54), (21, 99, 54), (24, 142, 71), (24, 133, 71)] {
            compare(b, left_rows, v, v * step, step, 0);
        }
    }

    #[test]
    fn gfni512_agrees_with_portable() {
        match Gfni512::detect() {
            Some(b) => suite(b),
            None => eprintln!("skipped: this processor has no AVX-512 with GFNI"),
        }
    }

    #[test]
    fn gfni256_agrees_with_portable() {
        match Gfni256::detect() {
            Some(b) => suite(b),
            None => eprintln!("skipped: this processor has no AVX2 with GFNI"),
        }
    }
}
