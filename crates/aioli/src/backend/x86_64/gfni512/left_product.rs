#![doc = include_str!("../../../../docs/gfni.md")]
#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use crate::backend::x86_64::gfni::{self, CHUNK};
use crate::packed::{Coefficients, Operand, has_rows};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The left product, see the [module](self).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(in crate::backend::x86_64) fn left_product(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    gfni::in_chunks(x, rows, out, |x, rows, out| match x.rows().div_ceil(2) {
        0 => {}
        1 => product::<1, 2>(x, rows, out, stride),
        2 => product::<2, 2>(x, rows, out, stride),
        3 => product::<3, 2>(x, rows, out, stride),
        4 => product::<4, 2>(x, rows, out, stride),
        5 => product::<5, 2>(x, rows, out, stride),
        6 => product::<6, 1>(x, rows, out, stride),
        7 => product::<7, 1>(x, rows, out, stride),
        8 => product::<8, 1>(x, rows, out, stride),
        9 => product::<9, 1>(x, rows, out, stride),
        10 => product::<10, 1>(x, rows, out, stride),
        11 => product::<11, 1>(x, rows, out, stride),
        _ => product::<12, 1>(x, rows, out, stride),
    });
}

/// The product for `PAIRS` pairs of rows of X: tiles of `W` registers, then of one, and a last one with masks.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn product<const PAIRS: usize, const W: usize>(x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
    assert!(has_rows(out, x.rows(), stride, rows.row_bytes()), "length of a left product");
    let mut matrices: Scratch<PAIRS> = [const { MaybeUninit::uninit() }; CHUNK / 2 + OVERHANG];
    let matrices = build(x, &mut matrices);
    let last = x.rows().is_multiple_of(2);
    let mut column = 0;
    // SAFETY: `column + 64 * W <= row_bytes` in the tiles without an edge, `edge` covers what is left of the row in
    // the last one, and the last row of the product ends in `out` by the assertion above.
    unsafe {
        while column + 64 * W <= rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, W, false>(matrices, rows, column, u64::MAX, last, out, stride);
            column += 64 * W;
        }
        if W > 1 && column + 64 <= rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, 1, false>(matrices, rows, column, u64::MAX, last, out, stride);
            column += 64;
        }
        if column < rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, 1, true>(matrices, rows, column, ones(rows.row_bytes() - column), last, out, stride);
        }
    }
    crate::memory::wipe(matrices.as_flattened_mut());
}

