//! Many elements at a time in 64-bit words: bit slices.
//!
//! The product walks down the operand in tiles, with one accumulator for each row of the result. In
//! a triangle it stops at the diagonal.

use aioli::backend::MAX_ROWS;
use aioli::gf16;
use aioli::packed::{Coefficients, Operand, Output};

/// The left product on bit-sliced words: word b of four holds bit b of 64 elements.
///
/// The operand is stored in nibbles. Each tile is converted first, by transpositions of 4 by 4 bits
/// at 24 word operations per 64 elements, and the accumulators are converted back at the end; the
/// time includes both. A product is 16 ANDs and 16 XORs per 64 elements. No address and no branch
/// depends on a secret.
pub(super) fn bitsliced(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    out.clear(left.rows(), right.row_bytes());
    let stride = out.stride();
    let out = out.bytes_mut();
    for column in (0..right.row_bytes()).step_by(32) {
        let mut sums = [[0; 4]; MAX_ROWS];
        let sums = &mut sums[..left.rows()];
        for i in 0..right.count() {
            let Some(tile) = tile::<32>(right, i, column) else { break };
            let mut multiples = [[0; 4]; 4];
            multiples[0] = transpose_bits(words(&tile));
            for e in 1..4 {
                let [a, b, c, d] = multiples[e - 1];
                multiples[e] = [d, a ^ d, b, c];
            }
            for (sum, &coefficient) in sums.iter_mut().zip(left.of_row(i)) {
                let masks = gf16::bit_masks(coefficient);
                for (multiple, mask) in multiples.iter().zip(masks) {
                    for (sum, word) in sum.iter_mut().zip(multiple) {
                        *sum ^= word & mask;
                    }
                }
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            let mut bytes = [0; 32];
            for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(transpose_bits(*sum)) {
                *bytes = word.to_le_bytes();
            }
            add(&mut out[r * stride..][..right.row_bytes()], column, &bytes);
        }
    }
}

/// The `N` bytes of row `i` at the columns from `column` on, with zeros outside of the row; `None`
/// if row `i`, and so every row after it, begins further to the right.
#[inline(always)]
fn tile<const N: usize>(right: Operand<'_>, i: usize, column: usize) -> Option<[u8; N]> {
    let start = i * right.step();
    let row = right.row(i);
    if start >= column + N {
        return None;
    }
    if start <= column
        && let Some(whole) = row[column - start..].first_chunk()
    {
        return Some(*whole);
    }
    let skip = start.saturating_sub(column);
    let bytes = &row[column + skip - start..];
    let length = bytes.len().min(N - skip);
    let mut tile = [0; N];
    tile[skip..skip + length].copy_from_slice(&bytes[..length]);
    Some(tile)
}

/// Adds a tile to a row from `column` on, up to the end of the row.
fn add<const N: usize>(row: &mut [u8], column: usize, tile: &[u8; N]) {
    row[column..].iter_mut().zip(tile).for_each(|(out, byte)| *out ^= byte);
}

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    core::array::from_fn(|w| u64::from_le_bytes(core::array::from_fn(|b| bytes[8 * w + b])))
}

/// Moves bit b of nibble n of word w to bit w of nibble n of word b: nibbles to slices, and back.
#[inline(always)]
fn transpose_bits(mut words: [u64; 4]) -> [u64; 4] {
    for (distance, mask) in [(1, 0x5555_5555_5555_5555), (2, 0x3333_3333_3333_3333)] {
        for i in 0..4 {
            if i & distance == 0 {
                let swap = (words[i] >> distance ^ words[i + distance]) & mask;
                words[i] ^= swap << distance;
                words[i + distance] ^= swap;
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hold_one_bit_of_every_element() {
        let words = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x1111_2222_4444_8888, 0x0f1e_2d3c_4b5a_6978];
        let slices = transpose_bits(words);
        for n in 0..16 {
            for (w, word) in words.iter().enumerate() {
                for (b, slice) in slices.iter().enumerate() {
                    assert_eq!(slice >> (4 * n + w) & 1, word >> (4 * n + b) & 1);
                }
            }
        }
        assert_eq!(transpose_bits(slices), words);
    }

    #[test]
    fn tiles_are_cut_by_the_diagonal_and_the_end() {
        let bytes: [u8; 24] = core::array::from_fn(|i| i as u8 + 1);
        let right = Operand::upper(&bytes, 3, 11, 3);
        assert_eq!(tile::<4>(right, 0, 0), Some([1, 2, 3, 4]));
        assert_eq!(tile::<4>(right, 0, 8), Some([9, 10, 11, 0]));
        assert_eq!(tile::<4>(right, 1, 0), Some([0, 0, 0, 12]));
        assert_eq!(tile::<4>(right, 1, 4), Some([13, 14, 15, 16]));
        assert_eq!(tile::<4>(right, 2, 0), None);
        assert_eq!(tile::<4>(right, 2, 8), Some([22, 23, 24, 0]));
    }
}
