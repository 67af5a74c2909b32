//! Signatures and public keys in the forms of OpenSSH, which git keeps in commits and reads from
//! lists of signers.
//!
//! A signature is PEM with the label `SSH SIGNATURE` around OpenSSH's structure SSHSIG: the key,
//! the namespace, nothing reserved, `sha512`, the signature. A key is its type, such as
//! `mayo1@aioli`, and its bytes; a signature likewise.
//!
//! MAYO alone does not bind a signature to one key, so this one is what `aioli sign --bind-key`
//! makes: it covers the key's fingerprint, and then what SSHSIG lets a signature cover, namely the
//! namespace and the SHA-512 of the message.
//!
//! The reader accepts what the writer writes, with LF or CR LF at the end of all lines.

use crate::envelope::bound_prefix;
use crate::fingerprint::fingerprint;
use aioli::Algorithm;
use aioli::any::{Signature, VerifyingKey};
use aioli::pkcs8::LineEnding;
use aioli::pkcs8::pkcs8::der::pem::{self, Decoder};
use base64ct::{Base64, Encoding};
use std::fmt;

/// A signature, with the key and the namespace that it was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshSignature {
    pub(crate) key: VerifyingKey,
    /// The kind of message; commits and tags of git are `git`.
    pub(crate) namespace: String,
    pub(crate) signature: Signature,
}

/// The message that the key signs for a namespace and the SHA-512 of a file.
pub(crate) fn message(key: &VerifyingKey, namespace: &str, digest: &[u8]) -> Vec<u8> {
    let mut message = [bound_prefix(&fingerprint(key)).as_bytes(), MAGIC].concat();
    for part in [namespace.as_bytes(), RESERVED, HASH, digest] {
        put(&mut message, part);
    }
    message
}

/// A public key in one line: its type and, in base64, its bytes.
pub(crate) fn key_line(key: &VerifyingKey) -> String {
    let (kind, blob) = encode(key.algorithm(), key.as_bytes());
    format!("{kind} {}", Base64::encode_string(&blob))
}

/// Reads the two words of [`key_line`]; `None` if they are a key of another kind than MAYO's.
pub(crate) fn key_of(kind: &str, base64: &str) -> Result<Option<VerifyingKey>, SshError> {
    let blob = Base64::decode_vec(base64).map_err(|_| SshError::Base64)?;
    let (inner, _) = take(&blob)?;
    if inner != kind.as_bytes() {
        return Err(SshError::Kind { expected: kind.into(), given: String::from_utf8_lossy(inner).into() });
    }
    match decode_key(&blob) {
        Ok(key) => Ok(Some(key)),
        Err(SshError::OtherKind(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl SshSignature {
    /// Whether a file is meant to be such a signature.
    pub(crate) fn is_meant(bytes: &[u8]) -> bool {
        bytes.strip_prefix(b"-----BEGIN ").is_some_and(|rest| rest.starts_with(LABEL.as_bytes()))
    }

    /// Reads a signature.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SshError> {
        let mut decoder = Decoder::new_detect_wrap(bytes).map_err(|_| SshError::Armour)?;
        let mut blob = Vec::new();
        decoder.decode_to_end(&mut blob).map_err(|_| SshError::Armour)?;
        let rest = blob.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(&VERSION));
        let (key, rest) = take(rest.ok_or(SshError::Version)?)?;
        let key = decode_key(key)?;
        let (namespace, rest) = take(rest)?;
        let namespace = str::from_utf8(namespace).map_err(|_| SshError::Namespace)?.into();
        let (reserved, rest) = take(rest)?;
        let (hash, rest) = take(rest)?;
        if (reserved, hash) != (RESERVED, HASH) {
            return Err(SshError::Hash(String::from_utf8_lossy(hash).into()));
        }
        let (signature, rest) = take(rest)?;
        let (algorithm, signature) = decode(signature)?;
        if algorithm != key.algorithm() {
            return Err(SshError::Kind { expected: kind(key.algorithm()), given: kind(algorithm) });
        }
        if !rest.is_empty() {
            return Err(SshError::Trailing);
        }
        let signature = Signature::from_bytes(algorithm, signature).map_err(SshError::Library)?;
        let signature = Self { key, namespace, signature };
        // Whatever else the steps above let pass is not the form that this program writes.
        let written = signature.to_string();
        let same = bytes == written.as_bytes() || bytes == written.replace('\n', "\r\n").as_bytes();
        if same { Ok(signature) } else { Err(SshError::Armour) }
    }
}

/// The text of the file.
impl fmt::Display for SshSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, key) = encode(self.key.algorithm(), self.key.as_bytes());
        let (_, signature) = encode(self.signature.algorithm(), self.signature.as_bytes());
        let mut blob = [MAGIC, &VERSION].concat();
        for part in [&key, self.namespace.as_bytes(), RESERVED, HASH, &signature] {
            put(&mut blob, part);
        }
        f.write_str(&pem::encode_string(LABEL, LineEnding::LF, &blob).map_err(|_| fmt::Error)?)
    }
}

