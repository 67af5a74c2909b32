//! The operations to test, each with a pool of fixed and one of random secrets.
//!
//! Both pools are equally large, and a secret is copied from its pool to where the operation reads
//! it. So neither class is nearer to the processor than the other.

use crate::random::Random;
use crate::techniques::Technique;
use aioli::backend::{Backend, DetectedBackend};
use aioli::hazmat;
use aioli::packed::{Coefficients, Operand, Output, decode};
use aioli::params::{ByteArray, ParameterSet};
use aioli::{Error, ExpandedSigningKey, MessageDigest, SigningKey};
use anyhow::Result;
use std::cell::RefCell;
use std::rc::Rc;

/// An operation on secrets of two classes.
pub(super) struct Subject {
    pub(super) name: &'static str,
    /// Makes a secret the next one: whether it is fixed, and its number below [`SECRETS`].
    pub(super) prepare: Box<dyn FnMut(bool, usize)>,
    /// Runs the operation with that secret.
    pub(super) run: Box<dyn FnMut()>,
}

/// Signing, solving and decoding with a set.
///
/// # Errors
///
/// If this machine cannot run the backend.
pub(super) fn all<P: ParameterSet>(backend: DetectedBackend) -> Result<Vec<Subject>> {
    let b = Technique::library(backend.kind()).token()?;
    Ok(vec![sign::<P>(backend, b), solve::<P>(b), decoding::<P>(b)])
}

/// Signing with expanded keys of one P: seeds and oil spaces differ.
fn sign<P: ParameterSet>(backend: DetectedBackend, b: impl Backend) -> Subject {
    let mut p = vec![0; P::P_BYTES];
    hazmat::expand_p(backend, &[0x5a; 16], &mut p);
    let digest = MessageDigest::<P>::of(b"the same message for all secrets");
    let randomizer = vec![0; P::SALT_BYTES];
    let try_sign = move |key: &ExpandedSigningKey<P>, samples| match samples {
        1 => hazmat::on::sign_expanded(b, key, &digest, &randomizer, 1),
        _ => hazmat::sign_expanded(backend, key, &digest, &randomizer),
    };
    // The number of samples is public, so only keys for which the first one succeeds are compared.
    let usable = || loop {
        let parts = Parts::<P>::random(b, &p);
        if try_sign(&parts.key(), 1) != Err(Error::SamplesExhausted) {
            return parts;
        }
    };
    let pools = pools(usable);
    let current = Rc::new(RefCell::new(None));
    let next = Rc::clone(&current);
    Subject {
        name: "sign_expanded",
        prepare: Box::new(move |class, number| {
            // The memory of the last key is free before that of the next is taken.
            *next.borrow_mut() = None;
            *next.borrow_mut() = Some(pools[usize::from(class)][number].key());
        }),
        run: Box::new(move || {
            let key = current.borrow();
            _ = std::hint::black_box(try_sign(key.as_ref().expect("a secret was chosen"), 0));
        }),
    }
}

/// A secret key in parts.
#[derive(Clone)]
struct Parts<P: ParameterSet> {
    seed: P::SecretKeyBytes,
    /// O, V rows of O elements.
    oil: Vec<u8>,
    /// P1 and then Q = P2 + (O^T P1)'.
    p1_q: Vec<u8>,
}

impl<P: ParameterSet> Parts<P> {
    /// A random key of the given P.
    fn random<B: Backend>(b: B, p: &[u8]) -> Self {
        let mut seed = P::SecretKeyBytes::ZERO;
        Random::fill(seed.as_mut());
        Self::of(b, p, seed, bytes(P::V * P::O).into_iter().map(|byte| byte & 15).collect())
    }

    /// The key of a P, a seed and an O.
    fn of<B: Backend>(b: B, p: &[u8], seed: P::SecretKeyBytes, oil: Vec<u8>) -> Self {
        let mut p1_q = p.to_vec();
        let (p1, q) = p1_q.split_at_mut(P::P1_BYTES);
        let row_bytes = P::V * P::M_BYTES;
        let mut oil_p1 = vec![0; P::O * row_bytes];
        let p1 = Operand::upper(p1, P::V, row_bytes, P::M_BYTES).public();
        b.left_product(Coefficients::new(&oil, P::O, P::O), p1, Output::replace(&mut oil_p1, row_bytes));
        for (place, q) in q.chunks_exact_mut(P::M_BYTES).enumerate() {
            let from = (place % P::O) * row_bytes + place / P::O * P::M_BYTES;
            q.iter_mut().zip(&oil_p1[from..]).for_each(|(q, byte)| *q ^= byte);
        }
        Self { seed, oil, p1_q }
    }

