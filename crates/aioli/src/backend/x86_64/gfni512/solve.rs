//! Solving with AVX-512 and GFNI: the elimination by columns of
//! [`portable::solve`](crate::backend::portable::solve).
//!
//! **Idea.** A column stays packed, up to 128 elements in one register (two for m = 142). Let s be
//! its entry in the pivot row; elimination adds `s g` to it, by four instructions and an XOR.
//! `vpermb` broadcasts the byte that holds s, and a shift by 0 or 4 brings s down. By s `vpermi2q`
//! selects one of the sixteen 8x8 bit matrices "times s", held in registers, and `vgf2p8affineqb`
//! multiplies all of g. Dividing by the pivot takes a selection from sixteen other matrices.
//!
//! **Constant time.** The pivot's row is secret. It is found by `tzcnt` of a test mask and goes
//! only into permute indices and shift counts, which are registers. No address and no branch
//! depends on it. A column without a pivot has position `64 REGISTERS`, no byte of its one-hot mask
//! set, and g = 0.
//!
//! **Cost.** About 1.5 cycles for each column to the right of a pivot. Each pivot has up to 60
//! cycles of latency, which overlaps with this work.
//!
//! **Quirk.** `vpermi2q` reads only the low four bits of each index, so the rest need not be
//! cleared.

use crate::backend::contract::MAX_UNKNOWNS;
use crate::backend::x86_64::masks::lowest_bits;
use crate::gf16;
use crate::memory::wipe;
use crate::plants::{Leak, leak};
use core::arch::x86_64::*;

/// See [`Backend::solve`](crate::backend::Backend::solve).
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
pub(in crate::backend::x86_64) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(128) {
        1 => solve_in::<1>(columns, m, x),
        _ => solve_in::<2>(columns, m, x),
    }
}

/// Solves with `REGISTERS` registers a column.
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
fn solve_in<const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(
        m <= 128 * REGISTERS && packed.len() == (x.len() + 1) * m / 2 && x.len() < MAX_COLUMNS,
        "shape of a linear system"
    );
    let zero = _mm512_setzero_si512();
    let times = load_matrices(&TIMES);
    let times_inverse = load_matrices(&TIMES_INVERSE);
    let in_pivot_row = load_low(&IN_PIVOT_ROW);

    let mut columns = [[zero; REGISTERS]; MAX_COLUMNS];
    let columns = &mut columns[..x.len() + 1];
    for (column, bytes) in columns.iter_mut().zip(packed.chunks_exact(m / 2)) {
        *column = core::array::from_fn(|n| load_low(&bytes[64 * n..]));
    }
    let places: [__m512i; REGISTERS] = core::array::from_fn(|n| {
        let places: [u8; 64] = core::array::from_fn(|i| (64 * n + i) as u8);
        load_low(&places)
    });
    // All ones in the rows that have no pivot yet.
    let mut unused: [__m512i; REGISTERS] =
        places.map(|places| _mm512_movm_epi8(_mm512_cmplt_epu8_mask(places, _mm512_set1_epi8((m / 2) as u8 as i8))));
    // For each column the byte that holds its pivot, and the shift that brings the pivot down.
    let mut bytes = [0; ROUNDED];
    let mut shifts = [0; ROUNDED];

    for c in 0..x.len() {
        let column = columns[c];
        let mut candidates = [zero; REGISTERS];
        let mut byte = 0;
        let mut none_yet = u32::MAX;
        for n in 0..REGISTERS {
            candidates[n] = _mm512_and_si512(column[n], unused[n]);
            let first = _mm512_test_epi8_mask(candidates[n], candidates[n]).trailing_zeros();
            byte += first & none_yet;
            none_yet &= (first >> 6).wrapping_neg();
        }
        leak(Leak::Solver, none_yet as u8);
        let place = _mm512_set1_epi8(byte as i8);
        let found = select_byte(candidates, place);
        // 4 if the low nibble is zero or used. Without a pivot both nibbles are zero, and any shift
        // does.
        let low = _mm_cvtsi128_si32(_mm512_castsi512_si128(found)) & 15;
        let shift = ((low - 1) >> 8) & 4;
        let shift_by = _mm_cvtsi32_si128(shift);
        let pivot = _mm512_srl_epi64(found, shift_by);

        let nibble = _mm512_set1_epi8((15 << shift) as i8);
        let matrix = select_matrix(times_inverse, pivot);
        let own = _mm512_permutexvar_epi8(_mm512_and_si512(pivot, _mm512_set1_epi8(15)), in_pivot_row);
        let g: [__m512i; REGISTERS] = core::array::from_fn(|n| {
            let one_hot = _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(places[n], place), nibble);
            unused[n] = _mm512_andnot_si512(one_hot, unused[n]);
            // Adding s g clears this column off the pivot row, and in the pivot row turns s into s
            // / pivot.
            let scaled = _mm512_gf2p8affine_epi64_epi8::<0>(column[n], matrix);
            _mm512_or_si512(_mm512_andnot_si512(one_hot, scaled), _mm512_and_si512(one_hot, own))
        });
        for later in &mut columns[c + 1..] {
            let entry = _mm512_srl_epi64(select_byte(*later, place), shift_by);
            let matrix = select_matrix(times, entry);
            for n in 0..REGISTERS {
                let product = _mm512_gf2p8affine_epi64_epi8::<0>(g[n], matrix);
                later[n] = _mm512_xor_si512(later[n], product);
            }
        }
        bytes[c] = byte as u8;
        shifts[c] = shift as u8;
    }

    // The solution's coordinates are the entries of y in the pivot rows, 64 of them at a time.
    let y = columns[x.len()];
    for (i, x) in x.chunks_mut(64).enumerate() {
        let bytes = load_low(&bytes[64 * i..]);
        let shifts = load_low(&shifts[64 * i..]);
        let has_pivot = _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8((64 * REGISTERS) as u8 as i8));
        let found = _mm512_maskz_mov_epi8(has_pivot, select_byte(y, bytes));
        let high = _mm512_srli_epi16::<4>(found);
        let found = _mm512_mask_mov_epi8(found, _mm512_test_epi8_mask(shifts, shifts), high);
        let found = _mm512_and_si512(found, _mm512_set1_epi8(15));
        // SAFETY: the mask lets through as many bytes as the chunk has.
        unsafe { _mm512_mask_storeu_epi8(x.as_mut_ptr().cast(), lowest_bits(x.len()), found) };
    }
    let left_over = unused.into_iter().fold(zero, |all, unused| _mm512_or_si512(all, unused));
    let full_rank = _mm512_test_epi64_mask(left_over, left_over);
    columns.fill([zero; REGISTERS]);
    zeroize::optimization_barrier(columns);
    wipe(&mut bytes);
    wipe(&mut shifts);
    wipe(packed);
    1 ^ crate::ct::nonzero(full_rank)
}

