//! SHAKE256 of up to four streams at once with AVX-512VL.
//!
//! **Idea.** Word i of all four states is one register of 32 bytes. All 25 fit the 32 registers. A
//! rotation or any function of three operands is one instruction. So a permutation of four states
//! costs as much as one of a single state.
//!
//! **Wanted.** A round consists of `vprolq` and `vpternlogq` alone, with nothing in memory but the
//! round constant. The source has shifts, ANDs and XORs, which the compiler fuses; instrumented
//! builds can then follow them.
//!
//! **Cost.** A round takes 29 rotations and about 65 other operations. The permutation of four
//! states takes a little less time than the scalar code's permutation of one, so the other three
//! are free.

use crate::memory::wipe;
use crate::plants::{Leak, leak};
use core::arch::x86_64::*;
use core::array::from_fn;

/// See [`Backend::shake256`](crate::backend::Backend::shake256).
#[target_feature(enable = "avx512f,avx512vl")]
pub(in crate::backend::x86_64) fn shake256(inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
    assert_eq!(inputs.len(), outputs.len(), "an output for every input");
    for (inputs, outputs) in inputs.chunks(LANES).zip(outputs.chunks_mut(LANES)) {
        few(inputs, outputs);
    }
}

/// Handles at most as many inputs as there are lanes.
#[target_feature(enable = "avx512f,avx512vl")]
fn few(inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
    let mut state = [[0; LANES]; WORDS];
    // The padded inputs (FIPS 202, sections 5.1 and 6.2) and their numbers of blocks.
    let mut padded = [[0; MAX_INPUT]; LANES];
    let mut blocks = [0; LANES];
    for ((padded, blocks), parts) in padded.iter_mut().zip(&mut blocks).zip(inputs) {
        let mut length = 0;
        for part in *parts {
            padded[length..][..part.len()].copy_from_slice(part);
            length += part.len();
        }
        *blocks = length / RATE + 1;
        padded[length] ^= 0x1f;
        padded[*blocks * RATE - 1] ^= 0x80;
    }
    let steps = |lane: usize, length: usize| blocks[lane] - 1 + length.div_ceil(RATE);
    let last = outputs.iter().enumerate().map(|(lane, output)| steps(lane, output.len())).max().unwrap_or(0);
    for step in 0..last {
        for (lane, padded) in padded.iter().enumerate() {
            if step < blocks[lane] {
                let words = padded[step * RATE..][..RATE].as_chunks().0;
                for (state, word) in state.iter_mut().zip(words) {
                    state[lane] ^= u64::from_le_bytes(*word);
                }
            }
        }
        permute(&mut state);
        for (lane, output) in outputs.iter_mut().enumerate() {
            if let Some(squeezed) = (step + 1).checked_sub(blocks[lane])
                && squeezed * RATE < output.len()
            {
                let bytes = &mut output[squeezed * RATE..];
                for (bytes, state) in bytes.chunks_mut(8).zip(&state[..RATE / 8]) {
                    bytes.copy_from_slice(&state[lane].to_le_bytes()[..bytes.len()]);
                }
            }
        }
    }
    leak(Leak::Hash, state[0][0] as u8);
    wipe(state.as_flattened_mut());
    wipe(padded.as_flattened_mut());
}

/// Rotates all lanes left.
macro_rules! rol {
    ($lanes:expr, $count:literal) => {
        _mm256_or_si256(_mm256_slli_epi64::<$count>($lanes), _mm256_srli_epi64::<{ 64 - $count }>($lanes))
    };
}

/// Each word of the result: the number of the word that moves there, and its rotation.
macro_rules! rho_pi {
    ($a:ident; $([$($from:literal $count:literal),*])*) => { [$([$(rol!($a[$from / 5][$from % 5], $count)),*]),*] };
}

