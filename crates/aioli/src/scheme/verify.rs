//! Verifying (docs/mayo.md, "Verifying").
//!
//! With T = (S P)': U = S T, and the linear map rides along as one more column of T
//! (`docs/one-pass.md`).

use super::public_map::PublicMap;
use super::target::{hash_bytes, lambda_bytes, t_columns, target};
use super::transpose::write_t;
use super::whip;
use crate::backend::Backend;
use crate::memory::buffers;
use crate::packed::{self, Coefficients, Operand, Output};
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use core::ops::Range;

buffers! {
    /// The working memory of [`verify`], of any content: nothing in it is secret.
    ///
    /// The matrices come first: in some sets their rows are whole cache lines, and memory begins at
    /// one.
    VerifyBuffers<P>(width: usize) {
        /// S P in `width` columns, K rows.
        sp: P::K * width * P::M_BYTES,
        /// `width` rows of `[T | lambda]`.
        t_matrix: width * t_columns::<P>() * P::M_BYTES,
        /// `[U, Lambda(s)]`, K rows.
        products: P::K * t_columns::<P>() * P::M_BYTES,
        /// SHAKE256 of digest and salt.
        hash: hash_bytes::<P>(),
        /// lambda_0 .. lambda_{n-1}.
        lambda: lambda_bytes::<P>(),
        /// S, K rows of N elements, one a byte.
        elements: P::K * P::N,
        /// S transposed: the K coefficients of each variable together.
        s: P::N * P::K,
        /// W(s).
        w: P::M_BYTES,
    }
}

/// Whether `signature` is one of the message with this digest: W(s) = t.
///
/// Each column of P gives a row of T, and each row of T is used once; so `width` columns at a time,
/// from O to N, are enough.
#[inline(never)]
pub(crate) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    public_key: &[u8],
    mut p: PublicMap<'_, P>,
    digest: &[u8],
    signature: &[u8],
    width: usize,
    memory: &mut [u8],
) -> bool {
    let VerifyBuffers { sp, t_matrix, products, hash, lambda, elements, s, w } =
        VerifyBuffers::carve::<P>(memory, width);

    // Step 1: s and the salt.
    let Some(salt) = decode::<P, B>(b, signature, elements, s) else { return false };
    let s = Coefficients::new(s, P::K, P::K).public();

    // Step 2: t and the linear map.
    b.shake256(&[&[digest, salt]], &mut [hash]);
    let t = target::<P, B>(b, hash, lambda);

    // Step 3: W(s) = t.
    let mut sum = Output::replace(products, t_columns::<P>() * P::M_BYTES);
    for strip in strips::<P>(width) {
        let sp = &mut sp[..P::K * strip.len() * P::M_BYTES];
        multiply_by_p::<P, B>(b, s, &mut p, public_key, strip.clone(), sp);
        multiply_by_t::<P, B>(b, s, sp, lambda, strip, t_matrix, sum.next_term(0));
    }
    whip::whipped_sum::<P, B>(b, products, t_columns::<P>(), w);
    w == t
}

/// The seed of P1 and P2 in a compact public key.
pub(crate) fn public_seed(public_key: &[u8]) -> &[u8; PUBLIC_SEED_BYTES] {
    public_key.first_chunk().expect("a public key begins with its seed")
}

/// Unpacks the K vectors of a signature and writes S transposed to `s`. Returns the salt, or
/// nothing if the signature is malformed.
pub(super) fn decode<'a, P: ParameterSet, B: Backend>(
    b: B,
    signature: &'a [u8],
    elements: &mut [u8],
    s: &mut [u8],
) -> Option<&'a [u8]> {
    let (s_bytes, salt) = signature.split_at(P::SIGNATURE_BYTES - P::SALT_BYTES);
    // Slices of constant lengths, which the compiler unrolls.
    let s_bytes = &s_bytes[..(P::K * P::N).div_ceil(2)];
    let elements = &mut elements[..P::K * P::N];
    let s = &mut s[..P::N * P::K];
    b.vectorize(
        #[inline(always)]
        || {
            packed::decode(s_bytes, elements);
            for (i, row) in elements.chunks_exact(P::N).enumerate() {
                for (s, &element) in s.chunks_exact_mut(P::K).zip(row) {
                    s[i] = element;
                }
            }
        },
    );
    let padding = if (P::N * P::K).is_multiple_of(2) { 0 } else { s_bytes[s_bytes.len() - 1] >> 4 };
    (padding == 0).then_some(salt)
}

/// Writes S [T | lambda] with T = (S P)' to `products`, or adds it, for the columns `strip` of P.
/// S P in these columns is `sp`, and the sum for all columns is `[U, Lambda(s)]`.
pub(super) fn multiply_by_t<P: ParameterSet, B: Backend>(
    b: B,
    s: Coefficients<'_>,
    sp: &[u8],
    lambda: &[u8],
    strip: Range<usize>,
    t_matrix: &mut [u8],
    products: Output<'_>,
) {
    let t_row_bytes = t_columns::<P>() * P::M_BYTES;
    let t_matrix = &mut t_matrix[..strip.len() * t_row_bytes];
    b.vectorize(
        #[inline(always)]
        || write_t::<P, B>(sp, lambda, strip.clone(), t_matrix),
    );
    let t_rows = Operand::full(t_matrix, strip.len(), t_row_bytes).public();
    b.left_product(s.columns_in(strip), t_rows, products);
}

/// Cuts the columns of P into strips of at most `width`. Only the last strip has columns of P2 and
/// P3.
fn strips<P: ParameterSet>(width: usize) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    core::iter::from_fn(move || {
        let end = if first + width >= P::N { P::N } else { P::V.min(first + width) };
        let strip = first..end;
        first = end;
        (!strip.is_empty()).then_some(strip)
    })
}

/// `out = S P` in the columns `strip`, with P = `[[P1, P2], [0, P3]]`.
pub(super) fn multiply_by_p<P: ParameterSet, B: Backend>(
    b: B,
    s: Coefficients<'_>,
    p: &mut PublicMap<'_, P>,
    public_key: &[u8],
    strip: Range<usize>,
    out: &mut [u8],
) {
    let stride = strip.len() * P::M_BYTES;
    if strip.start < P::V {
        p.left_product_p1(b, s, strip.start..P::V.min(strip.end), Output::replace(out, stride));
    }
    if strip.end == P::N {
        let mut right = Output::replace(&mut out[(P::V - strip.start.min(P::V)) * P::M_BYTES..], stride);
        p.left_product_p2(b, s.columns_in(0..P::V), right.next_term(0));
        let p3 = Operand::upper(&public_key[PUBLIC_SEED_BYTES..], P::O, P::O * P::M_BYTES, P::M_BYTES).public();
        b.left_product(s.columns_in(P::V..P::N), p3, right.next_term(0));
    }
}
