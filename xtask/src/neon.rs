//! The backend `neon` under QEMU: the library's tests, and the number of instructions that each
//! operation executes.
//!
//! QEMU's user mode says nothing about time, so no cycles are claimed of this backend. It says
//! exactly which blocks of instructions were executed: with `-d in_asm,exec,nochain` the log
//! contains every block as it is translated, and a line each time that a block runs. The counts are
//! sums over those lines, between the marks of `count-driver`. They are the same in every run, but
//! for less than 0.1 %, since the C library copies differently by the alignment of the stack. The
//! order of the lines must not depend on the secret key, which is checked for two keys.

use crate::origin;
use crate::steps::{self, Outcome, answers};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The parts to run, and the processor to run them on.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Counts only these parameter sets (`mayo1`, `mayo1-round2`, ...); by default all of them.
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    set: Vec<String>,
    /// Counts without running the tests.
    #[arg(long)]
    skip_tests: bool,
    /// Runs the unit tests alone, among them the conformance suite.
    #[arg(long)]
    unit_tests: bool,
    /// Counts instructions on this processor, by QEMU's name. A cortex-a72 has AES, but no SHA-3
    /// extension.
    #[arg(long, default_value = EVERY_EXTENSION)]
    cpu: String,
    /// Writes the counts to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { set: Vec::new(), skip_tests: false, unit_tests: false, cpu: EVERY_EXTENSION.into(), json: None }
    }
}

impl Options {
    /// Counts a small set of each round. The conformance suite covers all that belongs to the
    /// backend: the scheme above it is the same code on every machine.
    pub(crate) fn in_short() -> Self {
        Self { set: ["mayo2", "mayo1-round2"].map(String::from).into(), unit_tests: true, ..Self::default() }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let missing = missing();
    if !missing.is_empty() {
        return Outcome::Impossible(missing.join(", "));
    }
    let tested = if options.skip_tests { Outcome::Passed } else { tests(options.unit_tests) };
    tested.and(|| counts(options))
}

/// The commands that install what this machine lacks.
fn missing() -> Vec<String> {
    let programs = [(QEMU, "qemu-user-static"), (LINKER, "gcc-aarch64-linux-gnu")];
    let mut missing: Vec<String> = programs
        .into_iter()
        .filter(|(program, _)| !answers(program, &["--version"]))
        .map(|(_, package)| format!("apt-get install {package}"))
        .collect();
    if !steps::has_target(TARGET) {
        missing.push(format!("rustup target add {TARGET}"));
    }
    missing
}

fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("{QEMU} -L {LIBRARIES}"));
    cargo
}

/// Runs clippy, and the library's tests on both backends of this target. Leaves out tests that are
/// slow under emulation and do the same on any processor.
fn tests(unit_tests: bool) -> Outcome {
    let mut clippy = cargo();
    clippy.args(["clippy", "-q", "-p", "aioli", "--target", TARGET, "--target-dir", "target/neon"]);
    if let outcome @ (Outcome::Failed(_) | Outcome::Impossible(_)) = steps::run(clippy.args(["--", "-D", "warnings"])) {
        return outcome;
    }
    let others = if unit_tests { "all tests but the unit tests, " } else { "" };
    println!("left out under QEMU: {others}{}, the feature pkcs8, documentation examples", TOO_SLOW.join(", "));
    let mut test = cargo();
    test.env("CARGO_PROFILE_DEV_DEBUG", "false").env("AIOLI_REQUIRE_BACKENDS", BACKENDS.join(","));
    test.args(["test", "-p", "aioli", "--lib"]).args((!unit_tests).then_some("--tests"));
    test.args(["--target", TARGET, "--target-dir", "target/neon", "--"]);
    steps::run(test.args(TOO_SLOW.iter().flat_map(|name| ["--skip", name])))
}

