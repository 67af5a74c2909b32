//! Runs operations between the marks, each with several secrets and the same public inputs.
//!
//! From the traces of QEMU's counter, `cargo xtask firmware` tells whether all runs took the same
//! branches and touched the same addresses.

use crate::clock::Clock;
use crate::end::fail;
use crate::known::KNOWN;
use crate::random::Random;
use aioli::backend::{Armv7em, Backend};
use aioli::hazmat::in_place;
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use aioli::{Algorithm, MessageDigest, ParameterSet, with_set};
use core::hint::black_box;
use cortex_m_semihosting::hprintln;

/// Runs each operation with several secrets, and prints a line for each run.
pub(crate) fn all(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    products(b, clock, memory);
    systems(b, clock, memory);
    hashes(b, clock, memory);
    for algorithm in [Algorithm::Mayo1Round2, Algorithm::Mayo2Round2] {
        with_set!(algorithm, P => signatures::<P>(b, clock, memory));
    }
    planted(clock);
}

/// Calls `run` once for each choice of secrets, which are zeros the first time.
fn with_secrets(operation: &str, mut run: impl FnMut(&mut dyn FnMut(&mut [u8], u8))) {
    // The compiler knows neither secrets nor runs, so it cannot write code for one of them alone.
    for seed in 0..black_box(RUNS) {
        let mut random = Random::new(black_box(seed + 1));
        let secrets = black_box(if seed == 0 { 0 } else { 255 });
        run(&mut |secret, mask| {
            random.fill(secret);
            secret.iter_mut().for_each(|byte| *byte &= mask & secrets);
        });
        hprintln!("trace operation={} secret={}", operation, seed);
    }
}

/// Runs left products with an operand that is secret, that is public, or that is part of a stream.
fn products(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    const COUNT: usize = 41;
    const ROWS: usize = 18;
    const STEP: usize = 39;
    const ROW_BYTES: usize = 50 * STEP;
    let (left, memory) = memory.split_at_mut(COUNT * ROWS);
    let (out, memory) = memory.split_at_mut(ROWS * ROW_BYTES);
    let (window, memory) = memory.split_at_mut(10 << 10);
    let right = &mut memory[..COUNT * ROW_BYTES - STEP * (COUNT * (COUNT - 1) / 2)];
    with_secrets("left_product/secret_rows", |fill| {
        fill(left, 15);
        fill(out, 255);
        fill(right, 255);
        let left = Coefficients::new(left, ROWS, ROWS);
        let right = Operand::upper(right, COUNT, ROW_BYTES, STEP);
        clock.time(|| b.left_product(left, right, Output::add_to(out, ROW_BYTES)));
    });
    with_secrets("left_product/public_rows", |fill| {
        fill(left, 15);
        fill(out, 255);
        Random::new(77).fill(right);
        let left = Coefficients::new(left, ROWS, ROWS);
        let right = Operand::upper(right, COUNT, ROW_BYTES, STEP).public();
        clock.time(|| b.left_product(left, right, Output::add_to(out, ROW_BYTES)));
    });
    let part = StreamPart::new(5, ROW_BYTES, STEP, COUNT, 0..ROW_BYTES);
    with_secrets("left_product_of_stream", |fill| {
        fill(left, 15);
        fill(out, 255);
        let left = Coefficients::new(left, ROWS, ROWS);
        clock.time(|| b.left_product_of_stream(left, &[7; 16], &part, window, Output::add_to(out, ROW_BYTES)));
    });
}

/// Runs the solver. The first system, of zeros, does not have full rank.
fn systems(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    for (operation, m, unknowns) in [("solve/80x80", 80, 80), ("solve/64x68", 64, 68), ("solve/142x144", 142, 144)] {
        let (columns, memory) = memory.split_at_mut((unknowns + 1) * m / 2);
        with_secrets(operation, |fill| {
            fill(columns, 255);
            clock.time(|| _ = b.solve(columns, m, &mut memory[..unknowns]));
        });
    }
}

/// Runs SHAKE256.
fn hashes(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    let (input, output) = memory.split_at_mut(100);
    with_secrets("shake256", |fill| {
        fill(input, 255);
        clock.time(|| b.shake256(&[&[input]], &mut [&mut output[..500]]));
    });
}

/// Signs with one key, on which P and so some addresses depend. All secrets but O differ.
///
/// Signs with sets of round 2, where nothing that comes from the salt addresses memory. They have
/// enough columns that the first sample succeeds.
fn signatures<P: ParameterSet>(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    let known = KNOWN.iter().find(|known| known.algorithm == P::ALGORITHM);
    let Some(Ok(secret_key)) = known.map(|known| P::SecretKeyBytes::try_from(known.secret_key)) else {
        fail("no known answer of the set")
    };
    let digest = MessageDigest::<P>::of(b"a message");
    let (window, memory) = memory.split_at_mut((10 << 10).max(in_place::min_window::<P>()));
    let memory = &mut memory[..in_place::sign_memory::<P>(12)];
    with_secrets(P::ALGORITHM.name(), |fill| {
        let mut randomizer = [0; 64];
        let randomizer = &mut randomizer[..P::SALT_BYTES];
        fill(randomizer, 255);
        let mut signed = false;
        clock.time(|| {
            signed = in_place::sign::<P, _>(b, &secret_key, &digest, Some(randomizer), window, memory).is_ok();
        });
        if !signed {
            fail("a message could not be signed");
        }
    });
}

/// Runs leaks that must be found: an address and a branch that depend on a secret.
fn planted(clock: &mut Clock) {
    let table = [0u8; 256];
    with_secrets("planted/address", |fill| {
        let mut secret = [0];
        fill(&mut secret, 255);
        clock.time(|| {
            // SAFETY: a byte is less than the length of the table.
            unsafe { table.as_ptr().add(usize::from(secret[0])).read_volatile() };
        });
    });
    with_secrets("planted/branch", |fill| {
        let mut secret = [0];
        fill(&mut secret, 255);
        clock.time(|| {
            for _ in 0..secret[0] {
                cortex_m::asm::nop();
            }
        });
    });
}

/// Choices of secrets for each operation.
const RUNS: u32 = 4;
