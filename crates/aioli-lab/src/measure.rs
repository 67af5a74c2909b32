//! Timing: operations interleaved in rounds, medians and quartiles, and a verdict on the run.
//!
//! A cell is an operation of an implementation with a parameter set. Every cell is timed once a
//! round, so that a slower clock or a busy neighbour affects all cells alike. Before each sample
//! the operation runs once untimed: its data and code are then in the caches, as in a program that
//! uses it repeatedly. A sample during which Linux gave the processor to others is repeated, a few
//! times at most. A sample covers enough runs to be long against the clock's granularity.

use crate::counter;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An operation to time.
pub(crate) struct Operation {
    /// The name in tables and records.
    pub(crate) name: String,
    /// Items that one run processes; times are divided by it.
    pub(crate) items: u32,
    /// Runs it once.
    pub(crate) run: Box<dyn FnMut() -> Result<()>>,
}

impl Operation {
    /// An operation on one item.
    pub(crate) fn new(name: &str, run: impl FnMut() -> Result<()> + 'static) -> Self {
        Self { name: name.into(), items: 1, run: Box::new(run) }
    }
}

/// An operation, its label, and its samples so far.
pub(crate) struct Cell<L> {
    pub(crate) label: L,
    pub(crate) operation: Operation,
    /// Runs per sample.
    batch: u32,
    pub(crate) samples: Vec<Sample>,
}

impl<L> Cell<L> {
    pub(crate) fn new(label: L, operation: Operation) -> Self {
        Self { label, operation, batch: 1, samples: Vec::new() }
    }

    /// Chooses how many runs make a sample of at least `enough`.
    fn calibrate(&mut self, enough: Duration) -> Result<()> {
        (self.operation.run)()?;
        loop {
            let start = Instant::now();
            self.repeat()?;
            let taken = start.elapsed();
            if taken >= enough || self.batch >= MAX_BATCH {
                return Ok(());
            }
            // The time taken tells the number of runs; the margin of 1.2 covers a clock that speeds
            // up.
            let factor = enough.as_secs_f64() / taken.as_secs_f64().max(1e-9) * 1.2;
            self.batch = (f64::from(self.batch) * factor.clamp(1.5, 16.0)).ceil().min(f64::from(MAX_BATCH)) as u32;
        }
    }

    /// The first of a few samples during which the processor was not given to others, or else the
    /// sample with the smallest share of waiting; and whether that share is too large.
    fn undisturbed_sample(&mut self) -> Result<(Sample, bool)> {
        let mut best: Option<(f64, Sample)> = None;
        for _ in 0..ATTEMPTS {
            let begun = Scheduling::now();
            let sample = self.sample()?;
            let waiting = begun.zip(Scheduling::now()).map_or(0.0, |(start, end)| end.waiting_since(start));
            if best.is_none_or(|(least, _)| waiting < least) {
                best = Some((waiting, sample));
            }
            if waiting < UNDISTURBED {
                break;
            }
        }
        let (waiting, sample) = best.expect("at least one attempt");
        Ok((sample, waiting >= UNDISTURBED))
    }

    fn sample(&mut self) -> Result<Sample> {
        (self.operation.run)()?;
        let start = Instant::now();
        let start_cycles = counter::cycles();
        self.repeat()?;
        let end_cycles = counter::cycles();
        let ns = start.elapsed().as_nanos() as f64;
        let count = f64::from(self.batch) * f64::from(self.operation.items);
        let cycles = start_cycles.zip(end_cycles).map(|(start, end)| end.wrapping_sub(start) as f64 / count);
        Ok(Sample { ns: ns / count, cycles })
    }

    fn repeat(&mut self) -> Result<()> {
        (0..self.batch).try_for_each(|_| (self.operation.run)())
    }
}

/// The time of one item, as the mean over a sample's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ns: f64,
    /// Reference cycles, if there is a counter.
    pub(crate) cycles: Option<f64>,
}

