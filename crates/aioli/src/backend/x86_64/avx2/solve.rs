//! Solving with AVX2: the elimination by columns of
//! [`portable::solve`](crate::backend::portable::solve).
//!
//! **Idea.** A column stays packed, 64 elements a register, in one to three registers. Let s be its
//! entry in the pivot row; elimination adds `s g` to it. A mask keeps the register that holds s,
//! `vpermd` and `vpshufb` broadcast its byte, and a compare for each bit of s makes a mask. The
//! four masks select among 1, α, α^2, α^3 times g, which are computed once a pivot.
//!
//! **Constant time.** The pivot's row is secret. It is found by `tzcnt` of a compare mask and goes
//! only into masks and permute indices, which are registers. No address and no branch depends on
//! it. A column without a pivot has position `32 REGISTERS`, which selects no register and no byte,
//! and has g = 0.
//!
//! **Cost.** About 12 + 9 `REGISTERS` instructions for each column to the right of a pivot.

use super::left_product::tables::double;
use crate::backend::contract::MAX_UNKNOWNS;
use crate::backend::x86_64::vector::{load_16, load_32};
use crate::gf16::INVERSE;
use crate::memory::wipe;
use crate::plants::{Leak, leak};
use core::arch::x86_64::*;

/// See [`Backend::solve`](crate::backend::Backend::solve).
#[target_feature(enable = "bmi1,avx2")]
pub(in crate::backend::x86_64) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(64) {
        1 => solve_in::<1>(columns, m, x),
        2 => solve_in::<2>(columns, m, x),
        _ => solve_in::<3>(columns, m, x),
    }
}

/// Solves with `REGISTERS` registers a column.
#[target_feature(enable = "bmi1,avx2")]
fn solve_in<const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(
        m <= 64 * REGISTERS && packed.len() == (x.len() + 1) * m / 2 && x.len() < MAX_COLUMNS,
        "shape of a linear system"
    );
    let zero = _mm256_setzero_si256();
    let mut columns = [[zero; REGISTERS]; MAX_COLUMNS];
    let columns = &mut columns[..x.len() + 1];
    for (column, bytes) in columns.iter_mut().zip(packed.chunks_exact(m / 2)) {
        *column = core::array::from_fn(|n| load_low(&bytes[32 * n..]));
    }
    let places: [__m256i; REGISTERS] =
        core::array::from_fn(|n| load_low(&core::array::from_fn::<u8, 32, _>(|i| (32 * n + i) as u8)));
    // All ones in the rows that have no pivot yet. A signed compare does, as places are below 128.
    let mut unused = places.map(|places| _mm256_cmpgt_epi8(_mm256_set1_epi8((m / 2) as i8), places));
    let mut pivots = [(0, 0); MAX_COLUMNS];

    for c in 0..x.len() {
        let column = columns[c];
        let mut candidates = [zero; REGISTERS];
        let mut byte = 0;
        let mut none_yet = u32::MAX;
        for n in 0..REGISTERS {
            candidates[n] = _mm256_and_si256(column[n], unused[n]);
            let first = (!_mm256_movemask_epi8(_mm256_cmpeq_epi8(candidates[n], zero))).trailing_zeros();
            byte += first & none_yet;
            none_yet &= (first >> 5).wrapping_neg();
        }
        leak(Leak::Solver, none_yet as u8);
        let place = Place::new(byte);
        let found = place.select(candidates);
        // 4 if the low nibble is zero or used. Without a pivot both nibbles are zero, and any shift
        // does.
        let low = _mm256_cvtsi256_si32(found) & 15;
        let shift = ((low - 1) >> 8) & 4;
        // A blend, as memcheck reports vector shifts by a secret count.
        let is_high = _mm256_set1_epi8(-(shift >> 2) as i8);
        let pivot = _mm256_blendv_epi8(found, _mm256_srli_epi16::<4>(found), is_high);
        let pivot = _mm256_and_si256(pivot, _mm256_set1_epi8(15));

        let inverse = bit_masks(_mm256_shuffle_epi8(table(&INVERSE), pivot), 0);
        let own = _mm256_shuffle_epi8(table(&IN_PIVOT_ROW), pivot);
        let g: [[__m256i; 4]; REGISTERS] = core::array::from_fn(|n| {
            let in_byte = _mm256_cmpeq_epi8(places[n], _mm256_set1_epi8(byte as i8));
            let one_hot = _mm256_and_si256(in_byte, _mm256_set1_epi8((15 << shift) as i8));
            unused[n] = _mm256_andnot_si256(one_hot, unused[n]);
            // Adding s g clears this column off the pivot row, and in the pivot row turns s into s
            // / pivot.
            let scaled = times(multiples(column[n]), inverse);
            let g = _mm256_or_si256(_mm256_andnot_si256(one_hot, scaled), _mm256_and_si256(one_hot, own));
            multiples(g)
        });
        for later in &mut columns[c + 1..] {
            let entry = bit_masks(place.select(*later), shift);
            for n in 0..REGISTERS {
                later[n] = _mm256_xor_si256(later[n], times(g[n], entry));
            }
        }
        pivots[c] = (byte, shift);
    }

    let y = columns[x.len()];
    for (x, &(byte, shift)) in x.iter_mut().zip(&pivots) {
        *x = (_mm256_cvtsi256_si32(Place::<REGISTERS>::new(byte).select(y)) >> shift) as u8 & 15;
    }
    let left_over = unused.into_iter().fold(zero, |all, unused| _mm256_or_si256(all, unused));
    let full_rank = _mm256_testz_si256(left_over, left_over);
    columns.fill([zero; REGISTERS]);
    zeroize::optimization_barrier(columns);
    wipe(&mut pivots);
    wipe(packed);
    full_rank as u8
}

