//! The kernels of every backend against the portable ones, each operand between guard pages.
#![no_main]

use aioli::backend::{Backend, MAX_EQUATIONS, MAX_ROWS, MAX_UNKNOWNS, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use aioli_fuzz::guard::Guarded;
use aioli_fuzz::{Random, on_every_backend, require_backends};
use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use std::cell::RefCell;

fuzz_target!(init: require_backends(), |data: &[u8]| -> Corpus {
    let mut input = Unstructured::new(data);
    let run = |input: &mut Unstructured<'_>| match input.int_in_range(0..=4)? {
        0 => left_product(input),
        1 => left_product_of_stream(input),
        2 => aes128_ctr(input),
        3 => shake256(input),
        _ => solve(input),
    };
    match run(&mut input) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

/// Runs a kernel on every backend and demands the portable backend's output.
///
/// `$run` gets the backend and copies of the operands, each with one end at a guard page. The last
/// operand is compared, and the value that `$run` returns.
macro_rules! compare {
    ($what:expr, $input:expr, $operands:expr, |$b:ident, $copies:ident| $run:expr) => {{
        let operands: &[Vec<u8>] = &$operands;
        let ends: u8 = $input.arbitrary()?;
        let run_portable = |$b: Portable, $copies: &mut [&mut [u8]]| $run;
        let expected = on_copies(operands, ends, |copies| run_portable(Portable::new(), copies));
        on_every_backend!(|b| {
            let result = on_copies(operands, ends, |$copies| {
                let $b = b;
                $run
            });
            assert!(result == expected, "{} differs from portable: {}", name(b), $what);
        });
        Ok(())
    }};
}

/// Runs `f` on guarded copies of the operands; bit i of `ends` says which end of operand i is at a
/// guard page. Returns the last operand afterwards.
fn on_copies<T>(operands: &[Vec<u8>], ends: u8, f: impl FnOnce(&mut [&mut [u8]]) -> T) -> (T, Vec<u8>) {
    OPERANDS.with_borrow_mut(|memory| {
        let mut copies: Vec<&mut [u8]> = Vec::new();
        for (i, (memory, operand)) in memory.iter_mut().zip(operands).enumerate() {
            let copy = memory.slice(operand.len(), ends >> i & 1 == 0);
            copy.copy_from_slice(operand);
            copies.push(copy);
        }
        let value = f(&mut copies);
        (value, copies.last().expect("an output").to_vec())
    })
}

fn name<B: Backend>(_: B) -> &'static str {
    B::NAME
}

/// The shape of a left product, and its left operand and output.
struct Shape {
    rows: usize,
    left_stride: usize,
    count: usize,
    row_bytes: usize,
    step: usize,
    stride: usize,
    /// Bytes of the output behind its last row.
    behind: usize,
    public: bool,
    adds: bool,
}

impl Shape {
    fn new(input: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let rows = input.int_in_range(0..=MAX_ROWS)?;
        let left_stride = rows + input.int_in_range(0..=5)?;
        let count = if left_stride == 0 { 0 } else { input.int_in_range(0..=180)? };
        let row_bytes = input.int_in_range(1..=LONGEST_ROW)?;
        // The rows of a triangle, of which there is at least one, begin within row 0.
        let most = if count > 1 { row_bytes / (count - 1) } else { row_bytes };
        let step = if count > 0 && input.arbitrary()? { input.int_in_range(0..=most)? } else { 0 };
        let stride = row_bytes + input.int_in_range(0..=70)?;
        let behind = input.int_in_range(0..=3)?;
        Ok(Self {
            rows,
            left_stride,
            count,
            row_bytes,
            step,
            stride,
            behind,
            public: input.arbitrary()?,
            adds: input.arbitrary()?,
        })
    }

    /// The left operand, with elements of the field.
    fn left(&self, random: &mut Random) -> Vec<u8> {
        let mut left = random.bytes(self.count * self.left_stride);
        left.iter_mut().for_each(|element| *element &= 15);
        left
    }

    fn output<'a>(&self, bytes: &'a mut [u8]) -> Output<'a> {
        Output::new(bytes, self.stride, self.adds)
    }

    /// The output for rows of `row_bytes`.
    fn out(&self, row_bytes: usize, random: &mut Random) -> Vec<u8> {
        let rows = self.rows.checked_sub(1).map_or(0, |last| last * self.stride + row_bytes);
        random.bytes(rows + self.behind)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rows, left_stride, count, row_bytes, step, stride, public, adds, .. } = self;
        write!(f, "left {rows} by {count}, {left_stride} a column; row 0 of {row_bytes} bytes, step {step}; ")?;
        write!(f, "{stride} a row of the product; public: {public}; adds: {adds}")
    }
}

fn left_product(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let shape = Shape::new(input)?;
    let Shape { rows, left_stride, count, row_bytes, step, .. } = shape;
    let mut random = Random(input.arbitrary()?);
    let right = random.bytes(count * row_bytes - step * (count * count.saturating_sub(1) / 2));
    let operands = [shape.left(&mut random), right, shape.out(row_bytes, &mut random)];
    compare!(format!("left_product, {shape}"), input, operands, |b, copies| {
        let [left, right, out] = copies else { unreachable!("three operands") };
        let right = match step {
            0 => Operand::full(right, count, row_bytes),
            step => Operand::upper(right, count, row_bytes, step),
        };
        let right = if shape.public { right.public() } else { right };
        b.left_product(Coefficients::new(left, left_stride, rows), right, shape.output(out));
    })
}