/// Times all cells in `rounds` rounds, or fewer if `stop` becomes true, which discards the
/// unfinished round.
///
/// Calls `progress` with the number of finished rounds after each.
///
/// # Errors
///
/// Errors of the operations; and if no round was finished.
pub(crate) fn interleaved<L>(
    cells: &mut [Cell<L>],
    rounds: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<Conditions> {
    let granularity = clock_granularity();
    let enough = MIN_SAMPLE.max(granularity * MIN_GRANULES);
    for cell in &mut *cells {
        cell.calibrate(enough).context("calibration")?;
    }
    let begun = Instant::now();
    let begun_cycles = counter::cycles();
    let begun_scheduling = Scheduling::now();
    let mut core_cycles_per_ns = Vec::new();
    let mut finished = 0;
    let mut disturbed = 0;
    'rounds: for round in 0..WARM_UP + rounds {
        let mut samples = Vec::with_capacity(cells.len());
        for cell in &mut *cells {
            if stop.load(Ordering::Relaxed) {
                break 'rounds;
            }
            samples.push(cell.undisturbed_sample()?);
        }
        let clock = core_clock();
        if round >= WARM_UP {
            disturbed += samples.iter().filter(|(_, disturbed)| *disturbed).count();
            cells.iter_mut().zip(samples).for_each(|(cell, (sample, _))| cell.samples.push(sample));
            core_cycles_per_ns.extend(clock);
            finished += 1;
            progress(finished);
        }
    }
    ensure!(finished > 0, "stopped before the first round was finished: nothing was measured");
    let ns = begun.elapsed().as_nanos() as f64;
    let ticks = begun_cycles.zip(counter::cycles()).map(|(start, end)| end.wrapping_sub(start) as f64);
    let spreads: Vec<f64> =
        cells.iter().map(|cell| Quartiles::of(cell.samples.iter().map(|sample| sample.ns)).spread()).collect();
    let spread = Quartiles::of(spreads).median;
    let core = (!core_cycles_per_ns.is_empty()).then(|| Quartiles::of(core_cycles_per_ns));
    let waiting = begun_scheduling.zip(Scheduling::now()).map(|(start, end)| end.waiting_since(start));
    let disturbed = disturbed as f64 / (finished * cells.len()).max(1) as f64;
    Ok(Conditions {
        rounds: finished,
        clock_granularity_ns: granularity.as_nanos() as u64,
        counter_ghz: ticks.map(|ticks| rounded(ticks / ns, 4)),
        core_ghz: core.map(|core| rounded(core.median, 3)),
        core_clock_spread: core.map(|core| rounded(core.spread(), 4)),
        spread: rounded(spread, 4),
        waiting: waiting.map(|share| rounded(share, 4)),
        disturbed: rounded(disturbed, 4),
        verdict: Verdict::of(spread.max(core.map_or(0.0, Quartiles::spread)), disturbed),
    })
}

/// The conditions of a run: its clocks, and the measures of how quiet the machine was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    /// Finished rounds.
    pub(crate) rounds: usize,
    /// The smallest step of the monotonic clock.
    pub(crate) clock_granularity_ns: u64,
    /// Ticks of the counter per nanosecond of the clock, over the whole run.
    pub(crate) counter_ghz: Option<f64>,
    /// Core cycles per nanosecond: the median over the rounds, each measured by a chain of
    /// dependent additions.
    pub(crate) core_ghz: Option<f64>,
    /// The interquartile range of the core's clock as a share of its median.
    pub(crate) core_clock_spread: Option<f64>,
    /// The median over the cells of their interquartile range as a share of their median.
    pub(crate) spread: f64,
    /// The share of the time that the measuring thread was ready but waited for a processor.
    pub(crate) waiting: Option<f64>,
    /// The share of the samples with too much such waiting in every attempt. Long operations are
    /// affected most.
    pub(crate) disturbed: f64,
    /// Whether to believe the run.
    pub(crate) verdict: Verdict,
}

