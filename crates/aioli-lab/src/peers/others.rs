//! Other signature algorithms in Rust: Ed25519 and ML-DSA-44 for scale, also ML-DSA-65 and ECDSA
//! P-256 for inspection.

use super::{Implementation, Keypair, MESSAGE_BYTES, SIGNATURES};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::{Label, version};
use aioli::signature::{Keypair as _, SignatureEncoding, Signer, Verifier};
use anyhow::{Context, Result, anyhow};
use ml_dsa::{KeyExport, KeyInit, MlDsa44, MlDsa65, MlDsaParams};
use std::hint::black_box;
use std::marker::PhantomData;

/// The algorithms that are timed.
pub(super) fn for_scale() -> Vec<Box<dyn Implementation>> {
    vec![Box::new(Ed25519), Box::new(MlDsa::<MlDsa44>::new("ML-DSA-44"))]
}

/// The algorithms whose keys and signatures are inspected.
pub(super) fn inspected() -> Vec<Box<dyn Implementation>> {
    let mut implementations = for_scale();
    implementations.push(Box::new(MlDsa::<MlDsa65>::new("ML-DSA-65")));
    implementations.push(Box::new(P256));
    implementations
}

struct Ed25519;

impl Implementation for Ed25519 {
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

/// ML-DSA; its signing key is kept expanded between signatures.
struct MlDsa<P> {
    name: &'static str,
    set: PhantomData<P>,
}

impl<P> MlDsa<P> {
    fn new(name: &'static str) -> Self {
        Self { name, set: PhantomData }
    }
}

impl<P: MlDsaParams + 'static> Implementation for MlDsa<P> {
    fn label(&self) -> Label {
        label("ml-dsa", self.name)
    }

    fn keypair(&self) -> Result<Keypair> {
        let key = ml_dsa::SigningKey::<P>::from_seed(&Random::bytes::<32>().into());
        Ok(Keypair { secret: key.as_seed().to_vec(), public: key.verifying_key().to_bytes().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let key = ml_dsa::SigningKey::<P>::from_seed(&<[u8; 32]>::try_from(&key.secret[..])?.into());
        Ok(key.try_sign(message)?.to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = ml_dsa::VerifyingKey::<P>::new_from_slice(public_key);
        let (Ok(key), Ok(signature)) = (key, ml_dsa::Signature::try_from(signature)) else { return false };
        key.verify(message, &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let key = ml_dsa::SigningKey::<P>::from_seed(&Random::bytes::<32>().into());
        let public_key = key.verifying_key();
        operations(key, public_key, || {
            black_box(ml_dsa::SigningKey::<P>::from_seed(&Random::bytes::<32>().into()).verifying_key().to_bytes());
        })
    }
}

struct P256;

impl P256 {
    fn key() -> Result<p256::ecdsa::SigningKey> {
        // Nearly every string of 32 bytes is a scalar of the curve.
        Ok(p256::ecdsa::SigningKey::from_slice(&Random::bytes::<32>())?)
    }
}

impl Implementation for P256 {
    fn label(&self) -> Label {
        label("p256", "ECDSA P-256")
    }

    fn keypair(&self) -> Result<Keypair> {
        let key = Self::key()?;
        let public = key.verifying_key().to_sec1_point(false);
        Ok(Keypair { secret: key.to_bytes().to_vec(), public: public.as_bytes().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let signature: p256::ecdsa::Signature = p256::ecdsa::SigningKey::from_slice(&key.secret)?.try_sign(message)?;
        Ok(signature.to_bytes().to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(public_key);
        let (Ok(key), Ok(signature)) = (key, p256::ecdsa::Signature::from_slice(signature)) else { return false };
        key.verify(message, &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let key = Self::key()?;
        let public_key = *key.verifying_key();
        operations::<p256::ecdsa::Signature>(key, public_key, || {
            black_box(Self::key().map(|key| key.verifying_key().to_sec1_point(false)).ok());
        })
    }
}

fn label(implementation: &str, set: &str) -> Label {
    Label {
        implementation: implementation.into(),
        version: version(implementation),
        // These crates detect vector instructions themselves at run time.
        backend: "default".into(),
        set: set.into(),
        round: None,
    }
}

/// The operations of a crate that implements the traits of the crate `signature`.
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
