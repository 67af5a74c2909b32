#![doc = include_str!("../../../../docs/gfni.md")]
#![allow(clippy::needless_range_loop, reason = "registers are named by their indices, and bounds are constants")]

use crate::backend::contract::MAX_ROWS;
use crate::backend::x86_64::gfni::{self, CHUNK};
use crate::backend::x86_64::masks::lowest_bits;
use crate::backend::x86_64::vector::prefetch;
use crate::memory::wipe;
use crate::packed::{Coefficients, Operand, Output, has_rows};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// The left product, see the [module](self).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(in crate::backend::x86_64) fn left_product(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    gfni::in_chunks(left, right, out, |left, right, out| match left.rows().div_ceil(2) {
        1 => product::<1, 2>(left, right, out),
        2 => product::<2, 2>(left, right, out),
        3 => product::<3, 2>(left, right, out),
        4 => product::<4, 2>(left, right, out),
        5 => product::<5, 2>(left, right, out),
        6 => product::<6, 1>(left, right, out),
        7 => product::<7, 1>(left, right, out),
        8 => product::<8, 1>(left, right, out),
        9 => product::<9, 1>(left, right, out),
        10 => product::<10, 1>(left, right, out),
        11 => product::<11, 1>(left, right, out),
        _ => product::<12, 1>(left, right, out),
    });
}

/// The product for `PAIRS` pairs of rows of `left`: tiles of `REGISTERS` registers, then at most
/// one of a single register, then one with masks.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn product<const PAIRS: usize, const REGISTERS: usize>(left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
    assert!(has_rows(out.bytes, left.rows(), out.stride, right.row_bytes()), "length of a left product");
    let mut matrices: Scratch<PAIRS> = [const { MaybeUninit::uninit() }; CHUNK / 2 + OVERHANG];
    let matrices = build(left, &mut matrices);
    let Output { bytes: out, stride, adds } = out;
    let rows = |column: usize, out: &mut [u8]| Rows {
        at: out[column..].as_mut_ptr(),
        stride,
        last_is_whole: left.rows().is_multiple_of(2),
        adds,
    };
    let mut column = 0;
    // SAFETY: `column + 64 * REGISTERS <= row_bytes` in the tiles without an edge, and in the last
    // one `edge` has bits for the remaining bytes of the row. The last row of the product ends in
    // `out` by the assertion above.
    unsafe {
        while column + 64 * REGISTERS <= right.row_bytes() {
            tile::<PAIRS, REGISTERS, false>(matrices, right, column, u64::MAX, rows(column, out));
            column += 64 * REGISTERS;
        }
        if REGISTERS > 1 && column + 64 <= right.row_bytes() {
            tile::<PAIRS, 1, false>(matrices, right, column, u64::MAX, rows(column, out));
            column += 64;
        }
        if column < right.row_bytes() {
            let edge = lowest_bits(right.row_bytes() - column);
            tile::<PAIRS, 1, true>(matrices, right, column, edge, rows(column, out));
        }
    }
    wipe(matrices.as_flattened_mut());
}

/// The rows of the product of a tile.
struct Rows {
    /// The tile's bytes of the first row.
    at: *mut u8,
    stride: usize,
    /// Whether the last pair of rows has a second row.
    last_is_whole: bool,
    /// Whether the product is added to what the rows hold.
    adds: bool,
}