fn left_product_of_stream(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let mut shape = Shape::new(input)?;
    shape.left_stride = shape.left_stride.max(1);
    shape.count = shape.count.max(1);
    let Shape { rows, left_stride, count, row_bytes, step, .. } = shape;
    // The last row must not begin behind the columns.
    let end = input.int_in_range((count - 1) * step + 1..=row_bytes.max((count - 1) * step + 1))?;
    if end > row_bytes {
        return Err(arbitrary::Error::IncorrectFormat);
    }
    let begin = input.int_in_range(0..=end - 1)?;
    let part = StreamPart::new(input.int_in_range(0..=1 << 21)?, row_bytes, step, count, begin..end);
    let window = part.width() + 32 + input.int_in_range(0..=LONGEST_WINDOW - LONGEST_ROW - 32)?;
    let mut random = Random(input.arbitrary()?);
    let key: [u8; 16] = input.arbitrary()?;
    let operands = [shape.left(&mut random), random.bytes(window), shape.out(part.width(), &mut random)];
    compare!(format!("left_product_of_stream, {shape}, {part:?}"), input, operands, |b, copies| {
        let [left, window, out] = copies else { unreachable!("three operands") };
        b.left_product_of_stream(Coefficients::new(left, left_stride, rows), &key, &part, window, shape.output(out));
    })
}

fn aes128_ctr(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let (key, iv, first) = input.arbitrary::<([u8; 16], [u8; 16], u32)>()?;
    let length = input.int_in_range(0..=20_000)?;
    compare!(format!("aes128_ctr, {length} bytes from {first}"), input, [vec![0x5a; length]], |b, copies| {
        b.aes128_ctr(&key, &iv, first, copies[0]);
    })
}

fn shake256(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let inputs = input.int_in_range(1..=9)?;
    let lengths: Vec<(usize, usize, usize)> = (0..inputs)
        .map(|_| Ok((input.int_in_range(0..=271)?, input.int_in_range(0..=271)?, input.int_in_range(0..=700)?)))
        .collect::<arbitrary::Result<_>>()?;
    let mut random = Random(input.arbitrary()?);
    let bytes = random.bytes(lengths.iter().map(|(length, ..)| length).sum());
    let out = random.bytes(lengths.iter().map(|(.., out)| out).sum());
    compare!(format!("shake256, {lengths:?}"), input, [bytes, out], |b, copies| {
        let [bytes, out] = copies else { unreachable!("two operands") };
        let (mut bytes, mut out) = (&**bytes, &mut **out);
        let (mut parts, mut outputs) = (Vec::new(), Vec::new());
        for &(length, cut, wanted) in &lengths {
            let (message, rest) = bytes.split_at(length);
            let (first, second) = message.split_at(cut.min(length));
            parts.push([first, second]);
            bytes = rest;
            let (output, rest) = out.split_at_mut(wanted);
            outputs.push(output);
            out = rest;
        }
        let inputs: Vec<&[&[u8]]> = parts.iter().map(|parts| &parts[..]).collect();
        b.shake256(&inputs, &mut outputs);
    })
}

fn solve(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let m = 2 * input.int_in_range(1..=MAX_EQUATIONS / 2)?;
    let most = MAX_UNKNOWNS.min(m + 14);
    // Systems of the shape in use, which can be solved, more often than others.
    let unknowns = if input.arbitrary()? { input.int_in_range(m..=most)? } else { input.int_in_range(1..=most)? };
    let mut columns = Random(input.arbitrary()?).bytes((unknowns + 1) * m / 2);
    for _ in 0..input.int_in_range(0..=20)? {
        let [to, from] = [input.int_in_range(0..=unknowns)?, input.int_in_range(0..=unknowns)?];
        match input.arbitrary()? {
            // A column that depends on another.
            true => columns.copy_within(from * m / 2..(from + 1) * m / 2, to * m / 2),
            // A zero column, or two rows of zeros.
            false if to >= from => columns[to * m / 2..(to + 1) * m / 2].fill(0),
            false => columns.iter_mut().skip(from % (m / 2)).step_by(m / 2).for_each(|pair| *pair = 0),
        }
    }
    let what = format!("solve, {m} equations, {unknowns} unknowns");
    compare!(what, input, [columns, vec![0xa5; unknowns]], |b, copies| {
        let [columns, x] = copies else { unreachable!("two operands") };
        let solved = b.solve(columns, m, x);
        if solved == 0 {
            x.fill(0);
        }
        solved
    })
}

/// Bytes of the longest row 0 of `right`; the sets need up to 133 vectors of 71 bytes.
const LONGEST_ROW: usize = 10_000;
/// Bytes of the longest window.
const LONGEST_WINDOW: usize = 100_000;
/// Bytes of the longest operand, `right`.
const LONGEST: usize = 180 * LONGEST_ROW;

thread_local! {
    static OPERANDS: RefCell<[Guarded; 3]> = RefCell::new([LONGEST; 3].map(Guarded::new));
}
