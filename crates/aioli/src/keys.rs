//! Signing and verifying keys, compact and expanded.
//!
//! Compact keys are stored and sent. Expanded keys also hold P1 and the other values that follow
//! from the key alone. They are worth their memory (120 to 850 kB) if one key is used for many
//! operations.

use crate::Error;
use crate::backend::{DetectedBackend, with_backend};
use crate::memory;
use crate::message::MessageDigest;
use crate::operations::{self, ExpandedSecret};
use crate::params::{ByteArray, PUBLIC_SEED_BYTES, ParameterSet};
use crate::randomizer::Randomizer;
use crate::scheme::sign::ALL_SAMPLES;
use crate::scheme::verify::public_seed;
use crate::sig::{Signature, array};
use alloc::boxed::Box;
use alloc::vec::Vec;
use signature::rand_core::TryCryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A compact secret key: the seed from which everything else follows.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct SigningKey<P: ParameterSet>(P::SecretKeyBytes);

impl<P: ParameterSet> SigningKey<P> {
    /// Makes a fresh key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`].
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, Error> {
        let mut key = Self(P::SecretKeyBytes::ZERO);
        getrandom::fill(key.0.as_mut()).map_err(|_| Error::Randomness)?;
        Ok(key)
    }

    /// Makes a fresh key from the given randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if the source fails.
    pub fn generate_from_rng<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, Error> {
        let mut key = Self(P::SecretKeyBytes::ZERO);
        rng.try_fill_bytes(key.0.as_mut()).map_err(|_| Error::Randomness)?;
        Ok(key)
    }

    /// Makes the key of a seed. The seed is the encoded secret key.
    pub const fn from_seed(seed: P::SecretKeyBytes) -> Self {
        Self(seed)
    }

    /// The seed. Secret.
    pub const fn as_seed(&self) -> &P::SecretKeyBytes {
        &self.0
    }

    /// Computes the public key.
    pub fn verifying_key(&self) -> VerifyingKey<P> {
        VerifyingKey(with_backend!(DetectedBackend::best(), |b| operations::verifying_key::<P, _>(b, self.as_ref())))
    }

    /// Computes the values that all signatures by this key share.
    pub fn expand(&self) -> ExpandedSigningKey<P> {
        let backend = DetectedBackend::best();
        let secret = with_backend!(backend, |b| operations::expand_signing_key::<P, _>(b, self.as_ref()));
        ExpandedSigningKey::new(self, secret)
    }

