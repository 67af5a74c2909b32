//! The arithmetic of the published experiment: improvements over the baseline, their average over
//! the sets, the ranking.

use crate::published::Published;

/// Times of techniques, set by set, in any unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Their names; one of them is [`SCALAR`].
    pub(super) techniques: Vec<String>,
    /// The sets in order, each with a time for each technique that was measured.
    pub(super) sets: Vec<(String, Vec<Option<f64>>)>,
}

impl Times {
    /// The times of the published experiment, under our names.
    pub(super) fn published() -> Self {
        let experiments = &Published::get().optimization_experiments;
        Self {
            techniques: experiments.columns.iter().map(|column| our_name(column).into()).collect(),
            sets: experiments
                .sets
                .iter()
                .map(|(set, seconds)| (set.clone(), seconds.iter().copied().map(Some).collect()))
                .collect(),
        }
    }

    /// The average improvement that the experiment states for a technique, by our name.
    pub(super) fn stated_average(technique: &str) -> Option<f64> {
        let averages = &Published::get().optimization_experiments.average_improvement_percent;
        averages.iter().find(|(column, _)| our_name(column) == technique).map(|(_, average)| *average)
    }

    /// The time of a technique with a set.
    pub(super) fn time(&self, technique: &str, set: &str) -> Option<f64> {
        let column = self.techniques.iter().position(|name| name == technique)?;
        let (_, times) = self.sets.iter().find(|(name, _)| name == set)?;
        times[column]
    }

    /// [`Self::time`] as a function, for tables.
    pub(super) fn time_of(times: &Self, technique: &str, set: &str) -> Option<f64> {
        times.time(technique, set)
    }

    /// The improvement in percent: `(baseline / technique - 1) * 100`.
    pub(super) fn improvement(&self, technique: &str, set: &str) -> Option<f64> {
        Some((self.time(SCALAR, set)? / self.time(technique, set)? - 1.0) * 100.0)
    }

    /// The mean of the improvements over all sets; `None` if one of them is missing.
    pub(super) fn average(&self, technique: &str) -> Option<f64> {
        self.mean(|set| self.improvement(technique, set))
    }

    /// The techniques without the baseline, with their averages, the best first.
    pub(super) fn ranking(&self) -> Vec<(&str, f64)> {
        let others = self.techniques.iter().filter(|technique| *technique != SCALAR);
        let mut ranking: Vec<_> =
            others.filter_map(|technique| Some((&**technique, self.average(technique)?))).collect();
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranking
    }

    /// The mean over all sets of the speed of `technique` in multiples of the baseline's.
    pub(super) fn factor(&self, technique: &str) -> Option<f64> {
        self.ratio(SCALAR, technique)
    }

    /// The mean over all sets of the time of `technique` divided by the time of `other`.
    pub(super) fn ratio(&self, technique: &str, other: &str) -> Option<f64> {
        self.mean(|set| Some(self.time(technique, set)? / self.time(other, set)?))
    }

    fn mean(&self, value: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let all: Option<Vec<f64>> = self.sets.iter().map(|(set, _)| value(set)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }
}

/// Our name for a technique of the published experiment.
fn our_name(column: &str) -> &str {
    match column {
        "baseline" => SCALAR,
        "openmp_4" => "scalar_openmp_4",
        "avx2_openmp" => "avx2_openmp_4",
        same => same,
    }
}

/// The baseline: the technique that all others are compared with.
pub(super) const SCALAR: &str = "scalar";

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Times from rows of a set's name and its times.
    pub(crate) fn times<const N: usize>(techniques: [&str; N], rows: &[(&str, [f64; N])]) -> Times {
        Times {
            techniques: techniques.map(Into::into).to_vec(),
            sets: rows.iter().map(|(set, row)| ((*set).into(), row.map(Some).to_vec())).collect(),
        }
    }

    #[test]
    fn improvements_averages_and_ranking() {
        let times = times(["scalar", "a", "b"], &[("MAYO_1", [2.0, 1.0, 4.0]), ("MAYO_5", [9.0, 2.0, 1.0])]);
        assert_eq!(times.improvement("a", "MAYO_1"), Some(100.0));
        assert_eq!(times.improvement("b", "MAYO_1"), Some(-50.0));
        assert_eq!(times.improvement("scalar", "MAYO_5"), Some(0.0));
        assert_eq!(times.average("a"), Some(225.0));
        assert_eq!(times.ranking(), [("b", 375.0), ("a", 225.0)]);
        assert_eq!(times.ratio("b", "a"), Some(2.25));
    }

    #[test]
    fn what_was_not_measured_has_no_average_and_no_rank() {
        let mut times = times(["scalar", "a"], &[("MAYO_1", [2.0, 1.0]), ("MAYO_5", [9.0, 2.0])]);
        times.sets[1].1[1] = None;
        assert_eq!(times.improvement("a", "MAYO_1"), Some(100.0));
        assert_eq!(times.average("a"), None);
        assert!(times.ranking().is_empty());
        assert_eq!(times.time("c", "MAYO_1"), None);
        assert_eq!(Times::default().average("a"), None);
    }

    #[test]
    fn the_published_ranking_follows_from_the_published_times() {
        let published = Times::published();
        let ranking = published.ranking();
        let names: Vec<&str> = ranking.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["avx2", "scalar_openmp_4", "avx2_openmp_4", "lut"]);
        for ((technique, average), expected) in ranking.iter().zip([277.9, 50.4, 49.3, 36.0]) {
            assert!((average - expected).abs() < 0.1, "{average} against {expected}");
            assert_eq!(Times::stated_average(technique), Some(expected));
        }
    }
}
