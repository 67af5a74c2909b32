//! `aioli-git`: what git asks of `ssh-keygen -Y`, and the answers that git looks for.

use crate::cli::{Git, Operation};
use crate::error::{Error, Exit, Reason};
use crate::files;
use crate::fingerprint::fingerprint;
use crate::keys::{self, PassphraseSource};
use crate::output::{self, Access, Inputs};
use crate::shown::{safe, shown};
use crate::signers::{self, Signer};
use crate::sshsig::{self, SshSignature};
use crate::terminal::{put_bytes, say};
use sha2::{Digest, Sha512};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) fn run(arguments: &Git) -> Result<Exit, Error> {
    match arguments.operation {
        None => print_key(arguments)?,
        Some(Operation::Sign) => sign(arguments)?,
        Some(operation) => {
            // git gives an empty argument where it has no time.
            if let Some(file) = arguments.files.iter().find(|file| !file.is_empty()) {
                let file = Path::new(file);
                return Err(Error::Usage(format!(
                    "{} is not signed here: it is read from standard input",
                    shown(file)
                )));
            }
            match operation {
                Operation::FindPrincipals => find_principals(arguments)?,
                _ => verify(arguments, operation == Operation::Verify)?,
            }
        }
    }
    Ok(Exit::Done)
}

/// Prints a public key as the file of allowed signers has it.
fn print_key(arguments: &Git) -> Result<(), Error> {
    let path = needed(&arguments.file, "-f KEY")?;
    let key = match keys::is_private(path) {
        true => private_key(path)?.verifying_key(),
        false => keys::read_public(path)?,
    };
    say!("{}", sshsig::key_line(&key))
}

fn sign(arguments: &Git) -> Result<(), Error> {
    if arguments.use_agent {
        let why = "no agent holds keys of MAYO: user.signingKey must be the path of a private key, not a public key";
        return Err(Error::Usage(why.into()));
    }
    let namespace = needed(&arguments.namespace, "-n NAMESPACE")?;
    let path = needed(&arguments.file, "-f KEY")?;
    let standard_input = [OsString::from("-")];
    let files = if arguments.files.is_empty() { &standard_input[..] } else { &arguments.files };
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let inputs = files.iter().chain([path]).map(PathBuf::as_path);
    files::check_standard_input(inputs.clone())?;
    let inputs = Inputs::new(inputs);
    let key = private_key(path)?;
    let public_key = key.verifying_key();
    let signer = key.expand().checked(&public_key)?;
    for file in files {
        let to = files::with_ending(&file, ".sig");
        if !files::is_dash(&file) {
            output::check(&to, false, &inputs)?;
        }
        let signature = signer.sign(&sshsig::message(&public_key, namespace, &digest(&file)?))?;
        let signature = SshSignature { key: public_key.clone(), namespace: namespace.clone(), signature };
        match files::is_dash(&file) {
            true => put_bytes(signature.to_string().as_bytes())?,
            false => output::write(&to, signature.to_string().as_bytes(), Access::Everyone, false)?,
        }
    }
    Ok(())
}

/// Prints who may sign with the key of a signature, a principal a line.
fn find_principals(arguments: &Git) -> Result<(), Error> {
    let signature = signature(arguments)?;
    let signers = signers_of(arguments, &signature)?;
    let patterns = signers.iter().flat_map(|signer| signer.principals.split(','));
    let principals: BTreeSet<_> = patterns.filter(|pattern| !pattern.is_empty() && !pattern.starts_with('!')).collect();
    principals.iter().try_for_each(|principal| say!("{principal}"))
}

