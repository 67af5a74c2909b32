//! Keys that other software can read: SubjectPublicKeyInfo and PKCS#8, as DER, PEM and encrypted
//! PEM.
//!
//! All key types implement RustCrypto's traits, re-exported here, with the identifiers of the Open
//! Quantum Safe provider ([`Identifiers::OQS`]):
//!
//! ```
//! use aioli::mayo1::{SigningKey, VerifyingKey};
//! use aioli::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = SigningKey::generate()?;
//! let private_pem = key.to_pkcs8_pem(LineEnding::LF)?;
//! let public_pem = key.verifying_key().to_public_key_pem(LineEnding::LF)?;
//! assert_eq!(SigningKey::from_pkcs8_pem(&private_pem)?.verifying_key(), VerifyingKey::from_public_key_pem(&public_pem)?);
//! # Ok(()) }
//! ```
//!
//! The errors of these traits say little. [`Identifiers::decode_private_key`] and
//! [`Identifiers::decode_public_key`] read a file in any of these formats, choose the set by the
//! identifier in it, and say what was wrong with it ([`FormatError`]):
//!
//! ```
//! use aioli::pkcs8::{EncodePublicKey, Identifiers, LineEnding, ObjectIdentifier};
//! use aioli::{Algorithm, any};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An organisation with an arc of its own:
//! let identifiers = Identifiers::OQS.with(Algorithm::Mayo1, ObjectIdentifier::new("1.3.6.1.4.1.99999.1")?);
//! let key = any::SigningKey::generate(Algorithm::Mayo1)?.verifying_key();
//! let pem = identifiers.encode(&key).to_public_key_pem(LineEnding::LF)?;
//! assert_eq!(identifiers.decode_public_key(pem.as_bytes())?, key);
//! # Ok(()) }
//! ```
//!
//! Programs differ in what stands inside a key file, and all of their forms are read ([`Form`]). A
//! public key that comes with the seed, there or in the field of PKCS#8 v2, must be the seed's own.
//!
//! Keys are encrypted by PBES2 with scrypt and AES-256 in CBC mode. The parameters of scrypt are
//! N = 2^14, r = 8, p = 1, the most that OpenSSL reads under its limit of 32 MiB. Decryption also
//! knows PBKDF2, AES-128 and GCM.
//!
//! A file itself says how much time and memory its decryption takes. `decode_private_key` refuses
//! more than 256 MiB, about a second of scrypt, or 2,000,000 iterations of PBKDF2. The methods of
//! the traits do not, so never give them a stranger's file.

mod certificates;

use crate::algorithm::{Algorithm, Round};
use crate::any;
pub use crate::error::format::FormatError;
use crate::params::ParameterSet;
use crate::{Error, SigningKey, VerifyingKey};
use ::pkcs8::der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use ::pkcs8::der::pem::PemLabel;
use ::pkcs8::der::{Decode, Encode, Tag, TagNumber, Tagged};
use ::pkcs8::pkcs5::pbes2::Kdf;
use ::pkcs8::pkcs5::{self, EncryptionScheme};
use ::pkcs8::spki::{self, AlgorithmIdentifierRef};
use ::pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SubjectPublicKeyInfo, SubjectPublicKeyInfoRef};
use alloc::vec::Vec;
use zeroize::Zeroizing;

pub use ::pkcs8;
pub use ::pkcs8::{
    DecodePrivateKey, DecodePublicKey, Document, EncodePrivateKey, EncodePublicKey, LineEnding, ObjectIdentifier,
    SecretDocument,
};

