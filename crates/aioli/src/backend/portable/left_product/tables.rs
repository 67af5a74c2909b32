//! The left product by tables, for public operands: one look-up multiplies two elements, which stand in the same column
//! of two rows, by the coefficients of all rows of X.
//!
//! The index is the byte of both elements; the entry has in nibble r the sum of their products with the two
//! coefficients of row r of X. So a sum of entries is a column of the result, and columns become rows in the end. The
//! address depends on the operand, which is public; what is secret is in the table. A byte of the operand costs one
//! look-up, for up to 32 rows of X, and two rows of it one table for every `SPAN` bytes.
//!
//! A look-up takes 1.75 accesses to memory: the entry, half of a load that brings the indices of two columns, and an
//! eighth of loading and of storing the sum, which stays in a register for [`GROUP`] tables. Indices are made with
//! vector instructions, for so few columns that they are still in L1 when they are used.

use crate::ct;
use crate::gf16;
use crate::memory::Aligned;
use crate::packed::{Coefficients, Operand};
use core::ops::Range;

/// `out += X R` by tables.
pub(super) fn left_product<E: Entry, const SPAN: usize>(
    x: Coefficients<'_>,
    rows: Operand<'_>,
    out: &mut [u8],
    stride: usize,
) {
    columns_of_product::<E, SPAN>(x, rows, |sums, columns| {
        add_columns::<_, SPAN, BLOCK>(sums, x.rows(), columns.len(), &mut out[columns.start..], stride);
    });
}

