//! AES-128 of counter blocks with the AES extension.
//!
//! The block that a run adds to the entries of the table is added to the key of round 3 instead,
//! with which `aese` begins anyway. Sixteen blocks are in flight.
//!
//! **Cost.** A block takes 16 instructions and a quarter of a load and of a store; an entry of the
//! table takes 10. The loop is assembly, as the compiler takes more for loads and stores. The crate
//! `aes` takes 22 instructions a block, and 4 more for the counter blocks, which it reads from
//! memory.
//!
//! The rest of this page is docs/aes-ctr.md.
#![doc = ""]
#![doc = include_str!("../../../docs/aes-ctr.md")]

use core::arch::{aarch64::*, asm};

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
#[target_feature(enable = "aes")]
pub(super) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    // Longer streams would change another byte in column 0 of the first round.
    assert!((out.len() as u64) < 1 << 40, "length of a key stream");
    let keys = expand_key(key);
    let two_rounds = |block| round(round(block, keys[0]), keys[1]);
    let iv = u128::from_be_bytes(*iv);
    let block = |counter: u64| from_bytes(&(iv ^ u128::from(counter)).to_be_bytes());
    let mut counter = u64::from(first);
    let last_byte = |counter: u64| (counter & 255) as usize;

    // Only the entries that are needed, four at a time, from the first counter's on and around the
    // end. The others stay blocks before round 1, and results made from them are not used.
    let template = block(counter & !255);
    let mut whole_table = [template; 256];
    let (fours, _) = whole_table.as_chunks_mut::<4>();
    let skipped = last_byte(counter);
    let count = fours.len();
    let needed = (skipped % 4 + out.len().div_ceil(16)).div_ceil(4).min(count);
    for n in (skipped / 4..).take(needed).map(|n| n % count) {
        for (i, entry) in fours[n].iter_mut().enumerate() {
            *entry = two_rounds(vsetq_lane_u8::<15>(iv as u8 ^ (4 * n + i) as u8, template));
        }
    }
    let template = two_rounds(template);

    let mut rest = out;
    while !rest.is_empty() {
        let table = &whole_table[last_byte(counter)..];
        let (blocks, after) = rest.split_at_mut(rest.len().min(16 * table.len()));
        rest = after;
        let mut keys = keys;
        keys[2] = veorq_u8(keys[2], veorq_u8(template, two_rounds(block(counter & !255))));
        let (groups, tail) = blocks.as_chunks_mut();
        let (table_groups, table_tail) = table.as_chunks();
        remaining_rounds(table_groups, &keys, groups);
        if !tail.is_empty() {
            let mut states = [[template; IN_FLIGHT]];
            let there = table_groups.get(groups.len()).map_or(table_tail, |group| group);
            states[0][..there.len()].copy_from_slice(there);
            let mut group = [[0; 16 * IN_FLIGHT]];
            remaining_rounds(&states, &keys, &mut group);
            tail.copy_from_slice(&group[0][..tail.len()]);
        }
        counter = (counter & !255) + 256;
    }
}

/// Rounds 3 to 10 of as many groups of blocks as `out` has room for.
#[inline]
#[target_feature(enable = "aes")]
fn remaining_rounds(states: &[[uint8x16_t; IN_FLIGHT]], keys: &[uint8x16_t; 11], out: &mut [[u8; 16 * IN_FLIGHT]]) {
    assert!(states.len() >= out.len(), "a state for each block");
    let mut from = states.as_ptr();
    let mut to = out.as_mut_ptr();
    macro_rules! blocks {
        () => {
            ".irp block, v0.16b, v1.16b, v2.16b, v3.16b, v4.16b, v5.16b, v6.16b, v7.16b, \
             v8.16b, v9.16b, v10.16b, v11.16b, v12.16b, v13.16b, v14.16b, v15.16b"
        };
    }
    for _ in 0..out.len() {
        // SAFETY: each turn reads one group of `states` and writes one of `out`, which has no more,
        // as asserted.
        unsafe {
            asm!(
                "ld1 {{v0.16b, v1.16b, v2.16b, v3.16b}}, [{from}], #64",
                "ld1 {{v4.16b, v5.16b, v6.16b, v7.16b}}, [{from}], #64",
                "ld1 {{v8.16b, v9.16b, v10.16b, v11.16b}}, [{from}], #64",
                "ld1 {{v12.16b, v13.16b, v14.16b, v15.16b}}, [{from}], #64",
                ".irp key, v16.16b, v17.16b, v18.16b, v19.16b, v20.16b, v21.16b, v22.16b",
                blocks!(),
                "aese \\block, \\key",
                "aesmc \\block, \\block",
                ".endr",
                ".endr",
                blocks!(),
                "aese \\block, v23.16b",
                "eor \\block, \\block, v24.16b",
                ".endr",
                "st1 {{v0.16b, v1.16b, v2.16b, v3.16b}}, [{to}], #64",
                "st1 {{v4.16b, v5.16b, v6.16b, v7.16b}}, [{to}], #64",
                "st1 {{v8.16b, v9.16b, v10.16b, v11.16b}}, [{to}], #64",
                "st1 {{v12.16b, v13.16b, v14.16b, v15.16b}}, [{to}], #64",
                from = inout(reg) from, to = inout(reg) to,
                in("v16") keys[2], in("v17") keys[3], in("v18") keys[4], in("v19") keys[5], in("v20") keys[6],
                in("v21") keys[7], in("v22") keys[8], in("v23") keys[9], in("v24") keys[10],
                out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _,
                out("v15") _,
                options(nostack, preserves_flags),
            );
        }
    }
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
            // All columns have the same word, so shifting the rows changes nothing.
            let columns = vaeseq_u8(vreinterpretq_u8_u32(vdupq_n_u32(word)), vdupq_n_u8(0));
            word = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(columns)).rotate_right(8) ^ constant;
            // Doubles it in the field of AES.
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
fn from_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Blocks in flight.
const IN_FLIGHT: usize = 16;
