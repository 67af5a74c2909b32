//! Products with P by tables of products, which elements of P may address: P is public.
//!
//! Two rows of P at a time have a table with an entry for each pair of elements, a of one row and b
//! of the other. Nibble j of the entry is a times its coefficient in row j of `left` plus b times
//! its coefficient. So a sum of entries is a column of the result, eight rows of `left` in a word.
//! One look-up multiplies and adds two elements for all of them. The sums stay in the window until
//! all rows are added; then transpositions turn columns into rows.
//!
//! The window holds the sums of some columns and the bytes of two rows of P in these columns. A
//! counter lets each row be expanded from these columns on, so expanding P in parts costs little
//! more than expanding it at once.

use crate::backend::armv7em::aes128_ctr::Stream;
use crate::gf16;
use crate::memory::wipe;
use crate::packed::{self, Coefficients, Operand};
use crate::stream::StreamPart;
use core::ops::Range;

/// `out += left right` where `right` is a part of a stream; false if the window is too small for
/// tables.
pub(super) fn left_product_of_stream(
    left: Coefficients<'_>,
    key: &[u8; 16],
    part: &StreamPart,
    window: &mut [u8],
    out: &mut [u8],
    stride: usize,
) -> bool {
    // SAFETY: any bytes are valid words.
    let (_, window, _) = unsafe { window.align_to_mut::<u32>() };
    let Some(width) = width(window.len(), Split::of(left.rows()).words()) else { return false };
    let mut stream = Stream::new(key, &[0; 16]);
    let expand = |bytes: Range<usize>, at: usize, buffer: &mut [u32]| {
        let block = bytes.start / 16;
        stream.fill(block as u64, &mut buffer[at..at + 4 * (bytes.end.div_ceil(16) - block)]);
        4 * at + bytes.start % 16
    };
    left_product(left, part, (width, window), expand, out, stride);
    true
}

/// `out += left right` where `right` is public and in memory; false if its rows are too few or too
/// short for tables.
pub(super) fn left_product_of_rows(left: Coefficients<'_>, right: Operand<'_>, out: &mut [u8], stride: usize) -> bool {
    if right.count() < MIN_ROWS || right.row_bytes() < MIN_WIDTH {
        return false;
    }
    let mut memory = [0; ON_STACK];
    let Some(width) = width(memory.len(), Split::of(left.rows()).words()) else { return false };
    let part = StreamPart::new(0, right.row_bytes(), right.step(), right.count(), 0..right.row_bytes());
    let copy = |bytes: Range<usize>, at: usize, buffer: &mut [u32]| {
        bytes_of(buffer)[4 * at..][..bytes.len()].copy_from_slice(&right.bytes()[bytes]);
        4 * at
    };
    left_product(left, &part, (width, &mut memory), copy, out, stride);
    true
}

/// The rows of `left` in two parts: up to 16 rows with entries of two words, then up to 8 with
/// entries of one word.
#[derive(Clone, Copy)]
struct Split {
    wide: usize,
    narrow: usize,
}

impl Split {
    fn of(rows: usize) -> Self {
        let wide = rows.min(if rows > 8 { 16 } else { 0 });
        Self { wide, narrow: rows - wide }
    }

    fn words(self) -> usize {
        2 * usize::from(self.wide > 0) + usize::from(self.narrow > 0)
    }
}

