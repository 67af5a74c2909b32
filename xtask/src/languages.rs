//! The examples for Go, Node and Java: each is copied out of the repository and tested there, with
//! the program in its README.

use crate::c::{done, failed, installed, output};
use crate::steps::{Outcome, answers, files, has_target, run};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Build the WebAssembly module for Go into examples/go, and test nothing.
    #[arg(long)]
    build: bool,
}

pub(crate) fn check(options: &Options) -> Outcome {
    if options.build {
        return module("examples/go/aioli.wasm");
    }
    let tests = [go, node, java];
    let prefix = match installed() {
        Ok(prefix) => prefix,
        Err(outcome) => return outcome,
    };
    // One language is tested where the tools of another are missing.
    let mut missing = Vec::new();
    for test in tests {
        match test(&prefix) {
            Ok(()) => {}
            Err(Outcome::Impossible(what)) => missing.push(what),
            Err(outcome) => return outcome,
        }
    }
    if missing.is_empty() { Outcome::Passed } else { Outcome::Impossible(missing.join("; ")) }
}

/// Tests the module for Go by cgo and without it.
fn go(prefix: &Path) -> Result<(), Outcome> {
    if !answers("go", &["version"]) {
        return Err(Outcome::Impossible("go 1.25 or later: https://go.dev/dl".into()));
    }
    let folder = copy("go")?;
    let readme = program("go", "go")?;
    std::fs::create_dir_all(folder.join("demo")).map_err(failed)?;
    std::fs::write(folder.join("demo/main.go"), readme).map_err(failed)?;
    let passed = |outcome| if let Outcome::Passed = outcome { Ok(()) } else { Err(outcome) };
    passed(module(&folder.join("aioli.wasm").to_string_lossy()))?;
    for cgo in ["1", "0"] {
        println!("Go, CGO_ENABLED={cgo}");
        let go = |arguments: &[&str]| {
            let mut go = within(&folder, prefix, "go");
            done(go.args(arguments).env("CGO_ENABLED", cgo))
        };
        go(&["vet", "./..."])?;
        go(&["test", "-count=1", "."])?;
        go(&["run", "./demo"])?;
    }
    let unformatted = output(Command::new("gofmt").args(["-l", "examples/go"]))?;
    if unformatted.is_empty() { Ok(()) } else { Err(Outcome::Failed(format!("gofmt: {unformatted}"))) }
}

fn node(prefix: &Path) -> Result<(), Outcome> {
    for program in ["node", "npm"] {
        if !answers(program, &["--version"]) {
            return Err(Outcome::Impossible(format!("{program}: apt-get install npm")));
        }
    }
    println!("Node");
    let folder = copy("node")?;
    std::fs::write(folder.join("demo.js"), program("node", "js")?).map_err(failed)?;
    let npm = |arguments: &[&str]| done(within(&folder, prefix, "npm").args(arguments));
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    npm(&["run", "-s", "test"])?;
    done(within(&folder, prefix, "node").arg("demo.js"))
}

/// Debian 12 has no JDK that is new enough, so a machine without one is no failure.
fn java(prefix: &Path) -> Result<(), Outcome> {
    let Some(java) = jdk() else {
        println!(
            "NOT CHECKED: examples/java, for want of a JDK of {OLDEST_JDK} or later: in the path, JAVA_HOME, {JVMS}"
        );
        return Ok(());
    };
    println!("Java: {}", java.display());
    if !answers("mvn", &["--version"]) {
        return Err(Outcome::Impossible("mvn: apt-get install maven".into()));
    }
    let jar = std::path::absolute(format!("target/languages/jars/gson-{GSON}.jar")).map_err(failed)?;
    if !jar.exists() {
        let artifact = format!("-Dartifact=com.google.code.gson:gson:{GSON}");
        let mut fetch = Command::new("mvn");
        done(fetch.args(["-q", "-B", "dependency:copy", &artifact, "-DoutputDirectory=target/languages/jars"]))?;
    }
    let folder = copy("java")?;
    std::fs::write(folder.join("Demo.java"), program("java", "java")?).map_err(failed)?;
    let run = |class_path: &Path, arguments: &[&str]| {
        let mut java = within(&folder, prefix, &java);
        done(java.arg("--enable-native-access=ALL-UNNAMED").arg("-cp").arg(class_path).args(arguments))
    };
    let vectors = std::path::absolute("vectors").map_err(failed)?;
    run(&jar, &["Vectors.java", &vectors.to_string_lossy()])?;
    run(Path::new("."), &["Demo.java"])
}

/// The program `java` of a JDK that has the Foreign Function and Memory API.
fn jdk() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir(JVMS).into_iter().flatten().flatten().map(|entry| entry.path());
    let programs = home.into_iter().chain(installed).map(|home| home.join("bin/java"));
    std::iter::once("java".into()).chain(programs).find(|java| {
        // The first line is of the form `openjdk 25.0.3 2026-04-21 LTS`.
        let told = output(Command::new(java).arg("--version")).unwrap_or_default();
        let version = told.split_whitespace().nth(1).and_then(|version| version.split('.').next());
        version.and_then(|version| version.parse().ok()).is_some_and(|version: u32| version >= OLDEST_JDK)
    })
}

/// The library for C as a WebAssembly module, written to this file.
fn module(file: &str) -> Outcome {
    if !has_target(WASI) {
        return Outcome::Impossible(format!("rustup target add {WASI}"));
    }
    let mut build = Command::new("cargo");
    build.args(["rustc", "-q", "--release", "--locked", "--target", WASI, "-p", "aioli-c", "--crate-type", "cdylib"]);
    build.args(["--", "-Cstrip=symbols"]).env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", "-Ctarget-feature=+simd128");
    run(&mut build).and(|| run(Command::new("cp").args(["target/wasm32-wasip1/release/aioli_c.wasm", file])))
}

/// Copies an example, as a programmer would, into a folder outside of the tree.
fn copy(language: &str) -> Result<PathBuf, Outcome> {
    let to = std::path::absolute(format!("target/languages/{language}")).map_err(failed)?;
    std::fs::create_dir_all(&to).map_err(failed)?;
    let from = format!("examples/{language}/");
    let files = files().ok_or_else(|| Outcome::Impossible("git ls-files".into()))?;
    for file in files.iter().filter(|file| file.starts_with(&from)) {
        std::fs::copy(file, to.join(&file[from.len()..])).map_err(failed)?;
    }
    Ok(to)
}

/// The first program in a language that a README shows.
fn program(example: &str, language: &str) -> Result<String, Outcome> {
    let readme = format!("examples/{example}/README.md");
    let text = std::fs::read_to_string(&readme).map_err(failed)?;
    let shown = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    let (program, _) = shown.ok_or_else(|| Outcome::Failed(format!("{readme} shows no program")))?;
    Ok(program.into())
}

/// A program in a folder, where it finds the installed library and the vectors.
fn within(folder: &Path, prefix: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let vectors = std::path::absolute("vectors").expect("a current folder");
    let mut command = Command::new(program);
    command.current_dir(folder).env("LD_LIBRARY_PATH", prefix.join("lib")).env("AIOLI_VECTORS", vectors);
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    command
}

const WASI: &str = "wasm32-wasip1";
const OLDEST_JDK: u32 = 22;
/// Where Debian keeps its JDKs.
const JVMS: &str = "/usr/lib/jvm";
/// The version of the library that reads JSON in Java.
const GSON: &str = "2.13.2";
