//! The randomizer R of a signature, derived in one place.
//!
//! MAYO computes the salt and the vinegar vectors from digest, R, seed and a counter: neither the
//! set nor the round goes in. With one seed and one R, MAYO_3 of round 2 and of round 3 would use
//! the same vinegar vectors, and the difference of two signatures of one message would lie in the
//! oil space; so would MAYO_5. The specification leaves R free, so the set goes into R.
//!
//! The formula is on [`derive_randomizer`], which `hazmat` offers to those who sign with an R of
//! their own. A change of it changes all deterministic signatures.

use crate::Error;
use crate::ct;
use crate::params::{ByteArray, ParameterSet};
use crate::xof;
#[cfg(feature = "alloc")]
use signature::rand_core::TryCryptoRng;
use zeroize::Zeroizing;

const LABEL: &[u8; 16] = b"aioli randomizer";

/// The randomizer R: its `SALT_BYTES` bytes begin an array of digest length, which is never
/// shorter.
pub(crate) struct Randomizer<P: ParameterSet>(Zeroizing<P::DigestBytes>);

impl<P: ParameterSet> Randomizer<P> {
    /// R of a signature without randomness.
    pub(crate) fn deterministic(seed_sk: &[u8]) -> Self {
        Self::derive(seed_sk, &[])
    }

    /// R of a signature with the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`].
    #[cfg(feature = "getrandom")]
    pub(crate) fn from_system(seed_sk: &[u8]) -> Result<Self, Error> {
        let mut fresh = Zeroizing::new(P::DigestBytes::ZERO);
        let fresh = &mut (*fresh).as_mut()[..P::SALT_BYTES];
        getrandom::fill(fresh).map_err(|_| Error::Randomness)?;
        Ok(Self::derive(seed_sk, fresh))
    }

    /// R of a signature with the given randomness.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if the source fails.
    #[cfg(feature = "alloc")]
    pub(crate) fn from_rng<R: TryCryptoRng + ?Sized>(seed_sk: &[u8], rng: &mut R) -> Result<Self, Error> {
        let mut fresh = Zeroizing::new(P::DigestBytes::ZERO);
        let fresh = &mut (*fresh).as_mut()[..P::SALT_BYTES];
        rng.try_fill_bytes(fresh).map_err(|_| Error::Randomness)?;
        Ok(Self::derive(seed_sk, fresh))
    }

    /// R by the formula of [`derive_randomizer`]; `fresh` is empty or `SALT_BYTES` bytes.
    fn derive(seed_sk: &[u8], fresh: &[u8]) -> Self {
        debug_assert!(seed_sk.len() == P::SECRET_KEY_BYTES && (fresh.is_empty() || fresh.len() == P::SALT_BYTES));
        ct::secret(seed_sk);
        let name = P::ALGORITHM.name().as_bytes();
        let length = u8::try_from(name.len()).expect("names of sets are short");
        let hedged = u8::from(!fresh.is_empty());
        let mut randomizer = Self(Zeroizing::new(P::DigestBytes::ZERO));
        let out = &mut (*randomizer.0).as_mut()[..P::SALT_BYTES];
        xof::shake256(&[LABEL, &[length], name, &[hedged], fresh, seed_sk], out);
        randomizer
    }
}

impl<P: ParameterSet> AsRef<[u8]> for Randomizer<P> {
    fn as_ref(&self) -> &[u8] {
        &(*self.0).as_ref()[..P::SALT_BYTES]
    }
}

/// Derives the randomizer R from the set, the secret key and `fresh`, as keys outside of `hazmat`
/// do.
///
/// `fresh` is `SALT_BYTES` of fresh randomness. If it is empty, R is that of a deterministic
/// signature.
///
/// ```text
/// R = first SALT_BYTES bytes of SHAKE256(label || l || name || h || fresh || seed_sk)
///
/// label     16 bytes                   "aioli randomizer" in ASCII
/// l         1 byte                     the length of the name
/// name      l bytes                    Algorithm::name, such as "mayo3" or "mayo3-round2"
/// h         1 byte                     1 if fresh bytes follow, else 0
/// fresh     SALT_BYTES bytes or none   fresh randomness
/// seed_sk   SECRET_KEY_BYTES bytes     the secret key
/// ```
///
/// The name fixes the lengths of `fresh` and `seed_sk`, so no two inputs have the same bytes. All
/// inputs fit into one block of SHAKE256.
///
/// # Errors
///
/// [`Error::Length`] of `fresh` or of `randomizer`.
pub fn derive_randomizer<P: ParameterSet>(
    secret_key: &P::SecretKeyBytes,
    fresh: &[u8],
    randomizer: &mut [u8],
) -> Result<(), Error> {
    let check = |what, given| match given == P::SALT_BYTES {
        true => Ok(()),
        false => Err(Error::Length { what, algorithm: P::ALGORITHM, expected: P::SALT_BYTES, given }),
    };
    if !fresh.is_empty() {
        check("fresh randomness", fresh.len())?;
    }
    check("randomizer", randomizer.len())?;
    randomizer.copy_from_slice(Randomizer::<P>::derive(secret_key.as_ref(), fresh).as_ref());
    Ok(())
}
