//! P1 and P2, from memory or from their seed.
//!
//! P need not be in memory. The scheme asks for products with P1 and P2, each row of which is used once; this module
//! serves them from an expanded key, or expands into a window as many rows at a time as fit: everything at once on a
//! large machine, blocks that stay in cache, or row by row on a microcontroller.

use crate::backend::Backend;
use crate::packed::{self, Coefficients, Rows};
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use core::marker::PhantomData;

/// The matrices P1 and P2 of one public key.
pub(crate) struct PublicMap<'a, P> {
    source: Source<'a>,
    set: PhantomData<P>,
}

enum Source<'a> {
    /// P1 and then P2, as AES-CTR wrote them.
    Memory(&'a [u8]),
    /// The key of the stream, and memory for a part of it.
    Seed(&'a [u8; PUBLIC_SEED_BYTES], &'a mut [u8]),
}

impl<'a, P: ParameterSet> PublicMap<'a, P> {
    /// The smallest window that [`from_seed`](Self::from_seed) can work with: the longest row, and what completes its
    /// first and last block.
    pub(crate) const MIN_WINDOW: usize = {
        let longest = if P::V > P::O { P::V } else { P::O };
        longest * P::M_BYTES + 2 * BLOCK
    };

    /// From an expanded key.
    pub(crate) fn from_memory(p: &'a [u8]) -> Self {
        assert_eq!(p.len(), P::P_BYTES, "length of P1 and P2");
        Self { source: Source::Memory(p), set: PhantomData }
    }

    /// From the seed; a window of `P_BYTES` is filled once, a smaller one over and over.
    pub(crate) fn from_seed<B: Backend>(b: B, seed: &'a [u8; PUBLIC_SEED_BYTES], window: &'a mut [u8]) -> Self {
        if window.len() >= P::P_BYTES {
            let (window, _) = window.split_at_mut(P::P_BYTES);
            expand_p::<B>(b, seed, window);
            return Self::from_memory(window);
        }
        assert!(window.len() >= Self::MIN_WINDOW, "a window for one row");
        Self { source: Source::Seed(seed, window), set: PhantomData }
    }

    /// `out += X P1`; the rows of `out` are `stride` bytes apart and V m-vectors of each are written.
    pub(crate) fn left_product_p1<B: Backend>(&mut self, b: B, x: Coefficients<'_>, out: &mut [u8], stride: usize) {
        let row_bytes = P::V * P::M_BYTES;
        self.blocks(b, 0, P::V, P::M_BYTES, row_bytes, |first, count, bytes| {
            let indent = first * P::M_BYTES;
            let rows = Rows::upper(bytes, count, row_bytes - indent, P::M_BYTES).public();
            b.left_product(x.columns_in(first..first + count), rows, &mut out[indent..], stride);
        });
    }

    /// `out += X P2`; the rows of `out` are `stride` bytes apart and O m-vectors of each are written.
    pub(crate) fn left_product_p2<B: Backend>(&mut self, b: B, x: Coefficients<'_>, out: &mut [u8], stride: usize) {
        let row_bytes = P::O * P::M_BYTES;
        self.blocks(b, P::P1_BYTES, P::V, 0, row_bytes, |first, count, bytes| {
            let rows = Rows::full(bytes, count, row_bytes).public();
            b.left_product(x.columns_in(first..first + count), rows, out, stride);
        });
    }

    /// `out += P2`.
    pub(crate) fn add_p2<B: Backend>(&mut self, b: B, out: &mut [u8]) {
        let row_bytes = P::O * P::M_BYTES;
        self.blocks(b, P::P1_BYTES, P::V, 0, row_bytes, |first, _, bytes| {
            b.vectorize(
                #[inline(always)]
                || packed::add(&mut out[first * row_bytes..][..bytes.len()], bytes),
            );
        });
    }

    /// Calls `visit(first row, number of rows, their bytes)` for consecutive blocks of a matrix that begins at byte
    /// `start` of the stream and has `rows` rows, the first of `row_bytes` bytes, each shorter by `step`.
    fn blocks<B: Backend>(
        &mut self,
        b: B,
        start: usize,
        rows: usize,
        step: usize,
        row_bytes: usize,
        mut visit: impl FnMut(usize, usize, &[u8]),
    ) {
        let offset = |row: usize| start + row * row_bytes - step * (row * row.saturating_sub(1) / 2);
        match &mut self.source {
            Source::Memory(p) => visit(0, rows, &p[start..offset(rows)]),
            Source::Seed(seed, window) => {
                let mut first = 0;
                while first < rows {
                    let block = offset(first) / BLOCK;
                    let room = block * BLOCK + window.len();
                    let end = (first + 1..=rows).take_while(|&end| offset(end) <= room).last().unwrap_or(first + 1);
                    let window = &mut window[..offset(end) - block * BLOCK];
                    b.aes128_ctr(seed, &[0; 16], block as u32, window);
                    visit(first, end - first, &window[offset(first) - block * BLOCK..]);
                    first = end;
                }
            }
        }
    }
}

/// P1 and P2 of a seed (specification, "ExpandPK", without P3).
pub(crate) fn expand_p<B: Backend>(b: B, seed: &[u8; PUBLIC_SEED_BYTES], p: &mut [u8]) {
    b.aes128_ctr(seed, &[0; 16], 0, p);
}

/// An AES block.
const BLOCK: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use crate::round3::Mayo2;

    #[test]
    fn every_window_gives_the_same_products() {
        let b = Portable::detect();
        let seed = [7; 16];
        let x: Vec<u8> = (0..Mayo2::V * 3).map(|i| (i * 5 + i / 16) as u8 % 16).collect();
        let x = Coefficients::new(&x, 3, 3);
        let stride = Mayo2::N * Mayo2::M_BYTES;
        let products = |window: usize| {
            let mut window = vec![0; window];
            let mut p = PublicMap::<Mayo2>::from_seed(b, &seed, &mut window);
            let mut out = vec![0; 3 * stride];
            p.left_product_p1(b, x, &mut out, stride);
            p.left_product_p2(b, x, &mut out[Mayo2::V * Mayo2::M_BYTES..], stride);
            let mut p2 = vec![0; Mayo2::P2_BYTES];
            p.add_p2(b, &mut p2);
            (out, p2)
        };
        let whole = products(Mayo2::P_BYTES);
        assert!(whole.0.iter().any(|&byte| byte != 0));
        for window in [PublicMap::<Mayo2>::MIN_WINDOW, 5000, 20_001, Mayo2::P_BYTES - 1] {
            assert!(products(window) == whole, "window of {window} bytes");
        }
    }
}
