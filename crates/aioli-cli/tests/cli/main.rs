//! The command, tested by running it.

mod bound;
mod certificates;
mod cms;
mod files;
mod git;
mod git_x509;
mod help;
mod inspect;
mod interrupts;
mod keys;
mod malformed;
mod measuring;
mod names;
mod outputs;
mod signing;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A directory of its own, in which the command runs.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with a key pair `k` of a set, and a file `f`.
    pub(crate) fn with_key(set: &str) -> Self {
        let place = Self::new();
        place.keygen(set, "k");
        place.write("f", b"a message");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn keygen(&self, set: &str, name: &str) {
        self.run(&["keygen", "--set", set, "--out", name, "--no-passphrase"]).expect(0);
    }

    /// Runs `aioli` with the arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with_input(arguments, b"")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = Command::new(AIOLI);
        command.args(arguments);
        self.finish(command, input)
    }

    /// Runs a script in which `"$@"` is `aioli` with the arguments.
    #[cfg(unix)]
    pub(crate) fn run_in_shell(&self, script: &str, arguments: &[&str]) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", AIOLI]).args(arguments);
        self.finish(command, b"")
    }

    pub(crate) fn finish(&self, mut command: Command, input: &[u8]) -> Run {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.current_dir(self.0.path()).spawn().unwrap();
        // This fails if the command does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        Run::new(format!("{command:?}"), child.wait_with_output().unwrap())
    }
}

/// The outcome of a run.
pub(crate) struct Run {
    command: String,
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new(command: String, output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("panicked"), "{command}: {stderr}");
        Self { command, code: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Checks the exit code. Every failure but an invalid signature must say something.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\nstdout: {}\nstderr: {}", self.command, self.out(), self.stderr);
        assert!(code < 2 || !self.stderr.is_empty(), "{}: fails without a word", self.command);
        self
    }

    /// Checks the exit code of a run that tells its errors on standard output.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn expect_silent(self, code: i32) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(code), ""), "{}", self.command);
        self
    }

    /// Checks that standard error contains a text.
    #[track_caller]
    pub(crate) fn saying(self, what: &str) -> Self {
        assert!(self.stderr.contains(what), "{}: expected {what:?} in {:?}", self.command, self.stderr);
        self
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

pub(crate) const AIOLI: &str = env!("CARGO_BIN_EXE_aioli");
