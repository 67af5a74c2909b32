//! What a check comes out as, and the checks that are one or two runs of cargo.

use std::process::Command;

/// How a check ended.
pub(crate) enum Outcome {
    Passed,
    /// What was wrong.
    Failed(String),
    /// What is missing on this machine: nothing was checked.
    Impossible(String),
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(what) => write!(f, "FAILED: {what}"),
            Self::Impossible(why) => write!(f, "NOT RUN: {why}"),
        }
    }
}

impl Outcome {
    /// This outcome, unless it passed; then that of the next step.
    pub(crate) fn and(self, next: impl FnOnce() -> Self) -> Self {
        if let Self::Passed = self { next() } else { self }
    }
}

pub(crate) fn fmt() -> Outcome {
    cargo(&["fmt", "--all", "--check"])
        .and(|| cargo(&["fmt", "--manifest-path", "firmware/cortex-m4/Cargo.toml", "--check"]))
}

pub(crate) fn clippy() -> Outcome {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        .and(|| cargo(&["clippy", "-p", "aioli", "--all-targets", "--all-features", "--", "-D", "warnings"]))
        .and(|| cargo(&["clippy", "-p", "aioli", "--no-default-features", "--", "-D", "warnings"]))
}

pub(crate) fn docs() -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["doc", "--no-deps", "-p", "aioli", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings");
    run(&mut command)
}

pub(crate) fn test() -> Outcome {
    cargo(&["test", "--release"]).and(|| cargo(&["test", "--release", "-p", "aioli", "--all-features"]))
}

/// The tests of the laboratory and of these checks: unoptimized, which saves more in building than it costs in running.
pub(crate) fn lab() -> Outcome {
    cargo(&["test", "-p", "aioli-lab", "-p", "xtask"])
}

/// The page of a report as readers get it, and whether the libraries in it are those of npm.
pub(crate) fn page() -> Outcome {
    const WEB: &str = "crates/aioli-lab/web";
    const RECORD: &str = "records/amd-zen5-2core/2026-11-21-7beacd1-all/record.json";
    const OUT: &str = "target/report";
    let npm = |arguments: &[&str]| run(Command::new("npm").args(arguments).current_dir(WEB));
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .and(|| npm(&["run", "vendor", "--", "--check"]))
        .and(|| cargo(&["run", "-p", "aioli-lab", "--", "report", "--from", RECORD, "--out", OUT]))
        .and(|| npm(&["test", "--", &format!("../../../{OUT}/report.html")]))
}

pub(crate) fn cross() -> Outcome {
    let builds: [&[&str]; 2] = [
        &["--target", "thumbv7em-none-eabihf", "--no-default-features"],
        &["--target", "wasm32-unknown-unknown", "--no-default-features", "--features", "alloc"],
    ];
    for options in builds {
        if !has_target(options[1]) {
            return Outcome::Impossible(format!("rustup target add {}", options[1]));
        }
    }
    builds.iter().fold(Outcome::Passed, |outcome, options| {
        outcome.and(|| cargo(&[&["build", "--release", "-p", "aioli"], *options].concat()))
    })
}

/// Whether the standard library of a target is installed.
pub(crate) fn has_target(target: &str) -> bool {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target))
}

fn cargo(arguments: &[&str]) -> Outcome {
    run(Command::new("cargo").args(arguments))
}

/// Runs a command whose failure is the failure of the check.
pub(crate) fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("{}: {status}", words(command))),
        Err(error) => Outcome::Impossible(format!("{}: {error}", words(command))),
    }
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
