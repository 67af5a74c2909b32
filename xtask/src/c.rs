//! The library for C: its build, its installation under a prefix, and tests of what is installed by
//! programs in C and C++.

use crate::steps::{Outcome, answers, one_build, run};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Install the library, its header and aioli.pc under this directory, and check nothing.
    #[arg(long, value_name = "PREFIX")]
    install: Option<PathBuf>,
}

/// Tests in C and C++, compiled by each compiler, against the shared library, the archive and what
/// pkg-config says; under valgrind and under the sanitizers; and the exported symbols.
pub(crate) fn run_with(options: &Options) -> Outcome {
    let done = match &options.install {
        Some(prefix) => build().and_then(|library| install(&library, prefix)),
        None => check(),
    };
    match done {
        Ok(()) => Outcome::Passed,
        Err(outcome) => outcome,
    }
}

fn check() -> Result<(), Outcome> {
    for (program, package) in TOOLS {
        if !answers(program, &["--version"]) {
            return Err(Outcome::Impossible(format!("{program}: apt-get install {package}")));
        }
    }
    if !answers("pkg-config", &["--exists", "jansson"]) {
        return Err(Outcome::Impossible("jansson: apt-get install libjansson-dev".into()));
    }
    let json = output(Command::new("pkg-config").args(["--cflags", "--libs", "jansson"]))?;
    let prefix = installed()?;
    done(&mut one_build(&["test", "-q", "-p", "aioli-c"]))?;
    compare_symbols(&prefix)?;

    let config = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        output(command.args(arguments).arg("aioli").env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")))
    };
    let compile = config(&["--cflags"])?;
    let shared = config(&["--libs"])?;
    let system = config(&["--static", "--libs-only-other", "--libs-only-l"])?.replace("-laioli", "");
    let archive = format!("{} {system}", prefix.join("lib/libaioli.a").display());
    let sanitizers = format!("-fsanitize=address,undefined -fno-sanitize-recover=all {archive}");
    for (compiler, standard, source) in COMPILERS {
        for (way, link) in [("shared", &shared), ("static", &archive), ("sanitized", &sanitizers)] {
            println!("{compiler}, {way}: {source}");
            let program = prefix.join(format!("{}-{compiler}-{way}", source.replace(['/', '.'], "-")));
            let mut build = Command::new(compiler);
            build
                .args([standard, "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o"])
                .arg(&program);
            build.args(compile.split_whitespace()).args(link.split_whitespace()).arg("-pthread");
            let mut test = Command::new(&program);
            if source.contains("example") {
                test.arg("README.md");
            }
            if source.contains("vectors") {
                build.args(json.split_whitespace());
                test.arg("vectors");
            }
            done(&mut build)?;
            done(test.env("LD_LIBRARY_PATH", prefix.join("lib")))?;
        }
    }
    // A thread pool that outlives `main` is "possibly lost".
    let mut memcheck = Command::new("valgrind");
    memcheck.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
    memcheck.arg("--show-leak-kinds=definite,indirect").arg(prefix.join("crates-aioli-c-tests-c-test-c-gcc-shared"));
    done(memcheck.env("LD_LIBRARY_PATH", prefix.join("lib")))
}

/// Builds the library and installs it for tests; returns the prefix.
pub(crate) fn installed() -> Result<PathBuf, Outcome> {
    let prefix = std::path::absolute("target/c/prefix").map_err(failed)?;
    install(&build()?, &prefix)?;
    Ok(prefix)
}

/// Builds the crate; returns the folder with its libraries.
fn build() -> Result<PathBuf, Outcome> {
    done(&mut one_build(&["build", "--release", "--locked", "-p", "aioli-c"]))?;
    Ok(PathBuf::from("target/release"))
}