/// One tile of the product: `W` registers of columns from `column` on, or with `EDGE` the bytes of one register that
/// `edge` has bits for.
///
/// Idea, bound and cost: see the [module](self). Wanted in the loop over the rows of R: for each pair of rows of X two
/// `vpbroadcastq zmm, m64`, 4 `W` `vgf2p8affineqb zmm` and 2 `W` `vpternlogq zmm`, and no accumulator in memory: 2 `W`
/// `PAIRS` accumulators and 4 operands in 32 registers. Loops over rows of X have constant bounds and no branch inside,
/// or the compiler would not unroll them and keep the sums on the stack.
///
/// The prefetch of the next tile gains about a tenth where R comes from L2.
///
/// # Safety
///
/// The tile lies within the `rows.row_bytes()` bytes of a row: `column + 64 * W` is no larger, or with `EDGE` `W` is 1 and
/// `edge` covers what is left of them. `matrices` has those of all rows of R, rounded up to four. `out` points to
/// `column` in the first row of the product, and 2 `PAIRS` rows `stride` bytes apart, one less unless `last`, are valid
/// for reads and writes there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
unsafe fn tile<const PAIRS: usize, const W: usize, const EDGE: bool>(
    matrices: &[[u64; PAIRS]],
    rows: Operand<'_>,
    column: usize,
    edge: u64,
    last: bool,
    mut out: *mut u8,
    stride: usize,
) {
    let low = _mm512_set1_epi8(0x0f);
    let step = rows.step();
    let begun = |column: usize| column.checked_div(step).map_or(rows.count(), |row| rows.count().min(row + 1));
    let (whole, reached) = (begun(column), begun(column + 64 * W - 1));
    let mut sums = [[[_mm512_setzero_si512(); 2]; W]; PAIRS];
    let mut row = rows.bytes().as_ptr().wrapping_add(column);
    let mut advance = rows.row_bytes();
    for (i, matrices) in matrices.as_chunks::<2>().0[..reached.div_ceil(4)].iter().enumerate() {
        let mut at = [row; 4];
        for at in &mut at {
            advance = advance.wrapping_sub(step);
            *at = row;
            row = row.wrapping_add(advance);
        }
        let mut loaded = [[_mm512_setzero_si512(); W]; 4];
        if 4 * i + 4 <= whole {
            for r in 0..4 {
                for w in 0..W {
                    if !EDGE {
                        _mm_prefetch::<_MM_HINT_T0>(at[r].wrapping_add(64 * (W + w) + 63).cast());
                    }
                }
                for w in 0..W {
                    // SAFETY: a whole row begins at or left of the tile, and its bytes reach to the end of the tile, or
                    // of `edge`, by the contract of this function.
                    unsafe {
                        let at = at[r].wrapping_add(64 * w);
                        loaded[r][w] =
                            if EDGE { _mm512_maskz_loadu_epi8(edge, at.cast()) } else { _mm512_loadu_si512(at.cast()) };
                    }
                }
            }
        } else {
            for r in 0..4 {
                let begin = if 4 * i + r < reached { ((4 * i + r) * step).saturating_sub(column) } else { 64 * W };
                for w in 0..W {
                    let mask = edge & !ones(begin.saturating_sub(64 * w));
                    // SAFETY: the mask leaves out what lies left of the row, and everything where there is no row; the
                    // row reaches to the end of the tile, or of `edge`.
                    unsafe { loaded[r][w] = _mm512_maskz_loadu_epi8(mask, at[r].wrapping_add(64 * w).cast()) };
                }
            }
        }
        let mut operands = [[[_mm512_setzero_si512(); 2]; W]; 2];
        for w in 0..W {
            for p in 0..2 {
                let (a, b) = (loaded[2 * p][w], loaded[2 * p + 1][w]);
                operands[p][w] = [select(low, a, _mm512_slli_epi16::<4>(b)), select(low, _mm512_srli_epi16::<4>(a), b)];
            }
        }
        for j in 0..PAIRS {
            let m = _mm512_set1_epi64(matrices[0][j] as i64);
            let n = _mm512_set1_epi64(matrices[1][j] as i64);
            for w in 0..W {
                for half in 0..2 {
                    let product = _mm512_xor_si512(
                        _mm512_gf2p8affine_epi64_epi8::<0>(operands[0][w][half], m),
                        _mm512_gf2p8affine_epi64_epi8::<0>(operands[1][w][half], n),
                    );
                    sums[j][w][half] = _mm512_xor_si512(sums[j][w][half], product);
                }
            }
        }
    }
    let mut add = |sums: [__m512i; W]| {
        for w in 0..W {
            // SAFETY: by the contract of this function, these bytes, or those of `edge`, belong to row r of the product.
            unsafe {
                let at = out.add(64 * w);
                if EDGE {
                    let sum = _mm512_xor_si512(_mm512_maskz_loadu_epi8(edge, at.cast()), sums[w]);
                    _mm512_mask_storeu_epi8(at.cast(), edge, sum);
                } else {
                    _mm512_storeu_si512(at.cast(), _mm512_xor_si512(_mm512_loadu_si512(at.cast()), sums[w]));
                }
            }
        }
        out = out.wrapping_add(stride);
    };
    for j in 0..PAIRS {
        add(sums[j].map(|[even, odd]| select(low, even, _mm512_slli_epi16::<4>(odd))));
        if j + 1 < PAIRS || last {
            add(sums[j].map(|[even, odd]| select(low, _mm512_srli_epi16::<4>(even), odd)));
        }
    }
}

