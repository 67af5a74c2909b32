//! The left product against its definition.
//!
//! **Proved and sampled.** The product is bilinear in `left` and `right`. If a kernel is bilinear
//! too, its difference from the right answer is a bilinear map. Such a map is zero if it is zero on
//! all pairs of a single-bit `left` and a single-bit `right`.
//!
//! - *Proved* but for bilinearity: the shapes in [`PROVED`]. They have rows shorter and longer than
//!   any kernel's tile, diagonals through its middle, odd counts, and one and the most rows of
//!   `left`. All those pairs are tried, and bilinearity is tried on random inputs.
//! - *Sampled*: every shape of the eight sets. Some columns of `left` are tried alone, then all of
//!   it together, on random inputs. A bilinear map that is not zero is not zero on at least a
//!   quarter of all inputs. The faults of real kernels (a wrong lane, mask, bound or coefficient
//!   bit) show on nearly all inputs.
//!
//! A kernel branches on shapes alone, so there is no rare input on which it alone fails.

use super::random::Random;
use super::sets::for_each_set;
use crate::backend::{Backend, MAX_ROWS};
use crate::gf16;
use crate::packed::{self, Coefficients, Operand, Output};
use crate::params::ParameterSet;
use crate::stream::StreamPart;

/// The arguments of a left product without their contents.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Rows of `left`.
    rows: usize,
    /// Columns of `left` before those of the product, as after [`Coefficients::columns_in`].
    skipped: usize,
    /// Elements of `left` from one column to the next.
    left_stride: usize,
    /// Rows of `right`.
    count: usize,
    /// The length of row 0 of `right`.
    row_bytes: usize,
    /// The bytes by which each row of `right` is shorter than the row before.
    step: usize,
    /// Bytes from one row of the product to the next.
    stride: usize,
    /// Whether `left` is declared to be public.
    public_left: bool,
    /// Whether `right` is declared to be public.
    public_right: bool,
    /// Whether the product is added to what `out` holds.
    adds: bool,
}

impl Shape {
    /// A shape with nothing skipped, nothing between rows, and secret operands.
    const fn new(rows: usize, count: usize, row_bytes: usize, step: usize) -> Self {
        Self {
            rows,
            skipped: 0,
            left_stride: rows,
            count,
            row_bytes,
            step,
            stride: row_bytes,
            public_left: false,
            public_right: false,
            adds: true,
        }
    }

    /// The same with secret operands, with a public `right` and with public operands, for which
    /// kernels may differ; each added to `out` and in its place.
    fn forms(self) -> impl Iterator<Item = Self> {
        [(false, false), (false, true), (true, true)].into_iter().flat_map(move |(public_left, public_right)| {
            [true, false].map(|adds| Self { public_left, public_right, adds, ..self })
        })
    }

    fn left_len(&self) -> usize {
        (self.skipped + self.count) * self.left_stride
    }

    fn right_len(&self) -> usize {
        self.count * self.row_bytes - self.step * (self.count * self.count.saturating_sub(1) / 2)
    }

    /// The length of `out` if it ends with its last row.
    fn out_len(&self) -> usize {
        (self.rows - 1) * self.stride + self.row_bytes
    }

    fn run<B: Backend>(&self, b: B, left: &[u8], right: &[u8], out: &mut [u8]) {
        let left =
            Coefficients::new(left, self.left_stride, self.rows).columns_in(self.skipped..self.skipped + self.count);
        let right = match self.step {
            0 => Operand::full(right, self.count, self.row_bytes),
            step => Operand::upper(right, self.count, self.row_bytes, step),
        };
        let left = if self.public_left { left.public() } else { left };
        let right = if self.public_right { right.public() } else { right };
        b.left_product(left, right, Output::new(out, self.stride, self.adds));
    }

    /// Clears the rows of `out` that the product replaces.
    fn begin(&self, out: &mut [u8]) {
        if !self.adds {
            out.chunks_mut(self.stride).take(self.rows).for_each(|row| row[..self.row_bytes].fill(0));
        }
    }

    /// Writes or adds the product to `out` by the definition, byte by byte.
    fn expect(&self, products: &Products, left: &[u8], right: &[u8], out: &mut [u8]) {
        self.begin(out);
        let mut start = 0;
        for i in 0..self.count {
            let row = &right[start..][..self.row_bytes - i * self.step];
            start += row.len();
            for r in 0..self.rows {
                let product = &products[left[(self.skipped + i) * self.left_stride + r] as usize];
                for (out, &byte) in out[r * self.stride + i * self.step..].iter_mut().zip(row) {
                    *out ^= product[byte as usize];
                }
            }
        }
    }

