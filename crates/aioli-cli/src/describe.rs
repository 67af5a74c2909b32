//! Descriptions of files for people to read: keys, signatures, certificates and requests.

use crate::envelope::Envelope;
use crate::fingerprint::fingerprint;
use crate::reason::Reason;
use crate::round::round_number;
use crate::shown::safe;
use crate::sshsig::SshSignature;
use aioli::Algorithm;
use aioli::any::{SigningKey, VerifyingKey};
use aioli::pkcs8::pkcs8::EncryptedPrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::pkcs5::EncryptionScheme;
use aioli::pkcs8::pkcs8::pkcs5::pbes2::Kdf;
use aioli::pkcs8::{FormatError, Identifiers, SecretDocument};
use aioli_x509::cms::SignedData;
use aioli_x509::x509_cert::ext::pkix::BasicConstraints;
use aioli_x509::{Certificate, Contents, Host, Request};
use std::fmt;

/// A description of a file, or of a certificate in it.
pub(crate) struct Description {
    /// The kind of file.
    pub(crate) what: String,
    /// Names and values, one pair for each line of the output.
    pub(crate) facts: Vec<(&'static str, String)>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.facts.iter().try_for_each(|(name, value)| write!(f, "\n  {name:<12} {value}"))
    }
}

/// Describes the contents of a file, which have several parts if they are a chain of certificates.
/// The passphrase opens an encrypted key.
pub(crate) fn describe(file: &[u8], passphrase: Option<&[u8]>) -> Result<Vec<Description>, Reason> {
    if Envelope::is_meant(file) {
        return Ok(vec![signature(&Envelope::parse(file).map_err(Reason::Envelope)?)]);
    }
    if SshSignature::is_meant(file) {
        return Ok(vec![ssh_signature(&SshSignature::parse(file).map_err(Reason::Ssh)?)]);
    }
    if SignedData::is_meant(file) {
        return Ok(vec![cms(&SignedData::read(file).map_err(Reason::Certificate)?)]);
    }
    let pem = file.windows(BEGIN.len()).any(|window| window == BEGIN);
    let encoding = if pem { "PEM" } else { "DER" };
    let public = Identifiers::OQS.decode_public_key(file);
    let private = Identifiers::OQS.decode_private_key(file, None);
    let description = match (public, private) {
        (Ok(key), _) => public_key(&key, encoding),
        (_, Ok(key)) => private_key(&key, &format!("{encoding}, not encrypted")),
        (_, Err(aioli::Error::KeyFormat(FormatError::Encrypted))) => encrypted_key(file, passphrase, encoding)?,
        (Err(aioli::Error::KeyFormat(error @ FormatError::InterimSet)), _)
        | (_, Err(aioli::Error::KeyFormat(error @ FormatError::InterimSet))) => Description {
            what: format!("key of pq-mayo's interim MAYO_2 ({encoding}), not usable here"),
            facts: vec![("reason", error.to_string())],
        },
        // Certificates come after private keys, of which their reader would leave copies in freed
        // memory.
        (public, private) => match (certificates(file), raw(file.len())) {
            (Some(descriptions), _) => return descriptions,
            (None, Some(description)) if !pem => description,
            _ => return Err(why_no_key([public.err(), private.err()], pem, file.len())),
        },
    };
    Ok(vec![description])
}

fn encrypted_key(file: &[u8], passphrase: Option<&[u8]>, encoding: &str) -> Result<Description, Reason> {
    let encryption = encryption(file).unwrap_or_else(|| "unknown algorithm".into());
    if passphrase.is_some() {
        let key = Identifiers::OQS.decode_private_key(file, passphrase).map_err(Reason::Key)?;
        return Ok(private_key(&key, &format!("{encoding}, encrypted: {encryption}")));
    }
    Ok(Description {
        what: format!("encrypted private key (PKCS#8, {encoding})"),
        facts: vec![("encryption", encryption), ("set", "not known without the passphrase".into())],
    })
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

fn cms(signature: &SignedData) -> Description {
    let mut facts = match signature.algorithm() {
        Ok(algorithm) => set(algorithm),
        Err(error) => vec![("set", format!("none of MAYO: {error}"))],
    };
    let content = signature.content().map_or("kept elsewhere".into(), |content| format!("{} bytes", content.len()));
    facts.push(("content", content));
    facts.extend(signature.time().map(|time| ("time", format!("{time}, as the signer says"))));
    match signature.signer() {
        Some(signer) => {
            let how = if signature.binds_signer() { "bound signer" } else { "signer" };
            facts.push((how, format!("{}, not verified", safe(&signer.fields().subject().to_string()))));
            facts.extend(signer.key().ok().map(|key| ("fingerprint", fingerprint(&key))));
        }
        None => facts.push(("signer", "its certificate is not here".into())),
    }
    Description { what: "signature (CMS)".into(), facts }
}

fn public_key(key: &VerifyingKey, encoding: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("size", format!("{} bytes", key.as_bytes().len())));
    facts.push(("fingerprint", fingerprint(key)));
    Description { what: format!("MAYO public key (SubjectPublicKeyInfo, {encoding})"), facts }
}

