//! What both GFNI kernels share.

use crate::backend::contract::MAX_ROWS;
use crate::packed::{Coefficients, Operand};

/// Rows of R whose matrices are built at a time; enough for every row of every parameter set.
pub(super) const CHUNK: usize = 160;

/// Checks the shapes and calls `f` for at most [`CHUNK`] rows of R at a time.
#[inline(always)]
pub(super) fn in_chunks(
    x: Coefficients<'_>,
    rows: Operand<'_>,
    out: &mut [u8],
    mut f: impl FnMut(Coefficients<'_>, Operand<'_>, &mut [u8]),
) {
    assert!(x.rows() <= MAX_ROWS && x.columns() == rows.count(), "shape of a left product");
    if rows.count() <= CHUNK {
        return f(x, rows, out);
    }
    let step = rows.step();
    for first in (0..rows.count()).step_by(CHUNK) {
        let end = rows.count().min(first + CHUNK);
        let bytes = &rows.bytes()[rows.offset(first)..rows.offset(end)];
        let chunk = Operand::upper(bytes, end - first, rows.row_bytes() - first * step, step);
        f(x.columns_in(first..end), chunk, &mut out[first * step..]);
    }
}

/// `ROW_MAPS[k]`: the bit matrix, as `gf2p8affineqb` takes it, that maps a coefficient c in each nibble to row k of the
/// matrix of multiplication by c: its bit t is the coefficient of x^k in c x^t.
pub(super) const ROW_MAPS: [u64; 4] = {
    let mut maps = [0; 4];
    let mut k = 0;
    while k < 4 {
        // The map is linear: column b of it is its value at c = x^b.
        let mut b = 0;
        while b < 4 {
            let mut t = 0;
            while t < 4 {
                let bit = (crate::gf16::mul(1 << b, 1 << t) >> k & 1) as u64;
                // Output bit i is the parity of the input masked by byte 7 - i; twice, for the low and the high nibble.
                maps[k] |= bit << (8 * (7 - t) + b) | bit << (8 * (7 - (t + 4)) + b + 4);
                t += 1;
            }
            b += 1;
        }
        k += 1;
    }
    maps
};

#[cfg(test)]
mod tests {
    use crate::backend::{Backend, Gfni256, Gfni512, Portable};
    use crate::packed::{Coefficients, Operand};

    /// Bytes without pattern, different for every `seed`.
    fn noise(length: usize, seed: usize) -> Vec<u8> {
        let mut state = seed as u64 * 2 + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..length).map(next).collect()
    }

    /// Compares a backend with the portable one; `gap` bytes lie between the rows of the product and of X.
    fn compare<B: Backend>(b: B, x_rows: usize, count: usize, row_bytes: usize, step: usize, gap: usize) {
        let elements: Vec<u8> = noise(count * (x_rows + gap), 1).iter().map(|byte| byte & 15).collect();
        let x = Coefficients::new(&elements, x_rows + gap, x_rows);
        let bytes = noise(count * row_bytes - step * (count * count.saturating_sub(1) / 2), 2);
        let rows = if count > 0 {
            Operand::upper(&bytes, count, row_bytes, step)
        } else {
            Operand::full(&bytes, count, row_bytes)
        };
        let stride = row_bytes + gap;
        let mut wanted = noise(x_rows * stride - gap, 3);
        let mut got = wanted.clone();
        Portable::new().left_product(x, rows, &mut wanted, stride);
        b.left_product(x, rows, &mut got, stride);
        assert!(got == wanted, "{} of {x_rows} x {count} by {row_bytes} bytes, step {step}, gap {gap}", B::NAME);
    }

    fn suite<B: Backend>(b: B) {
        for x_rows in 1..=24 {
            for count in [0, 1, 2, 3, 4, 5, 7, 8, 13, 78, 161, 324] {
                for row_bytes in [1, 31, 32, 33, 39, 63, 64, 65, 127, 128, 129, 440] {
                    compare(b, x_rows, count, row_bytes, 0, (count + row_bytes) % 3);
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
                compare(b, x_rows, count, vectors * step, step, count % 3);
            }
            compare(b, x_rows, 5, 300, 70, 0);
            compare(b, x_rows, 170, 180, 1, 0);
        }
        for (x_rows, v, step) in [(18, 99, 54), (21, 99, 54), (24, 142, 71), (24, 133, 71)] {
            compare(b, x_rows, v, v * step, step, 0);
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