    /// Compares `b` with the definition, on top of a random `out`, bytes between and behind its
    /// rows included.
    fn check<B: Backend>(&self, b: B, products: &Products, left: &[u8], right: &[u8], random: &mut Random) {
        // Memory of the exact lengths, so that a sanitizer sees reads beyond the end.
        let left = Box::<[u8]>::from(left);
        let right = Box::<[u8]>::from(right);
        let mut out = random.bytes(self.out_len() + 3).into_boxed_slice();
        let mut expected = out.clone();
        self.expect(products, &left, &right, &mut expected);
        self.run(b, &left, &right, &mut out);
        if out != expected {
            let at = out.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
            let row = at / self.stride;
            let byte = at % self.stride;
            panic!("{}: {self:?}: first difference in row {row}, byte {byte}", B::NAME);
        }
    }
}

/// For each element and each byte, the element times both elements of the byte.
type Products = [[u8; 256]; 16];

fn products() -> Products {
    core::array::from_fn(|a| {
        core::array::from_fn(|byte| {
            let a = a as u8;
            let byte = byte as u8;
            gf16::mul(a, byte & 15) | gf16::mul(a, byte >> 4) << 4
        })
    })
}

/// The shapes for which every pair of basis elements is tried.
const PROVED: &[Shape] = &[
    Shape::new(1, 1, 1, 0),
    Shape::new(2, 2, 2, 1),
    Shape::new(MAX_ROWS, 2, 3, 1),
    Shape::new(MAX_ROWS - 1, 3, 2, 0),
    Shape { stride: 12, ..Shape::new(5, 4, 9, 2) },
    Shape { stride: 70, ..Shape::new(3, 5, 66, 13) },
    Shape { skipped: 1, left_stride: 4, ..Shape::new(2, 3, 133, 61) },
    Shape::new(4, 3, 129, 0),
    Shape::new(3, 3, 261, 7),
    Shape::new(1, 6, 81, 16),
    Shape::new(5, 5, 16, 0),
];

pub(super) fn on_a_basis<B: Backend>(b: B) {
    let shapes = PROVED.iter().copied().flat_map(Shape::forms);
    // WebAssembly has no threads.
    if cfg!(target_family = "wasm") {
        return shapes.for_each(|shape| on_basis_of(b, shape));
    }
    std::thread::scope(|scope| {
        for shape in shapes {
            scope.spawn(move || on_basis_of(b, shape));
        }
    });
}

fn on_basis_of<B: Backend>(b: B, shape: Shape) {
    let mut left = vec![0; shape.left_len()];
    let mut right = vec![0; shape.right_len()];
    let before = vec![if shape.adds { 0 } else { 0xa5 }; shape.out_len()];
    let mut nothing = before.clone();
    shape.begin(&mut nothing);
    let mut out = before.clone();
    let mut expected = nothing.clone();
    let mut start = 0;
    for i in 0..shape.count {
        let row_bytes = shape.row_bytes - i * shape.step;
        for bit in 0..8 * row_bytes {
            let byte = bit / 8;
            right[start + byte] = 1 << (bit % 8);
            for other in 0..shape.count {
                for r in 0..shape.rows {
                    for left_bit in 0..4 {
                        let left = &mut left[..];
                        let at = (shape.skipped + other) * shape.left_stride + r;
                        left[at] = 1 << left_bit;
                        if other == i {
                            let product = gf16::mul(left[at], 1 << (bit % 4));
                            expected[r * shape.stride + i * shape.step + byte] = product << (bit % 8 / 4 * 4);
                        }
                        shape.run(b, left, &right, &mut out);
                        assert!(
                            out == expected,
                            "{}: {shape:?}, bit {left_bit} of left[{r}][{other}], bit {bit} of row {i}",
                            B::NAME
                        );
                        left[at] = 0;
                        out.copy_from_slice(&before);
                        expected.copy_from_slice(&nothing);
                    }
                }
            }
            right[start + byte] = 0;
        }
        start += row_bytes;
    }
}

