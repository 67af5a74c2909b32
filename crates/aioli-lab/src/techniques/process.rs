//! The published method, kept: the wall time of a whole process that does a fixed amount of work.
//!
//! Start-up of the process, cold caches and a sleeping clock are in it; for the fast techniques they are most of it, which
//! is why the other method stands beside it. The processes of all techniques take turns.

use super::backend::Technique;
use super::workload::scheme;
use crate::measure::Sample;
use crate::part::Run;
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
    /// Whole schemes to run through
    #[arg(long)]
    schemes: u32,
}

impl Worker {
    /// Does the work.
    ///
    /// # Errors
    ///
    /// Those of the scheme.
    pub(crate) fn run(&self) -> Result<()> {
        let token = self.technique.token()?;
        token.enter(|| (0..self.schemes).try_for_each(|_| scheme(self.algorithm, token)))
    }
}

/// Wall times of `runs` processes for each of the jobs, in turns; fewer, but as many for each, if the run is stopped.
///
/// # Errors
///
/// If a process cannot be started or fails.
pub(super) fn time(
    jobs: &[(Algorithm, Technique)],
    schemes: u32,
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
            command.args(["worker", "--technique", &technique.to_string(), "--set", algorithm.name(), "--schemes"]);
            command.arg(schemes.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().with_context(|| format!("{}", program.display()))?;
            let ns = start.elapsed().as_nanos() as f64;
            // Ctrl-C reaches the workers too.
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