/// Counts, prints the table, and compares `sign` with [`MOST_INSTRUCTIONS`] and `sign_expanded`
/// with [`LEAST_FACTOR`].
fn counts(options: &Options) -> Outcome {
    let mut build = cargo();
    build.args(["build", "-q", "--release", "-p", "count-driver", "--target", TARGET, "--target-dir", "target"]);
    if let outcome @ (Outcome::Failed(_) | Outcome::Impossible(_)) = steps::run(&mut build) {
        return outcome;
    }
    if let Some(unknown) = options.set.iter().find(|set| !MOST_INSTRUCTIONS.iter().any(|(name, _)| name == set)) {
        return Outcome::Failed(format!("no parameter set {unknown}"));
    }
    println!("instructions under QEMU, processor {}", options.cpu);
    let mut results = Vec::new();
    let mut wrong = Vec::new();
    for (set, most) in MOST_INSTRUCTIONS {
        if !options.set.is_empty() && !options.set.iter().any(|wanted| wanted == set) {
            continue;
        }
        match count_set(&options.cpu, set) {
            Ok([portable, neon, other_key]) => {
                wrong.extend(faults(options, (set, most), [&portable, &neon, &other_key]));
                results
                    .extend(BACKENDS.into_iter().zip([portable, neon]).map(|(backend, traces)| (backend, set, traces)));
            }
            Err(why) => return Outcome::Failed(format!("{set}: {why}")),
        }
    }
    if let Some(path) = &options.json
        && let Err(error) = std::fs::write(path, format!("{:#}\n", record(&options.cpu, &results)))
    {
        return Outcome::Failed(format!("{}: {error}", path.display()));
    }
    if wrong.is_empty() { Outcome::Passed } else { Outcome::Failed(wrong.join("; ")) }
}

/// Traces a set on `portable`, on `neon`, and on `neon` with another key.
fn count_set(cpu: &str, set: &str) -> Result<[Traces; 3], String> {
    let (key, other_key) = keys(cpu, set)?;
    let [portable, neon] = BACKENDS;
    let [portable, neon, other_key] = std::thread::scope(|scope| {
        let threads = [(portable, &key), (neon, &key), (neon, &other_key)]
            .map(|(backend, key)| scope.spawn(move || trace(cpu, backend, set, key)));
        threads.map(|thread| thread.join().expect("a thread that counts"))
    });
    Ok([portable?, neon?, other_key?])
}

/// Prints the counts of a set. Returns the bounds that they miss, and the operations that depend on
/// the key.
fn faults(options: &Options, (set, most): (&str, u64), [portable, neon, other_key]: [&Traces; 3]) -> Vec<String> {
    let mut wrong = Vec::new();
    for ((operation, trace), (_, other)) in neon.iter().zip(other_key) {
        match (operation.as_str(), trace == other) {
            (LEAK, true) => wrong.push(format!("{set}: the planted leak is not seen")),
            (LEAK, false) | (_, true) => {}
            (_, false) => wrong.push(format!("{set}: the instructions of {operation} depend on the secret key")),
        }
    }
    for ((operation, portable), (_, neon)) in portable.iter().zip(neon).filter(|((name, _), _)| name != LEAK) {
        let portable = portable.instructions;
        let neon = neon.instructions;
        let factor = portable as f64 / neon as f64;
        println!("{set:13} {operation:15} {portable:10} portable {neon:10} neon {factor:6.2}");
        match operation.as_str() {
            _ if options.cpu != EVERY_EXTENSION => {}
            "sign" if neon > most => {
                wrong.push(format!("{set} signs with {neon} instructions, more than {most}"));
            }
            "sign_expanded" if factor < LEAST_FACTOR => {
                wrong.push(format!(
                    "{set} signs with an expanded key in {factor:.3} times fewer instructions than portable, not \
                     {LEAST_FACTOR}"
                ));
            }
            _ => {}
        }
    }
    wrong
}

/// The instructions that an operation executes.
#[derive(Debug, Default, PartialEq)]
struct Trace {
    instructions: u64,
    /// A hash of the addresses of all blocks, in their order.
    path: u64,
}

impl Trace {
    fn add(&mut self, block: u64, instructions: u64) {
        self.instructions += instructions;
        // FNV-1a over words.
        self.path = (self.path ^ block).wrapping_mul(0x100_0000_01b3).rotate_left(17);
    }
}

/// The traces of operations, and their names.
type Traces = Vec<(String, Trace)>;

