//! `aioli-lab peers`: aioli's backends beside other implementations, in one process.
//!
//! What each cell includes. Messages have [`MESSAGE_BYTES`] bytes. Each set has one key per implementation, and
//! signing gets a fresh message every time, since the number of vinegar samples that it takes varies; verifying walks
//! through [`SIGNATURES`] signatures. `keygen` makes the encoded compact keys from fresh randomness, `sign` begins
//! with the compact secret key and hashes the message, `verify` with the compact public key, as users of compact keys
//! pay for. `expand_p` is the key stream of P1 and P2 alone, into memory that is used again; `expand_sk` and
//! `expand_pk` allocate what they return. Randomness is [`Random`](crate::random::Random) for all.

pub(crate) mod aioli;
#[cfg(feature = "peers")]
mod liboqs;
mod others;
mod pq_mayo;
mod table;
mod throughput;

use crate::measure::{self, Cell, Operation};
use crate::part::Run;
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
    /// How often every operation is sampled
    #[arg(long, default_value_t = ROUNDS, value_parser = parse_rounds)]
    rounds: usize,
    /// A first look: few rounds
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Write a record to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write all samples to this file, which must not exist: Parquet if its name ends so, else comma-separated values
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Measure batches on one thread and on all cores too
    #[arg(long)]
    threads: bool,
}

impl Default for Options {
    /// Everything but batches.
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
    /// All there is to measure, batches included.
    pub(crate) fn everything() -> Self {
        Self { threads: true, ..Self::default() }
    }
}

/// An implementation of a signature scheme with one parameter set, in encoded keys and signatures.
pub(crate) trait Scheme {
    /// Whose it is.
    fn label(&self) -> Label;

    /// A fresh key.
    fn keypair(&self) -> Result<Keypair>;

    /// Signs.
    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>>;

    /// Whether the signature is one of this message under this key.
    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool;

    /// What there is to time, in the form that its users would call.
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
/// If an implementation is not correct, if an option asks for what is not there, and those of the record's file.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    for path in options.json.iter().chain(&options.samples) {
        record::check_new(path)?;
    }
    let record = measure(options, &Run::new(options.quick, stop))?;
    // The record first: what was measured is not lost if the output goes to a closed pipe.
    if let Some(path) = &options.json {
        record.write(path)?;
    }
    if let Some(path) = &options.samples {
        let mut samples = Samples::new();
        record.results.iter().for_each(|result| samples.add("peers", &result.label, &result.operation, &result.raw));
        samples.write(path)?;
    }
    table::print(&record)
}

