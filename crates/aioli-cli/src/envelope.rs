//! The text around a signature in a `.sig` file.
//!
//! ```text
//! aioli-signature: 1
//! algorithm: mayo1
//! round: 3
//! key: SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
//! -----BEGIN MAYO SIGNATURE-----
//! (base64 of the signature's bytes, 64 characters a line)
//! -----END MAYO SIGNATURE-----
//! ```
//!
//! The signature covers the bytes of the signed file alone, so any MAYO software can check it.
//! The lines above it only name the set and the key that it was made with.
//!
//! `aioli sign --bind-key` writes `bound-key:` in place of `key:`. The signature then covers the
//! fingerprint, too: its message is [`bound_prefix`] and then the file. Changing the one line into
//! the other changes the message, so the signature is valid in neither form but its own. One
//! overlap remains: the owner of the key may sign a file that begins with the prefix without
//! binding, and has thereby signed the rest of it with binding.
//!
//! The reader accepts exactly this form, so a signature of a key has one envelope:
//!
//! - the seven kinds of lines in this order, nothing before, between or after them;
//! - one space after each colon, and no other space;
//! - the set's name as [`Algorithm::name`] gives it, and the number of its round;
//! - the fingerprint in canonical base64 without padding;
//! - the signature in canonical base64 with padding, 64 characters a line, the last line shorter if
//!   need be, but not empty;
//! - LF after every line, the last included, or CR LF after every line, since some tools turn the
//!   one into the other. Only this choice is free.

use crate::fingerprint::is_fingerprint;
use crate::round::round_number;
use aioli::Algorithm;
use aioli::any::Signature;
use base64ct::{Base64, Encoding};
use std::fmt;

/// A signature and the fingerprint of the key that it was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The signature, which knows its set and round.
    pub(crate) signature: Signature,
    /// The fingerprint of the public key.
    pub(crate) fingerprint: String,
    /// Whether the signature covers the fingerprint.
    pub(crate) bound: bool,
}

/// The beginning of the message of a signature that covers a fingerprint. The file follows.
pub(crate) fn bound_prefix(fingerprint: &str) -> String {
    format!("aioli bound key\n{fingerprint}\n")
}

impl Envelope {
    /// Whether a file is meant to be an envelope, rather than the bare bytes of a signature.
    pub(crate) fn is_meant(bytes: &[u8]) -> bool {
        bytes.starts_with(VERSION.as_bytes())
    }

    /// Reads an envelope.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        let text = str::from_utf8(bytes).map_err(|_| EnvelopeError::NotText)?;
        let mut lines = text.lines();
        let version = value(&mut lines, VERSION)?;
        if version != "1" {
            return Err(EnvelopeError::Version(version.into()));
        }
        let name = value(&mut lines, ALGORITHM)?;
        let algorithm: Algorithm = name.parse().map_err(|_| EnvelopeError::Algorithm(name.into()))?;
        let round = value(&mut lines, ROUND)?;
        if round != round_number(algorithm).to_string() {
            return Err(EnvelopeError::Round { algorithm, given: round.into() });
        }
        let bound = lines.clone().next().is_some_and(|line| line.starts_with(BOUND_KEY));
        let fingerprint = value(&mut lines, key_line(bound))?;
        if !is_fingerprint(fingerprint) {
            return Err(EnvelopeError::Fingerprint);
        }
        marker(&mut lines, BEGIN)?;
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some(END) => break,
                Some(line) => body.push(line),
                None => return Err(EnvelopeError::Expected(END)),
            }
        }
        let full = |(i, line): (usize, &&str)| {
            line.len() == WIDTH || (i + 1 == body.len() && (1..WIDTH).contains(&line.len()))
        };
        if !body.iter().enumerate().all(full) {
            return Err(EnvelopeError::LineLength);
        }
        if lines.next().is_some() {
            return Err(EnvelopeError::Trailing);
        }
        let signature = Base64::decode_vec(&body.concat()).map_err(|_| EnvelopeError::Base64)?;
        let signature = Signature::from_bytes(algorithm, &signature).map_err(EnvelopeError::Signature)?;
        let envelope = Self { signature, fingerprint: fingerprint.into(), bound };
        // Whatever else the steps above let pass is not the form that this program writes.
        let written = envelope.to_string();
        match text == written || text == written.replace('\n', "\r\n") {
            true => Ok(envelope),
            false => Err(EnvelopeError::LineEnds),
        }
    }
}

