//! Fuzzing: the targets of `fuzz/`, each a program that libFuzzer drives.
//!
//! They are built by cargo alone, with any toolchain. The flags are those of cargo-fuzz, but for
//! AddressSanitizer, which needs a nightly one: unsafe code is in the kernels, whose operands have
//! guard pages, and overflow and assertions are checked.

use crate::steps::{Outcome, answers, run};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// The subject and the length of a run. By default each target for a minute.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Runs only this target, a name under fuzz/targets.
    target: Option<String>,
    /// Runs each target for this time.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

impl Options {
    /// All targets, for `seconds` each.
    pub(crate) fn all(seconds: u64) -> Self {
        Self { target: None, seconds }
    }
}

/// Builds the targets and runs them, two at a time.
///
/// Inputs that reach new code stay under `target/fuzz/corpus` for the next run. An input that fails
/// is written to `target/fuzz`, with the name of its target.
pub(crate) fn check(options: &Options) -> Outcome {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Outcome::Impossible("the targets are run on Linux on x86-64".into());
    }
    if !answers("c++", &["--version"]) {
        return Outcome::Impossible("no C++ compiler for libFuzzer".into());
    }
    let targets = match targets() {
        Ok(targets) => targets,
        Err(error) => return Outcome::Failed(format!("fuzz/targets: {error}")),
    };
    let chosen: Vec<_> =
        targets.iter().filter(|name| options.target.as_ref().is_none_or(|wanted| wanted == *name)).collect();
    if chosen.is_empty() {
        return Outcome::Failed(format!("no such target; there are {}", targets.join(", ")));
    }
    build().and(|| {
        let left = Mutex::new(chosen.into_iter());
        let failures = Mutex::new(Vec::new());
        let work = || {
            // The lock is held only while the next target is taken.
            while let Some(target) = { left.lock().expect("the targets left").next() } {
                match fuzz(target, options.seconds) {
                    Ok(report) => println!("{target}: {report}"),
                    Err(why) => failures.lock().expect("the failures").push(format!("{target}: {why}")),
                }
            }
        };
        std::thread::scope(|scope| [(); 2].map(|()| scope.spawn(work)).map(|worker| worker.join().expect("a run")));
        let failures = failures.into_inner().expect("the failures");
        if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures.join("; ")) }
    })
}

/// The names of the targets, in order.
fn targets() -> std::io::Result<Vec<String>> {
    let files = fs::read_dir("fuzz/targets")?.map(|entry| Ok(entry?.path()));
    let files = files.collect::<std::io::Result<Vec<_>>>()?;
    let mut names: Vec<_> = files.iter().filter_map(|file| file.file_stem()?.to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

fn build() -> Outcome {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "-q", "--release", "--locked", "--bins", "--manifest-path", "fuzz/Cargo.toml"]);
    // With a target, build scripts and macros are built without these flags.
    run(cargo.args(["--target-dir", "target/fuzz", "--target", TARGET]).env("RUSTFLAGS", FLAGS.join(" ")))
}

/// Runs a target. Returns how much it ran.
fn fuzz(target: &str, seconds: u64) -> Result<String, String> {
    let corpus = format!("target/fuzz/corpus/{target}");
    let log = format!("target/fuzz/{target}.log");
    let output = fs::create_dir_all(&corpus).and_then(|()| File::create(&log)).map_err(|error| error.to_string())?;
    let mut fuzzer = Command::new(format!("target/fuzz/{TARGET}/release/{target}"));
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-artifact_prefix=target/fuzz/{target}-"));
    fuzzer.args(["-timeout=60", "-print_final_stats=1"]);
    if target == "inspect" {
        // Closes its output about each input; the fuzzer's own words still come.
        fuzzer.arg("-close_fd_mask=3");
    }
    fuzzer.arg(corpus).arg(Path::new("fuzz/seeds").join(target));
    fuzzer.env("AIOLI_REQUIRE_BACKENDS", crate::processor::backends().join(","));
    let status = fuzzer.stdout(output.try_clone().map_err(|error| error.to_string())?).stderr(output).status();
    let status = status.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&fs::read(&log).map_err(|error| error.to_string())?).into_owned();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    match value("stat::number_of_executed_units:") {
        Some(executed) if status.success() => Ok(format!("{executed} inputs in {seconds} s")),
        _ => {
            let lines: Vec<_> = text.lines().collect();
            println!("{}", lines[lines.len().saturating_sub(30)..].join("\n"));
            Err(format!("{status}; all of {log} tells more"))
        }
    }
}

/// The flags for coverage that cargo-fuzz passes to the compiler.
const FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
const TARGET: &str = "x86_64-unknown-linux-gnu";
