//! `aioli verify`.

use super::cert::read_all;
use crate::cli::Verify;
use crate::envelope::{Envelope, bound_prefix};
use crate::error::{Error, Exit, Reason};
use crate::fingerprint::fingerprint;
use crate::round::round_number;
use crate::shown::{safe, shown};
use crate::terminal::{complain, say};
use crate::{files, keys, signed};
use aioli::Algorithm;
use aioli::any::{ExpandedVerifyingKey, Signature, VerifyingKey};
use aioli_x509::cms::SignedData;
use aioli_x509::{Certificate, Trust};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Verify) -> Result<Exit, Error> {
    let Verify { key, ca, files, signature, bind_key, quiet, json } = arguments;
    if signature.is_some() && files.len() > 1 {
        return Err(Error::Usage("--signature takes the signature of a single file".into()));
    }
    files::check_standard_input(files.iter().chain(key).chain(ca).chain(signature).map(PathBuf::as_path))?;
    if signature.is_none() && files.iter().any(|file| files::is_dash(file)) {
        return Err(Error::Usage("standard input needs --signature PATH".into()));
    }
    let trusted = match (key, ca) {
        (Some(key), _) => Trusted::Key(Key::new(keys::read_public(key)?)),
        (None, Some(ca)) => Trusted::Authorities(read_all(ca)?),
        (None, None) => unreachable!("the parser demands one of them"),
    };
    let verifier = Verifier { trusted, bind_key: *bind_key, progress: signed::progress(files) };
    let results: Vec<_> = files
        .par_iter()
        .map(|file| {
            let signature = signature.clone().unwrap_or_else(|| verifier.place(file));
            let result = verifier.verify(file, &signature);
            (file, signature, result)
        })
        .collect();
    verifier.progress.finish_and_clear();

    let worst = results.iter().map(|(_, _, result)| exit(result)).max().unwrap_or(Exit::Done);
    if *json {
        let document = Document {
            key: match &verifier.trusted {
                Trusted::Key(key) => Some(KeyFacts {
                    algorithm: key.key.algorithm().name(),
                    round: round_number(key.key.algorithm()),
                    fingerprint: &key.fingerprint,
                }),
                Trusted::Authorities(_) => None,
            },
            results: results.iter().map(|(file, signature, result)| Outcome::new(file, signature, result)).collect(),
        };
        let text = serde_json::to_string_pretty(&document).expect("strings and numbers");
        say!("{}", safe_json(&text))?;
        return Ok(worst);
    }
    for (file, _, result) in &results {
        match result {
            Ok(_) if *quiet => (),
            Ok(None) => say!("{}: valid", shown(file))?,
            Ok(Some(signer)) => say!("{}: valid, signed by {}", shown(file), safe(signer))?,
            Err(Error::Library(aioli::Error::InvalidSignature)) if *quiet => (),
            Err(Error::Library(aioli::Error::InvalidSignature)) => say!("{}: NOT VALID", shown(file))?,
            Err(error) => complain(error),
        }
    }
    Ok(worst)
}

/// The trusted signers, and what else is demanded.
struct Verifier {
    trusted: Trusted,
    /// Whether to refuse signatures that do not cover the key.
    bind_key: bool,
    progress: ProgressBar,
}

/// Names the file of a signature in its error, unless the signature is not valid.
pub(crate) fn about(path: &Path, error: aioli_x509::Error) -> Error {
    use aioli_x509::Error as E;
    match error {
        E::OtherContent | E::Mayo(aioli::Error::InvalidSignature) => Error::Library(aioli::Error::InvalidSignature),
        error => Error::Malformed { path: path.into(), reason: Reason::Certificate(error) },
    }
}

/// The signer's name, if the file is validly signed and only the signature tells the name.
type Verdict = Result<Option<String>, Error>;

/// The signers that are trusted.
enum Trusted {
    /// The owner of a key.
    Key(Key),
    /// Everybody to whose certificate one of these leads.
    Authorities(Vec<Certificate>),
}

impl Verifier {
    /// The place of a file's signature, unless the user gives it.
    fn place(&self, file: &Path) -> PathBuf {
        let [text, cms] = [".sig", ".p7s"].map(|ending| files::with_ending(file, ending));
        match self.trusted {
            Trusted::Key(_) if text.exists() || !cms.exists() => text,
            _ => cms,
        }
    }

