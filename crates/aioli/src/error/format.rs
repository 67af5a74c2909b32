//! The errors of key files.

use crate::Error;
use pkcs8::ObjectIdentifier;
use pkcs8::der;

/// A key file was refused; each variant gives the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// Neither PEM nor DER, or not the structure of such a key.
    Encoding(der::Error),
    /// A PEM file of another kind: its label is not the expected one.
    Label {
        /// The expected label.
        expected: &'static str,
    },
    /// No known set has the identifier.
    UnknownIdentifier(ObjectIdentifier),
    /// The algorithm identifier has parameters.
    Parameters,
    /// The public key is not a whole number of bytes.
    UnusedBits,
    /// The private key has none of the known forms.
    PrivateKeyForm,
    /// The public key that is stored with the seed does not follow from it.
    PublicKeyMismatch,
    /// A key of the interim MAYO_2 (n = 96, o = 16, k = 4), which belongs to neither round. The
    /// crate pq-mayo 0.6 writes it with the identifier of round 2's MAYO_2. A seed in pq-mayo's
    /// form without its public key counts as such a key.
    InterimSet,
    /// The private key is encrypted and no passphrase was given.
    Encrypted,
    /// The private key is encrypted by an unsupported method, whose identifier this is, or at a
    /// cost above the limits of [`pkcs8`](crate::pkcs8).
    UnsupportedEncryption(ObjectIdentifier),
    /// The private key cannot be decrypted: the passphrase is wrong or the file is damaged.
    Decryption,
}

impl core::fmt::Display for FormatError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Encoding(error) => write!(f, "not a key in PEM or DER: {error}"),
            Self::Label { expected } => write!(f, "PEM of something else: expected the label {expected}"),
            Self::UnknownIdentifier(oid) => write!(f, "identifier {oid} is of no known MAYO set"),
            Self::Parameters => f.write_str("algorithm identifier has parameters; MAYO's has none"),
            Self::UnusedBits => f.write_str("public key is not a whole number of bytes"),
            Self::PrivateKeyForm => f.write_str(
                "private key has no known form (OCTET STRING of seed and public key or of the seed, or [0] seed)",
            ),
            Self::PublicKeyMismatch => f.write_str("public key stored with the private key does not belong to it"),
            Self::InterimSet => f.write_str(
                "key of pq-mayo's interim MAYO_2 (n = 96, o = 16, k = 4), which is of neither round, under the \
                 identifier of round 2's MAYO_2",
            ),
            Self::Encrypted => f.write_str("private key is encrypted and no passphrase was given"),
            Self::UnsupportedEncryption(oid) => {
                write!(f, "private key is encrypted by an unsupported method ({oid}) or at excessive cost")
            }
            Self::Decryption => f.write_str("private key cannot be decrypted: wrong passphrase or damaged file"),
        }
    }
}

impl core::error::Error for FormatError {}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::KeyFormat(error)
    }
}
