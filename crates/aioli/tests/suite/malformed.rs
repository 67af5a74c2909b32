//! Wrong input (length, bit, set, round, key, message) and failing randomness.

use crate::random::Random;
use aioli::backend::{Backend, DetectedBackend, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use aioli::{Algorithm, Error, ExpandedVerifyingKey, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey};
use aioli::{any, hazmat, with_set};
use signature::rand_core::{TryCryptoRng, TryRng};
use signature::{RandomizedMultipartSigner, RandomizedSigner};
use std::sync::atomic::{AtomicU32, Ordering};

const MESSAGE: &[u8] = b"a message";

fn key<P: ParameterSet>(label: &str) -> SigningKey<P> {
    let seed = Random::new(format!("{label} {}", P::ALGORITHM)).bytes(P::SECRET_KEY_BYTES);
    SigningKey::try_from(&seed[..]).unwrap()
}

/// Wrong lengths for a value of `right` bytes.
fn wrong_lengths(right: usize) -> [usize; 4] {
    [0, right - 1, right + 1, 2 * right]
}

fn wrong_lengths_are_named<P: ParameterSet>() {
    let algorithm = P::ALGORITHM;
    let check = |what: &'static str, expected: usize, read: &dyn Fn(&[u8]) -> Option<Error>| {
        for given in wrong_lengths(expected) {
            assert_eq!(read(&vec![7; given]), Some(Error::Length { what, algorithm, expected, given }));
        }
        assert_eq!(read(&vec![7; expected]), None, "{what} of {algorithm}");
    };
    check("secret key", P::SECRET_KEY_BYTES, &|bytes| SigningKey::<P>::try_from(bytes).err());
    check("secret key", P::SECRET_KEY_BYTES, &|bytes| any::SigningKey::from_bytes(algorithm, bytes).err());
    check("public key", P::PUBLIC_KEY_BYTES, &|bytes| VerifyingKey::<P>::try_from(bytes).err());
    check("public key", P::PUBLIC_KEY_BYTES, &|bytes| any::VerifyingKey::from_bytes(algorithm, bytes).err());
    check("signature", P::SIGNATURE_BYTES, &|bytes| Signature::<P>::try_from(bytes).err());
    check("signature", P::SIGNATURE_BYTES, &|bytes| any::Signature::from_bytes(algorithm, bytes).err());
    check("message digest", P::DIGEST_BYTES, &|bytes| hazmat::message_digest::<P>(bytes).err());
    check("message digest", P::DIGEST_BYTES, &|bytes| any::MessageDigest::from_bytes(algorithm, bytes).err());

    let key = key::<P>("lengths");
    let digest = MessageDigest::of(MESSAGE);
    let expanded = key.expand();
    check("randomizer", P::SALT_BYTES, &|bytes| hazmat::sign(DetectedBackend::best(), &key, &digest, bytes).err());
    check("randomizer", P::SALT_BYTES, &|bytes| {
        hazmat::sign_expanded(DetectedBackend::best(), &expanded, &digest, bytes).err()
    });
    let oil = vec![0; P::V * P::O];
    let p1_q = vec![0; P::P_BYTES];
    let parts = |oil: &[u8], p1_q: &[u8]| hazmat::expanded_signing_key_from_parts(&key, oil, p1_q).err();
    check("oil matrix", P::V * P::O, &|bytes| parts(bytes, &p1_q));
    check("expanded secret key", P::P_BYTES, &|bytes| parts(&oil, bytes));
    let public_key = key.verifying_key();
    check("expanded public key", P::P_BYTES, &|bytes| {
        hazmat::expanded_verifying_key_from_parts(&public_key, bytes).err()
    });
}

#[test]
fn every_wrong_length_is_named() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => wrong_lengths_are_named::<P>());
    }
}

/// Flips every bit for the sets of level 1, every fifth bit for the others. Five is prime to eight,
/// so every position within a byte has its turn.
fn signature_bits_all_matter<P: ParameterSet>() {
    let key = key::<P>("signature bits");
    let public_key = key.verifying_key().expand();
    let digest = MessageDigest::of(MESSAGE);
    let signature = key.sign_deterministic(MESSAGE).unwrap();
    assert_eq!(public_key.verify_digest(&digest, &signature), Ok(()));
    let step = if P::ALGORITHM.level() == 1 { 1 } else { 5 };
    for bit in (0..8 * P::SIGNATURE_BYTES).step_by(step) {
        let mut bytes = *signature.as_bytes();
        bytes.as_mut()[bit / 8] ^= 1 << (bit % 8);
        let verdict = public_key.verify_digest(&digest, &Signature::from_bytes(bytes));
        assert_eq!(verdict, Err(Error::InvalidSignature), "bit {bit} of a signature of {}", P::ALGORITHM);
    }
}

#[test]
fn a_flipped_bit_of_a_signature_is_noticed() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => signature_bits_all_matter::<P>());
    }
}