macro_rules! oqs_identifiers {
    (
        ()
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {
        Self([$($(ObjectIdentifier::new_unwrap($oid)),*),*])
    };
}

/// The object identifier of every set.
///
/// MAYO has no standard identifiers yet. Those of the Open Quantum Safe provider are experimental
/// and change with the algorithm. To use others, start from [`OQS`](Self::OQS) and replace them by
/// [`with`](Self::with).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifiers([ObjectIdentifier; Algorithm::ALL.len()]);

impl Identifiers {
    /// The identifiers of the Open Quantum Safe provider.
    pub const OQS: Self = crate::for_the_sets! { () => oqs_identifiers };

    /// The same identifiers, but with `identifier` for `algorithm`.
    ///
    /// It should differ from those of the other sets: if two sets share an identifier, files with
    /// it are read as the first of them in [`Algorithm::ALL`].
    #[must_use]
    pub const fn with(mut self, algorithm: Algorithm, identifier: ObjectIdentifier) -> Self {
        self.0[algorithm as usize] = identifier;
        self
    }

    /// The identifier of a set.
    pub const fn get(&self, algorithm: Algorithm) -> ObjectIdentifier {
        self.0[algorithm as usize]
    }

    /// The set that an identifier belongs to.
    ///
    /// # Errors
    ///
    /// [`FormatError::UnknownIdentifier`].
    pub fn algorithm(&self, identifier: ObjectIdentifier) -> Result<Algorithm, Error> {
        let known = Algorithm::ALL.into_iter().find(|&algorithm| self.get(algorithm) == identifier);
        known.ok_or(FormatError::UnknownIdentifier(identifier).into())
    }

    /// Puts a key of [`any`] together with these identifiers, so that [`EncodePublicKey`] or
    /// [`EncodePrivateKey`] can write it.
    pub const fn encode<'a, K>(&'a self, key: &'a K) -> WithIdentifiers<'a, K> {
        WithIdentifiers { identifiers: self, key, form: Form::OpenQuantumSafe }
    }

    /// Reads a public key from the contents of a file, PEM or DER.
    ///
    /// A typed key follows from the result: `mayo1::VerifyingKey::try_from(key)`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyFormat`]; [`Error::Length`] if the raw key does not have the length of its set.
    pub fn decode_public_key(&self, file: &[u8]) -> Result<any::VerifyingKey, Error> {
        let document = match pem(file) {
            Some(pem) => {
                let (label, document) = Document::from_pem(pem).map_err(FormatError::Encoding)?;
                check_label(label, &[SubjectPublicKeyInfoRef::PEM_LABEL])?;
                Some(document)
            }
            None => None,
        };
        let der = document.as_ref().map_or(file, Document::as_bytes);
        self.read_public_key(&SubjectPublicKeyInfoRef::from_der(der).map_err(FormatError::Encoding)?)
    }

    /// Reads a private key from the contents of a file, PEM or DER, encrypted or not. A file that
    /// is not encrypted does not use the passphrase.
    ///
    /// A typed key follows from the result: `mayo1::SigningKey::try_from(key)`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyFormat`], with [`FormatError::Encrypted`] if a passphrase is needed;
    /// [`Error::Length`] if a seed or a public key in the file does not have the length of its set.
    pub fn decode_private_key(&self, file: &[u8], passphrase: Option<&[u8]>) -> Result<any::SigningKey, Error> {
        let document = match pem(file) {
            Some(pem) => {
                let (label, document) = SecretDocument::from_pem(pem).map_err(FormatError::Encoding)?;
                check_label(label, &[PrivateKeyInfoRef::PEM_LABEL, EncryptedPrivateKeyInfoRef::PEM_LABEL])?;
                Some(document)
            }
            None => None,
        };
        let der = document.as_ref().map_or(file, SecretDocument::as_bytes);
        // This type has the structure of EncryptedPrivateKeyInfo, but also accepts unknown methods
        // of encryption.
        match SubjectPublicKeyInfo::<AnyRef<'_>, &OctetStringRef>::from_der(der) {
            Ok(encrypted) => {
                let passphrase = passphrase.ok_or(FormatError::Encrypted)?;
                let method = EncryptionScheme::try_from(encrypted.algorithm)
                    .map_err(|_| FormatError::UnsupportedEncryption(encrypted.algorithm.oid))?;
                let plain = decrypt(&method, passphrase, encrypted.subject_public_key.as_bytes())?;
                // After a wrong passphrase the padding may be valid by chance, but not the
                // structure of a key.
                let info = PrivateKeyInfoRef::from_der(&plain).map_err(|_| FormatError::Decryption)?;
                self.read_private_key(&info)
            }
            Err(_) => self.read_private_key(&PrivateKeyInfoRef::from_der(der).map_err(FormatError::Encoding)?),
        }
    }

    /// The set of an algorithm identifier, which must have no parameters.
    fn identified(&self, identifier: &AlgorithmIdentifierRef<'_>) -> Result<Algorithm, Error> {
        let algorithm = self.algorithm(identifier.oid)?;
        match identifier.parameters {
            None => Ok(algorithm),
            Some(_) => Err(FormatError::Parameters.into()),
        }
    }

    fn read_public_key(&self, info: &SubjectPublicKeyInfoRef<'_>) -> Result<any::VerifyingKey, Error> {
        let algorithm = self.identified(&info.algorithm)?;
        let bytes = info.subject_public_key.as_bytes().ok_or(FormatError::UnusedBits)?;
        public_key(algorithm, bytes)
    }

    fn read_private_key(&self, info: &PrivateKeyInfoRef<'_>) -> Result<any::SigningKey, Error> {
        let algorithm = self.identified(&info.algorithm)?;
        let form = AnyRef::from_der(info.private_key.as_bytes()).map_err(|_| FormatError::PrivateKeyForm)?;
        let (seed, appended) = match form.tag() {
            Tag::OctetString => {
                form.value().split_at_checked(algorithm.secret_key_bytes()).unwrap_or((form.value(), &[]))
            }
            PQ_MAYO_SEED => (form.value(), &[][..]),
            _ => return Err(FormatError::PrivateKeyForm.into()),
        };
        let field = info.public_key.map(|field| field.as_bytes().ok_or(FormatError::UnusedBits)).transpose()?;
        // Only a public key tells pq-mayo's interim MAYO_2 from that of round 2.
        if has_interim_namesake(algorithm) && form.tag() == PQ_MAYO_SEED && field.is_none() {
            return Err(FormatError::InterimSet.into());
        }
        let key = any::SigningKey::from_bytes(algorithm, seed)?;
        let mut given = [Some(appended).filter(|bytes| !bytes.is_empty()), field].into_iter().flatten().peekable();
        if given.peek().is_some() {
            let expected = key.verifying_key();
            for bytes in given {
                if public_key(algorithm, bytes)? != expected {
                    return Err(FormatError::PublicKeyMismatch.into());
                }
            }
        }
        Ok(key)
    }
}

