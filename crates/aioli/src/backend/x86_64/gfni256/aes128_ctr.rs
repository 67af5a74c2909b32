//! AES-128 of counter blocks with VAES on 256-bit registers, for all backends without AVX-512.
//!
//! Eight registers of two blocks in flight hide the latency of `vaesenc`: 3 or 4 cycles, while one
//! or two start in each.
//!
//! **Bound.** 32 bytes take eight `vaesenc`, so 0.125 cycles a byte if two start in a cycle.
//!
//! **Cost.** An XOR with a load and a store come with each register. Two entries of the table take
//! five instructions. The table pays from about ten KiB of output on.
//!
//! The rest of this page is docs/aes-ctr.md.
#![doc = ""]
#![doc = include_str!("../../../../docs/aes-ctr.md")]

use crate::backend::x86_64::gfni512::aes128_ctr::expand_key;
use crate::backend::x86_64::vector::{load_16, load_32, store_32};
use core::arch::x86_64::*;

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "avx2,aes,vaes")]
pub(in crate::backend::x86_64) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    // Longer streams would change another byte in column 0 of the first round.
    assert!((out.len() as u64) < 1 << 40, "length of a key stream");
    let keys = expand_key(key).map(|key| _mm256_broadcastsi128_si256(key));
    let start = _mm256_xor_si256(keys[0], _mm256_broadcastsi128_si256(load_16(iv)));
    // Turns numbers of 128 bits from little-endian to big-endian.
    let reverse = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    // Two rounds of the two blocks from a counter on.
    let two_rounds = |counter: u64| {
        let counters = _mm256_set_epi64x(0, counter as i64 + 1, 0, counter as i64);
        let blocks = _mm256_xor_si256(_mm256_shuffle_epi8(counters, reverse), start);
        _mm256_aesenc_epi128(_mm256_aesenc_epi128(blocks, keys[1]), keys[2])
    };
    let mut counter = u64::from(first);
    let last_byte = |counter: u64| (counter & 255) as usize;

    // The entries that are needed, for the run of the first counter.
    let template = counter & !255;
    let mut table = Table([0; 16 * 256 + GROUP]);
    for pair in (last_byte(counter) / 2..).take((out.len().div_ceil(16) + 1).div_ceil(2).min(128)) {
        let pair = pair % 128;
        store_32(&mut table.0.as_chunks_mut().0[pair], two_rounds(template + 2 * pair as u64));
    }
    let template = two_rounds(template);

    let mut rest = out;
    while !rest.is_empty() {
        let states = &table.0[16 * last_byte(counter)..];
        let (blocks, after) = rest.split_at_mut(rest.len().min(16 * (256 - last_byte(counter))));
        rest = after;
        let others = _mm256_xor_si256(template, two_rounds(counter & !255));
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
#[target_feature(enable = "avx2,vaes")]
fn remaining_rounds(states: &[u8; GROUP], others: __m256i, keys: &[__m256i; 11], out: &mut [u8; GROUP]) {
    let mut blocks = [others; IN_FLIGHT];
    for (block, state) in blocks.iter_mut().zip(states.as_chunks().0) {
        *block = _mm256_xor_si256(*block, load_32(state));
    }
    for key in &keys[3..10] {
        for block in &mut blocks {
            *block = _mm256_aesenc_epi128(*block, *key);
        }
    }
    for (block, out) in blocks.into_iter().zip(out.as_chunks_mut().0) {
        store_32(out, _mm256_aesenclast_epi128(block, keys[10]));
    }
}

/// A block for each last byte of a counter, and room for a group that begins with the last of them.
#[repr(align(64))]
struct Table([u8; 16 * 256 + GROUP]);

/// Registers in flight.
const IN_FLIGHT: usize = 8;
/// Bytes of a group: those in flight.
const GROUP: usize = 32 * IN_FLIGHT;