/// Flips every bit of the seed and every 29th bit of P3.
fn public_key_bits_all_matter<P: ParameterSet>() {
    let key = key::<P>("public key bits");
    let public_key = key.verifying_key();
    let digest = MessageDigest::of(MESSAGE);
    let signature = key.sign_deterministic(MESSAGE).unwrap();
    assert_eq!(public_key.verify_digest(&digest, &signature), Ok(()));
    let seed_bits = 8 * aioli::params::PUBLIC_SEED_BYTES;
    for bit in (0..seed_bits).chain((seed_bits..8 * P::PUBLIC_KEY_BYTES).step_by(29)) {
        let mut bytes = *public_key.as_bytes();
        bytes.as_mut()[bit / 8] ^= 1 << (bit % 8);
        let verdict = VerifyingKey::<P>::from_bytes(bytes).verify_digest(&digest, &signature);
        assert_eq!(verdict, Err(Error::InvalidSignature), "bit {bit} of a public key of {}", P::ALGORITHM);
    }
}

#[test]
fn a_flipped_bit_of_a_public_key_is_noticed() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => public_key_bits_all_matter::<P>());
    }
}

fn another_key_or_message_is_refused<P: ParameterSet>() {
    let other = key::<P>("another key");
    let key = key::<P>("a key");
    let signature = key.sign_deterministic(MESSAGE).unwrap();
    let verify = |key: &SigningKey<P>, message: &[u8], signature: &Signature<P>| {
        let digest = MessageDigest::of(message);
        let public_key = key.verifying_key();
        let verdict_on = |backend| {
            let expanded: ExpandedVerifyingKey<P> = hazmat::expand_verifying_key(backend, &public_key);
            let verdict = hazmat::verify(backend, &public_key, &digest, signature);
            assert_eq!(hazmat::verify_expanded(backend, &expanded, &digest, signature), verdict, "{backend}");
            verdict
        };
        let verdict = public_key.verify_digest(&digest, signature);
        DetectedBackend::all().for_each(|backend| assert_eq!(verdict_on(backend), verdict, "{backend}"));
        verdict
    };
    assert_eq!(verify(&key, MESSAGE, &signature), Ok(()));
    assert_eq!(verify(&other, MESSAGE, &signature), Err(Error::InvalidSignature));
    assert_eq!(verify(&key, b"a messagf", &signature), Err(Error::InvalidSignature));
    assert_eq!(verify(&key, b"", &signature), Err(Error::InvalidSignature));
    assert_eq!(
        verify(&key, MESSAGE, &Signature::try_from(&vec![0; P::SIGNATURE_BYTES][..]).unwrap()),
        Err(Error::InvalidSignature)
    );
    let empty = key.sign_deterministic(b"").unwrap();
    assert_eq!(verify(&key, b"", &empty), Ok(()));
    assert_eq!(verify(&key, &[0], &empty), Err(Error::InvalidSignature));
}

#[test]
fn another_key_or_message_is_refused_on_every_backend() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => another_key_or_message_is_refused::<P>());
    }
}

#[test]
fn a_message_of_64_mebibytes_is_signed_whole() {
    use aioli::mayo2::{MessageHasher, SigningKey};
    let mut message = vec![0x5a; 64 << 20];
    let key = SigningKey::from_seed([1; 24]);
    let signature = key.sign_deterministic(&message).unwrap();
    let mut hasher = MessageHasher::new();
    message.chunks(100_003).for_each(|piece| hasher.update(piece));
    assert_eq!(key.verifying_key().verify_digest(&hasher.finalize(), &signature), Ok(()));
    *message.last_mut().unwrap() ^= 0x80;
    let digest = aioli::mayo2::MessageDigest::of(&message);
    assert_eq!(key.verifying_key().verify_digest(&digest, &signature), Err(Error::InvalidSignature));
}

#[test]
fn sets_and_rounds_do_not_mix() {
    let key =
        |algorithm: Algorithm| any::SigningKey::from_bytes(algorithm, &vec![3; algorithm.secret_key_bytes()]).unwrap();
    let signatures = Algorithm::ALL.map(|algorithm| key(algorithm).sign_deterministic(MESSAGE).unwrap());
    for expected in Algorithm::ALL {
        let public_key = key(expected).verifying_key();
        let expanded = public_key.expand();
        assert_eq!(expanded.algorithm(), expected);
        for signature in &signatures {
            let given = signature.algorithm();
            let result = if given == expected { Ok(()) } else { Err(Error::AlgorithmMismatch { expected, given }) };
            assert_eq!(public_key.verify(MESSAGE, signature), result);
            assert_eq!(expanded.verify(MESSAGE, signature), result);
            let digest = any::MessageDigest::of(given, MESSAGE);
            assert_eq!(public_key.verify_digest(&digest, signature), result);
            assert_eq!(key(expected).sign_digest(&digest).map(|_| ()), result);
            assert_eq!(key(expected).expand().sign_digest(&digest).map(|_| ()), result);
        }
    }
}

