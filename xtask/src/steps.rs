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
    cargo(&["test", "--release", "--workspace"]).and(|| cargo(&["test", "--release", "-p", "aioli", "--all-features"]))
}

pub(crate) fn cross() -> Outcome {
    let builds: [&[&str]; 2] = [
        &["--target", "thumbv7em-none-eabihf", "--no-default-features"],
        &["--target", "wasm32-unknown-unknown", "--no-default-features", "--features", "alloc"],
    ];
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let installed = installed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for options in builds {
        if !installed.lines().any(|target| target == options[1]) {
            return Outcome::Impossible(format!("rustup target add {}", options[1]));
        }
    }
    builds.iter().fold(Outcome::Passed, |outcome, options| {
        outcome.and(|| cargo(&[&["build", "--release", "-p", "aioli"], *options].concat()))
    })
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
