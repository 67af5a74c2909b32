//! Red flags: signs that a measurement is wrong.

use super::trials::Statistics;
use crate::published::RedFlags;
use crate::show::significant;
use serde::{Deserialize, Serialize};

/// A sign of a wrong measurement, and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flag {
    pub(crate) name: String,
    pub(crate) raised: bool,
    /// The figure and its limit.
    pub(crate) reason: String,
}

impl Flag {
    fn new(name: &str, raised: bool, reason: String) -> Self {
        Self { name: name.into(), raised, reason }
    }

    /// `OK` or `RAISED`.
    pub(crate) fn verdict(&self) -> &'static str {
        if self.raised { "RAISED" } else { "OK" }
    }
}

/// The limits of plausible figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    /// The least plausible nanoseconds, and the meaning of fewer.
    pub(crate) fastest_ns: f64,
    fastest_why: String,
    /// The most plausible nanoseconds, and the meaning of more.
    pub(crate) slowest_ns: f64,
    slowest_why: String,
    cv_percent: f64,
    /// The least and the most plausible reference cycles on x86-64.
    pub(crate) fewest_cycles: f64,
    pub(crate) most_cycles: f64,
    single_pass_percent: f64,
}

impl Limits {
    /// The published limits for verification with Falcon-512.
    pub(crate) fn of_falcon(red: &RedFlags) -> Self {
        let [fewest_cycles, most_cycles] = red.cycles_x86;
        Self {
            fastest_ns: 1e9 / red.too_fast_ops_per_second,
            fastest_why: "the compiler may have removed the work".into(),
            slowest_ns: 1e9 / red.too_slow_ops_per_second,
            slowest_why: "something may be wrong with the build".into(),
            cv_percent: red.high_variance_cv_percent,
            fewest_cycles,
            most_cycles,
            single_pass_percent: red.single_pass_against_median_percent,
        }
    }

    /// The limits for verification with MAYO whose P1 and P2 have `p_bytes` bytes, from the time of
    /// the key stream here and from the most cycles and nanoseconds of published code. The limits
    /// of noise are those of Falcon.
    pub(crate) fn of_mayo(p_bytes: usize, key_stream_ns: f64, slowest_cycles: f64, slowest_ns: f64) -> Self {
        let falcon = Self::of_falcon(&crate::published::Published::get().falcon_red_flags);
        // Each block takes ten rounds of AES. No x86-64 does more than eight rounds per cycle: two
        // instructions on four blocks each. The counter may tick at half the rate of the core's
        // clock.
        let fewest_cycles = p_bytes as f64 / 16.0 * 10.0 / 8.0 / 2.0;
        Self {
            fastest_ns: key_stream_ns,
            fastest_why: "P alone takes that long to expand here, so work must be missing".into(),
            slowest_ns: 2.0 * slowest_ns,
            slowest_why: "twice the slowest published code of this kind: something may be wrong with the build".into(),
            fewest_cycles,
            most_cycles: 2.0 * slowest_cycles,
            ..falcon
        }
    }
}

