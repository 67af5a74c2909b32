//! `aioli-lab peers`: aioli's backends beside other implementations, in one process.
//!
//! Operations, as users of compact keys pay for them:
//! - `keygen` makes encoded compact keys from fresh randomness.
//! - `sign` begins with the compact secret key and hashes the message.
//! - `verify` begins with the compact public key and hashes the message.
//! - `expand_p` is the key stream of P1 and P2 alone, into memory that is reused.
//! - `expand_sk` and `expand_pk` allocate the expanded key that they return.
//! - `sign_expanded` and `verify_expanded` use keys that were expanded before.
//! - `sign_checked` and `sign_expanded_checked` verify each signature before they release it, as
//!   pq-mayo's `sign` and `sign_expanded` do. liboqs's `sign` does not.
//!
//! Messages have [`MESSAGE_BYTES`] bytes. Each set has one key per implementation. Every call of
//! `sign` gets a fresh message, since the number of vinegar samples varies with it; `verify` cycles
//! through [`SIGNATURES`] signatures. All implementations draw their randomness from
//! [`Random`](crate::random::Random).

pub(crate) mod aioli;
#[cfg(feature = "peers")]
mod liboqs;
mod others;
mod pq_mayo;
mod table;
pub(crate) mod throughput;

use crate::chapter::Run;
use crate::measure::{self, Cell, Operation};
use crate::origin;
use crate::record::{self, Label, Machine, Measurement, Record};
use crate::samples::Samples;
use ::aioli::backend::{BackendKind, DetectedBackend};
use ::aioli::{Algorithm, Error, Round};
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Sets to measure, of both rounds: mayo1, mayo2, mayo3, mayo5 [default: all]
    #[arg(long = "set", value_delimiter = ',', value_name = "SET", value_parser = parse_set)]
    sets: Vec<&'static str>,
    /// Only this round of NIST's process
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=3))]
    round: Option<u8>,
    /// Backends of aioli: portable, avx2, gfni256, gfni512 [default: all that this machine can run]
    #[arg(long = "backend", value_delimiter = ',', value_name = "BACKEND")]
    backends: Vec<BackendKind>,
    /// Samples of every operation
    #[arg(long, default_value_t = ROUNDS, value_parser = parse_rounds)]
    rounds: usize,
    /// Take a first look only: few rounds
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Write a record to this file, which must not exist; in a folder, to a file named after day
    /// and commit
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Write all samples as Parquet to this file, which must not exist; in a folder, as for --json
    #[arg(long, value_name = "PATH", value_parser = parse_samples_path)]
    samples: Option<PathBuf>,
    /// Measure batches too, on 1, 2, 4, ... threads and on all cores
    #[arg(long)]
    threads: bool,
}

impl Default for Options {
    /// Measures everything but batches.
    fn default() -> Self {
        Self {
            sets: vec![],
            round: None,
            backends: vec![],
            rounds: ROUNDS,
            quick: false,
            json: None,
            samples: None,
            threads: false,
        }
    }
}

impl Options {
    /// Measures everything, batches included.
    pub(crate) fn everything() -> Self {
        Self { threads: true, ..Self::default() }
    }
}

/// An implementation of a signature algorithm with one parameter set, over encoded keys and
/// signatures.
pub(crate) trait Implementation {
    /// Its name, version, code path and set.
    fn label(&self) -> Label;

    /// A fresh key.
    fn keypair(&self) -> Result<Keypair>;

    /// Signs a message.
    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>>;

    /// Whether the signature is valid for this message and key.
    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool;

    /// The operations to time, called as its users would call them.
    fn operations(&self) -> Result<Vec<Operation>>;
}

/// Encoded keys.
#[derive(Clone, Debug)]
pub(crate) struct Keypair {
    pub(crate) secret: Vec<u8>,
    pub(crate) public: Vec<u8>,
}

/// Checks, measures, prints and records.
///
/// # Errors
///
/// If an implementation is not correct, if an option asks for a backend that cannot run here, and
/// errors of the files.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    let record_path = options.json.as_deref().map(|path| origin::file(path, "peers", "json"));
    let samples_path = options.samples.as_deref().map(|path| origin::file(path, "peers", "parquet"));
    record_path.iter().chain(&samples_path).try_for_each(|path| record::check_new(path))?;
    let record = measure(options, &Run::new(options.quick, stop))?;
    // The files come first, so that a closed pipe behind the output does not lose the measurements.
    if let Some(path) = &record_path {
        record.write(path)?;
        eprintln!("{}", path.display());
    }
    if let Some(path) = &samples_path {
        let mut samples = Samples::new();
        record.results.iter().for_each(|result| samples.add("peers", &result.label, &result.operation, &result.raw));
        samples.write(path)?;
        eprintln!("{}", path.display());
    }
    table::print(&record)
}