    fn verify(&self, file: &Path, path: &Path) -> Verdict {
        let signature = files::read(path)?;
        match &self.trusted {
            Trusted::Key(key) if !SignedData::is_meant(&signature) => {
                let (signature, bound) = key.signature(path, &signature)?;
                if self.bind_key && !bound {
                    return Err(Error::NotBound(path.into()));
                }
                let prefix = if bound { bound_prefix(&key.fingerprint) } else { String::new() };
                let digest = signed::digest(key.key.algorithm(), &prefix, file, &self.progress)?;
                key.expanded.verify_digest(&digest, &signature)?;
                Ok(None)
            }
            trusted => self.verify_cms(trusted, file, path, &signature),
        }
    }

    fn verify_cms(&self, trusted: &Trusted, file: &Path, path: &Path, signature: &[u8]) -> Verdict {
        let about = |error| about(path, error);
        let signature = SignedData::read(signature).map_err(about)?;
        if let Trusted::Key(key) = trusted {
            key.check_signer(path, &signature)?;
        }
        if self.bind_key && !signature.binds_signer() {
            return Err(Error::NotBound(path.into()));
        }
        let content = signed::hash(signature.hasher(), file, &self.progress)?;
        match trusted {
            Trusted::Key(key) => signature.verify_by(&key.key, content).map(|()| None).map_err(about),
            Trusted::Authorities(authorities) => {
                let signer = signature.verify(&Trust::now(authorities, &[]), content).map_err(about)?;
                Ok(Some(signer.fields().subject().to_string()))
            }
        }
    }
}

/// A key, and its fingerprint to compare with those in envelopes.
struct Key {
    key: VerifyingKey,
    expanded: ExpandedVerifyingKey,
    fingerprint: String,
}

impl Key {
    fn new(key: VerifyingKey) -> Self {
        Self { fingerprint: fingerprint(&key), expanded: key.expand(), key }
    }

    /// Fails if a signature cannot be of this key.
    fn check_signer(&self, path: &Path, signature: &SignedData) -> Result<(), Error> {
        let about = |error| Error::Malformed { path: path.into(), reason: Reason::Certificate(error) };
        let (expected, given) = (self.key.algorithm(), signature.algorithm().map_err(about)?);
        if given != expected {
            return Err(Error::OtherSet { path: path.into(), expected, given: given.name().into() });
        }
        let signer = signature.signer().map(Certificate::key).transpose().map_err(about)?;
        match signer.filter(|signer| *signer != self.key) {
            Some(other) => Err(self.other(path, fingerprint(&other))),
            None => Ok(()),
        }
    }

    fn other(&self, path: &Path, given: String) -> Error {
        Error::OtherKey { path: path.into(), expected: self.fingerprint.clone(), given }
    }

    /// Reads a signature, in an envelope or bare, and whether it covers the key's fingerprint.
    /// Fails if it cannot be of this key.
    fn signature(&self, path: &Path, file: &[u8]) -> Result<(Signature, bool), Error> {
        let algorithm = self.key.algorithm();
        if Envelope::is_meant(file) {
            let Envelope { signature, fingerprint, bound } = Envelope::parse(file)
                .map_err(|error| Error::Malformed { path: path.into(), reason: Reason::Envelope(error) })?;
            if signature.algorithm() != algorithm {
                let given = signature.algorithm().name().into();
                return Err(Error::OtherSet { path: path.into(), expected: algorithm, given });
            }
            return match fingerprint == self.fingerprint {
                true => Ok((signature, bound)),
                false => Err(self.other(path, fingerprint)),
            };
        }
        if let Ok(signature) = Signature::from_bytes(algorithm, file) {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<KeyFacts<'a>>,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct KeyFacts<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    exit_code: u8,
    error: Option<String>,
}

impl Outcome {
    fn new(file: &Path, signature: &Path, result: &Verdict) -> Self {
        Self {
            file: file.to_string_lossy().into_owned(),
            file_bytes: hexadecimal(file),
            signature: signature.to_string_lossy().into_owned(),
            signature_bytes: hexadecimal(signature),
            valid: result.is_ok(),
            signer: result.as_ref().ok().cloned().flatten(),
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
fn exit(result: &Verdict) -> Exit {
    result.as_ref().map_or_else(Error::exit, |_| Exit::Done)
}
