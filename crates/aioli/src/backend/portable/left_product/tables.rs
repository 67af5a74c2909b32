//! The left product by tables, for a public `right`.
//!
//! One look-up multiplies two elements, of the same column in two rows, by the coefficients of all
//! rows of `left`.
//!
//! The index is a byte of both elements. Nibble j of the entry is the sum of their products with
//! the two coefficients of row j of `left`. So a sum of entries is a column of the result, and
//! columns become rows at the end. The address depends on `right`, which is public; the secret is
//! in the table. A byte of `right` costs one look-up for up to 32 rows of `left`, and two rows of
//! it one table for every `SPAN` bytes.
//!
//! A look-up takes 1.75 accesses to memory: the entry, half of a load for the indices of two
//! columns, and an eighth of loading and of storing the sum. The sum stays in a register for
//! [`GROUP`] tables. Vector instructions make the indices, for so few columns that these are still
//! in L1 when they are used.

use crate::ct;
use crate::gf16;
use crate::memory::{Aligned, wipe};
use crate::packed::{Coefficients, Operand, Output};
use core::ops::Range;

/// The left product by tables.
pub(super) fn left_product<E: Entry, const SPAN: usize>(
    left: Coefficients<'_>,
    right: Operand<'_>,
    mut out: Output<'_>,
) {
    columns_of_product::<E, SPAN>(left, right, |sums, columns| {
        write_columns::<_, SPAN, BLOCK>(sums, left.rows(), columns.len(), out.from_column(columns.start));
    });
}

/// Computes `left right` by tables, in columns, and hands them to `use_sums`.
///
/// Each call gets the columns of low and those of high nibbles, at most `SPAN` of each, and the
/// range of bytes to which they belong.
#[inline(never)]
fn columns_of_product<E: Entry, const SPAN: usize>(
    left: Coefficients<'_>,
    right: Operand<'_>,
    mut use_sums: impl FnMut(&[[E; SPAN]; 2], Range<usize>),
) {
    // Sums and indices are for the columns of low nibbles and for those of high nibbles.
    let Aligned(sums) = &mut const { Aligned([[E::ZERO; SPAN]; 2]) };
    let Aligned(indices) = &mut const { Aligned([[[[0; RUN]; CHUNK / RUN]; GROUP]; 2]) };
    let Aligned(tables) = &mut const { Aligned([[E::ZERO; TABLE]; GROUP]) };
    for span in (0..right.row_bytes()).step_by(SPAN) {
        let end = right.row_bytes().min(span + SPAN);
        if span > 0 {
            for sums in &mut *sums {
                sums[..end - span].fill(E::ZERO);
            }
        }
        let reaching = (0..right.count()).take_while(|i| i * right.step() < end).count();
        for first in (0..reaching).step_by(2 * GROUP) {
            let group: [_; 2 * GROUP] = core::array::from_fn(|g| match first + g {
                i if i < reaching => right.row(i),
                _ => &[],
            });
            for (i, table) in (first..reaching).step_by(2).zip(&mut *tables) {
                fill_table(table, left.of_row(i), if i + 1 < reaching { left.of_row(i + 1) } else { &[] });
            }
            let begin = (first * right.step()).saturating_sub(span);
            for begin in (span + begin / RUN * RUN..end).step_by(CHUNK) {
                let end = end.min(begin + CHUNK);
                let parts =
                    group.as_chunks().0.iter().map(|rows_of_pair| rows_of_pair.map(|row| right.part(row, begin..end)));
                let [low, high] = &mut *indices;
                let mut begins = [0; GROUP];
                for (((low, high), begins), [a, b]) in low.iter_mut().zip(high).zip(&mut begins).zip(parts) {
                    let low = &mut low.as_flattened_mut()[..end - begin];
                    *begins = pair_up(low, high.as_flattened_mut(), a, b) / RUN;
                }
                for (sums, indices) in sums.iter_mut().zip(&*indices) {
                    let sums = &mut sums[begin - span..].as_chunks_mut().0;
                    add_looked_up(&mut sums[..(end - begin).div_ceil(RUN)], indices, tables, &begins);
                }
            }
        }
        use_sums(sums, span..end);
    }
    for sums in sums {
        wipe(&mut sums[..right.row_bytes().next_multiple_of(RUN).min(SPAN)]);
    }
    wipe(tables.as_flattened_mut());
}