    /// Signs without randomness: the same key and message always give the same signature.
    ///
    /// The randomizer is derived from the set and the seed, see
    /// [`derive_randomizer`](crate::hazmat::derive_randomizer). Prefer the hedged
    /// [`Signer`](signature::Signer), which is harder to attack by faults and side channels.
    ///
    /// # Errors
    ///
    /// [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    pub fn sign_deterministic(&self, message: &[u8]) -> Result<Signature<P>, Error> {
        self.sign_with_randomizer(&MessageDigest::of(message), &Randomizer::deterministic(self.seed_sk()))
    }

    /// Signs the message that `digest` was computed from, with fresh randomness.
    ///
    /// Like all signing with this key, it does not verify the signature before it is released, see
    /// [`ExpandedSigningKey::checked`].
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`], [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign_digest(&self, digest: &MessageDigest<P>) -> Result<Signature<P>, Error> {
        self.sign_with_randomizer(digest, &Randomizer::from_system(self.seed_sk())?)
    }

    fn seed_sk(&self) -> &[u8] {
        self.as_ref()
    }

    fn sign_with_randomizer(
        &self,
        digest: &MessageDigest<P>,
        randomizer: &Randomizer<P>,
    ) -> Result<Signature<P>, Error> {
        let randomizer = randomizer.as_ref();
        let keys = (self.as_ref(), None);
        with_backend!(DetectedBackend::best(), |b| operations::sign(b, keys, digest, randomizer, ALL_SAMPLES))
    }
}

impl<P: ParameterSet> Clone for SigningKey<P> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for SigningKey<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        array::<P, P::SecretKeyBytes>("secret key", bytes).map(Self)
    }
}

impl<P: ParameterSet> AsRef<[u8]> for SigningKey<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<P: ParameterSet> Drop for SigningKey<P> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for SigningKey<P> {}

/// A secret key with the values that all its signatures share: O, P1 and Q = P2 + P1' O.
#[allow(missing_debug_implementations, reason = "secret keys are never printed")]
pub struct ExpandedSigningKey<P: ParameterSet> {
    key: SigningKey<P>,
    secret: ExpandedSecret,
    /// The public key that verifies signatures before they are released.
    check: Option<Box<VerifyingKey<P>>>,
}

impl<P: ParameterSet> ExpandedSigningKey<P> {
    pub(crate) fn new(key: &SigningKey<P>, secret: ExpandedSecret) -> Self {
        Self { key: key.clone(), secret, check: None }
    }

    /// The same key, which from here on protects its signatures against faults.
    ///
    /// Each signature is verified with `public_key` before it is released, and its vinegar vectors
    /// are derived twice; README.md has the price. If a check fails, signing fails with
    /// [`Error::FaultDetected`]; with the public key of another key it always does.
    /// `docs/faults.md` says which attacks this answers.
    #[must_use]
    pub fn checked(mut self, public_key: &VerifyingKey<P>) -> Self {
        self.check_with(public_key);
        self
    }

    /// Makes this a [`checked`](Self::checked) key where it is: moving it would leave its seed
    /// behind.
    pub(crate) fn check_with(&mut self, public_key: &VerifyingKey<P>) {
        self.check = Some(Box::new(*public_key));
    }

    /// The compact key.
    pub const fn compact(&self) -> &SigningKey<P> {
        &self.key
    }

    /// Computes the public key.
    pub fn verifying_key(&self) -> VerifyingKey<P> {
        self.key.verifying_key()
    }

    /// Signs without randomness, see [`SigningKey::sign_deterministic`].
    ///
    /// # Errors
    ///
    /// [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    pub fn sign_deterministic(&self, message: &[u8]) -> Result<Signature<P>, Error> {
        self.sign_with_randomizer(&MessageDigest::of(message), &Randomizer::deterministic(self.seed_sk()))
    }

    /// Signs the message that `digest` was computed from, with fresh randomness.
    ///
    /// The signature is not verified before it is released, unless the key is
    /// [`checked`](Self::checked): verifying takes more than a quarter of a signature's time.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`], [`Error::SamplesExhausted`], [`Error::FaultDetected`].
    #[cfg(feature = "getrandom")]
    pub fn sign_digest(&self, digest: &MessageDigest<P>) -> Result<Signature<P>, Error> {
        self.sign_with_randomizer(digest, &Randomizer::from_system(self.seed_sk())?)
    }

    /// All that signing reads: the seed, the expanded parts, and the public key to check with.
    pub(crate) fn parts(&self) -> (&[u8], &ExpandedSecret, Option<&[u8]>) {
        (self.seed_sk(), &self.secret, self.check.as_deref().map(AsRef::as_ref))
    }

    fn seed_sk(&self) -> &[u8] {
        self.key.as_ref()
    }

    fn sign_with_randomizer(
        &self,
        digest: &MessageDigest<P>,
        randomizer: &Randomizer<P>,
    ) -> Result<Signature<P>, Error> {
        let randomizer = randomizer.as_ref();
        with_backend!(DetectedBackend::best(), |b| {
            operations::sign_expanded(b, self.parts(), digest, randomizer, ALL_SAMPLES)
        })
    }
}

impl<P: ParameterSet> Clone for ExpandedSigningKey<P> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), secret: self.secret.clone(), check: self.check.clone() }
    }
}

impl<P: ParameterSet> Drop for ExpandedSigningKey<P> {
    fn drop(&mut self) {
        memory::wipe(&mut self.secret.oil);
        // P1 is public, so only Q is cleared.
        memory::wipe(&mut self.secret.p1_q[P::P1_BYTES..]);
    }
}

impl<P: ParameterSet> ZeroizeOnDrop for ExpandedSigningKey<P> {}

/// A compact public key: the seed of P1 and P2, and P3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKey<P: ParameterSet>(pub(crate) P::PublicKeyBytes);

impl<P: ParameterSet> VerifyingKey<P> {
    /// Makes a public key from its encoding.
    pub const fn from_bytes(bytes: P::PublicKeyBytes) -> Self {
        Self(bytes)
    }

    /// The encoded public key.
    pub const fn as_bytes(&self) -> &P::PublicKeyBytes {
        &self.0
    }

    /// Expands P1 and P2.
    pub fn expand(&self) -> ExpandedVerifyingKey<P> {
        let p = with_backend!(DetectedBackend::best(), |b| operations::expand_verifying_key::<P, _>(b, self.seed()));
        ExpandedVerifyingKey { key: *self, p }
    }

    /// Verifies a signature of the message that `digest` was computed from.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`].
    pub fn verify_digest(&self, digest: &MessageDigest<P>, signature: &Signature<P>) -> Result<(), Error> {
        with_backend!(DetectedBackend::best(), |b| operations::verify(b, self.as_ref(), digest, signature))
    }