impl Default for Identifiers {
    /// [`Identifiers::OQS`].
    fn default() -> Self {
        Self::OQS
    }
}

/// The content of a key file inside SubjectPublicKeyInfo and PKCS#8, named after the program that
/// writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The Open Quantum Safe provider: the raw public key; an OCTET STRING of seed and public key.
    #[default]
    OpenQuantumSafe,
    /// Bouncy Castle: an OCTET STRING of the public key; an OCTET STRING of the seed alone.
    BouncyCastle,
    /// The crate pq-mayo: the raw public key; `[0] IMPLICIT` seed.
    PqMayo,
}

/// A key of [`any`], the identifiers and the form to write it with. [`Identifiers::encode`] makes
/// it.
#[derive(Clone, Copy, Debug)]
pub struct WithIdentifiers<'a, K> {
    identifiers: &'a Identifiers,
    key: &'a K,
    form: Form,
}

impl<K> WithIdentifiers<'_, K> {
    /// The same, in another form than the Open Quantum Safe provider's.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }
}

impl EncodePublicKey for WithIdentifiers<'_, any::VerifyingKey> {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        let raw = self.key.as_bytes();
        let wrapped = match self.form {
            Form::BouncyCastle => Some(OctetStringRef::new(raw)?.to_der()?),
            Form::OpenQuantumSafe | Form::PqMayo => None,
        };
        Document::try_from(SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef { oid: self.identifiers.get(self.key.algorithm()), parameters: None },
            subject_public_key: BitStringRef::from_bytes(wrapped.as_deref().unwrap_or(raw))?,
        })
    }
}