/// Makes the indices of low and of high nibbles from the bytes of two rows, which end with the last
/// column.
///
/// Where the shorter row `b` has no byte, its elements are zero. Returns the first column of `a`.
/// If its number is odd, the column before gets the index of two zeros.
fn pair_up(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) -> usize {
    let begin = low.len() - a.len();
    let high = &mut high[..low.len()];
    for column in begin / RUN * RUN..begin {
        low[column] = 0;
        high[column] = 0;
    }
    let (alone, a) = a.split_at(a.len() - b.len());
    let both = begin + alone.len();
    if !alone.is_empty() {
        pair(&mut low[begin..both], &mut high[begin..both], alone, &[0; CHUNK][..alone.len()]);
    }
    pair(&mut low[both..], &mut high[both..], a, b);
    begin
}

/// Makes the indices of two rows' bytes in the same columns; all four slices have one length.
///
/// Vectors are written at multiples of 16 bytes, but for the first and the last ones. A step writes
/// two: a shorter loop takes 1.4 times as long if it lies badly among the cache lines of code. The
/// function is a call of its own, as the many variables of its callers would take its registers.
#[inline(never)]
fn pair(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) {
    const STEP: usize = 32;
    let Some(last) = a.len().checked_sub(STEP) else { return pair_chunk(low, high, a, b) };
    // `high` is aligned as `low` is: both are the same place in arrays that begin at multiples of
    // 16. The minimum is for `align_offset`, which may give up.
    let aligned = low.as_ptr().align_offset(16).min(STEP);
    // The first and the last step, which overlap those between them.
    for (begin, needed) in [(0, aligned > 0), (last, !(a.len() - aligned).is_multiple_of(STEP))] {
        if needed {
            pair_chunk(&mut low[begin..][..STEP], &mut high[begin..][..STEP], &a[begin..][..STEP], &b[begin..][..STEP]);
        }
    }
    let [(low, _), (high, _)] = [low, high].map(|indices| indices[aligned..].as_chunks_mut::<STEP>());
    let [(a, _), (b, _)] = [a, b].map(|row| row[aligned..].as_chunks::<STEP>());
    for (((low, high), a), b) in low.iter_mut().zip(high).zip(a).zip(b) {
        pair_chunk(low, high, a, b);
    }
}

/// Does the same for a few columns, inlined into the caller's loop.
#[inline(always)]
fn pair_chunk(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) {
    for (((low, high), a), b) in low.iter_mut().zip(high).zip(a).zip(b) {
        // Exchanges the high nibble of a with the low one of b.
        let swap = (a >> 4 ^ b) & 15;
        *low = a ^ swap << 4;
        *high = b ^ swap;
    }
}

/// Adds to each sum the entries of the tables at its indices.
///
/// Table n has entries for the runs of columns from `begins[n]` on. These numbers ascend, so the
/// runs from one of them to the next use the tables up to it.
fn add_looked_up<E: Entry>(
    sums: &mut [[E; RUN]],
    indices: &[[[u8; RUN]; CHUNK / RUN]],
    tables: &[[E; TABLE]],
    begins: &[usize],
) {
    let mut end = sums.len();
    for (n, &begin) in begins.iter().enumerate().rev() {
        if begin < end {
            let sums = &mut sums[..end];
            match n + 1 {
                1 => add_group::<E, 1>(sums, indices, tables, begin),
                2 => add_group::<E, 2>(sums, indices, tables, begin),
                3 => add_group::<E, 3>(sums, indices, tables, begin),
                4 => add_group::<E, 4>(sums, indices, tables, begin),
                5 => add_group::<E, 5>(sums, indices, tables, begin),
                6 => add_group::<E, 6>(sums, indices, tables, begin),
                7 => add_group::<E, 7>(sums, indices, tables, begin),
                _ => add_group::<E, GROUP>(sums, indices, tables, begin),
            }
            end = begin;
        }
    }
}