/// Whether to believe a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Half of the cells and the core's clock vary by less than 3 %, and less than 1 % of the
    /// samples were disturbed.
    Quiet,
    /// The same with 10 % and 10 %. Medians and ratios hold, absolute figures less so; times of
    /// batches on several threads do not.
    Noisy,
    /// Anything worse: measure again on a quieter machine.
    Unusable,
}

impl Verdict {
    fn of(spread: f64, disturbed: f64) -> Self {
        match (spread, disturbed) {
            (spread, disturbed) if spread < 0.03 && disturbed < 0.01 => Self::Quiet,
            (spread, disturbed) if spread < 0.10 && disturbed < 0.10 => Self::Noisy,
            // Comparisons with NaN are false and lead here.
            _ => Self::Unusable,
        }
    }

    /// Whether nothing may be concluded from the figures.
    pub(crate) fn unusable(self) -> bool {
        self == Self::Unusable
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Quiet => "quiet: the figures can be believed",
            Self::Noisy => "noisy: believe the ratios, not the last digits",
            Self::Unusable => "unusable: measure again while nothing else runs",
        })
    }
}

/// A reading of the time that the measuring thread has waited for a processor since its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduling {
    at: Instant,
    /// Nanoseconds.
    waited: u64,
}

impl Scheduling {
    /// Linux's figure; `None` on other systems.
    pub(crate) fn now() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let waited = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(Self { at: Instant::now(), waited })
    }

    /// The share of the time since `start` that was spent waiting.
    pub(crate) fn waiting_since(self, start: Self) -> f64 {
        (self.waited - start.waited) as f64 / (self.at - start.at).as_nanos().max(1) as f64
    }
}

/// Median and quartiles, by linear interpolation between the two nearest values (Hyndman and Fan's
/// type 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quartiles {
    pub(crate) q1: f64,
    pub(crate) median: f64,
    pub(crate) q3: f64,
}

impl Quartiles {
    /// The quartiles of the values; all NaN for no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let [q1, median, q3] = [0.25, 0.5, 0.75].map(|p| quantile(&sorted, p));
        Self { q1, median, q3 }
    }

    /// The interquartile range as a share of the median.
    pub(crate) fn spread(self) -> f64 {
        (self.q3 - self.q1) / self.median
    }
}

fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p * last as f64;
    let below = sorted[at.floor() as usize];
    let above = sorted[at.ceil() as usize];
    below + (above - below) * at.fract()
}

/// Rounds to `decimals` decimals, so that records do not pretend to more precision.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// The smallest of 200 observed steps of the clock.
fn clock_granularity() -> Duration {
    (0..200)
        .map(|_| {
            let start = Instant::now();
            loop {
                let step = start.elapsed();
                if !step.is_zero() {
                    return step;
                }
            }
        })
        .min()
        .unwrap_or_default()
}

/// Core cycles per nanosecond, by a loop that takes a known number of cycles.
pub(crate) fn core_clock() -> Option<f64> {
    let start = Instant::now();
    counter::dependent_adds().then(|| counter::ADDS as f64 / start.elapsed().as_nanos() as f64)
}

