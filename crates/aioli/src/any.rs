//! Keys and signatures of a parameter set that is chosen at run time.
//!
//! Commands, files and bindings need them. Each value knows its [`Algorithm`]; values of different
//! sets or rounds used together give [`Error::AlgorithmMismatch`].

use crate::Error;
use crate::algorithm::Algorithm;
use crate::params::{ParameterSet, with_set};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use shake::digest::{ExtendableOutput, Update, XofReader};
use zeroize::Zeroizing;

/// A compact secret key of any set.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
#[derive(Clone)]
pub struct SigningKey {
    algorithm: Algorithm,
    seed: Zeroizing<Vec<u8>>,
}

impl SigningKey {
    /// Makes a fresh key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`].
    #[cfg(feature = "getrandom")]
    pub fn generate(algorithm: Algorithm) -> Result<Self, Error> {
        with_set!(algorithm, P => Ok(crate::SigningKey::<P>::generate()?.into()))
    }

    /// Makes a key from the encoded secret key.
    ///
    /// # Errors
    ///
    /// [`Error::Length`].
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        with_set!(algorithm, P => Ok(crate::SigningKey::<P>::try_from(bytes)?.into()))
    }

    /// The set that the key belongs to.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The encoded secret key. Secret.
    pub fn as_bytes(&self) -> &[u8] {
        &self.seed
    }

    /// Computes the public key.
    pub fn verifying_key(&self) -> VerifyingKey {
        with_set!(self.algorithm, P => self.typed::<P>().verifying_key().into())
    }

    /// Computes the values that all signatures by this key share.
    pub fn expand(&self) -> ExpandedSigningKey {
        with_set!(self.algorithm, P => ExpandedSigningKey(Box::new(self.typed::<P>().expand())))
    }

    /// Signs with fresh randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`], [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
        self.sign_digest(&MessageDigest::of(self.algorithm, message))
    }

    /// Signs the message that `digest` was computed from, with fresh randomness.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::Randomness`], [`Error::SamplesExhausted`],
    /// [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign_digest(&self, digest: &MessageDigest) -> Result<Signature, Error> {
        with_set!(self.algorithm, P => Ok(self.typed::<P>().sign_digest(&digest.typed()?)?.into()))
    }

    /// Signs without randomness: the same key and message always give the same signature.
    ///
    /// # Errors
    ///
    /// [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    pub fn sign_deterministic(&self, message: &[u8]) -> Result<Signature, Error> {
        with_set!(self.algorithm, P => Ok(self.typed::<P>().sign_deterministic(message)?.into()))
    }

    fn typed<P: ParameterSet>(&self) -> crate::SigningKey<P> {
        crate::SigningKey::try_from(&self.seed[..]).expect("the length was checked when the key was made")
    }
}

impl<P: ParameterSet> From<crate::SigningKey<P>> for SigningKey {
    fn from(key: crate::SigningKey<P>) -> Self {
        Self { algorithm: P::ALGORITHM, seed: Zeroizing::new(key.as_ref().to_vec()) }
    }
}

/// Fails with [`Error::AlgorithmMismatch`].
impl<P: ParameterSet> TryFrom<SigningKey> for crate::SigningKey<P> {
    type Error = Error;

    fn try_from(key: SigningKey) -> Result<Self, Error> {
        match key.algorithm == P::ALGORITHM {
            true => Ok(key.typed()),
            false => Err(Error::AlgorithmMismatch { expected: P::ALGORITHM, given: key.algorithm }),
        }
    }
}