/// `out += left right`, with `width` columns at a time and memory for them.
///
/// `fetch` brings a range of the stream's bytes into a buffer. It writes them from the given word
/// on or a few bytes later, and returns the byte where they begin.
fn left_product(
    left: Coefficients<'_>,
    part: &StreamPart,
    (width, memory): (usize, &mut [u32]),
    mut fetch: impl FnMut(Range<usize>, usize, &mut [u32]) -> usize,
    out: &mut [u8],
    stride: usize,
) {
    let split @ Split { wide, narrow } = Split::of(left.rows());
    let width = width.min(part.width().next_multiple_of(4));
    let (secret, memory) = memory.split_at_mut((TABLE + 2 * width) * split.words());
    let (row_a, row_b) = memory.split_at_mut(width / 4 + SLACK);
    let (wide_part, narrow_part) = secret.split_at_mut(if wide > 0 { 2 * (TABLE + 2 * width) } else { 0 });
    let (wide_table, wide_sums) = wide_part.split_at_mut(if wide > 0 { 2 * TABLE } else { 0 });
    let (narrow_table, narrow_sums) = narrow_part.split_at_mut(if narrow > 0 { TABLE } else { 0 });
    for from in (0..part.width()).step_by(width) {
        let part = part.columns_in(from, width);
        wide_sums.fill(0);
        narrow_sums.fill(0);
        for i in (0..part.count()).step_by(2) {
            // Both rows are taken from the word of columns in which the first of them begins.
            let begin = part.column(i) & !3;
            let a = place(&mut fetch, &part, i, begin, row_a);
            let (b, left_b) = match i + 1 < part.count() {
                true => (place(&mut fetch, &part, i + 1, begin, row_b), left.of_row(i + 1)),
                // Without a second row the first is taken twice, with no coefficients the second
                // time.
                false => (a, &[][..]),
            };
            let words = (part.width().next_multiple_of(4) - begin) / 4;
            let left_a = left.of_row(i);
            if wide > 0 {
                fill_table::<2>(wide_table, &left_a[..wide], &left_b[..wide.min(left_b.len())]);
                let sums = &mut wide_sums[4 * begin..][..16 * words];
                // SAFETY: `place` returned pointers to `4 * words` bytes. The sums have 8 * words
                // entries, and sums and table two words an entry. `words` is not zero, as a part
                // has columns.
                unsafe { aioli_armv7em_look_up_2(sums.as_mut_ptr(), a, b, wide_table.as_ptr(), words as u32) };
            }
            if narrow > 0 {
                fill_table::<1>(narrow_table, &left_a[wide..], &left_b[wide.min(left_b.len())..]);
                let sums = &mut narrow_sums[2 * begin..][..8 * words];
                // SAFETY: as above, with one word an entry.
                unsafe { aioli_armv7em_look_up_1(sums.as_mut_ptr(), a, b, narrow_table.as_ptr(), words as u32) };
            }
        }
        let out = &mut out[from..];
        add_columns::<2>(wide_sums, wide, part.width(), out, stride);
        if narrow > 0 {
            add_columns::<1>(narrow_sums, narrow, part.width(), &mut out[wide * stride..], stride);
        }
    }
    wipe(secret);
}

unsafe extern "C" {
    fn aioli_armv7em_look_up_1(sums: *mut u32, row_a: *const u8, row_b: *const u8, table: *const u32, words: u32);
    fn aioli_armv7em_look_up_2(sums: *mut u32, row_a: *const u8, row_b: *const u8, table: *const u32, words: u32);
    fn aioli_armv7em_double_table(table: *mut u32, known: u32, even: u32, odd: u32);
    fn aioli_armv7em_add_columns(sums: *const u32, entry: u32, out: *mut u8, stride: u32, rows: u32, words: u32);
}

/// The columns, in bytes, for which a window of that many words has room beside tables with `words`
/// words an entry.
fn width(window: usize, words: usize) -> Option<usize> {
    // Four bytes of columns take eight entries, and a word of each of two rows.
    let width = 4 * (window.checked_sub(TABLE * words + 2 * SLACK)? / (8 * words + 2));
    (width >= MIN_WIDTH).then_some(width)
}

/// Entries of a table: pairs of elements.
const TABLE: usize = 256;
/// Rows of `right` below which the tables cost more than they save.
const MIN_ROWS: usize = 4;
/// Columns below which the tables cost more than they save.
const MIN_WIDTH: usize = 64;
/// Words of memory for a `right` in memory: 224 columns with entries of two words.
const ON_STACK: usize = 2 * TABLE + 4 * 224 + 2 * (224 / 4 + SLACK);
/// Words of a row's buffer beyond its columns: they complete its first and last block, and its
/// first word.
const SLACK: usize = 9;