/// All flags of a measurement.
pub(crate) fn judge(statistics: &Statistics, limits: &Limits) -> Vec<Flag> {
    let rate = |ns: f64| significant(1e9 / ns);
    let ops = rate(statistics.median_ns);
    let off = statistics.single_pass_off_percent();
    // NaN is within no limits, so it raises the flag.
    let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
    let cycles = match statistics.median_cycles {
        Some(cycles) => Flag::new(
            "implausible cycles",
            cfg!(target_arch = "x86_64") && !within(cycles, limits.fewest_cycles, limits.most_cycles),
            format!(
                "{} reference cycles; plausible: {} to {}",
                significant(cycles),
                significant(limits.fewest_cycles),
                significant(limits.most_cycles)
            ),
        ),
        None => Flag::new("implausible cycles", false, "no counter to check on this machine".into()),
    };
    vec![
        Flag::new(
            "too fast",
            !within(statistics.median_ns, limits.fastest_ns, f64::INFINITY),
            format!("{ops} ops/s; above {}: {}", rate(limits.fastest_ns), limits.fastest_why),
        ),
        Flag::new(
            "too slow",
            !within(statistics.median_ns, 0.0, limits.slowest_ns),
            format!("{ops} ops/s; below {}: {}", rate(limits.slowest_ns), limits.slowest_why),
        ),
        Flag::new(
            "too noisy",
            !within(statistics.cv_percent, 0.0, limits.cv_percent),
            format!(
                "coefficient of variation {:.2} %; limit {:.0} %{}",
                statistics.cv_percent,
                limits.cv_percent,
                statistics.waiting.map_or(String::new(), |waiting| format!(
                    "; {:.1} % of the time went to other programs",
                    100.0 * waiting
                ))
            ),
        ),
        cycles,
        Flag::new(
            "single pass off the median",
            !within(off, 0.0, limits.single_pass_percent),
            format!("{off:.2} % off; limit {:.0} %", limits.single_pass_percent),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::trials::planted;
    use super::*;
    use crate::published::Published;

    fn raised(statistics: &Statistics, limits: &Limits) -> Vec<String> {
        judge(statistics, limits).into_iter().filter(|flag| flag.raised).map(|flag| flag.name).collect()
    }

    fn falcon() -> Limits {
        Limits::of_falcon(&Published::get().falcon_red_flags)
    }

    #[test]
    fn good_figures_raise_none() {
        // The published Cascade Lake: 23,885 operations a second, 23,846 in a single pass.
        let good = planted(1e9 / 23_885.0, Some(146_778.0), 0.67, 1e9 / 23_846.0);
        assert_eq!(raised(&good, &falcon()), [""; 0]);
        assert_eq!(judge(&good, &falcon()).len(), 5);
        assert!(judge(&good, &falcon()).iter().all(|flag| flag.verdict() == "OK"));
        // A machine without a counter raises no flag for that.
        assert_eq!(raised(&planted(40_000.0, None, 0.67, 40_000.0), &falcon()), [""; 0]);
    }

    #[test]
    fn each_flag_is_raised_by_planted_bad_data_and_alone() {
        let cases = [
            (planted(9_999.0, Some(60_000.0), 1.0, 9_999.0), "too fast"),
            (planted(100_001.0, Some(290_000.0), 1.0, 100_001.0), "too slow"),
            (planted(40_000.0, Some(100_000.0), 10.1, 40_000.0), "too noisy"),
            (planted(40_000.0, Some(100_000.0), f64::NAN, 40_000.0), "too noisy"),
            (planted(40_000.0, Some(100_000.0), 1.0, 41_000.0), "single pass off the median"),
            (planted(40_000.0, Some(100_000.0), 1.0, 39_000.0), "single pass off the median"),
        ];
        for (statistics, expected) in cases {
            assert_eq!(raised(&statistics, &falcon()), [expected], "{statistics:?}");
        }
        if cfg!(target_arch = "x86_64") {
            for cycles in [49_999.0, 300_001.0] {
                let bad = planted(40_000.0, Some(cycles), 1.0, 40_000.0);
                assert_eq!(raised(&bad, &falcon()), ["implausible cycles"]);
            }
        }
    }

    #[test]
    fn limits_themselves_raise_nothing() {
        assert_eq!(raised(&planted(10_000.0, Some(50_000.0), 10.0, 10_000.0), &falcon()), [""; 0]);
        assert_eq!(raised(&planted(100_000.0, Some(300_000.0), 10.0, 100_000.0), &falcon()), [""; 0]);
    }

    #[test]
    fn mayo_cannot_be_faster_than_its_key_stream() {
        // 160,000 bytes are 10,000 blocks: at least 6,250 cycles of a slow counter.
        let limits = Limits::of_mayo(160_000, 10_000.0, 200_000.0, 60_000.0);
        assert_eq!((limits.fewest_cycles, limits.most_cycles), (6_250.0, 400_000.0));
        assert_eq!(raised(&planted(15_000.0, Some(40_000.0), 1.0, 15_000.0), &limits), [""; 0]);
        assert_eq!(raised(&planted(9_000.0, Some(40_000.0), 1.0, 9_000.0), &limits), ["too fast"]);
        assert_eq!(raised(&planted(121_000.0, Some(300_000.0), 1.0, 121_000.0), &limits), ["too slow"]);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(raised(&planted(15_000.0, Some(6_000.0), 1.0, 15_000.0), &limits), ["implausible cycles"]);
        }
    }
}
