//! The left product by bit slices, for a secret `right`.
//!
//! Four planes hold bits 0 to 3 of the elements of a tile. The product of two polynomials of degree
//! 3 over GF(2) takes nine products of bits (Karatsuba, twice). They are nine linear forms of one
//! factor times the same forms of the other. The forms of `right` are computed once for all rows of
//! `left`. Each of the nine products has its own sum until all rows of `right` are added. So 18
//! operations multiply and add a slice, where [`gf16::mul_word`] takes 32.
//!
//! A step takes two rows of `left` and [`SHARED`] rows of `right`: six loads and two stores for
//! sixteen operations.

use crate::backend::contract::MAX_ROWS;
use crate::ct;
use crate::gf16;
use crate::memory::{Aligned, wipe};
use crate::packed::{Coefficients, Operand, Output};

/// The left product by bit slices, with memory for `SUMS` sums.
#[inline(never)]
pub(super) fn left_product<const SUMS: usize>(left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
    let mut sums = [Forms::ZERO; SUMS];
    let mut forms = [[Forms::ZERO; SHARED]; TILES];
    let mut bytes = [0; TILE];
    let Aligned(masks) = &mut Aligned([[[0; PLANE]; 2 * SHARED]; 9]);
    // All passes have the same number of tiles, but for the last.
    let tiles = right.row_bytes().div_ceil(TILE).max(1);
    let passes = tiles.div_ceil(TILES.min(SUMS / left.rows().next_multiple_of(2).max(2)));
    let tiles = tiles.div_ceil(passes);
    for column in (0..right.row_bytes()).step_by(tiles * TILE) {
        let end = right.row_bytes().min(column + tiles * TILE);
        let tiles = (end - column).div_ceil(TILE);
        if column > 0 {
            sums[..left.rows().next_multiple_of(2) * tiles].fill(Forms::ZERO);
        }
        for first in (0..right.count()).step_by(SHARED) {
            for g in 0..SHARED {
                let row = if first + g < right.count() { right.row(first + g) } else { &[] };
                let part = right.part(row, column..end);
                // The place where the row begins, and the part of it in the tile where it begins.
                let begin = end - column - part.len();
                let (cut, whole) = part.split_at(part.len().min(begin.next_multiple_of(TILE) - begin));
                let (whole, rest) = whole.as_chunks();
                let mut forms = forms[..tiles].iter_mut().map(|forms| &mut forms[g]);
                for forms in forms.by_ref().take(begin / TILE) {
                    *forms = Forms::ZERO;
                }
                if !cut.is_empty() {
                    let begin = begin % TILE;
                    bytes[..begin].fill(0);
                    bytes[begin..][..cut.len()].copy_from_slice(cut);
                    bytes[begin + cut.len()..].fill(0);
                    forms.next().expect("a tile for what is cut").set(&bytes);
                }
                // `whole` comes first in the zip: it ends first, and so costs `forms` no tile.
                for (bytes, forms) in whole.iter().zip(forms.by_ref()) {
                    forms.set(bytes);
                }
                if let Some(forms) = forms.next() {
                    bytes[..rest.len()].copy_from_slice(rest);
                    bytes[rest.len()..].fill(0);
                    forms.set(&bytes);
                }
            }
            let group: [_; SHARED] = core::array::from_fn(|g| match first + g {
                i if i < right.count() => left.of_row(i),
                _ => &[],
            });
            for (j, sums) in (0..left.rows()).step_by(2).zip(sums.chunks_exact_mut(2 * tiles)) {
                let coefficient = |n: usize| group[n % SHARED].get(j + n / SHARED).copied().unwrap_or(0);
                set_masks(masks, core::array::from_fn(coefficient));
                add_products(sums, &forms[..tiles], ct::barrier(masks));
            }
        }
        for (j, sums) in (0..left.rows()).zip(sums.chunks_exact(tiles)) {
            for (column, sums) in (column..end).step_by(TILE).zip(sums) {
                sums.product(&mut bytes);
                out.write(j * out.stride + column, &bytes[..TILE.min(end - column)]);
            }
        }
    }
    let used = tiles * left.rows().next_multiple_of(2);
    wipe(&mut sums[..used]);
    wipe(forms[..tiles].as_flattened_mut());
    wipe(&mut bytes);
    wipe(masks.as_flattened_mut());
}

