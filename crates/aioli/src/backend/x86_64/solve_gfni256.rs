//! Solving with GFNI on registers of 32 bytes: the elimination by columns of [`solve`](crate::solve), in blocks.
//!
//! **Idea.** One element a byte, mapped into the subfield of GF(256) that is GF(16), where `vgf2p8mulb` multiplies and
//! `vgf2p8affineinvqb` inverts. Eight columns are eliminated among themselves, which changes any other column v by a
//! sum over their pivots p of v\[p\] times an m-vector; these m-vectors take the places of the eight columns:
//!
//! ```text
//! the block   a0 a1 a2 a3 ..      pivot by pivot, c = 0 .. 7:
//!             g0 a1 a2 a3 ..          gc = what clears column c off its pivot row and makes 1 of its pivot
//!             g0 g1 a2 a3 ..          each other column, g or a, += (its entry in the pivot row) * gc
//! the rest    v += v[p0] g0 + .. + v[p7] g7, the entries taken from v as it was before the block
//! ```
//!
//! That holds for the g as for the others: gc is what the pivots since its own make of the unit vector of its row, less
//! that vector, in which the other pivot rows are zero. All eight entries of v come out of one lookup, `N` byte shuffles.
//!
//! **Constant time.** Where a pivot stands is secret. It is found by `tzcnt` of compare masks, and goes only into shuffle
//! indices, which are registers; nothing is addressed by it and nothing branches. A column without a pivot has a
//! position beyond all rows, so that every lookup of it gives zero, and g = 0.
//!
//! **Cost.** 2 `N` + 1 instructions for each pivot and column right of its block, `N` registers a column; up to 50 cycles
//! of latency for each pivot.

use crate::memory::wipe;
use core::arch::x86_64::*;

/// See [`Backend::solve`](crate::backend::Backend::solve).
#[target_feature(enable = "bmi1,avx2,gfni")]
pub(super) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m.div_ceil(32) {
        2 => solve_in::<2>(columns, m, x),
        3 => solve_in::<3>(columns, m, x),
        4 => solve_in::<4>(columns, m, x),
        5 => solve_in::<5>(columns, m, x),
        _ => crate::solve::solve(columns, m, x),
    }
}