/// The driver under QEMU with some options.
fn driver(cpu: &str, options: &[&str]) -> Command {
    let mut qemu = Command::new(QEMU);
    qemu.args(["-cpu", cpu, "-L", LIBRARIES]).args(options);
    qemu.arg(format!("target/{TARGET}/release/count-driver"));
    qemu
}

/// The numbers of two keys for which the first sample succeeds. They are found without a log.
fn keys(cpu: &str, set: &str) -> Result<(String, String), String> {
    let output = driver(cpu, &[]).arg(set).output().map_err(|error| format!("{QEMU}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().collect::<Vec<_>>().as_slice() {
        [key, other_key] => Ok((key.to_string(), other_key.to_string())),
        _ => Err(format!("no two keys: count-driver ended with {}", output.status)),
    }
}

/// Runs all operations of a set on a backend with one of the keys.
fn trace(cpu: &str, backend: &str, set: &str, key: &str) -> Result<Traces, String> {
    let mut qemu = driver(cpu, &["-d", "in_asm,exec,nochain"]);
    qemu.args([backend, set, key]);
    let mut process =
        qemu.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| format!("{QEMU}: {error}"))?;
    let log = BufReader::with_capacity(1 << 20, process.stderr.take().expect("a pipe"));
    let traces = between_marks(log)?;
    let mut names = String::new();
    process.stdout.take().expect("a pipe").read_to_string(&mut names).map_err(|error| error.to_string())?;
    let status = process.wait().map_err(|error| error.to_string())?;
    let names: Vec<_> = names.lines().map(str::to_owned).collect();
    if !status.success() || names.len() != traces.len() || names.is_empty() {
        return Err(format!(
            "count-driver ended with {status}, {} operations and {} traces",
            names.len(),
            traces.len()
        ));
    }
    Ok(names.into_iter().zip(traces).collect())
}

/// The blocks executed between each two marks of a log.
///
/// ```text
/// IN: symbol                                          a block is translated
/// 0x5500024d6c:  d10043ff  sub      sp, sp, #0x10     its instructions, a line each
/// Trace 0: 0x7f1f [00/0000005500024d6c/00/00] symbol  a block is executed
/// ```
fn between_marks(mut log: impl BufRead) -> Result<Vec<Trace>, String> {
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    let mut translated = None;
    let mut traces = Vec::new();
    let mut trace: Option<Trace> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if log.read_until(b'\n', &mut line).map_err(|error| error.to_string())? == 0 {
            return if trace.is_none() { Ok(traces) } else { Err("a mark without its end".into()) };
        }
        if line.starts_with(b"IN:") {
            translated = None;
        } else if line.starts_with(b"0x") {
            let digits = line[2..].split(|&byte| byte == b':').next().unwrap_or_default();
            let first = *translated.get_or_insert(hexadecimal(digits)?);
            // A new translation at this address replaces the one before.
            let size = sizes.entry(first).or_default();
            *size = if hexadecimal(digits)? == first { 1 } else { *size + 1 };
        } else if line.starts_with(b"Trace") {
            let (Some(address), Some(end)) =
                (line.split(|&byte| byte == b'/').nth(1), line.iter().rposition(|&byte| byte == b']'))
            else {
                return Err(format!("a line of the log: {}", String::from_utf8_lossy(&line)));
            };
            let symbol = &line[end..];
            if contains(symbol, b"count_driver5begin") {
                trace = Some(Trace::default());
            } else if contains(symbol, b"count_driver3end") {
                traces.push(trace.take().ok_or("a mark without its beginning")?);
            } else if let Some(trace) = &mut trace {
                let address = hexadecimal(address)?;
                trace.add(address, *sizes.get(&address).ok_or("a block that was not translated")?);
            }
        }
    }
}