/// One tile of the product: `REGISTERS` registers of columns from `column` on, or with `EDGE` the
/// bytes of one register for which `edge` has bits.
///
/// The [module](self) has idea, bound and cost.
///
/// **Wanted.** For each pair of rows of `left`, the loop over the rows of `right` has two
/// `vpbroadcastq zmm, m64`, 4 `REGISTERS` `vgf2p8affineqb zmm` and 2 `REGISTERS` `vpternlogq zmm`.
/// No accumulator is in memory: there are 2 `REGISTERS` `PAIRS` of them and 4 operands in 32
/// registers. Loops over rows of `left` have constant bounds and no branch inside; otherwise the
/// compiler would not unroll them and would keep the sums on the stack.
///
/// The prefetch of the next tile gains about a tenth where `right` comes from L2.
///
/// # Safety
///
/// The tile lies within the `right.row_bytes()` bytes of a row. Without `EDGE`,
/// `column + 64 * REGISTERS` is no larger; with `EDGE`, `REGISTERS` is 1 and `edge` has bits for no
/// more than the remaining bytes of the row. `matrices` has those of all rows of `right`, rounded
/// up to four. The tile is valid for reads and writes in all 2 `PAIRS` rows of `to`, one less
/// unless `last_is_whole`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
unsafe fn tile<const PAIRS: usize, const REGISTERS: usize, const EDGE: bool>(
    matrices: &[[u64; PAIRS]],
    right: Operand<'_>,
    column: usize,
    edge: u64,
    to: Rows,
) {
    let step = right.step();
    let begun = |column: usize| column.checked_div(step).map_or(right.count(), |row| right.count().min(row + 1));
    // Rows that begin at or left of the tile, and those that begin left of its end.
    let whole = begun(column);
    let reached = begun(column + 64 * REGISTERS - 1);
    let mut sums = [[[_mm512_setzero_si512(); 2]; REGISTERS]; PAIRS];
    let mut row = right.bytes().as_ptr().wrapping_add(column);
    let mut advance = right.row_bytes();
    for (i, matrices) in matrices.as_chunks::<2>().0[..reached.div_ceil(4)].iter().enumerate() {
        let mut at = [row; 4];
        for at in &mut at {
            advance = advance.wrapping_sub(step);
            *at = row;
            row = row.wrapping_add(advance);
        }
        let mut loaded = [[_mm512_setzero_si512(); REGISTERS]; 4];
        if 4 * i + 4 <= whole {
            for n in 0..4 {
                for w in 0..REGISTERS {
                    if !EDGE {
                        prefetch(at[n].wrapping_add(64 * (REGISTERS + w) + 63));
                    }
                }
                for w in 0..REGISTERS {
                    // SAFETY: each of these rows begins at or left of the tile. It reaches to the
                    // end of the tile, or of `edge`, by the contract of this function.
                    unsafe {
                        let at = at[n].wrapping_add(64 * w);
                        loaded[n][w] =
                            if EDGE { _mm512_maskz_loadu_epi8(edge, at.cast()) } else { _mm512_loadu_si512(at.cast()) };
                    }
                }
            }
        } else {
            for n in 0..4 {
                let begin =
                    if 4 * i + n < reached { ((4 * i + n) * step).saturating_sub(column) } else { 64 * REGISTERS };
                for w in 0..REGISTERS {
                    let mask = edge & !lowest_bits(begin.saturating_sub(64 * w));
                    // SAFETY: the mask leaves out the bytes left of the row, and all bytes if there
                    // is no row. The row reaches to the end of the tile, or of `edge`.
                    unsafe { loaded[n][w] = _mm512_maskz_loadu_epi8(mask, at[n].wrapping_add(64 * w).cast()) };
                }
            }
        }
        let mut operands = [[[_mm512_setzero_si512(); 2]; REGISTERS]; 2];
        for w in 0..REGISTERS {
            for pair in 0..2 {
                let a = loaded[2 * pair][w];
                let b = loaded[2 * pair + 1][w];
                operands[pair][w] = interleave::<PAIRS>(a, b);
            }
        }
        for p in 0..PAIRS {
            let block01 = _mm512_set1_epi64(matrices[0][p] as i64);
            let block23 = _mm512_set1_epi64(matrices[1][p] as i64);
            for w in 0..REGISTERS {
                for half in 0..2 {
                    let product = _mm512_xor_si512(
                        _mm512_gf2p8affine_epi64_epi8::<0>(operands[0][w][half], block01),
                        _mm512_gf2p8affine_epi64_epi8::<0>(operands[1][w][half], block23),
                    );
                    sums[p][w][half] = _mm512_xor_si512(sums[p][w][half], product);
                }
            }
        }
    }
    // SAFETY: the tile is valid in the rows of `to`, by the contract of this function.
    unsafe {
        if to.adds {
            write::<PAIRS, REGISTERS, EDGE, true>(sums, edge, to);
        } else {
            write::<PAIRS, REGISTERS, EDGE, false>(sums, edge, to);
        }
    }
}

/// Separates the accumulators of a tile into its rows, and writes or adds these.
///
/// # Safety
///
/// As for [`tile`]: the tile is valid for reads and writes in all rows of `to`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn write<const PAIRS: usize, const REGISTERS: usize, const EDGE: bool, const ADD: bool>(
    sums: [[[__m512i; 2]; REGISTERS]; PAIRS],
    edge: u64,
    to: Rows,
) {
    let mut row = to.at;
    let mut write = |sums: [__m512i; REGISTERS]| {
        for w in 0..REGISTERS {
            // SAFETY: by the contract of this function, these bytes, or those of `edge`, belong to
            // a row of the product.
            unsafe {
                let at = row.add(64 * w);
                let before = match (ADD, EDGE) {
                    (false, _) => _mm512_setzero_si512(),
                    (true, false) => _mm512_loadu_si512(at.cast()),
                    (true, true) => _mm512_maskz_loadu_epi8(edge, at.cast()),
                };
                let sum = _mm512_xor_si512(before, sums[w]);
                if EDGE {
                    _mm512_mask_storeu_epi8(at.cast(), edge, sum);
                } else {
                    _mm512_storeu_si512(at.cast(), sum);
                }
            }
        }
        row = row.wrapping_add(to.stride);
    };
    for (p, sums) in sums.into_iter().enumerate() {
        let rows = sums.map(|[even, odd]| interleave::<PAIRS>(even, odd));
        write(rows.map(|[first, _]| first));
        if p + 1 < PAIRS || to.last_is_whole {
            write(rows.map(|[_, second]| second));
        }
    }
}

