//! Times the operations of a set.

use crate::clock;
use crate::round::round_number;
use aioli::backend::DetectedBackend;
use aioli::{
    Algorithm, ExpandedSigningKey, ExpandedVerifyingKey, MessageDigest, ParameterSet, Signature, SigningKey,
    VerifyingKey, hazmat,
};
use rayon::prelude::*;
use serde::Serialize;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The time of an operation of a set on a backend.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) implementation: &'static str,
    pub(crate) version: &'static str,
    pub(crate) backend: &'static str,
    /// The specification's name of the set.
    pub(crate) set: &'static str,
    pub(crate) round: u8,
    pub(crate) operation: &'static str,
    /// Nanoseconds for one operation.
    pub(crate) median_ns: f64,
    pub(crate) q1_ns: f64,
    pub(crate) q3_ns: f64,
    /// Cycles of [`clock::cycles`] for one operation.
    pub(crate) median_cycles: Option<f64>,
    pub(crate) samples: usize,
    /// Threads that shared the work.
    pub(crate) threads: usize,
}

/// Measures every operation of a set, interleaved, for `time` each. With a pool, measures batches
/// on all its threads.
pub(crate) fn measure(
    set: Algorithm,
    backend: DetectedBackend,
    time: Duration,
    pool: Option<&rayon::ThreadPool>,
) -> Result<Vec<Measurement>, aioli::Error> {
    aioli::with_set!(set, P => {
        let fixture = Fixture::<P>::new(backend)?;
        Ok(sample(set, backend, fixture.operations(), time, pool))
    })
}

/// The name of an operation, and the operation itself.
///
/// Its argument differs from call to call and takes the place of fresh randomness.
type Operation<'a> = (&'static str, Box<dyn Fn(u64) + Sync + 'a>);

/// The inputs of the operations.
struct Fixture<P: ParameterSet> {
    backend: DetectedBackend,
    key: SigningKey<P>,
    public_key: VerifyingKey<P>,
    expanded_key: ExpandedSigningKey<P>,
    checked_key: ExpandedSigningKey<P>,
    expanded_public_key: ExpandedVerifyingKey<P>,
    digest: MessageDigest<P>,
    signature: Signature<P>,
}

impl<P: ParameterSet> Fixture<P> {
    fn new(backend: DetectedBackend) -> Result<Self, aioli::Error> {
        let key = SigningKey::generate()?;
        let public_key = hazmat::verifying_key(backend, &key);
        let digest = MessageDigest::of(&[0; 32]);
        let expanded_key = hazmat::expand_signing_key(backend, &key);
        let fixture = Self {
            backend,
            checked_key: expanded_key.clone().checked(&public_key),
            expanded_key,
            expanded_public_key: hazmat::expand_verifying_key(backend, &public_key),
            signature: hazmat::sign(backend, &key, &digest, &randomizer::<P>(0))?,
            key,
            public_key,
            digest,
        };
        // A signature that does not verify must not be timed.
        hazmat::verify(backend, &fixture.public_key, &digest, &fixture.signature)?;
        Ok(fixture)
    }

    /// All operations, in the order of the table.
    fn operations(&self) -> Vec<Operation<'_>> {
        let Self { backend, key, public_key, expanded_key, checked_key, expanded_public_key, digest, signature } = self;
        let backend = *backend;
        vec![
            operation("keygen", move |_| hazmat::verifying_key(backend, black_box(key))),
            operation("expand_sk", move |_| hazmat::expand_signing_key(backend, black_box(key))),
            operation("expand_pk", move |_| hazmat::expand_verifying_key(backend, black_box(public_key))),
            operation("sign", move |i| hazmat::sign(backend, black_box(key), digest, &randomizer::<P>(i))),
            operation("verify", move |_| hazmat::verify(backend, black_box(public_key), digest, signature)),
            operation("sign_expanded", move |i| {
                hazmat::sign_expanded(backend, black_box(expanded_key), digest, &randomizer::<P>(i))
            }),
            operation("verify_expanded", move |_| {
                hazmat::verify_expanded(backend, black_box(expanded_public_key), digest, signature)
            }),
            operation("sign_checked", move |i| {
                hazmat::sign_checked(backend, black_box((key, public_key)), digest, &randomizer::<P>(i))
            }),
            operation("sign_expanded_checked", move |i| {
                hazmat::sign_expanded(backend, black_box(checked_key), digest, &randomizer::<P>(i))
            }),
        ]
    }
}

