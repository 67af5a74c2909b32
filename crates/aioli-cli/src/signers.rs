//! The file of allowed signers, in the form of OpenSSH: who may sign with which key, for what and
//! when; and the file of revoked keys.
//!
//! ```text
//! # principals, options, type, key
//! alice@example.org,*@example.com namespaces="git",valid-before="20280101" mayo1@aioli AAAAC21h...
//! ```
//!
//! Keys of other schemes may be in the file; nothing that is signed with them is accepted.

use crate::error::{Error, Reason};
use crate::files;
use crate::sshsig::key_of;
use aioli::any::VerifyingKey;
use chrono::{Local, NaiveDateTime};
use std::path::Path;

/// Who may sign with a key.
pub(crate) struct Signer {
    pub(crate) key: VerifyingKey,
    /// Patterns of names, separated by commas.
    pub(crate) principals: String,
    /// Patterns of namespaces; all if there are none.
    namespaces: Option<String>,
    /// Seconds since 1970, both inclusive.
    valid_after: Option<i64>,
    valid_before: Option<i64>,
}

impl Signer {
    /// Why the key may not sign at this time, if so.
    pub(crate) fn refuses_time(&self, time: i64) -> Option<&'static str> {
        if self.valid_after.is_some_and(|after| time < after) {
            return Some("the key is not valid yet");
        }
        self.valid_before.is_some_and(|before| time > before).then_some("the key has expired")
    }

    /// Why the key may not sign for a principal in a namespace, if so.
    pub(crate) fn refuses(&self, principal: &str, namespace: &str) -> Option<&'static str> {
        if !matches_list(principal, &self.principals) {
            return Some("the key belongs to another principal");
        }
        let allowed = self.namespaces.as_ref().is_none_or(|list| matches_list(namespace, list));
        (!allowed).then_some("the key is not allowed in this namespace")
    }
}

/// Reads the keys of MAYO in a file of allowed signers.
pub(crate) fn read(path: &Path) -> Result<Vec<Signer>, Error> {
    lines(path, signer)
}

/// Reads the keys of MAYO in a file of revoked ones: a line for each, without principals.
pub(crate) fn read_revoked(path: &Path) -> Result<Vec<VerifyingKey>, Error> {
    lines(path, |line| key(&words(line)))
}

/// Reads a time: `YYYYMMDD[HHMM[SS]][Z]`, local without the Z. Seconds since 1970.
pub(crate) fn time(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(['Z', 'z']);
    let is_utc = digits.is_some();
    let digits = digits.unwrap_or(text);
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = NaiveDateTime::parse_from_str(&format!("{digits:0<14}"), "%Y%m%d%H%M%S").ok()?;
    let time = if is_utc { time.and_utc() } else { time.and_local_timezone(Local).earliest()?.to_utc() };
    Some(time.timestamp())
}

/// Reads a file of lines, which may be empty or comments. `read` gives nothing for a line that
/// is about another scheme.
fn lines<T>(path: &Path, read: impl Fn(&str) -> Result<Option<T>, String>) -> Result<Vec<T>, Error> {
    let mut text = String::new();
    let source = files::open(path)?.read_to_string(&mut text);
    source.map_err(|source| Error::File { doing: "read", path: path.into(), source })?;
    let meant = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let read = meant.filter_map(|(line, number)| match read(line) {
        Ok(result) => result.map(Ok),
        Err(what) => Some(Err(Error::Malformed { path: path.into(), reason: Reason::Line { number, what } })),
    });
    read.collect()
}

/// Reads a line; nothing if its key is not of MAYO.
fn signer(line: &str) -> Result<Option<Signer>, String> {
    let words = words(line);
    let [principals, rest @ ..] = &words[..] else { return Err(EXPECTED.into()) };
    // Options contain `=` or are this one; types of keys are neither.
    let has_options = rest.first().is_some_and(|word| word.contains('=') || is_authority(word));
    let (options, rest) = if has_options { (rest[0], &rest[1..]) } else { ("", rest) };
    let Some(key) = key(rest)? else { return Ok(None) };
    let mut signer =
        Signer { key, principals: unquoted(principals), namespaces: None, valid_after: None, valid_before: None };
    for option in split(options, ',') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = unquoted(value);
        let moment = || time(&value).ok_or_else(|| format!("expected a time YYYYMMDD[HHMM[SS]][Z], not {value:?}"));
        let was_given = match &*name.to_ascii_lowercase() {
            "namespaces" => signer.namespaces.replace(value).is_some(),
            "valid-after" => signer.valid_after.replace(moment()?).is_some(),
            "valid-before" => signer.valid_before.replace(moment()?).is_some(),
            _ => return Err(format!("expected namespaces=, valid-after= or valid-before=, not {option:?}")),
        };
        if was_given {
            return Err(format!("the option {name:?} is given twice"));
        }
    }
    Ok(Some(signer))
}

