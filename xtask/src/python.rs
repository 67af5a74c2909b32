//! The package for Python: its wheel, and tests of what is installed from it on every version of
//! Python that this machine has.

use crate::c::{done, failed, output};
use crate::steps::{Outcome, answers};
use crate::tools::install_with;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Builds the released wheel for old systems, too (manylinux2014, linked by Zig), and runs the
    /// engines for tables, which take two gigabytes, and the notebooks.
    #[arg(long)]
    pub(crate) full: bool,
}

pub(crate) fn check(options: &Options) -> Outcome {
    match all(options.full) {
        Ok(()) => Outcome::Passed,
        Err(outcome) => outcome,
    }
}

fn all(full: bool) -> Result<(), Outcome> {
    let pythons = pythons();
    let [(_, first), ..] = &pythons[..] else {
        return Err(Outcome::Impossible(format!("Python 3.11 or later: one of {} in the path", VERSIONS.join(", "))));
    };
    let tools = install_with(first, "target/python/tools", &TOOLS).map_err(Outcome::Impossible)?;
    // Unoptimized but for the library, and with checks, as `cargo test` builds it.
    let wheel = wheel(&tools, "target/python/wheel", &["--compatibility", "linux", "--features", "one-build"])?;
    for (i, (version, python)) in pythons.iter().enumerate() {
        println!("Python {version}: {}", python.display());
        let folder = install_with(python, &format!("target/python/{version}"), &TESTS).map_err(Outcome::Impossible)?;
        let python = folder.join("bin/python");
        install_wheel(&python, &wheel)?;
        done(in_crate(&python).args(["-m", "pytest"]))?;
        if i == 0 {
            let stubs = ["-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "aioli._aioli"];
            done(in_crate(&python).args(stubs))?;
            done(in_crate(&python).args(["-m", "mypy", "--cache-dir", "/dev/null"]).args(TYPED))?;
        }
    }
    if let [(only, _)] = &pythons[..] {
        println!("NOT CHECKED: versions of Python other than {only}, which this machine lacks");
    }
    if full {
        let released = old_systems(&tools, first)?;
        engines(first, &released)?;
    } else {
        println!("NOT CHECKED: the wheel for old systems, engines for tables, notebooks; --full checks them");
    }
    Ok(())
}

/// The versions that this machine has: in the path, or where pyenv keeps them.
fn pythons() -> Vec<(String, PathBuf)> {
    let pyenv = std::env::var("HOME").map(|home| Path::new(&home).join(".pyenv/versions")).unwrap_or_default();
    let kept: Vec<PathBuf> =
        std::fs::read_dir(pyenv).into_iter().flatten().flatten().map(|entry| entry.path().join("bin/python")).collect();
    let found = |version: &&str| {
        let runs = |python: &PathBuf| {
            let told =
                output(Command::new(python).args(["-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]));
            told.is_ok_and(|told| told == **version)
        };
        let in_path = PathBuf::from(format!("python{version}"));
        let python = std::iter::once(in_path).chain(kept.iter().cloned()).find(runs)?;
        Some((version.to_string(), python))
    };
    VERSIONS.iter().filter_map(found).collect()
}

/// Builds the wheel into an empty folder; returns its path.
fn wheel(tools: &Path, folder: &str, options: &[&str]) -> Result<PathBuf, Outcome> {
    let folder = std::path::absolute(folder).map_err(failed)?;
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    let mut maturin = in_crate(&tools.join("bin/maturin"));
    maturin.args(["build", "--locked", "--interpreter"]).arg(tools.join("bin/python"));
    // The compiler of Zig is found as a program of this environment.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&path));
    maturin.env("PATH", std::env::join_paths(paths).map_err(failed)?);
    done(maturin.arg("--out").arg(&folder).args(options))?;
    let mut files = std::fs::read_dir(&folder).map_err(failed)?.flatten().map(|entry| entry.path());
    files
        .find(|file| file.extension().is_some_and(|ending| ending == "whl"))
        .ok_or_else(|| failed("no wheel was built"))
}

fn install_wheel(python: &Path, wheel: &Path) -> Result<(), Outcome> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index"]);
    done(pip.arg("--force-reinstall").arg(wheel))
}

/// Builds the wheel as it is released, for every Linux since 2014, and uses it here. Returns its
/// path.
fn old_systems(tools: &Path, python: &Path) -> Result<PathBuf, Outcome> {
    let options = ["--release", "--compatibility", "manylinux2014", "--zig"];
    let wheel = wheel(tools, "target/python/manylinux", &options)?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.contains("manylinux2014") {
        return Err(Outcome::Failed(format!("{name} is not named after manylinux2014")));
    }
    let folder = install_with(python, "target/python/old", &TESTS).map_err(Outcome::Impossible)?;
    install_wheel(&folder.join("bin/python"), &wheel)?;
    done(in_crate(&folder.join("bin/python")).args(["-m", "pytest"]))?;
    Ok(wheel)
}

/// Gives one table to every engine, and runs the notebooks.
fn engines(python: &Path, wheel: &Path) -> Result<(), Outcome> {
    if !answers("java", &["-version"]) {
        return Err(Outcome::Impossible("java, for Spark: apt-get install default-jdk-headless".into()));
    }
    let folder = install_with(python, "target/python/engines", &ENGINES).map_err(Outcome::Impossible)?;
    install_wheel(&folder.join("bin/python"), wheel)?;
    done(in_crate(&folder.join("bin/python")).args(["-m", "pytest", "tests/engines.py", "tests/notebooks.py"]))
}

/// A program that runs in the folder of the crate and finds the package where it is installed.
fn in_crate(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("crates/aioli-python").env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The versions to test, as far as this machine has them: each has a release.
const VERSIONS: [&str; 4] = ["3.11", "3.12", "3.13", "3.14"];

/// The tools that build wheels. Zig is the linker for old systems.
const TOOLS: [&str; 2] = ["maturin==1.16.0", "ziglang==0.17.1"];

/// The packages that tests and examples import, and the one that checks the stubs.
const TESTS: [&str; 8] = [
    "pytest==9.2.0",
    "mypy==2.4.1",
    "cryptography==50.0.2",
    "pyarrow==26.0.1",
    "securesystemslib==1.6.0",
    "tuf==7.0.1",
    "PyJWT==2.15.1",
    "typing_extensions==4.16.0",
];

/// The programs and modules whose types mypy checks.
const TYPED: [&str; 6] = ["examples", "tests", "python/aioli", "measure.py", "measure_tables.py", "figures.py"];

/// The engines, with the latest pyarrow that all of them take, and the imports of notebooks.
const ENGINES: [&str; 10] = [
    "pytest==9.2.0",
    "pyarrow==25.0.1",
    "polars==2.1.0",
    "duckdb==2.0.0",
    "daft==0.7.26",
    "ray[data]==2.60.0",
    "pyspark==4.3.0",
    "nbclient==0.11.0",
    "ipykernel==7.4.0",
    "matplotlib==3.11.2",
];