/// Checks and measures.
///
/// # Errors
///
/// If an implementation is not correct, and if an option asks for what is not there.
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
        "pq-mayo's MAYO_2 is an interim set of neither round and is left out".to_owned(),
    ];
    notes.extend(liboqs_note());

    let mut cells = Vec::new();
    run.begin("peers, set checked", algorithms.len());
    for (done, &algorithm) in algorithms.iter().enumerate() {
        let ours: Vec<_> = backends.iter().map(|&backend| aioli::scheme(algorithm, backend)).collect();
        for &backend in &backends {
            known_answer(algorithm, backend)?;
        }
        let peers = peers_of(algorithm)?;
        for scheme in ours.iter().chain(&peers) {
            agree(&**scheme, &**scheme)?;
        }
        for ours in &ours {
            peers.iter().try_for_each(|peer| agree(&**ours, &**peer))?;
        }
        for scheme in ours.iter().chain(&peers) {
            add_cells(&mut cells, &**scheme)?;
        }
        if options.threads {
            add_throughput(&mut cells, algorithm)?;
        }
        run.done(done + 1);
    }
    for scheme in for_scale()? {
        agree(&*scheme, &*scheme)?;
        add_cells(&mut cells, &*scheme)?;
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

/// A first look at the sets of round 2, with which most published figures compare.
///
/// # Errors
///
/// Those of [`measure`].
pub(crate) fn quick_round_2(stop: &AtomicBool) -> Result<Record> {
    measure(&Options { round: Some(2), ..Options::default() }, &Run::new(true, stop))
}

/// A record of this machine with a few rounds of MAYO_1, for parts that are recorded alone: it says how quiet the
/// machine is.
///
/// # Errors
///
/// Those of [`measure`].
pub(crate) fn brief(stop: &AtomicBool) -> Result<Record> {
    let options = Options {
        sets: vec![Algorithm::Mayo1.set_name()],
        round: Some(3),
        backends: vec![DetectedBackend::best().kind()],
        ..Options::default()
    };
    measure(&options, &Run::new(true, stop))
}

/// All peers of a set.
fn peers_of(algorithm: Algorithm) -> Result<Vec<Box<dyn Scheme>>> {
    let mut peers = Vec::new();
    #[cfg(feature = "peers")]
    peers.extend(liboqs::mayo(algorithm)?);
    peers.extend(pq_mayo::scheme(algorithm));
    Ok(peers)
}

/// Other signature schemes.
fn for_scale() -> Result<Vec<Box<dyn Scheme>>> {
    let schemes = others::schemes();
    #[cfg(feature = "peers")]
    let schemes = schemes.into_iter().chain(liboqs::others()?).collect();
    Ok(schemes)
}

/// Falcon-512 of liboqs, if that is built in.
pub(crate) fn falcon_512() -> Result<Option<Box<dyn Scheme>>> {
    #[cfg(feature = "peers")]
    let scheme = liboqs::others()?.into_iter().next();
    #[cfg(not(feature = "peers"))]
    let scheme = None;
    Ok(scheme)
}

/// What there is for inspection.
pub(crate) fn inspected() -> Result<Vec<Box<dyn Scheme>>> {
    let mut schemes = others::inspected();
    #[cfg(feature = "peers")]
    schemes.extend(liboqs::inspected()?);
    schemes.extend(Algorithm::ALL.into_iter().map(|algorithm| aioli::scheme(algorithm, DetectedBackend::best())));
    Ok(schemes)
}

/// The names of what would be inspected if it were built in.
pub(crate) const NOT_BUILT_IN: &[&str] =
    if cfg!(feature = "peers") { &[] } else { &["Falcon-512", "Falcon-1024", "SPHINCS+-SHA2-128f"] };

/// What the record says about liboqs.
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

fn add_cells(cells: &mut Vec<Cell<Label>>, scheme: &dyn Scheme) -> Result<()> {
    let label = scheme.label();
    cells.extend(scheme.operations()?.into_iter().map(|operation| Cell::new(label.clone(), operation)));
    Ok(())
}

fn add_throughput(cells: &mut Vec<Cell<Label>>, algorithm: Algorithm) -> Result<()> {
    // `aioli::batch` always runs on the fastest backend.
    let label = aioli::scheme(algorithm, DetectedBackend::best()).label();
    let operations = throughput::operations(algorithm)?;
    cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
    Ok(())
}

/// The first record of the official file, on one backend.
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

/// Checks that each accepts what the other signs, with keys of either, and nothing that was tampered with.
fn agree(a: &dyn Scheme, b: &dyn Scheme) -> Result<()> {
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

fn name(scheme: &dyn Scheme) -> String {
    let Label { implementation, backend, set, .. } = scheme.label();
    format!("{implementation} ({backend}) with {set}")
}

/// 2 or 3.
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

fn parse_rounds(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&rounds| rounds > 0).ok_or_else(|| "expected a number of rounds, at least 1".into())
}

/// Bytes of a message.
pub(crate) const MESSAGE_BYTES: usize = 32;
/// Signatures that verifying walks through.
pub(crate) const SIGNATURES: usize = 16;
/// Rounds if nothing else is said.
const ROUNDS: usize = 100;
/// Rounds of a first look.
const QUICK_ROUNDS: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    /// aioli, but every signature has a wrong bit.
    struct Planted(Box<dyn Scheme>);

    impl Scheme for Planted {
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

    /// Accepts everything.
    struct Gullible(Box<dyn Scheme>);

    impl Scheme for Gullible {
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

    fn ours() -> Box<dyn Scheme> {
        aioli::scheme(Algorithm::Mayo2Round2, BackendKind::Portable.detect().unwrap())
    }

    #[test]
    fn the_gate_lets_the_correct_pass() {
        agree(&*ours(), &*ours()).unwrap();
        for peer in peers_of(Algorithm::Mayo1Round2).unwrap() {
            agree(&*aioli::scheme(Algorithm::Mayo1Round2, DetectedBackend::best()), &*peer).unwrap();
        }
        for scheme in for_scale().unwrap() {
            agree(&*scheme, &*scheme).unwrap();
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