/// Checks and measures.
///
/// # Errors
///
/// If an implementation is not correct, and if an option asks for a backend that cannot run here.
pub(crate) fn measure(options: &Options, run: &Run<'_>) -> Result<Record> {
    let backends = match &options.backends[..] {
        [] => DetectedBackend::all().collect(),
        chosen => chosen.iter().map(|kind| kind.detect()).collect::<Result<Vec<_>, Error>>()?,
    };
    let algorithms: Vec<Algorithm> = Algorithm::ALL
        .into_iter()
        .filter(|set| options.sets.is_empty() || options.sets.contains(&set.set_name()))
        .filter(|set| options.round.is_none_or(|round| round == round_number(*set)))
        .collect();
    let mut notes = vec![
        format!("messages of {MESSAGE_BYTES} bytes, a fresh one for every signature; one key for each set"),
        "pq-mayo's MAYO_2 is an interim set, which belongs to neither round, and is left out".to_owned(),
        "pq-mayo verifies each signature before it releases it: its sign is compared with our sign_checked".to_owned(),
    ];
    notes.extend(liboqs_note());

    let mut cells = Vec::new();
    run.begin("peers, set checked", algorithms.len());
    for (done, &algorithm) in algorithms.iter().enumerate() {
        let ours: Vec<_> = backends.iter().map(|&backend| aioli::implementation(algorithm, backend)).collect();
        for &backend in &backends {
            known_answer(algorithm, backend)?;
        }
        let peers = peers_of(algorithm)?;
        for implementation in ours.iter().chain(&peers) {
            agree(&**implementation, &**implementation)?;
        }
        for ours in &ours {
            peers.iter().try_for_each(|peer| agree(&**ours, &**peer))?;
        }
        for implementation in ours.iter().chain(&peers) {
            add_cells(&mut cells, &**implementation)?;
        }
        if options.threads {
            add_throughput(&mut cells, algorithm)?;
        }
        run.done(done + 1);
    }
    for implementation in for_scale()? {
        agree(&*implementation, &*implementation)?;
        add_cells(&mut cells, &*implementation)?;
    }
    run.finish();
    eprintln!("known answers and agreement with the peers: correct; {} operations to time", cells.len());

    let rounds = if run.quick { QUICK_ROUNDS } else { options.rounds };
    run.begin("peers, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    run.finish();
    let results =
        cells.into_iter().map(|cell| Measurement::new(cell.label, &cell.operation.name, &cell.samples)).collect();
    Ok(Record { machine: Machine::here(conditions, notes), results, sections: BTreeMap::new() })
}

/// A first look at the sets of round 2, which most published figures are about.
///
/// # Errors
///
/// Errors of [`measure`].
pub(crate) fn quick_round_2(stop: &AtomicBool) -> Result<Record> {
    measure(&Options { round: Some(2), ..Options::default() }, &Run::new(true, stop))
}

/// A record with a few rounds of MAYO_1, for a chapter that is recorded alone: it says how quiet
/// the machine is.
///
/// # Errors
///
/// Errors of [`measure`].
pub(crate) fn brief(stop: &AtomicBool) -> Result<Record> {
    let options = Options {
        sets: vec![Algorithm::Mayo1.set_name()],
        round: Some(3),
        backends: vec![DetectedBackend::best().kind()],
        ..Options::default()
    };
    measure(&options, &Run::new(true, stop))
}

/// The operation of ours that does what this one of a peer does.
pub(crate) fn our_counterpart<'a>(peer: &str, operation: &'a str) -> &'a str {
    match (peer, operation) {
        ("pq-mayo", "sign") => "sign_checked",
        ("pq-mayo", "sign_expanded") => "sign_expanded_checked",
        _ => operation,
    }
}

/// The peers that have this set.
fn peers_of(algorithm: Algorithm) -> Result<Vec<Box<dyn Implementation>>> {
    let mut peers = Vec::new();
    #[cfg(feature = "peers")]
    peers.extend(liboqs::mayo(algorithm)?);
    peers.extend(pq_mayo::implementation(algorithm));
    Ok(peers)
}

