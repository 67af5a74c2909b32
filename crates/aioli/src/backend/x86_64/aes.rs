//! AES-128 of counter blocks with VAES on 512-bit registers.
//!
//! Idea: eight registers of four blocks in flight hide the latency of `vaesenc` (4 cycles; one or two start in each).
//! Counter blocks are not loaded: a register of four of them is a byte shuffle of a counter in 64-bit lanes and an XOR
//! with `iv ^ round key 0`.
//! Cost: ten `vaesenc` and four other instructions for 64 bytes. The crate `aes` writes the counter blocks to memory
//! first and keeps fewer registers in flight: on a Zen 5 it takes about twice as long, which is why this file exists.
//! The key is public, and so is everything else here.

use core::arch::x86_64::*;

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,aes,vaes")]
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    let keys = expand_key(key).map(|key| _mm512_broadcast_i32x4(key));
    let iv = _mm512_broadcast_i32x4(from_bytes(iv));
    let start = _mm512_xor_si512(keys[0], iv);
    // Lanes of (counter, 0), each 128-bit lane byte-reversed into a big-endian number.
    let counters = _mm512_add_epi64(_mm512_set1_epi64(i64::from(first)), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    let mut counters = _mm512_maskz_mov_epi64(0b0101_0101, counters);
    let reverse = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut next = || {
        let blocks = _mm512_xor_si512(_mm512_shuffle_epi8(counters, reverse), start);
        counters = _mm512_add_epi64(counters, four);
        blocks
    };

    let (groups, rest) = out.as_chunks_mut::<{ 64 * IN_FLIGHT }>();
    for group in groups {
        let mut blocks = [start; IN_FLIGHT];
        for block in &mut blocks {
            *block = next();
        }
        for key in &keys[1..10] {
            for block in &mut blocks {
                *block = _mm512_aesenc_epi128(*block, *key);
            }
        }
        for (block, out) in blocks.into_iter().zip(group.as_chunks_mut().0) {
            store(out, _mm512_aesenclast_epi128(block, keys[10]));
        }
    }
    for out in rest.chunks_mut(64) {
        let mut block = next();
        for key in &keys[1..10] {
            block = _mm512_aesenc_epi128(block, *key);
        }
        let mut bytes = [0; 64];
        store(&mut bytes, _mm512_aesenclast_epi128(block, keys[10]));
        out.copy_from_slice(&bytes[..out.len()]);
    }
}

/// The eleven round keys (FIPS 197, section 5.2).
#[target_feature(enable = "aes")]
fn expand_key(key: &[u8; 16]) -> [__m128i; 11] {
    #[target_feature(enable = "aes")]
    fn next<const CONSTANT: i32>(key: __m128i) -> __m128i {
        let assist = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<CONSTANT>(key));
        // Each word becomes the sum of itself and all words before it.
        let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        _mm_xor_si128(key, assist)
    }
    let k0 = from_bytes(key);
    let k1 = next::<0x01>(k0);
    let k2 = next::<0x02>(k1);
    let k3 = next::<0x04>(k2);
    let k4 = next::<0x08>(k3);
    let k5 = next::<0x10>(k4);
    let k6 = next::<0x20>(k5);
    let k7 = next::<0x40>(k6);
    let k8 = next::<0x80>(k7);
    let k9 = next::<0x1b>(k8);
    [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, next::<0x36>(k9)]
}

#[inline(always)]
fn from_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: both types are sixteen bytes for which every value is valid.
    unsafe { core::mem::transmute(*bytes) }
}

#[target_feature(enable = "avx512f")]
fn store(out: &mut [u8; 64], blocks: __m512i) {
    // SAFETY: `out` is 64 bytes, and the store asks for no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), blocks) }
}

/// Registers in flight.
const IN_FLIGHT: usize = 8;
