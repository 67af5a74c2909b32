//! Solving with AVX-512 and GFNI: the elimination by columns of
//! [`portable::solve`](crate::backend::portable::solve), two columns in each byte.
//!
//! **Idea.** GF(16) is a subfield of the field GF(256) of `vgf2p8mulb`. With w outside of it, a
//! byte of GF(256) is a + w b, where a and b are the elements of two neighbouring columns in one
//! row:
//!
//! ```text
//! columns 2 i and 2 i + 1    bytes 0, 1, 2, ..    rows 0, 2, 4, ..    then rows 1, 3, 5, ..
//! ```
//!
//! Multiplying by an element of the subfield multiplies both columns. Elimination with a pivot in
//! row p adds g (a + w b)\[p\] to a + w b, where `g = (c + e_p) / c[p]` follows from the pivot's
//! column c. One `vpermb` broadcasts the byte of row p, and `vgf2p8mulb` multiplies g by it. Two
//! pivots, those of a pair of columns, go into a later pair together.
//!
//! **Constant time.** The pivot's row is secret. It is found by `tzcnt` of a test mask and goes
//! only into permute indices, which are registers. No address and no branch depends on it. A column
//! without a pivot has g = 0.
//!
//! **Quirks.** The pivots of a pair are found before those of the pair before it have gone into all
//! the others: finding them is one long chain, and that work fills its gaps. `vpermb` reads only
//! the low six bits of each index; they differ for all elements of the subfield.
//!
//! **Cost.** For each two pivots and each later pair: two permutations, and two multiplications and
//! a `vpternlogq` in every register of the pair. Each two pivots have about 120 cycles of latency.

use crate::backend::contract::{MAX_EQUATIONS, MAX_UNKNOWNS};
use crate::backend::x86_64::masks::lowest_bits;
use crate::gf16;
use crate::memory::wipe;
use crate::plants::{Leak, leak};
use core::arch::x86_64::*;
use core::array::from_fn;

/// See [`Backend::solve`](crate::backend::Backend::solve).
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
pub(in crate::backend::x86_64) fn solve(columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    match m {
        ..=64 => solve_in::<1>(columns, m, x),
        65..=128 => solve_in::<2>(columns, m, x),
        _ => solve_in::<3>(columns, m, x),
    }
}

/// A pair of columns, or one column with zero beside it.
type Pair<const REGISTERS: usize> = [__m512i; REGISTERS];

/// A pivot, and what it adds.
#[derive(Clone, Copy)]
struct Pivot<const REGISTERS: usize> {
    /// The pivot's place among the bytes of a pair, in every byte; behind them all without a pivot.
    place: __m512i,
    /// g. Zero without a pivot.
    g: Pair<REGISTERS>,
}

/// Solves with `REGISTERS` registers a pair of columns.
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
fn solve_in<const REGISTERS: usize>(packed: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
    assert!(
        m <= 64 * REGISTERS && packed.len() == (x.len() + 1) * m / 2 && x.len() <= MAX_UNKNOWNS,
        "shape of a linear system"
    );
    let zero = _mm512_setzero_si512();
    let bytes = m / 2;
    let mut columns = [[zero; REGISTERS]; MAX_PAIRS + 1];
    let columns = &mut columns[..x.len().div_ceil(2) + 1];
    let (a, y) = packed.split_at(x.len() * bytes);
    for (pair, packed) in columns.iter_mut().zip(a.chunks(m).chain([y])) {
        *pair = join(packed.split_at(bytes));
    }

    // The bits of the rows that have no pivot yet.
    let mut unused: [u64; REGISTERS] = from_fn(|n| {
        if is_halved::<REGISTERS>(n) { lowest_bits(bytes - 32 * n) * (1 << 32 | 1) } else { lowest_bits(bytes) }
    });
    let mut places = [0; ROUNDED];
    let mut old = [Pivot { place: zero, g: [zero; REGISTERS] }; 2];
    for i in 0..x.len().div_ceil(2) {
        eliminate(&mut columns[i], &old);
        let new = pivots(&columns[i], &mut unused, &mut places[2 * i..]);
        for later in &mut columns[i + 1..] {
            eliminate(later, &old);
        }
        old = new;
    }
    let y = columns.last_mut().expect("y");
    eliminate(y, &old);

    // The solution's coordinates are the entries of y in the pivot rows, 64 of them at a time.
    for (x, places) in x.chunks_mut(64).zip(places.chunks(64)) {
        let places = load_low(places);
        let has_pivot = _mm512_cmplt_epu8_mask(places, _mm512_set1_epi8((64 * REGISTERS) as u8 as i8));
        let found = select_byte(y, places);
        let found = _mm512_maskz_permutexvar_epi8(has_pivot, found, load_low(&ELEMENTS));
        // SAFETY: the mask lets through as many bytes as the chunk has.
        unsafe { _mm512_mask_storeu_epi8(x.as_mut_ptr().cast(), lowest_bits(x.len()), found) };
    }
    let left_over = unused.into_iter().fold(0, |all, unused| all | unused);
    columns.fill([zero; REGISTERS]);
    zeroize::optimization_barrier(columns);
    wipe(&mut places);
    wipe(packed);
    1 ^ crate::ct::nonzero64(left_over)
}

