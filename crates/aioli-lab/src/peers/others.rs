//! Other signature schemes in Rust, for scale: Ed25519, and ML-DSA-44.

use super::{Keypair, MESSAGE_BYTES, SIGNATURES, Scheme};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::{Label, version};
use aioli::signature::{Keypair as _, SignatureEncoding, Signer, Verifier};
use anyhow::{Context, Result, anyhow};
use ml_dsa::{KeyExport, KeyInit, MlDsa44};
use std::hint::black_box;

/// All of them.
pub(super) fn schemes() -> Vec<Box<dyn Scheme>> {
    vec![Box::new(Ed25519), Box::new(MlDsa)]
}

struct Ed25519;

impl Scheme for Ed25519 {
    fn label(&self) -> Label {
        label("ed25519-dalek", "Ed25519")
    }

    fn keypair(&self) -> Result<Keypair> {
        let key = ed25519_dalek::SigningKey::from_bytes(&Random::bytes());
        Ok(Keypair { secret: key.to_bytes().to_vec(), public: key.verifying_key().to_bytes().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let key = ed25519_dalek::SigningKey::from_bytes(key.secret[..].try_into()?);
        Ok(key.try_sign(message)?.to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = public_key.try_into().map(ed25519_dalek::VerifyingKey::from_bytes);
        let (Ok(Ok(key)), Ok(signature)) = (key, ed25519_dalek::Signature::from_slice(signature)) else {
            return false;
        };
        key.verify(message, &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let key = ed25519_dalek::SigningKey::from_bytes(&Random::bytes());
        let public_key = key.verifying_key();
        operations(key, public_key, || {
            black_box(ed25519_dalek::SigningKey::from_bytes(&Random::bytes()).verifying_key().to_bytes());
        })
    }
}

/// Its signing key is kept expanded between signatures.
struct MlDsa;

type MlDsaKey = ml_dsa::SigningKey<MlDsa44>;

impl Scheme for MlDsa {
    fn label(&self) -> Label {
        label("ml-dsa", "ML-DSA-44")
    }

    fn keypair(&self) -> Result<Keypair> {
        let key = MlDsaKey::from_seed(&Random::bytes::<32>().into());
        Ok(Keypair { secret: key.as_seed().to_vec(), public: key.verifying_key().to_bytes().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let key = MlDsaKey::from_seed(&<[u8; 32]>::try_from(&key.secret[..])?.into());
        Ok(key.try_sign(message)?.to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = ml_dsa::VerifyingKey::<MlDsa44>::new_from_slice(public_key);
        let (Ok(key), Ok(signature)) = (key, ml_dsa::Signature::try_from(signature)) else { return false };
        key.verify(message, &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let key = MlDsaKey::from_seed(&Random::bytes::<32>().into());
        let public_key = key.verifying_key();
        operations(key, public_key, || {
            black_box(MlDsaKey::from_seed(&Random::bytes::<32>().into()).verifying_key().to_bytes());
        })
    }
}

fn label(implementation: &str, set: &str) -> Label {
    Label {
        implementation: implementation.into(),
        version: version(implementation),
        // They look for vector instructions themselves when they run.
        backend: "default".into(),
        set: set.into(),
        round: None,
    }
}

/// The operations of a crate with the traits of `signature`.
fn operations<S: Clone + 'static>(
    key: impl Signer<S> + 'static,
    public_key: impl Verifier<S> + 'static,
    mut keygen: impl FnMut() + 'static,
) -> Result<Vec<Operation>> {
    let signed = (0..SIGNATURES)
        .map(|_| {
            let message = Random::bytes::<MESSAGE_BYTES>();
            Ok((message, key.try_sign(&message).map_err(|error| anyhow!("{error}"))?))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut next = signed.into_iter().cycle();
    Ok(vec![
        Operation::new("keygen", move || {
            keygen();
            Ok(())
        }),
        Operation::new("sign", move || {
            black_box(key.try_sign(&Random::bytes::<MESSAGE_BYTES>())?);
            Ok(())
        }),
        Operation::new("verify", move || {
            let (message, signature) = next.next().context("there are signatures")?;
            Ok(public_key.verify(&message, &signature)?)
        }),
    ])
}
