//! One seed in two sets, which SECURITY.md forbids, and what deriving the randomizer saves.
//!
//! MAYO_3 and MAYO_5 have the same numbers in both rounds. So with one seed, one message and equal
//! randomizers both rounds sign with the same O, the same salt and the same vinegar vectors:
//!
//! ```text
//! s_i = (v_i + O x_i) || x_i  in round 3,  (v_i + O x'_i) || x'_i  in round 2
//! s_i - s'_i = O d_i || d_i,  d_i = x_i - x'_i
//! ```
//!
//! k differences whose d_i span GF(16)^o give O by linear algebra.

use crate::random::Random;
use aioli::backend::{DetectedBackend, Portable};
use aioli::{
    Algorithm, Error, MessageDigest, ParameterSet, Signature, SigningKey, gf16, hazmat, round2, round3, with_set,
};
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};
use signature::RandomizedSigner;

/// Messages to try: with most of them both rounds solve the first sample and the d_i span, and one
/// is enough.
const MESSAGES: u8 = 8;

/// A way to sign a message with a key.
trait Way {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P>;
}

/// The attack: for each message, takes O from the difference of the two signatures; whether one of
/// them is the O of the seed.
fn recovers_oil<Three, Two>(way: &impl Way) -> bool
where
    Three: ParameterSet,
    Two: ParameterSet<SecretKeyBytes = Three::SecretKeyBytes>,
{
    let key = SigningKey::<Three>::generate_from_rng(&mut Random::new("one seed, two sets")).unwrap();
    let same_seed = SigningKey::<Two>::from_seed(*key.as_seed());
    assert_eq!(key.verifying_key().as_ref(), same_seed.verifying_key().as_ref(), "one public key in both rounds");
    let oil = oil_of(&key);
    (0..MESSAGES).any(|message| {
        let three = way.sign(&key, &[message]);
        let two = way.sign(&same_seed, &[message]);
        let digest = MessageDigest::<Three>::of(&[message]);
        assert_eq!(key.verifying_key().verify_digest(&digest, &three), Ok(()));
        oil_from_difference::<Three>(three.as_ref(), two.as_ref()).is_some_and(|found| found == oil)
    })
}

/// O by its definition, v rows of o elements: SHAKE256 of the seed behind the public seed.
pub(crate) fn oil_of<P: ParameterSet>(key: &SigningKey<P>) -> Vec<u8> {
    let mut hash = vec![0; 16 + P::O_BYTES];
    shake256(&[key.as_ref()], &mut hash);
    elements(&hash[16..])[..P::V * P::O].to_vec()
}

/// Solves D O^T = W, where row i of D is d_i and row i of W is O d_i; none if the d_i do not span.
pub(crate) fn oil_from_difference<P: ParameterSet>(a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
    let vectors_bytes = P::SIGNATURE_BYTES - P::SALT_BYTES;
    let difference: Vec<u8> = a.iter().zip(b).take(vectors_bytes).map(|(a, b)| a ^ b).collect();
    let difference = elements(&difference);
    // Rows [d_i | O d_i]; elimination turns the first o of them into [1 | O^T].
    let mut rows: Vec<Vec<u8>> =
        (difference.chunks_exact(P::N).take(P::K)).map(|row| [&row[P::V..], &row[..P::V]].concat()).collect();
    for column in 0..P::O {
        let pivot = (column..rows.len()).find(|&i| rows[i][column] != 0)?;
        rows.swap(column, pivot);
        let inverse = gf16::inverse(rows[column][column]);
        rows[column].iter_mut().for_each(|element| *element = gf16::mul(*element, inverse));
        let pivot_row = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|&(i, _)| i != column) {
            let factor = row[column];
            row.iter_mut().zip(&pivot_row).for_each(|(element, &pivot)| *element ^= gf16::mul(factor, pivot));
        }
    }
    Some((0..P::V).flat_map(|j| rows[..P::O].iter().map(move |row| row[P::O + j])).collect())
}

fn elements(packed: &[u8]) -> Vec<u8> {
    packed.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect()
}

fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    let mut hasher = Shake256::default();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize_xof().read(out);
}

/// `hazmat` with the randomizer as it is given: zeros.
struct RawZeros;

impl Way for RawZeros {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        hazmat::sign(DetectedBackend::best(), key, &MessageDigest::of(message), &vec![0; P::SALT_BYTES]).unwrap()
    }
}

struct Deterministic;

impl Way for Deterministic {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        key.sign_deterministic(message).unwrap()
    }
}