/// The text of the file.
impl fmt::Display for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.signature.algorithm();
        writeln!(f, "{VERSION} 1\n{ALGORITHM} {algorithm}\n{ROUND} {}", round_number(algorithm))?;
        writeln!(f, "{} {}\n{BEGIN}", key_line(self.bound), self.fingerprint)?;
        let body = Base64::encode_string(self.signature.as_bytes());
        for at in (0..body.len()).step_by(WIDTH) {
            writeln!(f, "{}", &body[at..body.len().min(at + WIDTH)])?;
        }
        writeln!(f, "{END}")
    }
}

/// A defect of an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EnvelopeError {
    /// The file is not UTF-8.
    NotText,
    /// A version that this program does not know.
    Version(String),
    /// A line is missing or in the wrong place; holds what the line begins with.
    Expected(&'static str),
    /// The set is not known.
    Algorithm(String),
    /// The round is not the set's.
    Round { algorithm: Algorithm, given: String },
    /// The key is not a fingerprint.
    Fingerprint,
    /// A line of the signature is empty, too long, or too short without being the last.
    LineLength,
    /// The signature is not base64.
    Base64,
    /// The signature is not as long as its set's.
    Signature(aioli::Error),
    /// Trailing data after the end marker.
    Trailing,
    /// Lines do not all end with LF, or all with CR LF.
    LineEnds,
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad signature envelope: ")?;
        match self {
            Self::NotText => f.write_str("not text"),
            Self::Version(version) => write!(f, "version {version:?}; this program knows version 1"),
            Self::Expected(line) => write!(f, "expected the line {line:?}"),
            Self::Algorithm(name) => write!(f, "unknown algorithm {name:?}"),
            Self::Round { algorithm, given } => {
                write!(f, "{algorithm} is of round {}, not {given:?}", round_number(*algorithm))
            }
            Self::Fingerprint => f.write_str("the key is not SHA256: and 43 characters of base64"),
            Self::LineLength => write!(f, "base64 is not in lines of {WIDTH} characters"),
            Self::Base64 => f.write_str("not base64"),
            Self::Signature(error) => error.fmt(f),
            Self::LineEnds => f.write_str("not every line ends with LF, or every line with CR LF"),
            Self::Trailing => write!(f, "trailing data after {END:?}"),
        }
    }
}

/// The rest of the next line, which must begin with `name` and a space.
fn value<'a>(lines: &mut impl Iterator<Item = &'a str>, name: &'static str) -> Result<&'a str, EnvelopeError> {
    let value = lines.next().and_then(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.ok_or(EnvelopeError::Expected(name))
}

/// The beginning of the line of the fingerprint.
fn key_line(bound: bool) -> &'static str {
    if bound { BOUND_KEY } else { KEY }
}

/// Checks that the next line is this marker.
fn marker<'a>(lines: &mut impl Iterator<Item = &'a str>, marker: &'static str) -> Result<(), EnvelopeError> {
    if lines.next() == Some(marker) { Ok(()) } else { Err(EnvelopeError::Expected(marker)) }
}

const VERSION: &str = "aioli-signature:";
const ALGORITHM: &str = "algorithm:";
const ROUND: &str = "round:";
const KEY: &str = "key:";
const BOUND_KEY: &str = "bound-key:";
const BEGIN: &str = "-----BEGIN MAYO SIGNATURE-----";
const END: &str = "-----END MAYO SIGNATURE-----";
/// Characters of base64 in a line.
const WIDTH: usize = 64;
