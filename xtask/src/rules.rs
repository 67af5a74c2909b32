//! Rules of the repository that no compiler checks.

use crate::steps::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn check() -> Outcome {
    let files = match Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => return Outcome::Impossible("git ls-files".into()),
    };
    let mut broken = Vec::new();
    for path in files.lines().map(PathBuf::from) {
        // What git knows may have been deleted, and not everything is text.
        if let Ok(text) = std::fs::read_to_string(&path) {
            broken.extend(breaches(&path, &text).into_iter().map(|breach| format!("{}: {breach}", path.display())));
        }
    }
    broken.iter().for_each(|line| println!("{line}"));
    if broken.is_empty() { Outcome::Passed } else { Outcome::Failed(format!("{} breaches", broken.len())) }
}

fn breaches(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if path.extension().is_some_and(|extension| extension == "rs") {
        if !UNSAFE_EDGES.iter().any(|edge| path.starts_with(edge)) {
            let opened =
                |line: &&str| line.contains(concat!("allow(unsafe", "_code")) || line.contains(concat!("unsafe", " {"));
            found.extend(
                text.lines().filter(opened).map(|line| format!("unsafe code outside its edges: {}", line.trim())),
            );
        }
        let lines = text.lines().count();
        if lines > MAX_LINES {
            found.push(format!("{lines} lines, more than {MAX_LINES}"));
        }
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            found.push("modules are named foo.rs".into());
        }
    }
    // Hashes in lock files are any letters.
    let generated = path.file_name().is_some_and(|name| name == "package-lock.json" || name == "Cargo.lock");
    for word in WORDS_THAT_DO_NOT_BELONG.iter().filter(|_| !generated) {
        if let Some(line) = text.lines().position(|line| line.contains(word)) {
            found.push(format!("line {}: {word}", line + 1));
        }
    }
    found
}

/// Where unsafe code may stand: kernels, and the edges to other languages and to the operating system.
const UNSAFE_EDGES: &[&str] = &[
    "crates/aioli/src/backend",
    "crates/aioli/tests/zeroize.rs",
    "crates/aioli-cli/src/clock.rs",
    "crates/aioli-gpu/src/cuda.rs",
    "crates/aioli-lab/src/counter.rs",
    "crates/aioli-lab/src/peers/liboqs.rs",
    "crates/aioli-lab/src/techniques/openmp.rs",
    "firmware/cortex-m4/src",
    "xtask/ct-driver",
];
const MAX_LINES: usize = 800;
/// Unfinished work, and places outside of the repository. Written in halves, so that this file passes.
const WORDS_THAT_DO_NOT_BELONG: [&str; 5] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("/wo", "rk/"), concat!("../sha", "red")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaches_are_found() {
        let found = |path: &str, text: &str| breaches(Path::new(path), text).len();
        let opened = concat!("fn f() { unsafe", " { g() } }\n");
        assert_eq!(found("crates/aioli/src/backend/portable.rs", opened), 0);
        assert_eq!(found("crates/aioli/src/sign.rs", opened), 1);
        assert_eq!(found("crates/aioli/src/sign.rs", &"\n".repeat(MAX_LINES)), 0);
        assert_eq!(found("crates/aioli/src/sign.rs", &"\n".repeat(MAX_LINES + 1)), 1);
        assert_eq!(found("README.md", concat!("TO", "DO: everything")), 1);
    }
}