/// Verifies the signature of standard input, and whether the key may sign if that is demanded.
fn verify(arguments: &Git, demand_signer: bool) -> Result<(), Error> {
    let signature = signature(arguments)?;
    let SshSignature { key, namespace, .. } = &signature;
    let expected = needed(&arguments.namespace, "-n NAMESPACE")?;
    if namespace != expected {
        return Err(not_allowed(&signature, &format!("it signs for {namespace:?}, not for {expected:?}")));
    }
    let mut by = String::new();
    if demand_signer {
        let principal = needed(&arguments.principal, "-I PRINCIPAL")?;
        let signers = signers_of(arguments, &signature)?;
        // `None` is less than any reason, so that one entry that does not refuse suffices.
        if let Some(Some(why)) = signers.iter().map(|signer| signer.refuses(principal, namespace)).min() {
            return Err(not_allowed(&signature, why));
        }
        by = format!(" for {}", safe(principal));
    }
    if let Some(path) = &arguments.revoked
        && signers::read_revoked(path)?.contains(key)
    {
        return Err(not_allowed(&signature, "the key is revoked"));
    }
    let message = sshsig::message(key, namespace, &digest(Path::new("-"))?);
    key.verify(&message, &signature.signature)?;
    say!("Good \"{}\" signature{by} with {} key {}", safe(namespace), key.algorithm(), fingerprint(key))
}

/// The entries of the allowed signers that have the key of a signature and are valid in time.
fn signers_of(arguments: &Git, signature: &SshSignature) -> Result<Vec<Signer>, Error> {
    let path = needed(&arguments.file, "-f ALLOWED_SIGNERS")?;
    let time = time(&arguments.options)?;
    let mut signers = signers::read(path)?;
    signers.retain(|signer| signer.key == signature.key);
    let refusal = signers.iter().find_map(|signer| signer.refuses_time(time));
    signers.retain(|signer| signer.refuses_time(time).is_none());
    match signers.is_empty() {
        false => Ok(signers),
        true => Err(not_allowed(signature, refusal.unwrap_or("the key is not among the allowed signers"))),
    }
}

fn not_allowed(signature: &SshSignature, why: &str) -> Error {
    Error::NotAllowed { fingerprint: fingerprint(&signature.key), why: why.into() }
}

/// The time at which a key must be valid, in seconds since 1970.
fn time(options: &[String]) -> Result<i64, Error> {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
    let expected = |option: &String| format!("expected -O verify-time=YYYYMMDD[HHMM[SS]][Z], not {option:?}");
    options.iter().try_fold(now(), |_, option| {
        let time = option.strip_prefix("verify-time=").and_then(signers::time);
        time.ok_or_else(|| Error::Usage(expected(option)))
    })
}

fn signature(arguments: &Git) -> Result<SshSignature, Error> {
    let path = needed(&arguments.signature, "-s SIGNATURE")?;
    let signature = SshSignature::parse(&files::read(path)?);
    signature.map_err(|error| Error::Malformed { path: path.clone(), reason: Reason::Ssh(error) })
}

/// The SHA-512 of a file, read in constant memory.
fn digest(path: &Path) -> Result<Vec<u8>, Error> {
    let mut file = files::open(path)?;
    let mut hasher = Sha512::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_vec()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
            Err(source) => return Err(Error::File { doing: "read", path: path.into(), source }),
        }
    }
}

/// Reads a private key. git hands no option for the passphrase on, and keeps standard error to
/// itself, so the question goes to the terminal whatever that is.
pub(crate) fn private_key(path: &Path) -> Result<aioli::any::SigningKey, Error> {
    let source =
        PassphraseSource { passphrase_file: std::env::var_os(PASSPHRASE_FILE).map(PathBuf::from), insist: true };
    keys::read_private(path, &source).map_err(|error| match error {
        Error::Terminal(source) => Error::Usage(format!(
            "{} is encrypted and there is no terminal to ask for its passphrase ({source}): set {PASSPHRASE_FILE}",
            shown(path)
        )),
        error => error,
    })
}

/// An argument that the operation needs.
fn needed<'a, T>(argument: &'a Option<T>, name: &str) -> Result<&'a T, Error> {
    argument.as_ref().ok_or_else(|| Error::Usage(format!("this operation needs {name}")))
}

const PASSPHRASE_FILE: &str = "AIOLI_PASSPHRASE_FILE";
