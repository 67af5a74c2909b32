//! The charts of `techniques`, each of at most seven colours.

use super::claims::{HYBRID, THREADS};
use super::comparison::{SCALAR, Times};
use crate::show::{Block, Chart, Marks};

/// The published experiment beside ours, the ladder of kernels, and the gain of threads.
pub(super) fn charts(round: &str, ours: &Times, published: &Times) -> [Block; 3] {
    [beside(ours, published), ladder(ours), teams(ours)].map(|chart| {
        let title = format!("Round {round}: {}", chart.title);
        Block::Chart(Chart { title, ..chart })
    })
}

/// The techniques of the experiment, as published and here, on two baselines.
fn beside(ours: &Times, published: &Times) -> Chart {
    let groups = ["lut", "avx2", THREADS, HYBRID].map(|technique| {
        let factors = [published.factor(technique), ours.factor(technique), ours.ratio("portable", technique)];
        (technique.to_owned(), factors.to_vec())
    });
    Chart {
        name: "techniques-published".into(),
        title: "the published techniques (round 2) and ours, times as fast as the baseline, mean over the sets".into(),
        x: String::new(),
        y: "times as fast as the baseline".into(),
        log: true,
        marks: Marks::Bars {
            series: ["published, its baseline", "here, scalar", "here, portable"].map(Into::into).into(),
            groups: groups.into(),
        },
    }
}

/// The kernels on one thread, set by set.
fn ladder(ours: &Times) -> Chart {
    let kernels: Vec<&str> =
        KERNELS.into_iter().filter(|name| ours.techniques.iter().any(|found| found == name)).collect();
    let groups = ours.sets.iter().map(|(set, _)| {
        let factor = |name: &&str| Some(ours.time(SCALAR, set)? / ours.time(name, set)?);
        (set.clone(), kernels.iter().map(factor).collect())
    });
    Chart {
        name: "techniques".into(),
        title: "the ladder, times as fast as scalar, keygen, sign and verify together, one thread".into(),
        x: "set".into(),
        y: "times as fast as scalar".into(),
        log: true,
        marks: Marks::Bars { series: kernels.iter().map(|&name| name.into()).collect(), groups: groups.collect() },
    }
}

/// The gain of a team over the same kernel alone.
fn teams(ours: &Times) -> Chart {
    const TEAMS: [&str; 6] = ["rayon_1", "rayon_2", "rayon_4", "openmp_1", "openmp_2", "openmp_4"];
    let kernels = [SCALAR].into_iter().chain(KERNELS);
    let groups = kernels
        .map(|kernel| (kernel.to_owned(), TEAMS.map(|team| ours.ratio(kernel, &format!("{kernel}_{team}"))).to_vec()))
        .filter(|(_, factors)| factors.iter().any(Option::is_some));
    Chart {
        name: "techniques-threads".into(),
        title: "threads inside one operation, times as fast as the same kernel alone, mean over the sets".into(),
        x: String::new(),
        y: "times as fast as alone".into(),
        log: false,
        marks: Marks::Bars { series: TEAMS.map(Into::into).into(), groups: groups.collect() },
    }
}

/// The rungs above scalar.
const KERNELS: [&str; 7] = ["lut", "bitsliced", "m4r_2", "portable", "neon", "avx2", "gfni512"];

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::times;
    use super::*;

    #[test]
    fn charts_have_what_was_measured_and_at_most_seven_colours() {
        let names = ["scalar", "lut", "portable", "avx2", "scalar_rayon_2", HYBRID];
        let times =
            times(names, &[("MAYO_1", [8.0, 4.0, 2.0, 1.0, 5.0, 0.5]), ("MAYO_2", [8.0, 4.0, 2.0, 1.0, 3.0, 0.5])]);
        let charts = charts("3", &times, &Times::published()).map(|block| match block {
            Block::Chart(Chart { marks: Marks::Bars { series, groups }, .. }) => (series, groups),
            other => panic!("bars, not {other:?}"),
        });
        assert!(charts.iter().all(|(series, _)| series.len() <= 7));
        let [(_, beside), (rungs, ladder), (_, teams)] = charts;
        assert_eq!(beside[1].1[1..], [Some(8.0), Some(2.0)]);
        assert!((beside[1].1[0].unwrap() - 3.78).abs() < 0.01, "277.9 % on average: {beside:?}");
        assert_eq!(rungs, ["lut", "portable", "avx2"]);
        assert_eq!(ladder[0], ("MAYO_1".into(), vec![Some(2.0), Some(4.0), Some(8.0)]));
        assert_eq!(teams[0].1[1], Some((8.0 / 5.0 + 8.0 / 3.0) / 2.0));
    }
}