/// Copies the libraries without their debugging symbols, the header, and aioli.pc.
fn install(library: &Path, prefix: &Path) -> Result<(), Outcome> {
    let prefix = std::path::absolute(prefix).map_err(failed)?;
    let version = env!("CARGO_PKG_VERSION");
    let (interface, _) = version.rsplit_once('.').expect("a version of three numbers");
    let [lib, include, config] = ["lib", "include", "lib/pkgconfig"].map(|folder| prefix.join(folder));
    for folder in [&lib, &include, &config] {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = format!("libaioli.so.{version}");
    for (built, installed) in [("libaioli_c.so", file.as_str()), ("libaioli_c.a", "libaioli.a")] {
        done(Command::new("strip").arg("--strip-debug").arg(library.join(built)).arg("-o").arg(lib.join(installed)))?;
    }
    for link in [format!("libaioli.so.{interface}"), "libaioli.so".into()] {
        done(Command::new("ln").args(["-sf", &file]).arg(lib.join(link)))?;
    }
    std::fs::copy("crates/aioli-c/include/aioli.h", include.join("aioli.h")).map_err(failed)?;
    let template = std::fs::read_to_string("crates/aioli-c/aioli.pc.in").map_err(failed)?;
    let prefix = prefix.to_str().ok_or_else(|| Outcome::Failed("the prefix is not UTF-8".into()))?;
    let text = template.replace("@prefix@", prefix).replace("@version@", version).replace("@private@", PRIVATE);
    std::fs::write(config.join("aioli.pc"), text).map_err(failed)
}

/// Fails unless the shared library exports the functions of the header and nothing else.
fn compare_symbols(prefix: &Path) -> Result<(), Outcome> {
    let symbols = output(
        Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(prefix.join("lib/libaioli.so")),
    )?;
    let exported: BTreeSet<&str> = symbols.split_whitespace().collect();
    let header = std::fs::read_to_string("crates/aioli-c/include/aioli.h").map_err(failed)?;
    let declared = functions(&header);
    let lines: Vec<String> = exported.symmetric_difference(&declared).map(|symbol| symbol.to_string()).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Outcome::Failed(format!("exported or declared, but not both: {}", lines.join(", "))))
}

/// The functions that a header declares: what stands before a parenthesis, comments apart.
fn functions(header: &str) -> BTreeSet<&str> {
    let code = header.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    let names = code.flat_map(|line| line.match_indices('(').map(|(at, _)| &line[..at]));
    let names = names.filter_map(|before| before.rsplit([' ', '*']).next());
    names.filter(|name| name.starts_with("aioli_")).collect()
}

pub(crate) fn done(command: &mut Command) -> Result<(), Outcome> {
    match run(command) {
        Outcome::Passed => Ok(()),
        outcome => Err(outcome),
    }
}

/// The output of a command; its failure is the failure of the check.
pub(crate) fn output(command: &mut Command) -> Result<String, Outcome> {
    let output = command.output().map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    Err(Outcome::Failed(String::from_utf8_lossy(&output.stderr).into()))
}

pub(crate) fn failed(error: impl std::fmt::Display) -> Outcome {
    Outcome::Failed(error.to_string())
}

/// The programs that the check runs, and the packages of Debian that have them.
const TOOLS: [(&str, &str); 6] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang-19", "clang-19"),
    ("clang++-19", "clang-19"),
    ("pkg-config", "pkg-config"),
    ("valgrind", "valgrind"),
];

/// Each compiler with a language and what it compiles.
const COMPILERS: [(&str, &str, &str); 6] = [
    ("gcc", "-std=c99", "crates/aioli-c/tests/c/test.c"),
    ("clang-19", "-std=c99", "crates/aioli-c/tests/c/test.c"),
    ("gcc", "-std=c99", "crates/aioli-c/tests/c/vectors.c"),
    ("g++", "-std=c++17", "crates/aioli-c/tests/c/test.cpp"),
    ("clang++-19", "-std=c++17", "crates/aioli-c/tests/c/test.cpp"),
    ("gcc", "-std=c99", "examples/c/verify_file.c"),
];

/// The libraries of the system that the archive needs: `rustc --print native-static-libs`.
const PRIVATE: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_and_comments_are_not() {
        let header = "/**\n * See aioli_gone().\n */\nAioliStatus aioli_sign(const Key *key,\n    size_t n);\n\
                      const char *aioli_version(void);\n#define AIOLI_X 1\n";
        assert_eq!(functions(header).into_iter().collect::<Vec<_>>(), ["aioli_sign", "aioli_version"]);
    }
}
