//! AES-128 of counter blocks with VAES on 256-bit registers where the processor has it, otherwise
//! with AES-NI.
//!
//! Processors with VAES and without GFNI exist (Zen 3), so the name `avx2` covers both.

use crate::backend::portable;
use crate::backend::x86_64::gfni256;

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "avx2,aes")]
pub(in crate::backend::x86_64) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    if std::arch::is_x86_feature_detected!("vaes") {
        // SAFETY: the processor has VAES, and this function is for processors with the rest.
        unsafe { gfni256::aes128_ctr::aes128_ctr(key, iv, first, out) }
    } else {
        // Without VAES the crate `aes` chooses AES-NI.
        portable::aes128_ctr::aes128_ctr(key, iv, first, out);
    }
}
