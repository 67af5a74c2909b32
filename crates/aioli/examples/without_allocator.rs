//! Makes a key, signs and verifies on arrays of fixed size: no allocator, no operating system.
//!
//! ```text
//! cargo run --release --no-default-features --example without_allocator
//! ```
//!
//! This program prints, so it runs on a host; `firmware/cortex-m4` is the same for a
//! microcontroller.

use aioli::backend::{Backend, Portable};
use aioli::hazmat::in_place::{keygen, keygen_memory, min_window, sign, sign_memory, verify, verify_memory};
use aioli::mayo1::MessageDigest;
use aioli::round3::Mayo1;
use aioli::{Error, ParameterSet};

/// Bytes of the public matrix in memory at a time. The smallest window holds one row of it.
const WINDOW: usize = 10 << 10;
/// Columns of the public matrix at a time: more are faster and take more memory.
const WIDTH: usize = 12;
/// Working memory, one array for all operations: signing needs the most.
const MEMORY: usize = sign_memory::<Mayo1>(WIDTH);
const _: () = assert!(WINDOW >= min_window::<Mayo1>());
const _: () = assert!(MEMORY >= keygen_memory::<Mayo1>(WIDTH) && MEMORY >= verify_memory::<Mayo1>(WIDTH));

fn main() {
    let result = run(Portable::new(), &mut [0; WINDOW], &mut [0; MEMORY]);
    match result {
        Ok(()) => println!("{}: a valid signature with {} bytes of memory", Portable::NAME, WINDOW + MEMORY),
        Err(error) => {
            eprintln!("without_allocator: {error}");
            std::process::exit(1);
        }
    }
}

fn run<B: Backend>(backend: B, window: &mut [u8], memory: &mut [u8]) -> Result<(), Error> {
    // Fixed for this example. A device takes both from its random number generator.
    let secret_key = [0x5a; Mayo1::SECRET_KEY_BYTES];
    let randomizer = [0xc3; Mayo1::SALT_BYTES];

    let public_key = keygen::<Mayo1, B>(backend, &secret_key, window, memory)?;
    let digest = MessageDigest::of(b"a message");
    let signature = sign(backend, &secret_key, &digest, Some(&randomizer), window, memory)?;
    // The operations clear `memory` before they return; the window holds public bytes alone.
    verify::<Mayo1, B>(backend, &public_key, &digest, &signature, window, memory)
}
