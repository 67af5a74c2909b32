//! The work that is timed: keygen, signing and verifying with a technique, alone, as a round trip,
//! and in batches. The gate lets only a correct technique be timed.

use super::backend::{Technique, Token};
use crate::measure::Operation;
use crate::peers::{MESSAGE_BYTES, SIGNATURES, aioli::fresh_key};
use crate::pool::pinned;
use crate::random::Random;
use aioli::backend::DetectedBackend;
use aioli::hazmat::on;
use aioli::params::ParameterSet;
use aioli::{Algorithm, MessageDigest, SigningKey, VerifyingKey, with_set};
use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::hint::black_box;

/// A round trip: key generation, signing and verifying, once each.
pub(super) fn round_trip(algorithm: Algorithm, token: Token) -> Result<()> {
    with_set!(algorithm, P => round_trip_of::<P>(token))
}

fn round_trip_of<P: ParameterSet>(token: Token) -> Result<()> {
    let key = fresh_key::<P>()?;
    let public_key = on::verifying_key(token, &key);
    let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
    let mut randomizer = [0; MAX_SALT_BYTES];
    Random::fill(&mut randomizer[..P::SALT_BYTES]);
    let signature = on::sign(token, &key, &digest, &randomizer[..P::SALT_BYTES], ALL_SAMPLES)?;
    Ok(on::verify(token, &public_key, &digest, &signature)?)
}

/// The operations to time, one at a time, as beside the peers.
pub(super) fn operations(algorithm: Algorithm, technique: Technique) -> Result<Vec<Operation>> {
    let token = technique.token()?;
    with_set!(algorithm, P => operations_of::<P>(token))
}

fn operations_of<P: ParameterSet>(token: Token) -> Result<Vec<Operation>> {
    let key = fresh_key::<P>()?;
    // The library's fastest backend makes the inputs; the technique does only what is timed.
    let public_key = key.verifying_key();
    let signed = (0..SIGNATURES)
        .map(|_| {
            let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
            Ok((digest, aioli::hazmat::sign(DetectedBackend::best(), &key, &digest, &vec![0; P::SALT_BYTES])?))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut next = signed.into_iter().cycle();
    Ok(vec![
        Operation::new("keygen", move || {
            token.enter(|| {
                black_box(on::verifying_key(token, &fresh_key::<P>()?));
                Ok(())
            })
        }),
        Operation::new("sign", move || {
            token.enter(|| {
                let digest = MessageDigest::of(&Random::bytes::<MESSAGE_BYTES>());
                let mut randomizer = [0; MAX_SALT_BYTES];
                Random::fill(&mut randomizer[..P::SALT_BYTES]);
                black_box(on::sign(token, &key, &digest, &randomizer[..P::SALT_BYTES], ALL_SAMPLES)?);
                Ok(())
            })
        }),
        Operation::new("verify", move || {
            let (digest, signature) = next.next().context("there are signatures")?;
            token.enter(|| Ok(on::verify(token, &public_key, &digest, &signature)?))
        }),
    ])
}

/// A batch of round trips, its time divided by their number. All processors work on different round
/// trips.
pub(super) fn batch(algorithm: Algorithm, technique: Technique) -> Result<Operation> {
    let token = technique.token()?;
    let cores = std::thread::available_parallelism()?.get();
    let items = 2 * cores as u32;
    let pool = pinned(cores)?;
    Ok(Operation {
        name: BATCH.into(),
        items,
        run: Box::new(move || {
            pool.install(|| (0..items).into_par_iter().try_for_each(|_| round_trip(algorithm, token)))
        }),
    })
}

/// The first record of the official known answers, made by the library's fastest backend.
///
/// # Errors
///
/// If it differs from the official one.
pub(crate) fn known_answer(algorithm: Algorithm) -> Result<aioli_kat::Record> {
    let record = aioli_kat::records(algorithm, DetectedBackend::best()).next().expect("there are records")?;
    let digest = hex::encode(Sha256::digest(record.text(0)));
    let official = aioli_kat::official(algorithm).first_record;
    ensure!(digest == official, "{algorithm} gives {digest} as its first known answer, not {official}");
    Ok(record)
}

/// The gate: checks that a technique makes the known answer, and refuses a signature with a wrong
/// bit.
///
/// # Errors
///
/// If it does not; the error says where it differs.
pub(super) fn gate(algorithm: Algorithm, technique: Technique, record: &aioli_kat::Record) -> Result<()> {
    let token = technique.token()?;
    with_set!(algorithm, P => token.enter(|| gate_of::<P>(token, record)))
        .with_context(|| format!("{technique} with {algorithm} is not correct, so it is not timed"))
}

fn gate_of<P: ParameterSet>(token: Token, record: &aioli_kat::Record) -> Result<()> {
    let key = SigningKey::<P>::try_from(&record.secret_key[..])?;
    let public_key: VerifyingKey<P> = on::verifying_key(token, &key);
    ensure!(public_key.as_ref() == &record.public_key[..], "the public key is not the known answer");
    let digest = MessageDigest::of(&record.message);
    let signature = on::sign(token, &key, &digest, &record.randomizer, ALL_SAMPLES)?;
    ensure!(signature.as_ref() == &record.signature[..], "the signature is not the known answer");
    on::verify(token, &public_key, &digest, &signature).context("the known answer")?;
    let mut wrong = record.signature.clone();
    wrong[0] ^= 1;
    let wrong = aioli::Signature::<P>::try_from(&wrong[..])?;
    ensure!(on::verify(token, &public_key, &digest, &wrong).is_err(), "a signature with a wrong bit is accepted");
    Ok(())
}

/// The name of the batch's operation.
pub(super) const BATCH: &str = "batch";
/// The number of vinegar samples that the specification allows.
const ALL_SAMPLES: u16 = 256;
/// Bytes in the longest salt.
const MAX_SALT_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_technique_makes_the_known_answer_of_a_small_set() {
        let record = known_answer(Algorithm::Mayo2).unwrap();
        for technique in Technique::kernels() {
            gate(Algorithm::Mayo2, technique, &record).unwrap();
        }
        let record = known_answer(Algorithm::Mayo2Round2).unwrap();
        for technique in Technique::available().into_iter().filter(|found| found.to_string().starts_with("portable")) {
            gate(Algorithm::Mayo2Round2, technique, &record).unwrap();
        }
    }

    #[test]
    fn the_gate_stops_a_technique_that_makes_something_else() {
        let mut record = known_answer(Algorithm::Mayo2).unwrap();
        record.signature[0] ^= 1;
        let error = format!("{:#}", gate(Algorithm::Mayo2, "scalar".parse().unwrap(), &record).unwrap_err());
        assert!(error.contains("scalar") && error.contains("not the known answer"), "{error}");
    }

    #[test]
    fn operations_and_batches_run() {
        for technique in ["m4r_2", "portable_rayon_2"] {
            let technique = technique.parse().unwrap();
            let mut operations = operations(Algorithm::Mayo2, technique).unwrap();
            operations.push(batch(Algorithm::Mayo2, technique).unwrap());
            let names: Vec<&str> = operations.iter().map(|operation| &*operation.name).collect();
            assert_eq!(names, ["keygen", "sign", "verify", BATCH]);
            operations.iter_mut().for_each(|operation| (operation.run)().unwrap());
        }
    }
}