/// The operations of liboqs's generic code with this set, checked against ours, if liboqs is built
/// in and has the set.
///
/// # Errors
///
/// If the two do not agree.
pub(crate) fn generic_operations(algorithm: Algorithm) -> Result<Vec<(Label, Operation)>> {
    #[cfg(feature = "peers")]
    let generic = liboqs::generic(algorithm);
    #[cfg(not(feature = "peers"))]
    let generic: Option<Box<dyn Implementation>> = None;
    let Some(generic) = generic else { return Ok(Vec::new()) };
    agree(&*aioli::implementation(algorithm, DetectedBackend::best()), &*generic)?;
    Ok(generic.operations()?.into_iter().map(|operation| (generic.label(), operation)).collect())
}

/// Other signature algorithms, for scale.
fn for_scale() -> Result<Vec<Box<dyn Implementation>>> {
    let implementations = others::for_scale();
    #[cfg(feature = "peers")]
    let implementations = implementations.into_iter().chain(liboqs::for_scale()?).collect();
    Ok(implementations)
}

/// Falcon-512 of liboqs, if that is built in.
pub(crate) fn falcon_512() -> Result<Option<Box<dyn Implementation>>> {
    #[cfg(feature = "peers")]
    let falcon = Some(liboqs::falcon_512()?);
    #[cfg(not(feature = "peers"))]
    let falcon = None;
    Ok(falcon)
}

/// The implementations whose keys and signatures are inspected.
pub(crate) fn inspected() -> Result<Vec<Box<dyn Implementation>>> {
    let mut implementations = others::inspected();
    #[cfg(feature = "peers")]
    implementations.extend(liboqs::inspected()?);
    let ours = |algorithm| aioli::implementation(algorithm, DetectedBackend::best());
    implementations.extend(Algorithm::ALL.into_iter().map(ours));
    Ok(implementations)
}

/// Algorithms that are inspected only if liboqs is built in, and it is not.
pub(crate) const NOT_BUILT_IN: &[&str] =
    if cfg!(feature = "peers") { &[] } else { &["Falcon-512", "Falcon-1024", "SPHINCS+-SHA2-128f"] };

/// The record's note on liboqs: how it was built, or that it is missing.
fn liboqs_note() -> Option<String> {
    #[cfg(feature = "peers")]
    return Some(liboqs::build_note());
    #[cfg(not(feature = "peers"))]
    {
        let note = "liboqs is not built in (cargo feature `peers`): neither it nor Falcon-512 is measured";
        eprintln!("{note}");
        Some(note.into())
    }
}

fn add_cells(cells: &mut Vec<Cell<Label>>, implementation: &dyn Implementation) -> Result<()> {
    let label = implementation.label();
    cells.extend(implementation.operations()?.into_iter().map(|operation| Cell::new(label.clone(), operation)));
    Ok(())
}

fn add_throughput(cells: &mut Vec<Cell<Label>>, algorithm: Algorithm) -> Result<()> {
    // `aioli::batch` always runs on the fastest backend.
    let label = aioli::implementation(algorithm, DetectedBackend::best()).label();
    let operations = throughput::operations(algorithm)?;
    cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
    Ok(())
}

/// Checks the first record of the official file on one backend.
fn known_answer(algorithm: Algorithm, backend: DetectedBackend) -> Result<()> {
    let record = aioli_kat::records(algorithm, backend)
        .next()
        .expect("there are records")
        .with_context(|| format!("known answer of {algorithm} on {backend}"))?;
    let digest = hex::encode(Sha256::digest(record.text(0)));
    let official = aioli_kat::official(algorithm).first_record;
    ensure!(digest == official, "{algorithm} on {backend} gives {digest} as its first known answer, not {official}");
    Ok(())
}

