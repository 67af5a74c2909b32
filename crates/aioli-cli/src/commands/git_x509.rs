//! `aioli-git` with certificates: what git asks of gpgsm, and the lines that git looks for.

use super::cert::read_all;
use super::git::private_key;
use super::sign::with_certificates;
use super::verify::about;
use crate::cli::GitX509;
use crate::error::{Error, Exit};
use crate::fingerprint::fingerprint;
use crate::shown::{safe, shown};
use crate::terminal::{note, put_bytes, say};
use crate::{files, signed};
use aioli_x509::Trust;
use aioli_x509::cms::{Hasher, SignedData};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) fn run(arguments: &GitX509) -> Result<Exit, Error> {
    match (&arguments.key, arguments.verify.as_slice()) {
        (Some(key), _) => sign(arguments, key)?,
        (None, [signature, content]) => verify(arguments, signature, content)?,
        (None, _) => unreachable!("the parser demands one of them"),
    }
    Ok(Exit::Done)
}

fn sign(arguments: &GitX509, path: &Path) -> Result<(), Error> {
    if !path.exists() {
        let wanted = "user.signingKey must be the path of a private key";
        return Err(Error::Usage(format!("{} does not exist: {wanted}", shown(path))));
    }
    let key = private_key(path)?;
    let signer = with_certificates(&key, &path.with_extension("pem"))?;
    let content = signed::hash(Hasher::new(), Path::new("-"), &signed::progress(&[]))?;
    let signature = signer.sign(content).map_err(|error| about(path, error))?;
    put_bytes(signature.to_signed_message().as_bytes())?;
    // git may look for the outcome after the end of another line.
    arguments.status(format_args!("BEGIN_SIGNING"))?;
    // Detached; zero for an algorithm that OpenPGP has no number for; SHA-512; a class that X.509
    // does not have.
    let fingerprint = fingerprint(&key.verifying_key());
    arguments.status(format_args!("SIG_CREATED D 0 10 00 {} {fingerprint}", seconds(&signature)))
}

/// Verifies a signature, and tells git the outcome before the error is returned.
fn verify(arguments: &GitX509, path: &Path, content: &Path) -> Result<(), Error> {
    files::check_standard_input([path, content])?;
    // git looks for the outcome after the end of another line.
    arguments.status(format_args!("NEWSIG"))?;
    let mut signer = Signer::unknown();
    let verified = files::read(path).and_then(|file| {
        let signature = SignedData::read(&file).map_err(|error| about(path, error))?;
        signer = Signer::of(&signature).map_err(|error| about(path, error))?;
        verify_by_authorities(&signature, path, content).map(|()| seconds(&signature))
    });
    let Signer { fingerprint, name, set } = &signer;
    match verified {
        Ok(seconds) => {
            arguments.status(format_args!("GOODSIG {fingerprint} {name}"))?;
            arguments.status(format_args!("VALIDSIG {fingerprint} - {seconds} 0"))?;
            arguments.status(format_args!("TRUST_FULLY 0 chain"))?;
            note(format_args!("Good signature of {name} with {set} key {fingerprint}"));
            Ok(())
        }
        Err(error) => {
            match error {
                Error::Library(aioli::Error::InvalidSignature) => {
                    arguments.status(format_args!("BADSIG {fingerprint} {name}"))?;
                }
                _ => arguments.status(format_args!("ERRSIG {fingerprint} 0 10 00 0 0"))?,
            }
            Err(error)
        }
    }
}

/// Verifies that somebody signed a content to whose certificate a trusted authority leads now. The
/// time of a commit is whatever the committer claims, and that of a signature what the signer does.
fn verify_by_authorities(signature: &SignedData, path: &Path, content: &Path) -> Result<(), Error> {
    if !signature.binds_signer() {
        return Err(Error::NotBound(path.into()));
    }
    let authorities = read_all(&authorities()?)?;
    let content = signed::hash(signature.hasher(), content, &signed::progress(&[]))?;
    let verified = signature.verify(&Trust::now(&authorities, &[]), content);
    verified.map(drop).map_err(|error| about(path, error))
}

/// The file of the trusted authorities, by the configuration of git.
fn authorities() -> Result<PathBuf, Error> {
    let mut git = Command::new("git");
    git.args(["config", "--type=path", "--null", "--get", AUTHORITIES]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = git.output().map_err(|source| Error::File { doing: "run", path: "git".into(), source })?;
    match String::from_utf8(output.stdout) {
        Ok(path) if output.status.success() => Ok(PathBuf::from(path.trim_end_matches('\0'))),
        _ => Err(Error::Usage(format!(
            "{AUTHORITIES} in the configuration of git must be the path of the certificates of trusted authorities"
        ))),
    }
}

/// The signer that a signature names, in the words of the lines for git.
struct Signer {
    fingerprint: String,
    name: String,
    set: &'static str,
}

impl Signer {
    /// The signer of a signature that cannot be read.
    fn unknown() -> Self {
        Self { fingerprint: "-".into(), name: "-".into(), set: "-" }
    }

    /// The owner of the certificate, which is not verified here.
    fn of(signature: &SignedData) -> Result<Self, aioli_x509::Error> {
        let certificate = signature.signer().ok_or(aioli_x509::Error::NoSigner)?;
        let key = certificate.key()?;
        let name = safe(&certificate.fields().subject().to_string());
        Ok(Self { fingerprint: fingerprint(&key), name, set: key.algorithm().name() })
    }
}

impl GitX509 {
    /// Writes a line for git.
    fn status(&self, line: fmt::Arguments<'_>) -> Result<(), Error> {
        match self.status_fd {
            1 => say!("[GNUPG:] {line}"),
            _ => {
                note(format_args!("[GNUPG:] {line}"));
                Ok(())
            }
        }
    }
}

/// The time that a signature tells in seconds since 1970, or 0.
fn seconds(signature: &SignedData) -> u64 {
    signature.time().map_or(0, |time| time.to_unix_duration().as_secs())
}

const AUTHORITIES: &str = "aioli.ca";