/// `N` registers a column.
#[target_feature(enable = "bmi1,avx2,gfni")]
fn solve_in<const N: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(
        32 * (N - 1) < m && m <= 32 * N && packed.len() == (x.len() + 1) * m / 2 && x.len() < MAX_COLUMNS,
        "shape of a linear system"
    );
    let zero = _mm256_setzero_si256();
    let mut columns = [[zero; N]; MAX_COLUMNS];
    let columns = &mut columns[..x.len() + 1];
    // The last half register is read so that it ends with the column, and moved down.
    let rest = m / 2 - 16 * (N - 1);
    let move_down: [u8; 16] = core::array::from_fn(|i| if i < rest { (i + 16 - rest) as u8 } else { 0x80 });
    let move_down = load_half(&move_down);
    for (column, bytes) in columns.iter_mut().zip(packed.chunks_exact(m / 2)) {
        *column = core::array::from_fn(|n| {
            if n + 1 < N {
                unpack(load_half(&bytes[16 * n..]))
            } else {
                unpack(_mm_shuffle_epi8(load_half(&bytes[m / 2 - 16..]), move_down))
            }
        });
    }
    let places: [__m256i; N] = core::array::from_fn(|n| {
        let places: [u8; 32] = core::array::from_fn(|i| (32 * n + i) as u8);
        // SAFETY: the array has as many bytes as are read.
        unsafe { _mm256_loadu_si256(places.as_ptr().cast()) }
    });
    // All ones in the rows that no pivot stands in yet.
    let mut unused = places.map(|places| {
        let last = _mm256_set1_epi8((m - 1) as u8 as i8);
        _mm256_cmpeq_epi8(_mm256_max_epu8(places, last), last)
    });
    let mut positions = [NONE; POSITIONS];

    let mut g = [[zero; N]; BLOCK];
    for first in (0..x.len()).step_by(BLOCK) {
        let (block, later) = columns[first..].split_at_mut(BLOCK.min(x.len() - first));
        g[..block.len()].copy_from_slice(block);
        g[block.len()..].fill([zero; N]);
        for c in 0..block.len() {
            let column = g[c];
            let candidates: [__m256i; N] = core::array::from_fn(|n| _mm256_and_si256(column[n], unused[n]));
            let position = _mm256_set1_epi8(first_nonzero(candidates) as i8);
            let pivot_row = Lookup::new(position);
            let pivot = pivot_row.of(&candidates);
            let inverse = _mm256_gf2p8affineinv_epi64_epi8::<0>(pivot, _mm256_set1_epi64x(IDENTITY as i64));
            // What times s must be added to the entry s in the pivot row, for s / pivot to be left; zero for no pivot.
            let own = _mm256_xor_si256(inverse, _mm256_min_epu8(pivot, _mm256_set1_epi8(1)));
            let clear: [__m256i; N] = core::array::from_fn(|n| {
                let one_hot = _mm256_cmpeq_epi8(places[n], position);
                unused[n] = _mm256_andnot_si256(one_hot, unused[n]);
                _mm256_blendv_epi8(_mm256_gf2p8mul_epi8(column[n], inverse), own, one_hot)
            });
            for other in &mut g {
                let entry = pivot_row.of(other);
                for n in 0..N {
                    other[n] = _mm256_xor_si256(other[n], _mm256_gf2p8mul_epi8(clear[n], entry));
                }
            }
            g[c] = clear;
            positions[first + c] = _mm256_extract_epi8::<0>(position) as u8;
        }
        let pivot_rows = Lookup::new(_mm256_broadcastsi128_si256(load_half(&positions[first..])));
        for column in later {
            let entries = pivot_rows.of(column);
            let mut sums = *column;
            for (c, g) in g.iter().enumerate() {
                let entry = _mm256_shuffle_epi8(entries, _mm256_set1_epi8(c as i8));
                for n in 0..N {
                    sums[n] = _mm256_xor_si256(sums[n], _mm256_gf2p8mul_epi8(g[n], entry));
                }
            }
            *column = sums;
        }
    }

    let y = columns[x.len()];
    for (x, positions) in x.chunks_mut(16).zip(positions.chunks_exact(16)) {
        let found = Lookup::new(_mm256_broadcastsi128_si256(load_half(positions))).of(&y);
        let mut elements = [0; 32];
        let found = _mm256_gf2p8affine_epi64_epi8::<0>(found, _mm256_set1_epi64x(FROM_SUBFIELD as i64));
        // SAFETY: the array has as many bytes as are written.
        unsafe { _mm256_storeu_si256(elements.as_mut_ptr().cast(), found) };
        x.copy_from_slice(&elements[..x.len()]);
        wipe(&mut elements);
    }
    let left_over = unused.into_iter().fold(zero, |all, unused| _mm256_or_si256(all, unused));
    let full_rank = _mm256_testz_si256(left_over, left_over);
    columns.fill([zero; N]);
    zeroize::optimization_barrier(columns);
    g.fill([zero; N]);
    zeroize::optimization_barrier(&g);
    wipe(&mut positions);
    wipe(packed);
    full_rank as u8
}

/// Shuffle indices that bring bytes of a column together.
struct Lookup<const N: usize>([__m256i; N]);