/// The bytes of a column at the given places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn select_byte<const REGISTERS: usize>(column: [__m512i; REGISTERS], places: __m512i) -> __m512i {
    match REGISTERS {
        1 => _mm512_permutexvar_epi8(places, column[0]),
        // MemorySanitizer reports secret indices of vpermi2, but can follow two permutations and a
        // blend.
        _ if cfg!(aioli_ct = "msan") => {
            let is_second = _mm512_test_epi8_mask(places, _mm512_set1_epi8(64));
            let [first, second] = [column[0], column[REGISTERS - 1]].map(|half| _mm512_permutexvar_epi8(places, half));
            _mm512_mask_blend_epi8(is_second, first, second)
        }
        _ => _mm512_permutex2var_epi8(column[0], places, column[1]),
    }
}

/// The matrix for the element in the low four bits of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn select_matrix(matrices: [__m512i; 2], elements: __m512i) -> __m512i {
    // As in `select_byte`.
    if cfg!(aioli_ct = "msan") {
        let is_second = _mm512_test_epi64_mask(elements, _mm512_set1_epi64(8));
        let [first, second] = matrices.map(|half| _mm512_permutexvar_epi64(elements, half));
        return _mm512_mask_blend_epi64(is_second, first, second);
    }
    _mm512_permutex2var_epi64(matrices[0], elements, matrices[1])
}

/// The first 64 bytes, with zeros behind the last if `bytes` has fewer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_low(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask lets through no more bytes than the slice has.
    unsafe { _mm512_maskz_loadu_epi8(lowest_bits(bytes.len()), bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_matrices(matrices: &[u64; 16]) -> [__m512i; 2] {
    let (halves, _) = matrices.as_chunks::<8>();
    // SAFETY: a half is 64 bytes, as many as are read.
    [0, 1].map(|half: usize| unsafe { _mm512_loadu_si512(halves[half].as_ptr().cast()) })
}

/// The columns of A and y.
const MAX_COLUMNS: usize = MAX_UNKNOWNS + 1;
/// Bytes of the whole registers that hold one byte for each column.
const ROUNDED: usize = MAX_COLUMNS.next_multiple_of(64);

/// For each element, the matrix that multiplies both elements of a byte by it.
const TIMES: [u64; 16] = matrices(false);
/// For each element, the matrix that multiplies both elements of a byte by its inverse; by zero for
/// zero.
const TIMES_INVERSE: [u64; 16] = matrices(true);

/// For each element, the matrix that multiplies both elements of a byte by it or by its inverse.
const fn matrices(inverse: bool) -> [u64; 16] {
    let mut matrices = [0; 16];
    let mut element = 0;
    while element < 16 {
        let factor = if inverse { gf16::inverse(element) } else { element };
        let mut from = 0;
        let mut to = 0;
        while from < 8 {
            while to < 8 {
                // Output bit `to` is the parity of the input under byte 7 - `to`.
                let product = gf16::mul(factor, 1 << (from % 4)) >> (to % 4) & 1;
                if from / 4 == to / 4 {
                    matrices[element as usize] |= (product as u64) << (8 * (7 - to) + from);
                }
                to += 1;
            }
            to = 0;
            from += 1;
        }
        element += 1;
    }
    matrices
}

/// `1/p + 1` in both nibbles, by the pivot p: `s + (1/p + 1) s = s/p`. Zero if there is no pivot.
const IN_PIVOT_ROW: [u8; 16] = {
    let mut table = [0; 16];
    let mut pivot = 1;
    while pivot < 16 {
        table[pivot as usize] = (gf16::inverse(pivot) ^ 1) * 0x11;
        pivot += 1;
    }
    table
};
