//! Packed m-vectors: the layout that everything shares, views of it, and the nibble codec.
//!
//! An m-vector is `M_BYTES` bytes, two field elements to a byte, low nibble first. A matrix of
//! m-vectors is stored row after row, without padding; an upper triangular one keeps only the
//! entries on and above its diagonal:
//!
//! ```text
//! row 0   |vec 0,0|vec 0,1|vec 0,2|vec 0,3|        the bytes of row i are below those of row 0 that
//! row 1           |vec 1,1|vec 1,2|vec 1,3|        belong to the same column: row i begins i * step bytes
//! row 2                   |vec 2,2|vec 2,3|        to the right, step = M_BYTES (0 in a full matrix)
//! row 3                           |vec 3,3|
//! ```
//!
//! AES-CTR writes P1 in this layout, a public key keeps P3 in it, and expanded keys keep all their
//! matrices of m-vectors in it.

use crate::plants::{Leak, leak};

/// A matrix of m-vectors, the right operand of a product: full or upper triangular, its rows
/// packed one after another.
///
/// It counts as secret unless [`public`](Self::public) declares it public, so `Debug` prints its
/// shape alone.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    bytes: &'a [u8],
    count: usize,
    row_bytes: usize,
    step: usize,
    public: bool,
}

impl<'a> Operand<'a> {
    /// The full matrix of `count` rows of `row_bytes` bytes.
    ///
    /// # Panics
    ///
    /// Panics if `bytes` is not as long as all rows together.
    pub fn full(bytes: &'a [u8], count: usize, row_bytes: usize) -> Self {
        assert_eq!(Some(bytes.len()), count.checked_mul(row_bytes), "length of a full matrix");
        Self { bytes, count, row_bytes, step: 0, public: false }
    }

    /// The upper triangular matrix of `count` rows, the first of `row_bytes` bytes.
    ///
    /// Each following row begins `step` bytes further to the right than the row above it, and is
    /// shorter by as much.
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero, if more than `row_bytes` would be missing from the last row, or
    /// if `bytes` is not as long as all rows together.
    pub fn upper(bytes: &'a [u8], count: usize, row_bytes: usize, step: usize) -> Self {
        // The last row is `shorter` bytes shorter than the first; on average a row is shorter by
        // half of that.
        let shorter = count.checked_sub(1).and_then(|last| last.checked_mul(step)).unwrap_or(usize::MAX);
        assert!(shorter <= row_bytes, "more rows than an upper triangle has");
        let length = count.checked_mul(row_bytes).map(|full| full - count * shorter / 2);
        assert_eq!(Some(bytes.len()), length, "length of a triangular matrix");
        Self { bytes, count, row_bytes, step, public: false }
    }

    /// The same matrix, declared to be public: memory may be addressed by its elements.
    pub fn public(self) -> Self {
        Self { public: true, ..self }
    }

    /// Whether memory may be addressed by its elements.
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// All rows, packed.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bytes of row 0, which are also those of a row of the product.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The bytes by which each row begins further to the right than the row above it; 0 in a full
    /// matrix.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Where row `i` begins in [`bytes`](Self::bytes).
    #[inline(always)]
    pub fn offset(&self, i: usize) -> usize {
        // Row j is j steps shorter than row 0, so the i rows before this one lack 0 + 1 + ... + (i
        // - 1) steps.
        i * self.row_bytes - self.step * (i * i.saturating_sub(1) / 2)
    }

    /// Row `i`, which lies below the bytes `i * step ..` of row 0.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [u8] {
        &self.bytes[self.offset(i)..][..self.row_bytes - i * self.step]
    }

    /// The bytes of `row` that lie below the bytes `columns` of row 0.
    ///
    /// `row` is empty or a row of this matrix. All rows end at the same column.
    #[inline(always)]
    pub(crate) fn part(&self, row: &'a [u8], columns: core::ops::Range<usize>) -> &'a [u8] {
        let before = |column: usize| row.len().saturating_sub(self.row_bytes - column);
        &row[before(columns.start)..before(columns.end)]
    }
}

impl core::fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Operand")
            .field("count", &self.count)
            .field("row_bytes", &self.row_bytes)
            .field("step", &self.step)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

/// The small dense matrix over GF(16), the left operand of a product, stored by columns, one byte
/// an element.
///
/// Column i holds the coefficients of row i of `right`.
///
/// It counts as secret unless [`public`](Self::public) declares it public, so `Debug` prints its
/// shape alone.
#[derive(Clone, Copy)]
pub struct Coefficients<'a> {
    elements: &'a [u8],
    stride: usize,
    rows: usize,
    public: bool,
}

impl<'a> Coefficients<'a> {
    /// The matrix `left` of `rows` rows with `left[j][i] = elements[i * stride + j]`, a field
    /// element below 16.
    ///
    /// # Panics
    ///
    /// Panics if `stride` is less than `rows`, or if `elements` is not a whole number of columns of
    /// `stride` bytes.
    pub fn new(elements: &'a [u8], stride: usize, rows: usize) -> Self {
        assert!(rows <= stride && elements.len().is_multiple_of(stride), "shape of a coefficient matrix");
        Self { elements, stride, rows, public: false }
    }