fn private_key(key: &SigningKey, how: &str) -> Description {
    let mut facts = set(key.algorithm());
    facts.push(("fingerprint", format!("{} (of its public key)", fingerprint(&key.verifying_key()))));
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

/// The set's name, round and level, and its warning if it has one.
fn set(algorithm: Algorithm) -> Vec<(&'static str, String)> {
    let name = algorithm.set_name();
    let round = round_number(algorithm);
    let level = algorithm.level();
    let mut facts = vec![("set", format!("{name} of round {round} ({algorithm}), NIST level {level}"))];
    facts.extend(algorithm.warning().map(|warning| ("warning", warning.into())));
    facts
}

/// Describes the certificates, or the request, in the contents of a file; `None` if it has neither.
pub(crate) fn certificates(file: &[u8]) -> Option<Result<Vec<Description>, Reason>> {
    Some(match Contents::read(file)? {
        Ok(Contents::Certificates(certificates)) => Ok(certificates.iter().map(of_certificate).collect()),
        Ok(Contents::Request(request)) => Ok(vec![of_request(&request)]),
        Err(error) => Err(Reason::Certificate(error)),
    })
}

fn of_certificate(certificate: &Certificate) -> Description {
    Description { what: "certificate (X.509)".into(), facts: certificate_facts(certificate) }
}

fn of_request(request: &Request) -> Description {
    let mut facts = vec![("subject", safe(&request.subject().to_string()))];
    facts.push(("names", names(request.hosts())));
    facts.extend(key_facts(Ok(request.key().clone())));
    facts.push(("signature", "valid, by this key".into()));
    Description { what: "request for a certificate (PKCS#10)".into(), facts }
}

/// The facts about a certificate.
pub(crate) fn certificate_facts(certificate: &Certificate) -> Vec<(&'static str, String)> {
    let fields = certificate.fields();
    let mut facts = vec![
        ("subject", safe(&fields.subject().to_string())),
        ("issuer", safe(&fields.issuer().to_string())),
        ("serial", fields.serial_number().to_string()),
        ("not before", fields.validity().not_before.to_string()),
        ("not after", fields.validity().not_after.to_string()),
        ("names", names(certificate.hosts())),
    ];
    if certificate.is_authority() {
        let below = match fields.get_extension::<BasicConstraints>() {
            Ok(Some((_, BasicConstraints { path_len_constraint: Some(below), .. }))) => {
                format!(", {below} more below it")
            }
            _ => String::new(),
        };
        facts.push(("authority", format!("may sign certificates{below}")));
    }
    let key = certificate.key();
    if fields.subject() == fields.issuer() && key.as_ref().is_ok_and(|key| certificate.verify_signature(key).is_ok()) {
        facts.push(("signature", "valid, by its own key, which proves nothing".into()));
    } else {
        let signed_by = fields.signature().oid;
        let set = Identifiers::OQS.algorithm(signed_by).map(|set| format!("by {set}"));
        facts.push(("signature", set.unwrap_or_else(|_| format!("by {signed_by}, which is no set of MAYO"))));
    }
    facts.extend(key_facts(key));
    facts
}

fn names(hosts: Result<Vec<Host>, aioli_x509::Error>) -> String {
    match hosts {
        Ok(hosts) if hosts.is_empty() => "none".into(),
        Ok(hosts) => hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(", "),
        Err(error) => format!("not understood: {error}"),
    }
}

fn key_facts(key: Result<VerifyingKey, aioli_x509::Error>) -> Vec<(&'static str, String)> {
    match key {
        Ok(key) => [set(key.algorithm()), vec![("fingerprint", fingerprint(&key))]].concat(),
        Err(error) => vec![("key", format!("not of MAYO: {error}"))],
    }
}

/// The beginning of every PEM file.
const BEGIN: &[u8] = b"-----BEGIN ";

/// The sizes of the set that pq-mayo 0.6 calls MAYO_2: n = 96, o = 16, k = 4.
const PQ_MAYO_INTERIM: [(&str, usize); 3] = [("secret key", 24), ("public key", 4368), ("signature", 216)];
