//! Keys in files, and their passphrases.

use crate::error::{Error, Reason};
use crate::shown::shown;
use crate::{files, terminal};
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, FormatError, Identifiers, LineEnding};
use aioli_x509::Contents;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The bytes of a passphrase.
type Passphrase = Zeroizing<Vec<u8>>;

/// The source of a passphrase.
#[derive(clap::Args, Debug)]
pub(crate) struct PassphraseSource {
    /// Take the passphrase from the first line of this file
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Ask on the terminal even if standard error is none.
    #[arg(skip)]
    pub(crate) insist: bool,
}

impl PassphraseSource {
    /// The file of the passphrase, if it comes from one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.passphrase_file.as_deref()
    }

    /// The passphrase in the file, if it comes from one.
    pub(crate) fn given(&self) -> Result<Option<Passphrase>, Error> {
        self.file().map(from_file).transpose()
    }

    /// The passphrase of a key that exists.
    fn existing(&self, key: &Path) -> Result<Passphrase, Error> {
        match self.given()? {
            Some(passphrase) => Ok(passphrase),
            None if self.insist || terminal::can_ask() => terminal::ask(&format!("Passphrase of {}: ", shown(key))),
            None => Err(Error::Usage(format!(
                "{} is encrypted and there is no terminal to ask for its passphrase: give --passphrase-file PATH",
                shown(key)
            ))),
        }
    }

    /// A passphrase for a fresh key, asked for twice.
    pub(crate) fn choose(&self) -> Result<Passphrase, Error> {
        if let Some(passphrase) = self.given()? {
            return Ok(passphrase);
        }
        if !terminal::can_ask() {
            return Err(Error::Usage(
                "no terminal to ask for a passphrase: give --passphrase-file PATH, or --no-passphrase to leave the key \
                 unencrypted"
                    .into(),
            ));
        }
        let passphrase = terminal::ask("Passphrase for the new key: ")?;
        if passphrase.is_empty() {
            return Err(Error::Usage("empty passphrase; --no-passphrase leaves the key unencrypted".into()));
        }
        match terminal::ask("Repeat the passphrase: ")? == passphrase {
            true => Ok(passphrase),
            false => Err(Error::Usage("the two passphrases differ".into())),
        }
    }
}

/// Reads a private key to use it, and asks for its passphrase if it is encrypted. Warns if others
/// can access the file.
pub(crate) fn read_private(path: &Path, source: &PassphraseSource) -> Result<SigningKey, Error> {
    if let Some(mode) = open_to_others(path).filter(|_| !files::is_dash(path)) {
        let path = shown(path);
        terminal::note(format_args!("aioli: warning: {path}: not only the owner can access it (mode {mode:04o})"));
    }
    decode_private(path, &files::read(path)?, source).map(|(key, _)| key)
}

/// A private key from the contents of its file, and the passphrase that opened it.
pub(crate) fn decode_private(
    path: &Path,
    file: &[u8],
    source: &PassphraseSource,
) -> Result<(SigningKey, Option<Passphrase>), Error> {
    let malformed = |error| Error::Malformed { path: path.into(), reason: Reason::Key(error) };
    match Identifiers::OQS.decode_private_key(file, None) {
        Err(aioli::Error::KeyFormat(FormatError::Encrypted)) => {
            let passphrase = source.existing(path)?;
            let key = Identifiers::OQS.decode_private_key(file, Some(&passphrase)).map_err(malformed)?;
            Ok((key, Some(passphrase)))
        }
        key => Ok((key.map_err(malformed)?, None)),
    }
}

/// Whether a file is a private key, damaged or not: what must not be replaced.
pub(crate) fn is_private(path: &Path) -> bool {
    let file = match files::read(path) {
        Ok(file) => file,
        // A file that cannot be read may be anything; one that is too long is no key.
        Err(error) => return matches!(error, Error::File { .. }),
    };
    let label = b"PRIVATE KEY-----";
    let decoded = Identifiers::OQS.decode_private_key(&file, None);
    matches!(decoded, Ok(_) | Err(aioli::Error::KeyFormat(FormatError::Encrypted)))
        || file.windows(label.len()).any(|window| window == label)
}

/// Reads a public key, or takes it from a certificate or a request.
pub(crate) fn read_public(path: &Path) -> Result<VerifyingKey, Error> {
    let file = files::read(path)?;
    match Contents::read(&file) {
        Some(contents) => {
            let key = contents.and_then(|contents| contents.key());
            key.map_err(|error| Error::Malformed { path: path.into(), reason: Reason::Certificate(error) })
        }
        None => {
            let key = Identifiers::OQS.decode_public_key(&file);
            key.map_err(|error| Error::Malformed { path: path.into(), reason: Reason::Key(error) })
        }
    }
}

/// The text of a private key file.
pub(crate) fn private_pem(key: &SigningKey, passphrase: Option<&[u8]>) -> Zeroizing<String> {
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

/// The mode of a file that others than its owner can access.
#[cfg(unix)]
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().ok().filter(|metadata| metadata.is_file())?.permissions().mode() & 0o777;
    Some(mode).filter(|mode| mode & 0o077 != 0)
}

/// None: this system has no modes.
#[cfg(not(unix))]
pub(crate) fn open_to_others(_: &Path) -> Option<u32> {
    None
}

/// The passphrase in the first line of a file.
fn from_file(path: &Path) -> Result<Passphrase, Error> {
    let file = files::read(path)?;
    let line = file.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.is_empty() {
        true => Err(Error::Malformed { path: path.into(), reason: Reason::EmptyPassphrase }),
        false => Ok(Zeroizing::new(line.to_vec())),
    }
}
