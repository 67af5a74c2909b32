//! pq-mayo, another implementation of round 2 in Rust.

use super::{Implementation, Keypair, MESSAGE_BYTES, SIGNATURES};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::{Label, version};
use aioli::Algorithm;
use aioli::signature::Verifier;
use anyhow::{Context, Result, anyhow};
use pq_mayo::{ExpandedSigningKey, ExpandedVerifyingKey, KeyPair, MayoParameter, Signature, SigningKey, VerifyingKey};
use std::hint::black_box;
use std::marker::PhantomData;

/// pq-mayo with this set, if it has it. Its MAYO_2 is an interim set that belongs to neither round.
pub(super) fn implementation(algorithm: Algorithm) -> Option<Box<dyn Implementation>> {
    let set = algorithm.set_name();
    match algorithm {
        Algorithm::Mayo1Round2 => Some(Box::new(PqMayo::<pq_mayo::Mayo1> { set, parameters: PhantomData })),
        Algorithm::Mayo3Round2 => Some(Box::new(PqMayo::<pq_mayo::Mayo3> { set, parameters: PhantomData })),
        Algorithm::Mayo5Round2 => Some(Box::new(PqMayo::<pq_mayo::Mayo5> { set, parameters: PhantomData })),
        _ => None,
    }
}

struct PqMayo<P> {
    set: &'static str,
    parameters: PhantomData<P>,
}

impl<P: MayoParameter + 'static> Implementation for PqMayo<P> {
    fn label(&self) -> Label {
        Label {
            implementation: "pq-mayo".into(),
            version: version("pq-mayo"),
            // It detects AVX2 itself at run time.
            backend: "default".into(),
            set: self.set.into(),
            round: Some(2),
        }
    }

    fn keypair(&self) -> Result<Keypair> {
        let pair = fresh_pair::<P>()?;
        Ok(Keypair { secret: pair.signing_key().as_ref().to_vec(), public: pair.verifying_key().as_ref().to_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let key = SigningKey::<P>::try_from(&key.secret[..]).map_err(|error| anyhow!("{error}"))?;
        let signature = key.sign_with_rng(&mut Random, message).map_err(|error| anyhow!("{error}"))?;
        Ok(signature.as_ref().to_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let (Ok(key), Ok(signature)) = (VerifyingKey::<P>::try_from(public_key), Signature::<P>::try_from(signature))
        else {
            return false;
        };
        key.verify(message, &signature).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let pair = fresh_pair::<P>()?;
        let key = pair.signing_key().clone();
        let public_key = pair.verifying_key().clone();
        let expanded = key.expand();
        let expanded_public = public_key.expand();
        let signed = (0..SIGNATURES)
            .map(|_| {
                let message = Random::bytes::<MESSAGE_BYTES>();
                let signature = key.sign_with_rng(&mut Random, &message).map_err(|error| anyhow!("{error}"))?;
                Ok((message, signature))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut next = signed.clone().into_iter().cycle();
        let mut next_expanded = signed.into_iter().cycle();
        let expand_key = key.clone();
        let expand_public_key = public_key.clone();
        Ok(vec![
            Operation::new("keygen", || {
                black_box(fresh_pair::<P>()?);
                Ok(())
            }),
            Operation::new("expand_sk", move || {
                black_box::<ExpandedSigningKey<P>>(expand_key.expand());
                Ok(())
            }),
            Operation::new("expand_pk", move || {
                black_box::<ExpandedVerifyingKey<P>>(expand_public_key.expand());
                Ok(())
            }),
            Operation::new("sign", move || {
                let message = Random::bytes::<MESSAGE_BYTES>();
                black_box(key.sign_with_rng(&mut Random, &message).map_err(|error| anyhow!("{error}"))?);
                Ok(())
            }),
            Operation::new("verify", move || {
                let (message, signature) = next.next().context("there are signatures")?;
                Ok(public_key.verify(&message, &signature)?)
            }),
            Operation::new("sign_expanded", move || {
                let message = Random::bytes::<MESSAGE_BYTES>();
                black_box(expanded.sign_with_rng(&mut Random, &message).map_err(|error| anyhow!("{error}"))?);
                Ok(())
            }),
            Operation::new("verify_expanded", move || {
                let (message, signature) = next_expanded.next().context("there are signatures")?;
                Ok(expanded_public.verify(&message, &signature)?)
            }),
        ])
    }
}

fn fresh_pair<P: MayoParameter>() -> Result<KeyPair<P>> {
    KeyPair::generate(&mut Random).map_err(|error| anyhow!("{error}"))
}
