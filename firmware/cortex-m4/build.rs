//! Puts the board's memory map where the linker looks, and writes the known answers.
//!
//! A known answer is the first record of a set in NIST's file. It is made on the machine that
//! builds, and compared with its official digest.

use aioli::Algorithm;
use aioli::backend::DetectedBackend;
use aioli_kat::{official, records};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let board = match (has("MPS2_AN386"), has("STM32L4R5")) {
        (true, false) => "mps2-an386",
        (false, true) => "stm32l4r5",
        _ => panic!("choose a board: --features mps2-an386 or --features stm32l4r5"),
    };
    let map = format!("boards/{board}.x");
    std::fs::copy(&map, out.join("memory.x")).expect("the board's memory map");
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rerun-if-changed={map}");
    println!("cargo:rerun-if-changed=build.rs");

    let mut source = String::from("pub(crate) const KNOWN: [Known; 8] = [\n");
    for algorithm in Algorithm::ALL {
        let record = records(algorithm, DetectedBackend::best()).next().expect("a file has records").expect("a record");
        let digest: String = Sha256::digest(record.text(0)).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, official(algorithm).first_record, "first record of {algorithm}");
        writeln!(
            source,
            "Known {{ algorithm: aioli::Algorithm::{algorithm:?}, secret_key: &{:?}, message: &{:?}, randomizer: &{:?}, \
             public_key: &{:?}, signature: &{:?} }},",
            record.secret_key, record.message, record.randomizer, record.public_key, record.signature
        )
        .expect("a string takes anything");
    }
    source.push_str("];\n");
    std::fs::write(out.join("known.rs"), source).expect("the known answers");
}
