//! `aioli keygen`.

use crate::cli::Keygen;
use crate::error::{Error, Exit};
use crate::files::{self, Access, Pending};
use crate::fingerprint::fingerprint;
use crate::keys::{private_pem, public_pem};
use crate::round::round_number;
use crate::terminal::{note, say};
use aioli::any::SigningKey;

pub(crate) fn run(arguments: &Keygen) -> Result<Exit, Error> {
    let Keygen { set, out, passphrase, no_passphrase, force } = arguments;
    let private_path = files::with_ending(out, ".key");
    let public_path = files::with_ending(out, ".pub");
    files::check_free(&private_path, *force)?;
    files::check_free(&public_path, *force)?;
    if let Some(warning) = set.warning() {
        note(format_args!("aioli: warning: {warning}"));
    }
    let passphrase = if *no_passphrase { None } else { Some(passphrase.choose()?) };
    let key = SigningKey::generate(*set)?;
    let public_key = key.verifying_key();
    let pem = private_pem(&key, passphrase.as_ref().map(|passphrase| &passphrase[..]));
    // Both are on disk before the first gets its name, so a full disk leaves neither.
    let private = Pending::new(&private_path, pem.as_bytes(), Access::Owner)?;
    let public = Pending::new(&public_path, public_pem(&public_key).as_bytes(), Access::Everyone)?;
    private.commit(*force)?;
    if let Err(error) = public.commit(*force) {
        if !force {
            // The name was free a moment ago, so this call wrote the file.
            let _ = std::fs::remove_file(&private_path);
        }
        return Err(error);
    }
    note(format_args!(
        "{} of round {}: {} and {}",
        set.set_name(),
        round_number(*set),
        private_path.display(),
        public_path.display()
    ));
    say!("{}", fingerprint(&public_key))?;
    Ok(Exit::Done)
}