/// Checks that each accepts the other's signatures, with keys of either, and refuses changed
/// messages and signatures.
fn agree(a: &dyn Implementation, b: &dyn Implementation) -> Result<()> {
    for maker in [a, b] {
        let key = maker.keypair().with_context(|| format!("key generation of {}", name(maker)))?;
        for (signer, verifier) in [(a, b), (b, a)] {
            let message = crate::random::Random::bytes::<MESSAGE_BYTES>();
            let mut signature = signer.sign(&key, &message).with_context(|| format!("signing by {}", name(signer)))?;
            ensure!(
                verifier.verify(&key.public, &message, &signature),
                "{} does not accept a signature of {} with a key of {}",
                name(verifier),
                name(signer),
                name(maker)
            );
            let mut other = message;
            other[0] ^= 1;
            ensure!(
                !verifier.verify(&key.public, &other, &signature),
                "{} accepts a signature of another message",
                name(verifier)
            );
            let middle = signature.len() / 2;
            signature[middle] ^= 1;
            ensure!(
                !verifier.verify(&key.public, &message, &signature),
                "{} accepts a signature that was tampered with",
                name(verifier)
            );
        }
    }
    Ok(())
}

fn name(implementation: &dyn Implementation) -> String {
    let Label { implementation, backend, set, .. } = implementation.label();
    format!("{implementation} ({backend}) with {set}")
}

/// The round of NIST's process, 2 or 3.
pub(crate) fn round_number(algorithm: Algorithm) -> u8 {
    match algorithm.round() {
        Round::Two => 2,
        Round::Three => 3,
    }
}

pub(crate) fn parse_set(text: &str) -> Result<&'static str, String> {
    let known = Algorithm::ALL.into_iter().find(|set| set.name() == text);
    known.map(Algorithm::set_name).ok_or_else(|| "expected mayo1, mayo2, mayo3 or mayo5".into())
}

fn parse_samples_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_parquet = path.is_dir() || path.extension().is_some_and(|ending| ending == "parquet");
    if is_parquet {
        Ok(path)
    } else {
        Err("samples are written as Parquet: expected a name that ends in .parquet".into())
    }
}

fn parse_rounds(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&rounds| rounds > 0).ok_or_else(|| "expected a number of rounds, at least 1".into())
}

/// Bytes in a message.
pub(crate) const MESSAGE_BYTES: usize = 32;
/// Signatures through which `verify` cycles.
pub(crate) const SIGNATURES: usize = 16;
/// The default number of rounds.
const ROUNDS: usize = 100;
/// Rounds of a first look.
const QUICK_ROUNDS: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    /// aioli with a wrong bit in every signature.
    struct Planted(Box<dyn Implementation>);

    impl Implementation for Planted {
        fn label(&self) -> Label {
            Label { implementation: "planted".into(), ..self.0.label() }
        }

        fn keypair(&self) -> Result<Keypair> {
            self.0.keypair()
        }

        fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
            let mut signature = self.0.sign(key, message)?;
            signature[0] ^= 0x10;
            Ok(signature)
        }

        fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
            self.0.verify(public_key, message, signature)
        }

        fn operations(&self) -> Result<Vec<Operation>> {
            self.0.operations()
        }
    }

    /// A verifier that accepts everything.
    struct Gullible(Box<dyn Implementation>);

    impl Implementation for Gullible {
        fn label(&self) -> Label {
            self.0.label()
        }

        fn keypair(&self) -> Result<Keypair> {
            self.0.keypair()
        }

        fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
            self.0.sign(key, message)
        }

        fn verify(&self, _: &[u8], _: &[u8], _: &[u8]) -> bool {
            true
        }

        fn operations(&self) -> Result<Vec<Operation>> {
            self.0.operations()
        }
    }

    fn ours() -> Box<dyn Implementation> {
        aioli::implementation(Algorithm::Mayo2Round2, BackendKind::Portable.detect().unwrap())
    }

    #[test]
    fn the_gate_lets_the_correct_pass() {
        agree(&*ours(), &*ours()).unwrap();
        for peer in peers_of(Algorithm::Mayo1Round2).unwrap() {
            agree(&*aioli::implementation(Algorithm::Mayo1Round2, DetectedBackend::best()), &*peer).unwrap();
        }
        for implementation in for_scale().unwrap() {
            agree(&*implementation, &*implementation).unwrap();
        }
        known_answer(Algorithm::Mayo2, DetectedBackend::best()).unwrap();
    }

    #[test]
    fn the_gate_catches_a_wrong_signature() {
        let error = agree(&*ours(), &Planted(ours())).unwrap_err().to_string();
        assert!(error.contains("does not accept a signature of planted"), "{error}");
    }

    #[test]
    fn the_gate_catches_a_verifier_that_accepts_anything() {
        let error = agree(&*ours(), &Gullible(ours())).unwrap_err().to_string();
        assert!(error.contains("accepts a signature of another message"), "{error}");
    }
}