    fn key(&self) -> ExpandedSigningKey<P> {
        let key = SigningKey::from_seed(self.seed);
        hazmat::expanded_signing_key_from_parts(&key, &self.oil, &self.p1_q).expect("lengths of an expanded key")
    }
}

/// Solving. The fixed system has a zero and a repeated column, random ones have few such.
fn solve<P: ParameterSet>(b: impl Backend) -> Subject {
    let mut pools = pools(|| bytes((P::K * P::O + 1) * P::M_BYTES));
    for system in &mut pools[1] {
        system[..P::M_BYTES].fill(0);
        system.copy_within(3 * P::M_BYTES..4 * P::M_BYTES, 9 * P::M_BYTES);
    }
    let mut x = vec![0; P::K * P::O];
    on_copies("solve", pools, move |columns| {
        std::hint::black_box(b.solve(columns, P::M, &mut x));
    })
}

/// Unpacking vinegar variables. It is repeated to be long against the clock's steps.
fn decoding<P: ParameterSet>(b: impl Backend) -> Subject {
    let mut v = vec![0; P::K * P::V];
    on_copies("decode", pools(|| bytes(P::K * P::V.div_ceil(2))), move |bytes| {
        for _ in 0..DECODINGS {
            b.vectorize(
                #[inline(always)]
                || decode(std::hint::black_box(bytes), &mut v),
            );
            std::hint::black_box(&mut v);
        }
    })
}

/// An operation on bytes, which it may overwrite.
fn on_copies(name: &'static str, pools: [Vec<Vec<u8>>; 2], mut run: impl FnMut(&mut [u8]) + 'static) -> Subject {
    let current = Rc::new(RefCell::new(pools[0][0].clone()));
    let next = Rc::clone(&current);
    Subject {
        name,
        prepare: Box::new(move |class, number| next.borrow_mut().copy_from_slice(&pools[usize::from(class)][number])),
        run: Box::new(move || run(&mut current.borrow_mut())),
    }
}

/// Random secrets, and as many copies of a fixed one.
fn pools<T: Clone>(mut secret: impl FnMut() -> T) -> [Vec<T>; 2] {
    let random = (0..SECRETS).map(|_| secret()).collect();
    [random, vec![secret(); SECRETS]]
}

fn bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Random::fill(&mut bytes);
    bytes
}

/// Secrets of each class; few in a build without optimization, which is for tests.
pub(super) const SECRETS: usize = if cfg!(debug_assertions) { 2 } else { 32 };
/// Decodings in a run.
const DECODINGS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use aioli::round2::Mayo1 as Round2;
    use aioli::round3::Mayo2;

    /// A signature that verifies under P and P3 of the parts shows that Q belongs to O and P.
    fn parts_are_a_key<P: ParameterSet>() {
        let backend = DetectedBackend::best();
        let b = Technique::library(backend.kind()).token().unwrap();
        let key = SigningKey::<P>::generate_from_rng(&mut Random).unwrap();
        let public = hazmat::verifying_key(backend, &key);
        let mut p = vec![0; P::P_BYTES];
        hazmat::expand_p(backend, public.as_ref()[..16].try_into().unwrap(), &mut p);
        let mut seeds = vec![0; 16 + P::O_BYTES];
        b.shake256(&[&[key.as_ref()]], &mut [&mut seeds]);
        let mut oil = vec![0; P::V * P::O];
        decode(&seeds[16..], &mut oil);
        let own = Parts::<P>::of(b, &p, *key.as_seed(), oil).key();
        let digest = MessageDigest::<P>::of(b"message");
        let signature = hazmat::sign_expanded(backend, &own, &digest, &vec![0; P::SALT_BYTES]).unwrap();
        hazmat::verify(backend, &public, &digest, &signature).unwrap();
    }

    #[test]
    fn signatures_by_parts_verify() {
        parts_are_a_key::<Mayo2>();
        parts_are_a_key::<Round2>();
    }
}
