//! `aioli inspect`.

use crate::cli::Inspect;
use crate::describe::{Description, certificates, set};
use crate::envelope::Envelope;
use crate::error::{Error, Exit, Reason};
use crate::fingerprint::fingerprint;
use crate::round::round_number;
use crate::shown::safe;
use crate::sshsig::SshSignature;
use crate::terminal::complain;
use crate::{files, keys};
use aioli::Algorithm;
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::pkcs8::EncryptedPrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::pkcs5::EncryptionScheme;
use aioli::pkcs8::pkcs8::pkcs5::pbes2::Kdf;
use aioli::pkcs8::{FormatError, Identifiers, SecretDocument};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Inspect) -> Result<Exit, Error> {
    files::check_standard_input(arguments.files.iter().map(PathBuf::as_path).chain(arguments.passphrase.file()))?;
    let mut worst = Exit::Done;
    for file in &arguments.files {
        match describe(file, arguments) {
            Ok(descriptions) => descriptions.iter().try_for_each(|description| description.print(file))?,
            Err(error) => {
                complain(&error);
                worst = worst.max(error.exit());
            }
        }
    }
    Ok(worst)
}

/// Describes a file, which has several parts if it is a chain of certificates.
fn describe(path: &Path, arguments: &Inspect) -> Result<Vec<Description>, Error> {
    let file = files::read(path)?;
    certificates(path, &file).unwrap_or_else(|| Ok(vec![describe_one(path, &file, arguments)?]))
}

/// Describes a key or a signature.
fn describe_one(path: &Path, file: &[u8], arguments: &Inspect) -> Result<Description, Error> {
    let malformed = |reason| Error::Malformed { path: path.into(), reason };
    if Envelope::is_meant(file) {
        let envelope = Envelope::parse(file).map_err(|error| malformed(Reason::Envelope(error)))?;
        return Ok(signature(&envelope));
    }
    if SshSignature::is_meant(file) {
        let signature = SshSignature::parse(file).map_err(|error| malformed(Reason::Ssh(error)))?;
        return Ok(ssh_signature(&signature));
    }
    let pem = file.windows(BEGIN.len()).any(|window| window == BEGIN);
    let encoding = if pem { "PEM" } else { "DER" };
    let public = Identifiers::OQS.decode_public_key(file);
    let private = Identifiers::OQS.decode_private_key(file, None);
    match (public, private) {
        (Ok(key), _) => Ok(public_key(&key, encoding)),
        (_, Ok(key)) => Ok(private_key(&key, path, &format!("{encoding}, not encrypted"))),
        (_, Err(aioli::Error::KeyFormat(FormatError::Encrypted))) => {
            let encryption = encryption(file).unwrap_or_else(|| "unknown algorithm".into());
            match arguments.passphrase.passphrase_file {
                Some(_) => {
                    let key = keys::open_private(path, &arguments.passphrase)?;
                    Ok(private_key(&key, path, &format!("{encoding}, encrypted: {encryption}")))
                }
                None => Ok(Description {
                    what: format!("encrypted private key (PKCS#8, {encoding})"),
                    facts: vec![("encryption", encryption), ("set", "not known without the passphrase".into())],
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
            _ => Err(malformed(why_no_key([public.err(), private.err()], pem, file.len()))),
        },
    }
}

/// Why a file is neither a public nor a private key, from the errors of reading it as each of them.
///
/// The file's structure or label rules out one of the two kinds, so the error of the other kind is
/// reported.
fn why_no_key(errors: [Option<aioli::Error>; 2], pem: bool, bytes: usize) -> Reason {
    let telling = |error: &aioli::Error| {
        !matches!(error, aioli::Error::KeyFormat(FormatError::Encoding(_) | FormatError::Label { .. }))
    };
    let mut errors: Vec<_> = errors.into_iter().flatten().collect();
    errors.sort_by_key(|error| !telling(error));
    match errors.first() {
        Some(&error) if pem || telling(&error) => Reason::Key(error),
        _ => Reason::Unknown { bytes },
    }
}

fn signature(envelope: &Envelope) -> Description {
    let algorithm = envelope.signature.algorithm();
    let mut facts = set(algorithm);
    facts.push(("size", format!("{} bytes", algorithm.signature_bytes())));
    facts.push((if envelope.bound { "bound key" } else { "key" }, envelope.fingerprint.clone()));
    Description { what: "MAYO signature (envelope, version 1)".into(), facts }
}

fn ssh_signature(signature: &SshSignature) -> Description {
    let mut facts = set(signature.key.algorithm());
    facts.push(("namespace", safe(&signature.namespace)));
    facts.push(("bound key", fingerprint(&signature.key)));
    Description { what: "MAYO signature (SSHSIG, as git keeps it)".into(), facts }
}

fn public_key(key: &VerifyingKey, encoding: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("size", format!("{} bytes", key.as_bytes().len())));
    facts.push(("fingerprint", fingerprint(key)));
    Description { what: format!("MAYO public key (SubjectPublicKeyInfo, {encoding})"), facts }
}

fn private_key(key: &SigningKey, path: &Path, how: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("fingerprint", format!("{} (of its public key)", fingerprint(&key.verifying_key()))));
    if let Some(mode) = keys::open_to_others(path) {
        facts.push(("warning", format!("not only the owner can access it (mode {mode:04o})")));
    }
    Description { what: format!("MAYO private key (PKCS#8, {how})"), facts }
}

/// Every raw key or signature that has this many bytes; none if no set has one.
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
            facts.push(("can be", format!("{what} of pq-mayo's interim MAYO_2, which belongs to neither round")));
        }
    }
    match facts.len() {
        0 => return None,
        1 => (),
        _ => facts.push(("note", "raw bytes do not tell the round: keep the set's name with them".into())),
    }
    Some(Description { what: format!("raw bytes, judged by their number alone ({bytes})"), facts })
}

/// The algorithm that an encrypted private key is encrypted with.
fn encryption(file: &[u8]) -> Option<String> {
    let pem = str::from_utf8(file).ok().and_then(|text| SecretDocument::from_pem(text).ok());
    let der = pem.as_ref().map_or(file, |(_, document)| document.as_bytes());
    let EncryptionScheme::Pbes2(pbes2) = EncryptedPrivateKeyInfoRef::try_from(der).ok()?.encryption_algorithm else {
        return Some("PBES1".into());
    };
    let kdf = match &pbes2.kdf {
        Kdf::Scrypt(scrypt) => {
            format!("scrypt (N = {}, r = {}, p = {})", scrypt.cost_parameter, scrypt.block_size, scrypt.parallelization)
        }
        Kdf::Pbkdf2(pbkdf2) => format!("PBKDF2 ({} iterations)", pbkdf2.iteration_count),
        _ => "unknown key derivation".into(),
    };
    Some(format!("PBES2 with {kdf} and {} bit cipher keys", 8 * pbes2.encryption.key_size()))
}

/// The beginning of every PEM file.
const BEGIN: &[u8] = b"-----BEGIN ";

/// The sizes of the set that pq-mayo 0.6 calls MAYO_2: n = 96, o = 16, k = 4.
const PQ_MAYO_INTERIM: [(&str, usize); 3] = [("secret key", 24), ("public key", 4368), ("signature", 216)];
