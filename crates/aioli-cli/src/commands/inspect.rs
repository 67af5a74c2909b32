//! `aioli inspect`.

use crate::cli::Inspect;
use crate::describe::{Description, describe};
use crate::error::{Error, Exit};
use crate::shown::shown;
use crate::terminal::{complain, say};
use crate::{files, keys};
use aioli::pkcs8::{FormatError, Identifiers};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Inspect) -> Result<Exit, Error> {
    files::check_standard_input(arguments.files.iter().map(PathBuf::as_path).chain(arguments.passphrase.file()))?;
    let mut worst = Exit::Done;
    for file in &arguments.files {
        match inspect(file, arguments) {
            Ok(descriptions) => {
                descriptions.iter().try_for_each(|description| say!("{}: {description}", shown(file)))?;
            }
            Err(error) => {
                complain(&error);
                worst = worst.max(error.exit());
            }
        }
    }
    Ok(worst)
}

/// Describes a file; an encrypted key is opened only if there is a file with its passphrase.
fn inspect(path: &Path, arguments: &Inspect) -> Result<Vec<Description>, Error> {
    let file = files::read(path)?;
    let (opened, passphrase) = match Identifiers::OQS.decode_private_key(&file, None) {
        Err(aioli::Error::KeyFormat(FormatError::Encrypted)) => {
            let passphrase = arguments.passphrase.given()?;
            (passphrase.is_some(), passphrase)
        }
        key => (key.is_ok(), None),
    };
    let described = describe(&file, passphrase.as_ref().map(|bytes| &bytes[..]));
    let mut descriptions = described.map_err(|reason| Error::Malformed { path: path.into(), reason })?;
    if let (true, Some(mode)) = (opened, keys::open_to_others(path)) {
        descriptions[0].facts.push(("warning", format!("not only the owner can access it (mode {mode:04o})")));
    }
    Ok(descriptions)
}
