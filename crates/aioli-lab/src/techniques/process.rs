//! The published method: the wall time of a whole process that does a fixed amount of work.
//!
//! This time includes the start of the process, cold caches and a core at a low clock. They are
//! most of it for the fast techniques, which is why the lab has another method too. The processes
//! of all techniques take turns.

use super::backend::Technique;
use super::workload::round_trip;
use crate::chapter::Run;
use crate::measure::Sample;
use aioli::Algorithm;
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The options of a worker, which is this program again.
#[derive(clap::Args, Debug)]
pub(crate) struct Worker {
    #[arg(long)]
    technique: Technique,
    #[arg(long = "set")]
    algorithm: Algorithm,
    /// Round trips of keygen, sign and verify to run
    #[arg(long)]
    round_trips: u32,
}

impl Worker {
    /// Runs the round trips.
    ///
    /// # Errors
    ///
    /// Errors of the scheme's operations.
    pub(crate) fn run(&self) -> Result<()> {
        let token = self.technique.token()?;
        token.enter(|| (0..self.round_trips).try_for_each(|_| round_trip(self.algorithm, token)))
    }
}

/// Wall times of `runs` processes for each job, in turn. If the run is stopped, each job has the
/// same smaller number.
///
/// # Errors
///
/// If a process cannot be started or fails.
pub(super) fn time(
    jobs: &[(Algorithm, Technique)],
    round_trips: u32,
    runs: usize,
    run: &Run<'_>,
) -> Result<Vec<Vec<Sample>>> {
    let program = std::env::current_exe().context("the path of this program")?;
    let mut samples = vec![Vec::new(); jobs.len()];
    run.begin("whole processes", runs * jobs.len());
    for turn in 0..runs {
        let mut round = Vec::new();
        for (i, (algorithm, technique)) in jobs.iter().enumerate() {
            if run.stopped() {
                return Ok(samples);
            }
            let mut command = Command::new(&program);
            command.args(["worker", "--technique", &technique.to_string(), "--set", algorithm.name(), "--round-trips"]);
            command.arg(round_trips.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().with_context(|| format!("{}", program.display()))?;
            let ns = start.elapsed().as_nanos() as f64;
            // Ctrl-C reaches the worker too, so its failure then means nothing.
            if run.stopped() {
                return Ok(samples);
            }
            ensure!(status.success(), "the process of {technique} with {algorithm} ended with {status}");
            round.push(Sample { ns, cycles: None });
            run.done(turn * jobs.len() + i + 1);
        }
        samples.iter_mut().zip(round).for_each(|(samples, sample)| samples.push(sample));
    }
    Ok(samples)
}
