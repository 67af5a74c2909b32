//! `aioli-lab techniques`: technique by technique, by the published method and by a better one.
//!
//! A technique is an implementation of the kernel contract; the scheme around it is the library's. It is timed only
//! after it has made the first known answer of the set. Two methods stand beside each other: the wall time of a whole
//! process with a fixed amount of work, median of some runs, as published; and in one process, warmed up, all
//! operations in turns, medians with quartiles. Threads work inside one operation, or, in a batch, on different ones.

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

use crate::measure::{self, Cell, Conditions};
use crate::part::{Run, Section};
use crate::peers::{parse_set, round_number};
use crate::record::{self, Label, Machine, Measurement, Record, version};
use crate::show::{self, Block};
use aioli::Algorithm;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

pub(crate) use backend::{Technique, Token};
pub(crate) use process::Worker;
use workload::known_answer;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Sets to measure: mayo1, mayo2, mayo3, mayo5 [default: all]
    #[arg(long = "set", value_delimiter = ',', value_name = "SET", value_parser = parse_set)]
    sets: Vec<&'static str>,
    /// The round of NIST's process
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    round: u8,
    /// A first look: few rounds, little work
    #[arg(long)]
    quick: bool,
    /// Write a record to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures, prints and records.
///
/// # Errors
///
/// If a technique is not correct, and those of the record's file.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    options.json.as_deref().map_or(Ok(()), record::check_new)?;
    let run = Run::new(options.quick, stop);
    let section = measure(&run, &algorithms(&options.sets, options.round))?;
    finish(&run, &section, section.conditions.clone(), options.json.as_deref())
}

/// The sets of a round, or those of them that are named.
pub(crate) fn algorithms(sets: &[&str], round: u8) -> Vec<Algorithm> {
    Algorithm::ALL
        .into_iter()
        .filter(|set| round_number(*set) == round && (sets.is_empty() || sets.contains(&set.set_name())))
        .collect()
}

/// Writes the record of one part, if it is asked for, and prints what there is to see.
///
/// # Errors
///
/// Those of the file and of standard output.
pub(crate) fn finish<S: Section>(
    run: &Run<'_>,
    section: &S,
    conditions: Conditions,
    json: Option<&std::path::Path>,
) -> Result<()> {
    run.finish();
    // The record first: what was measured is not lost if the output goes to a closed pipe.
    if let Some(path) = json {
        let machine = Machine::here(conditions, Vec::new());
        let mut record = Record { machine, results: Vec::new(), sections: BTreeMap::new() };
        record.put(section)?;
        record.write(path)?;
    }
    Ok(write!(std::io::stdout().lock(), "{}", show::text(&section.blocks()))?)
}

/// What was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Techniques {
    /// Processors that this process may use.
    cores: usize,
    /// Whole schemes (keygen, sign, verify) that a process runs through.
    schemes: u32,
    /// Processes of each technique.
    runs: usize,
    /// `process` is a whole process; `keygen`, `sign`, `verify` are one operation; `batch` is a whole scheme of a batch.
    /// Backends are techniques.
    results: Vec<Measurement>,
    /// Of what was timed in one process.
    conditions: Conditions,
}

impl Section for Techniques {
    const KEY: &'static str = "techniques";
    const TITLE: &'static str = "Technique by technique";

    fn blocks(&self) -> Vec<Block> {
        tables::blocks(self)
    }
}

/// Measures all techniques with these sets.
///
/// # Errors
///
/// If a technique is not correct or an operation fails; if the run is stopped before anything was measured.
pub(crate) fn measure(run: &Run<'_>, algorithms: &[Algorithm]) -> Result<Techniques> {
    let techniques = Technique::available();
    let mut cells = Vec::new();
    let mut jobs = Vec::new();
    for &algorithm in algorithms {
        let record = known_answer(algorithm)?;
        for &technique in &techniques {
            workload::gate(algorithm, technique, &record)?;
            let mut operations = workload::operations(algorithm, technique)?;
            // Batches of everything would take most of a first look.
            if !run.quick || algorithm == algorithms[0] {
                operations.push(workload::batch(algorithm, technique)?);
            }
            let label = label(algorithm, technique);
            cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
            jobs.push((algorithm, technique));
        }
    }
    let (rounds, runs, schemes) = if run.quick { (QUICK_ROUNDS, 3, 2) } else { (ROUNDS, 10, 10) };
    run.begin("techniques in one process, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let mut results: Vec<Measurement> =
        cells.into_iter().map(|cell| Measurement::new(cell.label, &cell.operation.name, &cell.samples)).collect();
    let processes = process::time(&jobs, schemes, runs, run)?;
    for ((algorithm, technique), samples) in jobs.iter().zip(processes) {
        if !samples.is_empty() {
            results.push(Measurement::new(label(*algorithm, *technique), PROCESS, &samples));
        }
    }
    let cores = std::thread::available_parallelism()?.get();
    Ok(Techniques { cores, schemes, runs, results, conditions })
}

/// Ours, with the technique in the place of the backend.
pub(crate) fn label(algorithm: Algorithm, technique: Technique) -> Label {
    Label {
        implementation: "aioli".into(),
        version: version("aioli"),
        backend: technique.to_string(),
        set: algorithm.set_name().into(),
        round: Some(round_number(algorithm)),
    }
}

/// The name of a whole process in results.
const PROCESS: &str = "process";
const ROUNDS: usize = 20;
const QUICK_ROUNDS: usize = 2;
