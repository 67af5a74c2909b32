//! MAYO on a Cortex-M4: makes keys, signs and verifies from the compact keys, and compares with
//! NIST's known answers.
//!
//! Prints a line for each parameter set and operation on the debugger's console: the count of the
//! clock, the depth of the stack, and the memory by its parts. `cargo xtask firmware` builds this
//! program, runs it under QEMU and makes a table of the lines.
#![no_std]
#![no_main]

mod check;
mod clock;
mod end;
mod kernels;
mod known;
mod random;
mod stack;
mod trace;

use aioli::backend::{Armv7em, Backend, Portable};
use aioli::hazmat::in_place;
use aioli::{MessageDigest, ParameterSet, Signature, round2, with_set};
use clock::Clock;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use cortex_m_semihosting::debug::{EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::{hprintln, syscall1};
use end::{fail, stop};
use known::{KNOWN, Known};

#[entry]
fn main() -> ! {
    let Some(peripherals) = cortex_m::Peripherals::take() else { fail("the peripherals are taken") };
    let mut clock = Clock::start(peripherals);
    if !clock.runs() {
        fail("the clock does not count");
    }
    let Some(memory) = cortex_m::singleton!(: [u8; MEMORY] = [0; MEMORY]) else { fail("the memory is taken") };

    let mut line = [0; 256];
    let words = command_line(&mut line);
    let says = |word: &str| words.split(' ').any(|given| given == word);
    if says("check") {
        match Armv7em::detect().map(check::all) {
            Some(Ok(checked)) => hprintln!("checked={}", checked),
            Some(Err(what)) => fail(what),
            None => fail("no backend to check"),
        }
        stop(EXIT_SUCCESS);
    }
    if says("trace") {
        if let Some(b) = Armv7em::detect() {
            trace::all(b, &mut clock, memory);
        }
        stop(EXIT_SUCCESS);
    }
    if says("kernels") {
        if let Some(b) = Armv7em::detect() {
            kernels::measure::<round2::Mayo1>(b, &mut clock, memory);
            kernels::measure::<round2::Mayo2>(b, &mut clock, memory);
            kernels::measure::<round2::Mayo3>(b, &mut clock, memory);
        }
        stop(EXIT_SUCCESS);
    }
    let portable = says("portable");
    let all = !KNOWN.iter().any(|known| says(known.algorithm.name()));
    let mut ran = 0;
    for known in KNOWN.iter().filter(|known| all || says(known.algorithm.name())) {
        for profile in &PROFILES {
            with_set!(known.algorithm, P => match Armv7em::detect() {
                Some(b) if !portable => measure::<P, _>(b, known, profile, &mut clock, memory),
                _ => measure::<P, _>(Portable::new(), known, profile, &mut clock, memory),
            });
        }
        ran += 1;
    }
    hprintln!("done sets={}", ran);
    stop(EXIT_SUCCESS)
}

/// The memory that the operations get.
struct Profile {
    name: &'static str,
    /// Bytes of the window for the expanded part of P.
    window: usize,
    /// Columns of P that are processed at a time.
    columns: usize,
}

/// Measures the three operations of a set.
fn measure<P: ParameterSet, B: Backend>(b: B, known: &Known, profile: &Profile, clock: &mut Clock, memory: &mut [u8]) {
    let (Ok(secret_key), Ok(signature)) =
        (P::SecretKeyBytes::try_from(known.secret_key), Signature::<P>::try_from(known.signature))
    else {
        fail("a known answer of the wrong length")
    };
    let Ok(public_key) = P::PublicKeyBytes::try_from(known.public_key) else {
        fail("a public key of the wrong length")
    };
    let digest = MessageDigest::<P>::of(known.message);
    let inputs = P::DIGEST_BYTES + P::SIGNATURE_BYTES;
    let columns = profile.columns.min(P::V);
    let window_bytes = profile.window.max(in_place::min_window::<P>());
    let (window, memory) = memory.split_at_mut(window_bytes);

    let keygen_memory = in_place::keygen_memory::<P>(columns);
    let mut made = None;
    let (time, stack) = stack::depth(|| {
        clock.time(|| made = in_place::keygen::<P, _>(b, &secret_key, window, &mut memory[..keygen_memory]).ok())
    });
    let right = made.is_some_and(|made| made.as_ref() == known.public_key);
    let keys = P::SECRET_KEY_BYTES + P::PUBLIC_KEY_BYTES;
    report::<P, B>("keygen", profile, time, stack, [window_bytes, keygen_memory, keys], right);

    let sign_memory = in_place::sign_memory::<P>(columns);
    let mut made = None;
    let (time, stack) = stack::depth(|| {
        let memory = &mut memory[..sign_memory];
        clock.time(|| {
            made = in_place::sign::<P, _>(b, &secret_key, &digest, Some(known.randomizer), window, memory).ok();
        })
    });
    let right = made.is_some_and(|made| made.as_ref() == known.signature);
    report::<P, B>("sign", profile, time, stack, [window_bytes, sign_memory, P::SECRET_KEY_BYTES + inputs], right);

    let verify_memory = in_place::verify_memory::<P>(columns.max(P::O));
    let memory = &mut memory[..verify_memory];
    let mut valid = false;
    let (time, stack) = stack::depth(|| {
        clock.time(|| valid = in_place::verify::<P, _>(b, &public_key, &digest, &signature, window, memory).is_ok())
    });
    // The signature must not verify for another message.
    let other = MessageDigest::<P>::of(b"another message");
    let refused = in_place::verify::<P, _>(b, &public_key, &other, &signature, window, memory).is_err();
    let keys = P::PUBLIC_KEY_BYTES + inputs;
    report::<P, B>("verify", profile, time, stack, [window_bytes, verify_memory, keys], valid && refused);
}

/// Prints the line of an operation. `parts` are bytes of the window, of the working memory, and of
/// the keys with digest and signature.
fn report<P: ParameterSet, B: Backend>(
    operation: &str,
    profile: &Profile,
    time: u32,
    stack: usize,
    parts: [usize; 3],
    right: bool,
) {
    let [window, memory, keys] = parts;
    hprintln!(
        "result set={} backend={} profile={} operation={} unit={} time={} stack={} window={} memory={} keys={} ram={} answer={}",
        P::ALGORITHM.name(),
        B::NAME,
        profile.name,
        operation,
        Clock::UNIT,
        time,
        stack,
        window,
        memory,
        keys,
        stack + window + memory + keys,
        if right { "right" } else { "WRONG" }
    );
}

/// The words after the program's name on the debugger's command line.
///
/// - names of sets: measures these; all sets if there is none
/// - `portable`: measures the portable backend instead of `armv7em`
/// - `check`: checks `armv7em` instead
/// - `trace`: runs operations of `armv7em` with several secrets instead
/// - `kernels`: counts the products of `armv7em` alone instead
fn command_line(line: &mut [u8; 256]) -> &str {
    let mut block = [line.as_mut_ptr() as usize, line.len()];
    // SAFETY: the block describes memory that this function may write to.
    let refused = unsafe { syscall1!(GET_CMDLINE, block.as_mut_ptr()) };
    let length = if refused == 0 { block[1].min(line.len()) } else { 0 };
    let line = core::str::from_utf8(&line[..length]).unwrap_or_default().trim_end_matches('\0');
    line.split_once(' ').map_or("", |(_, arguments)| arguments)
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    hprintln!("{:?}", frame);
    fail("a fault of the processor")
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    stop(EXIT_FAILURE)
}

/// Bytes of window and working memory together, enough for the largest set.
const MEMORY: usize = 560 << 10;
/// Little memory that costs few instructions, and as much memory as still saves some.
const PROFILES: [Profile; 2] =
    [Profile { name: "small", window: 10 << 10, columns: 12 }, Profile { name: "fast", window: 48 << 10, columns: 40 }];