/// The bits of `a` where `mask` is set and those of `b` elsewhere.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_and_si512(mask, a), _mm512_andnot_si512(mask, b))
}

/// The `count` lowest bits, all of them from 64 on.
#[inline(always)]
fn ones(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// Writes the matrices of two rows of R at a time, all pairs of rows of X; returns those of `x.columns()` rows of R,
/// rounded up to four rows with zero matrices.
///
/// The bytes `X[r][i] | X[r][i + 1] << 4` of 16 rows of X stand four times in a register, and each copy goes through one
/// of [`ROW_MAPS`](gfni::ROW_MAPS); a second permutation collects the eight bytes of each of eight matrices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn build<'m, const PAIRS: usize>(x: Coefficients<'_>, matrices: &'m mut Scratch<PAIRS>) -> &'m mut [[u64; PAIRS]] {
    // SAFETY: each constant has the 64 bytes that are read.
    let [maps, collect, low_rows, high_rows] = unsafe {
        [MAPS.as_ptr().cast(), COLLECT.as_ptr().cast(), SPREAD[0].as_ptr().cast(), SPREAD[1].as_ptr().cast()]
            .map(|constant| _mm512_loadu_si512(constant))
    };
    let spread = [low_rows, high_rows];
    let (elements, columns, mask) = (x.elements().as_ptr(), x.columns(), ones(x.rows()));
    let stride = x.elements().len() / columns.max(1);
    let used = columns.next_multiple_of(4) / 2;
    assert!(used + OVERHANG <= matrices.len(), "rows of a chunk");
    let to = matrices.as_mut_ptr().cast::<u64>();
    for i in 0..used {
        // SAFETY: the mask is set for the bytes of X that belong to columns 2i and 2i + 1, and only where these exist.
        let [first, second] = unsafe {
            [2 * i, 2 * i + 1].map(|i| {
                let mask = if i < columns { mask } else { 0 };
                _mm512_maskz_loadu_epi8(mask, elements.wrapping_add(i * stride).cast())
            })
        };
        let both = _mm512_or_si512(first, _mm512_slli_epi16::<4>(second));
        for v in 0..PAIRS.div_ceil(8) {
            let mapped = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_permutexvar_epi8(spread[v], both), maps);
            // SAFETY: at most 8 words beyond those of row pair i, which the next ones overwrite; the last ones lie in
            // the overhang, as one row pair has at least one word.
            unsafe { _mm512_storeu_si512(to.add(i * PAIRS + 8 * v).cast(), _mm512_permutexvar_epi8(collect, mapped)) };
        }
    }
    // SAFETY: the first `used` entries were written.
    unsafe { core::slice::from_raw_parts_mut(to.cast(), used) }
}

/// Room for the matrices of [`CHUNK`] rows of R, and for what [`build`] writes beyond.
type Scratch<const PAIRS: usize> = [MaybeUninit<[u64; PAIRS]>; CHUNK / 2 + OVERHANG];

/// Eight words, whatever the number of pairs is.
const OVERHANG: usize = 8;

/// `SPREAD[v]`: the bytes of rows 16 v to 16 v + 15 of X, four times.
const SPREAD: [[u8; 64]; 2] = {
    let mut index = [[0; 64]; 2];
    let mut at = 0;
    while at < 128 {
        index[at / 64][at % 64] = (at / 64 * 16 + at % 16) as u8;
        at += 1;
    }
    index
};

/// Byte 7 - j of matrix p, for output bit j: from row 2 p of X for the low nibble, else from row 2 p + 1; map j mod 4.
const COLLECT: [u8; 64] = {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        let (pair, bit) = (at / 8, 7 - at % 8);
        index[at] = (bit % 4 * 16 + 2 * pair + bit / 4) as u8;
        at += 1;
    }
    index
};

/// Each of the four maps for 16 bytes.
const MAPS: [u64; 8] = {
    let mut maps = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        maps[lane] = gfni::ROW_MAPS[lane / 2];
        lane += 1;
    }
    maps
};
