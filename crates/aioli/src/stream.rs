//! Parts of a matrix of m-vectors in an AES-128-CTR stream: P1 and P2 where they are not in memory.

use crate::packed::Operand;
use core::ops::Range;

/// Some columns of the first rows of a matrix in a stream.
///
/// The matrix is full or upper triangular, and its rows follow each other in the stream as they do
/// in the memory of an [`Operand`]. Columns are counted in bytes of row 0.
#[derive(Clone, Debug)]
pub struct StreamPart {
    /// The byte of the stream at which the matrix begins.
    start: usize,
    /// Bytes of row 0 of the matrix.
    row_bytes: usize,
    /// Bytes by which each row begins further to the right than the row above it.
    step: usize,
    /// Rows of the part.
    count: usize,
    /// The bytes of row 0 above the columns of the part.
    columns: Range<usize>,
}

impl StreamPart {
    /// The first `count` rows of a matrix, and in them the bytes below the bytes `columns` of row
    /// 0.
    ///
    /// The matrix begins at byte `start` of the stream with a row of `row_bytes` bytes. Each
    /// following row begins `step` bytes further to the right than the row above it, and is shorter
    /// by as much. In a full matrix `step` is 0.
    ///
    /// # Panics
    ///
    /// Panics if `columns` ends behind row 0, if `count` is zero, or if a row begins behind
    /// `columns`.
    pub fn new(start: usize, row_bytes: usize, step: usize, count: usize, columns: Range<usize>) -> Self {
        assert!(columns.end <= row_bytes && count > 0 && (count - 1) * step < columns.end, "a part of a matrix");
        Self { start, row_bytes, step, count, columns }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of columns, in bytes.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The column of the part at which row `i` begins: 0, or further to the right in a triangle.
    pub fn column(&self, i: usize) -> usize {
        (i * self.step).saturating_sub(self.columns.start)
    }

    /// The bytes of the stream that are row `i` of the part.
    pub fn bytes(&self, i: usize) -> Range<usize> {
        // The i rows before this one lack 0 + 1 + ... + (i - 1) steps.
        let row = self.start + i * self.row_bytes - self.step * (i * i.saturating_sub(1) / 2);
        let begin = row + self.columns.start + self.column(i) - i * self.step;
        begin..row + self.columns.end - i * self.step
    }

    /// The part of the same matrix with the columns from byte `from` of this part on, at most
    /// `width` bytes. It leaves out the rows of a triangle that begin behind these columns.
    pub fn columns_in(&self, from: usize, width: usize) -> Self {
        let begin = self.columns.start + from;
        let columns = begin..(begin + width).min(self.columns.end);
        let reaching = if self.step == 0 { self.count } else { self.count.min(columns.end.div_ceil(self.step)) };
        Self { count: reaching, columns, ..*self }
    }

    /// The number of rows that follow each other in the stream without a gap: all rows if the part
    /// has every column, otherwise one.
    pub(crate) fn run(&self) -> usize {
        if self.columns == (0..self.row_bytes) { self.count } else { 1 }
    }

    /// The rows `first..end` as the right operand of a product. `bytes` holds them without a gap.
    pub(crate) fn rows<'s>(&self, first: usize, end: usize, bytes: &'s [u8]) -> Operand<'s> {
        Operand::upper(bytes, end - first, self.bytes(first).len(), self.step)
    }
}

/// Bytes of an AES block.
pub(crate) const BLOCK: usize = 16;
