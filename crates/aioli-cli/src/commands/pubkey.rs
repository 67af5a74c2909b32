//! `aioli pubkey`.

use crate::cli::Pubkey;
use crate::error::{Error, Exit};
use crate::files;
use crate::fingerprint::fingerprint;
use crate::keys;
use crate::output::{self, Access, Inputs};
use crate::terminal::{put_bytes, say};
use std::path::Path;

pub(crate) fn run(arguments: &Pubkey) -> Result<Exit, Error> {
    let Pubkey { key, out, passphrase, force } = arguments;
    files::check_standard_input([key.as_path()].into_iter().chain(passphrase.file()))?;
    let path = match out {
        Some(path) => path.clone(),
        None => {
            let name = key.as_os_str().to_str().and_then(|name| name.strip_suffix(".key"));
            files::with_ending(name.map_or(key.as_path(), Path::new), ".pub")
        }
    };
    let to_stdout = files::is_dash(&path);
    if !to_stdout {
        output::check(&path, *force, &Inputs::new([key.as_path()].into_iter().chain(passphrase.file())))?;
    }
    let public_key = keys::read_private(key, passphrase)?.verifying_key();
    let pem = keys::public_pem(&public_key);
    if to_stdout {
        put_bytes(pem.as_bytes())?;
    } else {
        output::write(&path, pem.as_bytes(), Access::Everyone, *force)?;
        say!("{}", fingerprint(&public_key))?;
    }
    Ok(Exit::Done)
}
