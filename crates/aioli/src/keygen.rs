//! Key generation and the expansion of secret keys.
//!
//! Everything is a product from the left (`docs/one-pass.md`): with Q = P2 + (O^T P1)', where ' transposes a matrix
//! of m-vectors, P3 = Upper(O^T Q), because Upper(X) = Upper(X^T).

use crate::backend::Backend;
use crate::ct;
use crate::memory::Memory;
use crate::packed::{self, Coefficients, Operand};
use crate::params::{ByteArray, PUBLIC_SEED_BYTES, ParameterSet};
use crate::public_map::PublicMap;

/// Bytes of what a secret seed determines at once, the hash of it: `seed_pk` and then O, packed.
pub(crate) const fn seeds_bytes<P: ParameterSet>() -> usize {
    PUBLIC_SEED_BYTES + P::O_BYTES
}

/// Takes the hash of a secret seed apart: returns `seed_pk`, and writes O as V rows of O elements, one a byte.
pub(crate) fn split_seeds(hash: &mut [u8], oil: &mut [u8]) -> [u8; PUBLIC_SEED_BYTES] {
    let (seed_pk, packed_oil) = hash.split_first_chunk_mut().expect("a hash begins with the public seed");
    // Part of the public key, and AES may look up what it likes by it.
    ct::public(seed_pk);
    packed::decode(packed_oil, oil);
    *seed_pk
}

/// Secret working memory of [`keygen`] that takes `width` columns of P1 at a time.
pub(crate) const fn keygen_memory<P: ParameterSet>(width: usize) -> usize {
    seeds_bytes::<P>() + P::V * P::O + (2 * P::O * width + P::O * P::O) * P::M_BYTES
}

/// The compact public key of a secret seed (specification, "CompactKeyGen").
///
/// Each column of P1 gives a row of Q, and each row of Q is used once; so `width` columns at a time are enough.
pub(crate) fn keygen<P: ParameterSet, B: Backend>(
    b: B,
    seed_sk: &[u8],
    width: usize,
    window: &mut [u8],
    memory: &mut [u8],
) -> P::PublicKeyBytes {
    let mut memory = Memory::new(memory);
    let (seeds, oil) = (memory.take(seeds_bytes::<P>()), memory.take(P::V * P::O));
    ct::secret(seed_sk);
    b.shake256(&[&[seed_sk]], &mut [seeds]);
    let seed_pk = split_seeds(seeds, oil);
    let oil = Coefficients::new(oil, P::O, P::O);
    let mut p = PublicMap::<P>::from_seed(b, &seed_pk, window);

    let p3 = memory.take(P::O * P::O * P::M_BYTES);
    let memory = memory.take(2 * P::O * width * P::M_BYTES);
    let done = width == P::V && p.in_memory().is_some_and(|(p1, p2)| b.key_product(oil, p1, p2, memory, p3));
    if !done {
        key_product(b, oil, &mut p, width, memory, p3);
    }

    let mut public_key = P::PublicKeyBytes::ZERO;
    let (seed, p3_upper) = public_key.as_mut().split_at_mut(PUBLIC_SEED_BYTES);
    seed.copy_from_slice(&seed_pk);
    let entry = |i: usize, j: usize| &p3[(i * P::O + j) * P::M_BYTES..][..P::M_BYTES];
    let mut upper = p3_upper.chunks_exact_mut(P::M_BYTES);
    for i in 0..P::O {
        for (j, upper) in (i..P::O).zip(&mut upper) {
            upper.copy_from_slice(entry(i, j));
            if i != j {
                packed::add(upper, entry(j, i));
            }
        }
    }
    // The public key.
    ct::public(p3_upper);
    public_key
}

/// `p3 += O^T Q`, by `width` columns of P1 at a time; `memory` is zero.
fn key_product<P: ParameterSet, B: Backend>(
    b: B,
    oil: Coefficients<'_>,
    p: &mut PublicMap<'_, P>,
    width: usize,
    memory: &mut [u8],
    p3: &mut [u8],
) {
    let (q, oil_p1) = memory.split_at_mut(memory.len() / 2);
    for first in (0..P::V).step_by(width) {
        let strip = first..P::V.min(first + width);
        let (q, oil_p1) = (&mut q[..strip.len() * P::O * P::M_BYTES], &mut oil_p1[..P::O * strip.len() * P::M_BYTES]);
        if first > 0 {
            oil_p1.fill(0);
        }
        p.copy_p2(b, strip.clone(), q);
        p.left_product_p1(b, oil, strip.clone(), oil_p1, strip.len() * P::M_BYTES);
        b.vectorize(
            #[inline(always)]
            || packed::add_transposed::<P>((P::O, strip.len()), oil_p1, q),
        );
        let rows = Operand::full(q, strip.len(), P::O * P::M_BYTES);
        b.left_product(oil.columns_in(strip), rows, p3, P::O * P::M_BYTES);
    }
}

/// Secret working memory of [`expand_sk`].
#[cfg(feature = "alloc")]
pub(crate) const fn expand_sk_memory<P: ParameterSet>() -> usize {
    seeds_bytes::<P>() + P::O * P::V * P::M_BYTES
}

/// Expands a secret key (specification, "ExpandSK"): O into `oil`, P1 and then Q into `p1_q`.
///
/// The specification keeps L = (P1 + P1^T) O + P2 in the place of Q; Q = P1^T O + P2 serves signing better.
#[cfg(feature = "alloc")]
pub(crate) fn expand_sk<P: ParameterSet, B: Backend>(
    b: B,
    seed_sk: &[u8],
    oil: &mut [u8],
    p1_q: &mut [u8],
    memory: &mut [u8],
) {
    let mut memory = Memory::new(memory);
    let seeds = memory.take(seeds_bytes::<P>());
    ct::secret(seed_sk);
    b.shake256(&[&[seed_sk]], &mut [seeds]);
    let seed_pk = split_seeds(seeds, oil);
    crate::public_map::expand_p(b, &seed_pk, p1_q);
    let (p1, q) = p1_q.split_at_mut(P::P1_BYTES);
    let oil_p1 = memory.take(P::O * P::V * P::M_BYTES);
    let row_bytes = P::V * P::M_BYTES;
    let p1 = Operand::upper(p1, P::V, row_bytes, P::M_BYTES).public();
    b.left_product(Coefficients::new(oil, P::O, P::O), p1, oil_p1, row_bytes);
    b.vectorize(
        #[inline(always)]
        || packed::add_transposed::<P>((P::O, P::V), oil_p1, q),
    );
}
