//! The tables of the left product: for each row of `right` and each pair of rows of `left`, the
//! products of their two coefficients with each element.
//!
//! A public `left` takes them from a constant. For a secret one they are computed, as nothing is
//! fetched by a secret: a table is linear in 1, α, α^2, α^3 times the pair, and shuffles by
//! constants spread those four bytes over its entries.
//!
//! **Cost.** Nine instructions a table of a public `left`; about two cycles one of a secret `left`.

use super::{BLOCK, GROUP, MAX_PAIRS, TILE, groups};
use crate::backend::x86_64::masks::from_byte;
use crate::backend::x86_64::vector::{load_16, load_32};
use crate::gf16;
use crate::memory::wipe;
use crate::packed::Coefficients;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The products of two coefficients with each element: of the first in the low nibbles, of the
/// second in the high ones.
pub(super) type Table = __m128i;

/// Writes and returns the tables of all columns of `left`: at least one, at most [`BLOCK`].
///
/// The tables of a group of pairs of rows are contiguous, column after column.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn build<'t>(
    left: Coefficients<'_>,
    tables: &'t mut [MaybeUninit<Table>; BLOCK * MAX_PAIRS],
) -> &'t mut [Table] {
    let count = left.columns();
    let pairs = left.rows().div_ceil(2);
    let tables = &mut tables[..pairs * count];
    if left.is_public() && pairs <= GROUP {
        look_up(left, pairs, tables);
    } else {
        compute(left, pairs, tables);
    }
    // SAFETY: either function has written the table of every pair for each column.
    unsafe { core::slice::from_raw_parts_mut(tables.as_mut_ptr().cast(), tables.len()) }
}

/// Writes the tables of a public `left`, whose pairs are one group.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(left: Coefficients<'_>, pairs: usize, tables: &mut [MaybeUninit<Table>]) {
    let pair = |low: u8, high: u8| load_16(&PRODUCTS[usize::from(low | high << 4)]);
    for (i, tables) in tables.chunks_exact_mut(pairs).enumerate() {
        let (both, last) = left.of_row(i).as_chunks();
        for (table, &[low, high]) in tables.iter_mut().zip(both) {
            table.write(pair(low, high));
        }
        if let &[low] = last {
            tables[both.len()].write(pair(low, 0));
        }
    }
}

/// Writes the tables of any `left`.
#[inline]
#[target_feature(enable = "avx2")]
fn compute(left: Coefficients<'_>, pairs: usize, tables: &mut [MaybeUninit<Table>]) {
    let count = left.columns();
    // Pairs of the first group; the tables of the second follow those of the first.
    let first_group = groups(pairs).next().map_or(0, |(_, pairs)| pairs);
    let elements = left.elements();
    let stride = elements.len() / count;
    let unused = from_byte(left.rows());
    // From `cut` on, 32 bytes would reach beyond `left`: they are read from a copy with zeros
    // behind it.
    let cut = elements.len().saturating_sub(TILE - 1);
    let mut tail = [0; 2 * TILE];
    tail[..elements.len() - cut].copy_from_slice(&elements[cut..]);
    // Places 0 to 7 become 8 to 15, and 0x80 keeps the bit that gives zero.
    let spread =
        |spread: &[u8; 16], begin: i8| _mm256_broadcastsi128_si256(_mm_add_epi8(load_16(spread), _mm_set1_epi8(begin)));
    let spreads = [0, 8].map(|begin| [spread(&SPREAD_LOW, begin), spread(&SPREAD_HIGH, begin)]);
    for i in 0..count {
        let begin = i * stride;
        let from = if begin < cut { &elements[begin..] } else { &tail[begin - cut..] };
        let column = load_32(from.first_chunk().expect("a column of `left` or of its copy"));
        // A pair of coefficients is the low byte of 16 bits, and 1, α, α^2, α^3 times it fill 32
        // bits. The 64 bits of a pair have these four in bytes 0 to 3. Bytes 5 to 7 are the sums of
        // each two neighbours among them, and byte 4 is not used.
        let pair = _mm256_maddubs_epi16(_mm256_andnot_si256(unused, column), _mm256_set1_epi16(0x1001));
        let pair_2 = double(pair);
        let pair_4 = double(pair_2);
        let ones = _mm256_or_si256(pair, _mm256_slli_epi16::<8>(pair_2));
        let fours = _mm256_or_si256(pair_4, _mm256_slli_epi16::<8>(double(pair_4)));
        let halves = [_mm256_unpacklo_epi16(ones, fours), _mm256_unpackhi_epi16(ones, fours)];
        let sums = halves.map(|four| _mm256_xor_si256(four, _mm256_slli_epi32::<8>(four)));
        // Unpacking works within 16 bytes: pairs 0, 1 and 8, 9 come first, then 2, 3 and 10, 11,
        // ...
        let multiples = [
            _mm256_unpacklo_epi32(halves[0], sums[0]),
            _mm256_unpackhi_epi32(halves[0], sums[0]),
            _mm256_unpacklo_epi32(halves[1], sums[1]),
            _mm256_unpackhi_epi32(halves[1], sums[1]),
        ];
        let mut write = |p: usize, table: Table| {
            let at = if p < first_group {
                i * first_group + p
            } else {
                first_group * count + i * (pairs - first_group) + p - first_group
            };
            tables[at].write(table);
        };
        for (p, multiples) in (0..pairs).step_by(2).zip(multiples) {
            for (p, [low, high]) in (p..pairs).zip(spreads) {
                let both = _mm256_xor_si256(_mm256_shuffle_epi8(multiples, low), _mm256_shuffle_epi8(multiples, high));
                write(p, _mm256_castsi256_si128(both));
                if p + 8 < pairs {
                    write(p + 8, _mm256_extracti128_si256::<1>(both));
                }
            }
        }
    }
    wipe(&mut tail);
}

/// α times the elements in all bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend::x86_64::avx2) fn double(elements: __m256i) -> __m256i {
    let carry = _mm256_and_si256(_mm256_srli_epi16::<3>(elements), _mm256_set1_epi8(0x11));
    let shifted = _mm256_and_si256(_mm256_add_epi8(elements, elements), _mm256_set1_epi8(0xee_u8 as i8));
    _mm256_xor_si256(shifted, _mm256_xor_si256(carry, _mm256_add_epi8(carry, carry)))
}

/// The table of each pair of coefficients: the first is in the low nibble of the index.
const PRODUCTS: &[[u8; 16]; 256] = &{
    let mut tables = [[0; 16]; 256];
    let mut i = 0;
    while i < 16 * 256 {
        let pair = (i / 16) as u8;
        let element = (i % 16) as u8;
        tables[i / 16][i % 16] = gf16::mul(pair & 15, element) | gf16::mul(pair >> 4, element) << 4;
        i += 1;
    }
    tables
};

/// For each element e, the byte of a pair's multiples that is bits 0 and 1 of e times the pair;
/// 0x80 gives zero.
const SPREAD_LOW: [u8; 16] = spread(0, [0x80, 0, 1, 5]);
/// The same for bits 2 and 3.
const SPREAD_HIGH: [u8; 16] = spread(2, [0x80, 2, 3, 7]);

/// For each element e, the place that its bits `shift` and `shift + 1` choose.
const fn spread(shift: usize, places: [u8; 4]) -> [u8; 16] {
    let mut table = [0; 16];
    let mut e = 0;
    while e < 16 {
        table[e] = places[e >> shift & 3];
        e += 1;
    }
    table
}
