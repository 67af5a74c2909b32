//! Many elements at a time in 64-bit words: bit-sliced, and the Method of the Four Russians on nibbles.
//!
//! Both walk down the operand in tiles, with one accumulator for each row of X, and read no further than the diagonal
//! of a triangle.

use aioli::backend::MAX_ROWS;
use aioli::gf16;
use aioli::packed::{Coefficients, Operand};

/// The product on bit-sliced words: word b of four holds bit b of 64 elements.
///
/// The operand is stored in nibbles, so each tile of it is converted first, by a transposition of 4 by 4 bits that costs
/// 24 word operations for 64 elements, and the accumulators are converted back in the end: all that is counted here.
/// A product is 16 ANDs and 16 XORs for 64 elements. No address and no branch depends on a secret.
pub(super) fn bitsliced(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    for column in (0..rows.row_bytes()).step_by(32) {
        let mut sums = [[0; 4]; MAX_ROWS];
        let sums = &mut sums[..x.rows()];
        for i in 0..rows.count() {
            let Some(tile) = tile::<32>(rows, i, column) else { break };
            let mut multiples = [[0; 4]; 4];
            multiples[0] = transpose_bits(words(&tile));
            for e in 1..4 {
                let [a, b, c, d] = multiples[e - 1];
                multiples[e] = [d, a ^ d, b, c];
            }
            for (sum, &coefficient) in sums.iter_mut().zip(x.of_row(i)) {
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
            add(&mut out[r * stride..][..rows.row_bytes()], column, &bytes);
        }
    }
}

/// The product by the Method of the Four Russians: for each word of the operand, sixteen nibbles, a table of its sixteen
/// multiples, and then one look-up for each row of X.
///
/// The table costs 14 word operations beside the doublings, a product a load and an XOR for 16 elements. The look-up's
/// address is an element of X, so this is **not constant time** where X is secret, as in keygen and signing.
pub(super) fn m4r(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    for column in (0..rows.row_bytes()).step_by(8) {
        let mut sums = [0; MAX_ROWS];
        let sums = &mut sums[..x.rows()];
        for i in 0..rows.count() {
            let Some(tile) = tile::<8>(rows, i, column) else { break };
            let mut multiples = [0; 16];
            for (bit, multiple) in gf16::multiples(u64::from_le_bytes(tile)).into_iter().enumerate() {
                for e in 0..1 << bit {
                    multiples[e | 1 << bit] = multiples[e] ^ multiple;
                }
            }
            for (sum, &coefficient) in sums.iter_mut().zip(x.of_row(i)) {
                *sum ^= multiples[usize::from(coefficient & 15)];
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            add(&mut out[r * stride..][..rows.row_bytes()], column, &sum.to_le_bytes());
        }
    }
}

/// The bytes of row `i` below the `N` bytes of row 0 that begin at `column`, zeros where there are none; nothing if row `i`,
/// and so every row after it, begins further to the right.
#[inline(always)]
fn tile<const N: usize>(rows: Operand<'_>, i: usize, column: usize) -> Option<[u8; N]> {
    let (start, row) = (i * rows.step(), rows.row(i));
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

/// Adds the tile that begins at `column`, as far as the row goes.
fn add<const N: usize>(row: &mut [u8], column: usize, tile: &[u8; N]) {
    row[column..].iter_mut().zip(tile).for_each(|(out, byte)| *out ^= byte);
}

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    core::array::from_fn(|w| u64::from_le_bytes(core::array::from_fn(|b| bytes[8 * w + b])))
}

/// Bit b of nibble n of word w becomes bit w of nibble n of word b: nibbles to slices, and back.
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
        let rows = Operand::upper(&bytes, 3, 11, 3);
        assert_eq!(tile::<4>(rows, 0, 0), Some([1, 2, 3, 4]));
        assert_eq!(tile::<4>(rows, 0, 8), Some([9, 10, 11, 0]));
        assert_eq!(tile::<4>(rows, 1, 0), Some([0, 0, 0, 12]));
        assert_eq!(tile::<4>(rows, 1, 4), Some([13, 14, 15, 16]));
        assert_eq!(tile::<4>(rows, 2, 0), None);
        assert_eq!(tile::<4>(rows, 2, 8), Some([22, 23, 24, 0]));
    }
}
