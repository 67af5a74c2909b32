//! Rules of the repository that no compiler checks.

use crate::steps::{Outcome, files, report};
use std::path::Path;

pub(crate) fn check() -> Outcome {
    let Some(files) = files() else { return Outcome::Impossible("git ls-files".into()) };
    let mut broken = Vec::new();
    for path in &files {
        // A file that git lists may have been deleted, and one that is not text has its name
        // checked alone.
        if let Ok(bytes) = std::fs::read(path) {
            let text = String::from_utf8(bytes).unwrap_or_default();
            broken.extend(breaches(path, &text).into_iter().map(|breach| format!("{path}: {breach}")));
        }
    }
    report(&broken)
}

fn breaches(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension == "rs" && !UNSAFE_EDGES.iter().any(|edge| Path::new(path).starts_with(edge)) {
        let opened = |line: &&str| {
            [concat!("allow(unsafe", "_code"), concat!("unsafe", " {")].iter().any(|part| line.contains(part))
        };
        let opened = text.lines().filter(opened);
        found.extend(opened.map(|line| format!("unsafe code outside its edges: {}", line.trim())));
    }
    let lines = text.lines().count();
    let ours = !MADE_ELSEWHERE.iter().any(|folder| folders.ends_with(folder));
    if SOURCES.contains(&extension) && ours && lines > MAX_LINES {
        found.push(format!("{lines} lines, more than {MAX_LINES}"));
    }
    if extension == "rs" {
        found.extend(
            wide_comments(text).map(|line| format!("line {line}: a comment wider than {COMMENT_WIDTH} columns")),
        );
    }
    if name == "mod.rs" {
        found.push("modules are named foo.rs".into());
    }
    if let Some(record) = path.strip_prefix("records/").and_then(|rest| rest.split('/').nth(1))
        && !is_record(record)
    {
        found.push("a record is named DATE-COMMIT[-WHAT], with 7 digits of the commit".into());
    }
    // Lock files contain hashes, in which any letters may follow each other.
    let is_lock = name == "package-lock.json" || name == "Cargo.lock";
    for word in WORDS_THAT_DO_NOT_BELONG.iter().filter(|_| !is_lock) {
        if let Some(line) = text.lines().position(|line| line.contains(word)) {
            found.push(format!("line {}: {word}", line + 1));
        }
    }
    found
}

/// The numbers of the comment lines wider than [`COMMENT_WIDTH`]. Drawings and code between
/// fences may take what the formatter gives to code.
fn wide_comments(text: &str) -> impl Iterator<Item = usize> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let comment = line.trim_start().strip_prefix("//")?;
        if comment.trim_start_matches(['/', '!']).trim_start().starts_with("```") {
            fenced = !fenced;
        }
        (!fenced && line.chars().count() > COMMENT_WIDTH).then_some(index + 1)
    })
}

/// Whether a file or folder in the folder of a machine is named after its date and commit:
/// `2026-11-22-1330660-all`.
fn is_record(name: &str) -> bool {
    let name = name.strip_suffix(".json").unwrap_or(name);
    let pattern = "dddd-dd-dd-xxxxxxx";
    let fits = |(kind, c): (char, char)| match kind {
        'd' => c.is_ascii_digit(),
        'x' => matches!(c, '0'..='9' | 'a'..='f'),
        _ => c == kind,
    };
    let what = name.get(pattern.len()..).unwrap_or(".");
    pattern.chars().zip(name.chars()).all(fits) && !what.contains('.') && (what.is_empty() || what.starts_with('-'))
}

/// Where unsafe code may be: kernels, and the edges to other languages and to the operating system.
const UNSAFE_EDGES: &[&str] = &[
    "crates/aioli/src/backend",
    "crates/aioli/tests/batch_memory.rs",
    "crates/aioli/tests/zeroize.rs",
    "crates/aioli-c/src",
    "crates/aioli-cli/src/clock.rs",
    "crates/aioli-gpu/src/cuda.rs",
    "crates/aioli-lab/src/counter.rs",
    "crates/aioli-lab/src/peers/liboqs",
    "crates/aioli-lab/src/peers/liboqs.rs",
    "crates/aioli-lab/src/techniques/openmp.rs",
    "crates/aioli-python/src/arrow.rs",
    "firmware/cortex-m4/src",
    "fuzz/src/guard.rs",
    "xtask/against/main.rs",
    "xtask/ct-driver",
];
/// The extensions of source files, whose length is limited unless they lie in a folder `vendor`.
const SOURCES: [&str; 8] = ["rs", "cu", "cuh", "c", "cpp", "h", "s", "js"];
const MAX_LINES: usize = 500;

/// Folders of files that nobody writes: libraries of others, and the header that cbindgen makes.
const MADE_ELSEWHERE: [&str; 2] = ["/vendor", "crates/aioli-c/include"];

/// Prose is read more easily in shorter lines than code has.
const COMMENT_WIDTH: usize = 100;
/// Unfinished work, and places outside of the repository. Written in halves, so that this file
/// passes.
const WORDS_THAT_DO_NOT_BELONG: [&str; 5] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("/wo", "rk/"), concat!("../sha", "red")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaches_are_found() {
        let found = |path: &str, text: &str| breaches(path, text).len();
        let opened = concat!("fn f() { unsafe", " { g() } }\n");
        assert_eq!(found("crates/aioli/src/backend/portable.rs", opened), 0);
        assert_eq!(found("crates/aioli/src/sign.rs", opened), 1);
        assert_eq!(found("crates/aioli/src/sign.rs", &"\n".repeat(MAX_LINES)), 0);
        assert_eq!(found("crates/aioli/src/sign.rs", &"\n".repeat(MAX_LINES + 1)), 1);
        assert_eq!(found("crates/aioli-gpu/kernels/maps.cuh", &"\n".repeat(MAX_LINES + 1)), 1);
        assert_eq!(found("crates/aioli-lab/web/vendor/d3.js", &"\n".repeat(MAX_LINES + 1)), 0);
        let wide = format!("// {}\n", "x".repeat(COMMENT_WIDTH));
        assert_eq!(found("crates/aioli/src/sign.rs", &wide), 1);
        assert_eq!(found("crates/aioli/src/sign.rs", &format!("//! ```text\n{wide}//! ```\n")), 0);
        assert_eq!(found("crates/aioli/src/backend/mod.rs", ""), 1);
        assert_eq!(found("README.md", concat!("TO", "DO: everything")), 1);
    }

    #[test]
    fn records_without_date_or_commit_are_found() {
        let found = |name: &str| breaches(&format!("records/some-machine/{name}"), "").len();
        assert_eq!(found("2026-11-22-1330660.json"), 0);
        assert_eq!(found("2026-11-22-1330660-portable.json"), 0);
        assert_eq!(found("2026-11-22-1330660-all/report.html"), 0);
        for name in ["2026-11-22.json", "2026-11-22-portable.json", "1330660.json", "2026-11-22-1330660portable.json"] {
            assert_eq!(found(name), 1, "{name}");
        }
        assert_eq!(found("2026-11-22-all/report.html"), 1);
    }
}
