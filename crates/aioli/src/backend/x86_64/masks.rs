//! Masks of the first or the last bytes of a register.

use super::vector::load_32;
use core::arch::x86_64::*;

/// All ones in the bytes from `begin` to the end of a register.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn from_byte(begin: usize) -> __m256i {
    const WINDOW: [[u8; 32]; 2] = [[0; 32], [0xff; 32]];
    load_32(WINDOW.as_flattened()[32 - begin..].first_chunk().expect("a place in a register, or its end"))
}

/// The lowest `count` bits; all of them from 64 on.
#[inline(always)]
pub(in crate::backend::x86_64) fn lowest_bits(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}
