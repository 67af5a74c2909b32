//! AES-128 of counter blocks with the AES extension, two of the ten rounds taken from a table.
//!
//! **Idea.** Over 256 aligned counters only byte 15 of the block changes. `ShiftRows` and `MixColumns` bring it into
//! column 0 of the first round's result, and the four bytes of that column into one column each of the second's:
//!
//! ```text
//! block      round 1    round 2
//! . . . .    * . . .    * * * *       a dot: does not change over 256 counters
//! . . . .    * . . .    * * * *
//! . . . .    * . . .    * * * *       in each column of the last there is one term that changes
//! . . . *    * . . .    * * * *
//! ```
//!
//! `MixColumns` is linear, so what two rounds give is a term by the low byte of the counter plus a term by the others.
//! The first is a table of 256 blocks, made once for a stream; the second, one block for 256, is added to the key of
//! round 3, with which `aese` begins anyway. As everything here is public, that is safe.
//!
//! **Cost.** Eight blocks in flight, for each of them 16 instructions and half a load and a store. The crate `aes` takes
//! 22, and the counter blocks, which it finds in memory, 4 more.

use core::arch::aarch64::*;

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "aes")]
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    let keys = expand_key(key);
    let iv = u128::from_be_bytes(*iv);
    let two_rounds = |counter: u64| {
        let block = from_bytes(&(iv ^ u128::from(counter)).to_be_bytes());
        round(round(block, keys[0]), keys[1])
    };
    let first = u64::from(first);
    if out.len() < 16 * WORTH_A_TABLE {
        let (groups, tail) = out.as_chunks_mut();
        for (counter, group) in (first..).step_by(IN_FLIGHT).zip(&mut *groups) {
            let states = core::array::from_fn(|i| two_rounds(counter + i as u64));
            write_group(remaining_rounds(states, keys[2], &keys), group);
        }
        for (counter, out) in (first + (groups.len() * IN_FLIGHT) as u64..).zip(tail.chunks_mut(16)) {
            write(remaining_rounds([two_rounds(counter)], keys[2], &keys), out);
        }
        return;
    }
    // Beyond, another byte would change in column 0 of the first round.
    assert!(out.len() < 1 << 40, "length of a key stream");
    let above = first & !255;
    let whole_table: [uint8x16_t; 256] = core::array::from_fn(|low| two_rounds(above + low as u64));
    let mut counter = first;
    let mut rest = out;
    while !rest.is_empty() {
        let table = &whole_table[(counter & 255) as usize..];
        let (blocks, after) = rest.split_at_mut(rest.len().min(16 * table.len()));
        rest = after;
        let key = veorq_u8(keys[2], veorq_u8(whole_table[0], two_rounds(counter & !255)));
        let (groups, tail) = blocks.as_chunks_mut();
        let (table_groups, _) = table.as_chunks::<IN_FLIGHT>();
        for (group, states) in groups.iter_mut().zip(table_groups) {
            write_group(remaining_rounds(*states, key, &keys), group);
        }
        for (&state, out) in table[groups.len() * IN_FLIGHT..].iter().zip(tail.chunks_mut(16)) {
            write(remaining_rounds([state], key, &keys), out);
        }
        counter = (counter & !255) + 256;
    }
}

/// Rounds 3 to 10 of some blocks; `key` is that of round 3.
#[inline]
#[target_feature(enable = "aes")]
fn remaining_rounds<const N: usize>(
    blocks: [uint8x16_t; N],
    key: uint8x16_t,
    keys: &[uint8x16_t; 11],
) -> [uint8x16_t; N] {
    let mut blocks = blocks.map(|block| round(block, key));
    for &key in &keys[3..9] {
        blocks = blocks.map(|block| round(block, key));
    }
    blocks.map(|block| veorq_u8(vaeseq_u8(block, keys[9]), keys[10]))
}

/// A round, which begins with its key.
#[inline]
#[target_feature(enable = "aes")]
fn round(block: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    vaesmcq_u8(vaeseq_u8(block, key))
}

/// The eleven round keys (FIPS 197, section 5.2).
#[target_feature(enable = "aes")]
fn expand_key(key: &[u8; 16]) -> [uint8x16_t; 11] {
    let mut words = [0; 44];
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut constant = 1;
    for i in 4..words.len() {
        let mut word = words[i - 1];
        if i % 4 == 0 {
            // In each column the same word, so that shifting the rows changes nothing.
            let columns = vaeseq_u8(vreinterpretq_u8_u32(vdupq_n_u32(word)), vdupq_n_u8(0));
            word = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(columns)).rotate_right(8) ^ constant;
            // x times it in the field of AES.
            constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
        }
        words[i] = words[i - 4] ^ word;
    }
    core::array::from_fn(|k| {
        let words: [u32; 4] = core::array::from_fn(|i| words[4 * k + i]);
        let mut bytes = [0; 16];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        from_bytes(&bytes)
    })
}

#[inline(always)]
fn write_group(blocks: [uint8x16_t; IN_FLIGHT], out: &mut [u8; 16 * IN_FLIGHT]) {
    for (block, out) in blocks.into_iter().zip(out.as_chunks_mut().0) {
        store(out, block);
    }
}

/// Writes as much of a block as there is room for.
#[inline]
fn write([block]: [uint8x16_t; 1], out: &mut [u8]) {
    let mut bytes = [0; 16];
    store(&mut bytes, block);
    out.copy_from_slice(&bytes[..out.len()]);
}

#[inline(always)]
fn from_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline(always)]
fn store(out: &mut [u8; 16], block: uint8x16_t) {
    // SAFETY: the reference is to as many bytes as are written.
    unsafe { vst1q_u8(out.as_mut_ptr(), block) }
}

/// Blocks in flight.
const IN_FLIGHT: usize = 8;
/// So many blocks cost more without the table than with it.
const WORTH_A_TABLE: usize = 512;