/// Rounds at the beginning that are not kept.
const WARM_UP: usize = 2;
/// The shortest sample. Interrupts take some microseconds each, so they spoil few samples instead
/// of shifting all.
const MIN_SAMPLE: Duration = Duration::from_micros(20);
/// The shortest sample in steps of the clock: the error of one step is then half a percent at most.
const MIN_GRANULES: u32 = 200;
/// The most attempts at an undisturbed sample.
const ATTEMPTS: usize = 4;
/// The largest share of waiting in an undisturbed sample. It is not zero, since a thread that waits
/// for a pool wakes with a delay.
const UNDISTURBED: f64 = 0.01;
/// The most runs per sample, for operations that take no measurable time.
const MAX_BATCH: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_known_samples() {
        // numpy.percentile([...], [25, 50, 75])
        for (values, expected) in [
            (&[7.0][..], [7.0, 7.0, 7.0]),
            (&[2.0, 1.0], [1.25, 1.5, 1.75]),
            (&[4.0, 1.0, 3.0, 2.0], [1.75, 2.5, 3.25]),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], [2.0, 3.0, 4.0]),
            (&[15.0, 20.0, 35.0, 40.0, 50.0, 1000.0], [23.75, 37.5, 47.5]),
        ] {
            let Quartiles { q1, median, q3 } = Quartiles::of(values.iter().copied());
            assert_eq!([q1, median, q3], expected, "{values:?}");
        }
        assert!(Quartiles::of([]).median.is_nan());
    }

    /// The definition: the piecewise linear function through the points (i / (n - 1), i-th smallest
    /// value).
    #[test]
    fn quartiles_by_definition() {
        let mut state = 1u64;
        for n in 2..60 {
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 40) as f64
                })
                .collect();
            let smallest = |i: usize| {
                *values
                    .iter()
                    .find(|&&x| {
                        let below = values.iter().filter(|&&y| y < x).count();
                        let equal = values.iter().filter(|&&y| y == x).count();
                        (below..below + equal).contains(&i)
                    })
                    .expect("some value has that rank")
            };
            let reference = |p: f64| {
                (0..n - 1)
                    .find_map(|i| {
                        let (x0, x1) = (i as f64 / (n - 1) as f64, (i + 1) as f64 / (n - 1) as f64);
                        (x0 <= p && p <= x1)
                            .then(|| smallest(i) + (p - x0) / (x1 - x0) * (smallest(i + 1) - smallest(i)))
                    })
                    .expect("0 <= p <= 1")
            };
            let quartiles = Quartiles::of(values.iter().copied());
            for (got, p) in [(quartiles.q1, 0.25), (quartiles.median, 0.5), (quartiles.q3, 0.75)] {
                assert!((got - reference(p)).abs() <= 1e-9 * got.abs(), "n = {n}, p = {p}: {got}, {}", reference(p));
            }
        }
    }

    #[test]
    fn verdicts() {
        assert_eq!(Verdict::of(0.01, 0.001), Verdict::Quiet);
        assert_eq!(Verdict::of(0.05, 0.0), Verdict::Noisy);
        assert_eq!(Verdict::of(0.01, 0.05), Verdict::Noisy);
        assert_eq!(Verdict::of(0.01, 0.3), Verdict::Unusable);
        assert_eq!(Verdict::of(0.2, 0.0), Verdict::Unusable);
        assert_eq!(Verdict::of(f64::NAN, 0.0), Verdict::Unusable);
    }

    #[test]
    fn waiting_is_a_share() {
        let start = Scheduling { at: Instant::now(), waited: 50 };
        let end = Scheduling { at: start.at + Duration::from_nanos(400), waited: 150 };
        assert_eq!(end.waiting_since(start), 0.25);
        assert_eq!(start.waiting_since(start), 0.0);
    }

    #[test]
    fn every_cell_is_timed_once_a_round_and_stops_when_told() {
        let stop = AtomicBool::new(false);
        let cell = |name| Cell::new(name, Operation::new(name, || Ok(())));
        let mut cells = [cell("a"), cell("b")];
        let conditions = interleaved(&mut cells, 5, &stop, |done| stop.store(done == 3, Ordering::Relaxed)).unwrap();
        assert_eq!(conditions.rounds, 3);
        assert!(cells.iter().all(|cell| cell.samples.len() == 3));
        assert!(interleaved(&mut cells, 5, &AtomicBool::new(true), |_| ()).is_err());
    }

    #[test]
    fn a_failing_operation_is_an_error() {
        let mut cells = [Cell::new((), Operation::new("fails", || anyhow::bail!("no")))];
        assert!(interleaved(&mut cells, 1, &AtomicBool::new(false), |_| ()).is_err());
    }
}
