//! The scheme with everything given: backend, randomizer, digest, number of samples.
//!
//! For known answers, tests, measurements and hardware security modules. Nothing here is unsafe to call, but a
//! randomizer that repeats gives up the hedge, and a digest that is not SHAKE256 of a message gives signatures that
//! other MAYO software cannot check.
//!
//! A [`BackendKind`] that this machine cannot run is answered by [`BackendKind::Portable`]; ask [`BackendKind::is_available`] first.
//!
//! [`BackendKind`]: crate::backend::BackendKind
//! [`BackendKind::Portable`]: crate::backend::BackendKind::Portable
//! [`BackendKind::is_available`]: crate::backend::BackendKind::is_available

use crate::Error;
use crate::backend::Backend;
use crate::message::MessageDigest;
use crate::params::ParameterSet;
use crate::sig::array;

#[cfg(feature = "alloc")]
pub use with_alloc::*;

/// Whether the program runs under the constant-time checker that it was built for.
#[cfg(aioli_ct)]
pub fn is_watched() -> bool {
    crate::backend::taint::is_watched()
}

/// Marks bytes as secret for the constant-time checker.
#[cfg(aioli_ct)]
pub fn mark_secret(bytes: &[u8]) {
    crate::ct::secret(bytes);
}

/// A message digest from its bytes.
///
/// # Errors
///
/// [`Error::Length`].
pub fn message_digest<P: ParameterSet>(bytes: &[u8]) -> Result<MessageDigest<P>, Error> {
    array::<P, P::DigestBytes>("message digest", bytes).map(MessageDigest)
}

/// AES-128 of the counter blocks of `seed`: P1 and P2 of a public key, or their first `p.len()` bytes.
pub fn expand_p<B: Backend>(b: B, seed: &[u8; crate::params::PUBLIC_SEED_BYTES], p: &mut [u8]) {
    crate::public_map::expand_p(b, seed, p);
}

/// The operations on the caller's memory, for machines without an allocator.
///
/// The window is for P1 and P2, which are expanded a part at a time: from one row ([`in_place::min_window`]) to everything
/// (`P_BYTES`), the larger the faster. The products of P1 with secrets are made for some of its columns at a time, as many
/// as the rest of the memory allows: what each operation needs is given for a `width`, the number of columns, from 1
/// ([`keygen`](in_place::keygen), [`sign`](in_place::sign)) or O ([`verify`](in_place::verify)) to N. That memory is
/// cleared before and afterwards.
pub mod in_place {
    use crate::Error;
    use crate::backend::Backend;
    use crate::message::MessageDigest;
    use crate::params::{ByteArray, PUBLIC_SEED_BYTES, ParameterSet};
    use crate::public_map::PublicMap;
    use crate::sig::Signature;
    use crate::sign::{Request, SecretMap};
    use crate::{keygen as generating, sign as signing, verify as verifying};

    /// The smallest window, in bytes.
    pub const fn min_window<P: ParameterSet>() -> usize {
        PublicMap::<'_, P>::MIN_WINDOW
    }

    /// What [`keygen`] needs beside the window for `width` columns at a time, in bytes.
    pub const fn keygen_memory<P: ParameterSet>(width: usize) -> usize {
        generating::keygen_memory::<P>(width)
    }

    /// What [`sign`] needs beside the window for `width` columns at a time, in bytes.
    pub const fn sign_memory<P: ParameterSet>(width: usize) -> usize {
        signing::sign_memory::<P>(false, width)
    }

    /// What [`verify`] needs beside the window for `width` columns at a time, in bytes.
    pub const fn verify_memory<P: ParameterSet>(width: usize) -> usize {
        verifying::verify_memory::<P>(width)
    }

