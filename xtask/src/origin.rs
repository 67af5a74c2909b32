//! The origin of a record: the commit of the source, and the versions of the programs that ran.

use std::process::Command;

/// The full hash of the commit, or `unknown` without git.
pub(crate) fn commit() -> String {
    output("git", &["rev-parse", "HEAD"]).map_or("unknown".into(), |hash| hash.trim().into())
}

/// Whether tracked files differ from the commit, if that is known.
pub(crate) fn dirty() -> Option<bool> {
    output("git", &["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty())
}

/// The first line of the output of `program --version`, or `unknown`.
pub(crate) fn version(program: &str) -> String {
    let text = output(program, &["--version"]).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").into()
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