/// Keccak-f\[1600\] of four states (FIPS 202, section 3.2).
///
/// The state is rows of five words: longer loops would not be unrolled, and the state would go
/// through memory.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl")]
fn permute(state: &mut [[u64; LANES]; WORDS]) {
    let rows: &mut [[[u64; LANES]; 5]; 5] = state.as_chunks_mut().0.try_into().expect("five rows of five words");
    // SAFETY: a word of four states is 32 bytes, as many as are read.
    let mut a =
        rows.each_ref().map(|row| row.each_ref().map(|word| unsafe { _mm256_loadu_si256(word.as_ptr().cast()) }));
    for constant in ROUND_CONSTANTS {
        // theta
        let c: [__m256i; 5] = from_fn(|x| xor(xor(xor(xor(a[0][x], a[1][x]), a[2][x]), a[3][x]), a[4][x]));
        let d: [__m256i; 5] = from_fn(|x| rol!(c[(x + 1) % 5], 1));
        a = a.map(|row| from_fn(|x| xor(xor(row[x], c[(x + 4) % 5]), d[x])));
        // rho and pi
        let b = rho_pi!(a;
            [0 0, 6 44, 12 43, 18 21, 24 14]
            [3 28, 9 20, 10 3, 16 45, 22 61]
            [1 1, 7 6, 13 25, 19 8, 20 18]
            [4 27, 5 36, 11 10, 17 15, 23 56]
            [2 62, 8 55, 14 39, 15 41, 21 2]
        );
        // chi and iota
        a = b.map(|row| from_fn(|x| xor(row[x], _mm256_andnot_si256(row[(x + 1) % 5], row[(x + 2) % 5]))));
        a[0][0] = xor(a[0][0], _mm256_set1_epi64x(constant as i64));
    }
    for (row, a) in rows.iter_mut().zip(a) {
        for (word, a) in row.iter_mut().zip(a) {
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(word.as_mut_ptr().cast(), a) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

/// States permuted at a time.
const LANES: usize = 4;
/// 64-bit words of a state.
const WORDS: usize = 25;
/// Bytes of a block.
const RATE: usize = 136;
/// Room for the longest padded input: in MAYO_5 digest, salt, seed and counter are 145 bytes.
const MAX_INPUT: usize = 2 * RATE;

/// Iota's constants (FIPS 202, section 3.2.5): bit 2^j - 1 of the constant of round i is output 7 i
/// + j of a shift register.
const ROUND_CONSTANTS: [u64; 24] = {
    let mut constants = [0; 24];
    let mut register: u16 = 1;
    let mut output = 0;
    while output < 7 * 24 {
        constants[output / 7] |= ((register & 1) as u64) << ((1 << (output % 7)) - 1);
        // The register reduces by z^8 = z^6 + z^5 + z^4 + 1.
        register <<= 1;
        register ^= (register >> 8) * 0x171;
        output += 1;
    }
    constants
};

#[cfg(test)]
mod tests {
    use crate::backend::{Backend, Gfni512};
    use crate::xof::shake256;

    #[test]
    fn agrees_with_the_scalar_code_for_every_length_of_input_and_output() {
        let Some(b) = Gfni512::detect() else {
            return eprintln!("skipped: this processor has no AVX-512 with GFNI");
        };
        let bytes: [u8; 271] = core::array::from_fn(|i| (i * i + i / 7) as u8);
        for length in 0..bytes.len() {
            // Five streams: one is left for a second group of lanes.
            let lengths: [usize; 5] = core::array::from_fn(|lane| (length + 61 * lane) % bytes.len());
            let parts = lengths.map(|length| [&bytes[..length / 3], &bytes[length / 3..length]]);
            let wanted: Vec<Vec<u8>> = (0..5)
                .map(|lane| {
                    let mut output = vec![0; lengths[(lane + 2) % 5] * 3];
                    shake256(&parts[lane], &mut output);
                    output
                })
                .collect();
            let mut got: Vec<Vec<u8>> = wanted.iter().map(|output| vec![0; output.len()]).collect();
            let inputs: Vec<&[&[u8]]> = parts.iter().map(|parts| parts.as_slice()).collect();
            b.shake256(&inputs, &mut got.iter_mut().map(|output| output.as_mut_slice()).collect::<Vec<_>>());
            assert!(got == wanted, "{lengths:?}");
        }
    }
}
