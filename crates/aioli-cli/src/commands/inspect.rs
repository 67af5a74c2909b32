//! `aioli inspect`.

use crate::cli::Inspect;
use crate::envelope::{Envelope, round_number};
use crate::error::{Error, Exit, Reason};
use crate::terminal::{complain, say};
use crate::{files, keys};
use aioli::Algorithm;
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::pkcs8::EncryptedPrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::pkcs5::EncryptionScheme;
use aioli::pkcs8::pkcs8::pkcs5::pbes2::Kdf;
use aioli::pkcs8::{FormatError, Identifiers, SecretDocument};
use std::path::Path;

pub(crate) fn run(arguments: &Inspect) -> Result<Exit, Error> {
    let mut worst = Exit::Done;
    for file in &arguments.files {
        match describe(file, arguments) {
            Ok(Description { what, facts }) => {
                say!("{}: {what}", file.display())?;
                for (name, value) in facts {
                    say!("  {name:<12} {value}")?;
                }
            }
            Err(error) => {
                complain(&error);
                worst = worst.max(error.exit());
            }
        }
    }
    Ok(worst)
}

/// What a file is, and what is known about it.
struct Description {
    what: String,
    facts: Vec<(&'static str, String)>,
}

fn describe(path: &Path, arguments: &Inspect) -> Result<Description, Error> {
    let file = files::read(path)?;
    let malformed = |reason| Error::Malformed { path: path.into(), reason };
    if Envelope::is_meant(&file) {
        let envelope = Envelope::parse(&file).map_err(|error| malformed(Reason::Envelope(error)))?;
        return Ok(signature(&envelope));
    }
    let pem = file.windows(BEGIN.len()).any(|window| window == BEGIN);
    let encoding = if pem { "PEM" } else { "DER" };
    let public = Identifiers::OQS.decode_public_key(&file);
    let private = Identifiers::OQS.decode_private_key(&file, None);
    match (public, private) {
        (Ok(key), _) => Ok(public_key(&key, encoding)),
        (_, Ok(key)) => Ok(private_key(&key, path, &format!("{encoding}, not encrypted"))),
        (_, Err(aioli::Error::KeyFormat(FormatError::Encrypted))) => {
            let scheme = encryption(&file).unwrap_or_else(|| "unknown scheme".into());
            match arguments.passphrase.passphrase_file {
                Some(_) => {
                    let key = keys::read_private(path, &arguments.passphrase)?;
                    Ok(private_key(&key, path, &format!("{encoding}, encrypted: {scheme}")))
                }
                None => Ok(Description {
                    what: format!("encrypted private key (PKCS#8, {encoding})"),
                    facts: vec![("encryption", scheme), ("set", "not known without the passphrase".into())],
                }),
            }
        }
        (Err(aioli::Error::KeyFormat(error @ FormatError::InterimSet)), _)
        | (_, Err(aioli::Error::KeyFormat(error @ FormatError::InterimSet))) => Ok(Description {
            what: format!("key of pq-mayo's interim MAYO_2 ({encoding}), not usable here"),
            facts: vec![("reason", error.to_string())],
        }),
        (public, private) => match raw(file.len()) {
            Some(description) if !pem => Ok(description),
            _ => {
                // The error of the kind of key that the file is; its structure or label rules out the other one.
                let errors = [public.err(), private.err()].into_iter().flatten();
                let telling = |error: &aioli::Error| {
                    !matches!(error, aioli::Error::KeyFormat(FormatError::Encoding(_) | FormatError::Label { .. }))
                };
                let mut errors: Vec<_> = errors.collect();
                errors.sort_by_key(|error| !telling(error));
                Err(malformed(match errors.first() {
                    Some(&error) if pem || telling(&error) => Reason::Key(error),
                    _ => Reason::Unknown { bytes: file.len() },
                }))
            }
        },
    }
}

fn signature(envelope: &Envelope) -> Description {
    let algorithm = envelope.signature.algorithm();
    let mut facts = set(algorithm);
    facts.push(("size", format!("{} bytes", algorithm.signature_bytes())));
    facts.push(("key", envelope.fingerprint.clone()));
    Description { what: "MAYO signature (envelope, version 1)".into(), facts }
}

fn public_key(key: &VerifyingKey, encoding: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("size", format!("{} bytes", key.as_bytes().len())));
    facts.push(("fingerprint", keys::fingerprint(key)));
    Description { what: format!("MAYO public key (SubjectPublicKeyInfo, {encoding})"), facts }
}

