//! `aioli-lab techniques`: each technique by the published method and by a better one.
//!
//! A technique is an implementation of the kernel contract; the scheme around it is the library's.
//! It is timed only after it has made the first known answer of the set. Two methods are compared.
//! The published one takes the wall time of a whole process, and the median of some processes. The
//! better one times all operations in turn inside one process, after a warm-up, and gives medians
//! with quartiles. Threads share the work of one operation; in a batch each thread has operations
//! of its own. Where liboqs is built in, its generic code is beside the scalar rungs, as an anchor
//! from outside.

mod backend;
mod claims;
mod comparison;
mod ladder;
mod library;
mod m4r;
#[cfg(openmp)]
mod openmp;
mod process;
mod scalar;
mod sliced;
mod tables;
mod team;
mod workload;

use crate::chapter::{Run, Section};
use crate::measure::{self, Cell, Conditions};
use crate::peers;
use crate::record::Measurement;
use crate::samples::Samples;
use crate::show::Block;
use crate::study::{self, Study, label, rounds};
use aioli::Algorithm;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

pub(crate) use backend::{Technique, Token};
pub(crate) use process::Worker;
use workload::known_answer;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    study: study::Options,
    /// Techniques to measure, such as scalar, avx2 or avx2_openmp_4 [default: all]
    #[arg(long = "technique", value_delimiter = ',', value_name = "TECHNIQUE")]
    techniques: Vec<Technique>,
}

/// Measures, records and prints.
///
/// # Errors
///
/// Errors of [`measure`], and of the files.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    let chosen = match &options.techniques[..] {
        [] => Technique::available(),
        chosen => chosen.to_vec(),
    };
    study::run(&options.study, stop, |run, sets| measure(run, sets, &chosen)).map(drop)
}

/// Measures all techniques with these sets.
///
/// # Errors
///
/// Errors of [`measure`].
pub(crate) fn measure_all(run: &Run<'_>, algorithms: &[Algorithm]) -> Result<Techniques> {
    measure(run, algorithms, &Technique::available())
}

/// The measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Techniques {
    /// Processors that this process may use.
    cores: usize,
    /// Processes of each technique.
    runs: usize,
    /// The largest share of its process that the start of a technique's process takes. `None` in
    /// records whose processes had a fixed amount of work, which for some was mostly the start.
    start_share: Option<f64>,
    /// The OpenMP runtime and its compiler, if there is one.
    #[serde(default)]
    openmp: Option<String>,
    /// `process` is one round trip in a whole process, `start` a process without any; `keygen`,
    /// `sign`, `verify` are one operation; `batch` is one round trip of a batch. The backend of a
    /// label is a technique.
    results: Vec<Measurement>,
    /// The conditions of the operations timed in one process.
    conditions: Conditions,
}

impl Section for Techniques {
    const KEY: &'static str = "techniques";
    const TITLE: &'static str = "Technique by technique";

    fn blocks(&self) -> Vec<Block> {
        tables::blocks(self)
    }
}

impl Study for Techniques {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}

impl Techniques {
    /// Adds the raw samples.
    pub(crate) fn add_samples(&self, samples: &mut Samples) {
        self.results.iter().for_each(|result| samples.add(Self::KEY, &result.label, &result.operation, &result.raw));
    }
}

/// Measures techniques with these sets.
///
/// # Errors
///
/// If a technique is not correct or an operation fails; if the run is stopped before anything was
/// measured.
fn measure(run: &Run<'_>, algorithms: &[Algorithm], techniques: &[Technique]) -> Result<Techniques> {
    let mut cells = Vec::new();
    let mut jobs = Vec::new();
    for &algorithm in algorithms {
        let record = known_answer(algorithm)?;
        for &technique in techniques {
            workload::gate(algorithm, technique, &record)?;
            let mut operations = workload::operations(algorithm, technique)?;
            if !technique.has_team() {
                operations.push(workload::batch(algorithm, technique)?);
            }
            let label = label(algorithm, technique);
            cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
            jobs.push((algorithm, technique));
        }
        for (label, operation) in peers::generic_operations(algorithm)? {
            cells.push(Cell::new(label, operation));
        }
    }
    let rounds = rounds(run, ROUNDS, QUICK_ROUNDS);
    run.begin("techniques in one process, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let results = cells.into_iter().map(|cell| Measurement::new(cell.label, &cell.operation.name, &cell.samples));
    let runs = study::rounds(run, PROCESSES, QUICK_PROCESSES);
    let openmp = Some(env!("AIOLI_LAB_OPENMP").to_owned()).filter(|openmp| !openmp.is_empty());
    let cores = std::thread::available_parallelism()?.get();
    let mut measured = Techniques { cores, runs, start_share: None, openmp, results: results.collect(), conditions };
    let work: Vec<process::Job> = jobs
        .into_iter()
        .map(|(algorithm, technique)| {
            let round_trip = measured.round_trip_ns(algorithm.set_name(), &technique.to_string());
            process::Job { algorithm, technique, round_trip_ns: round_trip.unwrap_or(f64::INFINITY) }
        })
        .collect();
    let mut share = 0.0f64;
    for (job, times) in work.iter().zip(process::time(&work, runs, run)?) {
        if times.samples.is_empty() {
            continue;
        }
        share = share.max(times.start_share());
        let label = label(job.algorithm, job.technique);
        measured.results.push(Measurement::new(label.clone(), PROCESS, &times.samples));
        measured.results.push(Measurement::new(label, START, &times.starts));
    }
    measured.start_share = (share > 0.0).then(|| measure::rounded(share, 4));
    Ok(measured)
}

/// The name of a round trip in a whole process in results.
const PROCESS: &str = "process";
/// The name of a process without work in results.
const START: &str = "start";
const ROUNDS: usize = 20;
const QUICK_ROUNDS: usize = 2;
const PROCESSES: usize = 10;
const QUICK_PROCESSES: usize = 3;
