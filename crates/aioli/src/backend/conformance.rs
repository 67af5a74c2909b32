//! The conformance suite: what [`Backend`] promises, tested on every backend that this machine can run.
//!
//! Each kernel is compared with an obvious computation made from [`gf16::mul`] or, for AES, from single blocks.
//!
//! **What of the left product is proved, and what is sampled.** It is bilinear in X and `rows`, so where a kernel is
//! bilinear at all, its distance from the right answer is a bilinear map too, and that is zero as soon as it is zero on
//! all pairs of a single-bit X and a single-bit operand. For the shapes in [`PROVED`], which have rows shorter and
//! longer than any kernel's tile, diagonals through its middle, odd counts, one and the most rows of X, all those pairs
//! are tried, and bilinearity itself is tried on random inputs. For every shape of the eight sets some columns of X are
//! tried alone, and then all of it together, on random inputs: a bilinear map that is not zero is not zero on a
//! quarter of all inputs at the least, and faults of real kernels (a wrong lane, mask, bound or coefficient bit) are
//! not on nearly all of them. A kernel branches on shapes alone, so there is no rare input for it to fail on.

use super::{Backend, DetectedBackend, MAX_ROWS, with_backend};
use crate::gf16;
use crate::packed::{self, Coefficients, Operand};
use crate::params::{ParameterSet, round2, round3};
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

/// Runs `$check` for every backend of this machine and says which; fails if one that `AIOLI_REQUIRE_BACKENDS` names
/// (separated by commas) did not run.
macro_rules! on_every_backend {
    ($($test:ident: $check:ident;)*) => {$(
        #[test]
        fn $test() {
            let mut ran = Vec::new();
            for backend in DetectedBackend::all() {
                with_backend!(backend, |b| {
                    $check(b);
                    ran.push(name_of(b));
                });
            }
            println!("{}: ran on {}", stringify!($test), ran.join(", "));
            let required = std::env::var("AIOLI_REQUIRE_BACKENDS").unwrap_or_default();
            for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                assert!(ran.contains(&name), "backend {name} is required, and did not run; ran: {ran:?}");
            }
        }
    )*};
}

on_every_backend! {
    left_product_on_a_basis: left_product_basis;
    left_product_is_bilinear_and_adds: left_product_bilinear;
    left_product_of_odd_shapes: left_product_odd_shapes;
    left_product_of_every_set: left_product_sets;
    aes128_ctr_block_by_block: aes128_ctr;
    solve_of_every_set: solve;
    vectorize_returns_the_value: vectorize;
}

fn name_of<B: Backend>(_: B) -> &'static str {
    B::NAME
}

/// What a left product is called with, but for the contents.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Rows of X.
    rows: usize,
    /// How many elements lie before those of the first column, as after [`Coefficients::columns_in`].
    skipped: usize,
    /// Elements of X from one column to the next.
    x_stride: usize,
    /// Rows of the operand, the length of its first one, and by how much each is shorter than the one before.
    count: usize,
    row_bytes: usize,
    step: usize,
    /// Bytes from one row of the product to the next.
    stride: usize,
    /// Whether the operand is declared to be public.
    public: bool,
}

impl Shape {
    /// Nothing skipped and nothing between; secret.
    const fn new(rows: usize, count: usize, row_bytes: usize, step: usize) -> Self {
        Self { rows, skipped: 0, x_stride: rows, count, row_bytes, step, stride: row_bytes, public: false }
    }

    /// The same with a secret and with a public operand, for which kernels may differ.
    fn secret_and_public(self) -> [Self; 2] {
        [false, true].map(|public| Self { public, ..self })
    }

    fn x_len(&self) -> usize {
        (self.skipped + self.count) * self.x_stride
    }

    fn operand_len(&self) -> usize {
        self.count * self.row_bytes - self.step * (self.count * self.count.saturating_sub(1) / 2)
    }

    /// `out` ends with its last row.
    fn out_len(&self) -> usize {
        (self.rows - 1) * self.stride + self.row_bytes
    }

