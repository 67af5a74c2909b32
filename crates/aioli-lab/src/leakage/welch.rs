//! Welch's t: how far apart the means of two samples are, in standard errors.

/// The comparison of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Welch {
    /// The mean of the second sample less that of the first.
    pub(super) difference: f64,
    /// The standard error of the difference.
    pub(super) error: f64,
}

impl Welch {
    /// `None` unless both samples have two values.
    fn of(values: &[(bool, f64)]) -> Option<Self> {
        let [second, first] = [false, true].map(|class| Moments::of(values.iter().filter(|value| value.0 == class)));
        let error = (first?.variance_of_mean + second?.variance_of_mean).sqrt();
        Some(Self { difference: second?.mean - first?.mean, error })
    }

    /// The difference in standard errors; 0 if there is no difference.
    pub(super) fn t(self) -> f64 {
        if self.difference == 0.0 { 0.0 } else { self.difference / self.error }
    }
}

#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    variance_of_mean: f64,
}

impl Moments {
    fn of<'v>(values: impl Iterator<Item = &'v (bool, f64)> + Clone) -> Option<Self> {
        let count = values.clone().count() as f64;
        let mean = values.clone().map(|value| value.1).sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value.1 - mean).powi(2)).sum();
        (count >= 2.0).then_some(Self { mean, variance_of_mean: squares / (count - 1.0) / count })
    }
}

/// The comparison with the largest |t| among those of the fastest shares of all values, and that
/// share.
///
/// Interruptions make some runs slow and would hide small differences in the mean of all.
///
/// `None` if a class has fewer than two values.
pub(super) fn strongest(values: &mut [(bool, f64)]) -> Option<(f64, Welch)> {
    values.sort_by(|a, b| a.1.total_cmp(&b.1));
    let of = |share: f64| {
        // Equal values stay together: where they are cut must not depend on their class.
        let last = values.get((values.len() as f64 * share) as usize).map_or(f64::INFINITY, |value| value.1);
        Welch::of(&values[..values.partition_point(|value| value.1 <= last)]).map(|welch| (share, welch))
    };
    SHARES.into_iter().filter_map(of).max_by(|a, b| a.1.t().abs().total_cmp(&b.1.t().abs()))
}

/// The shares of the fastest values that are compared.
const SHARES: [f64; 8] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

#[cfg(test)]
mod tests {
    use super::*;

    fn values(classes: [&[f64]; 2]) -> Vec<(bool, f64)> {
        let [first, second] = classes;
        let tagged = |class: bool| move |&value: &f64| (class, value);
        first.iter().map(tagged(true)).chain(second.iter().map(tagged(false))).collect()
    }

    #[test]
    fn t_agrees_with_a_reference() {
        // Python: means 3.0 and 13.0/3, variances 2.5 and 13/3 over 5 and 3 values.
        let welch = Welch::of(&values([&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 5.0, 6.0]])).unwrap();
        assert!((welch.difference - 4.0 / 3.0).abs() < 1e-12);
        assert!((welch.error - (2.5f64 / 5.0 + 13.0 / 9.0).sqrt()).abs() < 1e-12, "{welch:?}");
        assert!((welch.t() - 0.956_182_887_467_514_9).abs() < 1e-12, "{}", welch.t());
    }

    #[test]
    fn a_difference_below_outliers_is_found_in_a_share() {
        let slow: Vec<f64> =
            (0..400).map(|i| if i % 50 == 0 { 1e6 * f64::from(i) } else { f64::from(i % 7) }).collect();
        let slower: Vec<f64> = slow.iter().map(|value| value + 3.0).collect();
        let mut both = values([&slow, &slower]);
        assert!(Welch::of(&both).unwrap().t().abs() < 1.0);
        let (share, welch) = strongest(&mut both).unwrap();
        assert!(share < 1.0 && welch.t() > 10.0, "{share} {welch:?}");
    }

    #[test]
    fn one_class_alone_and_equal_values_have_no_difference() {
        assert_eq!(strongest(&mut values([&[1.0, 2.0], &[]])), None);
        assert_eq!(strongest(&mut values([&[1.0; 9], &[1.0; 9]])).unwrap().1.t(), 0.0);
    }
}