/// MAYO_3 and MAYO_5 have the same sizes and the same keys in both rounds, so bytes alone cannot
/// tell the rounds apart.
#[test]
fn a_signature_of_one_round_is_refused_in_the_other() {
    for (three, two) in [(Algorithm::Mayo3, Algorithm::Mayo3Round2), (Algorithm::Mayo5, Algorithm::Mayo5Round2)] {
        for (signing, verifying) in [(three, two), (two, three)] {
            let seed = vec![9; signing.secret_key_bytes()];
            let key = any::SigningKey::from_bytes(signing, &seed).unwrap();
            let signature = key.sign_deterministic(MESSAGE).unwrap();
            assert_eq!(key.verifying_key().verify(MESSAGE, &signature), Ok(()));

            let public_key = any::SigningKey::from_bytes(verifying, &seed).unwrap().verifying_key();
            assert_eq!(public_key.as_bytes(), key.verifying_key().as_bytes());
            let relabelled = any::Signature::from_bytes(verifying, signature.as_bytes()).unwrap();
            assert_eq!(public_key.verify(MESSAGE, &relabelled), Err(Error::InvalidSignature));
            assert_eq!(public_key.expand().verify(MESSAGE, &relabelled), Err(Error::InvalidSignature));
        }
    }
}

/// A source of randomness that fails.
struct Broken;

impl TryRng for Broken {
    type Error = std::fmt::Error;

    fn try_next_u32(&mut self) -> Result<u32, std::fmt::Error> {
        Err(std::fmt::Error)
    }

    fn try_next_u64(&mut self) -> Result<u64, std::fmt::Error> {
        Err(std::fmt::Error)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), std::fmt::Error> {
        // Some bytes were written before the failure.
        bytes.fill(0xee);
        Err(std::fmt::Error)
    }
}

impl TryCryptoRng for Broken {}

fn failing_randomness_is_reported<P: ParameterSet>() {
    assert_eq!(SigningKey::<P>::generate_from_rng(&mut Broken).err(), Some(Error::Randomness));
    let key = key::<P>("randomness");
    let expanded = key.expand();
    let is_randomness = |result: Result<Signature<P>, signature::Error>| {
        let error = result.expect_err("no signature without randomness");
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Error>());
        assert_eq!(source, Some(&Error::Randomness));
    };
    is_randomness(key.try_sign_with_rng(&mut Broken, MESSAGE));
    is_randomness(key.try_multipart_sign_with_rng(&mut Broken, &[MESSAGE]));
    is_randomness(expanded.try_sign_with_rng(&mut Broken, MESSAGE));
    is_randomness(expanded.try_multipart_sign_with_rng(&mut Broken, &[MESSAGE]));
}

#[test]
fn failing_randomness_is_an_error() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => failing_randomness_is_reported::<P>());
    }
}

static SYSTEMS: AtomicU32 = AtomicU32::new(0);

/// The portable backend with a linear map of zero; it counts the systems solved.
///
/// With P1, Q and lambda zero, A is zero for every sample.
#[derive(Clone, Copy)]
struct NoLinearMap(Portable);

impl Backend for NoLinearMap {
    const NAME: &'static str = "no linear map";

    const REGISTER: usize = Portable::REGISTER;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        self.0.left_product(left, right, out);
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        self.0.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, _: &[u8; 16], _: &[u8; 16], _: u32, out: &mut [u8]) {
        out.fill(0);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        self.0.shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        SYSTEMS.fetch_add(1, Ordering::Relaxed);
        self.0.solve(columns, m, x)
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        self.0.vectorize(f)
    }
}

fn a_key_without_solutions_is_given_up<P: ParameterSet>() {
    let key = key::<P>("no solutions");
    let digest = MessageDigest::of(MESSAGE);
    let oil = vec![1; P::V * P::O];
    let p1_q = vec![0; P::P_BYTES];
    let expanded = hazmat::expanded_signing_key_from_parts(&key, &oil, &p1_q).unwrap();
    let randomizer = vec![0; P::SALT_BYTES];
    for (samples, tried) in [(256, 256), (257, 256), (u16::MAX, 256), (3, 3), (0, 0)] {
        SYSTEMS.store(0, Ordering::Relaxed);
        let b = NoLinearMap(Portable::new());
        let result = hazmat::on::sign_expanded(b, &expanded, &digest, &randomizer, samples);
        assert_eq!(result, Err(Error::SamplesExhausted), "{}", P::ALGORITHM);
        assert_eq!(SYSTEMS.load(Ordering::Relaxed), tried, "samples tried of {samples}");
    }
    if !P::LINEAR {
        for backend in DetectedBackend::all() {
            let result = hazmat::sign_expanded(backend, &expanded, &digest, &randomizer);
            assert_eq!(result, Err(Error::SamplesExhausted), "{} on {backend}", P::ALGORITHM);
        }
        assert_eq!(expanded.sign_deterministic(MESSAGE), Err(Error::SamplesExhausted));
    }
}

#[test]
fn a_key_without_solutions_is_given_up_after_256_samples() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => a_key_without_solutions_is_given_up::<P>());
    }
}