/// Defines the type of a public value of any set: the set, and bytes of the length for it.
macro_rules! public_value {
    ($(#[$doc:meta])* $name:ident, $typed:ident, $encoded:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            algorithm: Algorithm,
            bytes: Vec<u8>,
        }

        impl $name {
            #[doc = concat!("Makes a value from the encoded ", $encoded, ".")]
            ///
            /// # Errors
            ///
            /// [`Error::Length`].
            pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
                with_set!(algorithm, P => Ok(crate::$typed::<P>::try_from(bytes)?.into()))
            }

            /// The set that the value belongs to.
            pub fn algorithm(&self) -> Algorithm {
                self.algorithm
            }

            #[doc = concat!("The encoded ", $encoded, ".")]
            pub fn as_bytes(&self) -> &[u8] {
                &self.bytes
            }

            fn typed<P: ParameterSet>(&self) -> Result<crate::$typed<P>, Error> {
                match self.algorithm == P::ALGORITHM {
                    true => crate::$typed::try_from(&self.bytes[..]),
                    false => Err(Error::AlgorithmMismatch { expected: P::ALGORITHM, given: self.algorithm }),
                }
            }
        }

        impl<P: ParameterSet> From<crate::$typed<P>> for $name {
            fn from(value: crate::$typed<P>) -> Self {
                Self { algorithm: P::ALGORITHM, bytes: value.as_ref().to_vec() }
            }
        }

        /// Fails with [`Error::AlgorithmMismatch`].
        impl<P: ParameterSet> TryFrom<$name> for crate::$typed<P> {
            type Error = Error;

            fn try_from(value: $name) -> Result<Self, Error> {
                value.typed()
            }
        }
    };
}

public_value! {
    /// A signature of any set.
    Signature, Signature, "signature"
}

public_value! {
    /// A compact public key of any set.
    VerifyingKey, VerifyingKey, "public key"
}

public_value! {
    /// The digest of a message, for any set, which decides its length.
    MessageDigest, MessageDigest, "message digest"
}

impl VerifyingKey {
    /// Expands P1 and P2.
    #[expect(clippy::missing_panics_doc, reason = "the set is the key's own, so this never panics")]
    pub fn expand(&self) -> ExpandedVerifyingKey {
        with_set!(self.algorithm, P => {
            let key = self.typed::<P>().expect("the set is the key's own");
            key.expand().into()
        })
    }

    /// Verifies a signature.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        self.verify_digest(&MessageDigest::of(self.algorithm, message), signature)
    }

    /// Verifies a signature of the message that `digest` was computed from.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::InvalidSignature`].
    pub fn verify_digest(&self, digest: &MessageDigest, signature: &Signature) -> Result<(), Error> {
        with_set!(self.algorithm, P => self.typed::<P>()?.verify_digest(&digest.typed()?, &signature.typed()?))
    }
}

impl MessageDigest {
    /// The digest of a message in one piece.
    pub fn of(algorithm: Algorithm, message: &[u8]) -> Self {
        with_set!(algorithm, P => crate::MessageDigest::<P>::of(message).into())
    }

    /// The digest of everything that `reader` gives, computed in constant memory.
    ///
    /// # Errors
    ///
    /// The errors of the reader.
    #[cfg(feature = "std")]
    pub fn of_reader(algorithm: Algorithm, mut reader: impl std::io::Read) -> std::io::Result<Self> {
        let mut hasher = MessageHasher::new(algorithm);
        std::io::copy(&mut reader, &mut hasher)?;
        Ok(hasher.finalize())
    }
}

/// Computes the digest of a message that comes in pieces, in constant memory.
#[derive(Clone, Debug)]
pub struct MessageHasher {
    algorithm: Algorithm,
    shake: shake::Shake256,
}

impl MessageHasher {
    /// A hasher for messages of a set that has read nothing yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, shake: Default::default() }
    }

    /// The set that the digest will belong to.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Reads the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.shake.update(bytes);
    }

    /// The digest of all pieces, one after another.
    pub fn finalize(self) -> MessageDigest {
        let mut bytes = vec![0; self.algorithm.digest_bytes()];
        self.shake.finalize_xof().read(&mut bytes);
        MessageDigest { algorithm: self.algorithm, bytes }
    }
}

#[cfg(feature = "std")]
impl std::io::Write for MessageHasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An expanded secret key of any set.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct ExpandedSigningKey(Box<dyn Signing>);