/// An operation whose result is hidden from the optimizer, then dropped.
fn operation<'a, T>(name: &'static str, run: impl Fn(u64) -> T + Sync + 'a) -> Operation<'a> {
    (name, Box::new(move |i| drop(black_box(run(i)))))
}

/// A randomizer that holds the number `i`.
fn randomizer<P: ParameterSet>(i: u64) -> Vec<u8> {
    let mut randomizer = vec![0; P::SALT_BYTES];
    randomizer[..8].copy_from_slice(&i.to_le_bytes());
    randomizer
}

/// Takes samples of the operations in turn until the time for all of them is over.
fn sample(
    set: Algorithm,
    backend: DetectedBackend,
    operations: Vec<Operation<'_>>,
    time: Duration,
    pool: Option<&rayon::ThreadPool>,
) -> Vec<Measurement> {
    let threads = pool.map_or(1, rayon::ThreadPool::current_num_threads);
    // A sample takes long enough for the clock to measure, and for threads to share.
    let sample_time = if pool.is_some() { Duration::from_millis(4) } else { Duration::from_micros(20) };
    let calls: Vec<u64> = operations
        .iter()
        .map(|(_, operation)| {
            operation(0);
            let start = Instant::now();
            operation(1);
            let alone = start.elapsed().max(Duration::from_nanos(1));
            (sample_time.as_nanos() / alone.as_nanos()).max(1) as u64 * threads as u64
        })
        .collect();

    let mut samples = vec![Vec::new(); operations.len()];
    let total = time * operations.len() as u32;
    let mut i = 2;
    let start = Instant::now();
    while start.elapsed() < total || samples[0].len() < MIN_SAMPLES {
        for ((samples, (_, operation)), &calls) in samples.iter_mut().zip(&operations).zip(&calls) {
            let first_cycle = clock::cycles();
            let start = Instant::now();
            match pool {
                Some(pool) => pool.install(|| (i..i + calls).into_par_iter().for_each(operation)),
                None => (i..i + calls).for_each(operation),
            }
            let elapsed = start.elapsed();
            let last_cycle = clock::cycles();
            let cycles = first_cycle.zip(last_cycle);
            let cycles = cycles.map(|(first, last)| last.wrapping_sub(first) as f64 / calls as f64);
            samples.push((elapsed.as_nanos() as f64 / calls as f64, cycles));
            i += calls;
        }
    }
    let results = operations.iter().zip(samples);
    results.map(|((operation, _), samples)| summary(set, backend.kind().name(), operation, samples, threads)).collect()
}

/// Median and quartiles of an operation's samples, each of which is nanoseconds and cycles.
pub(crate) fn summary(
    set: Algorithm,
    backend: &'static str,
    operation: &'static str,
    samples: Vec<(f64, Option<f64>)>,
    threads: usize,
) -> Measurement {
    let (mut times, cycles): (Vec<f64>, Vec<Option<f64>>) = samples.into_iter().unzip();
    let cycles: Option<Vec<f64>> = cycles.into_iter().collect();
    times.sort_by(f64::total_cmp);
    let quantile = |sorted: &[f64], quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
    Measurement {
        implementation: "aioli",
        version: env!("CARGO_PKG_VERSION"),
        backend,
        set: set.set_name(),
        round: round_number(set),
        operation,
        median_ns: quantile(&times, 2),
        q1_ns: quantile(&times, 1),
        q3_ns: quantile(&times, 3),
        median_cycles: cycles.map(|mut cycles| {
            cycles.sort_by(f64::total_cmp);
            quantile(&cycles, 2)
        }),
        samples: times.len(),
        threads,
    }
}

/// The fewest samples of an operation: quartiles of fewer say little.
pub(crate) const MIN_SAMPLES: usize = 11;