impl EncodePrivateKey for WithIdentifiers<'_, any::SigningKey> {
    fn to_pkcs8_der(&self) -> ::pkcs8::Result<SecretDocument> {
        let seed = self.key.as_bytes();
        let inner = Zeroizing::new(match self.form {
            Form::OpenQuantumSafe => {
                let both = Zeroizing::new([seed, self.key.verifying_key().as_bytes()].concat());
                OctetStringRef::new(&both)?.to_der()?
            }
            Form::BouncyCastle => OctetStringRef::new(seed)?.to_der()?,
            Form::PqMayo => AnyRef::new(PQ_MAYO_SEED, seed)?.to_der()?,
        });
        let oid = self.identifiers.get(self.key.algorithm());
        let algorithm = AlgorithmIdentifierRef { oid, parameters: None };
        SecretDocument::try_from(PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&inner)?))
    }
}

impl EncodePublicKey for any::VerifyingKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        Identifiers::OQS.encode(self).to_public_key_der()
    }
}

impl EncodePrivateKey for any::SigningKey {
    fn to_pkcs8_der(&self) -> ::pkcs8::Result<SecretDocument> {
        Identifiers::OQS.encode(self).to_pkcs8_der()
    }
}

impl<P: ParameterSet> EncodePublicKey for VerifyingKey<P> {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        any::VerifyingKey::from(*self).to_public_key_der()
    }
}

impl<P: ParameterSet> EncodePrivateKey for SigningKey<P> {
    fn to_pkcs8_der(&self) -> ::pkcs8::Result<SecretDocument> {
        any::SigningKey::from(self.clone()).to_pkcs8_der()
    }
}

impl TryFrom<SubjectPublicKeyInfoRef<'_>> for any::VerifyingKey {
    type Error = spki::Error;

    fn try_from(info: SubjectPublicKeyInfoRef<'_>) -> spki::Result<Self> {
        Ok(Identifiers::OQS.read_public_key(&info).map_err(::pkcs8::Error::from)?)
    }
}

impl TryFrom<PrivateKeyInfoRef<'_>> for any::SigningKey {
    type Error = ::pkcs8::Error;

    fn try_from(info: PrivateKeyInfoRef<'_>) -> ::pkcs8::Result<Self> {
        Ok(Identifiers::OQS.read_private_key(&info)?)
    }
}

impl<P: ParameterSet> TryFrom<SubjectPublicKeyInfoRef<'_>> for VerifyingKey<P> {
    type Error = spki::Error;

    fn try_from(info: SubjectPublicKeyInfoRef<'_>) -> spki::Result<Self> {
        Ok(any::VerifyingKey::try_from(info)?.try_into().map_err(::pkcs8::Error::from)?)
    }
}

impl<P: ParameterSet> TryFrom<PrivateKeyInfoRef<'_>> for SigningKey<P> {
    type Error = ::pkcs8::Error;

    fn try_from(info: PrivateKeyInfoRef<'_>) -> ::pkcs8::Result<Self> {
        Ok(any::SigningKey::try_from(info)?.try_into()?)
    }
}

/// Keeps as much of the error as the type can hold; `Identifiers::decode_*` return all of it.
impl From<Error> for ::pkcs8::Error {
    fn from(error: Error) -> Self {
        use ::pkcs8::KeyError;
        match error {
            Error::KeyFormat(FormatError::Encoding(error)) => Self::Asn1(error),
            Error::KeyFormat(FormatError::UnknownIdentifier(oid)) => spki::Error::OidUnknown { oid }.into(),
            Error::KeyFormat(FormatError::Parameters) => Self::ParametersMalformed,
            Error::AlgorithmMismatch { given, .. } => {
                spki::Error::OidUnknown { oid: Identifiers::OQS.get(given) }.into()
            }
            Error::Length { expected, given, .. } if given < expected => KeyError::TooShort.into(),
            Error::Length { .. } => KeyError::TooLong.into(),
            _ => KeyError::Invalid.into(),
        }
    }
}

