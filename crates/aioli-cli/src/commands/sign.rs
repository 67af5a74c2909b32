//! `aioli sign`.

use crate::cli::Sign;
use crate::envelope::{Envelope, bound_prefix};
use crate::error::{Error, Exit, Reason};
use crate::files;
use crate::fingerprint::fingerprint;
use crate::output::{self, Access, Inputs};
use crate::shown::shown;
use crate::terminal::{self, complain, note};
use crate::{keys, signed};
use aioli::any::{ExpandedSigningKey, SigningKey, VerifyingKey};
use aioli_x509::Certificate;
use aioli_x509::cms::{self, Hasher};
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Sign) -> Result<Exit, Error> {
    let Sign { key, files, out, raw, bind_key, certificate, no_check, passphrase, force, quiet } = arguments;
    if out.is_some() && files.len() > 1 {
        return Err(Error::Usage("--out takes the signature of a single file".into()));
    }
    let inputs = files.iter().chain([key]).chain(certificate).map(PathBuf::as_path).chain(passphrase.file());
    files::check_standard_input(inputs.clone())?;
    let key = keys::read_private(key, passphrase)?;
    let public_key = key.verifying_key();
    let signer = Signer {
        fingerprint: fingerprint(&public_key),
        form: match certificate {
            Some(path) => Form::Cms(with_certificates(&key, path)?.into()),
            None if *raw => Form::Raw,
            None => Form::Text { bind_key: *bind_key },
        },
        key: expand(&key, &public_key, !*no_check)?,
        force: *force,
        inputs: Inputs::new(inputs),
        progress: signed::progress(files),
    };
    let results: Vec<_> = files.par_iter().map(|file| signer.sign(file, out.as_deref())).collect();
    signer.progress.finish_and_clear();
    let mut worst = Exit::Done;
    for (file, result) in files.iter().zip(results) {
        match result {
            Ok(to) if *quiet || files::is_dash(&to) => (),
            Ok(to) => note(format_args!("{}: signature in {}", shown(file), shown(&to))),
            Err(error) => {
                complain(&error);
                worst = worst.max(error.exit());
            }
        }
    }
    Ok(worst)
}

/// The expanded key; with a check it verifies each signature before it releases it.
fn expand(key: &SigningKey, public_key: &VerifyingKey, check: bool) -> Result<ExpandedSigningKey, aioli::Error> {
    let expanded = key.expand();
    if check { expanded.checked(public_key) } else { Ok(expanded) }
}

/// The key with the certificates in a file.
pub(crate) fn with_certificates(key: &SigningKey, path: &Path) -> Result<cms::Signer, Error> {
    let signer = Certificate::read_all(&files::read(path)?).and_then(|chain| cms::Signer::new(key, chain));
    signer.map_err(|error| Error::Malformed { path: path.into(), reason: Reason::Certificate(error) })
}

/// The form of signatures.
enum Form {
    /// The text of an envelope.
    Text { bind_key: bool },
    /// The bare bytes.
    Raw,
    /// CMS, by the key with its certificates.
    Cms(Box<cms::Signer>),
}

/// A key, and how to write its signatures.
struct Signer {
    key: ExpandedSigningKey,
    fingerprint: String,
    form: Form,
    force: bool,
    inputs: Inputs,
    progress: ProgressBar,
}

impl Signer {
    /// Signs a file; returns where the signature is.
    fn sign(&self, file: &Path, out: Option<&Path>) -> Result<PathBuf, Error> {
        let to = match out {
            Some(out) => out.into(),
            None if files::is_dash(file) => file.into(),
            None => files::with_ending(file, if matches!(self.form, Form::Cms(_)) { ".p7s" } else { ".sig" }),
        };
        if !files::is_dash(&to) {
            output::check(&to, self.force, &self.inputs)?;
        }
        let contents = self.contents(file)?;
        if files::is_dash(&to) {
            terminal::put_bytes(&contents)?;
        } else {
            output::write(&to, &contents, Access::Everyone, self.force)?;
        }
        Ok(to)
    }

    /// The bytes that are written for a file.
    fn contents(&self, file: &Path) -> Result<Vec<u8>, Error> {
        let sign = |prefix: &str| {
            let digest = signed::digest(self.key.algorithm(), prefix, file, &self.progress)?;
            Ok::<_, Error>(self.key.sign_digest(&digest)?)
        };
        match &self.form {
            Form::Raw => Ok(sign("")?.as_bytes().to_vec()),
            Form::Text { bind_key: bound } => {
                let fingerprint = self.fingerprint.clone();
                let signature = sign(&if *bound { bound_prefix(&fingerprint) } else { String::new() })?;
                Ok(Envelope { signature, fingerprint, bound: *bound }.to_string().into_bytes())
            }
            Form::Cms(signer) => {
                let signature = signer.sign(signed::hash(Hasher::new(), file, &self.progress)?);
                let signature = signature
                    .map_err(|error| Error::Malformed { path: file.into(), reason: Reason::Certificate(error) })?;
                Ok(signature.to_pem().into_bytes())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aioli::Algorithm;

    /// A wrong public key is to the check what a fault is.
    #[test]
    fn signatures_are_checked_unless_told_otherwise() {
        let [key, other] = [(); 2].map(|()| SigningKey::generate(Algorithm::Mayo2).unwrap());
        let sign = |check| expand(&key, &other.verifying_key(), check).unwrap().sign(b"a message");
        assert_eq!(sign(true), Err(aioli::Error::FaultDetected));
        assert_eq!(key.verifying_key().verify(b"a message", &sign(false).unwrap()), Ok(()));
    }
}
