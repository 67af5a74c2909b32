//! AES-128 of counter blocks through RustCrypto's `aes`, which finds AES-NI, VAES and the Arm
//! extensions by itself.

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

/// See [`Backend::aes128_ctr`](crate::backend::Backend::aes128_ctr).
///
/// The counter blocks stay in L1: from one run of 256 to the next, only the bytes above the last
/// one change.
pub(in crate::backend) fn aes128_ctr(key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
    const BLOCKS: usize = 256;
    let cipher = aes::Aes128::new(&Array(*key));
    let mut counters = [Array(*iv); BLOCKS];
    let used = BLOCKS.min(out.len().div_ceil(16));
    for (i, counter) in counters[..used].iter_mut().enumerate() {
        counter[15] ^= (first as u8).wrapping_add(i as u8);
    }
    let above = u64::from_be_bytes(*iv[7..].first_chunk().expect("eight bytes"));
    for (run, out) in (u64::from(first) / 256..).zip(out.chunks_mut(16 * BLOCKS)) {
        let counters = &mut counters[..out.len().div_ceil(16)];
        let (before, after) = counters.split_at_mut(counters.len().min(BLOCKS - first as usize % BLOCKS));
        for (counters, number) in [(before, run), (after, run + 1)] {
            for counter in counters {
                counter[7..15].copy_from_slice(&(above ^ number).to_be_bytes());
            }
        }
        let (blocks, tail) = Array::slice_as_chunks_mut(out);
        let (counters, last) = counters.split_at(blocks.len());
        cipher.encrypt_blocks_b2b(counters, blocks).expect("a counter for each block");
        if let [mut last] = *last {
            cipher.encrypt_block(&mut last);
            tail.copy_from_slice(&last[..tail.len()]);
        }
    }
}