/// The file as text if it is PEM.
///
/// DER is not mistaken for PEM: the length of a public key takes a byte that is not valid UTF-8
/// there, and a seed alone contains the marker only with negligible probability.
fn pem(file: &[u8]) -> Option<&str> {
    core::str::from_utf8(file).ok().filter(|text| text.contains("-----BEGIN "))
}

fn check_label(label: &str, expected: &[&'static str]) -> Result<(), FormatError> {
    match expected.contains(&label) {
        true => Ok(()),
        false => Err(FormatError::Label { expected: expected[0] }),
    }
}

/// Decrypts `data`, unless that would cost more than the limits allow.
fn decrypt(method: &EncryptionScheme, passphrase: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>, FormatError> {
    let affordable = match method.pbes2().map(|parameters| &parameters.kdf) {
        Some(Kdf::Scrypt(kdf)) => {
            let blocks = u64::from(kdf.block_size) * u64::from(kdf.parallelization);
            let bytes = kdf.cost_parameter.checked_mul(128 * blocks);
            // Without this check a cost of zero would panic in a dependency, and a lack of memory
            // would abort.
            kdf.cost_parameter.is_power_of_two()
                && bytes.is_some_and(|bytes| bytes <= MAX_SCRYPT_BYTES && can_allocate(bytes))
        }
        Some(Kdf::Pbkdf2(kdf)) => (1..=MAX_PBKDF2_ITERATIONS).contains(&kdf.iteration_count),
        _ => false,
    };
    if !affordable {
        return Err(FormatError::UnsupportedEncryption(method.oid()));
    }
    method.decrypt(passphrase, data).map(Zeroizing::new).map_err(|error| match error {
        pkcs5::Error::DecryptFailed => FormatError::Decryption,
        _ => FormatError::UnsupportedEncryption(method.oid()),
    })
}

/// Whether this memory can be had now. A dependency that could not have it would abort.
fn can_allocate(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    let mut memory = Vec::<u8>::new();
    // Hidden from the optimizer, which may remove an allocation that nothing uses.
    core::hint::black_box(&mut memory).try_reserve_exact(bytes).is_ok()
}

/// A public key of the set, unless it has the length of one of the interim MAYO_2.
///
/// Bouncy Castle's OCTET STRING around it is taken off. No raw key is mistaken for one: that has
/// another length.
fn public_key(algorithm: Algorithm, bytes: &[u8]) -> Result<any::VerifyingKey, Error> {
    let wrapped = <&OctetStringRef>::from_der(bytes).map(OctetStringRef::as_bytes).ok();
    let bytes = wrapped.filter(|key| key.len() == algorithm.public_key_bytes()).unwrap_or(bytes);
    match (has_interim_namesake(algorithm), bytes.len()) {
        (true, INTERIM_PUBLIC_KEY_BYTES) => Err(FormatError::InterimSet.into()),
        _ => any::VerifyingKey::from_bytes(algorithm, bytes),
    }
}

/// Whether this is round 2's MAYO_2, whose identifier pq-mayo's interim MAYO_2 has too.
fn has_interim_namesake(algorithm: Algorithm) -> bool {
    algorithm.round() == Round::Two && algorithm.set_name() == "MAYO_2"
}

/// The tag of the seed in pq-mayo's form, `[0] IMPLICIT OCTET STRING`.
const PQ_MAYO_SEED: Tag = Tag::ContextSpecific { constructed: false, number: TagNumber(0) };

/// Bytes of a public key of pq-mayo's interim MAYO_2.
const INTERIM_PUBLIC_KEY_BYTES: usize = 4368;

/// The largest accepted memory of scrypt times its parallelization: 256 MiB, and about a second. It
/// suffices for N = 2^18, r = 8, p = 1, twice the usual recommendation.
const MAX_SCRYPT_BYTES: u64 = 1 << 28;

/// The largest accepted number of iterations of PBKDF2, about a second and three times the usual
/// recommendation.
const MAX_PBKDF2_ITERATIONS: u32 = 2_000_000;