impl ExpandedSigningKey {
    /// The set that the key belongs to.
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm()
    }

    /// The public key.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.0.verifying_key()
    }

    /// The same key, which from here on protects its signatures against faults, see
    /// [`ExpandedSigningKey::checked`](crate::ExpandedSigningKey::checked).
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`].
    pub fn checked(mut self, public_key: &VerifyingKey) -> Result<Self, Error> {
        self.0.check_with(public_key)?;
        Ok(self)
    }

    /// Signs with fresh randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`], [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
        self.sign_digest(&MessageDigest::of(self.algorithm(), message))
    }

    /// Signs the message that `digest` was computed from, with fresh randomness.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::Randomness`], [`Error::SamplesExhausted`],
    /// [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign_digest(&self, digest: &MessageDigest) -> Result<Signature, Error> {
        self.0.sign(digest)
    }
}

/// An expanded public key of any set.
pub struct ExpandedVerifyingKey(Box<dyn Verifying>);

impl ExpandedVerifyingKey {
    /// The set that the key belongs to.
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm()
    }

    /// Verifies a signature.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        self.verify_digest(&MessageDigest::of(self.algorithm(), message), signature)
    }

    /// Verifies a signature of the message that `digest` was computed from.
    ///
    /// # Errors
    ///
    /// [`Error::AlgorithmMismatch`], [`Error::InvalidSignature`].
    pub fn verify_digest(&self, digest: &MessageDigest, signature: &Signature) -> Result<(), Error> {
        self.0.verify(digest, signature)
    }
}

impl<P: ParameterSet> From<crate::ExpandedVerifyingKey<P>> for ExpandedVerifyingKey {
    fn from(key: crate::ExpandedVerifyingKey<P>) -> Self {
        Self(Box::new(key))
    }
}

impl core::fmt::Debug for ExpandedVerifyingKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ExpandedVerifyingKey").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

/// An expanded secret key whose set is not part of its type.
trait Signing: Send + Sync {
    fn algorithm(&self) -> Algorithm;
    fn verifying_key(&self) -> VerifyingKey;
    fn check_with(&mut self, public_key: &VerifyingKey) -> Result<(), Error>;
    #[cfg(feature = "getrandom")]
    fn sign(&self, digest: &MessageDigest) -> Result<Signature, Error>;
}

impl<P: ParameterSet> Signing for crate::ExpandedSigningKey<P> {
    fn algorithm(&self) -> Algorithm {
        P::ALGORITHM
    }

    fn verifying_key(&self) -> VerifyingKey {
        self.verifying_key().into()
    }

    fn check_with(&mut self, public_key: &VerifyingKey) -> Result<(), Error> {
        self.check_with(&public_key.typed()?);
        Ok(())
    }

    #[cfg(feature = "getrandom")]
    fn sign(&self, digest: &MessageDigest) -> Result<Signature, Error> {
        Ok(self.sign_digest(&digest.typed()?)?.into())
    }
}

/// An expanded public key whose set is not part of its type.
trait Verifying: Send + Sync {
    fn algorithm(&self) -> Algorithm;
    fn verify(&self, digest: &MessageDigest, signature: &Signature) -> Result<(), Error>;
}

impl<P: ParameterSet> Verifying for crate::ExpandedVerifyingKey<P> {
    fn algorithm(&self) -> Algorithm {
        P::ALGORITHM
    }

    fn verify(&self, digest: &MessageDigest, signature: &Signature) -> Result<(), Error> {
        self.verify_digest(&digest.typed()?, &signature.typed()?)
    }
}

/// Implements the traits of the `signature` crate, for compact and expanded keys alike.
macro_rules! signature_traits {
    ($($signing:ident, $verifying:ident;)*) => {$(
        #[cfg(feature = "getrandom")]
        impl signature::Signer<Signature> for $signing {
            fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
                Ok(self.sign(message)?)
            }
        }

        impl signature::Keypair for $signing {
            type VerifyingKey = VerifyingKey;

            fn verifying_key(&self) -> VerifyingKey {
                $signing::verifying_key(self)
            }
        }

        impl signature::Verifier<Signature> for $verifying {
            fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
                Ok($verifying::verify(self, message, signature)?)
            }
        }
    )*};
}

signature_traits! {
    SigningKey, VerifyingKey;
    ExpandedSigningKey, ExpandedVerifyingKey;
}
