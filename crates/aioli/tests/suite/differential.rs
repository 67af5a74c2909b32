//! Agreement with pq-mayo, an independent implementation of round 2's MAYO_1, MAYO_3 and MAYO_5.
//! (Its MAYO_2 is an interim proposal that belongs to neither round.)

use crate::random::Random;
use aioli::backend::DetectedBackend;
use aioli::{MessageDigest, ParameterSet, Signature, SigningKey, hazmat, round2};
use pq_mayo::MayoParameter;
use signature::{Signer, Verifier};

const KEYS: usize = 4;
const MESSAGES: usize = 8;

fn agrees<P: ParameterSet, Q: MayoParameter>() {
    let mut random = Random::new(P::ALGORITHM);
    for _ in 0..KEYS {
        let seed = random.bytes(P::SECRET_KEY_BYTES);
        let key = SigningKey::<P>::try_from(&seed[..]).unwrap();
        let theirs = pq_mayo::KeyPair::<Q>::from_seed(&seed).unwrap();
        for backend in DetectedBackend::all() {
            let public_key = hazmat::verifying_key(backend, &key);
            assert_eq!(public_key.as_ref(), theirs.verifying_key().as_ref(), "public key of {seed:02x?} on {backend}");
        }
        for _ in 0..MESSAGES {
            let length = usize::from(random.bytes(1)[0]);
            let message = random.bytes(length);
            let randomizer = random.bytes(P::SALT_BYTES);
            both_ways(&key, &theirs, &message, &randomizer);
        }
    }
}

fn both_ways<P: ParameterSet, Q: MayoParameter>(
    key: &SigningKey<P>,
    theirs: &pq_mayo::KeyPair<Q>,
    message: &[u8],
    randomizer: &[u8],
) {
    let digest = MessageDigest::of(message);
    let their_signature: pq_mayo::Signature<Q> = theirs.signing_key().try_sign(message).unwrap();
    let signature = Signature::try_from(their_signature.as_ref()).unwrap();
    for backend in DetectedBackend::all() {
        let context = format!("{} on {backend}, message {message:02x?}", P::ALGORITHM);
        let public_key = hazmat::verifying_key(backend, key);
        assert_eq!(hazmat::verify(backend, &public_key, &digest, &signature), Ok(()), "{context}: {signature:02x?}");

        let ours = hazmat::sign(backend, key, &digest, randomizer).unwrap();
        let ours = pq_mayo::Signature::<Q>::try_from(ours.as_ref()).unwrap();
        assert!(theirs.verifying_key().verify(message, &ours).is_ok(), "{context}: {randomizer:02x?}");
        assert!(theirs.verifying_key().verify(b"another", &ours).is_err(), "{context}: a wrong message");
    }
}

#[test]
fn mayo1() {
    agrees::<round2::Mayo1, pq_mayo::Mayo1>();
}

#[test]
fn mayo3() {
    agrees::<round2::Mayo3, pq_mayo::Mayo3>();
}

#[test]
fn mayo5() {
    agrees::<round2::Mayo5, pq_mayo::Mayo5>();
}