/// Reads a key in two words, after which a comment may follow.
fn key(words: &[&str]) -> Result<Option<VerifyingKey>, String> {
    match words {
        [kind, base64, ..] => key_of(kind, base64).map_err(|error| error.to_string()),
        _ => Err(EXPECTED.into()),
    }
}

fn is_authority(word: &str) -> bool {
    split(word, ',').iter().any(|option| option.eq_ignore_ascii_case("cert-authority"))
}

/// The words of a line.
fn words(line: &str) -> Vec<&str> {
    split(line, ' ').into_iter().flat_map(|word| split(word, '\t')).collect()
}

/// The parts of a text that are not empty, split where the separator is not between quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    let parts = text.split(|c| {
        quoted ^= c == '"';
        c == separator && !quoted
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn unquoted(text: &str) -> String {
    text.replace('"', "")
}

/// Whether one of the patterns matches, and none that begins with `!`.
fn matches_list(text: &str, patterns: &str) -> bool {
    let (refused, wanted): (Vec<_>, Vec<_>) = patterns.split(',').partition(|pattern| pattern.starts_with('!'));
    wanted.iter().any(|pattern| matches(text.as_bytes(), pattern.as_bytes()))
        && !refused.iter().any(|pattern| matches(text.as_bytes(), &pattern.as_bytes()[1..]))
}

/// Whether a pattern with `*` and `?` matches. After a mismatch the last `*` takes one byte more,
/// so that no pattern takes more than the product of both lengths.
fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut star = None;
    while at < text.len() {
        match pattern.get(next) {
            Some(b'*') => {
                star = Some((at, next));
                next += 1;
            }
            Some(&c) if c == b'?' || c == text[at] => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((from, place)) = star else { return false };
                star = Some((from + 1, place));
                at = from + 1;
                next = place + 1;
            }
        }
    }
    pattern[next..].iter().all(|&c| c == b'*')
}

const EXPECTED: &str = "expected principals, options if any, the type of a key and the key";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_openssh() {
        for (text, patterns, expected) in [
            ("a@x.org", "a@x.org", true),
            ("a@x.org", "b@x.org,a@x.org", true),
            ("a@x.org", "*@x.org", true),
            ("a@x.org", "?@x.*", true),
            ("a@x.org", "*", true),
            ("a@x.org", "*@x.org,!a@x.org", false),
            ("a@x.org", "!b@x.org,*", true),
            ("a@x.org", "!b@x.org", false),
            ("a@x.org", "a@x.or", false),
            ("a@x.org", "@x.org", false),
            ("a@x.org", "??@x.org", false),
            ("a@x.org", "", false),
            ("", "*", true),
            ("aaaaab", "*a*ab", true),
            ("aaaaab", "*a*aa", false),
        ] {
            assert_eq!(matches_list(text, patterns), expected, "{text} {patterns}");
        }
    }

    #[test]
    fn times_are_read() {
        assert_eq!(time("20270131Z"), Some(1_801_353_600));
        assert_eq!(time("202701311230z"), Some(1_801_353_600 + 45_000));
        assert_eq!(time("20270131123059Z"), Some(1_801_353_600 + 45_059));
        assert!(time("20270131").is_some_and(|time| (time - 1_801_353_600).abs() <= 14 * 3600));
        for text in ["", "Z", "2027", "20271301Z", "2027013112Z", "20270131T1230Z", "+2027013", "20270131ZZ"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn words_and_options_may_be_quoted() {
        assert_eq!(words("\"a b\",c  x=\"1 2\"\tk"), ["\"a b\",c", "x=\"1 2\"", "k"]);
        assert_eq!(split("a=\"1,2\",b", ','), ["a=\"1,2\"", "b"]);
    }
}