/// The low nibbles of `a`, each with that of `b` above it, and the high nibbles likewise.
///
/// Intel's processors start shifts of 64 bytes and affine products on one port. So beside many
/// products `vpmultishiftqb` shifts, which starts on another port: it takes eight bits from any
/// place in a word of 64 bits for each byte. The selects remove the bits of other bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn interleave<const PAIRS: usize>(a: __m512i, b: __m512i) -> [__m512i; 2] {
    let low = _mm512_set1_epi8(0x0f);
    let select = |a, b| _mm512_or_si512(_mm512_and_si512(low, a), _mm512_andnot_si512(low, b));
    if PAIRS <= 2 {
        return [select(a, _mm512_slli_epi16::<4>(b)), select(_mm512_srli_epi16::<4>(a), b)];
    }
    let up = _mm512_set1_epi64(0x342c_241c_140c_043c);
    let down = _mm512_set1_epi64(0x3c34_2c24_1c14_0c04);
    [select(a, _mm512_multishift_epi64_epi8(up, b)), select(_mm512_multishift_epi64_epi8(down, a), b)]
}

/// Writes and returns the matrices of `left.columns()` rows of `right`, rounded up to four rows
/// with zero matrices.
///
/// An entry has the matrices of two rows of `right` for all pairs of rows of `left`. The bytes
/// `left[j][i] | left[j][i + 1] << 4` of 16 rows of `left` are four times in a register. Each copy
/// goes through one of the [`ROW_MAPS`](gfni::ROW_MAPS), and a second permutation collects the
/// eight bytes of each of eight matrices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn build<'m, const PAIRS: usize>(left: Coefficients<'_>, matrices: &'m mut Scratch<PAIRS>) -> &'m mut [[u64; PAIRS]] {
    // SAFETY: each constant has the 64 bytes that are read.
    let [maps, collect, low_rows, high_rows] = unsafe {
        [MAPS.as_ptr().cast(), COLLECT.as_ptr().cast(), SPREAD[0].as_ptr().cast(), SPREAD[1].as_ptr().cast()]
            .map(|constant| _mm512_loadu_si512(constant))
    };
    let spread = [low_rows, high_rows];
    let elements = left.elements().as_ptr();
    let columns = left.columns();
    let mask = lowest_bits(left.rows());
    let stride = left.elements().len() / columns.max(1);
    let used = columns.next_multiple_of(4) / 2;
    assert!(used + OVERHANG <= matrices.len(), "rows of a chunk");
    let to = matrices.as_mut_ptr().cast::<u64>();
    for i in 0..used {
        // SAFETY: the mask is set for the elements of columns 2 i and 2 i + 1 of `left`, and only
        // if these exist.
        let [first, second] = unsafe {
            [2 * i, 2 * i + 1].map(|i| {
                let mask = if i < columns { mask } else { 0 };
                _mm512_maskz_loadu_epi8(mask, elements.wrapping_add(i * stride).cast())
            })
        };
        let both = _mm512_or_si512(first, _mm512_slli_epi16::<4>(second));
        for v in 0..PAIRS.div_ceil(8) {
            let mapped = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_permutexvar_epi8(spread[v], both), maps);
            // SAFETY: this writes at most 8 words beyond those of row pair i, which the next row
            // pairs overwrite. The last words lie in the overhang, as a row pair has at least one
            // word.
            unsafe { _mm512_storeu_si512(to.add(i * PAIRS + 8 * v).cast(), _mm512_permutexvar_epi8(collect, mapped)) };
        }
    }
    // SAFETY: the first `used` entries were written.
    unsafe { core::slice::from_raw_parts_mut(to.cast(), used) }
}

const _: () = assert!(MAX_ROWS <= 2 * 12, "the widest form has 12 pairs of rows");

/// Room for the matrices of [`CHUNK`] rows of `right`, and for the words that [`build`] writes
/// beyond.
type Scratch<const PAIRS: usize> = [MaybeUninit<[u64; PAIRS]>; CHUNK / 2 + OVERHANG];

/// Entries beyond the matrices: at least eight words, whatever the number of pairs.
const OVERHANG: usize = 8;

/// `SPREAD[v]` takes the bytes of rows 16 v to 16 v + 15 of `left` four times.
const SPREAD: [[u8; 64]; 2] = {
    let mut index = [[0; 64]; 2];
    let mut at = 0;
    while at < 128 {
        index[at / 64][at % 64] = (at / 64 * 16 + at % 16) as u8;
        at += 1;
    }
    index
};

/// Places of the matrices' bytes. Byte 7 - l of matrix p is for output bit l. It comes from map l
/// mod 4, and from row 2 p of `left` for l < 4, else from row 2 p + 1.
const COLLECT: [u8; 64] = {
    let mut index = [0; 64];
    let mut at = 0;
    while at < 64 {
        let p = at / 8;
        let l = 7 - at % 8;
        index[at] = (l % 4 * 16 + 2 * p + l / 4) as u8;
        at += 1;
    }
    index
};

/// Each of the four maps twice, for 16 bytes.
const MAPS: [u64; 8] = {
    let mut maps = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        maps[lane] = gfni::ROW_MAPS[lane / 2];
        lane += 1;
    }
    maps
};