    fn run<B: Backend>(&self, b: B, x: &[u8], operand: &[u8], out: &mut [u8]) {
        let x = Coefficients::new(x, self.x_stride, self.rows).columns_in(self.skipped..self.skipped + self.count);
        let rows = match self.step {
            0 => Operand::full(operand, self.count, self.row_bytes),
            step => Operand::upper(operand, self.count, self.row_bytes, step),
        };
        b.left_product(x, if self.public { rows.public() } else { rows }, out, self.stride);
    }

    /// The definition, byte by byte, on what `out` holds.
    fn expect(&self, products: &Products, x: &[u8], operand: &[u8], out: &mut [u8]) {
        let mut start = 0;
        for i in 0..self.count {
            let row = &operand[start..][..self.row_bytes - i * self.step];
            start += row.len();
            for r in 0..self.rows {
                let product = &products[x[(self.skipped + i) * self.x_stride + r] as usize];
                for (out, &byte) in out[r * self.stride + i * self.step..].iter_mut().zip(row) {
                    *out ^= product[byte as usize];
                }
            }
        }
    }

    /// Compares `b` with the definition, on top of a random `out`; bytes between and behind its rows included.
    fn check<B: Backend>(&self, b: B, products: &Products, x: &[u8], operand: &[u8], random: &mut Random) {
        // Memory of the exact lengths: reading beyond it is what a sanitizer can see.
        let (x, operand) = (Box::<[u8]>::from(x), Box::<[u8]>::from(operand));
        let mut out = random.bytes(self.out_len() + 3).into_boxed_slice();
        let mut expected = out.clone();
        self.expect(products, &x, &operand, &mut expected);
        self.run(b, &x, &operand, &mut out);
        if out != expected {
            let at = out.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
            let (row, byte) = (at / self.stride, at % self.stride);
            panic!("{}: {self:?}: first difference in row {row}, byte {byte}", B::NAME);
        }
    }
}

/// Both elements of a byte times an element.
type Products = [[u8; 256]; 16];

fn products() -> Products {
    core::array::from_fn(|a| {
        core::array::from_fn(|byte| {
            let (a, byte) = (a as u8, byte as u8);
            gf16::mul(a, byte & 15) | gf16::mul(a, byte >> 4) << 4
        })
    })
}

