use super::gfni::{self, CHUNK};
use crate::packed::{Coefficients, Rows};
use core::arch::x86_64::*;

/// The left product, see the [module](self).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn left_product(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
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
fn product<const PAIRS: usize, const W: usize>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    assert!(out.len() >= (x.rows() - 1) * stride + rows.row_bytes(), "length of a left product");
    let mut matrices = [[0; PAIRS]; CHUNK / 2 + OVERHANG];
    let used = rows.count().next_multiple_of(4) / 2;
    build(x, &mut matrices[..used + OVERHANG]);
    let last = x.rows() % 2 == 0;
    let mut column = 0;
    // SAFETY: inside R, X or the product, or masked off.
    unsafe {
        while column + 64 * W <= rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, W, false>(&matrices, rows, column, u64::MAX, last, out, stride);
            column += 64 * W;
        }
        if W > 1 && column + 64 <= rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, 1, false>(&matrices, rows, column, u64::MAX, last, out, stride);
            column += 64;
        }
        if column < rows.row_bytes() {
            let out = out.as_mut_ptr().add(column);
            tile::<PAIRS, 1, true>(&matrices, rows, column, ones(rows.row_bytes() - column), last, out, stride);
        }
    }
    crate::memory::wipe(matrices[..used].as_flattened_mut());
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
unsafe fn tile<const PAIRS: usize, const W: usize, const EDGE: bool>(
    matrices: &[[u64; PAIRS]],
    rows: Rows<'_>,
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
                    // SAFETY: inside R, X or the product, or masked off.
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
                    // SAFETY: inside R, X or the product, or masked off.
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
            // SAFETY: inside R, X or the product, or masked off.
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn build<const PAIRS: usize>(x: Coefficients<'_>, matrices: &mut [[u64; PAIRS]]) {
    let mask = ones(x.rows());
    let columns = x.columns();
    let maps = gfni::ROW_MAPS.map(|map| _mm512_set1_epi64(map as i64));
    // SAFETY: 64 bytes each.
    let expand =
        unsafe { [_mm512_loadu_si512(EXPAND[0].as_ptr().cast()), _mm512_loadu_si512(EXPAND[1].as_ptr().cast())] };
    let count = matrices.len() - OVERHANG;
    let column = |i: usize| {
        // SAFETY: inside R, X or the product, or masked off.
        unsafe { _mm512_maskz_loadu_epi8(mask, x.of_row(i).as_ptr().cast()) }
    };
    let flat = matrices.as_flattened_mut();
    for i in 0..count {
        let first = if 2 * i < columns { column(2 * i) } else { _mm512_setzero_si512() };
        let second = if 2 * i + 1 < columns { column(2 * i + 1) } else { _mm512_setzero_si512() };
        let both = _mm512_or_si512(first, _mm512_slli_epi16::<4>(second));
        for v in 0..PAIRS.div_ceil(8) {
            let bytes = _mm512_permutexvar_epi8(expand[v], both);
            let mut sum = _mm512_setzero_si512();
            for (map, class) in maps.iter().zip([0x88u64, 0x44, 0x22, 0x11]) {
                let class = class * 0x0101_0101_0101_0101;
                sum = _mm512_mask_gf2p8affine_epi64_epi8::<0>(sum, class, bytes, *map);
            }
            let to = &mut flat[i * PAIRS + 8 * v..][..8];
            // SAFETY: eight words.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), sum) };
        }
    }
}

const EXPAND: [[u8; 64]; 2] = {
    let mut index = [[0; 64]; 2];
    let mut at = 0;
    while at < 128 {
        let pair = at / 8;
        index[at / 64][at % 64] = 2 * pair as u8 + (at % 8 < 4) as u8;
        at += 1;
    }
    index
};

const OVERHANG: usize = 8;
