//! Whether the command is the same, byte by byte, wherever it is built.

use crate::steps::{Outcome, files, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Builds the command from copies of the sources in two folders, and compares the programs.
///
/// CONTRIBUTING.md has the flags, for releases. Both builds are on this machine, so what follows
/// from the compiler, the linker and the system is not compared.
pub(crate) fn check() -> Outcome {
    match programs() {
        Ok([a, b]) if a == b => Outcome::Passed,
        Ok([a, b]) => {
            let at = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            Outcome::Failed(format!("two builds of {} and {} bytes differ from byte {at} on", a.len(), b.len()))
        }
        Err(outcome) => outcome,
    }
}

/// The programs of both builds. Neither contains a path of this machine.
fn programs() -> Result<[Vec<u8>; 2], Outcome> {
    let failed = |error: io::Error| Outcome::Failed(error.to_string());
    let Some(files) = files() else { return Err(Outcome::Impossible("git ls-files".into())) };
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let Some(home) = home.or_else(|| Some(env::home_dir()?.join(".cargo"))) else {
        return Err(Outcome::Impossible("no CARGO_HOME".into()));
    };
    let mut programs = Vec::new();
    // The paths have different lengths, so that whatever contains one moves what follows it.
    for name in ["a", "another"] {
        let folder = std::path::absolute("target/reproducible").map_err(failed)?.join(name);
        copy(&files, &folder).map_err(failed)?;
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "-q", "--release", "--locked", "-p", "aioli-cli"]).current_dir(&folder);
        let flags = [(&folder, "/aioli"), (&home, "/cargo")]
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
        match run(cargo.env("RUSTFLAGS", flags.join(" ")).env_remove("CARGO_TARGET_DIR")) {
            Outcome::Passed => {}
            other => return Err(other),
        }
        let program = fs::read(folder.join("target/release/aioli")).map_err(failed)?;
        for path in [&folder, &home] {
            let bytes = path.as_os_str().as_encoded_bytes();
            if program.windows(bytes.len()).any(|window| window == bytes) {
                return Err(Outcome::Failed(format!("the program contains the path {}", path.display())));
            }
        }
        programs.push(program);
    }
    let [a, b] = programs.try_into().expect("two folders");
    Ok([a, b])
}

/// Copies what a build reads. Leaves what is the same, so that a later build has less to do.
fn copy(files: &[String], folder: &Path) -> io::Result<()> {
    for file in files.iter().filter(|file| !file.starts_with("records/")) {
        // A file that git lists may have been deleted.
        let Ok(bytes) = fs::read(file) else { continue };
        let to = folder.join(file);
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().expect("a file in a folder"))?;
        fs::write(to, bytes)?;
    }
    Ok(())
}