fn private_key(key: &SigningKey, path: &Path, how: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("fingerprint", format!("{} (of its public key)", keys::fingerprint(&key.verifying_key()))));
    if let Some(mode) = readable_by_others(path) {
        facts.push(("warning", format!("others than the owner may use it (mode {mode:04o})")));
    }
    Description { what: format!("MAYO private key (PKCS#8, {how})"), facts }
}

fn set(algorithm: Algorithm) -> Vec<(&'static str, String)> {
    let (name, round, level) = (algorithm.set_name(), round_number(algorithm), algorithm.level());
    let mut facts = vec![("set", format!("{name} of round {round} ({algorithm}), NIST level {level}"))];
    facts.extend(algorithm.warning().map(|warning| ("warning", warning.into())));
    facts
}

/// What raw bytes can be, judged by their number alone.
fn raw(bytes: usize) -> Option<Description> {
    let mut facts = Vec::new();
    for algorithm in Algorithm::ALL {
        for (what, length) in [
            ("secret key", algorithm.secret_key_bytes()),
            ("public key", algorithm.public_key_bytes()),
            ("signature", algorithm.signature_bytes()),
        ] {
            if length == bytes {
                let round = round_number(algorithm);
                facts.push(("can be", format!("{what} of {} of round {round} ({algorithm})", algorithm.set_name())));
            }
        }
    }
    for (what, length) in PQ_MAYO_INTERIM {
        if length == bytes {
            facts.push(("can be", format!("{what} of pq-mayo's interim MAYO_2, which is of neither round")));
        }
    }
    match facts.len() {
        0 => return None,
        1 => (),
        _ => facts.push(("note", "raw bytes do not tell the round: keep the set's name beside them".into())),
    }
    Some(Description { what: format!("raw bytes, judged by their number alone ({bytes})"), facts })
}

/// How an encrypted private key is encrypted.
fn encryption(file: &[u8]) -> Option<String> {
    let pem = str::from_utf8(file).ok().and_then(|text| SecretDocument::from_pem(text).ok());
    let der = pem.as_ref().map_or(file, |(_, document)| document.as_bytes());
    let EncryptionScheme::Pbes2(scheme) = EncryptedPrivateKeyInfoRef::try_from(der).ok()?.encryption_algorithm else {
        return Some("PBES1".into());
    };
    let kdf = match &scheme.kdf {
        Kdf::Scrypt(scrypt) => {
            let (n, r, p) = (scrypt.cost_parameter, scrypt.block_size, scrypt.parallelization);
            format!("scrypt (N = {n}, r = {r}, p = {p})")
        }
        Kdf::Pbkdf2(pbkdf2) => format!("PBKDF2 ({} iterations)", pbkdf2.iteration_count),
        _ => "unknown key derivation".into(),
    };
    Some(format!("PBES2 with {kdf} and {} bit cipher keys", 8 * scheme.encryption.key_size()))
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().ok().filter(|metadata| metadata.is_file())?.permissions().mode() & 0o777;
    Some(mode).filter(|mode| mode & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> Option<u32> {
    None
}

const BEGIN: &[u8] = b"-----BEGIN ";

/// What pq-mayo 0.6 calls MAYO_2: n = 96, o = 16, k = 4.
const PQ_MAYO_INTERIM: [(&str, usize); 3] = [("secret key", 24), ("public key", 4368), ("signature", 216)];
