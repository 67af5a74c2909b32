//! The published method: the wall time of whole processes.
//!
//! This time includes the start of the process, cold caches and a core at a low clock. So each
//! process does enough round trips for its start to be a small part, and its time is divided by
//! their number; processes that do nothing tell how long the start takes. The processes of all
//! techniques take turns.

use super::backend::Technique;
use super::workload::round_trip;
use crate::chapter::Run;
use crate::measure::{Quartiles, Sample};
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

/// The processes of a technique with a set.
pub(super) struct Job {
    pub(super) algorithm: Algorithm,
    pub(super) technique: Technique,
    /// The time of a round trip, which tells how many are enough.
    pub(super) round_trip_ns: f64,
}

impl Job {
    /// The wall time of a process.
    fn wall_ns(&self, round_trips: u32) -> Result<f64> {
        let program = std::env::current_exe().context("the path of this program")?;
        let mut command = Command::new(&program);
        let technique = self.technique.to_string();
        command.args(["worker", "--technique", &technique, "--set", self.algorithm.name(), "--round-trips"]);
        command.arg(round_trips.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        let status = command.status().with_context(|| format!("{}", program.display()))?;
        let ns = start.elapsed().as_nanos() as f64;
        ensure!(status.success(), "the process of {technique} with {} ended with {status}", self.algorithm);
        Ok(ns)
    }

    /// The round trips of which a start of `start_ns` is a small part.
    fn round_trips(&self, start_ns: f64) -> u32 {
        (WORK_OF_A_START * start_ns / self.round_trip_ns).ceil().max(1.0) as u32
    }
}

/// The times of a job's processes.
#[derive(Clone, Default)]
pub(super) struct Times {
    /// One round trip: the time of a process divided by its round trips.
    pub(super) samples: Vec<Sample>,
    /// Processes that do nothing.
    pub(super) starts: Vec<Sample>,
    round_trips: u32,
}

impl Times {
    /// The wall times of a process that does nothing, and of one with enough work.
    fn next(&mut self, job: &Job) -> Result<(f64, f64)> {
        if self.round_trips == 0 {
            // The second start finds the program in the caches.
            job.wall_ns(0)?;
            self.round_trips = job.round_trips(job.wall_ns(0)?);
        }
        Ok((job.wall_ns(0)?, job.wall_ns(self.round_trips)?))
    }

    /// The start's share of a process.
    pub(super) fn start_share(&self) -> f64 {
        let median = |samples: &[Sample]| Quartiles::of(samples.iter().map(|sample| sample.ns)).median;
        median(&self.starts) / (median(&self.samples) * f64::from(self.round_trips))
    }
}

/// The times of `runs` processes for each job, in turn. If the run is stopped, each job has the
/// same smaller number.
///
/// # Errors
///
/// If a process cannot be started or fails.
pub(super) fn time(jobs: &[Job], runs: usize, run: &Run<'_>) -> Result<Vec<Times>> {
    let mut all = vec![Times::default(); jobs.len()];
    run.begin("whole processes", runs * jobs.len());
    for turn in 0..runs {
        let mut round = Vec::new();
        for (i, (job, times)) in jobs.iter().zip(&mut all).enumerate() {
            let walls = times.next(job);
            // Ctrl-C reaches the processes too, so a failure then means nothing.
            if run.stopped() {
                return Ok(all);
            }
            round.push(walls?);
            run.done(turn * jobs.len() + i + 1);
        }
        for (times, (start, wall)) in all.iter_mut().zip(round) {
            times.starts.push(Sample { ns: start, cycles: None });
            times.samples.push(Sample { ns: wall / f64::from(times.round_trips), cycles: None });
        }
    }
    Ok(all)
}

/// Work of a process in multiples of its start: with a margin, as no start may exceed 5 % of it.
const WORK_OF_A_START: f64 = 30.0;