/// Adds the entries of the first `TABLES` tables, from the run `begin` on.
#[inline(never)]
fn add_group<E: Entry, const TABLES: usize>(
    sums: &mut [[E; RUN]],
    indices: &[[[u8; RUN]; CHUNK / RUN]],
    tables: &[[E; TABLE]],
    begin: usize,
) {
    let tables = tables.first_chunk::<TABLES>();
    let (indices, tables) = indices.first_chunk::<TABLES>().zip(tables).expect("no more tables than a group has");
    for j in begin..sums.len().min(CHUNK / RUN) {
        let mut sum = [E::ZERO; RUN];
        for (n, (indices, table)) in indices.iter().zip(tables).enumerate() {
            // One load for all indices of the run.
            let index = usize::from(u16::from_le_bytes(indices[j]));
            // x86-64 has no addressing mode that multiplies by 16. Entries of 16 bytes are looked
            // up from one address for all tables, as an address for each would take too many
            // registers.
            let entry = |i: usize| if size_of::<E>() > 8 { tables.as_flattened()[n * TABLE + i] } else { table[i] };
            sum = [sum[0] ^ entry(index & 0xff), sum[1] ^ entry(index >> 8)];
        }
        // The old sum is added last, so that the first entries are loaded and not added.
        sums[j] = [sums[j][0] ^ sum[0], sums[j][1] ^ sum[1]];
    }
}

/// `table[a | b << 4]` becomes a times each coefficient in `left_a` plus b times each in `left_b`.
#[inline(never)]
fn fill_table<E: Entry>(table: &mut [E; TABLE], left_a: &[u8], left_b: &[u8]) {
    let mut bits = [E::ZERO; 8];
    for (bits, coefficients) in bits.as_chunks_mut::<4>().0.iter_mut().zip([left_a, left_b]) {
        let mut words = [0; 2];
        for (word, coefficients) in words.iter_mut().zip(coefficients.chunks(16)) {
            *word = coefficients.iter().rfold(0, |word, &c| word << 4 | u64::from(c));
        }
        let [low, high] = words.map(gf16::multiples);
        *bits = core::array::from_fn(|b| E::new([low[b], high[b]]));
    }
    let mut sums = [[E::ZERO; 16]; 2];
    for (sums, bits) in sums.iter_mut().zip(bits.as_chunks::<4>().0) {
        for (b, &bit) in bits.iter().enumerate() {
            for e in 0..1 << b {
                sums[e | 1 << b] = sums[e] ^ bit;
            }
        }
    }
    // The barrier puts the sums in memory, from where they are loaded into vector registers.
    let [a, b] = ct::barrier(&sums);
    for (table, &b) in table.as_chunks_mut::<16>().0.iter_mut().zip(b) {
        for (entry, &a) in table.iter_mut().zip(a) {
            *entry = a ^ b;
        }
    }
    wipe(&mut bits);
    wipe(sums.as_flattened_mut());
}