struct DeterministicExpanded;

impl Way for DeterministicExpanded {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        key.expand().sign_deterministic(message).unwrap()
    }
}

/// On the caller's memory.
struct DeterministicInPlace;

impl Way for DeterministicInPlace {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        let window = &mut vec![0; P::P_BYTES];
        let memory = &mut vec![0; hazmat::in_place::sign_memory::<P>(P::V)];
        let digest = MessageDigest::of(message);
        hazmat::in_place::sign(Portable::new(), key.as_seed(), &digest, None, window, memory).unwrap()
    }
}

/// A random source that gives the same bytes to both rounds.
struct RepeatedRandomness;

impl Way for RepeatedRandomness {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        key.sign_with_rng(&mut Random::new("a source that repeats"), message)
    }
}

struct RepeatedRandomnessExpanded;

impl Way for RepeatedRandomnessExpanded {
    fn sign<P: ParameterSet>(&self, key: &SigningKey<P>, message: &[u8]) -> Signature<P> {
        key.expand().sign_with_rng(&mut Random::new("a source that repeats"), message)
    }
}

#[test]
fn one_seed_in_both_rounds_gives_the_oil_space_away_with_equal_raw_randomizers() {
    assert!(recovers_oil::<round3::Mayo3, round2::Mayo3>(&RawZeros));
    assert!(recovers_oil::<round3::Mayo5, round2::Mayo5>(&RawZeros));
}

#[test]
fn one_seed_in_both_rounds_keeps_the_oil_space_through_the_api() {
    let recovered = [
        ("deterministic", recovers_oil::<round3::Mayo3, round2::Mayo3>(&Deterministic)),
        ("deterministic, MAYO_5", recovers_oil::<round3::Mayo5, round2::Mayo5>(&Deterministic)),
        ("deterministic, expanded", recovers_oil::<round3::Mayo3, round2::Mayo3>(&DeterministicExpanded)),
        ("deterministic, in place", recovers_oil::<round3::Mayo3, round2::Mayo3>(&DeterministicInPlace)),
        ("repeated randomness", recovers_oil::<round3::Mayo3, round2::Mayo3>(&RepeatedRandomness)),
        ("repeated randomness, MAYO_5", recovers_oil::<round3::Mayo5, round2::Mayo5>(&RepeatedRandomness)),
        ("repeated randomness, expanded", recovers_oil::<round3::Mayo3, round2::Mayo3>(&RepeatedRandomnessExpanded)),
    ];
    assert_eq!(recovered.map(|(way, recovered)| if recovered { way } else { "" }), [""; 7]);
}

fn derived_by_the_formula<P: ParameterSet>() {
    let key = SigningKey::<P>::generate_from_rng(&mut Random::new("derived")).unwrap();
    let fresh = Random::new("fresh").bytes(P::SALT_BYTES);
    let name = P::ALGORITHM.name();
    let prefix = [&b"aioli randomizer"[..], &[name.len() as u8], name.as_bytes()].concat();
    let digest = MessageDigest::of(b"a message");
    let signatures = [
        (&[][..], key.sign_deterministic(b"a message").unwrap()),
        (&fresh[..], key.sign_with_rng(&mut Random::new("fresh"), b"a message")),
    ];
    for (fresh, signature) in signatures {
        let mut expected = vec![0; P::SALT_BYTES];
        shake256(&[&prefix, &[u8::from(!fresh.is_empty())], fresh, key.as_ref()], &mut expected);
        let mut derived = vec![0; P::SALT_BYTES];
        assert_eq!(hazmat::derive_randomizer::<P>(key.as_seed(), fresh, &mut derived), Ok(()));
        assert_eq!(derived, expected);
        assert_eq!(hazmat::sign(DetectedBackend::best(), &key, &digest, &expected), Ok(signature));
    }
    let length = |what, given| {
        let expected = P::SALT_BYTES;
        Err(Error::Length { what, algorithm: P::ALGORITHM, expected, given })
    };
    let derive = |fresh, length| hazmat::derive_randomizer::<P>(key.as_seed(), fresh, &mut vec![0; length]);
    assert_eq!(derive(&fresh[1..], P::SALT_BYTES), length("fresh randomness", P::SALT_BYTES - 1));
    assert_eq!(derive(&fresh, P::SALT_BYTES + 1), length("randomizer", P::SALT_BYTES + 1));
}

#[test]
fn the_randomizer_is_the_hash_that_is_documented() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => derived_by_the_formula::<P>());
    }
}