/// Fetches row `i` of a part; returns a pointer to column `begin` in the buffer.
///
/// The columns from there to the row's first one are zero, and the bytes reach to the end of the
/// last word of columns.
fn place(
    fetch: &mut impl FnMut(Range<usize>, usize, &mut [u32]) -> usize,
    part: &StreamPart,
    i: usize,
    begin: usize,
    buffer: &mut [u32],
) -> *const u8 {
    let column = part.column(i);
    let row = fetch(part.bytes(i), column.div_ceil(4), buffer);
    let from_begin = &mut bytes_of(buffer)[row - (column - begin)..];
    from_begin[..column - begin].fill(0);
    from_begin[..part.width().next_multiple_of(4) - begin].as_ptr()
}

fn bytes_of(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: any words are valid bytes, and any bytes valid words.
    unsafe { words.align_to_mut::<u8>().1 }
}

/// `table[a | b << 4]` becomes a times each coefficient in `left_a` plus b times each in `left_b`,
/// eight of them in each of `WORDS` words.
#[inline(never)]
fn fill_table<const WORDS: usize>(table: &mut [u32], left_a: &[u8], left_b: &[u8]) {
    assert!(table.len() == TABLE * WORDS);
    table[..WORDS].fill(0);
    for (half, coefficients) in [left_a, left_b].into_iter().enumerate() {
        let packed = coefficients.iter().rfold(0, |word, &c| word << 4 | u64::from(c));
        for (bit, multiple) in gf16::multiples(packed).into_iter().enumerate() {
            let words = [multiple as u32, (multiple >> (32 * (WORDS - 1))) as u32];
            let known = WORDS << (4 * half + bit);
            if known >= 8 {
                // SAFETY: `known` is a power of two and at least 8, and at most half the words of
                // the table.
                unsafe { aioli_armv7em_double_table(table.as_mut_ptr(), known as u32, words[0], words[1]) };
            } else {
                let (known, new) = table.split_at_mut(known);
                for (i, (new, known)) in new.iter_mut().zip(known).enumerate() {
                    *new = *known ^ words[i % 2];
                }
            }
        }
    }
}

/// Adds to `rows` rows of `out` the first `width` bytes of the sums, which are columns.
fn add_columns<const WORDS: usize>(sums: &[u32], rows: usize, width: usize, out: &mut [u8], stride: usize) {
    let words = width / 4;
    for (w, first) in (0..rows).step_by(8).enumerate() {
        let rows = 8.min(rows - first);
        let out = &mut out[first * stride..];
        assert!(out.len() >= (rows - 1) * stride + width && sums.len() >= 2 * WORDS * width);
        if words > 0 {
            let sums = sums[w..].as_ptr();
            let entry = 4 * WORDS as u32;
            // SAFETY: `rows` rows of `4 * words <= width` bytes and two entries a byte are there,
            // as asserted above.
            unsafe {
                aioli_armv7em_add_columns(sums, entry, out.as_mut_ptr(), stride as u32, rows as u32, words as u32);
            }
        }
        if !width.is_multiple_of(4) {
            // The last bytes go by way of a whole word.
            let mut last = [[0; 4]; 8];
            let sums = &sums[8 * WORDS * words + w..];
            assert!(sums.len() > 7 * WORDS);
            // SAFETY: there are eight entries, the last of one word at least, and eight rows of a
            // word.
            unsafe {
                aioli_armv7em_add_columns(sums.as_ptr(), 4 * WORDS as u32, last.as_mut_ptr().cast(), 4, rows as u32, 1);
            }
            for (j, last) in last[..rows].iter().enumerate() {
                packed::add(&mut out[j * stride..][4 * words..width], &last[..width % 4]);
            }
            wipe(last.as_flattened_mut());
        }
    }
}
