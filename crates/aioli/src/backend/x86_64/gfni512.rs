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

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn product<const PAIRS: usize, const W: usize>(x: Coefficients<'_>, rows: Rows<'_>, out: &mut [u8], stride: usize) {
    let mut matrices = [[0; PAIRS]; CHUNK / 2 + OVERHANG];
    let used = rows.count().next_multiple_of(4) / 2;
    build(x, &mut matrices[..used + OVERHANG]);
    let low = _mm512_set1_epi8(0x0f);
    let (count, step, base) = (rows.count(), rows.step(), rows.bytes().as_ptr());
    let (mut whole, mut reached) = (0, 0);
    for tile in (0..rows.row_bytes()).step_by(64 * W) {
        let width = (rows.row_bytes() - tile).min(64 * W);
        while reached < count && reached * step < tile + width {
            reached += 1;
        }
        while whole < reached && whole * step <= tile {
            whole += 1;
        }
        let unmasked = if width == 64 * W { whole } else { 0 };
        let right: [u64; W] = core::array::from_fn(|w| ones(width.saturating_sub(64 * w)));
        let mut accumulators = [[[_mm512_setzero_si512(); 2]; W]; PAIRS];
        let mut row = base.wrapping_add(tile);
        let mut advance = rows.row_bytes();
        for (i, matrices) in matrices.as_chunks::<2>().0.iter().enumerate().take(reached.div_ceil(4)) {
            let i = 4 * i;
            let mut at = [row; 4];
            for at in &mut at {
                advance = advance.wrapping_sub(step);
                *at = row;
                row = row.wrapping_add(advance);
            }
            let loaded: [[__m512i; W]; 4] = if i + 4 <= unmasked {
                // SAFETY: inside the bytes of R or X, or masked off.
                at.map(|at| core::array::from_fn(|w| unsafe { _mm512_loadu_si512(at.wrapping_add(64 * w).cast()) }))
            } else {
                core::array::from_fn(|r| {
                    let start = if i + r < reached { ((i + r) * step).saturating_sub(tile) } else { 64 * W };
                    core::array::from_fn(|w| {
                        let mask = right[w] & !ones(start.saturating_sub(64 * w));
                        // SAFETY: inside the bytes of R or X, or masked off.
                        unsafe { _mm512_maskz_loadu_epi8(mask, at[r].wrapping_add(64 * w).cast()) }
                    })
                })
            };
            for w in 0..W {
                let [a, b, c, d] = [0, 1, 2, 3].map(|r| loaded[r][w]);
                let [first, second] = [[a, b], [c, d]].map(|[a, b]| {
                    [
                        select(low, a, _mm512_slli_epi16::<4>(b)), select(low, _mm512_srli_epi16::<4>(a), b)
                    ]
                });
                for j in 0..PAIRS {
                    let (m, n) =
                        (_mm512_set1_epi64(matrices[0][j] as i64), _mm512_set1_epi64(matrices[1][j] as i64));
                    for half in 0..2 {
                        let product = _mm512_gf2p8affine_epi64_epi8::<0>(first[half], m);
                        let other = _mm512_gf2p8affine_epi64_epi8::<0>(second[half], n);
                        let accumulator = &mut accumulators[j][w][half];
                        *accumulator = _mm512_xor_si512(*accumulator, _mm512_xor_si512(product, other));
                    }
                }
            }
        }
        for (j, accumulators) in accumulators.iter().enumerate() {
            for (w, &[even, odd]) in accumulators.iter().enumerate() {
                let upper = select(low, even, _mm512_slli_epi16::<4>(odd));
                let lower = select(low, _mm512_srli_epi16::<4>(even), odd);
                for (r, sum) in [(2 * j, upper), (2 * j + 1, lower)] {
                    if r < x.rows() && 64 * w < width {
                        add(&mut out[r * stride + tile + 64 * w..][..(width - 64 * w).min(64)], sum);
                    }
                }
            }
        }
    }
    crate::memory::wipe(matrices[..used].as_flattened_mut());
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add(out: &mut [u8], sum: __m512i) {
    // SAFETY: the mask is set for bytes of `out` only.
    unsafe {
        if out.len() == 64 {
            let p = out.as_mut_ptr().cast();
            _mm512_storeu_si512(p, _mm512_xor_si512(_mm512_loadu_si512(p), sum));
        } else {
            let mask = ones(out.len());
            let p = out.as_mut_ptr().cast();
            _mm512_mask_storeu_epi8(p, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p), sum));
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
    let rows_mask = [0x8080808080808080u64, 0x4040404040404040, 0x2020202020202020, 0x1010101010101010];
    let maps = gfni::ROW_MAPS.map(|map| _mm512_set1_epi64(map as i64));
    let expand: [__m512i; 2] = core::array::from_fn(|v| {
        let mut index = [0u8; 64];
        for (lane, index) in index.chunks_exact_mut(8).enumerate() {
            let pair = (8 * v + lane) as u8;
            for (byte, index) in index.iter_mut().enumerate() {
                *index = 2 * pair + (byte < 4) as u8;
            }
        }
        // SAFETY: inside the bytes of R or X, or masked off.
        unsafe { _mm512_loadu_si512(index.as_ptr().cast()) }
    });
    let count = matrices.len() - OVERHANG;
    for i in 0..count {
        let column = |i: usize| {
            if i < columns {
                // SAFETY: inside the bytes of R or X, or masked off.
                unsafe { _mm512_maskz_loadu_epi8(mask, x.of_row(i).as_ptr().cast()) }
            } else {
                _mm512_setzero_si512()
            }
        };
        let both = _mm512_or_si512(column(2 * i), _mm512_slli_epi16::<4>(column(2 * i + 1)));
        for v in 0..PAIRS.div_ceil(8) {
            let bytes = _mm512_permutexvar_epi8(expand[v], both);
            let mut sum = _mm512_setzero_si512();
            for (map, class) in maps.iter().zip([0x88u64, 0x44, 0x22, 0x11]) {
                let class = class * 0x0101_0101_0101_0101;
                sum = _mm512_mask_gf2p8affine_epi64_epi8::<0>(sum, class, bytes, *map);
            }
            let to = &mut matrices.as_flattened_mut()[i * PAIRS + 8 * v..][..8];
            // SAFETY: eight words.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), sum) };
        }
    }
    let _ = rows_mask;
}

const OVERHANG: usize = 8;
