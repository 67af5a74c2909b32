//! Operations whose secrets differ and whose public inputs do not, between the marks: from what QEMU's counter saw
//! `cargo xtask firmware` tells whether they branched alike and touched the same addresses.

use crate::clock::Clock;
use crate::random::Random;
use crate::{KNOWN, fail};
use aioli::backend::{Armv7em, Backend};
use aioli::hazmat::in_place;
use aioli::packed::{Coefficients, Operand};
use aioli::stream::StreamPart;
use aioli::{Algorithm, MessageDigest, ParameterSet, with_set};
use core::hint::black_box;
use cortex_m_semihosting::hprintln;

/// Runs each operation with several secrets, one line for each run.
pub(crate) fn all(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    products(b, clock, memory);
    systems(b, clock, memory);
    hashes(b, clock, memory);
    for algorithm in [Algorithm::Mayo1Round2, Algorithm::Mayo2Round2] {
        with_set!(algorithm, P => signatures::<P>(b, clock, memory));
    }
    planted(clock);
}

/// Calls `run` once for each choice of secrets: the first time they are zeros.
fn with_secrets(operation: &str, mut run: impl FnMut(&mut dyn FnMut(&mut [u8], u8))) {
    // The compiler knows neither secrets nor runs, so that it has no code for one of them alone.
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

/// Left products with rows that are secret, that are public, and that are part of a stream.
fn products(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    const COUNT: usize = 41;
    const ROWS: usize = 18;
    const STEP: usize = 39;
    const ROW_BYTES: usize = 50 * STEP;
    let (x, memory) = memory.split_at_mut(COUNT * ROWS);
    let (out, memory) = memory.split_at_mut(ROWS * ROW_BYTES);
    let (window, memory) = memory.split_at_mut(10 << 10);
    let rows = &mut memory[..COUNT * ROW_BYTES - STEP * (COUNT * (COUNT - 1) / 2)];
    with_secrets("left_product/secret_rows", |fill| {
        fill(x, 15);
        fill(out, 255);
        fill(rows, 255);
        let (x, rows) = (Coefficients::new(x, ROWS, ROWS), Operand::upper(rows, COUNT, ROW_BYTES, STEP));
        clock.time(|| b.left_product(x, rows, out, ROW_BYTES));
    });
    with_secrets("left_product/public_rows", |fill| {
        fill(x, 15);
        fill(out, 255);
        Random::new(77).fill(rows);
        let (x, rows) = (Coefficients::new(x, ROWS, ROWS), Operand::upper(rows, COUNT, ROW_BYTES, STEP).public());
        clock.time(|| b.left_product(x, rows, out, ROW_BYTES));
    });
    let part = StreamPart::new(5, ROW_BYTES, STEP, COUNT, 0..ROW_BYTES);
    with_secrets("left_product_of_stream", |fill| {
        fill(x, 15);
        fill(out, 255);
        let x = Coefficients::new(x, ROWS, ROWS);
        clock.time(|| b.left_product_of_stream(x, &[7; 16], &part, window, out, ROW_BYTES));
    });
}

/// Linear systems, the first one without a solution.
fn systems(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    for (operation, m, unknowns) in [("solve/80x80", 80, 80), ("solve/64x68", 64, 68), ("solve/142x144", 142, 144)] {
        let (columns, memory) = memory.split_at_mut((unknowns + 1) * m / 2);
        with_secrets(operation, |fill| {
            fill(columns, 255);
            clock.time(|| _ = b.solve(columns, m, &mut memory[..unknowns]));
        });
    }
}

fn hashes(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    let (input, output) = memory.split_at_mut(100);
    with_secrets("shake256", |fill| {
        fill(input, 255);
        clock.time(|| b.shake256(&[&[input]], &mut [&mut output[..500]]));
    });
}

/// Signing with one key, on which P and so some addresses depend: all secrets but O differ. For sets of round 2, where
/// nothing addresses memory that comes from the salt, and which have so many columns that one sample does.
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

/// Leaks that must be found: an address and a branch that depend on a secret.
fn planted(clock: &mut Clock) {
    let table = [0u8; 256];
    with_secrets("planted/address", |fill| {
        let mut secret = [0];
        fill(&mut secret, 255);
        clock.time(|| {
            // SAFETY: within the table.
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

/// How many secrets each operation is run with.
const RUNS: u32 = 4;
