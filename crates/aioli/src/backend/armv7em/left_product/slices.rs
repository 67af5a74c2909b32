//! Products of secrets with secrets, in bit slices.
//!
//! Four planes hold bits 0 to 3 of the 32 elements of a tile. The product of two polynomials of
//! degree 3 over GF(2) takes nine products of bits (Karatsuba, twice). They are nine linear forms
//! of one factor times the same forms of the other. The forms of some rows of `right` are computed
//! once for all rows of `left`. For each row of `left` the kernel sums the nine products over those
//! rows.

use crate::backend::contract::MAX_ROWS;
use crate::ct;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand};

/// `out += left right`, where both operands may be secret.
pub(super) fn left_product(left: Coefficients<'_>, right: Operand<'_>, out: &mut [u8], stride: usize) {
    let mut coefficients = [[0; TOGETHER]; MAX_ROWS];
    let mut forms = [[0; FORMS]; TOGETHER];
    let mut sums = [0; FORMS];
    for first in (0..right.count()).step_by(TOGETHER) {
        let together = TOGETHER.min(right.count() - first);
        for i in 0..together {
            let last = if i + 1 == together { LAST } else { 0 };
            for (coefficients, &element) in coefficients.iter_mut().zip(left.of_row(first + i)) {
                coefficients[i] = forms_of_element(element) | last;
            }
        }
        let begin = first * right.step();
        for column in (begin..right.row_bytes()).step_by(TILE) {
            let width = TILE.min(right.row_bytes() - column);
            // The rows not yet loaded and the column where the first of them begins; each next row
            // begins later.
            let mut following = &right.bytes()[right.offset(first)..];
            let mut begin = begin;
            for forms in &mut forms[..together] {
                let (row, after) = following.split_at(right.row_bytes() - begin);
                *forms = forms_of(transpose_bits(load(row, column, begin, width)));
                following = after;
                begin += right.step();
            }
            for (j, coefficients) in coefficients[..left.rows()].iter().enumerate() {
                // SAFETY: there are `together` rows of forms and as many coefficients, of which
                // only the last has the mark.
                unsafe { aioli_armv7em_slices(forms.as_ptr(), coefficients.as_ptr(), &mut sums) };
                add(&mut out[j * stride + column..][..width], transpose_bits(planes_of(sums)));
            }
        }
    }
    wipe(coefficients.as_flattened_mut());
    wipe(forms.as_flattened_mut());
    wipe(&mut sums);
}

unsafe extern "C" {
    fn aioli_armv7em_slices(forms: *const [u32; FORMS], coefficients: *const u32, sums: *mut [u32; FORMS]);
}

/// Bytes of a tile.
const TILE: usize = 16;
/// Rows of `right` that one call of the kernel sums.
const TOGETHER: usize = 40;
/// Linear forms.
const FORMS: usize = 9;
/// Marks the last row's coefficient.
const LAST: u32 = 1 << 22;

/// The `width` bytes of a row from `column` on, in words; the row begins at column `begin`, and the
/// rest is zeros.
#[inline(always)]
fn load(row: &[u8], column: usize, begin: usize, width: usize) -> [u32; 4] {
    let words = |bytes: &[u8; TILE]| -> [u32; 4] {
        let (words, _) = bytes.as_chunks();
        core::array::from_fn(|q| u32::from_le_bytes(words[q]))
    };
    if width == TILE && column >= begin {
        let (tile, _) = row[column - begin..].split_first_chunk().expect("as many bytes as the row has columns");
        return words(tile);
    }
    let mut bytes = [0; TILE];
    let skipped = begin.saturating_sub(column).min(width);
    bytes[skipped..width].copy_from_slice(&row[(column + skipped).saturating_sub(begin)..][..width - skipped]);
    words(&bytes)
}

/// Adds the words of a tile onto `out`, which may have fewer bytes.
#[inline(always)]
fn add(out: &mut [u8], words: [u32; 4]) {
    let (whole, rest) = out.as_chunks_mut();
    for (out, word) in whole.iter_mut().zip(words) {
        *out = (u32::from_le_bytes(*out) ^ word).to_le_bytes();
    }
    if !rest.is_empty() {
        for (out, byte) in rest.iter_mut().zip(words[whole.len()].to_le_bytes()) {
            *out ^= byte;
        }
    }
}

/// The nine forms of an element, from bit 31 down.
#[inline(always)]
fn forms_of_element(element: u8) -> u32 {
    // For each bit the forms that it is part of.
    const MASKS: [u32; 4] = [0b100010101 << 23, 0b010010011 << 23, 0b001001101 << 23, 0b000101011 << 23];
    let element = u32::from(element);
    let masks: [u32; 4] = ct::barrier(core::array::from_fn(|bit| (element >> bit & 1).wrapping_neg()));
    masks[0] & MASKS[0] ^ masks[1] & MASKS[1] ^ masks[2] & MASKS[2] ^ masks[3] & MASKS[3]
}

/// The nine linear forms of four planes.
#[inline(always)]
fn forms_of([a, b, c, d]: [u32; 4]) -> [u32; FORMS] {
    [a, b, c, d, a ^ b, c ^ d, a ^ c, b ^ d, a ^ b ^ c ^ d]
}

/// The planes of the elements whose nine products these are.
#[inline(always)]
fn planes_of([a, b, c, d, ab, cd, ac, bd, abcd]: [u32; FORMS]) -> [u32; 4] {
    // The product of polynomials has seven coefficients; those of α^4, α^5, α^6 are folded onto the
    // low ones.
    let e = a ^ b;
    let f = ab ^ bd;
    let g = e ^ cd ^ ac;
    [e ^ c ^ d ^ bd, a ^ cd ^ f, g, abcd ^ f ^ g ^ c]
}

/// Bit i of each nibble of word j becomes bit j of that nibble of word i.
#[inline(always)]
fn transpose_bits(mut words: [u32; 4]) -> [u32; 4] {
    for (i, j, distance, mask) in
        [(0, 2, 2, 0x3333_3333), (1, 3, 2, 0x3333_3333), (0, 1, 1, 0x5555_5555), (2, 3, 1, 0x5555_5555)]
    {
        let swap = (words[i] >> distance ^ words[j]) & mask;
        words[i] ^= swap << distance;
        words[j] ^= swap;
    }
    words
}
