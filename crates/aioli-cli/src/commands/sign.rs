//! `aioli sign`.

use crate::cli::Sign;
use crate::envelope::{Envelope, bound_prefix};
use crate::error::{Error, Exit};
use crate::files;
use crate::fingerprint::fingerprint;
use crate::output::{self, Access, Inputs};
use crate::shown::shown;
use crate::terminal::{self, complain, note};
use crate::{keys, signed};
use aioli::any::{ExpandedSigningKey, SigningKey, VerifyingKey};
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Sign) -> Result<Exit, Error> {
    let Sign { key, files, out, raw, bind_key, no_check, passphrase, force, quiet } = arguments;
    if out.is_some() && files.len() > 1 {
        return Err(Error::Usage("--out takes the signature of a single file".into()));
    }
    let inputs = files.iter().chain([key]).map(PathBuf::as_path).chain(passphrase.file());
    files::check_standard_input(inputs.clone())?;
    let key = keys::read_private(key, passphrase)?;
    let public_key = key.verifying_key();
    let signer = Signer {
        fingerprint: fingerprint(&public_key),
        key: expand(&key, &public_key, !*no_check)?,
        raw: *raw,
        bind_key: *bind_key,
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

/// A key, and how to write its signatures.
struct Signer {
    key: ExpandedSigningKey,
    fingerprint: String,
    raw: bool,
    bind_key: bool,
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
            None => files::with_ending(file, ".sig"),
        };
        if !files::is_dash(&to) {
            output::check(&to, self.force, &self.inputs)?;
        }
        let prefix = if self.bind_key { bound_prefix(&self.fingerprint) } else { String::new() };
        let digest = signed::digest(self.key.algorithm(), &prefix, file, &self.progress)?;
        let signature = self.key.sign_digest(&digest)?;
        let contents = match self.raw {
            true => signature.as_bytes().to_vec(),
            false => {
                let envelope = Envelope { signature, fingerprint: self.fingerprint.clone(), bound: self.bind_key };
                envelope.to_string().into_bytes()
            }
        };
        if files::is_dash(&to) {
            terminal::put_bytes(&contents)?;
        } else {
            output::write(&to, &contents, Access::Everyone, self.force)?;
        }
        Ok(to)
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
