//! Solving with GFNI on registers of 32 bytes: the elimination by columns of
//! [`portable::solve`], in blocks of eight columns.
//!
//! **Idea.** The columns of a block are eliminated among themselves, one element a byte, mapped
//! into the subfield of GF(256) that is GF(16). There `vgf2p8mulb` multiplies and
//! `vgf2p8affineinvqb` inverts. The elimination changes any other column v by the sum over the
//! block's pivot rows p of v\[p\] times an m-vector. These eight m-vectors take the places of the
//! eight columns:
//!
//! ```text
//! the block   a0 a1 a2 a3 ..      pivot by pivot, c = 0 .. 7:
//!             g0 a1 a2 a3 ..          gc clears column c off its pivot row and makes 1 of its pivot
//!             g0 g1 a2 a3 ..          each other column, g or a, += (its entry in the pivot row) * gc
//! the rest    v += v[p0] g0 + .. + v[p7] g7, the entries taken from v as it was before the block
//! ```
//!
//! The step `+= (entry) * gc` is right for the g too. Let e be the unit vector of the pivot row of
//! gc. The block's pivots from that one on turn e into e + gc, and e is zero in the other pivot
//! rows.
//!
//! The rest is kept as pairs of columns, one in the low and one in the high nibbles of the bytes.
//! One lookup, `REGISTERS` byte shuffles, gives the eight entries of a pair. With two of the g in
//! the nibbles of another register, one `vgf2p8affineqb` adds both to both columns, as in the left
//! product.
//!
//! **Constant time.** The row of a pivot is secret. It is found by `tzcnt` of compare masks and
//! goes only into shuffle indices, which are registers. No address and no branch depends on it. A
//! column without a pivot has g = 0: its position is beyond all rows, so every lookup gives zero.
//!
//! **Cost.** A pair has `REGISTERS` registers. Eight pivots and two columns to the right of their
//! block take 30 + 12 `REGISTERS` instructions. A pivot and another column of its block take
//! 6 `REGISTERS`. The latency of each pivot is up to 60 cycles.

#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use crate::backend::contract::MAX_UNKNOWNS;
use crate::backend::portable;
use crate::backend::x86_64::gfni::ROW_MAPS;
use crate::backend::x86_64::vector::{load_16, load_32};
use crate::memory::wipe;
use crate::plants::{Leak, leak};
use core::arch::x86_64::*;

/// See [`Backend::solve`](crate::backend::Backend::solve).
#[target_feature(enable = "bmi1,avx2,gfni")]
pub(in crate::backend::x86_64) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(32) {
        2 => solve_in::<2>(columns, m, x),
        3 => solve_in::<3>(columns, m, x),
        4 => solve_in::<4>(columns, m, x),
        5 => solve_in::<5>(columns, m, x),
        _ => portable::solve::solve(columns, m, x),
    }
}

