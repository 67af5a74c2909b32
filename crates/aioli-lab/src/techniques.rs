//! `aioli-lab techniques`: each technique by the published method and by a better one.
//!
//! A technique is an implementation of the kernel contract; the scheme around it is the library's.
//! It is timed only after it has made the first known answer of the set. Two methods are compared.
//! The published one takes the wall time of a whole process with a fixed amount of work, and the
//! median of some processes. The better one times all operations in turn inside one process, after
//! a warm-up, and gives medians with quartiles. Threads share the work of one operation; in a batch
//! each thread has operations of its own.

mod backend;
mod claims;
mod comparison;
#[cfg(feature = "openmp")]
mod openmp;
mod process;
mod scalar;
mod sliced;
mod tables;
mod threads;
mod workload;

use crate::chapter::{Run, Section};
use crate::measure::{self, Cell, Conditions};
use crate::record::Measurement;
use crate::samples::Samples;
use crate::show::Block;
use crate::study::{Study, label, rounds};
use aioli::Algorithm;
use anyhow::Result;
use serde::{Deserialize, Serialize};

pub(crate) use backend::{Technique, Token};
pub(crate) use process::Worker;
use workload::known_answer;

/// The measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Techniques {
    /// Processors that this process may use.
    cores: usize,
    /// Round trips (keygen, sign, verify) in a process.
    round_trips: u32,
    /// Processes of each technique.
    runs: usize,
    /// `process` is a whole process; `keygen`, `sign`, `verify` are one operation; `batch` is one
    /// round trip of a batch. The backend of a label is a technique.
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

/// Measures all techniques with these sets.
///
/// # Errors
///
/// If a technique is not correct or an operation fails; if the run is stopped before anything was
/// measured.
pub(crate) fn measure(run: &Run<'_>, algorithms: &[Algorithm]) -> Result<Techniques> {
    let techniques = Technique::available();
    let mut cells = Vec::new();
    let mut jobs = Vec::new();
    for &algorithm in algorithms {
        let record = known_answer(algorithm)?;
        for &technique in &techniques {
            workload::gate(algorithm, technique, &record)?;
            let mut operations = workload::operations(algorithm, technique)?;
            // Batches of every set would take most of the time of a first look.
            if !run.quick || algorithm == algorithms[0] {
                operations.push(workload::batch(algorithm, technique)?);
            }
            let label = label(algorithm, technique);
            cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
            jobs.push((algorithm, technique));
        }
    }
    let rounds = rounds(run, ROUNDS, QUICK_ROUNDS);
    let (runs, round_trips) = if run.quick { (3, 2) } else { (10, 10) };
    run.begin("techniques in one process, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let mut results: Vec<Measurement> =
        cells.into_iter().map(|cell| Measurement::new(cell.label, &cell.operation.name, &cell.samples)).collect();
    let processes = process::time(&jobs, round_trips, runs, run)?;
    for ((algorithm, technique), samples) in jobs.iter().zip(processes) {
        if !samples.is_empty() {
            results.push(Measurement::new(label(*algorithm, *technique), PROCESS, &samples));
        }
    }
    let cores = std::thread::available_parallelism()?.get();
    Ok(Techniques { cores, round_trips, runs, results, conditions })
}

/// The name of a whole process in results.
const PROCESS: &str = "process";
const ROUNDS: usize = 20;
const QUICK_ROUNDS: usize = 2;
