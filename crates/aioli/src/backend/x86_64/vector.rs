//! Loads and stores of whole registers, from and to arrays of their size, at any alignment; and a
//! step that the kernels on 256 bits share.

use core::arch::x86_64::*;

#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::backend::x86_64) fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn load_32(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn store_32(bytes: &mut [u8; 32], value: __m256i) {
    // SAFETY: the reference is to as many bytes as are written.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::backend::x86_64) fn load_64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::backend::x86_64) fn store_64(bytes: &mut [u8; 64], value: __m512i) {
    // SAFETY: the reference is to as many bytes as are written.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}

/// Writes a register, or adds those of its bytes that `added` selects.
///
/// A tile that overlaps the one before is written as a whole: both have the same sums there.
///
/// # Safety
///
/// `at` is valid for reads and writes of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) unsafe fn write_or_add(at: *mut __m256i, sum: __m256i, added: Option<__m256i>) {
    // SAFETY: the caller vouches for these bytes.
    unsafe {
        let sum = match added {
            Some(bytes) => _mm256_xor_si256(_mm256_loadu_si256(at), _mm256_and_si256(sum, bytes)),
            None => sum,
        };
        _mm256_storeu_si256(at, sum);
    }
}

/// Asks for the cache line of an address, which need not be valid.
#[inline]
#[target_feature(enable = "sse")]
pub(in crate::backend::x86_64) fn prefetch(at: *const u8) {
    #[allow(unused_unsafe, reason = "the intrinsic is unsafe before Rust 1.90 or so, and safe later")]
    // SAFETY: a prefetch reads nothing that the program sees, and never faults.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
}

/// The low nibbles of `a`, each with that of `b` above it, and the high nibbles likewise.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64) fn interleave(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let swap = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi16::<4>(a), b), _mm256_set1_epi8(0x0f));
    [_mm256_xor_si256(a, _mm256_slli_epi16::<4>(swap)), _mm256_xor_si256(b, swap)]
}
