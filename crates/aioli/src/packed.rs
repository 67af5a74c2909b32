//! Runs of packed m-vectors: the layout that everything shares, views of it, transposition, the nibble codec.
//!
//! An m-vector is `M_BYTES` bytes, two field elements to a byte, low nibble first. A matrix of m-vectors is the run of
//! its m-vectors, row after row, without padding; a triangular one keeps the entries on and above its diagonal:
//!
//! ```text
//! row 0   |vec 0,0|vec 0,1|vec 0,2|vec 0,3|        the bytes of row i stand below those of row 0 that
//! row 1           |vec 1,1|vec 1,2|vec 1,3|        belong to the same column: row i begins i * step bytes
//! row 2                   |vec 2,2|vec 2,3|        to the right, step = M_BYTES (0 in a full matrix)
//! row 3                           |vec 3,3|
//! ```
//!
//! So does AES-CTR write P1, so do the public key keep P3 and the expanded keys everything.

/// A matrix of m-vectors as the left product reads it: full or upper triangular, rows packed one after another.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    bytes: &'a [u8],
    count: usize,
    row_bytes: usize,
    step: usize,
    public: bool,
}

impl<'a> Operand<'a> {
    /// `count` rows of `row_bytes` bytes.
    pub fn full(bytes: &'a [u8], count: usize, row_bytes: usize) -> Self {
        assert_eq!(Some(bytes.len()), count.checked_mul(row_bytes), "length of a full matrix");
        Self { bytes, count, row_bytes, step: 0, public: false }
    }

    /// `count` rows, the first of `row_bytes` bytes, each following one beginning (and being shorter by) `step` bytes.
    pub fn upper(bytes: &'a [u8], count: usize, row_bytes: usize, step: usize) -> Self {
        // By how much the last row is shorter than the first; all rows together, by half of that on the average.
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

    /// How many rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The length of row 0, which is the length of a row of the product.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// By how much each row begins further to the right than the row before.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Where row `i` begins in [`bytes`](Self::bytes).
    #[inline(always)]
    pub fn offset(&self, i: usize) -> usize {
        // The step of row j is subtracted from the lengths of the rows after it.
        i * self.row_bytes - self.step * (i * i.saturating_sub(1) / 2)
    }

    /// Row `i`; it stands below the bytes `i * step ..` of row 0.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [u8] {
        &self.bytes[self.offset(i)..][..self.row_bytes - i * self.step]
    }

    /// What `row`, one of these or empty, has in `columns`, bytes of row 0: all rows end together.
    #[inline(always)]
    pub(crate) fn part(&self, row: &'a [u8], columns: core::ops::Range<usize>) -> &'a [u8] {
        let before = |column: usize| row.len().saturating_sub(self.row_bytes - column);
        &row[before(columns.start)..before(columns.end)]
    }
}

/// The small dense matrix X of a left product, transposed: one byte an element, the coefficients of one row of the
/// operand together.
#[derive(Clone, Copy)]
pub struct Coefficients<'a> {
    elements: &'a [u8],
    stride: usize,
    rows: usize,
}

impl<'a> Coefficients<'a> {
    /// X with `rows` rows, where X\[r\]\[i\] is `elements[i * stride + r]`, a field element below 16.
    pub fn new(elements: &'a [u8], stride: usize, rows: usize) -> Self {
        assert!(rows <= stride && elements.len().is_multiple_of(stride), "shape of a coefficient matrix");
        Self { elements, stride, rows }
    }

    /// All of X.
    pub(crate) fn elements(&self) -> &'a [u8] {
        self.elements
    }

    /// How many rows X has, and so how many the product has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns X has: as many as the operand has rows.
    pub fn columns(&self) -> usize {
        self.elements.len() / self.stride
    }

    /// The coefficients X\[..\]\[i\] of row `i` of the operand.
    #[inline(always)]
    pub fn of_row(&self, i: usize) -> &'a [u8] {
        &self.elements[i * self.stride..][..self.rows]
    }

    /// The coefficients from those of row `i` of the operand on, to the end of all.
    #[inline(always)]
    pub fn of_rows_from(&self, i: usize) -> &'a [u8] {
        &self.elements[i * self.stride..]
    }

    /// The columns `range` of X.
    pub(crate) fn columns_in(&self, range: core::ops::Range<usize>) -> Self {
        Self { elements: &self.elements[range.start * self.stride..range.end * self.stride], ..*self }
    }
}

/// Whether `out` has `rows` rows of `row_bytes` bytes, `stride` apart; kernels rely on it.
pub(crate) fn has_rows(out: &[u8], rows: usize, stride: usize, row_bytes: usize) -> bool {
    rows.checked_sub(1).is_none_or(|last| {
        last.checked_mul(stride).and_then(|begin| begin.checked_add(row_bytes)).is_some_and(|end| end <= out.len())
    })
}

/// Adds `from` onto `to`; both have the same length.
///
/// In vectors, then in ever smaller words: compilers leave a loop over bytes of 39 or 71 of them as it is. No vectors on
/// machines of 32 bits: where there are none, such chunks go through the stack.
#[inline(always)]
pub(crate) fn add(to: &mut [u8], from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    let (mut to, mut from) = (to, from);
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

/// Adds whole chunks; returns what remains.
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
#[inline(always)]
pub(crate) fn decode(bytes: &[u8], elements: &mut [u8]) {
    let (pairs, last) = elements.as_chunks_mut::<2>();
    // By eight bytes: of a loop over single ones a compiler makes longer vectors, and much is left over.
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
}

/// Packs field elements; an odd count leaves the last high nibble zero.
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
    fn nibbles_low_first_and_odd_counts_padded_with_zero() {
        let mut elements = [0; 5];
        decode(&[0x21, 0x43, 0xf5], &mut elements);
        assert_eq!(elements, [1, 2, 3, 4, 5]);
        let mut bytes = [0xff; 3];
        encode(&elements, &mut bytes);
        assert_eq!(bytes, [0x21, 0x43, 0x05]);
    }
}
