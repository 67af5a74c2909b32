//! aioli itself, on any of its backends.

use super::{Implementation, Keypair, MESSAGE_BYTES, SIGNATURES, round_number};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::{Label, version};
use aioli::backend::DetectedBackend;
use aioli::params::{PUBLIC_SEED_BYTES, ParameterSet};
use aioli::{Algorithm, MessageDigest, Signature, SigningKey, VerifyingKey, hazmat, with_set};
use anyhow::{Context, Result};
use std::hint::black_box;
use std::marker::PhantomData;

/// aioli with this set on this backend.
pub(crate) fn implementation(algorithm: Algorithm, backend: DetectedBackend) -> Box<dyn Implementation> {
    with_set!(algorithm, P => Box::new(Aioli::<P> { backend, set: PhantomData }))
}

struct Aioli<P> {
    backend: DetectedBackend,
    set: PhantomData<P>,
}

impl<P: ParameterSet> Aioli<P> {
    fn sign_with(&self, key: &SigningKey<P>, message: &[u8]) -> Result<Signature<P>> {
        Ok(hazmat::sign(self.backend, key, &MessageDigest::of(message), &randomizer::<P>()[..P::SALT_BYTES])?)
    }
}

impl<P: ParameterSet> Implementation for Aioli<P> {
    fn label(&self) -> Label {
        Label {
            implementation: "aioli".into(),
            version: version("aioli"),
            backend: self.backend.kind().name().into(),
            set: P::ALGORITHM.set_name().into(),
            round: Some(round_number(P::ALGORITHM)),
        }
    }

    fn keypair(&self) -> Result<Keypair> {
        let key = fresh_key::<P>()?;
        let public = hazmat::verifying_key(self.backend, &key);
        Ok(Keypair { secret: key.as_ref().to_vec(), public: public.as_ref().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        Ok(self.sign_with(&SigningKey::try_from(&key.secret[..])?, message)?.as_ref().to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let (Ok(key), Ok(signature)) = (VerifyingKey::<P>::try_from(public_key), Signature::try_from(signature)) else {
            return false;
        };
        hazmat::verify(self.backend, &key, &MessageDigest::of(message), &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let backend = self.backend;
        let key = fresh_key::<P>()?;
        let public_key = hazmat::verifying_key(backend, &key);
        let expanded = hazmat::expand_signing_key(backend, &key);
        let expanded_public = hazmat::expand_verifying_key(backend, &public_key);
        let signed = (0..SIGNATURES)
            .map(|_| {
                let message = Random::bytes::<MESSAGE_BYTES>();
                Ok((message, self.sign_with(&key, &message)?))
            })
            .collect::<Result<Vec<_>>>()?;
        let checked = expanded.clone().checked(&public_key);
        let checked_keys = (key.clone(), public_key);
        let mut next = signed.clone().into_iter().cycle();
        let mut next_expanded = signed.into_iter().cycle();
        let expand_key = key.clone();
        let expand_public_key = public_key;
        Ok(vec![
            Operation::new("keygen", move || {
                black_box(hazmat::verifying_key(backend, &fresh_key::<P>()?));
                Ok(())
            }),
            expand_p(
                backend,
                *public_key.as_ref().first_chunk().context("a public key begins with a seed")?,
                P::P_BYTES,
            ),
            Operation::new("expand_sk", move || {
                black_box(hazmat::expand_signing_key(backend, &expand_key));
                Ok(())
            }),
            Operation::new("expand_pk", move || {
                black_box(hazmat::expand_verifying_key(backend, &expand_public_key));
                Ok(())
            }),
            Operation::new("sign", move || {
                let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
                black_box(hazmat::sign(backend, &key, &digest, &randomizer::<P>()[..P::SALT_BYTES])?);
                Ok(())
            }),
            Operation::new("verify", move || {
                let (message, signature) = next.next().context("there are signatures")?;
                Ok(hazmat::verify(backend, &public_key, &MessageDigest::of(&message), &signature)?)
            }),
            Operation::new("sign_expanded", move || {
                let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
                black_box(hazmat::sign_expanded(backend, &expanded, &digest, &randomizer::<P>()[..P::SALT_BYTES])?);
                Ok(())
            }),
            Operation::new("verify_expanded", move || {
                let (message, signature) = next_expanded.next().context("there are signatures")?;
                Ok(hazmat::verify_expanded(backend, &expanded_public, &MessageDigest::of(&message), &signature)?)
            }),
            Operation::new("sign_checked", move || {
                let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
                let keys = (&checked_keys.0, &checked_keys.1);
                black_box(hazmat::sign_checked(backend, keys, &digest, &randomizer::<P>()[..P::SALT_BYTES])?);
                Ok(())
            }),
            Operation::new("sign_expanded_checked", move || {
                let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
                black_box(hazmat::sign_expanded(backend, &checked, &digest, &randomizer::<P>()[..P::SALT_BYTES])?);
                Ok(())
            }),
        ])
    }
}

/// A fresh secret key.
pub(crate) fn fresh_key<P: ParameterSet>() -> Result<SigningKey<P>> {
    let mut seed = [0; MAX_SEED_BYTES];
    let seed = &mut seed[..P::SECRET_KEY_BYTES];
    Random::fill(seed);
    Ok(SigningKey::try_from(&*seed)?)
}

/// An array that begins with a fresh randomizer of `SALT_BYTES` bytes.
fn randomizer<P: ParameterSet>() -> [u8; MAX_SEED_BYTES] {
    let mut randomizer = [0; MAX_SEED_BYTES];
    Random::fill(&mut randomizer[..P::SALT_BYTES]);
    randomizer
}

/// The key stream of P1 and P2, the lower bound for every operation with compact keys.
fn expand_p(backend: DetectedBackend, seed: [u8; PUBLIC_SEED_BYTES], bytes: usize) -> Operation {
    // The memory begins at a cache line, as inside the operations, so that no wide store straddles
    // two.
    let mut memory = vec![0; bytes + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    Operation::new("expand_p", move || {
        let p = &mut memory[start..][..bytes];
        hazmat::expand_p(backend, &seed, p);
        black_box(p);
        Ok(())
    })
}

/// Bytes in the longest secret key, and in the longest salt.
const MAX_SEED_BYTES: usize = 40;
const ALIGNMENT: usize = 64;