pub(super) fn is_bilinear_and_adds<B: Backend>(b: B) {
    let mut random = Random(1);
    for shape in PROVED.iter().copied().flat_map(Shape::forms) {
        for _ in 0..20 {
            let lefts = [(); 2].map(|()| random.elements(shape.left_len()));
            let rights = [(); 2].map(|()| random.bytes(shape.right_len()));
            let sum = |[a, b]: &[Vec<u8>; 2]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
            // All four products, added to some content, must be the product of the sums, added to
            // the same content. If each replaces what is there, it does so in a copy.
            let mut parts = random.bytes(shape.out_len());
            let mut whole = parts.clone();
            let between = parts.clone();
            shape.begin(&mut parts);
            for left in &lefts {
                for right in &rights {
                    if shape.adds {
                        shape.run(b, left, right, &mut parts);
                    } else {
                        let mut part = between.clone();
                        shape.run(b, left, right, &mut part);
                        let rows = parts.chunks_mut(shape.stride).zip(part.chunks(shape.stride));
                        rows.for_each(|(sum, row)| packed::add(&mut sum[..shape.row_bytes], &row[..shape.row_bytes]));
                    }
                }
            }
            shape.run(b, &sum(&lefts), &sum(&rights), &mut whole);
            assert!(parts == whole, "{}: {shape:?} is not bilinear", B::NAME);
        }
    }
}

pub(super) fn of_odd_shapes<B: Backend>(b: B) {
    let products = products();
    let mut random = Random(2);
    let mut check = |shape: Shape| {
        let left = random.elements(shape.left_len());
        let right = random.bytes(shape.right_len());
        for shape in shape.forms() {
            shape.check(b, &products, &left, &right, &mut random);
        }
    };
    for row_bytes in (1..=8).chain(31..=65).chain([95, 96, 97, 127, 128, 129, 191, 193, 255, 256, 257, 1000]) {
        for rows in [1, 2, 3, 4, 5, 9, 18, MAX_ROWS] {
            for count in [1, 2, 3, 8] {
                check(Shape::new(rows, count, row_bytes, 0));
                for step in [1, 16, 32, 39] {
                    let count = count.min((row_bytes - 1) / step + 1);
                    let stride = row_bytes + [0, 1, 40][step % 3];
                    check(Shape {
                        skipped: 2,
                        left_stride: rows + 3,
                        stride,
                        ..Shape::new(rows, count, row_bytes, step)
                    });
                }
            }
        }
    }
    // More rows of `right` than a kernel has tables for at a time.
    for rows in [2, MAX_ROWS] {
        check(Shape::new(rows, 165, 165 * 16 + 5, 16));
        check(Shape::new(rows, 165, 40, 0));
    }
    // Each number of rows of `left`, with `right` of few rows.
    for rows in 1..=MAX_ROWS {
        for count in 0..=11 {
            check(Shape { stride: 300, ..Shape::new(rows, count, 11 * 24, 24 * (count % 2)) });
        }
    }
}

/// A left operand without rows adds and replaces nothing, whatever its stride, the shape of
/// `right`, and the length of `out`.
pub(super) fn without_rows<B: Backend>(b: B) {
    let mut random = Random(6);
    for row_bytes in [0, 1, 15, 16, 40, 64, 200, 300, 5000] {
        for (stride, count) in [(0, 0), (5, 0), (5, 1), (1, 7), (3, 80), (1, 175), (3, 175), (5, 175)] {
            let elements = random.elements(stride * count);
            let left = Coefficients::new(&elements, stride, 0);
            let bytes = random.bytes(count * row_bytes);
            let step = if count > 1 { row_bytes / (count - 1) } else { 0 };
            let length = count * row_bytes - step * (count * count.saturating_sub(1) / 2);
            let full = Operand::full(&bytes, count, row_bytes);
            let upper = if count > 0 { Operand::upper(&bytes[..length], count, row_bytes, step) } else { full };
            for right in [full, full.public(), upper, upper.public()] {
                for length in [0, 1, 2 * row_bytes] {
                    let mut out = vec![0xa5; length];
                    b.left_product(left, right, Output::add_to(&mut out, row_bytes));
                    b.left_product(left, right, Output::replace(&mut out, row_bytes));
                    assert!(out.iter().all(|&byte| byte == 0xa5), "{}: {left:?}, {right:?}", B::NAME);
                }
            }
            if count > 0 && row_bytes > 0 {
                let part = StreamPart::new(7, row_bytes, step.min((row_bytes - 1) / count), count, 0..row_bytes);
                for length in [0, 1, row_bytes] {
                    let mut out = vec![0xa5; length];
                    let window = &mut vec![0; row_bytes + 32];
                    b.left_product_of_stream(left, &[6; 16], &part, window, Output::add_to(&mut out, row_bytes));
                    b.left_product_of_stream(left, &[6; 16], &part, window, Output::replace(&mut out, row_bytes));
                    assert!(out.iter().all(|&byte| byte == 0xa5), "{}: {left:?}, {part:?}", B::NAME);
                }
            }
        }
    }
}