    /// Computes the public key of a secret key.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn keygen<P: ParameterSet, B: Backend>(
        b: B,
        secret_key: &P::SecretKeyBytes,
        window: &mut [u8],
        memory: &mut [u8],
    ) -> Result<P::PublicKeyBytes, Error> {
        cleared::<P, _>(window, memory, keygen_memory::<P>, 1..=P::V, |window, width, memory| {
            generating::keygen::<P, B>(b, secret_key.as_ref(), width, window, memory)
        })
    }

    /// Signs; `randomizer` is `SALT_BYTES` of fresh randomness, or `None` for a deterministic signature.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`], [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`].
    pub fn sign<P: ParameterSet, B: Backend>(
        b: B,
        secret_key: &P::SecretKeyBytes,
        digest: &MessageDigest<P>,
        randomizer: Option<&[u8]>,
        window: &mut [u8],
        memory: &mut [u8],
    ) -> Result<Signature<P>, Error> {
        let zero = P::DigestBytes::ZERO;
        let randomizer = randomizer.unwrap_or(&zero.as_ref()[..P::SALT_BYTES]);
        let request = Request::new::<P>(secret_key.as_ref(), digest, randomizer, 256)?;
        cleared::<P, _>(window, memory, sign_memory::<P>, 1..=P::V, |window, width, memory| {
            signing::sign::<P, B>(b, &request, SecretMap::Compact(window), width, memory).map(Signature::from_bytes)
        })?
    }

    /// Verifies.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`], [`Error::InvalidSignature`].
    pub fn verify<P: ParameterSet, B: Backend>(
        b: B,
        public_key: &P::PublicKeyBytes,
        digest: &MessageDigest<P>,
        signature: &Signature<P>,
        window: &mut [u8],
        memory: &mut [u8],
    ) -> Result<(), Error> {
        let public_key = public_key.as_ref();
        let seed: &[u8; PUBLIC_SEED_BYTES] = public_key.first_chunk().expect("a public key is longer than its seed");
        let valid = cleared::<P, _>(window, memory, verify_memory::<P>, P::O..=P::N, |window, width, memory| {
            let p = PublicMap::from_seed(b, seed, window);
            verifying::verify::<P, B>(b, public_key, p, digest.as_ref(), signature.as_ref(), width, memory)
        })?;
        if valid { Ok(()) } else { Err(Error::InvalidSignature) }
    }

    /// Calls `f` with the window, the largest of `widths` for which the memory suffices, and that memory, zero.
    fn cleared<P: ParameterSet, T>(
        window: &mut [u8],
        memory: &mut [u8],
        needed: impl Fn(usize) -> usize,
        widths: core::ops::RangeInclusive<usize>,
        f: impl FnOnce(&mut [u8], usize, &mut [u8]) -> T,
    ) -> Result<T, Error> {
        if window.len() < min_window::<P>() {
            return Err(Error::Memory { expected: min_window::<P>(), given: window.len() });
        }
        let expected = needed(*widths.start());
        let Some(width) = widths.rev().find(|&width| needed(width) <= memory.len()) else {
            return Err(Error::Memory { expected, given: memory.len() });
        };
        let memory = &mut memory[..needed(width)];
        memory.fill(0);
        let result = f(window, width, memory);
        crate::memory::wipe(memory);
        Ok(result)
    }
}

#[cfg(feature = "alloc")]
mod with_alloc {
    use crate::Error;
    use crate::backend::{Backend, BackendKind, with_backend};
    use crate::keys::{ExpandedSigningKey, ExpandedVerifyingKey, SigningKey, VerifyingKey};
    use crate::memory;
    use crate::message::MessageDigest;
    use crate::params::ParameterSet;
    use crate::public_map::PublicMap;
    use crate::sig::Signature;
    use crate::sign::{Request, SecretMap};
    use crate::{keygen, sign as signing, verify as verifying};

    /// Samples of the specification.
    const ALL_SAMPLES: u16 = 256;

    /// [`SigningKey::verifying_key`] on a backend.
    pub fn verifying_key<P: ParameterSet>(kind: BackendKind, key: &SigningKey<P>) -> VerifyingKey<P> {
        with_backend!(kind, |b| on::verifying_key(b, key))
    }

    /// [`SigningKey::expand`] on a backend.
    pub fn expand_signing_key<P: ParameterSet>(kind: BackendKind, key: &SigningKey<P>) -> ExpandedSigningKey<P> {
        with_backend!(kind, |b| ExpandedSigningKey::new(b, key))
    }

    /// [`VerifyingKey::expand`] on a backend.
    pub fn expand_verifying_key<P: ParameterSet>(kind: BackendKind, key: &VerifyingKey<P>) -> ExpandedVerifyingKey<P> {
        with_backend!(kind, |b| ExpandedVerifyingKey::new(b, key))
    }

    /// Signs with a given randomizer of `SALT_BYTES`.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`].
    pub fn sign<P: ParameterSet>(
        kind: BackendKind,
        key: &SigningKey<P>,
        digest: &MessageDigest<P>,
        randomizer: &[u8],
    ) -> Result<Signature<P>, Error> {
        with_backend!(kind, |b| on::sign(b, key, digest, randomizer, ALL_SAMPLES))
    }

    /// Signs with a given randomizer of `SALT_BYTES` and an expanded key.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`].
    pub fn sign_expanded<P: ParameterSet>(
        kind: BackendKind,
        key: &ExpandedSigningKey<P>,
        digest: &MessageDigest<P>,
        randomizer: &[u8],
    ) -> Result<Signature<P>, Error> {
        with_backend!(kind, |b| on::sign_expanded(b, key, digest, randomizer, ALL_SAMPLES))
    }

    /// Verifies with a compact key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`].
    pub fn verify<P: ParameterSet>(
        kind: BackendKind,
        key: &VerifyingKey<P>,
        digest: &MessageDigest<P>,
        signature: &Signature<P>,
    ) -> Result<(), Error> {
        with_backend!(kind, |b| on::verify(b, key, digest, signature))
    }

    /// Verifies with an expanded key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignature`].
    pub fn verify_expanded<P: ParameterSet>(
        kind: BackendKind,
        key: &ExpandedVerifyingKey<P>,
        digest: &MessageDigest<P>,
        signature: &Signature<P>,
    ) -> Result<(), Error> {
        with_backend!(kind, |b| on::verify_expanded(b, key, digest, signature))
    }

