//! `aioli verify`.

use crate::cli::Verify;
use crate::envelope::{Envelope, bound_prefix};
use crate::error::{Error, Exit, Reason};
use crate::fingerprint::fingerprint;
use crate::round::round_number;
use crate::shown::shown;
use crate::terminal::{complain, say};
use crate::{files, keys, signed};
use aioli::Algorithm;
use aioli::any::{ExpandedVerifyingKey, Signature};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Verify) -> Result<Exit, Error> {
    let Verify { key, files, signature, bind_key, quiet, json } = arguments;
    if signature.is_some() && files.len() > 1 {
        return Err(Error::Usage("--signature takes the signature of a single file".into()));
    }
    files::check_standard_input(files.iter().chain([key]).chain(signature).map(PathBuf::as_path))?;
    if signature.is_none() && files.iter().any(|file| files::is_dash(file)) {
        return Err(Error::Usage("standard input needs --signature PATH".into()));
    }
    let key = keys::read_public(key)?;
    let verifier = Verifier {
        fingerprint: fingerprint(&key),
        key: key.expand(),
        bind_key: *bind_key,
        progress: signed::progress(files),
    };
    let results: Vec<_> = files
        .par_iter()
        .map(|file| {
            let signature = signature.clone().unwrap_or_else(|| files::with_ending(file, ".sig"));
            let result = verifier.verify(file, &signature);
            (file, signature, result)
        })
        .collect();
    verifier.progress.finish_and_clear();

    let worst = results.iter().map(|(_, _, result)| exit(result)).max().unwrap_or(Exit::Done);
    if *json {
        let document = Document {
            key: Key {
                algorithm: key.algorithm().name(),
                round: round_number(key.algorithm()),
                fingerprint: &verifier.fingerprint,
            },
            results: results.iter().map(|(file, signature, result)| Outcome::new(file, signature, result)).collect(),
        };
        let text = serde_json::to_string_pretty(&document).expect("strings and numbers");
        say!("{}", safe_json(&text))?;
        return Ok(worst);
    }
    for (file, _, result) in &results {
        match result {
            Ok(()) if *quiet => (),
            Ok(()) => say!("{}: valid", shown(file))?,
            Err(Error::Library(aioli::Error::InvalidSignature)) if *quiet => (),
            Err(Error::Library(aioli::Error::InvalidSignature)) => say!("{}: NOT VALID", shown(file))?,
            Err(error) => complain(error),
        }
    }
    Ok(worst)
}

/// A key, and its fingerprint to compare with those in envelopes.
struct Verifier {
    key: ExpandedVerifyingKey,
    fingerprint: String,
    /// Whether to refuse signatures that do not cover the fingerprint.
    bind_key: bool,
    progress: ProgressBar,
}

impl Verifier {
    fn verify(&self, file: &Path, path: &Path) -> Result<(), Error> {
        let (signature, bound) = self.signature(path)?;
        if self.bind_key && !bound {
            return Err(Error::NotBound(path.into()));
        }
        let prefix = if bound { bound_prefix(&self.fingerprint) } else { String::new() };
        let digest = signed::digest(self.key.algorithm(), &prefix, file, &self.progress)?;
        Ok(self.key.verify_digest(&digest, &signature)?)
    }

    /// Reads a signature, in an envelope or bare, and whether it covers the key's fingerprint.
    /// Fails if it cannot be of this key.
    fn signature(&self, path: &Path) -> Result<(Signature, bool), Error> {
        let algorithm = self.key.algorithm();
        let file = files::read(path)?;
        if Envelope::is_meant(&file) {
            let Envelope { signature, fingerprint, bound } = Envelope::parse(&file)
                .map_err(|error| Error::Malformed { path: path.into(), reason: Reason::Envelope(error) })?;
            if signature.algorithm() != algorithm {
                let given = signature.algorithm().name().into();
                return Err(Error::OtherSet { path: path.into(), expected: algorithm, given });
            }
            return match fingerprint == self.fingerprint {
                true => Ok((signature, bound)),
                false => {
                    let expected = self.fingerprint.clone();
                    Err(Error::OtherKey { path: path.into(), expected, given: fingerprint })
                }
            };
        }
        if let Ok(signature) = Signature::from_bytes(algorithm, &file) {
            return Ok((signature, false));
        }
        let others = Algorithm::ALL.iter().filter(|other| other.signature_bytes() == file.len());
        let others: Vec<_> = others.map(|other| other.name()).collect();
        Err(match others.is_empty() {
            false => Error::OtherSet { path: path.into(), expected: algorithm, given: others.join(" or ") },
            true => {
                let reason =
                    Reason::RawSignature { given: file.len(), expected: algorithm.signature_bytes(), algorithm };
                Error::Malformed { path: path.into(), reason }
            }
        })
    }
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    key: Key<'a>,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Key<'a> {
    algorithm: &'static str,
    round: u8,
    fingerprint: &'a str,
}

/// The outcome for one file.
#[derive(Serialize)]
struct Outcome {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<String>,
    signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature_bytes: Option<String>,
    valid: bool,
    exit_code: u8,
    error: Option<String>,
}

impl Outcome {
    fn new(file: &Path, signature: &Path, result: &Result<(), Error>) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
            file_bytes: hexadecimal(file),
            signature: signature.to_string_lossy().into_owned(),
            signature_bytes: hexadecimal(signature),
            valid: result.is_ok(),
            exit_code: exit(result) as u8,
            error: result.as_ref().err().map(|error| error.to_string()),
        }
    }
}

/// The bytes of a name in hexadecimal, if it is not UTF-8 and a JSON string would lose some of it.
fn hexadecimal(path: &Path) -> Option<String> {
    let name = path.as_os_str();
    let digits = || name.as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    name.to_str().is_none().then(digits)
}

/// JSON whose strings a terminal shows and does not obey.
///
/// JSON itself escapes only the control characters below U+0020. All others that are replaced here
/// can occur inside strings alone, where `\u` means the same character.
fn safe_json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push(c),
            c if crate::shown::is_deceptive(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    safe.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => safe.push(c),
        }
    }
    safe
}

/// The exit code of a file's outcome.
fn exit(result: &Result<(), Error>) -> Exit {
    result.as_ref().map_or_else(Error::exit, |()| Exit::Done)
}