/// Solves with `REGISTERS` registers a column.
#[target_feature(enable = "bmi1,avx2,gfni")]
fn solve_in<const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(32 * (REGISTERS - 1) < m && m <= 32 * REGISTERS, "rows of a linear system");
    assert!(packed.len() == (x.len() + 1) * m / 2 && x.len() < MAX_COLUMNS, "shape of a linear system");
    let zero = _mm256_setzero_si256();
    let mut pairs = [[zero; REGISTERS]; MAX_PAIRS];
    let pairs = &mut pairs[..x.len().div_ceil(2) + 1];
    unpack_pairs(packed, m, x.len(), pairs);
    let places: [__m256i; REGISTERS] = core::array::from_fn(|n| {
        let places: [u8; 32] = core::array::from_fn(|i| (32 * n + i) as u8);
        load_32(&places)
    });
    // All ones in the rows that have no pivot yet.
    let mut unused = places.map(|places| {
        let last = _mm256_set1_epi8((m - 1) as u8 as i8);
        _mm256_cmpeq_epi8(_mm256_max_epu8(places, last), last)
    });
    let mut positions = [NONE; POSITIONS];

    let mut g = [[zero; REGISTERS]; BLOCK];
    let mut g_pairs = [[zero; REGISTERS]; BLOCK / 2];
    for first in (0..x.len()).step_by(BLOCK) {
        let count = BLOCK.min(x.len() - first);
        let (block, later) = pairs[first / 2..].split_at_mut(count.div_ceil(2));
        g.fill([zero; REGISTERS]);
        for (g, pair) in g.chunks_exact_mut(2).zip(block) {
            g[0] = pair.map(|pair| affine(pair, TO_SUBFIELD));
            g[1] = pair.map(|pair| affine(pair, TO_SUBFIELD << 4));
        }
        for c in 0..count {
            let column = g[c];
            let candidates: [__m256i; REGISTERS] = core::array::from_fn(|n| _mm256_and_si256(column[n], unused[n]));
            let position = _mm256_set1_epi8(first_nonzero(candidates) as i8);
            let pivot_row = Lookup::new(position);
            let pivot = pivot_row.of(&candidates);
            let inverse = _mm256_gf2p8affineinv_epi64_epi8::<0>(pivot, _mm256_set1_epi64x(IDENTITY as i64));
            // `1/pivot + 1`: in the pivot row, s + (1/pivot + 1) s = s/pivot. Zero if there is no
            // pivot.
            let own = _mm256_xor_si256(inverse, _mm256_min_epu8(pivot, _mm256_set1_epi8(1)));
            let clear: [__m256i; REGISTERS] = core::array::from_fn(|n| {
                let one_hot = _mm256_cmpeq_epi8(places[n], position);
                unused[n] = _mm256_andnot_si256(one_hot, unused[n]);
                _mm256_blendv_epi8(_mm256_gf2p8mul_epi8(column[n], inverse), own, one_hot)
            });
            // The next column comes first, as the next pivot waits for it.
            for other in (1..BLOCK).map(|distance| (c + distance) % BLOCK) {
                let other = &mut g[other];
                let entry = pivot_row.of(other);
                for n in 0..REGISTERS {
                    other[n] = _mm256_xor_si256(other[n], _mm256_gf2p8mul_epi8(clear[n], entry));
                }
            }
            g[c] = clear;
            positions[first + c] = _mm256_extract_epi8::<0>(position) as u8;
            leak(Leak::Solver, u8::from(usize::from(positions[first + c]) >= 32 * REGISTERS));
        }
        for (pair, g) in g_pairs.iter_mut().zip(g.chunks_exact(2)) {
            *pair = core::array::from_fn(|n| {
                _mm256_xor_si256(affine(g[0][n], FROM_SUBFIELD), affine(g[1][n], FROM_SUBFIELD >> 32))
            });
        }
        // Each word has the positions of the even pivots, then those of the odd ones.
        let order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7);
        let ordered = _mm_shuffle_epi8(load_half(&positions[first..]), order);
        let pivot_rows = Lookup::new(_mm256_broadcastsi128_si256(ordered));
        for pair in later {
            let mut sums = *pair;
            for (g, matrix) in g_pairs.iter().zip(matrices(pivot_rows.of(pair))) {
                for n in 0..REGISTERS {
                    sums[n] = _mm256_xor_si256(sums[n], _mm256_gf2p8affine_epi64_epi8::<0>(g[n], matrix));
                }
            }
            *pair = sums;
        }
    }

    read_solution(&pairs[pairs.len() - 1], &positions, x);
    let left_over = unused.into_iter().fold(zero, |all, unused| _mm256_or_si256(all, unused));
    let full_rank = _mm256_testz_si256(left_over, left_over);
    pairs.fill([zero; REGISTERS]);
    g.fill([zero; REGISTERS]);
    g_pairs.fill([zero; REGISTERS]);
    zeroize::optimization_barrier(&(pairs, &g, &g_pairs));
    wipe(&mut positions);
    wipe(packed);
    full_rank as u8
}

/// Unpacks the columns of A in pairs, and then y alone.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_pairs<const REGISTERS: usize>(packed: &[u8], m: usize, unknowns: usize, pairs: &mut [[__m256i; REGISTERS]]) {
    // The last half register is read so that it ends with the column, and then moved down.
    let rest = m / 2 - 16 * (REGISTERS - 1);
    let move_down: [u8; 16] = core::array::from_fn(|i| if i < rest { (i + 16 - rest) as u8 } else { 0x80 });
    let move_down = load_half(&move_down);
    let unpack_all = |bytes: &[u8]| -> [__m256i; REGISTERS] {
        core::array::from_fn(|n| {
            if n + 1 < REGISTERS {
                unpack(load_half(&bytes[16 * n..]))
            } else {
                unpack(_mm_shuffle_epi8(load_half(&bytes[m / 2 - 16..]), move_down))
            }
        })
    };
    let (a, y) = packed.split_at(unknowns * m / 2);
    for (pair, bytes) in pairs.iter_mut().zip(a.chunks(m)) {
        *pair = unpack_all(bytes);
        if bytes.len() == m {
            let second = unpack_all(&bytes[m / 2..]);
            for (pair, second) in pair.iter_mut().zip(second) {
                *pair = _mm256_or_si256(*pair, _mm256_slli_epi16::<4>(second));
            }
        }
    }
    pairs[unknowns.div_ceil(2)] = unpack_all(y);
}