/// A generator for tests: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(length).collect()
    }

    fn elements(&mut self, length: usize) -> Vec<u8> {
        self.bytes(length).into_iter().map(|byte| byte & 15).collect()
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// The shapes for which every pair of basis elements is tried.
const PROVED: &[Shape] = &[
    Shape::new(1, 1, 1, 0),
    Shape::new(2, 2, 2, 1),
    Shape::new(MAX_ROWS, 2, 3, 1),
    Shape::new(MAX_ROWS - 1, 3, 2, 0),
    Shape { stride: 12, ..Shape::new(5, 4, 9, 2) },
    Shape { stride: 70, ..Shape::new(3, 5, 66, 13) },
    Shape { skipped: 1, x_stride: 4, ..Shape::new(2, 3, 133, 61) },
    Shape::new(4, 3, 129, 0),
    Shape::new(3, 3, 261, 7),
    Shape::new(1, 6, 81, 16),
    Shape::new(5, 5, 16, 0),
];

fn left_product_basis<B: Backend>(b: B) {
    std::thread::scope(|scope| {
        for shape in PROVED.iter().copied().flat_map(Shape::secret_and_public) {
            scope.spawn(move || left_product_basis_of(b, shape));
        }
    });
}

fn left_product_basis_of<B: Backend>(b: B, shape: Shape) {
    let (mut x, mut operand) = (vec![0; shape.x_len()], vec![0; shape.operand_len()]);
    let (mut out, mut expected) = (vec![0; shape.out_len()], vec![0; shape.out_len()]);
    let mut start = 0;
    for i in 0..shape.count {
        let row_bytes = shape.row_bytes - i * shape.step;
        for bit in 0..8 * row_bytes {
            let byte = bit / 8;
            operand[start + byte] = 1 << (bit % 8);
            for other in 0..shape.count {
                for r in 0..shape.rows {
                    for x_bit in 0..4 {
                        let x = &mut x[..];
                        let at = (shape.skipped + other) * shape.x_stride + r;
                        x[at] = 1 << x_bit;
                        if other == i {
                            let product = gf16::mul(x[at], 1 << (bit % 4));
                            expected[r * shape.stride + i * shape.step + byte] = product << (bit % 8 / 4 * 4);
                        }
                        shape.run(b, x, &operand, &mut out);
                        assert!(
                            out == expected,
                            "{}: {shape:?}, bit {x_bit} of X[{r}][{other}], bit {bit} of row {i}",
                            B::NAME
                        );
                        x[at] = 0;
                        out.fill(0);
                        expected.fill(0);
                    }
                }
            }
            operand[start + byte] = 0;
        }
        start += row_bytes;
    }
}

fn left_product_bilinear<B: Backend>(b: B) {
    let mut random = Random(1);
    for shape in PROVED.iter().copied().flat_map(Shape::secret_and_public) {
        for _ in 0..20 {
            let xs = [(); 2].map(|()| random.elements(shape.x_len()));
            let operands = [(); 2].map(|()| random.bytes(shape.operand_len()));
            let sum = |[a, b]: &[Vec<u8>; 2]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
            // All four products added up in one buffer, starting from some content, against the product of the sums.
            let mut parts = random.bytes(shape.out_len());
            let mut whole = parts.clone();
            for x in &xs {
                for operand in &operands {
                    shape.run(b, x, operand, &mut parts);
                }
            }
            shape.run(b, &sum(&xs), &sum(&operands), &mut whole);
            assert!(parts == whole, "{}: {shape:?} is not bilinear", B::NAME);
        }
    }
}

fn left_product_odd_shapes<B: Backend>(b: B) {
    let (products, mut random) = (products(), Random(2));
    let mut check = |shape: Shape| {
        let (x, operand) = (random.elements(shape.x_len()), random.bytes(shape.operand_len()));
        for shape in shape.secret_and_public() {
            shape.check(b, &products, &x, &operand, &mut random);
        }
    };
    for row_bytes in (1..=8).chain(31..=65).chain([95, 96, 97, 127, 128, 129, 191, 193, 255, 256, 257, 1000]) {
        for rows in [1, 2, 3, 4, 5, 9, 18, MAX_ROWS] {
            for count in [1, 2, 3, 8] {
                check(Shape::new(rows, count, row_bytes, 0));
                for step in [1, 16, 32, 39] {
                    let count = count.min((row_bytes - 1) / step + 1);
                    let stride = row_bytes + [0, 1, 40][step % 3];
                    check(Shape { skipped: 2, x_stride: rows + 3, stride, ..Shape::new(rows, count, row_bytes, step) });
                }
            }
        }
    }
    // More rows of the operand than a kernel has tables for at a time.
    for rows in [2, MAX_ROWS] {
        check(Shape::new(rows, 165, 165 * 16 + 5, 16));
        check(Shape::new(rows, 165, 40, 0));
    }
    // Any number of rows of X, the operand having any number of rows.
    for rows in 1..=MAX_ROWS {
        for count in 0..=11 {
            check(Shape { stride: 300, ..Shape::new(rows, count, 11 * 24, 24 * (count % 2)) });
        }
    }
}

/// Calls `check` with what the scheme asks of the left product.
fn shapes_of<P: ParameterSet>(mut check: impl FnMut(Shape)) {
    let (k, o, v, n, mb) = (P::K, P::O, P::V, P::N, P::M_BYTES);
    let t_columns = k + usize::from(P::LINEAR);
    let p1 = |rows| Shape::new(rows, v, v * mb, mb);
    // P1: keygen, verification, signing. P1 in blocks. V P1 with the coefficients of O^T between.
    check(p1(o));
    check(Shape { stride: n * mb, ..p1(k) });
    check(p1(k + o));
    check(Shape { x_stride: k + o, ..p1(k) });
    let first = v / 3;
    check(Shape { skipped: first, stride: v * mb, ..Shape::new(k, v - first, (v - first) * mb, mb) });
    check(Shape { skipped: first, stride: v * mb, ..Shape::new(k, 1, (v - first) * mb, mb) });
    // P2 and P3 in verification; Q in keygen and signing.
    check(Shape { stride: n * mb, ..Shape::new(k, v, o * mb, 0) });
    check(Shape { skipped: v, stride: n * mb, ..Shape::new(k, o, o * mb, mb) });
    check(Shape::new(o, v, o * mb, 0));
    check(Shape { x_stride: k + o, ..Shape::new(k, v, o * mb, 0) });
    // T in verification and signing.
    check(Shape::new(k, n, t_columns * mb, 0));
    check(Shape::new(k + o, v, t_columns * mb, 0));
    // A and O^T.
    check(Shape::new(1, k * o, mb, 0));
    check(Shape::new(k, o, P::V_BYTES, 0));
}

/// Calls a generic function for each of the eight sets.
macro_rules! for_each_set {
    (|$set:ident| $body:expr) => {{
        for_each_set!(@ $set, $body, round3::Mayo1, round3::Mayo2, round3::Mayo3, round3::Mayo5);
        for_each_set!(@ $set, $body, round2::Mayo1, round2::Mayo2, round2::Mayo3, round2::Mayo5);
    }};
    (@ $set:ident, $body:expr, $($name:path),*) => {$({
        type $set = $name;
        $body
    })*};
}

fn left_product_sets<B: Backend>(b: B) {
    let (products, mut random) = (products(), Random(3));
    for_each_set!(|P| {
        shapes_of::<P>(|shape| {
            let operand = random.bytes(shape.operand_len());
            // The first and the last column alone, and some between.
            for column in (0..shape.count).step_by(37).chain([shape.count - 1]) {
                let mut x = vec![0; shape.x_len()];
                let only = &mut x[(shape.skipped + column) * shape.x_stride..][..shape.rows];
                only.copy_from_slice(&random.elements(shape.rows));
                for shape in shape.secret_and_public() {
                    check_column(b, &shape, column, &products, &x, &operand);
                }
            }
            for _ in 0..2 {
                let x = random.elements(shape.x_len());
                for shape in shape.secret_and_public() {
                    shape.check(b, &products, &x, &operand, &mut random);
                }
            }
        });
    });
}

/// Like [`Shape::check`] where X is zero but in one column.
fn check_column<B: Backend>(b: B, shape: &Shape, column: usize, products: &Products, x: &[u8], operand: &[u8]) {
    let mut out = vec![0; shape.out_len()];
    shape.run(b, x, operand, &mut out);
    let start = column * shape.row_bytes - shape.step * (column * column.saturating_sub(1) / 2);
    let row = &operand[start..][..shape.row_bytes - column * shape.step];
    for (r, out) in out.chunks_mut(shape.stride).enumerate() {
        let product = &products[x[(shape.skipped + column) * shape.x_stride + r] as usize];
        let (before, out) = out.split_at(column * shape.step);
        let (out, after) = out.split_at(row.len());
        let right = out.iter().zip(row).all(|(&out, &byte)| out == product[byte as usize]);
        let clean = before.iter().chain(after).all(|&byte| byte == 0);
        assert!(right && clean, "{}: {shape:?}: row {r} of column {column} alone", B::NAME);
    }
}

fn aes128_ctr<B: Backend>(b: B) {
    let mut random = Random(4);
    let lengths = (0..=300usize).chain([511, 512, 513, 1000, 1024, 2048, 4080, 4096, 4097, 5000, 9999, 65_536, 70_003]);
    for length in lengths {
        for first in [0, 1, 254, 255, 256, u32::MAX - 2] {
            let key: [u8; 16] = core::array::from_fn(|_| random.next() as u8);
            let iv: [u8; 16] =
                if random.below(4) == 0 { [0; 16] } else { core::array::from_fn(|_| random.next() as u8) };
            let cipher = aes::Aes128::new(&Array(key));
            let mut expected = Vec::new();
            for j in 0..length.div_ceil(16) as u128 {
                let counter = (u128::from(first) + j).to_be_bytes();
                let mut block = Array(core::array::from_fn(|i| iv[i] ^ counter[i]));
                cipher.encrypt_block(&mut block);
                expected.extend_from_slice(&block);
            }
            expected.truncate(length);
            let mut out = random.bytes(length + 1);
            expected.push(out[length]);
            b.aes128_ctr(&key, &iv, first, &mut out[..length]);
            assert!(out == expected, "{}: {length} bytes from block {first}", B::NAME);
        }
    }
}

fn solve<B: Backend>(b: B) {
    let mut random = Random(5);
    for_each_set!(|P| {
        let (m, columns) = (P::M, P::K * P::O);
        let (mut solvable, mut singular) = (0, 0);
        for round in 0..60 {
            let mut a: Vec<Vec<u8>> = (0..m).map(|_| random.elements(columns)).collect();
            let y = random.elements(m);
            // Columns that depend on those before them.
            for _ in 0..round % 5 {
                let column = 1 + random.below(columns - 1);
                let (from, factor) = (random.below(column), random.next() as u8 & 15);
                a.iter_mut().for_each(|row| row[column] = gf16::mul(factor, row[from]));
            }
            match round % 12 {
                // Low rank: a row that is the sum of two others.
                7 => {
                    let (i, j, k) = (random.below(m), random.below(m), random.below(m));
                    let sum: Vec<u8> = a[i].iter().zip(&a[j]).map(|(a, b)| a ^ b).collect();
                    a[k] = if i == j { vec![0; columns] } else { sum };
                }
                // Few non-zero entries: pivots far down, and in any order.
                8 => {
                    let shift = random.below(m);
                    for (i, row) in a.iter_mut().enumerate() {
                        for (j, entry) in row.iter_mut().enumerate() {
                            *entry = if (i + shift) % m == j % m { *entry | 1 } else { 0 };
                        }
                    }
                }
                9 if round % 24 == 9 => a.iter_mut().for_each(|row| row.fill(0)),
                _ => {}
            }
            let expected = solve_by_rows(&a, &y, columns);
            let mut bytes = vec![0; (columns + 1) * m / 2];
            for (c, bytes) in bytes.chunks_exact_mut(m / 2).enumerate() {
                let column: Vec<u8> = (0..m).map(|i| if c < columns { a[i][c] } else { y[i] }).collect();
                packed::encode(&column, bytes);
            }
            let mut x = random.bytes(columns);
            let solved = b.solve(&mut bytes, m, &mut x);
            assert!(solved <= 1);
            assert_eq!(solved == 1, expected.is_some(), "{}: m = {m}, {columns} columns, round {round}", B::NAME);
            match expected {
                Some(expected) => {
                    assert_eq!(x, expected, "{}: m = {m}, {columns} columns, round {round}", B::NAME);
                    solvable += 1;
                }
                None => singular += 1,
            }
        }
        assert!(solvable > 10 && singular > 5, "{solvable} systems solvable, {singular} singular");
    });
}

/// Elimination by rows, with branches: the textbook, kept apart from the kernels. `None` if the rank is too low.
fn solve_by_rows(a: &[Vec<u8>], y: &[u8], columns: usize) -> Option<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = a.iter().zip(y).map(|(row, &y)| [row.as_slice(), &[y]].concat()).collect();
    let mut pivots = Vec::new();
    for column in 0..columns {
        let top = pivots.len();
        let Some(found) = (top..rows.len()).find(|&i| rows[i][column] != 0) else { continue };
        rows.swap(top, found);
        let inverse = gf16::inverse(rows[top][column]);
        let pivot: Vec<u8> = rows[top].iter().map(|&a| gf16::mul(a, inverse)).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = if i == top { 0 } else { row[column] };
            row.iter_mut().zip(&pivot).for_each(|(a, &p)| *a ^= gf16::mul(factor, p));
        }
        rows[top] = pivot;
        pivots.push(column);
        if pivots.len() == rows.len() {
            break;
        }
    }
    (pivots.len() == rows.len()).then(|| {
        let mut x = vec![0; columns];
        pivots.iter().zip(&rows).for_each(|(&column, row)| x[column] = row[columns]);
        x
    })
}

fn vectorize<B: Backend>(b: B) {
    let words: Vec<u64> = (0..100).collect();
    assert_eq!(b.vectorize(|| words.iter().map(|word| word * word).sum::<u64>()), 328_350);
    let mut copy = vec![0; 100];
    b.vectorize(
        #[inline(always)]
        || copy.copy_from_slice(&words),
    );
    assert_eq!(copy, words);
}
