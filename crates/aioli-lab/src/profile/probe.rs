//! A backend that wraps another and notes the time of every call of the contract.
//!
//! The library has no code for it, so a backend without a probe pays nothing.

use crate::counter;
use crate::techniques::Token;
use aioli::backend::Backend;
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::Instant;

/// A backend that delegates every call and notes its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe(pub(super) Token);

/// A call of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kernel: Kernel,
    /// Its time, in units of [`ticks`].
    pub(super) ticks: u64,
}

/// The method that was called, and the figures that tell its calls apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// `left_product`: the rows of `left`, and the rows and the step of the other operand.
    Product {
        left_rows: usize,
        count: usize,
        step: usize,
    },
    KeyStream {
        bytes: usize,
    },
    Hash,
    Solve,
    Vectorize,
}

/// Runs `f`, and returns its calls in order, its whole time and its result.
pub(super) fn calls_of<T>(f: impl FnOnce() -> T) -> (Vec<Call>, u64, T) {
    CALLS.with_borrow_mut(Vec::clear);
    let start = ticks();
    let result = f();
    let total = ticks() - start;
    (CALLS.with_borrow(Vec::clone), total, result)
}

/// The time-stamp counter, or nanoseconds without one.
pub(super) fn ticks() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    counter::cycles().unwrap_or_else(|| START.elapsed().as_nanos() as u64)
}

#[inline(always)]
fn note<T>(kernel: Kernel, f: impl FnOnce() -> T) -> T {
    let start = ticks();
    let result = f();
    let ticks = ticks() - start;
    CALLS.with_borrow_mut(|calls| calls.push(Call { kernel, ticks }));
    result
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

impl Backend for Probe {
    const NAME: &'static str = "probe";

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        let kernel = Kernel::Product { left_rows: left.rows(), count: right.count(), step: right.step() };
        note(kernel, || self.0.left_product(left, right, out));
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        self.0.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        note(Kernel::KeyStream { bytes: out.len() }, || self.0.aes128_ctr(key, iv, first, out));
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        note(Kernel::Hash, || self.0.shake256(inputs, outputs));
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        note(Kernel::Solve, || self.0.solve(columns, m, x))
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        note(Kernel::Vectorize, || self.0.vectorize(f))
    }
}