/// Reads two columns, of which the second may be empty.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn join<const REGISTERS: usize>((first, second): (&[u8], &[u8])) -> Pair<REGISTERS> {
    let low = _mm512_set1_epi8(0x0f);
    let join = _mm512_set1_epi64(JOIN as i64);
    from_fn(|n| {
        let [a, b] = [first, second].map(|bytes| load_low(bytes.get(n / 2 * 64..).unwrap_or_default()));
        let even = _mm512_or_si512(_mm512_and_si512(low, a), _mm512_andnot_si512(low, _mm512_slli_epi16::<4>(b)));
        let odd = _mm512_or_si512(_mm512_and_si512(low, _mm512_srli_epi16::<4>(a)), _mm512_andnot_si512(low, b));
        let rows = match n % 2 {
            _ if is_halved::<REGISTERS>(n) => _mm512_inserti64x4::<1>(even, _mm512_castsi512_si256(odd)),
            0 => even,
            _ => odd,
        };
        _mm512_gf2p8affine_epi64_epi8::<0>(rows, join)
    })
}

/// Whether register `n` of a pair has even rows in its low half and odd rows in its high half: the
/// last one of an odd number.
const fn is_halved<const REGISTERS: usize>(n: usize) -> bool {
    n + 1 == REGISTERS && n.is_multiple_of(2)
}

/// The pivots of a pair of columns: what they add together, each to the pair as it was before both.
#[inline]
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
fn pivots<const REGISTERS: usize>(
    pair: &Pair<REGISTERS>,
    unused: &mut [u64; REGISTERS],
    places: &mut [u8],
) -> [Pivot<REGISTERS>; 2] {
    let [a, mut b] = PARTS.map(|part| {
        let part = _mm512_set1_epi64(part as i64);
        pair.map(|pair| _mm512_gf2p8affine_epi64_epi8::<0>(pair, part))
    });
    let mut first = pivot(&a, unused, &mut places[0]);
    let entry = select_byte(&b, first.place);
    for (b, g) in b.iter_mut().zip(first.g) {
        *b = _mm512_xor_si512(*b, _mm512_gf2p8mul_epi8(g, entry));
    }
    let second = pivot(&b, unused, &mut places[1]);
    // The second pivot also adds to what the first one has added in the second one's row.
    let entry = select_byte(&first.g, second.place);
    for (first, g) in first.g.iter_mut().zip(second.g) {
        *first = _mm512_xor_si512(*first, _mm512_gf2p8mul_epi8(g, entry));
    }
    [first, second]
}

/// The pivot of a column of elements of the subfield.
#[inline]
#[target_feature(enable = "bmi1,avx512f,avx512bw,avx512vbmi,gfni")]
fn pivot<const REGISTERS: usize>(
    column: &Pair<REGISTERS>,
    unused: &mut [u64; REGISTERS],
    place: &mut u8,
) -> Pivot<REGISTERS> {
    let mut g = *column;
    let mut byte = 0;
    let mut none_yet = u64::MAX;
    for n in 0..REGISTERS {
        let candidates = _mm512_test_epi8_mask(column[n], column[n]) & unused[n];
        let first = u64::from(candidates.trailing_zeros());
        let one_hot = candidates & candidates.wrapping_neg() & none_yet;
        byte += first & none_yet;
        none_yet &= (first >> 6).wrapping_neg();
        unused[n] ^= one_hot;
        g[n] = _mm512_xor_si512(g[n], _mm512_maskz_mov_epi8(one_hot, _mm512_set1_epi8(1)));
    }
    leak(Leak::Solver, none_yet as u8);
    *place = byte as u8;
    let place = _mm512_set1_epi8(byte as i8);
    let inverse = _mm512_maskz_permutexvar_epi8(!none_yet, select_byte(column, place), load_low(&INVERSES));
    Pivot { place, g: g.map(|g| _mm512_gf2p8mul_epi8(g, inverse)) }
}

/// Adds to a pair what two pivots make of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn eliminate<const REGISTERS: usize>(pair: &mut Pair<REGISTERS>, pivots: &[Pivot<REGISTERS>; 2]) {
    let [first, second] = pivots.each_ref().map(|pivot| select_byte(pair, pivot.place));
    for (pair, (g, h)) in pair.iter_mut().zip(pivots[0].g.into_iter().zip(pivots[1].g)) {
        let sum = _mm512_xor_si512(_mm512_gf2p8mul_epi8(g, first), _mm512_gf2p8mul_epi8(h, second));
        *pair = _mm512_xor_si512(*pair, sum);
    }
}

