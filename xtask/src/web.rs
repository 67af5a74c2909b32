//! The package for JavaScript and the page in a browser: built, and tested in Node and Chromium.

use crate::steps::{Outcome, answers, has_target, run};
use clap::Args;
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Build the package and the page, and test nothing.
    #[arg(long)]
    build: bool,
    /// Also sign and verify a file of 1 GB in the page, in constant memory.
    #[arg(long)]
    pub(crate) full: bool,
    /// Also write the picture of the page that README.md shows.
    #[arg(long)]
    picture: bool,
}

pub(crate) fn run_with(options: &Options) -> Outcome {
    if !has_target(TARGET) {
        return Outcome::Impossible(format!("rustup target add {TARGET}"));
    }
    for (program, package) in [("npm", "npm"), ("chromium", "chromium")] {
        if !options.build && !answers(program, &["--version"]) {
            return Outcome::Impossible(format!("{program}: apt-get install {package}"));
        }
    }
    package().and(page).and(|| if options.build { Outcome::Passed } else { test(options) })
}

/// The npm package, in [`PACKAGE`].
fn package() -> Outcome {
    let mut build = Command::new("cargo");
    build.args(["build", "-q", "--release", "--target", TARGET, "-p", "aioli-wasm"]).env(FLAGS, VECTORS);
    run(&mut build)
        .and(|| run(Command::new("cargo").args(["run", "-q", "-p", "wasm-bind", MODULE, PACKAGE])))
        .and(|| run(Command::new("cp").args(FILES).arg(PACKAGE)))
}

fn page() -> Outcome {
    let out = format!("../{PAGE}");
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .and(|| npm(&["run", "-s", "build", "--", &format!("../{PACKAGE}"), &out]))
}

/// The package in Node, then the page in Chromium, with the command that `kat` uses, too.
fn test(options: &Options) -> Outcome {
    let mut node = Command::new("node");
    node.args(["--test", "crates/aioli-wasm/tests/"]).env("AIOLI_BACKEND", "simd128");
    let [package, vectors] = [PACKAGE, "vectors"].map(std::path::absolute);
    let (Ok(package), Ok(vectors)) = (package, vectors) else { return Outcome::Failed("the current folder".into()) };
    let [page, command] = [PAGE, "target/release/aioli"].map(|path| format!("../{path}"));
    let mut arguments = vec!["run", "-s", "test", "--", &page, &command];
    if options.full {
        arguments.push("--full");
    }
    if options.picture {
        arguments.extend(["--picture", "picture.png"]);
    }
    run(node.env("AIOLI_PACKAGE", package).env("AIOLI_VECTORS", vectors))
        .and(|| run(Command::new("cargo").args(["test", "--release", "--no-run", "-q"])))
        .and(|| npm(&arguments))
}

fn npm(arguments: &[&str]) -> Outcome {
    run(Command::new("npm").args(arguments).current_dir("web"))
}

const TARGET: &str = "wasm32-unknown-unknown";
/// The variable that sets the flags of [`TARGET`] alone.
const FLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";
/// The vector instructions that the backend simd128 takes.
const VECTORS: &str = "-Ctarget-feature=+simd128";
const MODULE: &str = "target/wasm32-unknown-unknown/release/aioli_wasm.wasm";
const PACKAGE: &str = "target/web/package";
const PAGE: &str = "target/web/aioli.html";
/// What the package has beside what is generated.
const FILES: [&str; 6] = [
    "crates/aioli-wasm/npm/package.json",
    "crates/aioli-wasm/npm/browser.js",
    "crates/aioli-wasm/npm/node.js",
    "crates/aioli-wasm/README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];