/// The masks of coefficients: for each linear form of each coefficient, all ones or all zeros, as
/// wide as a plane.
#[inline(never)]
fn set_masks(masks: &mut [[[u64; PLANE]; 2 * SHARED]; 9], coefficients: [u8; 2 * SHARED]) {
    for (n, coefficient) in coefficients.into_iter().enumerate() {
        for (masks, mask) in masks.iter_mut().zip(forms_of(gf16::bit_masks(coefficient))) {
            masks[n] = [mask; PLANE];
        }
    }
}

/// Adds to `sums`, first for one row of `left` and then for the next, the nine products of
/// [`SHARED`] rows of `right` with their coefficients.
///
/// `forms` are those of the rows, and `masks` those of the coefficients.
#[inline(never)]
fn add_products(sums: &mut [Forms], forms: &[[Forms; SHARED]], masks: &[[[u64; PLANE]; 2 * SHARED]; 9]) {
    let (one, other) = sums.split_at_mut(forms.len());
    for (k, [a, b, c, d, e, f, g, h]) in masks.iter().enumerate() {
        for ((one, other), forms) in one.iter_mut().zip(&mut *other).zip(forms) {
            let [p, q, r, s] = forms.each_ref().map(|forms| &forms.0[k]);
            let (one, other) = (&mut one.0[k], &mut other.0[k]);
            for w in 0..PLANE {
                one[w] ^= p[w] & a[w] ^ q[w] & b[w] ^ r[w] & c[w] ^ s[w] & d[w];
            }
            for w in 0..PLANE {
                other[w] ^= p[w] & e[w] ^ q[w] & f[w] ^ r[w] & g[w] ^ s[w] & h[w];
            }
        }
    }
}

/// Nine planes of a tile: the linear forms of its elements, or sums of products of such forms.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Forms([[u64; PLANE]; 9]);

impl Default for Forms {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Forms {
    const ZERO: Self = Self([[0; PLANE]; 9]);

    /// Computes the forms of the elements packed in `bytes`.
    #[inline(never)]
    fn set(&mut self, bytes: &[u8; TILE]) {
        let (words, _) = bytes.as_chunks();
        for w in 0..PLANE {
            let words = core::array::from_fn(|q| u64::from_le_bytes(words[PLANE * q + w]));
            for (plane, form) in self.0.iter_mut().zip(forms_of(transpose_bits(words))) {
                plane[w] = form;
            }
        }
    }

    /// Computes the elements whose nine products these are, and packs them.
    #[inline(never)]
    fn product(&self, bytes: &mut [u8; TILE]) {
        let (words, _) = bytes.as_chunks_mut();
        for w in 0..PLANE {
            let [a, b, c, d, ab, cd, ac, bd, abcd] = self.0.map(|plane| plane[w]);
            // The product of polynomials has seven coefficients; those of α^4, α^5, α^6 are folded
            // onto the low ones.
            let e = a ^ b;
            let f = ab ^ bd;
            let g = e ^ cd ^ ac;
            for (q, word) in transpose_bits([e ^ c ^ d ^ bd, a ^ cd ^ f, g, abcd ^ f ^ g ^ c]).into_iter().enumerate() {
                words[PLANE * q + w] = word.to_le_bytes();
            }
        }
    }
}

/// The nine linear forms of four coefficients.
#[inline(always)]
fn forms_of([a, b, c, d]: [u64; 4]) -> [u64; 9] {
    [a, b, c, d, a ^ b, c ^ d, a ^ c, b ^ d, a ^ b ^ c ^ d]
}

/// Bit i of each nibble of word j becomes bit j of that nibble of word i.
#[inline(always)]
fn transpose_bits(mut words: [u64; 4]) -> [u64; 4] {
    for (i, j, distance, mask) in [
        (0, 2, 2, 0x3333_3333_3333_3333),
        (1, 3, 2, 0x3333_3333_3333_3333),
        (0, 1, 1, 0x5555_5555_5555_5555),
        (2, 3, 1, 0x5555_5555_5555_5555),
    ] {
        let swap = (words[i] >> distance ^ words[j]) & mask;
        words[i] ^= swap << distance;
        words[j] ^= swap;
    }
    words
}

/// Words of a plane: 16 bytes, the shortest vector register of any machine that has vectors.
const PLANE: usize = 2;
/// Bytes of a tile: four planes.
const TILE: usize = 4 * 8 * PLANE;
/// The most tiles of a pass, which share the masks.
const TILES: usize = 14;
/// Sums of a pass, for all rows of `left`.
pub(super) const SUMS: usize = 7 * MAX_ROWS;
/// Sums of a pass, for up to eight rows of `left`.
pub(super) const FEW_SUMS: usize = 7 * 8;
/// Rows of `right` that are added together.
const SHARED: usize = 4;
