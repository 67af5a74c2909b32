//! P1 and P2, from memory or from their seed.
//!
//! P need not be in memory. The scheme only needs products with P1 and P2, which read each row
//! once. This module computes them from an expanded key, or expands as many rows at a time as fit
//! into a window. That is everything at once on a large machine, a block that stays in cache, or a
//! single row on a microcontroller.

use crate::backend::Backend;
use crate::packed::{Coefficients, Operand, Output};
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use crate::stream::{BLOCK, StreamPart};
use core::marker::PhantomData;
use core::ops::Range;

/// The matrices P1 and P2 of one public key.
pub(crate) struct PublicMap<'a, P> {
    source: Source<'a>,
    set: PhantomData<P>,
}

enum Source<'a> {
    /// P1 and then P2, as AES-CTR wrote them.
    Memory(&'a [u8]),
    /// seed_pk, which is the key of the stream, and a window: memory for a part of the stream.
    Seed(&'a [u8; PUBLIC_SEED_BYTES], &'a mut [u8]),
    /// P1, and for P2 the same as above.
    P1AndSeed(&'a [u8], &'a [u8; PUBLIC_SEED_BYTES], &'a mut [u8]),
}

impl<'a, P: ParameterSet> PublicMap<'a, P> {
    /// Bytes of the smallest window for [`from_seed`](Self::from_seed): the longest row, and the
    /// rest of the AES blocks in which it begins and ends.
    pub(crate) const MIN_WINDOW: usize = {
        let longest = if P::V > P::O { P::V } else { P::O };
        longest * P::M_BYTES + 2 * BLOCK
    };

    /// The maps of an expanded key, whose P1 and P2 are `p`.
    pub(crate) fn from_memory(p: &'a [u8]) -> Self {
        assert_eq!(p.len(), P::P_BYTES, "length of P1 and P2");
        Self { source: Source::Memory(p), set: PhantomData }
    }

    /// The maps of a seed whose P1 is in memory; P2 is expanded in every product.
    #[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "expanded keys need an allocator"))]
    pub(crate) fn from_p1(p1: &'a [u8], seed: &'a [u8; PUBLIC_SEED_BYTES], window: &'a mut [u8]) -> Self {
        assert_eq!(p1.len(), P::P1_BYTES, "length of P1");
        assert!(window.len() >= Self::MIN_WINDOW, "a window for one row");
        Self { source: Source::P1AndSeed(p1, seed, window), set: PhantomData }
    }

    /// The maps of a seed. A window of `P_BYTES` is filled once, here; a smaller one in every
    /// product.
    pub(crate) fn from_seed<B: Backend>(b: B, seed: &'a [u8; PUBLIC_SEED_BYTES], window: &'a mut [u8]) -> Self {
        if window.len() >= P::P_BYTES {
            let (window, _) = window.split_at_mut(P::P_BYTES);
            expand_p::<B>(b, seed, window);
            return Self::from_memory(window);
        }
        assert!(window.len() >= Self::MIN_WINDOW, "a window for one row");
        Self { source: Source::Seed(seed, window), set: PhantomData }
    }

    /// `out = left P1`, or `out += left P1` if it adds, in the columns `strip` of P1.
    ///
    /// `strip.len()` m-vectors of each row of `out` are written. `left` has V columns. Those from
    /// `strip.end` on are not used, because P1 is triangular.
    pub(crate) fn left_product_p1<B: Backend>(
        &mut self,
        b: B,
        left: Coefficients<'_>,
        strip: Range<usize>,
        mut out: Output<'_>,
    ) {
        let bytes = strip.start * P::M_BYTES..strip.end * P::M_BYTES;
        let part = StreamPart::new(0, P::V * P::M_BYTES, P::M_BYTES, strip.end, bytes);
        let left = left.columns_in(0..strip.end);
        match &mut self.source {
            Source::Memory(p) | Source::P1AndSeed(p, ..) => {
                for first in (0..part.count()).step_by(part.run()) {
                    let end = first + part.run();
                    let right = part.rows(first, end, &p[part.bytes(first).start..part.bytes(end - 1).end]).public();
                    b.left_product(left.columns_in(first..end), right, out.next_term(part.column(first)));
                }
            }
            Source::Seed(seed, window) => b.left_product_of_stream(left, seed, &part, window, out),
        }
    }

    /// `out = left P2`, or `out += left P2` if it adds. O m-vectors of each row are written.
    pub(crate) fn left_product_p2<B: Backend>(&mut self, b: B, left: Coefficients<'_>, out: Output<'_>) {
        let row_bytes = P::O * P::M_BYTES;
        match &mut self.source {
            Source::Memory(p) => {
                let p2 = Operand::full(&p[P::P1_BYTES..][..P::P2_BYTES], P::V, row_bytes);
                b.left_product(left, p2.public(), out);
            }
            Source::Seed(seed, window) | Source::P1AndSeed(_, seed, window) => {
                let part = StreamPart::new(P::P1_BYTES, row_bytes, 0, P::V, 0..row_bytes);
                b.left_product_of_stream(left, seed, &part, window, out);
            }
        }
    }

    /// Copies the rows `rows` of P2 into `out`.
    pub(crate) fn copy_p2<B: Backend>(&mut self, b: B, rows: Range<usize>, out: &mut [u8]) {
        let row_bytes = P::O * P::M_BYTES;
        let begin = P::P1_BYTES + rows.start * row_bytes;
        let end = P::P1_BYTES + rows.end * row_bytes;
        match &mut self.source {
            Source::Memory(p) => out.copy_from_slice(&p[begin..end]),
            Source::Seed(seed, window) | Source::P1AndSeed(_, seed, window) => {
                let whole_blocks = window.len() - window.len() % BLOCK;
                for start in (begin / BLOCK * BLOCK..end).step_by(whole_blocks) {
                    let window = &mut window[..whole_blocks.min(end - start)];
                    b.aes128_ctr(seed, &[0; 16], (start / BLOCK) as u32, window);
                    let from = start.max(begin);
                    let bytes = &window[from - start..];
                    out[from - begin..][..bytes.len()].copy_from_slice(bytes);
                }
            }
        }
    }
}

/// Expands P1 and then P2 from seed_pk (docs/mayo.md, Key generation, step 2).
pub(crate) fn expand_p<B: Backend>(b: B, seed: &[u8; PUBLIC_SEED_BYTES], p: &mut [u8]) {
    b.aes128_ctr(seed, &[0; 16], 0, p);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use crate::round3::Mayo2;

    #[test]
    fn every_window_and_strip_give_the_same_products() {
        let b = Portable::new();
        let seed = [7; 16];
        let elements: Vec<u8> = (0..Mayo2::V * 3).map(|i| (i * 5 + i / 16) as u8 % 16).collect();
        let left = Coefficients::new(&elements, 3, 3);
        let stride = Mayo2::N * Mayo2::M_BYTES;
        let products = |window: usize, columns: usize| {
            let mut window = vec![0; window];
            let mut p = PublicMap::<Mayo2>::from_seed(b, &seed, &mut window);
            let mut out = vec![7; 3 * stride];
            for start in (0..Mayo2::V).step_by(columns) {
                let strip = start..(start + columns).min(Mayo2::V);
                p.left_product_p1(b, left, strip, Output::replace(&mut out[start * Mayo2::M_BYTES..], stride));
            }
            p.left_product_p2(b, left, Output::replace(&mut out[Mayo2::V * Mayo2::M_BYTES..], stride));
            let mut p2 = vec![0; Mayo2::P2_BYTES];
            let (top, bottom) = p2.split_at_mut(19 * Mayo2::O * Mayo2::M_BYTES);
            p.copy_p2(b, 0..19, top);
            p.copy_p2(b, 19..Mayo2::V, bottom);
            (out, p2)
        };
        let whole = products(Mayo2::P_BYTES, Mayo2::V);
        assert!(whole.0.iter().any(|&byte| byte != 0));
        for window in [PublicMap::<Mayo2>::MIN_WINDOW, 5000, 20_001, Mayo2::P_BYTES - 1, Mayo2::P_BYTES] {
            for columns in [1, 7, Mayo2::V] {
                assert!(products(window, columns) == whole, "window of {window} bytes, strips of {columns} columns");
            }
        }
    }
}
