//! `aioli keygen`.

use crate::cli::Keygen;
use crate::error::{Error, Exit};
use crate::files::{self, Access, Pending};
use crate::terminal::{note, say};
use crate::{envelope, keys};
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

pub(crate) fn run(arguments: &Keygen) -> Result<Exit, Error> {
    let Keygen { set, out, passphrase, no_passphrase, force } = arguments;
    let (private_path, public_path) = paths(out);
    files::check_free(&private_path, *force)?;
    files::check_free(&public_path, *force)?;
    if let Some(warning) = set.warning() {
        note(format_args!("aioli: warning: {warning}"));
    }
    let passphrase = if *no_passphrase { None } else { Some(passphrase.new_one()?) };
    let key = SigningKey::generate(*set)?;
    let public_key = key.verifying_key();
    let pem = private_pem(&key, passphrase.as_ref().map(|passphrase| &passphrase[..]));
    // Both are on disk before the first gets its name, so that a full disk leaves neither.
    let private = Pending::new(&private_path, pem.as_bytes(), Access::Owner)?;
    let public = Pending::new(&public_path, public_pem(&public_key).as_bytes(), Access::Everyone)?;
    private.commit(*force)?;
    if let Err(error) = public.commit(*force) {
        if !force {
            // It was free a moment ago, so the file is ours.
            let _ = std::fs::remove_file(&private_path);
        }
        return Err(error);
    }
    note(format_args!(
        "{} of round {}: {} and {}",
        set.set_name(),
        envelope::round_number(*set),
        private_path.display(),
        public_path.display()
    ));
    say!("{}", keys::fingerprint(&public_key))?;
    Ok(Exit::Done)
}

/// NAME.key and NAME.pub.
fn paths(name: &Path) -> (PathBuf, PathBuf) {
    (files::with_ending(name, ".key"), files::with_ending(name, ".pub"))
}

/// The text of a private key file.
fn private_pem(key: &SigningKey, passphrase: Option<&[u8]>) -> Zeroizing<String> {
    let pem = match passphrase {
        Some(passphrase) => key.to_pkcs8_encrypted_pem(passphrase, LineEnding::LF),
        None => key.to_pkcs8_pem(LineEnding::LF),
    };
    pem.expect("a private key is far below the length that DER can hold")
}

/// The text of a public key file.
pub(crate) fn public_pem(key: &VerifyingKey) -> String {
    key.to_public_key_pem(LineEnding::LF).expect("a public key is far below the length that DER can hold")
}