/// Calls `check` with the shapes of left products that the scheme needs.
fn shapes_of<P: ParameterSet>(mut check: impl FnMut(Shape)) {
    let k = P::K;
    let o = P::O;
    let v = P::V;
    let n = P::N;
    let mb = P::M_BYTES;
    let t_columns = k + usize::from(P::LINEAR);
    let p1 = |rows| Shape::new(rows, v, v * mb, mb);
    // Whole products with P1 in keygen, verification and signing, and V P1 with the coefficients of
    // O^T between; then P1 in blocks.
    check(p1(o));
    check(Shape { stride: n * mb, ..p1(k) });
    check(p1(k + o));
    check(Shape { left_stride: k + o, ..p1(k) });
    let first = v / 3;
    check(Shape { skipped: first, stride: v * mb, ..Shape::new(k, v - first, (v - first) * mb, mb) });
    check(Shape { skipped: first, stride: v * mb, ..Shape::new(k, 1, (v - first) * mb, mb) });
    // Products with P2 and P3 in verification, with Q in keygen and signing.
    check(Shape { stride: n * mb, ..Shape::new(k, v, o * mb, 0) });
    check(Shape { skipped: v, stride: n * mb, ..Shape::new(k, o, o * mb, mb) });
    check(Shape::new(o, v, o * mb, 0));
    check(Shape { left_stride: k + o, ..Shape::new(k, v, o * mb, 0) });
    // Products with T in verification and signing.
    check(Shape::new(k, n, t_columns * mb, 0));
    check(Shape::new(k + o, v, t_columns * mb, 0));
    // Products with A and with O^T.
    check(Shape::new(1, k * o, mb, 0));
    check(Shape::new(k, o, P::V_BYTES, 0));
}

pub(super) fn of_every_set<B: Backend>(b: B) {
    let products = products();
    let mut random = Random(3);
    for_each_set!(|P| {
        shapes_of::<P>(|shape| {
            let right = random.bytes(shape.right_len());
            // The first and the last column alone, and some between.
            for column in (0..shape.count).step_by(37).chain([shape.count - 1]) {
                let mut left = vec![0; shape.left_len()];
                let only = &mut left[(shape.skipped + column) * shape.left_stride..][..shape.rows];
                only.copy_from_slice(&random.elements(shape.rows));
                for shape in shape.forms() {
                    check_column(b, &shape, column, &products, &left, &right);
                }
            }
            for _ in 0..2 {
                let left = random.elements(shape.left_len());
                for shape in shape.forms() {
                    shape.check(b, &products, &left, &right, &mut random);
                }
            }
        });
    });
}

/// Does the same as [`Shape::check`] for a `left` that is zero but in one column.
fn check_column<B: Backend>(b: B, shape: &Shape, column: usize, products: &Products, left: &[u8], right: &[u8]) {
    let mut out = vec![if shape.adds { 0 } else { 0xa5 }; shape.out_len()];
    let between = out[0];
    shape.run(b, left, right, &mut out);
    let start = column * shape.row_bytes - shape.step * (column * column.saturating_sub(1) / 2);
    let row = &right[start..][..shape.row_bytes - column * shape.step];
    for (r, out) in out.chunks_mut(shape.stride).enumerate() {
        let product = &products[left[(shape.skipped + column) * shape.left_stride + r] as usize];
        let (before, out) = out.split_at(column * shape.step);
        let (out, after) = out.split_at(row.len());
        let right = out.iter().zip(row).all(|(&out, &byte)| out == product[byte as usize]);
        let clean = before.iter().all(|&byte| byte == 0) && after.iter().all(|&byte| byte == between);
        assert!(right && clean, "{}: {shape:?}: row {r} of column {column} alone", B::NAME);
    }
}
