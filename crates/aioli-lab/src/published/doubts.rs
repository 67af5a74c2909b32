//! Contradictions inside the published texts: figures that other figures of the same text exclude.
//! Each is computed from the data file and shown beside its table.

use super::{Headline, OPERATIONS, Published};
use crate::show::{Block, significant};

/// The headline's times against the same text's cycles on the same processor.
pub(super) fn of_headline() -> Vec<Block> {
    let published = Published::get();
    let headline = &published.headline;
    let Some(table) = published.cycles.iter().find(|table| table.platform == headline.platform && table.kind == "avx2")
    else {
        return Vec::new();
    };
    let us = |set: &str, operation: &str| {
        let operation = OPERATIONS.iter().position(|known| *known == operation)?;
        Some(table.sets.get(set)?[operation] as f64 / table.ghz? / 1e3)
    };
    let mut doubts = Vec::new();
    for entry in &headline.entries {
        let Some(by_cycles) = us(&entry.set, &entry.operation) else { continue };
        if (entry.us / by_cycles - 1.0).abs() > 0.02 {
            doubts.push(warning(format!(
                "{} {} is given as {} us, but its cycles at the stated clock are {} us",
                entry.set,
                entry.name,
                significant(entry.us),
                significant(by_cycles)
            )));
        }
    }
    doubts.extend(batch_verification(headline, us).map(warning));
    doubts
}

/// Verification in a batch expands no key, so it cannot take longer than with the expansion.
fn batch_verification(headline: &Headline, us: impl Fn(&str, &str) -> Option<f64>) -> Option<String> {
    let batch = headline.entries.iter().find(|entry| entry.operation == "verify_expanded")?;
    let with_expansion = us(&batch.set, "verify")?;
    (batch.us > with_expansion).then(|| {
        format!(
            "{} {} without the expansion is given as {} us, which is more than the {} us of its cycles with the \
             expansion",
            batch.set,
            batch.name,
            significant(batch.us),
            significant(with_expansion)
        )
    })
}

/// The text on GPUs: rates that follow from other figures, and so were computed, not measured.
pub(super) fn of_gpu() -> Vec<Block> {
    let published = Published::get();
    let (profile, gpu) = (&published.profile_mayo_1, &published.gpu);
    let total: u64 = [&profile.keygen, &profile.sign, &profile.verify].iter().map(|figures| figures["total"]).sum();
    let ghz = gpu.cpu["MAYO_1"] * total as f64 / 1e9;
    let in_flight: Vec<f64> = gpu.gpu.iter().map(|(set, rate)| rate * gpu.gpu_latency_ms[set] / 1e3).collect();
    let alike = in_flight.iter().all(|count| (count / in_flight[0] - 1.0).abs() < 0.01);
    let mut doubts = vec![warning(format!(
        "the CPU's {} round trips a second of MAYO_1 are {ghz:.2} GHz divided by the {} cycles of the same text's \
         profile: computed, it seems, and not measured",
        gpu.cpu["MAYO_1"],
        significant(total as f64)
    ))];
    if alike {
        doubts.push(warning(format!(
            "throughput times latency gives {:.1} round trips in flight for every set, so one of the two columns \
             follows from the other",
            in_flight[0]
        )));
    }
    doubts
}

/// The experiment on techniques: its hybrid, and its own largest factor.
pub(super) fn of_experiments() -> Vec<Block> {
    let published = &Published::get().optimization_experiments;
    let column = |name: &str| published.columns.iter().position(|column| column == name);
    let (Some(avx2), Some(threads), Some(hybrid)) = (column("avx2"), column("openmp_4"), column("avx2_openmp")) else {
        return Vec::new();
    };
    let apart = published.sets.values().map(|seconds| (seconds[hybrid] - seconds[threads]).abs()).fold(0.0, f64::max);
    let factor = published.sets.values().map(|seconds| seconds[0] / seconds[avx2]).fold(0.0, f64::max);
    vec![
        warning(format!(
            "AVX2 with OpenMP is within {:.0} ms of OpenMP alone in all {} rows, though AVX2 alone is far faster than \
             both: the hybrid seems to have been built without AVX2",
            apart * 1e3,
            published.sets.len()
        )),
        warning(format!("the text says that AVX2 gains up to about 4 times; its own table says {factor:.2}")),
        warning(
            "by its averages AVX2 with OpenMP ranks behind OpenMP alone, so its order says nothing about hybrids"
                .into(),
        ),
    ]
}

fn warning(text: String) -> Block {
    Block::Warning(format!("the source contradicts itself: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    #[test]
    fn contradictions_are_computed_from_the_published_figures() {
        let headline = show::text(&of_headline());
        // 118,704 and 471,028 cycles at 2 GHz; 153,266 are 76.6 us, as stated.
        assert!(headline.contains("keygen is given as 55.0 us, but its cycles at the stated clock are 59.4 us"));
        assert!(headline.contains("given as 246 us, but its cycles at the stated clock are 236 us"), "{headline}");
        assert!(headline.contains("30.0 us, which is more than the 28.2 us"), "{headline}");
        assert_eq!(headline.lines().count(), 3, "{headline}");
        let gpu = show::text(&of_gpu());
        assert!(gpu.contains("481.76") && gpu.contains("are 3.40 GHz divided by the 7,057,432 cycles"), "{gpu}");
        assert!(gpu.contains("gives 64.0 round trips in flight"), "{gpu}");
        let experiments = show::text(&of_experiments());
        assert!(experiments.contains("within 5 ms") && experiments.contains("table says 4.94"), "{experiments}");
    }
}