    /// The same matrix, declared to be public: memory may be addressed by its elements.
    pub fn public(self) -> Self {
        Self { public: true, ..self }
    }

    /// Whether memory may be addressed by its elements.
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// All columns, each with the `stride` bytes that it takes in memory.
    pub(crate) fn elements(&self) -> &'a [u8] {
        self.elements
    }

    /// The number of rows, which is also that of the product.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns: `right` has as many rows. It is 0 if `stride` is 0, as `elements` is
    /// empty then.
    pub fn columns(&self) -> usize {
        self.elements.len().checked_div(self.stride).unwrap_or(0)
    }

    /// Column `i`: the coefficients of row `i` of `right`.
    #[inline(always)]
    pub fn of_row(&self, i: usize) -> &'a [u8] {
        &self.elements[i * self.stride..][..self.rows]
    }

    /// Everything from column `i` on, `stride` bytes a column: the coefficients of the rows of
    /// `right` from row `i` on.
    #[inline(always)]
    pub fn of_rows_from(&self, i: usize) -> &'a [u8] {
        &self.elements[i * self.stride..]
    }

    /// The columns `range` as a matrix of their own.
    pub(crate) fn columns_in(&self, range: core::ops::Range<usize>) -> Self {
        Self { elements: &self.elements[range.start * self.stride..range.end * self.stride], ..*self }
    }
}

impl core::fmt::Debug for Coefficients<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Coefficients")
            .field("rows", &self.rows)
            .field("length", &self.elements.len())
            .field("stride", &self.stride)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

/// Where a product lands: rows of bytes, `stride` bytes apart, which it replaces or is added to.
///
/// `Debug` prints the shape alone, as the rows may be secret.
pub struct Output<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) stride: usize,
    pub(crate) adds: bool,
}

impl<'a> Output<'a> {
    /// Rows of any content, which the product replaces.
    pub fn replace(bytes: &'a mut [u8], stride: usize) -> Self {
        Self::new(bytes, stride, false)
    }

    /// Rows that hold a sum, to which the product is added.
    pub fn add_to(bytes: &'a mut [u8], stride: usize) -> Self {
        Self::new(bytes, stride, true)
    }

    /// Rows to which the product is added if `adds`, and which it replaces otherwise.
    pub fn new(bytes: &'a mut [u8], stride: usize, adds: bool) -> Self {
        Self { bytes, stride, adds }
    }

    /// Whether the product is added to what the rows hold.
    pub fn adds(&self) -> bool {
        self.adds
    }

    /// The rows, from the first byte of the first row on.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// The bytes from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The rows from byte `column` of each on.
    pub fn from_column(&mut self, column: usize) -> Output<'_> {
        Output { bytes: &mut self.bytes[column..], ..*self }
    }

    /// The rows from byte `column` of each on, for the next term of a sum of products: the first
    /// term has all columns, and later ones are added to it.
    pub fn next_term(&mut self, column: usize) -> Output<'_> {
        let adds = core::mem::replace(&mut self.adds, true);
        Output { bytes: &mut self.bytes[column..], adds, ..*self }
    }

    /// Clears `rows` rows of `row_bytes` bytes unless the product is added to them, and adds to
    /// them from then on.
    ///
    /// For kernels that only add, and for a product without terms.
    pub fn clear(&mut self, rows: usize, row_bytes: usize) {
        if !core::mem::replace(&mut self.adds, true) {
            for row in 0..rows {
                self.bytes[row * self.stride..][..row_bytes].fill(0);
            }
        }
    }

    /// Writes `from` at byte `at`, or adds it to what is there.
    #[inline(always)]
    pub(crate) fn write(&mut self, at: usize, from: &[u8]) {
        let to = &mut self.bytes[at..][..from.len()];
        if self.adds { add(to, from) } else { to.copy_from_slice(from) }
    }
}

impl core::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Output")
            .field("length", &self.bytes.len())
            .field("stride", &self.stride)
            .field("adds", &self.adds)
            .finish_non_exhaustive()
    }
}

/// Whether `out` has room for `rows` rows of `row_bytes` bytes that begin `stride` bytes apart.
/// Kernels rely on it.
pub(crate) fn has_rows(out: &[u8], rows: usize, stride: usize, row_bytes: usize) -> bool {
    rows.checked_sub(1).is_none_or(|last| {
        last.checked_mul(stride).and_then(|begin| begin.checked_add(row_bytes)).is_some_and(|end| end <= out.len())
    })
}

