//! Verifying several signatures under one key at a time.
//!
//! The product with P takes most of the time of a verification, and for the few rows of one
//! signature it is bound by loads of P. Here the rows of several signatures form one left operand.

use super::public_map::PublicMap;
use super::target::{hash_bytes, lambda_bytes, t_columns, target};
use super::verify::{decode, multiply_by_p, multiply_by_t};
use super::whip;
use crate::backend::{Backend, MAX_ROWS};
use crate::memory::buffers;
use crate::packed::{Coefficients, Output};
use crate::params::ParameterSet;
use crate::sets::largest;

/// The most signatures that [`verify_group`] takes.
pub(crate) const fn group<P: ParameterSet>() -> usize {
    MAX_ROWS / P::K
}

/// The most signatures in a group of any set.
const MOST: usize = largest!(P => MAX_ROWS / P::K);

buffers! {
    /// The working memory of [`verify_group`], of any content.
    GroupBuffers<P>(signatures: usize) {
        /// The rows of S P of each signature.
        sp: signatures * P::K * P::N * P::M_BYTES,
        /// `[T | lambda]` of one signature.
        t_matrix: P::N * t_columns::<P>() * P::M_BYTES,
        /// `[U, Lambda(s)]` of one signature.
        products: P::K * t_columns::<P>() * P::M_BYTES,
        /// The hash of each signature.
        hashes: signatures * hash_bytes::<P>(),
        /// lambda of one signature.
        lambda: lambda_bytes::<P>(),
        /// S of one signature, K rows of N elements, one a byte.
        elements: P::K * P::N,
        /// S of each signature, transposed.
        each: signatures * P::N * P::K,
        /// All S below each other, transposed: the coefficients of each variable together.
        stacked: P::N * signatures * P::K,
        /// W(s) of one signature.
        w: P::M_BYTES,
    }
}

/// Verifies signatures under one key, each behind the digest of its message; bit i of the result is
/// set if signature i is valid.
///
/// The product with P is made once for all of them, which reads P once, and they are hashed
/// together. There are at most [`group`] of them.
#[inline(never)]
pub(crate) fn verify_group<'s, P: ParameterSet, B: Backend>(
    b: B,
    public_key: &[u8],
    mut p: PublicMap<'_, P>,
    signed: impl ExactSizeIterator<Item = (&'s [u8], &'s [u8])>,
    memory: &mut [u8],
) -> u32 {
    let count = signed.len();
    let rows = count * P::K;
    let GroupBuffers { sp, t_matrix, products, hashes, lambda, elements, each, stacked, w } =
        GroupBuffers::carve::<P>(memory, count);

    let mut valid = 0;
    let mut inputs = [[&[][..]; 2]; MOST];
    for (i, ((digest, signature), s)) in signed.zip(each.chunks_exact_mut(P::N * P::K)).enumerate() {
        // A malformed signature stays in its place, so that the others keep theirs.
        let salt = decode::<P, B>(b, signature, elements, s);
        valid |= u32::from(salt.is_some()) << i;
        inputs[i] = [digest, salt.unwrap_or_default()];
        for (to, from) in stacked.chunks_exact_mut(rows).zip(s.chunks_exact(P::K)) {
            to[i * P::K..][..P::K].copy_from_slice(from);
        }
    }

    let inputs = inputs.each_ref().map(|input| &input[..]);
    let mut hash = hashes.chunks_exact_mut(hash_bytes::<P>());
    let mut outputs: [&mut [u8]; MOST] = core::array::from_fn(|_| hash.next().unwrap_or_default());
    b.shake256(&inputs[..count], &mut outputs[..count]);

    let stacked = Coefficients::new(stacked, rows, rows).public();
    multiply_by_p::<P, B>(b, stacked, &mut p, public_key, 0..P::N, sp);
    let of_each = sp.chunks_exact(P::K * P::N * P::M_BYTES).zip(each.chunks_exact(P::N * P::K));
    for (i, (sp, s)) in of_each.enumerate() {
        let t = target::<P, B>(b, &hashes[i * hash_bytes::<P>()..][..hash_bytes::<P>()], lambda);
        let s = Coefficients::new(s, P::K, P::K).public();
        let sum = Output::replace(products, t_columns::<P>() * P::M_BYTES);
        multiply_by_t::<P, B>(b, s, sp, lambda, 0..P::N, t_matrix, sum);
        whip::whipped_sum::<P, B>(b, products, t_columns::<P>(), w);
        valid &= !(u32::from(w != t) << i);
    }
    valid
}