/// The place of a byte in a column. Masks select its register; permute indices select its word in
/// the register and its byte in the word.
struct Place<const REGISTERS: usize> {
    register: [__m256i; REGISTERS],
    word: __m256i,
    byte: __m256i,
}

impl<const REGISTERS: usize> Place<REGISTERS> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(place: u32) -> Self {
        let register = _mm256_set1_epi32((place >> 5) as i32);
        Self {
            register: core::array::from_fn(|n| _mm256_cmpeq_epi32(register, _mm256_set1_epi32(n as i32))),
            word: _mm256_set1_epi32((place >> 2 & 7) as i32),
            byte: _mm256_set1_epi8((place & 3) as i8),
        }
    }

    /// This byte of a column, in all bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn select(&self, column: [__m256i; REGISTERS]) -> __m256i {
        let mut register = _mm256_setzero_si256();
        for (column, mask) in column.into_iter().zip(self.register) {
            register = _mm256_or_si256(register, _mm256_and_si256(column, mask));
        }
        _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(register, self.word), self.byte)
    }
}

/// A mask for each bit of the elements that `shift` selects: 0 for low nibbles, 4 for high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn bit_masks(bytes: __m256i, shift: i32) -> [__m256i; 4] {
    core::array::from_fn(|i| {
        let bit = _mm256_set1_epi8((1 << i << shift) as i8);
        _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
    })
}

/// 1, α, α^2, α^3 times the elements in all bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn multiples(elements: __m256i) -> [__m256i; 4] {
    let a = double(elements);
    let b = double(a);
    [elements, a, b, double(b)]
}

/// Elements, given by their four multiples, times one element, given by its bit masks.
#[inline]
#[target_feature(enable = "avx2")]
fn times(multiples: [__m256i; 4], masks: [__m256i; 4]) -> __m256i {
    let [a, b, c, d]: [__m256i; 4] = core::array::from_fn(|i| _mm256_and_si256(multiples[i], masks[i]));
    _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d))
}

/// The first 32 bytes, with zeros behind the last if `bytes` has fewer.
#[inline]
#[target_feature(enable = "avx2")]
fn load_low(bytes: &[u8]) -> __m256i {
    let mut whole = [0; 32];
    let length = bytes.len().min(32);
    whole[..length].copy_from_slice(&bytes[..length]);
    load_32(&whole)
}

/// A table for [`_mm256_shuffle_epi8`].
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load_16(bytes))
}

/// The columns of A and y.
const MAX_COLUMNS: usize = MAX_UNKNOWNS + 1;

/// `1/p + 1` in both nibbles, by the pivot p: `s + (1/p + 1) s = s/p`. Zero if there is no pivot.
const IN_PIVOT_ROW: [u8; 16] = {
    let mut table = [0; 16];
    let mut pivot = 1;
    while pivot < 16 {
        table[pivot] = (INVERSE[pivot] ^ 1) * 0x11;
        pivot += 1;
    }
    table
};
