//! The kernel contract: the trait [`Backend`], and nothing else.
//!
//! A backend provides the few steps that take the time; everything else is written once, over the
//! trait. Each method says what it computes, where the result lands, what is kept, and what is
//! secret. None has a default body, so every backend names the kernel behind each method, be it its
//! own or a portable one (`portable::solve`).
//!
//! A method enters the contract if it gains 10 % of an operation, measured beside an operation that
//! cannot use it.

use crate::packed::{Coefficients, Operand, Output};
use crate::sets::largest;
use crate::stream::StreamPart;

/// The largest number of rows that [`Backend::left_product`] is asked for: the largest k + o of all
/// sets.
pub const MAX_ROWS: usize = largest!(P => P::K + P::O);

/// The kernels of one kind of machine.
///
/// The time of each method and the addresses that it touches depend on shapes and public arguments
/// alone. Each method says which of its arguments are secret.
pub trait Backend: Copy + Send + Sync + 'static {
    /// The name under which measurements know the backend.
    const NAME: &'static str;

    /// Bytes of a vector register. Code inside [`vectorize`](Self::vectorize) rounds its lengths up
    /// to it where it may.
    const REGISTER: usize;

    /// `out = left right`, or `out += left right` if [`Output::adds`]: the product of a small dense
    /// matrix with a matrix of m-vectors.
    ///
    /// `left` has at most [`MAX_ROWS`] rows and as many columns as `right` has rows. Row l of the
    /// product is the sum over i of `left[l][i]` times row i of `right`. It replaces the first
    /// `right.row_bytes()` bytes of row l of `out`, or is added to them. Row i of a triangle lands
    /// at `i * step` within these bytes. Other bytes of `out` keep their values. `out` reaches at
    /// least to the end of its last row.
    ///
    /// Secret: the bytes of `out`; `left` and `right` unless [`Coefficients::is_public`] and
    /// [`Operand::is_public`]. Public: all shapes, and whether `out` adds. Linear in `left` and in
    /// `right`.
    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>);

    /// `out = left right` or `out += left right` as [`left_product`](Self::left_product) does, for
    /// a `right` that is part of the AES-128-CTR stream of `key`: P1 and P2 where they are not in
    /// memory.
    ///
    /// `left` has as many columns as the part has rows. The first `part.width()` bytes of each row
    /// of `out` are written; row i of the part lands at `part.column(i)` within them. `window` is
    /// memory to expand into, at least the longest row of the part and 32 bytes; afterwards it may
    /// hold anything public, and nothing else.
    ///
    /// Secret: the bytes of `out`, and `left` unless [`Coefficients::is_public`].
    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    );

    /// Fills `out` with AES-128 of the blocks `iv ^ j`, j = `first`, `first + 1`, ... as 128-bit
    /// big-endian numbers.
    ///
    /// With a zero `iv` this is counter mode from block `first` on. The last block is cut to the
    /// length of `out`. Nothing is secret.
    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]);

    /// Computes SHAKE256 of each input, the concatenation of its parts, into the whole output of
    /// the same index.
    ///
    /// Inputs have at most 271 bytes. Several at a time may cost as much as one.
    ///
    /// Secret: the bytes of inputs and outputs. Public: their lengths.
    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]);

    /// Solves `A x = y` with the free variables zero; returns 1, or 0 if the rank of A is below m.
    ///
    /// `columns` holds the columns of A and then y, each `m` elements packed into `m / 2` bytes; it
    /// is used as working memory. Pivots are taken from the left: a column is free exactly if it
    /// depends on those before it. `x` receives one element a byte for each column of A. When the
    /// result is 0, the content of `x` is unspecified. `m` is even and at most the largest m of all
    /// sets; A has at most [`MAX_UNKNOWNS`] columns and fewer than m + 15.
    ///
    /// Secret: everything but `m` and the lengths; the caller alone declassifies the returned byte.
    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8;

    /// Runs `f`, compiled with the vector instructions that this backend may use.
    ///
    /// For code that the compiler vectorizes well enough by itself. Only what is inlined into `f`
    /// is affected.
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T;
}

/// The largest m of all sets: rows of the linear system of signing.
pub const MAX_EQUATIONS: usize = largest!(P => P::M);

/// The largest k * o of all sets: columns of the linear system of signing, without y.
pub const MAX_UNKNOWNS: usize = largest!(P => P::K * P::O);
