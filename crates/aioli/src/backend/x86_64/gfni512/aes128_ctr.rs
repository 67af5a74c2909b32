//! AES-128 of counter blocks with VAES on 512-bit registers.
//!
//! Eight registers of four blocks in flight hide the latency of `vaesenc`: 4 cycles, while one or
//! two start in each.
//!
//! **Cost.** 64 bytes take eight `vaesenc`, an XOR with a load, and a store; four entries of the
//! table take ten instructions. The crate `aes` does ten rounds and reads the counter blocks from
//! memory. The table pays from about ten KiB of output on.
//!
//! The rest of this page is docs/aes-ctr.md.
#![doc = ""]
#![doc = include_str!("../../../../docs/aes-ctr.md")]

use crate::backend::x86_64::vector::{load_16, load_64, store_64};
use core::arch::x86_64::*;

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,aes,vaes")]
pub(in crate::backend::x86_64) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    // Longer streams would change another byte in column 0 of the first round.
    assert!((out.len() as u64) < 1 << 40, "length of a key stream");
    let keys = expand_key(key).map(|key| _mm512_broadcast_i32x4(key));
    let start = _mm512_xor_si512(keys[0], _mm512_broadcast_i32x4(load_16(iv)));
    // Turns numbers of 128 bits from little-endian to big-endian.
    let reverse = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    // Two rounds of the four blocks from a counter on.
    let two_rounds = |counter: u64| {
        let counters = _mm512_maskz_set1_epi64(0b0101_0101, counter as i64);
        let counters = _mm512_add_epi64(counters, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
        let blocks = _mm512_xor_si512(_mm512_shuffle_epi8(counters, reverse), start);
        _mm512_aesenc_epi128(_mm512_aesenc_epi128(blocks, keys[1]), keys[2])
    };
    let mut counter = u64::from(first);
    let last_byte = |counter: u64| (counter & 255) as usize;

    // The entries that are needed, for the run of the first counter.
    let template = counter & !255;
    let mut table = Table([0; 16 * 256 + GROUP]);
    for four in (last_byte(counter) / 4..).take((out.len().div_ceil(16) + 3).div_ceil(4).min(64)) {
        let four = four % 64;
        store_64(&mut table.0.as_chunks_mut().0[four], two_rounds(template + 4 * four as u64));
    }
    let template = two_rounds(template);

    let mut rest = out;
    while !rest.is_empty() {
        let states = &table.0[16 * last_byte(counter)..];
        let (blocks, after) = rest.split_at_mut(rest.len().min(16 * (256 - last_byte(counter))));
        rest = after;
        let others = _mm512_xor_si512(template, two_rounds(counter & !255));
        let (groups, tail) = blocks.as_chunks_mut();
        let (states, states_of_tail) = states.split_at(groups.as_flattened().len());
        for (states, group) in states.as_chunks().0.iter().zip(groups) {
            remaining_rounds(states, others, &keys, group);
        }
        if !tail.is_empty() {
            let mut group = [0; GROUP];
            let states = states_of_tail.first_chunk().expect("a group behind the last entry");
            remaining_rounds(states, others, &keys, &mut group);
            tail.copy_from_slice(&group[..tail.len()]);
        }
        counter = (counter & !255) + 256;
    }
}

/// Rounds 3 to 10 of a group of blocks, which are the sums of `states` and `others` after two
/// rounds.
#[inline]
#[target_feature(enable = "avx512f,aes,vaes")]
fn remaining_rounds(states: &[u8; GROUP], others: __m512i, keys: &[__m512i; 11], out: &mut [u8; GROUP]) {
    let mut blocks = [others; IN_FLIGHT];
    for (block, state) in blocks.iter_mut().zip(states.as_chunks().0) {
        *block = _mm512_xor_si512(*block, load_64(state));
    }
    for key in &keys[3..10] {
        for block in &mut blocks {
            *block = _mm512_aesenc_epi128(*block, *key);
        }
    }
    for (block, out) in blocks.into_iter().zip(out.as_chunks_mut().0) {
        store_64(out, _mm512_aesenclast_epi128(block, keys[10]));
    }
}

/// The eleven round keys (FIPS 197, section 5.2).
#[target_feature(enable = "aes")]
pub(in crate::backend::x86_64) fn expand_key(key: &[u8; 16]) -> [__m128i; 11] {
    #[target_feature(enable = "aes")]
    fn next<const CONSTANT: i32>(key: __m128i) -> __m128i {
        let assist = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<CONSTANT>(key));
        // Each word becomes the sum of itself and all words before it.
        let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        _mm_xor_si128(key, assist)
    }
    let k0 = load_16(key);
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

/// A block for each last byte of a counter, and room for a group that begins with the last of them.
#[repr(align(64))]
struct Table([u8; 16 * 256 + GROUP]);

/// Registers in flight.
const IN_FLIGHT: usize = 8;
/// Bytes of a group: those in flight.
const GROUP: usize = 64 * IN_FLIGHT;
