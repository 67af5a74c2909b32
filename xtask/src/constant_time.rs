//! The three checkers of constant time, and the test of the checkers. SOUNDNESS.md says what each
//! of them proves.

use crate::processor;
use crate::steps::{self, Outcome, answers};
use std::process::{Command, Stdio};

/// A method of following secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checker {
    /// memcheck follows undefined memory through the machine code. valgrind knows neither GFNI nor
    /// AVX-512.
    Valgrind,
    /// MemorySanitizer follows uninitialized memory through the compiler's intermediate code, on
    /// any backend.
    Msan,
    /// The process single-steps its own machine code, on any backend, for a few secrets.
    Trace,
}

/// The subject of a check. By default MAYO_2 on all backends that the checker is for, and MAYO_1 on
/// portable.
#[derive(clap::Args, Default)]
pub(crate) struct Subject {
    /// Checks only this backend.
    #[arg(long)]
    backend: Option<String>,
    /// Checks this set (mayo1, mayo2-round2, ...).
    #[arg(long)]
    set: Option<String>,
    /// Checks all sets.
    #[arg(long, conflicts_with = "set")]
    all: bool,
    /// Checks only this operation (keygen, expand_sk, sign, sign_expanded, solve).
    #[arg(long)]
    operation: Option<String>,
    /// Checks a planted leak (branch, index, solved, solver, whipping, codec, hash) or the control
    /// (none) instead of the scheme.
    #[arg(long, conflicts_with_all = ["set", "all", "operation"])]
    planted: Option<String>,
}

/// The share of a checker in a run of all checks.
///
/// In the short form MemorySanitizer and the trace check the backend with the widest instructions,
/// which valgrind does not know; the trace checks the solver alone on the others. In full, valgrind
/// checks all sets.
pub(crate) fn ci(checker: Checker, full: bool) -> Outcome {
    let everything = Subject::default();
    let widest = || Subject { backend: checker.widest(), ..Subject::default() };
    match (checker, full) {
        (Checker::Valgrind, true) => run(checker, &Subject { all: true, ..everything }),
        (Checker::Valgrind, false) | (_, true) => run(checker, &everything),
        (Checker::Msan, false) => run(checker, &widest()),
        (Checker::Trace, false) => {
            let solver = Subject { set: Some("mayo2".into()), operation: Some("solve".into()), ..everything };
            run(checker, &widest()).and(|| run(checker, &solver))
        }
    }
}

/// Runs a checker over backends and sets.
pub(crate) fn run(checker: Checker, subject: &Subject) -> Outcome {
    let backends = match &subject.backend {
        Some(backend) => vec![backend.as_str()],
        None => checker.backends(),
    };
    let planted = subject.planted.as_ref().map(|plant| format!("plant-{plant}"));
    let subjects = match (&planted, &subject.set) {
        (Some(plant), _) => vec![plant.as_str()],
        (None, Some(set)) => vec![set.as_str()],
        (None, None) if subject.all => SETS.to_vec(),
        (None, None) => vec!["mayo2"],
    };
    let short = subjects == ["mayo2"];
    let driver = match checker.build(!short && planted.is_none(), planted.is_some()) {
        Ok(driver) => driver,
        Err(outcome) => return outcome,
    };
    let operation: Vec<&str> = subject.operation.iter().map(String::as_str).collect();
    let mut leaks = Vec::new();
    for backend in backends {
        // The m-vectors of MAYO_1 have 40 bytes, not a whole register of 32 as those of MAYO_2.
        let more: &[_] = if short && subject.set.is_none() && backend == "portable" { &["mayo1"] } else { &[] };
        for subject in subjects.iter().chain(more) {
            match checker.verdict(&driver, &[&[backend, subject], operation.as_slice()].concat(), false) {
                Verdict::Clean => {}
                Verdict::Leak => leaks.push(format!("{subject} on {backend}")),
                Verdict::NotChecked(why) => return Outcome::Failed(format!("{subject} on {backend}: {why}")),
            }
        }
    }
    if leaks.is_empty() { Outcome::Passed } else { Outcome::Failed(format!("leaks in {}", leaks.join(", "))) }
}

/// Demands that every checker that this machine can run catches every plant and passes the control.
/// The short form runs MemorySanitizer and the trace on the backend of [`ci`] alone.
pub(crate) fn selftest(short: bool) -> Outcome {
    let mut wrong = Vec::new();
    let mut missing = Vec::new();
    for checker in [Checker::Valgrind, Checker::Msan, Checker::Trace] {
        let driver = match checker.build(false, true) {
            Ok(driver) => driver,
            Err(outcome) => {
                println!("{checker:?}: {outcome}");
                missing.push(format!("{checker:?}"));
                continue;
            }
        };
        let mut backends = checker.backends();
        if short && checker != Checker::Valgrind {
            backends.drain(..backends.len() - 1);
        }
        for backend in backends {
            for plant in PLANTS {
                let verdict = checker.verdict(&driver, &[backend, &format!("plant-{plant}")], true);
                let right = matches!((&verdict, plant == "none"), (Verdict::Clean, true) | (Verdict::Leak, false));
                println!("{checker:?}, {backend}, {plant}: {verdict:?}{}", if right { "" } else { ", WRONG" });
                if !right {
                    wrong.push(format!("{checker:?} on {backend}, {plant}"));
                }
            }
        }
    }
    match (wrong.is_empty(), missing.is_empty()) {
        (false, _) => Outcome::Failed(wrong.join("; ")),
        (true, false) => Outcome::Impossible(format!("{}; the other checkers catch all plants", missing.join(", "))),
        (true, true) => Outcome::Passed,
    }
}