/// The bytes of a pair at the given places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn select_byte<const REGISTERS: usize>(pair: &Pair<REGISTERS>, places: __m512i) -> __m512i {
    let [first, second, third] = [0, 1, 2].map(|n| pair[n.min(REGISTERS - 1)]);
    if REGISTERS == 1 {
        return _mm512_permutexvar_epi8(places, first);
    }
    // MemorySanitizer reports secret indices of vpermi2, but can follow two permutations and a
    // blend.
    let of_two = if cfg!(aioli_ct = "msan") {
        let is_second = _mm512_test_epi8_mask(places, _mm512_set1_epi8(64));
        let [first, second] = [first, second].map(|half| _mm512_permutexvar_epi8(places, half));
        _mm512_mask_blend_epi8(is_second, first, second)
    } else {
        _mm512_permutex2var_epi8(first, places, second)
    };
    if REGISTERS == 2 {
        return of_two;
    }
    let is_third = _mm512_movepi8_mask(places);
    _mm512_mask_blend_epi8(is_third, of_two, _mm512_permutexvar_epi8(places, third))
}

/// The first 64 bytes, with zeros behind the last if `bytes` has fewer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_low(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask lets through no more bytes than the slice has.
    unsafe { _mm512_maskz_loadu_epi8(lowest_bits(bytes.len()), bytes.as_ptr().cast()) }
}

const _: () = assert!(MAX_EQUATIONS <= 64 * 3, "the widest form has three registers");

/// Pairs of columns of A.
const MAX_PAIRS: usize = MAX_UNKNOWNS.div_ceil(2);
/// Bytes of the whole registers that hold one byte for each column of all pairs.
const ROUNDED: usize = (2 * MAX_PAIRS).next_multiple_of(64);

/// The product in the field of `vgf2p8mulb`: GF(2)\[x\] modulo x^8 + x^4 + x^3 + x + 1.
const fn multiply(a: u8, b: u8) -> u8 {
    let mut multiple = a;
    let mut sum = 0;
    let mut bit = 0;
    while bit < 8 {
        sum ^= multiple * (b >> bit & 1);
        multiple = (multiple << 1) ^ (0x1b * (multiple >> 7));
        bit += 1;
    }
    sum
}

/// α in GF(256): a root of the polynomial of GF(16), x^4 + x + 1.
const ALPHA: u8 = 0x5c;
const _: () = assert!(embed(gf16::mul(8, 2)) == multiply(embed(8), ALPHA), "a root of the polynomial of GF(16)");

/// w, which is not in the subfield.
const W: u8 = 2;

/// The element of the subfield for an element of GF(16).
const fn embed(element: u8) -> u8 {
    let square = multiply(ALPHA, ALPHA);
    let [bit0, bit1, bit2, bit3] = [element & 1, element >> 1 & 1, element >> 2 & 1, element >> 3];
    bit0 ^ (ALPHA * bit1) ^ (square * bit2) ^ (multiply(square, ALPHA) * bit3)
}

/// Two nibbles (a, b) joined: a + w b.
const fn joined(nibbles: u8) -> u8 {
    embed(nibbles & 15) ^ multiply(W, embed(nibbles >> 4))
}

/// The bit matrix of [`joined`].
const JOIN: u64 = {
    let mut matrix = 0;
    let mut bit = 0;
    while bit < 8 {
        matrix |= column(joined(1 << bit), bit);
        bit += 1;
    }
    matrix
};

/// The bit matrices that map a + w b to a and to b.
const PARTS: [u64; 2] = {
    let mut matrices = [0; 2];
    let mut nibbles = 0;
    while nibbles < 256 {
        let from = joined(nibbles as u8);
        if from.is_power_of_two() {
            matrices[0] |= column(embed(nibbles as u8 & 15), from.trailing_zeros());
            matrices[1] |= column(embed(nibbles as u8 >> 4), from.trailing_zeros());
        }
        nibbles += 1;
    }
    matrices
};

/// The part of a bit matrix, as `vgf2p8affineqb` takes it, that maps bit `from` to `image`.
const fn column(image: u8, from: u32) -> u64 {
    let mut matrix = 0;
    let mut to = 0;
    while to < 8 {
        // Output bit `to` is the parity of the input under byte 7 - `to`.
        matrix |= ((image >> to & 1) as u64) << (8 * (7 - to) + from);
        to += 1;
    }
    matrix
}

/// The inverse in the subfield, by the low six bits of an element; zero for zero.
const INVERSES: [u8; 64] = by_low_bits(true);
/// The element of GF(16), by the low six bits of its element of the subfield.
const ELEMENTS: [u8; 64] = by_low_bits(false);

const fn by_low_bits(inverse: bool) -> [u8; 64] {
    let mut table = [0; 64];
    let mut element = 1;
    while element < 16 {
        let entry = &mut table[(embed(element) & 63) as usize];
        assert!(*entry == 0, "elements of the subfield differ in their low six bits");
        *entry = if inverse { embed(gf16::inverse(element)) } else { element };
        element += 1;
    }
    table
}
