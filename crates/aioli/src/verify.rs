//! Verifying (MAYO.md, "Verifying"), and the target that signing shares with it.
//!
//! With T = (S P)': u = S T, and the linear map rides along as one more column of T (`docs/one-pass.md`).

use crate::backend::Backend;
use crate::memory::Memory;
use crate::packed::{self, Coefficients, Operand};
use crate::params::{PUBLIC_SEED_BYTES, ParameterSet};
use crate::public_map::PublicMap;
use crate::whip;

/// Bytes of SHAKE256 of D and salt that the scheme uses: t, packed, and in round 3 a key and a first block.
pub(crate) const fn target_bytes<P: ParameterSet>() -> usize {
    if P::LINEAR { P::M_BYTES + 32 } else { P::M_BYTES }
}

/// Splits SHAKE256 of D and salt: returns t, and in round 3 computes lambda_0 .. lambda_{n-1}, packed (MAYO.md, "The
/// target and, in round 3, the linear map").
pub(crate) fn target<'h, P: ParameterSet, B: Backend>(b: B, hash: &'h [u8], lambda: &mut [u8]) -> &'h [u8] {
    let (t, linear) = hash.split_at(P::M_BYTES);
    if let [key, iv] = linear.as_chunks().0 {
        b.aes128_ctr(key, iv, 0, lambda);
    }
    t
}

/// Bytes of lambda.
pub(crate) const fn lambda_bytes<P: ParameterSet>() -> usize {
    if P::LINEAR { P::N * P::M_BYTES } else { 0 }
}

/// Columns of T: one for each of the k vectors, and one for lambda.
pub(crate) const fn t_columns<P: ParameterSet>() -> usize {
    if P::LINEAR { P::K + 1 } else { P::K }
}

/// Working memory of [`verify`] that takes `width` columns of P at a time, from O to N; of any content: nothing in it is
/// secret.
pub(crate) const fn verify_memory<P: ParameterSet>(width: usize) -> usize {
    let elements = 2 * P::K * P::N;
    let products = P::K * width + (width + P::K) * t_columns::<P>();
    elements + target_bytes::<P>() + lambda_bytes::<P>() + (products + 1) * P::M_BYTES
}

/// Whether `signature` is one of the message with this digest, W(s) = t.
///
/// Each column of P gives a row of T, which is used once; so `width` columns at a time are enough.
pub(crate) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    public_key: &[u8],
    mut p: PublicMap<'_, P>,
    digest: &[u8],
    signature: &[u8],
    width: usize,
    memory: &mut [u8],
) -> bool {
    let mut memory = Memory::new(memory);
    let (s_bytes, salt) = signature.split_at(P::SIGNATURE_BYTES - P::SALT_BYTES);
    if !(P::N * P::K).is_multiple_of(2) && s_bytes[s_bytes.len() - 1] >> 4 != 0 {
        return false;
    }
    // The matrices first: their rows are whole cache lines in some sets, and memory begins at one.
    let columns = t_columns::<P>();
    let (sp, t_matrix) = (memory.take(P::K * width * P::M_BYTES), memory.take(width * columns * P::M_BYTES));
    let products = memory.take(P::K * columns * P::M_BYTES);
    products.fill(0);
    let (hash, lambda) = (memory.take(target_bytes::<P>()), memory.take(lambda_bytes::<P>()));
    b.shake256(&[&[digest, salt]], &mut [hash]);
    let t = target::<P, B>(b, hash, lambda);

    // S^T: the coefficients that belong to one variable together.
    let (elements, s) = (memory.take(P::K * P::N), memory.take(P::N * P::K));
    b.vectorize(
        #[inline(always)]
        || {
            packed::decode(s_bytes, elements);
            for (r, row) in elements.chunks_exact(P::N).enumerate() {
                for (s, &element) in s.chunks_exact_mut(P::K).zip(row) {
                    s[r] = element;
                }
            }
        },
    );
    let s = Coefficients::new(s, P::K, P::K);

    let mut first = 0;
    while first < P::N {
        // All of the rest, or columns of P1 alone.
        let strip = first..if first + width >= P::N { P::N } else { P::V.min(first + width) };
        let stride = strip.len() * P::M_BYTES;
        let (sp, t_matrix) = (&mut sp[..P::K * stride], &mut t_matrix[..columns * stride]);
        sp.fill(0);
        // S P, P = [[P1, P2], [0, P3]].
        if first < P::V {
            p.left_product_p1(b, s, first..P::V.min(strip.end), sp, stride);
        }
        if strip.end == P::N {
            let right = &mut sp[(P::V - first.min(P::V)) * P::M_BYTES..];
            p.left_product_p2(b, s.columns_in(0..P::V), right, stride);
            let p3 = Operand::upper(&public_key[PUBLIC_SEED_BYTES..], P::O, P::O * P::M_BYTES, P::M_BYTES).public();
            b.left_product(s.columns_in(P::V..P::N), p3, right, stride);
        }
        // u and Lambda(s_i) from S [T | lambda].
        b.vectorize(
            #[inline(always)]
            || {
                packed::transpose::<P>((P::K, strip.len()), (sp, strip.len()), (t_matrix, columns));
                if P::LINEAR {
                    let (lambda, last) = (&lambda[first * P::M_BYTES..], &mut t_matrix[P::K * P::M_BYTES..]);
                    packed::transpose::<P>((1, strip.len()), (lambda, P::N), (last, columns));
                }
            },
        );
        let row_bytes = columns * P::M_BYTES;
        let t_rows = Operand::full(t_matrix, strip.len(), row_bytes).public();
        b.left_product(s.columns_in(strip.clone()), t_rows, products, row_bytes);
        first = strip.end;
    }

    let w = memory.take(P::M_BYTES);
    whip::whip::<P, B>(b, products, columns, w);
    w == t
}
