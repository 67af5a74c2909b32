//! Planted leaks, behind the real kernels and within the library: a checker that does not report
//! them checks nothing.

use crate::checker::Checker;
use crate::operations;
use crate::systems::noise;
use aioli::backend::Backend;
use aioli::hazmat::Leak;
use aioli::packed::{Coefficients, Operand, Output};
use aioli::round3::Mayo2;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The kind of a leak.
#[derive(Clone, Copy)]
pub(crate) enum Plant {
    /// No leak. This is the control, which must pass.
    None,
    /// A branch on bits of the solution of a secret system.
    Branch,
    /// A table indexed by a byte of a product with secret coefficients.
    Index,
    /// A branch on whether a secret system has a solution, which is not declassified.
    Solved,
    /// A leak within the library.
    Within(Leak),
}

impl Plant {
    /// The operation of the scheme that runs into a leak within the library.
    pub(crate) fn operation(self) -> Option<&'static str> {
        match self {
            Self::Within(Leak::Solver) => Some("solve"),
            Self::Within(_) => Some("sign_expanded"),
            _ => None,
        }
    }
}

impl std::str::FromStr for Plant {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "none" => Ok(Self::None),
            "branch" => Ok(Self::Branch),
            "index" => Ok(Self::Index),
            "solved" => Ok(Self::Solved),
            "solver" => Ok(Self::Within(Leak::Solver)),
            "whipping" => Ok(Self::Within(Leak::Whipping)),
            "codec" => Ok(Self::Within(Leak::Codec)),
            "hash" => Ok(Self::Within(Leak::Hash)),
            _ => Err("the plants are none, branch, index, solved, solver, whipping, codec and hash"),
        }
    }
}

/// Plants a leak, and runs into it.
pub(crate) fn run<B: Backend>(b: B, plant: Plant, checker: &mut Checker) {
    if let Plant::Within(leak) = plant {
        aioli::hazmat::plant(leak);
        operations::run::<Mayo2, B>(b, checker);
    } else {
        behind_kernels(b, plant, checker);
    }
}

/// Multiplies public rows by secret coefficients, solves the first row of the product as a system,
/// and leaks.
fn behind_kernels<B: Backend>(b: B, plant: Plant, checker: &mut Checker) {
    let r = noise(DEPTH * ROW_BYTES, 0);
    let mut product = vec![0; ROWS * ROW_BYTES];
    let mut x = [0; UNKNOWNS];
    checker.operation("product and solution", checker.keys(), |secret, section| {
        let mut elements = noise(DEPTH * ROWS, secret + 1);
        for element in &mut elements {
            // Zero coefficients give a system without a solution.
            *element &= if matches!(plant, Plant::Solved) && secret % 2 == 1 { 0 } else { 15 };
        }
        Checker::secret(&elements);
        section.enter(|| {
            let coefficients = Coefficients::new(&elements, ROWS, ROWS);
            b.left_product(coefficients, Operand::full(&r, DEPTH, ROW_BYTES), Output::replace(&mut product, ROW_BYTES));
            let by_secret = product[2 * ROW_BYTES - 1];
            let solved = b.solve(&mut product[..ROW_BYTES], M, &mut x);
            leak(plant, by_secret, solved, &x);
        });
    });
}

#[inline(never)]
fn leak(plant: Plant, product: u8, solved: u8, x: &[u8]) {
    match plant {
        Plant::Branch => x[..8].iter().for_each(|element| {
            if element & 1 == 1 {
                TABLE[0].fetch_add(1, Relaxed);
            }
        }),
        Plant::Index => {
            std::hint::black_box(TABLE[usize::from(product)].load(Relaxed));
        }
        Plant::Solved => {
            if solved == 1 {
                TABLE[1].fetch_add(1, Relaxed);
            }
        }
        _ => {}
    }
}

/// Atomic, so that the compiler neither folds a look-up nor turns a branch into a select.
static TABLE: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];

/// Shapes like those of signing with MAYO_2.
const ROWS: usize = 18;
const DEPTH: usize = 73;
const M: usize = 64;
const UNKNOWNS: usize = 65;
const ROW_BYTES: usize = (UNKNOWNS + 1) * M / 2;
