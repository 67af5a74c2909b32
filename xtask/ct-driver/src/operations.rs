//! The operations of the scheme that know secrets.

use crate::checker::Checker;
use crate::systems;
use aioli::backend::Backend;
use aioli::hazmat::{expanded_signing_key_from_parts, on};
use aioli::params::ByteArray;
use aioli::{Error, ExpandedSigningKey, MessageDigest, ParameterSet, Round, SigningKey};

/// Key generation, key expansion, signing with either kind of key, and the solver by itself.
pub(crate) fn run<P: ParameterSet, B: Backend>(b: B, checker: &mut Checker) {
    let digest = MessageDigest::<P>::of(b"the same message for all secrets");
    let zero = P::DigestBytes::ZERO;
    let randomizer = &zero.as_ref()[..P::SALT_BYTES];
    // The number of samples is public, so only keys for which the first one succeeds are compared.
    let keys: Vec<SigningKey<P>> = (0..)
        .map(key::<P>)
        .filter(|key| on::sign(b, key, &digest, randomizer, 1).is_ok())
        .take(checker.keys())
        .collect();
    let count = keys.len();

    // Keys are cloned each time, so that every secret lies at the same address.
    checker.operation("keygen", count, |secret, section| {
        let key = keys[secret].clone();
        section.enter(|| keep(on::verifying_key(b, &key)));
    });
    checker.operation("expand_sk", count, |secret, section| {
        let key = keys[secret].clone();
        section.enter(|| keep(on::expand_signing_key(b, &key)));
    });
    checker.operation("sign", count, |secret, section| {
        let key = keys[secret].clone();
        section.enter(|| keep(on::sign(b, &key, &digest, randomizer, 1)));
    });
    checker.operation("sign_expanded", count, |secret, section| {
        let key = on::expand_signing_key(b, &keys[secret]);
        section.enter(|| keep(on::sign_expanded(b, &key, &digest, randomizer, 1)));
    });
    systems::run::<P, B>(b, checker);
    if P::ROUND == Round::Three {
        // Its linear map gives the system full rank by itself, so the path to a second sample is
        // checked in round 2.
        return;
    }
    checker.operation("sign_expanded, no sample succeeds", count, |secret, section| {
        let key = unusable(&keys[secret]);
        section.enter(|| {
            let result = on::sign_expanded(b, &key, &digest, randomizer, 2);
            assert_eq!(result, Err(Error::SamplesExhausted), "the zero map has no rank");
        });
    });
}

/// Different secret keys for different numbers.
fn key<P: ParameterSet>(number: u8) -> SigningKey<P> {
    let mut seed = P::SecretKeyBytes::ZERO;
    for (i, byte) in seed.as_mut().iter_mut().enumerate() {
        *byte = (i as u8).wrapping_mul(29).wrapping_add(number.wrapping_mul(83));
    }
    SigningKey::from_seed(seed)
}

/// An expanded key of zero maps. Every linear system of signing is singular with it, and the next
/// sample is tried.
fn unusable<P: ParameterSet>(key: &SigningKey<P>) -> ExpandedSigningKey<P> {
    let (oil, p1_q) = (vec![0; P::V * P::O], vec![0; P::P_BYTES]);
    Checker::secret(&oil);
    // P1 is public: memory may be addressed by it.
    Checker::secret(&p1_q[P::P1_BYTES..]);
    expanded_signing_key_from_parts(key, &oil, &p1_q).expect("lengths of an expanded key")
}

/// Makes the compiler compute a value, and drops it.
fn keep<T>(value: T) {
    drop(std::hint::black_box(value));
}