/// Writes the columns of low and of high nibbles to `rows` rows of `out`, `width` bytes a row.
///
/// A step takes `COLUMNS` columns and eight rows. A word of low nibbles and one of high nibbles
/// become a word of bytes for the even rows and one for the odd rows. Halving these twice gives the
/// rows.
#[inline(never)]
fn write_columns<E: Entry, const SPAN: usize, const COLUMNS: usize>(
    [low, high]: &[[E; SPAN]; 2],
    rows: usize,
    width: usize,
    mut out: Output<'_>,
) {
    const { assert!(SPAN.is_multiple_of(COLUMNS), "a whole number of blocks") };
    let mut words = [[0; COLUMNS]; 2];
    let mut halves = [[0; COLUMNS]; 2];
    let mut bytes = [[0; COLUMNS]; 2];
    let low = low.as_chunks::<COLUMNS>().0;
    let high = high.as_chunks::<COLUMNS>().0;
    for ((column, low), high) in (0..width).step_by(COLUMNS).zip(low).zip(high) {
        let width = COLUMNS.min(width - column);
        for first in (0..rows).step_by(8) {
            let [even, odd] = &mut words;
            for (((even, odd), low), high) in even.iter_mut().zip(odd).zip(low).zip(high) {
                let low = low.nibbles(first / 8);
                let high = high.nibbles(first / 8);
                // Exchanges the high nibbles of the low column with the low nibbles of the high
                // one.
                let swap = (low >> 4 ^ high) & 0x0f0f_0f0f;
                *even = low ^ swap << 4;
                *odd = high ^ swap;
            }
            for (parity, words) in words.iter().enumerate() {
                split(words, &mut halves, |word| [word as u16, (word >> 16) as u16]);
                for (half, halves) in halves.iter().enumerate() {
                    split(halves, &mut bytes, |half| [half as u8, (half >> 8) as u8]);
                    for (i, bytes) in bytes.iter().enumerate() {
                        let row = first + 4 * half + 2 * i + parity;
                        if row < rows {
                            out.write(row * out.stride + column, &bytes[..width]);
                        }
                    }
                }
            }
        }
    }
    wipe(words.as_flattened_mut());
    wipe(halves.as_flattened_mut());
    wipe(bytes.as_flattened_mut());
}

/// Splits values: the first parts go to one array, the second parts to another.
#[inline(always)]
fn split<T: Copy, U, const N: usize>(values: &[T; N], [first, second]: &mut [[U; N]; 2], parts: impl Fn(T) -> [U; 2]) {
    for ((first, second), &value) in first.iter_mut().zip(second).zip(values) {
        [*first, *second] = parts(value);
    }
}

/// An entry of a table: one nibble for each row of `left`.
pub(super) trait Entry: Copy + Default + core::ops::BitXor<Output = Self> {
    /// Zero, for arrays that are constants: other arrays are filled elsewhere and then copied.
    const ZERO: Self;

    /// The entry with the nibbles of rows 0 to 15 and 16 to 31; nibbles that have no place in it
    /// are zero.
    fn new(words: [u64; 2]) -> Self;
    /// The nibbles of rows `8 * index` to `8 * index + 7`.
    fn nibbles(self, index: usize) -> u32;
}

impl Entry for u32 {
    const ZERO: Self = 0;

    fn new([low, _]: [u64; 2]) -> Self {
        low as Self
    }

    #[inline(always)]
    fn nibbles(self, _: usize) -> u32 {
        self
    }
}

impl Entry for u64 {
    const ZERO: Self = 0;

    fn new([low, _]: [u64; 2]) -> Self {
        low
    }

    #[inline(always)]
    fn nibbles(self, index: usize) -> u32 {
        (self >> (32 * (index % 2))) as u32
    }
}

/// Two words, aligned for vector instructions.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
pub(super) struct Pair([u64; 2]);

impl core::ops::BitXor for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl Entry for Pair {
    const ZERO: Self = Self([0; 2]);

    fn new(words: [u64; 2]) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn nibbles(self, index: usize) -> u32 {
        self.0[index / 2].nibbles(index)
    }
}

/// Columns whose sums are held at once, for up to eight rows of `left`: a row of MAYO_1's P1 has
/// 3200.
pub(super) const WIDE: usize = 3328;
/// Entries of a table: one for each byte.
pub(super) const TABLE: usize = 256;
/// Tables in use together.
const GROUP: usize = 8;
/// Columns whose sums are in registers together.
const RUN: usize = 2;
/// Columns whose indices are made together. With a power of two, the indices of low and of high
/// nibbles, which are written together, would share the low bits of their addresses.
const CHUNK: usize = 608;
/// Columns that become rows together.
const BLOCK: usize = 128;