/// Reads the solution: the entries of y in the pivot rows, zero for a column without a pivot.
#[inline]
#[target_feature(enable = "avx2")]
fn read_solution<const REGISTERS: usize>(y: &[__m256i; REGISTERS], positions: &[u8; POSITIONS], x: &mut [u8]) {
    for (x, positions) in x.chunks_mut(16).zip(positions.chunks_exact(16)) {
        let found = Lookup::new(_mm256_broadcastsi128_si256(load_half(positions))).of(y);
        let mut elements = [0; 16];
        // SAFETY: the array has as many bytes as are written.
        unsafe { _mm_storeu_si128(elements.as_mut_ptr().cast(), _mm256_castsi256_si128(found)) };
        x.copy_from_slice(&elements[..x.len()]);
        wipe(&mut elements);
    }
}

/// Shuffle indices that gather bytes of a column.
struct Lookup<const REGISTERS: usize>([__m256i; REGISTERS]);

impl<const REGISTERS: usize> Lookup<REGISTERS> {
    /// The indices for the places in `positions`, whose halves are equal.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(positions: __m256i) -> Self {
        Self(core::array::from_fn(|n| {
            let begin =
                _mm256_setr_m128i(_mm_set1_epi8((32 * n) as u8 as i8), _mm_set1_epi8((32 * n + 16) as u8 as i8));
            // A place within the half register keeps its low four bits. The saturation sets the top
            // bit of any other, which gives zero.
            _mm256_adds_epu8(_mm256_sub_epi8(positions, begin), _mm256_set1_epi8(0x70))
        }))
    }

    /// The entries of a column in these places, in both halves of the result; zero for places
    /// beyond the column.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(&self, column: &[__m256i; REGISTERS]) -> __m256i {
        let mut found = _mm256_shuffle_epi8(column[0], self.0[0]);
        for n in 1..REGISTERS {
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(column[n], self.0[n]));
        }
        _mm256_or_si256(found, _mm256_permute4x64_epi64::<0b01_00_11_10>(found))
    }
}

/// The place of the first byte that is not zero, or a place beyond the column if all are.
#[inline]
#[target_feature(enable = "bmi1,avx2")]
fn first_nonzero<const REGISTERS: usize>(column: [__m256i; REGISTERS]) -> u32 {
    let zero = _mm256_setzero_si256();
    let masks = column.map(|bytes| !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, zero)) as u32));
    let mut place = 0;
    let mut none_yet = u32::MAX;
    for pair in masks.chunks(2) {
        let mask = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        let first = mask.trailing_zeros();
        place += first & none_yet;
        none_yet &= (first >> 6).wrapping_neg();
    }
    place
}

/// The matrices that multiply the pairs of the g, each in all words of a register.
///
/// `entries` are those of a pair of columns in the pivot rows. Each word has the even pivots and
/// then the odd ones, and the first column is in the low nibbles.
///
/// Each of the [`ROW_MAPS`] has a quarter of a register and is applied to the entries of either
/// column, into both nibbles. One nibble of each is kept, as a row of a matrix has the even pivot
/// in its low nibble. Let t(l, i) and u(l, i) be the rows of matrix i that give the coefficient of
/// α^l in the first and in the second column. Then quarter l holds
///
/// ```text
/// t(l,0) t(l,1) t(l,2) t(l,3) u(l,0) u(l,1) u(l,2) u(l,3)
/// ```
///
/// and the bytes of matrix i are, lowest first,
/// `u(3,i) u(2,i) u(1,i) u(0,i) t(3,i) t(2,i) t(1,i) t(0,i)`.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn matrices(entries: __m256i) -> [__m256i; BLOCK / 2] {
    let maps = ROW_MAPS.map(|map| (map & LOW_NIBBLE_MAP | (map & LOW_NIBBLE_MAP) >> 32) as i64);
    let maps = _mm256_setr_epi64x(maps[0], maps[1], maps[2], maps[3]);
    let nibbles = _mm256_set1_epi64x(0xf0f0_f0f0_0f0f_0f0f_u64 as i64);
    let first = _mm256_and_si256(_mm256_gf2p8affine_epi64_epi8::<0>(entries, maps), nibbles);
    let maps = _mm256_slli_epi16::<4>(maps);
    let second = _mm256_and_si256(_mm256_gf2p8affine_epi64_epi8::<0>(entries, maps), nibbles);
    let first = _mm256_or_si256(first, _mm256_srli_epi64::<32>(first));
    let second = _mm256_or_si256(second, _mm256_slli_epi64::<32>(second));
    let rows = _mm256_blend_epi32::<0b1010_1010>(first, second);
    let order = _mm256_broadcastsi128_si256(_mm_setr_epi8(12, 4, 8, 0, 13, 5, 9, 1, 14, 6, 10, 2, 15, 7, 11, 3));
    let rows = _mm256_shuffle_epi8(rows, order);
    let high = _mm256_permute4x64_epi64::<0b11_10_11_10>(rows);
    let low = _mm256_permute4x64_epi64::<0b01_00_01_00>(rows);
    let ab = _mm256_unpacklo_epi16(high, low);
    let cd = _mm256_unpackhi_epi16(high, low);
    [
        _mm256_unpacklo_epi64(ab, ab),
        _mm256_unpackhi_epi64(ab, ab),
        _mm256_unpacklo_epi64(cd, cd),
        _mm256_unpackhi_epi64(cd, cd),
    ]
}