impl<const N: usize> Lookup<N> {
    /// For the places in a column that stand in `positions`, whose halves are equal.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(positions: __m256i) -> Self {
        Self(core::array::from_fn(|n| {
            let begin =
                _mm256_setr_m128i(_mm_set1_epi8((32 * n) as u8 as i8), _mm_set1_epi8((32 * n + 16) as u8 as i8));
            // Within the half register it keeps its low four bits; beyond, by the saturation, it gets the bit for zero.
            _mm256_adds_epu8(_mm256_sub_epi8(positions, begin), _mm256_set1_epi8(0x70))
        }))
    }

    /// The entries of a column in these places, in both halves; zero for places beyond the column.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(&self, column: &[__m256i; N]) -> __m256i {
        let mut found = _mm256_shuffle_epi8(column[0], self.0[0]);
        for n in 1..N {
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(column[n], self.0[n]));
        }
        _mm256_or_si256(found, _mm256_permute4x64_epi64::<0b01_00_11_10>(found))
    }
}

/// The place of the first byte that is not zero; if there is none, one beyond the column.
#[inline]
#[target_feature(enable = "bmi1,avx2")]
fn first_nonzero<const N: usize>(column: [__m256i; N]) -> u32 {
    let zero = _mm256_setzero_si256();
    let masks = column.map(|bytes| !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, zero)) as u32));
    let (mut place, mut none_yet) = (0, u32::MAX);
    for pair in masks.chunks(2) {
        let mask = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        let first = mask.trailing_zeros();
        place += first & none_yet;
        none_yet &= (first >> 6).wrapping_neg();
    }
    place
}

/// The elements of 16 bytes, each mapped into the subfield.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn unpack(packed: __m128i) -> __m256i {
    let bytes = _mm256_cvtepu8_epi16(packed);
    // The map ignores the high nibbles.
    let nibbles = _mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes));
    _mm256_gf2p8affine_epi64_epi8::<0>(nibbles, _mm256_set1_epi64x(TO_SUBFIELD as i64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_half(bytes: &[u8]) -> __m128i {
    let bytes: &[u8; 16] = bytes.first_chunk().expect("half a register");
    // SAFETY: the reference is to as many bytes as are read.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Columns eliminated among themselves before the others are changed.
const BLOCK: usize = 8;
/// The most columns of any set: k * o of MAYO_5, and y.
const MAX_COLUMNS: usize = 145;
/// The position of a pivot that there is not.
const NONE: u8 = 0xff;
/// Room for the positions of whole blocks, and for reading 16 of them at any of these.
const POSITIONS: usize = MAX_COLUMNS.next_multiple_of(BLOCK) + 16;

/// The map of every byte to itself.
const IDENTITY: u64 = matrix([1, 2, 4, 8, 16, 32, 64, 128]);

/// The images of 1, x, x^2, x^3 in GF(256) = GF(2)\[x\] / (x^8 + x^4 + x^3 + x + 1): powers of a zero of x^4 + x + 1.
const POWERS: [u8; 4] = {
    let mut zero = 2;
    while mul_256(mul_256(zero, zero), mul_256(zero, zero)) != zero ^ 1 {
        zero += 1;
    }
    [1, zero, mul_256(zero, zero), mul_256(zero, mul_256(zero, zero))]
};

/// The map of the low nibble to its image.
const TO_SUBFIELD: u64 = matrix([POWERS[0], POWERS[1], POWERS[2], POWERS[3], 0, 0, 0, 0]);

/// The map of an image back to the nibble.
const FROM_SUBFIELD: u64 = {
    let mut bytes = [0; 8];
    let mut bit = 0;
    while bit < 4 {
        // The parity of what that is ANDed with an image is this bit of the nibble.
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

/// The matrix that `vgf2p8affineqb` takes for a linear map, from the images of the bits.
const fn matrix(images: [u8; 8]) -> u64 {
    let mut matrix = 0;
    let (mut from, mut to) = (0, 0);
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

const fn mul_256(a: u8, b: u8) -> u8 {
    let mut product = 0;
    let mut bit = 8;
    while bit > 0 {
        bit -= 1;
        product = product << 1 ^ (product >> 7) * 0x1b ^ (b >> bit & 1) * a;
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