/// X R by tables, in columns: hands those of low and those of high nibbles to `use_sums`, at most `SPAN` at a time, and
/// says of which bytes they are.
#[inline(never)]
pub(super) fn columns_of_product<E: Entry, const SPAN: usize>(
    x: Coefficients<'_>,
    rows: Operand<'_>,
    mut use_sums: impl FnMut(&[[E; SPAN]; 2], Range<usize>),
) {
    // For the columns of low and those of high nibbles.
    let Aligned(sums) = &mut const { Aligned([[E::ZERO; SPAN]; 2]) };
    let Aligned(indices) = &mut const { Aligned([[[[0; RUN]; CHUNK / RUN]; GROUP]; 2]) };
    let Aligned(tables) = &mut const { Aligned([[E::ZERO; TABLE]; GROUP]) };
    for span in (0..rows.row_bytes()).step_by(SPAN) {
        let end = rows.row_bytes().min(span + SPAN);
        if span > 0 {
            for sums in &mut *sums {
                sums[..end - span].fill(E::ZERO);
            }
        }
        let reaching = (0..rows.count()).take_while(|i| i * rows.step() < end).count();
        for first in (0..reaching).step_by(2 * GROUP) {
            let group: [_; 2 * GROUP] = core::array::from_fn(|g| match first + g {
                i if i < reaching => rows.row(i),
                _ => &[],
            });
            for (i, table) in (first..reaching).step_by(2).zip(&mut *tables) {
                fill_table(table, x.of_row(i), if i + 1 < reaching { x.of_row(i + 1) } else { &[] });
            }
            let begin = (first * rows.step()).saturating_sub(span);
            for begin in (span + begin / RUN * RUN..end).step_by(CHUNK) {
                let end = end.min(begin + CHUNK);
                let parts =
                    group.as_chunks().0.iter().map(|rows_of_pair| rows_of_pair.map(|row| rows.part(row, begin..end)));
                let [low, high] = &mut *indices;
                let mut begins = [0; GROUP];
                for (((low, high), begins), [a, b]) in low.iter_mut().zip(high).zip(&mut begins).zip(parts) {
                    let (low, high) = (&mut low.as_flattened_mut()[..end - begin], high.as_flattened_mut());
                    *begins = pair_up(low, high, a, b) / RUN;
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
        crate::memory::wipe(&mut sums[..rows.row_bytes().next_multiple_of(RUN).min(SPAN)]);
    }
    crate::memory::wipe(tables.as_flattened_mut());
}

/// The indices of the last columns, as many as `a` and, of these, `b` have, of low and of high nibbles; returns the
/// first of these columns. If its number is odd, the column before has the index of a zero.
fn pair_up(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) -> usize {
    let begin = low.len() - a.len();
    let high = &mut high[..low.len()];
    for column in begin / RUN * RUN..begin {
        (low[column], high[column]) = (0, 0);
    }
    let (alone, a) = a.split_at(a.len() - b.len());
    let both = begin + alone.len();
    if !alone.is_empty() {
        pair(&mut low[begin..both], &mut high[begin..both], alone, &[0; CHUNK][..alone.len()]);
    }
    pair(&mut low[both..], &mut high[both..], a, b);
    begin
}

/// The indices of two rows' bytes in the same columns, all four of one length.
///
/// In vectors that are written at multiples of 16 bytes, but for the first and the last ones; and two at a time, as a
/// shorter loop takes 1.4 times as long where it lies badly among the lines of code. Apart from its callers, whose many
/// variables would else take its registers.
#[inline(never)]
fn pair(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) {
    const N: usize = 32;
    let Some(last) = a.len().checked_sub(N) else { return pair_chunk(low, high, a, b) };
    // `high` is aligned as `low` is: the same place in arrays that begin at multiples of 16. At most N, as
    // `align_offset` may give up.
    let aligned = low.as_ptr().align_offset(16).min(N);
    // These overlap what is between them.
    for (begin, needed) in [(0, aligned > 0), (last, !(a.len() - aligned).is_multiple_of(N))] {
        if needed {
            pair_chunk(&mut low[begin..][..N], &mut high[begin..][..N], &a[begin..][..N], &b[begin..][..N]);
        }
    }
    let [(low, _), (high, _)] = [low, high].map(|indices| indices[aligned..].as_chunks_mut::<N>());
    let [(a, _), (b, _)] = [a, b].map(|row| row[aligned..].as_chunks::<N>());
    for (((low, high), a), b) in low.iter_mut().zip(high).zip(a).zip(b) {
        pair_chunk(low, high, a, b);
    }
}

/// The same of a few columns, in the caller's loop.
#[inline(always)]
pub(super) fn pair_chunk(low: &mut [u8], high: &mut [u8], a: &[u8], b: &[u8]) {
    for (((low, high), a), b) in low.iter_mut().zip(high).zip(a).zip(b) {
        // The high nibble of a for the low one of b.
        let swap = (a >> 4 ^ b) & 15;
        *low = a ^ swap << 4;
        *high = b ^ swap;
    }
}

/// Adds to each sum what the tables have for its indices, from the run of columns on where those of a table begin;
/// these are in ascending order, so the first tables serve the columns between two of them.
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

#[inline(never)]
fn add_group<E: Entry, const N: usize>(
    sums: &mut [[E; RUN]],
    indices: &[[[u8; RUN]; CHUNK / RUN]],
    tables: &[[E; TABLE]],
    begin: usize,
) {
    let (indices, tables) = (indices.first_chunk::<N>(), tables.first_chunk::<N>());
    let (indices, tables) = indices.zip(tables).expect("no more tables than a group has");
    for j in begin..sums.len().min(CHUNK / RUN) {
        let mut sum = [E::ZERO; RUN];
        for (n, (indices, table)) in indices.iter().zip(tables).enumerate() {
            // All indices by one load.
            let index = usize::from(u16::from_le_bytes(indices[j]));
            // x86-64 has no addressing mode that multiplies by 16: entries of so many bytes are looked up from one
            // address, as those of all tables would take too many registers.
            let entry = |i: usize| if size_of::<E>() > 8 { tables.as_flattened()[n * TABLE + i] } else { table[i] };
            sum = [sum[0] ^ entry(index & 0xff), sum[1] ^ entry(index >> 8)];
        }
        // At last, so that the first entries are loaded and not added.
        sums[j] = [sums[j][0] ^ sum[0], sums[j][1] ^ sum[1]];
    }
}

/// `table[a | b << 4]` becomes a times each coefficient in `x_a` plus b times each in `x_b`.
#[inline(never)]
fn fill_table<E: Entry>(table: &mut [E; TABLE], x_a: &[u8], x_b: &[u8]) {
    let mut bits = [E::ZERO; 8];
    for (bits, coefficients) in bits.as_chunks_mut::<4>().0.iter_mut().zip([x_a, x_b]) {
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
    // From memory, so into vector registers.
    let [a, b] = ct::barrier(&sums);
    for (table, &b) in table.as_chunks_mut::<16>().0.iter_mut().zip(b) {
        for (entry, &a) in table.iter_mut().zip(a) {
            *entry = a ^ b;
        }
    }
    crate::memory::wipe(&mut bits);
    crate::memory::wipe(sums.as_flattened_mut());
}

/// Adds to `rows` rows of `out` the columns of low and of high nibbles, `width` bytes a row.
///
/// By `COLUMNS` columns and by eight rows: from the words of a column of low and of one of high nibbles come those of the
/// bytes of rows of even and of odd number, and of these, halved twice, the rows.
#[inline(never)]
pub(super) fn add_columns<E: Entry, const SPAN: usize, const COLUMNS: usize>(
    [low, high]: &[[E; SPAN]; 2],
    rows: usize,
    width: usize,
    out: &mut [u8],
    stride: usize,
) {
    const { assert!(SPAN.is_multiple_of(COLUMNS), "a whole number of blocks") };
    let mut words = [[0; COLUMNS]; 2];
    let mut halves = [[0; COLUMNS]; 2];
    let mut bytes = [[0; COLUMNS]; 2];
    let (low, high) = (low.as_chunks::<COLUMNS>().0, high.as_chunks::<COLUMNS>().0);
    for ((column, low), high) in (0..width).step_by(COLUMNS).zip(low).zip(high) {
        let width = COLUMNS.min(width - column);
        for first in (0..rows).step_by(8) {
            let [even, odd] = &mut words;
            for (((even, odd), low), high) in even.iter_mut().zip(odd).zip(low).zip(high) {
                let (low, high) = (low.nibbles(first / 8), high.nibbles(first / 8));
                // High nibbles of the low column for low nibbles of the high one.
                let swap = (low >> 4 ^ high) & 0x0f0f_0f0f;
                *even = low ^ swap << 4;
                *odd = high ^ swap;
            }
            for (parity, words) in words.iter().enumerate() {
                split(words, &mut halves, |word| [word as u16, (word >> 16) as u16]);
                for (half, halves) in halves.iter().enumerate() {
                    split(halves, &mut bytes, |half| [half as u8, (half >> 8) as u8]);
                    for (i, bytes) in bytes.iter().enumerate() {
                        let r = first + 4 * half + 2 * i + parity;
                        if r < rows {
                            crate::packed::add(&mut out[r * stride + column..][..width], &bytes[..width]);
                        }
                    }
                }
            }
        }
    }
    crate::memory::wipe(words.as_flattened_mut());
    crate::memory::wipe(halves.as_flattened_mut());
    crate::memory::wipe(bytes.as_flattened_mut());
}

/// Takes values apart: the first parts go to one array, the second ones to another.
#[inline(always)]
fn split<T: Copy, U, const N: usize>(values: &[T; N], [first, second]: &mut [[U; N]; 2], parts: impl Fn(T) -> [U; 2]) {
    for ((first, second), &value) in first.iter_mut().zip(second).zip(values) {
        [*first, *second] = parts(value);
    }
}

/// An entry of a table: one nibble for each row of X.
pub(super) trait Entry: Copy + Default + core::ops::BitXor<Output = Self> {
    /// For arrays that are constants: others are filled elsewhere and copied.
    const ZERO: Self;

    /// From the nibbles of rows 0 to 15 and 16 to 31; those that have no place are zero.
    fn new(words: [u64; 2]) -> Self;
    /// The nibbles of rows `8 * index` to `8 * index + 7`.
    fn nibbles(self, index: usize) -> u32;
}

impl Entry for u32 {
    const ZERO: Self = 0;

    fn new([low, _]: [u64; 2]) -> Self {
        low as u32
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

/// Columns whose sums are held at once, for up to eight rows of X: all of MAYO_1, and what is read behind the last vector
/// where they stay columns.
pub(super) const WIDE: usize = 3328;
/// Entries of a table: one for each byte.
pub(super) const TABLE: usize = 256;
/// Tables in use together.
const GROUP: usize = 8;
/// Columns whose sums are in registers together.
const RUN: usize = 2;
/// Columns whose indices are made together; no power of two, lest the indices of low and of high nibbles, which are
/// written together, share the low bits of their addresses.
const CHUNK: usize = 608;
/// Columns that become rows together.
const BLOCK: usize = 128;