    /// The seed of P1 and P2.
    pub(crate) fn seed(&self) -> &[u8; PUBLIC_SEED_BYTES] {
        public_seed(self.0.as_ref())
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for VerifyingKey<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        array::<P, P::PublicKeyBytes>("public key", bytes).map(Self)
    }
}

impl<P: ParameterSet> AsRef<[u8]> for VerifyingKey<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// A public key with its P1 and P2.
#[derive(Clone)]
pub struct ExpandedVerifyingKey<P: ParameterSet> {
    pub(crate) key: VerifyingKey<P>,
    /// P1 and P2, packed.
    pub(crate) p: Box<[u8]>,
}

impl<P: ParameterSet> ExpandedVerifyingKey<P> {
    /// The compact key.
    pub const fn compact(&self) -> &VerifyingKey<P> {
        &self.key
    }

    /// Verifies a signature of the message that `digest` was computed from.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`].
    pub fn verify_digest(&self, digest: &MessageDigest<P>, signature: &Signature<P>) -> Result<(), Error> {
        let key = (self.key.as_ref(), &*self.p);
        with_backend!(DetectedBackend::best(), |b| operations::verify_expanded(b, key, digest, signature))
    }

    /// Verifies signatures, each beside the digest of its message; the results are in their order.
    ///
    /// On one core, and faster than one by one: several signatures share each reading of P.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`] for each that is not valid.
    pub fn verify_many(&self, signed: &[(MessageDigest<P>, Signature<P>)]) -> Vec<Result<(), Error>> {
        let key = (self.key.as_ref(), &*self.p);
        with_backend!(DetectedBackend::best(), |b| operations::verify_many(b, key, signed))
    }
}

impl<P: ParameterSet> core::fmt::Debug for ExpandedVerifyingKey<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ExpandedVerifyingKey").field(&self.key).finish()
    }
}

/// Implements the traits of the `signature` crate, for compact and expanded keys alike.
macro_rules! signature_traits {
    ($($signing:ident, $verifying:ident;)*) => {$(
        #[cfg(feature = "getrandom")]
        impl<P: ParameterSet> signature::Signer<Signature<P>> for $signing<P> {
            fn try_sign(&self, message: &[u8]) -> Result<Signature<P>, signature::Error> {
                Ok(self.sign_digest(&MessageDigest::of(message))?)
            }
        }

        #[cfg(feature = "getrandom")]
        impl<P: ParameterSet> signature::MultipartSigner<Signature<P>> for $signing<P> {
            fn try_multipart_sign(&self, message: &[&[u8]]) -> Result<Signature<P>, signature::Error> {
                Ok(self.sign_digest(&MessageDigest::of_parts(message))?)
            }
        }

        impl<P: ParameterSet> signature::RandomizedSigner<Signature<P>> for $signing<P> {
            fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
                &self,
                rng: &mut R,
                message: &[u8],
            ) -> Result<Signature<P>, signature::Error> {
                signature::RandomizedMultipartSigner::try_multipart_sign_with_rng(self, rng, &[message])
            }
        }

        impl<P: ParameterSet> signature::RandomizedMultipartSigner<Signature<P>> for $signing<P> {
            fn try_multipart_sign_with_rng<R: TryCryptoRng + ?Sized>(
                &self,
                rng: &mut R,
                message: &[&[u8]],
            ) -> Result<Signature<P>, signature::Error> {
                let randomizer = Randomizer::from_rng(self.seed_sk(), rng)?;
                Ok(self.sign_with_randomizer(&MessageDigest::of_parts(message), &randomizer)?)
            }
        }

        impl<P: ParameterSet> signature::Keypair for $signing<P> {
            type VerifyingKey = VerifyingKey<P>;

            fn verifying_key(&self) -> VerifyingKey<P> {
                $signing::verifying_key(self)
            }
        }

        impl<P: ParameterSet> signature::Verifier<Signature<P>> for $verifying<P> {
            fn verify(&self, message: &[u8], signature: &Signature<P>) -> Result<(), signature::Error> {
                Ok(self.verify_digest(&MessageDigest::of(message), signature)?)
            }
        }

        impl<P: ParameterSet> signature::MultipartVerifier<Signature<P>> for $verifying<P> {
            fn multipart_verify(&self, message: &[&[u8]], signature: &Signature<P>) -> Result<(), signature::Error> {
                Ok(self.verify_digest(&MessageDigest::of_parts(message), signature)?)
            }
        }
    )*};
}

signature_traits! {
    SigningKey, VerifyingKey;
    ExpandedSigningKey, ExpandedVerifyingKey;
}
