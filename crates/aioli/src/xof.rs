//! SHAKE256, as the scheme uses it.

use shake::digest::{ExtendableOutput, Update, XofReader};

/// Fills `out` with SHAKE256 of the parts, one after another.
pub(crate) fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    let mut hasher = shake::Shake256::default();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize_xof().read(out);
}
