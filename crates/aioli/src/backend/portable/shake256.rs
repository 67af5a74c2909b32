//! SHAKE256 through RustCrypto's `shake`, one input after another.

use crate::plants::{Leak, leak};
use crate::xof;

/// See [`Backend::shake256`](crate::backend::Backend::shake256).
pub(in crate::backend) fn shake256(inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
    for (parts, output) in inputs.iter().zip(outputs) {
        xof::shake256(parts, output);
        leak(Leak::Hash, output.first().copied().unwrap_or(0));
    }
}
