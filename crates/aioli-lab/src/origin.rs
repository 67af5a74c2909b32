//! The origin of a record, its commit and its day, and the file name that follows from them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The state of the git checkout with this program's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Checkout {
    /// The full hash of its commit, or `unknown`.
    pub(crate) commit: String,
    /// Whether tracked files differ from that commit, if that is known.
    pub(crate) dirty: Option<bool>,
}

impl Default for Checkout {
    /// No checkout.
    fn default() -> Self {
        Self { commit: UNKNOWN.into(), dirty: None }
    }
}

impl Checkout {
    /// The state while this program runs. It describes the program only if that was built from the
    /// same state.
    pub(crate) fn of_source() -> Self {
        Self::of_folder(Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    fn of_folder(folder: &Path) -> Self {
        let Some(commit) = git(folder, &["rev-parse", "HEAD"]) else { return Self::default() };
        let changes = git(folder, &["status", "--porcelain", "--untracked-files=no"]);
        Self { commit: commit.trim().into(), dirty: changes.map(|changes| !changes.is_empty()) }
    }

    /// The first seven digits of the commit, or `unknown`.
    pub(crate) fn short(&self) -> &str {
        self.commit.get(..7).unwrap_or(&self.commit)
    }
}

impl fmt::Display for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.dirty {
            Some(true) => ", with changes that are not committed",
            Some(false) => ", unchanged",
            None => "",
        };
        write!(f, "{}{state}", self.commit)
    }
}

/// The name of a record that is made now, without its ending: `2026-11-21-7beacd1-all`.
pub(crate) fn stem(what: &str) -> String {
    format!("{}-{}-{what}", today(), Checkout::of_source().short())
}

/// The date in UTC.
pub(crate) fn today() -> String {
    date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / SECONDS_PER_DAY))
}

/// The file to write for a path from the command line: the path itself, or a file in it, named by
/// [`stem`], if the path is a folder.
pub(crate) fn file(path: &Path, what: &str, ending: &str) -> PathBuf {
    if path.is_dir() { path.join(format!("{}.{ending}", stem(what))) } else { path.to_owned() }
}

/// The output of a git command in a folder, if git is there and the command succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The Gregorian date of a day counted from 1970-01-01, as `YYYY-MM-DD`.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, days + 1)
}

const UNKNOWN: &str = "unknown";
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        // date -u -d @$((86400 * DAYS)) +%F
        let cases = [(0, "1970-01-01"), (58, "1970-02-28"), (59, "1970-03-01"), (364, "1970-12-31")];
        for (days, expected) in cases {
            assert_eq!(date(days), expected);
        }
        let leap_days = [(789, "1972-02-29"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (47_541, "2100-03-01")];
        for (days, expected) in leap_days {
            assert_eq!(date(days), expected);
        }
        assert_eq!(date(20_778), "2026-11-21");
    }

    #[test]
    fn a_folder_without_a_checkout_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Checkout::of_folder(folder.path()), Checkout::default());
        assert_eq!(Checkout::default().to_string(), "unknown");
    }

    #[test]
    fn changes_of_tracked_files_make_a_checkout_dirty() {
        let folder = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| git(folder.path(), arguments);
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let file = folder.path().join("file");
        std::fs::write(&file, "committed").unwrap();
        if run(&["init", "-q"]).is_none() {
            eprintln!("skipped: no git");
            return;
        }
        run(&["add", "file"]).unwrap();
        run(&[&author[..], &["commit", "-q", "-m", "first"]].concat()).unwrap();
        let clean = Checkout::of_folder(folder.path());
        assert_eq!((clean.commit.len(), clean.short().len(), clean.dirty), (40, 7, Some(false)));
        std::fs::write(folder.path().join("record.json"), "not tracked").unwrap();
        assert_eq!(Checkout::of_folder(folder.path()), clean);
        std::fs::write(&file, "changed").unwrap();
        assert_eq!(Checkout::of_folder(folder.path()), Checkout { dirty: Some(true), ..clean });
    }

    #[test]
    fn a_folder_gets_a_file_named_after_day_and_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "peers", "json");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("20") && name.ends_with("-peers.json"), "{name}");
        assert_eq!(name.len(), "2026-11-21-7beacd1-peers.json".len(), "{name}");
        let chosen = folder.path().join("chosen.json");
        assert_eq!(file(&chosen, "peers", "json"), chosen);
    }
}
