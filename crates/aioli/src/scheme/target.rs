//! The target t and, in round 3, the linear map Lambda (docs/mayo.md, "The target and the linear
//! map").

use crate::backend::Backend;
use crate::params::ParameterSet;

/// Bytes of SHAKE256 of digest and salt that the scheme uses: t, packed, and in round 3 an AES key
/// and a first block.
pub(crate) const fn hash_bytes<P: ParameterSet>() -> usize {
    if P::LINEAR { P::M_BYTES + 32 } else { P::M_BYTES }
}

/// Bytes of lambda_0 .. lambda_{n-1}; none in round 2.
pub(crate) const fn lambda_bytes<P: ParameterSet>() -> usize {
    if P::LINEAR { P::N * P::M_BYTES } else { 0 }
}

/// Columns of `[T | lambda]`: one for each of the k vectors, and in round 3 one for lambda.
pub(crate) const fn t_columns<P: ParameterSet>() -> usize {
    if P::LINEAR { P::K + 1 } else { P::K }
}

/// Splits SHAKE256 of digest and salt: returns t, and in round 3 computes lambda_0 .. lambda_{n-1},
/// packed.
pub(crate) fn target<'h, P: ParameterSet, B: Backend>(b: B, hash: &'h [u8], lambda: &mut [u8]) -> &'h [u8] {
    let (t, linear) = hash.split_at(P::M_BYTES);
    if let [key, iv] = linear.as_chunks().0 {
        b.aes128_ctr(key, iv, 0, lambda);
    }
    t
}