fn hexadecimal(digits: &[u8]) -> Result<u64, String> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| format!("an address: {}", String::from_utf8_lossy(digits)))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// The counts as JSON, in the form of the lab's records.
fn record(cpu: &str, results: &[(&str, &str, Traces)]) -> Value {
    let mut entries = Vec::new();
    for (backend, set, traces) in results {
        let (set, round) = set.split_once("-round").map_or((*set, 3), |(set, _)| (set, 2));
        for (operation, Trace { instructions, .. }) in traces.iter().filter(|(name, _)| name != LEAK) {
            entries.push(json!({
                "implementation": "aioli",
                "backend": backend,
                "set": set.to_uppercase().replace("MAYO", "MAYO_"),
                "round": round,
                "operation": operation,
                "instructions": instructions,
            }));
        }
    }
    let machine = json!({
        "cpu": "aarch64",
        "board": format!("{}, processor {cpu}", origin::version(QEMU)),
        "target": TARGET,
        "commit": origin::commit(),
        "dirty": origin::dirty(),
        "rustc": origin::version("rustc"),
    });
    json!({"machine": machine, "results": entries})
}

/// QEMU's name for a processor with every extension that it can emulate.
const EVERY_EXTENSION: &str = "max";
const QEMU: &str = "qemu-aarch64-static";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Tests of code that is the same on every backend, in hundreds of operations or on a very long
/// message. And the known answers of the portable backend, which has given them on another
/// processor.
const TOO_SLOW: [&str; 5] = [
    "every_set_reproduces_its_official_file_on_the_portable_backend",
    "malformed::a_flipped_bit_of_a_public_key_is_noticed",
    "malformed::a_flipped_bit_of_a_signature_is_noticed",
    "malformed::a_key_without_solutions_is_given_up_after_256_samples",
    "malformed::a_message_of_64_mebibytes_is_signed_whole",
];
/// The driver's operation that a comparison of two keys must tell apart.
const LEAK: &str = "planted leak";
const BACKENDS: [&str; 2] = ["portable", "neon"];

/// The least factor between the instructions of `portable` and of `neon` for signing with an
/// expanded key. On [`EVERY_EXTENSION`] it is 4.01 to 4.59. Nearly all of this operation is
/// arithmetic, and most operands are secret. Only V P1 has a public one, which `portable`
/// multiplies by look-ups in memory.
const LEAST_FACTOR: f64 = 4.0;

/// The most instructions that `neon` may execute to sign with a compact key, for each set: its
/// count on [`EVERY_EXTENSION`] and half a percent. It is not a factor to `portable`, which would
/// be less than four, for two reasons. Both backends execute AES instructions for the same 7000 to
/// 53,000 blocks. And P1 and P2 are public, so `portable` looks up in memory the products of two
/// elements with all rows of the left operand at once. At 24 rows an instruction does as much work
/// so as `tbl` does.
const MOST_INSTRUCTIONS: [(&str, u64); 8] = [
    ("mayo1", 716_000),
    ("mayo2", 496_000),
    ("mayo3", 1_767_000),
    ("mayo5", 3_917_000),
    ("mayo1-round2", 684_000),
    ("mayo2-round2", 451_000),
    ("mayo3-round2", 1_740_000),
    ("mayo5-round2", 3_872_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_between_marks_are_counted() {
        let log = "\
            IN: _ZN12count_driver5begin17hE\n0x10:  d503201f  nop\n\
            Trace 0: 0x7f00 [00/0000000000000010/00/00] _ZN12count_driver5begin17hE\n\
            IN: work\n0x20:  d503201f  nop\n0x24:  d503201f  nop\n0x28:  d65f03c0  ret\n\n\
            Trace 0: 0x7f10 [00/0000000000000020/00/00] work\n\
            Trace 0: 0x7f10 [00/0000000000000020/00/00] work\n\
            IN: \n0x30:  d65f03c0  ret\n\
            Trace 0: 0x7f20 [00/0000000000000030/00/00] \n\
            Trace 0: 0x7f30 [00/0000000000000040/00/00] _ZN12count_driver3end17hE\n\
            Trace 0: 0x7f10 [00/0000000000000020/00/00] work\n";
        let traces = between_marks(log.as_bytes()).unwrap();
        assert_eq!(traces.iter().map(|trace| trace.instructions).collect::<Vec<_>>(), [7]);
        let otherwise = between_marks(log.replace("0000000000000030", "0000000000000020").as_bytes());
        assert!(otherwise.is_ok_and(|otherwise| otherwise != traces));
        assert!(between_marks(&log.as_bytes()[..log.find("IN: work").unwrap()]).is_err());
    }
}
