//! `aioli keygen`.

use crate::cli::Keygen;
use crate::error::{Error, Exit};
use crate::files;
use crate::fingerprint::fingerprint;
use crate::keys::{private_pem, public_pem, read_public};
use crate::output::{Access, Inputs, Pending};
use crate::pair;
use crate::round::round_number;
use crate::shown::shown;
use crate::terminal::{note, say};
use aioli::any::SigningKey;
use aioli::pkcs8::Identifiers;
use std::io;

pub(crate) fn run(arguments: &Keygen) -> Result<Exit, Error> {
    let Keygen { set, out, passphrase, no_passphrase, force } = arguments;
    let private_path = files::with_ending(out, ".key");
    let public_path = files::with_ending(out, ".pub");
    pair::check(&private_path, &public_path, *force, &Inputs::new(passphrase.file()))?;
    if let Some(warning) = set.warning() {
        note(format_args!("aioli: warning: {warning}"));
    }
    let passphrase = if *no_passphrase { None } else { Some(passphrase.choose()?) };
    let key = SigningKey::generate(*set)?;
    let public_key = key.verifying_key();
    let pem = private_pem(&key, passphrase.as_deref().map(Vec::as_slice));
    // Both are on disk before the first gets its name, so a full disk leaves neither.
    let private = Pending::new(&private_path, pem.as_bytes(), Access::Owner)?;
    let public = Pending::new(&public_path, public_pem(&public_key).as_bytes(), Access::Everyone)?;
    pair::commit(private, public, *force, || {
        let read =
            Identifiers::OQS.decode_private_key(&files::read(&private_path)?, passphrase.as_deref().map(Vec::as_slice));
        let belongs = read.is_ok_and(|read| read.as_bytes() == key.as_bytes())
            && read_public(&public_path).is_ok_and(|read| read == public_key);
        let source = io::Error::other("the pair that was read back is not the one that was written");
        belongs.then_some(()).ok_or(Error::File { doing: "write", path: private_path.clone(), source })
    })?;
    note(format_args!(
        "{} of round {}: {} and {}",
        set.set_name(),
        round_number(*set),
        shown(&private_path),
        shown(&public_path)
    ));
    say!("{}", fingerprint(&public_key))?;
    Ok(Exit::Done)
}
