//! Key generation and the expansion of secret keys (docs/mayo.md, "Key generation" and "Expanding
//! keys").
//!
//! Everything is a product from the left (`docs/one-pass.md`): with Q = P2 + (O^T P1)', where '
//! transposes a matrix of m-vectors, P3 = Upper(O^T Q), because Upper(X) = Upper(X^T).

use super::public_map::PublicMap;
use super::transpose::add_transposed;
use crate::backend::Backend;
use crate::ct;
use crate::memory::buffers;
use crate::packed::{self, Coefficients, Operand, Output};
use crate::params::{ByteArray, PUBLIC_SEED_BYTES, ParameterSet};

buffers! {
    /// The secret working memory of [`keygen`], of any content.
    KeygenBuffers<P>(width: usize) {
        /// SHAKE256 of the secret seed: the public seed, and O packed.
        seeds: seeds_bytes::<P>(),
        /// O, V rows of O elements, one a byte.
        oil: P::V * P::O,
        /// O^T Q, O rows of O m-vectors.
        oil_q: P::O * P::O * P::M_BYTES,
        /// `width` rows of Q, O m-vectors each.
        q: width * P::O * P::M_BYTES,
        /// O^T P1 in `width` columns.
        oil_p1: P::O * width * P::M_BYTES,
    }
}

/// The compact public key of a secret seed (specification, CompactKeyGen).
///
/// Each column of P1 gives a row of Q, and each row of Q is used once; so `width` columns at a time
/// are enough.
// Inlined in a device, which has one caller, it returns the key without a copy on the stack.
#[cfg_attr(feature = "alloc", inline(never))]
pub(crate) fn keygen<P: ParameterSet, B: Backend>(
    b: B,
    seed_sk: &[u8],
    width: usize,
    window: &mut [u8],
    memory: &mut [u8],
) -> P::PublicKeyBytes {
    let KeygenBuffers { seeds, oil, oil_q, q, oil_p1 } = KeygenBuffers::carve::<P>(memory, width);

    // Step 1: seed_pk and O.
    ct::secret(seed_sk);
    b.shake256(&[&[seed_sk]], &mut [seeds]);
    let seed_pk = split_seeds(seeds, oil);
    let oil = Coefficients::new(oil, P::O, P::O);

    // Step 2: P1 and P2.
    let mut p = PublicMap::<P>::from_seed(b, seed_pk, window);

    // Step 3: P3 = Upper(O^T Q), Q = P2 + (O^T P1)'.
    multiply_by_q::<P, B>(b, oil, &mut p, width, (q, oil_p1), oil_q);

    // Step 4: the public key.
    let mut public_key = P::PublicKeyBytes::ZERO;
    let (seed, p3) = public_key.as_mut().split_at_mut(PUBLIC_SEED_BYTES);
    seed.copy_from_slice(seed_pk);
    write_upper::<P>(oil_q, p3);
    ct::public(p3);
    public_key
}

/// Bytes of the hash of a secret seed: `seed_pk` and then O, packed.
pub(crate) const fn seeds_bytes<P: ParameterSet>() -> usize {
    PUBLIC_SEED_BYTES + P::O_BYTES
}

/// Splits the hash of a secret seed: returns `seed_pk`, and writes O as V rows of O elements, one a
/// byte.
pub(crate) fn split_seeds<'h>(hash: &'h mut [u8], oil: &mut [u8]) -> &'h [u8; PUBLIC_SEED_BYTES] {
    let (seed_pk, packed_oil) = hash.split_first_chunk_mut().expect("a hash begins with the public seed");
    // It is part of the public key, and AES may address tables by it.
    ct::public(seed_pk);
    packed::decode(packed_oil, oil);
    seed_pk
}

/// `out = O^T Q` with Q = P2 + (O^T P1)', in `width` columns of P1 at a time.
///
/// `q` and `oil_p1` are the memory for that many rows of Q and columns of O^T P1.
fn multiply_by_q<P: ParameterSet, B: Backend>(
    b: B,
    oil: Coefficients<'_>,
    p: &mut PublicMap<'_, P>,
    width: usize,
    (q, oil_p1): (&mut [u8], &mut [u8]),
    out: &mut [u8],
) {
    let q_row_bytes = P::O * P::M_BYTES;
    let mut out = Output::replace(out, q_row_bytes);
    for first in (0..P::V).step_by(width) {
        let strip = first..P::V.min(first + width);
        let p1_row_bytes = strip.len() * P::M_BYTES;
        let q = &mut q[..strip.len() * q_row_bytes];
        let oil_p1 = &mut oil_p1[..P::O * p1_row_bytes];
        p.copy_p2(b, strip.clone(), q);
        p.left_product_p1(b, oil, strip.clone(), Output::replace(oil_p1, p1_row_bytes));
        b.vectorize(
            #[inline(always)]
            || add_transposed::<P>((P::O, strip.len()), oil_p1, q),
        );
        let q = Operand::full(q, strip.len(), q_row_bytes);
        b.left_product(oil.columns_in(strip), q, out.next_term(0));
    }
}

/// Upper of an O by O matrix of m-vectors: adds entry (j, i) onto (i, j), and keeps the entries
/// with j >= i.
fn write_upper<P: ParameterSet>(matrix: &[u8], upper: &mut [u8]) {
    let entry = |i: usize, j: usize| &matrix[(i * P::O + j) * P::M_BYTES..][..P::M_BYTES];
    let mut upper = upper.chunks_exact_mut(P::M_BYTES);
    for i in 0..P::O {
        for (j, upper) in (i..P::O).zip(&mut upper) {
            upper.copy_from_slice(entry(i, j));
            if i != j {
                packed::add(upper, entry(j, i));
            }
        }
    }
}

#[cfg(feature = "alloc")]
buffers! {
    /// The secret working memory of [`expand_sk`], of any content.
    ExpandSkBuffers<P>() {
        /// SHAKE256 of the secret seed: the public seed, and O packed.
        seeds: seeds_bytes::<P>(),
        /// O^T P1, O rows of V m-vectors.
        oil_p1: P::O * P::V * P::M_BYTES,
    }
}

/// Expands a secret key (specification, ExpandSK): O into `oil`, P1 and then Q into `p1_q`.
///
/// The specification keeps L = (P1 + P1') O + P2; signing reads Q = P1' O + P2 in its place
/// (`docs/one-pass.md`).
#[cfg(feature = "alloc")]
#[inline(never)]
pub(crate) fn expand_sk<P: ParameterSet, B: Backend>(
    b: B,
    seed_sk: &[u8],
    oil: &mut [u8],
    p1_q: &mut [u8],
    memory: &mut [u8],
) {
    let ExpandSkBuffers { seeds, oil_p1 } = ExpandSkBuffers::carve::<P>(memory);
    ct::secret(seed_sk);
    b.shake256(&[&[seed_sk]], &mut [seeds]);
    let seed_pk = split_seeds(seeds, oil);
    super::public_map::expand_p(b, seed_pk, p1_q);
    let (p1, q) = p1_q.split_at_mut(P::P1_BYTES);
    let row_bytes = P::V * P::M_BYTES;
    let p1 = Operand::upper(p1, P::V, row_bytes, P::M_BYTES).public();
    b.left_product(Coefficients::new(oil, P::O, P::O), p1, Output::replace(oil_p1, row_bytes));
    b.vectorize(
        #[inline(always)]
        || add_transposed::<P>((P::O, P::V), oil_p1, q),
    );
}
