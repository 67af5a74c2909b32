//! The backend `neon` under QEMU: the library's tests, and how many instructions each operation executes.
//!
//! QEMU's user mode tells nothing about time, so no cycles are claimed of this backend. What it tells exactly is which
//! blocks of instructions were executed: with `-d in_asm,exec,nochain` the log has every block as it is translated, and
//! a line each time that one runs. The counts are sums over those lines, between the marks of `count-driver`; they are
//! the same in every run.

use crate::steps::{self, Outcome};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What is done, and for whom.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Counts only.
    #[arg(long)]
    skip_tests: bool,
    /// The processor that instructions are counted on, by QEMU's name (cortex-a72 has AES, but no SHA-3 extension).
    #[arg(long, default_value = EVERY_EXTENSION)]
    cpu: String,
    /// Writes the counts to a file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { skip_tests: false, cpu: EVERY_EXTENSION.into(), json: None }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    let missing = missing();
    if !missing.is_empty() {
        return Outcome::Impossible(missing.join(", "));
    }
    let tested = if options.skip_tests { Outcome::Passed } else { tests() };
    tested.and(|| counts(options))
}

/// What this machine lacks.
fn missing() -> Vec<String> {
    let answers = |program: &str| {
        let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let programs = [(QEMU, "qemu-user-static"), (LINKER, "gcc-aarch64-linux-gnu")];
    let mut missing: Vec<String> = programs
        .into_iter()
        .filter(|(program, _)| !answers(program))
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

/// The library's tests, on both backends of this target.
fn tests() -> Outcome {
    let mut test = cargo();
    test.args(["test", "--release", "-p", "aioli", "--features", "pkcs8", "--lib", "--tests", "--target", TARGET]);
    steps::run(test.env("AIOLI_REQUIRE_BACKENDS", BACKENDS.join(",")))
}

/// Counts, prints the table, and compares `sign` with [`LEAST_FACTORS`].
fn counts(options: &Options) -> Outcome {
    let mut build = cargo();
    build.args(["build", "-q", "--release", "-p", "count-driver", "--target", TARGET]);
    if let outcome @ (Outcome::Failed(_) | Outcome::Impossible(_)) = steps::run(&mut build) {
        return outcome;
    }
    println!("instructions under QEMU, processor {}", options.cpu);
    let mut results = Vec::new();
    let mut short = Vec::new();
    for (set, least) in LEAST_FACTORS {
        let [portable, neon] = std::thread::scope(|scope| {
            let threads = BACKENDS.map(|backend| scope.spawn(move || count(&options.cpu, backend, set)));
            threads.map(|thread| thread.join().expect("a thread that counts"))
        });
        let (portable, neon) = match (portable, neon) {
            (Ok(portable), Ok(neon)) => (portable, neon),
            (Err(why), _) | (_, Err(why)) => return Outcome::Failed(format!("{set}: {why}")),
        };
        for ((operation, portable), (_, neon)) in portable.iter().zip(&neon) {
            let factor = *portable as f64 / *neon as f64;
            println!("{set:13} {operation:15} {portable:10} portable {neon:10} neon {factor:6.2}");
            if operation == "sign" && options.cpu == EVERY_EXTENSION && factor < least {
                short.push(format!("{set} signs with {factor:.2} times fewer instructions, not {least}"));
            }
        }
        results.extend(BACKENDS.into_iter().zip([portable, neon]).map(|(backend, counts)| (backend, set, counts)));
    }
    if let Some(path) = &options.json
        && let Err(error) = std::fs::write(path, record(&options.cpu, &results))
    {
        return Outcome::Failed(format!("{}: {error}", path.display()));
    }
    if short.is_empty() { Outcome::Passed } else { Outcome::Failed(short.join("; ")) }
}

/// Operations and how many instructions each of them executes.
type Counts = Vec<(String, u64)>;

/// Counts all operations of a set on a backend.
fn count(cpu: &str, backend: &str, set: &str) -> Result<Counts, String> {
    let mut qemu = Command::new(QEMU);
    qemu.args(["-cpu", cpu, "-L", LIBRARIES, "-d", "in_asm,exec,nochain"]);
    qemu.arg(format!("target/{TARGET}/release/count-driver")).args([backend, set]);
    let mut process =
        qemu.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| format!("{QEMU}: {error}"))?;
    let log = BufReader::with_capacity(1 << 20, process.stderr.take().expect("a pipe"));
    let sums = sums_between_marks(log)?;
    let mut names = String::new();
    process.stdout.take().expect("a pipe").read_to_string(&mut names).map_err(|error| error.to_string())?;
    let status = process.wait().map_err(|error| error.to_string())?;
    let names: Vec<_> = names.lines().map(str::to_owned).collect();
    if !status.success() || names.len() != sums.len() || names.is_empty() {
        return Err(format!("count-driver ended with {status}, {} operations and {} counts", names.len(), sums.len()));
    }
    Ok(names.into_iter().zip(sums).collect())
}

/// The sums of executed instructions between each two marks of a log.
///
/// ```text
/// IN: symbol                                          a block is translated
/// 0x5500024d6c:  d10043ff  sub      sp, sp, #0x10     its instructions, a line each
/// Trace 0: 0x7f1f [00/0000005500024d6c/00/00] symbol  a block is executed
/// ```
fn sums_between_marks(mut log: impl BufRead) -> Result<Vec<u64>, String> {
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    let mut translated = None;
    let mut sums = Vec::new();
    let mut sum = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if log.read_until(b'\n', &mut line).map_err(|error| error.to_string())? == 0 {
            return if sum.is_none() { Ok(sums) } else { Err("a mark without its end".into()) };
        }
        if line.starts_with(b"IN:") {
            translated = None;
        } else if line.starts_with(b"0x") {
            let digits = line[2..].split(|&byte| byte == b':').next().unwrap_or_default();
            let first = *translated.get_or_insert(hexadecimal(digits)?);
            // What was translated before at this address is gone.
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
                sum = Some(0);
            } else if contains(symbol, b"count_driver3end") {
                sums.push(sum.take().ok_or("a mark without its beginning")?);
            } else if let Some(sum) = &mut sum {
                *sum += sizes.get(&hexadecimal(address)?).ok_or("a block that was not translated")?;
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
fn record(cpu: &str, results: &[(&str, &str, Counts)]) -> String {
    let first_line = |program: &str| {
        let output = Command::new(program).arg("--version").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let mut entries = Vec::new();
    for (backend, set, counts) in results {
        let (set, round) = set.split_once("-round").unwrap_or((set, "3"));
        for (operation, instructions) in counts {
            entries.push(format!(
                r#"    {{"implementation": "aioli", "backend": "{backend}", "set": "{set}", "round": {round}, "operation": "{operation}", "instructions": {instructions}}}"#
            ));
        }
    }
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let machine = [
        ("cpu", format!("emulated: {cpu}")),
        ("emulator", first_line(QEMU)),
        ("target", TARGET.into()),
        ("rustc", first_line("rustc")),
        ("profile", "release".into()),
    ];
    let machine: Vec<_> = machine.iter().map(|(key, value)| format!("    \"{key}\": {}", quoted(value))).collect();
    format!(
        "{{\n  \"machine\": {{\n{}\n  }},\n  \"results\": [\n{}\n  ]\n}}\n",
        machine.join(",\n"),
        entries.join(",\n")
    )
}

/// QEMU's name for a processor with everything that it knows.
const EVERY_EXTENSION: &str = "max";
const QEMU: &str = "qemu-aarch64-static";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
const TARGET: &str = "aarch64-unknown-linux-gnu";
const BACKENDS: [&str; 2] = ["portable", "neon"];

/// By how much `neon` must at least be below `portable` when it signs, for each set.
const LEAST_FACTORS: [(&str, f64); 8] = [
    ("mayo1", 2.0),
    ("mayo2", 2.0),
    ("mayo3", 2.0),
    ("mayo5", 2.0),
    ("mayo1-round2", 2.0),
    ("mayo2-round2", 2.0),
    ("mayo3-round2", 2.0),
    ("mayo5-round2", 2.0),
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
        assert_eq!(sums_between_marks(log.as_bytes()), Ok(vec![7]));
        assert!(sums_between_marks(&log.as_bytes()[..log.find("IN: work").unwrap()]).is_err());
    }
}
