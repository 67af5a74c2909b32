//! `aioli demo`.

use super::{keygen, sign, speed, verify};
use crate::cli::{Cli, Command, Demo};
use crate::error::{Error, Exit};
use crate::interrupt::TemporaryDirectory;
use crate::measure::measure;
use crate::output::{self, Access};
use crate::shown::shown;
use crate::terminal::{note, say};
use aioli::Algorithm;
use aioli::backend::DetectedBackend;
use clap::Parser;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn run(arguments: &Demo) -> Result<Exit, Error> {
    let failed = |source| Error::File { doing: "work in", path: std::env::temp_dir(), source };
    let (name, contents) = document(arguments)?;
    let before = std::env::current_dir();
    let directory = TemporaryDirectory::new().map_err(failed)?;
    std::env::set_current_dir(directory.path()).map_err(failed)?;
    let result = steps(&name, contents);
    // Some systems refuse to remove the current directory.
    before.and_then(std::env::set_current_dir).map_err(failed)?;
    directory.close().map_err(failed)?;
    match result? {
        Exit::Done => speed_table(),
        exit => Ok(exit),
    }
}

/// Makes a key, signs, verifies, and verifies again with a flipped bit, in the current directory.
fn steps(name: &str, mut contents: Vec<u8>) -> Result<Exit, Error> {
    let path = Path::new(name);
    output::write(path, &contents, Access::Everyone, false)?;
    say!("A key, and a signature of {} ({} bytes):\n", shown(path), contents.len())?;
    for line in ["keygen --set mayo1 --out demo --no-passphrase", "sign -k demo.key", "verify -k demo.pub"] {
        let exit = step(line, name)?;
        if exit != Exit::Done {
            return Ok(exit);
        }
    }
    let middle = contents.len() / 2;
    contents[middle] ^= 1;
    output::write(path, &contents, Access::Everyone, true)?;
    say!("One bit of the file flipped:\n")?;
    match step("verify -k demo.pub", name)? {
        Exit::Invalid => Ok(Exit::Done),
        exit => {
            let code = exit as u8;
            note(format_args!("aioli: verifying the changed file should exit with code 1, but exits with {code}"));
            Ok(Exit::Invalid)
        }
    }
}

/// Shows a command and runs it.
fn step(line: &str, name: &str) -> Result<Exit, Error> {
    let file = Some(name).filter(|_| !line.starts_with("keygen"));
    say!("$ aioli {line}{}{}", if file.is_some() { " " } else { "" }, shown(Path::new(file.unwrap_or_default())))?;
    let words = ["aioli"].into_iter().chain(line.split(' ')).chain(file);
    let exit = match Cli::parse_from(words).command {
        Some(Command::Keygen(arguments)) => keygen::run(&arguments)?,
        Some(Command::Sign(arguments)) => sign::run(&arguments)?,
        Some(Command::Verify(arguments)) => verify::run(&arguments)?,
        _ => unreachable!("the steps of the demo are keygen, sign and verify"),
    };
    say!("")?;
    Ok(exit)
}

/// A short measurement of the sets of round 3.
fn speed_table() -> Result<Exit, Error> {
    let backend = DetectedBackend::best();
    say!("Speed on one core, backend {backend} (`aioli speed` measures longer):\n")?;
    speed::heading()?;
    for &set in &Algorithm::ALL[..4] {
        measure(set, backend, Duration::from_millis(50), None)?.iter().try_for_each(speed::row)?;
    }
    Ok(Exit::Done)
}

/// The name and the contents of the file to sign.
fn document(arguments: &Demo) -> Result<(String, Vec<u8>), Error> {
    let path = arguments.file.clone().unwrap_or_else(|| PathBuf::from("README.md"));
    match std::fs::read(&path) {
        Ok(contents) if contents.is_empty() => Err(Error::Usage(format!("{} has no bit to flip", shown(&path)))),
        Ok(contents) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, contents))
        }
        Err(error) if arguments.file.is_none() && error.kind() == io::ErrorKind::NotFound => {
            Ok(("Cargo.toml".into(), include_bytes!("../../Cargo.toml").to_vec()))
        }
        Err(source) => Err(Error::File { doing: "read", path, source }),
    }
}
