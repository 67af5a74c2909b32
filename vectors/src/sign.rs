//! Signatures to make from seed, message and randomizer.

use crate::file::{File, Flag, Group, Test, Verdict};
use crate::material::{bytes, key, shake256, sign_with};
use aioli::{Algorithm, Error, ParameterSet, SigningKey, hazmat, with_set};

pub(crate) fn file() -> File {
    File {
        name: "sign.json".into(),
        header: "Secret keys, messages and randomizers R: the signature of each.",
        groups: Algorithm::ALL.map(|algorithm| with_set!(algorithm, P => group::<P>())).into(),
    }
}

fn group<P: ParameterSet>() -> Group {
    let key = key::<P>();
    let mut group = Group::new("MayoSign", P::ALGORITHM).seed(key.as_ref());
    let mut add = |flag, comment: &str, message: &[u8], randomizer: &[u8]| {
        let signature = sign_with(&key, message, randomizer, 256).expect("one of 256 samples has a solution");
        let test = Test::new(Verdict::Valid, &[flag], comment).randomizer(randomizer);
        group.push(test.signed(message, signature.as_ref()));
    };
    let zero = vec![0; P::SALT_BYTES];
    add(Flag::Valid, "randomizer of zeros", b"Aioli", &zero);
    add(Flag::MessageLength, "empty message", b"", &bytes("randomizer", P::SALT_BYTES));
    let mut derived = zero.clone();
    hazmat::derive_randomizer::<P>(key.as_seed(), &[], &mut derived).expect("room for a randomizer");
    add(Flag::Deterministic, "aioli's deterministic signature", b"Aioli", &derived);

    let message = several_samples(P::ALGORITHM).to_be_bytes();
    let first = sign_with(&key, &message, &zero, 1);
    assert_eq!(first, Err(Error::SamplesExhausted), "{}: search for another message", P::ALGORITHM);
    add(Flag::SeveralSamples, "the first sample has no solution", &message, &zero);
    if P::V % 2 == 1 {
        let mut messages = (0u32..).map(u32::to_be_bytes);
        let message = messages.find(|message| unused_nibbles(&key, message, &zero)).expect("endless");
        add(Flag::UnusedNibbles, "non-zero nibbles behind odd lengths", &message, &zero);
    }
    group
}

/// The first number that, as a message, needs a second sample.
///
/// Found by search: with e more unknowns than equations, one message in about 16^(e+1) does.
fn several_samples(algorithm: Algorithm) -> u32 {
    match algorithm {
        Algorithm::Mayo1 => 7,
        Algorithm::Mayo2 => 340,
        Algorithm::Mayo3 => 659,
        Algorithm::Mayo5 => 8736,
        Algorithm::Mayo1Round2 => 6509,
        Algorithm::Mayo2Round2 => 59763,
        Algorithm::Mayo3Round2 => 2124,
        Algorithm::Mayo5Round2 => 2632,
    }
}

/// Whether the hash puts something into the unused nibble of O, of the first v_1, and of r.
fn unused_nibbles<P: ParameterSet>(key: &SigningKey<P>, message: &[u8], randomizer: &[u8]) -> bool {
    let seed = key.as_ref();
    let oil = shake256(&[seed], aioli::params::PUBLIC_SEED_BYTES + P::O_BYTES);
    let digest = shake256(&[message], P::DIGEST_BYTES);
    let salt = shake256(&[&digest, randomizer, seed], P::SALT_BYTES);
    let sample = shake256(&[&digest, &salt, seed, &[0]], P::K * P::V_BYTES + P::R_BYTES);
    [oil.last(), sample.get(P::V_BYTES - 1), sample.last()].iter().all(|byte| byte.is_some_and(|byte| byte >> 4 != 0))
}