    /// An expanded signing key from its parts as [`ExpandedSigningKey`] documents them, unchecked: parts that do not
    /// belong together give signatures that do not verify, or none.
    ///
    /// # Errors
    ///
    /// [`Error::Length`].
    pub fn expanded_signing_key_from_parts<P: ParameterSet>(
        key: &SigningKey<P>,
        oil: &[u8],
        p1_q: &[u8],
    ) -> Result<ExpandedSigningKey<P>, Error> {
        let check = |what, bytes: &[u8], expected| match bytes.len() {
            given if given == expected => Ok(bytes.into()),
            given => Err(Error::Length { what, algorithm: P::ALGORITHM, expected, given }),
        };
        Ok(ExpandedSigningKey {
            key: key.clone(),
            oil: check("oil matrix", oil, P::V * P::O)?,
            p1_q: check("expanded secret key", p1_q, P::P_BYTES)?,
        })
    }

    /// The operations over any [`Backend`], for backends that are not in [`BackendKind`], and with a number of samples.
    pub mod on {
        use super::*;

        /// Computes a public key.
        pub fn verifying_key<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>) -> VerifyingKey<P> {
            memory::with(P::P_BYTES, keygen::keygen_memory::<P>(P::V), |window, memory| {
                VerifyingKey(keygen::keygen::<P, B>(b, key.as_ref(), P::V, window, memory))
            })
        }

        /// Expands a secret key.
        pub fn expand_signing_key<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>) -> ExpandedSigningKey<P> {
            ExpandedSigningKey::new(b, key)
        }

        /// Expands a public key.
        pub fn expand_verifying_key<P: ParameterSet, B: Backend>(
            b: B,
            key: &VerifyingKey<P>,
        ) -> ExpandedVerifyingKey<P> {
            ExpandedVerifyingKey::new(b, key)
        }

        /// Signs, trying at most `samples` vinegar samples (the specification says 256).
        ///
        /// # Errors
        ///
        /// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`].
        pub fn sign<P: ParameterSet, B: Backend>(
            b: B,
            key: &SigningKey<P>,
            digest: &MessageDigest<P>,
            randomizer: &[u8],
            samples: u16,
        ) -> Result<Signature<P>, Error> {
            let request = Request::new::<P>(key.as_ref(), digest, randomizer, samples)?;
            memory::with(P::P_BYTES, signing::sign_memory::<P>(false, P::V), |window, memory| {
                signing::sign::<P, B>(b, &request, SecretMap::Compact(window), P::V, memory).map(Signature::from_bytes)
            })
        }

        /// Signs with an expanded key, trying at most `samples` vinegar samples.
        ///
        /// # Errors
        ///
        /// [`Error::Length`] of the randomizer, [`Error::SamplesExhausted`].
        pub fn sign_expanded<P: ParameterSet, B: Backend>(
            b: B,
            key: &ExpandedSigningKey<P>,
            digest: &MessageDigest<P>,
            randomizer: &[u8],
            samples: u16,
        ) -> Result<Signature<P>, Error> {
            let request = Request::new::<P>(key.key.as_ref(), digest, randomizer, samples)?;
            let secret = SecretMap::Expanded { oil: &key.oil, p1_q: &key.p1_q };
            memory::with(0, signing::sign_memory::<P>(true, P::V), |_, memory| {
                signing::sign::<P, B>(b, &request, secret, P::V, memory).map(Signature::from_bytes)
            })
        }

        /// Verifies with a compact key.
        ///
        /// # Errors
        ///
        /// [`Error::InvalidSignature`].
        pub fn verify<P: ParameterSet, B: Backend>(
            b: B,
            key: &VerifyingKey<P>,
            digest: &MessageDigest<P>,
            signature: &Signature<P>,
        ) -> Result<(), Error> {
            memory::with(P::P_BYTES.next_multiple_of(64) + verifying::verify_memory::<P>(P::N), 0, |memory, _| {
                let (window, memory) = memory.split_at_mut(P::P_BYTES.next_multiple_of(64));
                let p = PublicMap::from_seed(b, key.seed(), window);
                accept(verifying::verify::<P, B>(b, key.as_ref(), p, digest.as_ref(), signature.as_ref(), P::N, memory))
            })
        }

        /// Verifies with an expanded key.
        ///
        /// # Errors
        ///
        /// [`Error::InvalidSignature`].
        pub fn verify_expanded<P: ParameterSet, B: Backend>(
            b: B,
            key: &ExpandedVerifyingKey<P>,
            digest: &MessageDigest<P>,
            signature: &Signature<P>,
        ) -> Result<(), Error> {
            memory::with(verifying::verify_memory::<P>(P::N), 0, |memory, _| {
                let (public_key, p) = (key.key.as_ref(), PublicMap::from_memory(&key.p));
                accept(verifying::verify::<P, B>(b, public_key, p, digest.as_ref(), signature.as_ref(), P::N, memory))
            })
        }

        fn accept(valid: bool) -> Result<(), Error> {
            if valid { Ok(()) } else { Err(Error::InvalidSignature) }
        }
    }
}