/// Adds `from` onto `to`; both have the same length.
///
/// It takes chunks of vector size first and then ever smaller words, because compilers do not
/// improve a loop over 39 or 71 single bytes. Machines of 32 bits begin with words: they may have
/// no vector registers, and then the large chunks would go through the stack.
#[inline(always)]
pub(crate) fn add(mut to: &mut [u8], mut from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    if cfg!(target_pointer_width = "64") {
        (to, from) = add_chunks(to, from, |to: &mut [u8; 64], from| *to = core::array::from_fn(|i| to[i] ^ from[i]));
        (to, from) = add_chunks(to, from, |to: &mut [u8; 16], from| *to = core::array::from_fn(|i| to[i] ^ from[i]));
    }
    let (to, from) = add_chunks(to, from, |to, from| {
        *to = (u64::from_ne_bytes(*to) ^ u64::from_ne_bytes(*from)).to_ne_bytes();
    });
    let (to, from) = add_chunks(to, from, |to, from| {
        *to = (u32::from_ne_bytes(*to) ^ u32::from_ne_bytes(*from)).to_ne_bytes();
    });
    let (to, from) = add_chunks(to, from, |to, from| {
        *to = (u16::from_ne_bytes(*to) ^ u16::from_ne_bytes(*from)).to_ne_bytes();
    });
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

/// Adds all whole chunks of `N` bytes with `add`; returns the rest of both slices.
#[inline(always)]
fn add_chunks<'t, 'f, const N: usize>(
    to: &'t mut [u8],
    from: &'f [u8],
    add: impl Fn(&mut [u8; N], &[u8; N]),
) -> (&'t mut [u8], &'f [u8]) {
    let (to, to_rest) = to.as_chunks_mut();
    let (from, from_rest) = from.as_chunks();
    for (to, from) in to.iter_mut().zip(from) {
        add(to, from);
    }
    (to_rest, from_rest)
}

/// Unpacks `elements.len()` field elements, one a byte.
///
/// # Panics
///
/// Panics if `bytes` holds fewer.
#[inline(always)]
pub fn decode(bytes: &[u8], elements: &mut [u8]) {
    let (pairs, last) = elements.as_chunks_mut::<2>();
    // Eight bytes at a time: compilers turn a loop over single bytes into longer vectors, which
    // leave more bytes over.
    let (chunks, rest) = pairs.as_chunks_mut::<8>();
    for (pairs, bytes) in chunks.iter_mut().zip(bytes.as_chunks().0) {
        *pairs = bytes.map(|byte| [byte & 15, byte >> 4]);
    }
    for (pair, byte) in rest.iter_mut().zip(&bytes[8 * chunks.len()..]) {
        *pair = [byte & 15, byte >> 4];
    }
    if let [last] = last {
        *last = bytes[pairs.len()] & 15;
    }
    leak(Leak::Codec, elements.first().copied().unwrap_or(0));
}

/// Packs field elements. If their number is odd, the last high nibble is zero.
#[inline(always)]
pub(crate) fn encode(elements: &[u8], bytes: &mut [u8]) {
    let (pairs, last) = elements.as_chunks::<2>();
    for ([low, high], byte) in pairs.iter().zip(bytes.iter_mut()) {
        *byte = low | high << 4;
    }
    if let [last] = last {
        bytes[pairs.len()] = *last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_triangle_are_where_the_picture_shows_them() {
        let bytes: [u8; 20] = core::array::from_fn(|i| i as u8);
        let upper = Operand::upper(&bytes, 4, 8, 2);
        let rows = [0..8, 8..14, 14..18, 18..20];
        for (i, range) in rows.into_iter().enumerate() {
            assert_eq!(upper.row(i), &bytes[range]);
        }
    }

    #[test]
    fn absurd_shapes_are_refused() {
        let refused = |shape: fn()| assert!(std::panic::catch_unwind(shape).is_err());
        refused(|| _ = Operand::full(&[0; 4], usize::MAX / 2 + 3, 2));
        refused(|| _ = Operand::full(&[0; 4], 3, 2));
        refused(|| _ = Operand::upper(&[0; 4], 0, 4, 1));
        refused(|| _ = Operand::upper(&[0; 4], usize::MAX / 2 + 2, 4, 2));
        refused(|| _ = Operand::upper(&[0; 4], usize::MAX / 2 + 3, 2, 0));
        refused(|| _ = Operand::upper(&[0; 4], 2, 4, 1));
    }

    #[test]
    fn coefficients_without_elements_have_no_columns() {
        for (stride, rows) in [(0, 0), (5, 0), (5, 3)] {
            assert_eq!(Coefficients::new(&[], stride, rows).columns(), 0, "stride {stride}");
        }
        assert_eq!(Coefficients::new(&[9; 350], 2, 0).columns(), 175);
    }

    #[test]
    fn nibbles_low_first_and_odd_counts_padded_with_zero() {
        let mut elements = [0; 5];
        decode(&[0x21, 0x43, 0xf5], &mut elements);
        assert_eq!(elements, [1, 2, 3, 4, 5]);
        let mut bytes = [0xff; 3];
        encode(&elements, &mut bytes);
        assert_eq!(bytes, [0x21, 0x43, 0x05]);
    }
}
