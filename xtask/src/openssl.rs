//! The provider for OpenSSL: built for the machine's OpenSSL and, in full, for a newer one from
//! source; tested by the commands `openssl` and `aioli` and by a program in C, under valgrind too.

use crate::c::{self, done, failed, output};
use crate::steps::{Outcome, answers, one_build};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Tests with OpenSSL 3.6 as well, which is built from source: CMS and TLS need 3.2 or later.
    /// TLS is then spoken with rustls, too.
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
    for (program, arguments, package) in TOOLS {
        if !answers(program, arguments) {
            return Err(Outcome::Impossible(format!("{program}: apt-get install {package}")));
        }
    }
    let library = c::installed()?;
    // The command exchanges files with the provider.
    done(&mut one_build(&["build", "-q", "--release", "-p", "aioli-cli"]))?;
    let folder = std::path::absolute("target/openssl").map_err(failed)?;
    let mut make = Command::new("make");
    make.args(["-C", "bindings/openssl", &format!("BUILD={}", folder.display()), WARNINGS]);
    done(make.env("PKG_CONFIG_PATH", library.join("lib/pkgconfig")))?;
    compare_symbols(&folder.join("aioli.so"))?;
    let config = output(Command::new("pkg-config").args(["--cflags", "--libs", "libcrypto"]))?;
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "bindings/openssl/tests/test.c", "-o"]);
    done(compile.arg(folder.join("test")).args(config.split_whitespace()).arg("-pthread"))?;

    test(&folder, "openssl".as_ref(), None)?;
    if full {
        // The same files, since a provider for 3.0 is one for all that follow.
        let newer = build_newer(&folder)?;
        done(&mut one_build(&["build", "-q", "-p", "aioli-rustls", "--examples"]))?;
        test(&folder, &newer.join("apps/openssl"), Some(&newer))?;
    }
    Ok(())
}

/// Tests the provider in a folder with a command and the libraries that belong to it.
fn test(folder: &Path, openssl: &Path, libraries: Option<&Path>) -> Result<(), Outcome> {
    let work = folder.join("work");
    let examples = std::path::absolute("target/debug/examples").map_err(failed)?;
    let command = |program: &Path| {
        let mut command = Command::new(program);
        command.env("OPENSSL_MODULES", folder).env("OPENSSL_CONF", work.join("round2.cnf"));
        if let Some(libraries) = libraries {
            command.env("LD_LIBRARY_PATH", libraries).env("TLS_EXAMPLES", &examples);
        }
        command
    };
    let mut script = command("bindings/openssl/tests/test.sh".as_ref());
    done(script.arg(openssl).arg("target/release/aioli").arg(&work).args(SETS))?;
    done(command(&folder.join("test")).args(SETS))?;
    let mut memcheck = command("valgrind".as_ref());
    memcheck.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
    done(memcheck.arg("--show-leak-kinds=definite,indirect").arg(folder.join("test")).arg("mayo2"))
}

/// Fails unless the provider exports its entry alone, and needs nothing that came after 3.0.0.
fn compare_symbols(provider: &Path) -> Result<(), Outcome> {
    let exported = output(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(provider))?;
    let needed = output(Command::new("nm").args(["-D", "--undefined-only", "--format=just-symbols"]).arg(provider))?;
    let later: Vec<_> = needed.lines().filter(|symbol| is_later(symbol)).collect();
    match (exported.as_str(), later.as_slice()) {
        ("OSSL_provider_init", []) => Ok(()),
        (_, []) => Err(Outcome::Failed(format!("exported: {exported}"))),
        _ => Err(Outcome::Failed(format!("needed, but later than OpenSSL 3.0.0: {}", later.join(", ")))),
    }
}

fn is_later(symbol: &str) -> bool {
    symbol.contains("@OPENSSL_") && !symbol.ends_with("@OPENSSL_3.0.0")
}

/// Builds OpenSSL from the sources in the crate openssl-src; returns the folder with its libraries.
fn build_newer(folder: &Path) -> Result<PathBuf, Outcome> {
    let (fetched, build) = (folder.join("source"), folder.join(format!("build-{SOURCE}")));
    std::fs::create_dir_all(fetched.join("src")).map_err(failed)?;
    std::fs::create_dir_all(&build).map_err(failed)?;
    let manifest = fetched.join("Cargo.toml");
    let text = format!("[package]\nname = 'source'\n[dependencies]\nopenssl-src = '={SOURCE}'\n[workspace]\n");
    std::fs::write(&manifest, text).map_err(failed)?;
    std::fs::write(fetched.join("src/lib.rs"), "").map_err(failed)?;
    let metadata =
        output(Command::new("cargo").args(["metadata", "-q", "--format-version=1", "--manifest-path"]).arg(&manifest))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(failed)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let source = packages.find(|package| package["name"] == "openssl-src");
    let source = source.and_then(|package| Path::new(package["manifest_path"].as_str()?).parent());
    let source = source.ok_or_else(|| Outcome::Failed("cargo metadata without openssl-src".into()))?;

    if !build.join("Makefile").exists() {
        let mut configure = Command::new("perl");
        done(configure.arg(source.join("openssl/Configure")).args(CONFIGURATION).current_dir(&build))?;
    }
    // The crate is for archives alone: it leaves out the program that lists what is exported.
    for list in EXPORTS {
        std::fs::write(build.join(list), "OPENSSL_3.0.0 { global: *; };\n").map_err(failed)?;
    }
    let jobs = format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from));
    for target in ["build_generated", "apps/openssl"] {
        let mut make = Command::new("make");
        make.args(["-s", &jobs, target]).args(EXPORTS.map(|list| format!("--old-file={list}")));
        done(make.current_dir(&build))?;
    }
    Ok(build)
}

/// The programs that must answer, and the packages of Debian that have them.
const TOOLS: [(&str, &[&str], &str); 5] = [
    ("openssl", &["version"], "openssl"),
    ("pkg-config", &["--exists", "libcrypto"], "pkg-config libssl-dev"),
    ("make", &["--version"], "make"),
    ("cc", &["--version"], "gcc"),
    ("valgrind", &["--version"], "valgrind"),
];

const SETS: [&str; 8] =
    ["mayo1", "mayo2", "mayo3", "mayo5", "mayo1-round2", "mayo2-round2", "mayo3-round2", "mayo5-round2"];

const WARNINGS: &str = "CFLAGS=-O2 -g -Wall -Wextra -Wpedantic -Werror";

/// The version of the crate; OpenSSL 3.6.3 is in it.
const SOURCE: &str = "300.6.1";

/// Options for a shorter build, which leave out what the tests do not use.
const CONFIGURATION: [&str; 7] = ["no-tests", "no-docs", "no-engine", "no-legacy", "no-quic", "no-dtls", "-O1"];

const EXPORTS: [&str; 2] = ["libcrypto.ld", "libssl.ld"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_later_versions_are_found() {
        assert!(is_later("OPENSSL_strcasecmp@OPENSSL_3.0.3"));
        assert!(!is_later("BIO_new_from_core_bio@OPENSSL_3.0.0"));
        assert!(!is_later("memcpy@GLIBC_2.14"));
    }
}
