//! Parts of a matrix of m-vectors that an AES-128-CTR stream contains: P1 and P2 where they are not in memory.

use crate::packed::Operand;
use core::ops::Range;

/// Some columns of a matrix in a stream: the matrix is full or upper triangular as in [`Operand`], and its rows stand in the
/// stream one after another.
#[derive(Clone, Debug)]
pub struct StreamPart {
    start: usize,
    row_bytes: usize,
    step: usize,
    count: usize,
    columns: Range<usize>,
}

impl StreamPart {
    /// Of the matrix that begins at byte `start` of the stream with a row of `row_bytes` bytes, each following row
    /// beginning (and being shorter by) `step` bytes: the first `count` rows, and of them the bytes below the bytes
    /// `columns` of row 0.
    pub fn new(start: usize, row_bytes: usize, step: usize, count: usize, columns: Range<usize>) -> Self {
        assert!(columns.end <= row_bytes && count > 0 && (count - 1) * step < columns.end, "a part of a matrix");
        Self { start, row_bytes, step, count, columns }
    }

    /// How many rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes from the first to the last column.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Where row `i` begins within the part: at 0, or further to the right in a triangle.
    pub fn column(&self, i: usize) -> usize {
        (i * self.step).saturating_sub(self.columns.start)
    }

    /// Where in the stream is what the part has of row `i`.
    pub fn bytes(&self, i: usize) -> Range<usize> {
        let row = self.start + i * self.row_bytes - self.step * (i * i.saturating_sub(1) / 2);
        let begin = row + self.columns.start + self.column(i) - i * self.step;
        begin..row + self.columns.end - i * self.step
    }

    /// Of the same matrix the columns from byte `from` of this part on, at most `width` bytes; and no rows of a triangle
    /// that begin behind them.
    pub fn columns_in(&self, from: usize, width: usize) -> Self {
        let begin = self.columns.start + from;
        let columns = begin..(begin + width).min(self.columns.end);
        let reaching = if self.step == 0 { self.count } else { self.count.min(columns.end.div_ceil(self.step)) };
        Self { count: reaching, columns, ..*self }
    }

    /// How many rows stand in the stream without a gap: all of them, or one.
    pub(crate) fn run(&self) -> usize {
        if self.columns == (0..self.row_bytes) { self.count } else { 1 }
    }

    /// The rows from `first` up to `end`, which stand without a gap, in `bytes`.
    pub(crate) fn rows<'s>(&self, first: usize, end: usize, bytes: &'s [u8]) -> Operand<'s> {
        Operand::upper(bytes, end - first, self.bytes(first).len(), self.step)
    }
}

/// An AES block.
pub(crate) const BLOCK: usize = 16;