/// The 32 elements of 16 bytes, one a byte.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack(packed: __m128i) -> __m256i {
    let bytes = _mm256_cvtepu8_epi16(packed);
    _mm256_and_si256(_mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes)), _mm256_set1_epi8(15))
}

/// The linear map with this matrix, applied to all bytes.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn affine(bytes: __m256i, map: u64) -> __m256i {
    _mm256_gf2p8affine_epi64_epi8::<0>(bytes, _mm256_set1_epi64x(map as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_half(bytes: &[u8]) -> __m128i {
    load_16(bytes.first_chunk().expect("half a register"))
}

/// Columns of a block.
const BLOCK: usize = 8;
/// The columns of A and y.
const MAX_COLUMNS: usize = MAX_UNKNOWNS + 1;
/// Pairs of columns, y alone.
const MAX_PAIRS: usize = MAX_COLUMNS.div_ceil(2);
/// The position of a column that has no pivot yet.
const NONE: u8 = 0xff;
/// Room for the positions of whole blocks, and for reading 16 of them from the beginning of any
/// block.
const POSITIONS: usize = MAX_COLUMNS.next_multiple_of(BLOCK) + 16;

/// The half of a map that gives the low nibble of the result.
const LOW_NIBBLE_MAP: u64 = 0xffff_ffff_0000_0000;

/// The map of every byte to itself.
const IDENTITY: u64 = matrix([1, 2, 4, 8, 16, 32, 64, 128]);

/// The images of 1, α, α^2, α^3 in GF(256), the field of AES: the powers of a root of z^4 + z + 1.
const POWERS: [u8; 4] = {
    let mut root = 2;
    while mul_256(mul_256(root, root), mul_256(root, root)) != root ^ 1 {
        root += 1;
    }
    [1, root, mul_256(root, root), mul_256(root, mul_256(root, root))]
};

/// The map of the low nibble to its image. Shifted left by 4 bits it maps the high nibble.
const TO_SUBFIELD: u64 = matrix([POWERS[0], POWERS[1], POWERS[2], POWERS[3], 0, 0, 0, 0]);

/// The map of an image back to the low nibble. Shifted right by 32 bits it maps to the high nibble.
const FROM_SUBFIELD: u64 = {
    let mut bytes = [0; 8];
    let mut bit = 0;
    while bit < 4 {
        // The search ends with a row such that the parity of (row AND image) is this bit of every
        // element.
        let mut row: u8 = 1;
        let mut element = 1;
        while element < 16 {
            if (row & image(element)).count_ones() % 2 == (element >> bit) as u32 % 2 {
                element += 1;
            } else {
                row += 1;
                element = 1;
            }
        }
        bytes[7 - bit] = row;
        bit += 1;
    }
    u64::from_le_bytes(bytes)
};

/// The matrix that `vgf2p8affineqb` takes for a linear map, made from the images of the eight bits.
const fn matrix(images: [u8; 8]) -> u64 {
    let mut matrix = 0;
    let mut from = 0;
    let mut to = 0;
    while to < 8 {
        while from < 8 {
            matrix |= ((images[from] >> to & 1) as u64) << (8 * (7 - to) + from);
            from += 1;
        }
        from = 0;
        to += 1;
    }
    matrix
}

/// The image of an element of GF(16).
const fn image(element: u8) -> u8 {
    let mut sum = 0;
    let mut bit = 0;
    while bit < 4 {
        sum ^= (element >> bit & 1) * POWERS[bit];
        bit += 1;
    }
    sum
}

/// The product in GF(256) = GF(2)\[z\] / (z^8 + z^4 + z^3 + z + 1).
const fn mul_256(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut bit = 8;
    while bit > 0 {
        bit -= 1;
        product = (product << 1) ^ ((product >> 7) * 0x1b) ^ ((b >> bit & 1) * a);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gf16;

    #[test]
    fn the_subfield_is_the_field() {
        for a in 0..16 {
            for b in 0..16 {
                assert_eq!(mul_256(image(a), image(b)), image(gf16::mul(a, b)), "{a} * {b}");
            }
        }
    }
}
