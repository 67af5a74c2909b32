//! The package for JavaScript and the page in a browser: built, and tested in Node, Deno and
//! Chromium. The backend of WebAssembly passes the tests of the others in Node.

use crate::steps::{Outcome, answers, has_target, one_build, run};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Build the package and the page, and test nothing.
    #[arg(long)]
    pub(crate) build: bool,
    /// Also sign and verify a file of 1 GB in the page, in constant memory, and regenerate the
    /// official known answers in Node.
    #[arg(long)]
    pub(crate) full: bool,
    /// Also write the picture of the page that README.md shows.
    #[arg(long)]
    pub(crate) picture: bool,
    /// Measure portable beside simd128 in Node, write the record to this file, and test nothing.
    #[arg(long, value_name = "RECORD")]
    pub(crate) measure: Option<PathBuf>,
}

pub(crate) fn run_with(options: &Options) -> Outcome {
    for target in if options.build { &[TARGET][..] } else { &[TARGET, WASI] } {
        if !has_target(target) {
            return Outcome::Impossible(format!("rustup target add {target}"));
        }
    }
    for (program, package) in [("npm", "npm"), ("chromium", "chromium")] {
        if !options.build && !answers(program, &["--version"]) {
            return Outcome::Impossible(format!("{program}: apt-get install {package}"));
        }
    }
    if let Some(record) = &options.measure {
        return package("", PORTABLE).and(|| package(VECTORS, PACKAGE)).and(|| measure(record));
    }
    let built = package(VECTORS, PACKAGE).and(|| page(options));
    if options.build { built } else { built.and(|| conformance(options.full)).and(|| test(options)) }
}

/// The conformance suite on portable and simd128 in one engine, and in full the official known
/// answers.
fn conformance(full: bool) -> Outcome {
    let Ok(runner) = std::path::absolute("xtask/wasi.js") else { return Outcome::Failed("the current folder".into()) };
    let test = |what: &[&str]| {
        let mut test = Command::new("cargo");
        test.args(["test", "-q", "-p", "aioli", "--target", WASI]).args(what);
        test.env("CARGO_TARGET_WASM32_WASIP1_RUNNER", format!("node --no-warnings {}", runner.display()));
        test.env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", VECTORS).env("AIOLI_REQUIRE_BACKENDS", "portable,simd128");
        run(&mut test)
    };
    // Other tests of the library expect panics, which end a program of this target.
    let suite = test(&["--lib", "backend::conformance"]);
    if full { suite.and(|| test(&["--test", "kat"])) } else { suite }
}

/// The npm package, compiled with these flags, in a folder.
fn package(flags: &str, folder: &str) -> Outcome {
    let mut build = Command::new("cargo");
    build.args(["build", "-q", "--release", "--target", TARGET, "-p", "aioli-wasm"]).env(FLAGS, flags);
    run(&mut build)
        .and(|| run(Command::new("cargo").args(["run", "-q", "-p", "wasm-bind", MODULE, folder])))
        .and(|| run(Command::new("cp").args(FILES).arg(folder)))
}

fn measure(record: &Path) -> Outcome {
    let [portable, simd128] = [PORTABLE, PACKAGE].map(std::path::absolute);
    let (Ok(portable), Ok(simd128)) = (portable, simd128) else { return Outcome::Failed("the current folder".into()) };
    run(Command::new("node").arg("crates/aioli-wasm/measure.js").args([&portable, &simd128]).arg(record))
}

fn page(options: &Options) -> Outcome {
    let out = format!("../{PAGE}");
    // Deno is optional: building has no need for it, and some machines cannot have it.
    let omit = if options.build { "--omit=optional" } else { "--include=optional" };
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund", omit])
        .and(|| npm(&["run", "-s", "build", "--", &format!("../{PACKAGE}"), &out]))
}

/// The package in Node and Deno, then the page in Chromium, with the command that `kat` uses, too.
fn test(options: &Options) -> Outcome {
    let [page, command] = [PAGE, "target/release/aioli"].map(|path| format!("../{path}"));
    let mut arguments = vec!["run", "-s", "test", "--", &page, &command];
    if options.full {
        arguments.push("--full");
    }
    if options.picture {
        arguments.extend(["--picture", "picture.png"]);
    }
    test_package(Command::new("node").arg("--test"), "node.js")
        .and(deno)
        .and(|| run(&mut one_build(&["build", "--release", "-q", "-p", "aioli-cli"])))
        .and(|| npm(&arguments))
}

/// The tests of the package, by an engine, through one of the package's entries.
fn test_package(engine: &mut Command, entry: &str) -> Outcome {
    let [package, vectors] = [&format!("{PACKAGE}/{entry}"), "vectors"].map(std::path::absolute);
    let (Ok(package), Ok(vectors)) = (package, vectors) else { return Outcome::Failed("the current folder".into()) };
    engine.arg("crates/aioli-wasm/tests/").env("AIOLI_BACKEND", "simd128");
    run(engine.env("AIOLI_PACKAGE", package).env("AIOLI_VECTORS", vectors))
}

/// The entry for browsers, in Deno, which npm installs on one kind of machine.
fn deno() -> Outcome {
    const DENO: &str = "web/node_modules/@deno/linux-x64-glibc/deno";
    if !answers(DENO, &["--version"]) {
        println!("NOT CHECKED: the package in Deno, for want of {DENO}");
        return Outcome::Passed;
    }
    test_package(Command::new(DENO).args(["test", "--no-check", "--allow-read", "--allow-env"]), "browser.js")
}

fn npm(arguments: &[&str]) -> Outcome {
    run(Command::new("npm").args(arguments).current_dir("web"))
}

const TARGET: &str = "wasm32-unknown-unknown";
/// The target whose programs Node runs with the standard library.
const WASI: &str = "wasm32-wasip1";
/// The variable that sets the flags of [`TARGET`] alone.
const FLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";
/// The vector instructions that the backend simd128 takes.
const VECTORS: &str = "-Ctarget-feature=+simd128";
const MODULE: &str = "target/wasm32-unknown-unknown/release/aioli_wasm.wasm";
const PACKAGE: &str = "target/web/package";
/// The package without vectors, to measure beside it.
const PORTABLE: &str = "target/web/portable";
const PAGE: &str = "target/web/aioli.html";
/// The files of the package that are not generated.
const FILES: [&str; 6] = [
    "crates/aioli-wasm/npm/package.json",
    "crates/aioli-wasm/npm/browser.js",
    "crates/aioli-wasm/npm/node.js",
    "crates/aioli-wasm/README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];