/// The result of one run of the driver.
#[derive(Debug)]
enum Verdict {
    Clean,
    Leak,
    NotChecked(String),
}

impl Checker {
    /// The backends that a checker is for, as far as this machine has them.
    fn backends(self) -> Vec<&'static str> {
        let wanted: &[&str] = match self {
            Self::Valgrind => &["portable", "avx2"],
            // It knows neither `vptest`, by which the other solvers find the rank, nor
            // `vgf2p8affineinvqb`.
            Self::Msan => &["portable", "gfni512"],
            Self::Trace => &["portable", "avx2", "gfni256", "gfni512"],
        };
        let (here, lacking): (Vec<&str>, Vec<&str>) =
            wanted.iter().partition(|backend| processor::lacking_for(backend).is_empty());
        for backend in lacking {
            println!("{self:?} on {backend} NOT RUN: this processor lacks {}", processor::lacking_for(backend));
        }
        here
    }

    /// The backend with the widest instructions among those that a checker is for.
    fn widest(self) -> Option<String> {
        self.backends().last().map(|&backend| backend.to_owned())
    }

    /// Builds the driver for this checker, in a directory of its own; returns its path.
    ///
    /// The trace checks the code that is shipped, so its driver has `plants` only on demand. Those
    /// of the other checkers always have them, switched off.
    fn build(self, all_sets: bool, plants: bool) -> Result<String, Outcome> {
        let (directory, flags) = match self {
            Self::Valgrind => ("target/ct-valgrind", "--cfg aioli_plants --cfg aioli_ct --cfg aioli_ct=\"valgrind\""),
            // Eager checks would report a secret that is merely passed to a function, or returned.
            Self::Msan => (
                "target/ct-msan",
                "--cfg aioli_plants --cfg aioli_ct --cfg aioli_ct=\"msan\" \
                 -Zsanitizer=memory -Cllvm-args=-msan-eager-checks=0",
            ),
            Self::Trace if plants => ("target/ct-plants", PLANTS_ALONE),
            Self::Trace => ("target", ""),
        };
        self.available()?;
        // `cargo xtask` runs under the default toolchain and tells its children so.
        let mut cargo = Command::new("cargo");
        cargo.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        if self == Self::Msan {
            cargo.args([&format!("+{NIGHTLY}"), "-Zbuild-std"]);
        }
        if !flags.is_empty() {
            // Link-time optimization would make the build twice as slow. The trace alone, without
            // plants, is of the released code.
            cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "4");
        }
        cargo.args(["build", "-q", "--release", "-p", "ct-driver", "--target-dir", directory]);
        if directory == "target" {
            cargo.args(["-p", "one-build"]);
        }
        if all_sets {
            cargo.args(["--features", "all-sets"]);
        }
        if !flags.is_empty() {
            cargo.args(["--target", TARGET]).env("RUSTFLAGS", flags);
        }
        match steps::run(&mut cargo) {
            Outcome::Passed if flags.is_empty() => Ok(format!("{directory}/release/ct-driver")),
            Outcome::Passed => Ok(format!("{directory}/{TARGET}/release/ct-driver")),
            other => Err(other),
        }
    }

    /// Whether this machine has what the checker needs.
    fn available(self) -> Result<(), Outcome> {
        let missing = if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            Some("the checkers are for Linux on x86-64")
        } else if self == Self::Valgrind && !answers("valgrind", &["--version"]) {
            Some("no valgrind")
        } else if self == Self::Msan && !nightly_has_sources() {
            return Err(Outcome::Impossible(format!("rustup toolchain install {NIGHTLY} --component rust-src")));
        } else {
            None
        };
        missing.map_or(Ok(()), |what| Err(Outcome::Impossible(what.into())))
    }

    /// Runs the driver once.
    fn verdict(self, driver: &str, arguments: &[&str], quiet: bool) -> Verdict {
        let mut command = match self {
            Self::Valgrind => {
                let mut valgrind = Command::new("valgrind");
                valgrind.args(["-q", "--track-origins=no", "--error-exitcode=86", driver]);
                valgrind
            }
            Self::Msan | Self::Trace => Command::new(driver),
        };
        command.args(arguments).env("MSAN_OPTIONS", "exitcode=86");
        if quiet {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        match command.status() {
            Ok(status) => match status.code() {
                Some(0) => Verdict::Clean,
                Some(LEAK) => Verdict::Leak,
                _ => Verdict::NotChecked(format!("the driver ended with {status}")),
            },
            Err(error) => Verdict::NotChecked(error.to_string()),
        }
    }
}

fn nightly_has_sources() -> bool {
    let output = Command::new("rustup").args(["component", "list", "--toolchain", NIGHTLY, "--installed"]).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == "rust-src"))
}

/// The toolchain of MemorySanitizer, which `.ci/run` installs. One LLVM follows other instructions
/// than the next.
const NIGHTLY: &str = "nightly-2026-05-20";
/// The builds whose only flag is that they have plants.
const PLANTS_ALONE: &str = "--cfg aioli_plants";
/// The control and the planted leaks, as the driver names them.
const PLANTS: [&str; 8] = ["none", "branch", "index", "solved", "solver", "whipping", "codec", "hash"];
/// The sets by name.
const SETS: [&str; 8] =
    ["mayo1", "mayo2", "mayo3", "mayo5", "mayo1-round2", "mayo2-round2", "mayo3-round2", "mayo5-round2"];
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The exit status with which every checker reports that a secret shows.
const LEAK: i32 = 86;
