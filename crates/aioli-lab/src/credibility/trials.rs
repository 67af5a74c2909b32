//! Trials: one operation timed many times in a row.

use crate::chapter::Run;
use crate::counter;
use crate::measure::{self, Quartiles, Sample, Scheduling, rounded};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The amount of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Untimed operations at the beginning.
    pub(crate) warm_ups: usize,
    pub(crate) trials: usize,
    /// Operations per trial.
    pub(crate) operations: usize,
}

impl Plan {
    /// The plan of the publications that we compare with.
    pub(crate) const PUBLISHED: Self = Self { warm_ups: 100, trials: 1000, operations: 100 };
    /// The plan of a first look.
    pub(crate) const QUICK: Self = Self { warm_ups: 100, trials: 100, operations: 20 };
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { warm_ups, trials, operations } = self;
        write!(
            f,
            "{trials} trials of {operations} operations each, after {warm_ups} warm-up runs; messages of 256 bytes"
        )
    }
}

/// The measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trials {
    pub(crate) statistics: Statistics,
    /// Every trial, right after measuring only: they are not part of the record.
    #[serde(skip)]
    pub(crate) raw: Vec<Sample>,
}

/// Statistics of the trials; all figures are for one operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statistics {
    pub(crate) median_ns: f64,
    pub(crate) q1_ns: f64,
    pub(crate) q3_ns: f64,
    pub(crate) mean_ns: f64,
    /// The median in reference cycles.
    pub(crate) median_cycles: Option<f64>,
    /// The standard deviation of the trials in percent of their mean.
    pub(crate) cv_percent: f64,
    /// The time by one reading of the clock before and one after the operations of ten trials.
    pub(crate) single_pass_ns: f64,
    /// Ticks of the counter per nanosecond, over all trials.
    pub(crate) counter_ghz: Option<f64>,
    /// The share of the time that the thread was ready but waited for a processor.
    pub(crate) waiting: Option<f64>,
    /// Core cycles per nanosecond, by a loop of known length right after the trials.
    pub(crate) core_ghz: Option<f64>,
}

impl Statistics {
    /// The statistics of trials and of a single pass.
    pub(crate) fn of(trials: &[Sample], single_pass_ns: f64) -> Self {
        let ns = Quartiles::of(trials.iter().map(|trial| trial.ns));
        let count = trials.len() as f64;
        let mean = trials.iter().map(|trial| trial.ns).sum::<f64>() / count;
        let squares: f64 = trials.iter().map(|trial| (trial.ns - mean).powi(2)).sum();
        // The sample's standard deviation divides by one less than the count.
        let deviation = if trials.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let cycles: Option<Vec<f64>> = trials.iter().map(|trial| trial.cycles).collect();
        let ticks = cycles.as_ref().map(|cycles| cycles.iter().sum::<f64>() / count / mean);
        Self {
            median_ns: rounded(ns.median, 1),
            q1_ns: rounded(ns.q1, 1),
            q3_ns: rounded(ns.q3, 1),
            mean_ns: rounded(mean, 1),
            median_cycles: cycles.map(|cycles| rounded(Quartiles::of(cycles).median, 1)),
            cv_percent: rounded(100.0 * deviation / mean, 3),
            single_pass_ns: rounded(single_pass_ns, 1),
            counter_ghz: ticks.map(|ghz| rounded(ghz, 4)),
            waiting: None,
            core_ghz: None,
        }
    }

    /// Operations per second by the median.
    pub(crate) fn ops_per_second(&self) -> f64 {
        1e9 / self.median_ns
    }

    /// The distance of the single pass's rate from the median's, in percent of the median's.
    pub(crate) fn single_pass_off_percent(&self) -> f64 {
        100.0 * (self.median_ns / self.single_pass_ns - 1.0).abs()
    }
}

/// Times `operation` by `plan`, with fewer trials if the run is stopped.
///
/// # Errors
///
/// Errors of the operation, and if the run is stopped before the end of the first trial.
pub(crate) fn measure(plan: Plan, run: &Run<'_>, mut operation: impl FnMut() -> Result<()>) -> Result<Trials> {
    let mut several = |count: usize| (0..count).try_for_each(|_| operation());
    several(plan.warm_ups)?;
    let begun = Scheduling::now();
    let mut trials = Vec::with_capacity(plan.trials);
    for done in 0..plan.trials {
        if run.stopped() {
            break;
        }
        let start = Instant::now();
        let start_cycles = counter::cycles();
        several(plan.operations)?;
        let end_cycles = counter::cycles();
        let ns = start.elapsed().as_nanos() as f64;
        let count = plan.operations as f64;
        let cycles = start_cycles.zip(end_cycles).map(|(start, end)| end.wrapping_sub(start) as f64 / count);
        trials.push(Sample { ns: ns / count, cycles });
        run.done(done + 1);
    }
    ensure!(!trials.is_empty(), "stopped before the first trial was finished: nothing was measured");
    let waiting = begun.zip(Scheduling::now()).map(|(start, end)| rounded(end.waiting_since(start), 4));
    let count = 10 * plan.operations;
    let start = Instant::now();
    several(count)?;
    let single_pass = start.elapsed().as_nanos() as f64 / count as f64;
    let clocks: Option<Vec<f64>> = (0..15).map(|_| measure::core_clock()).collect();
    let core_ghz = clocks.map(|clocks| rounded(Quartiles::of(clocks).median, 3));
    let statistics = Statistics { waiting, core_ghz, ..Statistics::of(&trials, single_pass) };
    Ok(Trials { statistics, raw: trials })
}

/// Statistics for tests.
#[cfg(test)]
pub(crate) fn planted(ns: f64, cycles: Option<f64>, cv_percent: f64, single_pass_ns: f64) -> Statistics {
    let trial = Sample { ns, cycles };
    Statistics { cv_percent, ..Statistics::of(&[trial, trial], single_pass_ns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn statistics_agree_with_a_reference() {
        // Computed with Python: statistics.mean, .stdev, .median, .quantiles(n=4,
        // method="inclusive").
        let trials = [12.0, 10.0, 11.0, 30.0, 10.5, 11.5].map(|ns| Sample { ns, cycles: Some(3.0 * ns) });
        let statistics = Statistics::of(&trials, 12.5);
        assert_eq!(statistics.mean_ns, 14.2);
        assert_eq!(statistics.median_ns, 11.3);
        assert_eq!((statistics.q1_ns, statistics.q3_ns), (10.6, 11.9));
        assert_eq!(statistics.cv_percent, 54.98);
        assert_eq!(statistics.median_cycles, Some(33.8));
        assert_eq!(statistics.counter_ghz, Some(3.0));
    }

    #[test]
    fn rates_and_the_single_pass() {
        let statistics = planted(20_000.0, None, 0.0, 25_000.0);
        assert_eq!(statistics.ops_per_second(), 50_000.0);
        // 40,000 instead of 50,000 a second.
        assert!((statistics.single_pass_off_percent() - 20.0).abs() < 1e-9);
        assert_eq!(statistics.median_cycles, None);
    }

    #[test]
    fn the_plan_is_followed() {
        let stop = AtomicBool::new(false);
        let mut count = 0;
        let plan = Plan { warm_ups: 3, trials: 4, operations: 5 };
        let trials = measure(plan, &Run::new(true, &stop), || {
            count += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, 3 + 4 * 5 + 10 * 5);
        assert_eq!(trials.raw.len(), 4);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(measure(plan, &Run::new(true, &stop), || Ok(())).is_err());
    }
}
