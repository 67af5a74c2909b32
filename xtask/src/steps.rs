//! The outcome of a check, and the checks that are one or two runs of cargo.

use std::process::{Command, Stdio};

/// The end of a check.
pub(crate) enum Outcome {
    Passed,
    /// The fault that was found.
    Failed(String),
    /// The tool or device that this machine lacks. Nothing was checked.
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
    /// Runs the next step if this one has passed.
    pub(crate) fn and(self, next: impl FnOnce() -> Self) -> Self {
        if let Self::Passed = self { next() } else { self }
    }
}

pub(crate) fn fmt() -> Outcome {
    cargo(&["fmt", "--all", "--check"])
        .and(|| cargo(&["fmt", "--manifest-path", "firmware/cortex-m4/Cargo.toml", "--check"]))
        .and(|| cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
        .and(|| run(Command::new("rustfmt").args(["--check", "--edition", "2024", "xtask/against/main.rs"])))
}

/// The whole workspace at once, where the library has all of its features. `cargo xtask features`
/// checks the other sets.
pub(crate) fn clippy() -> Outcome {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

pub(crate) fn docs() -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["doc", "--no-deps", "-p", "aioli", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings");
    run(&mut command)
}

/// The README's command. The command `aioli` needs pkcs8 and rayon, so the library is tested with
/// all of its features.
pub(crate) fn test() -> Outcome {
    let backends = crate::processor::backends().join(",");
    println!("backends that must run here: {backends}");
    run(Command::new("cargo").arg("test").env("AIOLI_REQUIRE_BACKENDS", backends))
}

/// The README's command, and the known answers of all sets on each backend, by the command as it is
/// released.
pub(crate) fn kat() -> Outcome {
    let kat = |backend| run(Command::new("target/release/aioli").args(["kat", "--backend", backend]));
    let built = cargo(&["run", "--release", "--", "demo"]);
    crate::processor::backends().into_iter().fold(built, |outcome, backend| outcome.and(|| kat(backend)))
}

/// The tests of the laboratory and of these checks, unoptimized: that saves more in building than
/// it costs in running.
pub(crate) fn lab() -> Outcome {
    run(&mut one_build(&["test", "-p", "xtask", "-p", "aioli-lab"]))
}

/// Certificates and TLS in Rust.
pub(crate) fn x509() -> Outcome {
    if !answers("openssl", &["version"]) {
        return Outcome::Impossible("openssl: apt-get install openssl".into());
    }
    run(&mut one_build(&["test", "-p", "aioli-x509", "-p", "aioli-rustls"]))
}

/// The page of a report as readers get it, and whether the libraries in it are those of npm.
pub(crate) fn page() -> Outcome {
    const WEB: &str = "crates/aioli-lab/web";
    const OUT: &str = "target/report";
    let Some(record) = latest_report() else { return Outcome::Failed("no record.json under records/".into()) };
    let npm = |arguments: &[&str]| run(Command::new("npm").args(arguments).current_dir(WEB));
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .and(|| npm(&["run", "vendor", "--", "--check"]))
        // As in `kat`: the program that the tests of the laboratory run.
        .and(|| run(&mut one_build(&["test", "-p", "aioli-lab", "--no-run", "-q"])))
        .and(|| run(Command::new("target/debug/aioli-lab").args(["report", "--from", &record, "--out", OUT])))
        .and(|| npm(&["test", "--", &format!("../../../{OUT}/report.html")]))
}

/// The record of a whole report that has the last date. Folders are named after date and commit.
fn latest_report() -> Option<String> {
    let files = files()?;
    let records = files.into_iter().filter(|file| file.starts_with("records/") && file.ends_with("/record.json"));
    records.max_by_key(|file| file.split('/').nth(2).map(String::from))
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

/// The files of the repository, but for those that git ignores. `None` without git.
pub(crate) fn files() -> Option<Vec<String>> {
    let output = Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).output().ok()?;
    let names = || String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect();
    output.status.success().then(names)
}

/// Prints breaches, a line each. Passes if there are none.
pub(crate) fn report(breaches: &[String]) -> Outcome {
    breaches.iter().for_each(|breach| println!("{breach}"));
    if breaches.is_empty() { Outcome::Passed } else { Outcome::Failed(format!("{} breaches", breaches.len())) }
}

/// Whether the standard library of a target is installed.
pub(crate) fn has_target(target: &str) -> bool {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target))
}

/// Whether a program can be run with these arguments and succeeds.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Cargo with the features of every other build of the checks: see xtask/one-build.
pub(crate) fn one_build(arguments: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).args(["-p", "one-build"]);
    cargo
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