/// A defect of a key or a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SshError {
    /// The text is not PEM with the right label, or has something around it.
    Armour,
    /// Another structure than SSHSIG, or another version of it.
    Version,
    /// A field is longer than what remains.
    Truncated,
    /// Trailing data after the last field.
    Trailing,
    /// A key of another scheme; holds the type that it names.
    OtherKind(String),
    /// The type differs from that of what is around it.
    Kind { expected: String, given: String },
    /// The namespace is not UTF-8.
    Namespace,
    /// Another hash than SHA-512, or something in the reserved field.
    Hash(String),
    /// A key is not base64.
    Base64,
    /// The bytes are no key or no signature of their set.
    Library(aioli::Error),
}

impl fmt::Display for SshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Armour => write!(f, "expected PEM with the label {LABEL:?} in lines of 64, and nothing else"),
            Self::Version => f.write_str("expected the structure SSHSIG, version 1"),
            Self::Truncated => f.write_str("a field is longer than what remains"),
            Self::Trailing => f.write_str("trailing data after the last field"),
            Self::OtherKind(kind) => write!(f, "expected a key of MAYO, such as \"mayo1{SUFFIX}\", not {kind:?}"),
            Self::Kind { expected, given } => write!(f, "expected the type {expected:?}, not {given:?}"),
            Self::Namespace => f.write_str("the namespace is not UTF-8"),
            Self::Hash(hash) => write!(f, "expected the hash \"sha512\" and nothing reserved, not {hash:?}"),
            Self::Base64 => f.write_str("the key is not base64"),
            Self::Library(error) => error.fmt(f),
        }
    }
}

/// Reads a public key.
fn decode_key(blob: &[u8]) -> Result<VerifyingKey, SshError> {
    let (algorithm, bytes) = decode(blob)?;
    VerifyingKey::from_bytes(algorithm, bytes).map_err(SshError::Library)
}

/// The bytes of a key or a signature, and their set.
fn decode(blob: &[u8]) -> Result<(Algorithm, &[u8]), SshError> {
    let (kind, rest) = take(blob)?;
    let kind = String::from_utf8_lossy(kind);
    let algorithm = kind.strip_suffix(SUFFIX).and_then(|name| name.parse().ok());
    let algorithm = algorithm.ok_or_else(|| SshError::OtherKind(kind.into()))?;
    match take(rest)? {
        (bytes, []) => Ok((algorithm, bytes)),
        _ => Err(SshError::Trailing),
    }
}

/// A type, and the fields of a key or a signature.
fn encode(algorithm: Algorithm, bytes: &[u8]) -> (String, Vec<u8>) {
    let mut blob = Vec::new();
    put(&mut blob, kind(algorithm).as_bytes());
    put(&mut blob, bytes);
    (kind(algorithm), blob)
}

/// The type of a set's keys. OpenSSH leaves names with `@` to others.
fn kind(algorithm: Algorithm) -> String {
    format!("{algorithm}{SUFFIX}")
}

/// Appends a field: its length in four bytes, big-endian, and its bytes.
fn put(blob: &mut Vec<u8>, field: &[u8]) {
    blob.extend((field.len() as u32).to_be_bytes());
    blob.extend(field);
}

/// The first field, and what follows it.
fn take(blob: &[u8]) -> Result<(&[u8], &[u8]), SshError> {
    let (length, rest) = blob.split_first_chunk().ok_or(SshError::Truncated)?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize).ok_or(SshError::Truncated)
}

const LABEL: &str = "SSH SIGNATURE";
const MAGIC: &[u8] = b"SSHSIG";
const VERSION: [u8; 4] = 1_u32.to_be_bytes();
const RESERVED: &[u8] = b"";
const HASH: &[u8] = b"sha512";
const SUFFIX: &str = "@aioli";
