//! Published figures, from `data/published.toml`, and `aioli-lab published`: ours beside them.
//!
//! Most published figures are about MAYO's round 2, so ours are of round 2 as well. Published
//! cycles are core cycles. Ours are times multiplied by the core's clock, which the same run has
//! measured; if that clock is unknown, they are reference cycles, and the table says so.

mod beside;
mod counted;
mod doubts;

use crate::record::Record;
use crate::show;
use anyhow::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

pub(crate) use beside::blocks;
pub(crate) use counted::Counted;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Show the figures of this record instead of measuring
    #[arg(long, value_name = "RECORD")]
    from: Option<PathBuf>,
    /// Show these records of instructions executed on emulated processors too
    #[arg(long, num_args = 1.., value_name = "RECORD")]
    counted: Vec<PathBuf>,
}

/// Prints our figures beside every published table.
///
/// # Errors
///
/// Errors of the record, of measuring, and of standard output.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    let counted = options.counted.iter().map(|path| Counted::read(path)).collect::<Result<Vec<_>>>()?;
    let record = match &options.from {
        Some(path) => Record::read(path)?,
        None => crate::peers::quick_round_2(stop)?,
    };
    Ok(write!(std::io::stdout().lock(), "{}", show::text(&blocks(&record, &counted)))?)
}

/// The content of the data file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    pub(crate) parameter_sets: ParameterSets,
    /// MAYO's own implementations, by platform.
    pub(crate) cycles: Vec<Cycles>,
    pub(crate) headline: Headline,
    pub(crate) m4_arithmetic: Vec<M4Arithmetic>,
    pub(crate) multiply_accumulate_records: MultiplyAccumulates,
    pub(crate) dilithium2: Dilithium2,
    pub(crate) optimization_experiments: OptimizationExperiments,
    pub(crate) profile_mayo_1: ProfileMayo1,
    pub(crate) gpu: Gpu,
    pub(crate) falcon_512_verify: Vec<FalconVerify>,
    pub(crate) falcon_red_flags: RedFlags,
}

impl Published {
    /// The published figures.
    pub(crate) fn get() -> &'static Self {
        static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
            toml::from_str(include_str!("../data/published.toml")).expect("the data file is right, as a test checks")
        });
        &PUBLISHED
    }
}

/// Values for sets, under their names: `MAYO_1`.
pub(crate) type BySet<T> = BTreeMap<String, T>;

/// Sizes of keys and signatures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterSets {
    pub(crate) source: String,
    pub(crate) sets: BySet<Sizes>,
}

/// Sizes of a set, in bytes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sizes {
    pub(crate) level: u8,
    pub(crate) secret_key_bytes: usize,
    pub(crate) public_key_bytes: usize,
    pub(crate) signature_bytes: usize,
}

/// Cycles of an implementation on a platform.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cycles {
    pub(crate) implementation: String,
    /// Our backend for the same instructions, `portable` or `avx2`; `other` if there is none.
    pub(crate) kind: String,
    pub(crate) platform: String,
    /// The platform's clock, if it is known; it turns cycles into time.
    pub(crate) ghz: Option<f64>,
    pub(crate) build: String,
    pub(crate) source: String,
    /// Core cycles of key generation, signing and verifying with compact keys.
    pub(crate) sets: BySet<[u64; 3]>,
    pub(crate) suspect: Option<Suspect>,
}

impl Cycles {
    /// Whether this figure is doubtful.
    pub(crate) fn is_suspect(&self, set: &str, operation: &str) -> bool {
        self.suspect.as_ref().is_some_and(|suspect| {
            suspect.cell.set == set && suspect.cell.operation.as_ref().is_none_or(|suspected| suspected == operation)
        })
    }
}

/// A doubtful figure, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suspect {
    pub(crate) cell: SuspectCell,
    pub(crate) reason: String,
}

/// The place of a doubtful figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuspectCell {
    pub(crate) set: String,
    /// The operation; every operation if there is none.
    pub(crate) operation: Option<String>,
}

/// Times that the MAYO team gives first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Headline {
    pub(crate) platform: String,
    pub(crate) source: String,
    pub(crate) entries: Vec<HeadlineEntry>,
}

/// One of these times.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadlineEntry {
    pub(crate) name: String,
    /// The name of the operation in records.
    pub(crate) operation: String,
    pub(crate) set: String,
    pub(crate) us: f64,
}

/// Matrix products on the Cortex-M4.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct M4Arithmetic {
    /// A set of round 1.
    pub(crate) set: String,
    pub(crate) source: String,
    pub(crate) p1_p1t_times_o: TwoWays,
    pub(crate) p1_times_vt: TwoWays,
    pub(crate) p1_times_o: TwoWays,
}

/// Cycles of the same product by two methods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TwoWays {
    pub(crate) bitsliced: u64,
    pub(crate) m4r: u64,
}

/// GF(16) multiply-accumulates per cycle, with AVX2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MultiplyAccumulates {
    pub(crate) source: String,
    pub(crate) skylake: f64,
    pub(crate) ice_lake: f64,
}

/// Cycles of key generation, signing and verifying.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dilithium2 {
    pub(crate) source: String,
    pub(crate) ice_lake: [u64; 3],
    pub(crate) cortex_m4: [u64; 3],
}

/// The published experiment on techniques.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptimizationExperiments {
    pub(crate) source: String,
    pub(crate) platform: String,
    pub(crate) build: String,
    /// The techniques, the baseline first.
    pub(crate) columns: Vec<String>,
    /// Seconds of a whole process, one value for each column.
    pub(crate) sets: BySet<Vec<f64>>,
    pub(crate) average_improvement_percent: BTreeMap<String, f64>,
    pub(crate) lut_memory_overhead_bytes: usize,
    pub(crate) claims: Vec<String>,
}

/// The profile of MAYO_1: cycles of each operation and of its largest parts, by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileMayo1 {
    pub(crate) source: String,
    pub(crate) platform: String,
    pub(crate) build: String,
    pub(crate) keygen: BTreeMap<String, u64>,
    pub(crate) sign: BTreeMap<String, u64>,
    pub(crate) verify: BTreeMap<String, u64>,
}

/// Round trips (key generation, signing and verifying, once each) per second.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gpu {
    pub(crate) source: String,
    pub(crate) device: String,
    pub(crate) cpu: BySet<f64>,
    pub(crate) gpu: BySet<f64>,
    pub(crate) gpu_latency_ms: BySet<f64>,
}

/// Verification with Falcon-512 on a platform.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FalconVerify {
    pub(crate) platform: String,
    pub(crate) ghz: f64,
    pub(crate) cycles: f64,
    pub(crate) ops_per_second: f64,
    pub(crate) counter: String,
    pub(crate) source: String,
    pub(crate) cv_percent: Option<f64>,
    pub(crate) single_pass_ops_per_second: Option<f64>,
}

impl FalconVerify {
    /// The clock that makes the cycles per operation and the operations per second agree.
    pub(crate) fn implied_ghz(&self) -> f64 {
        self.cycles * self.ops_per_second / 1e9
    }

    /// The reason to doubt them, if they do not fit the stated clock.
    pub(crate) fn suspicion(&self) -> Option<String> {
        let implied = self.implied_ghz();
        ((implied / self.ghz - 1.0).abs() > 0.1)
            .then(|| format!("its cycles and operations per second imply {implied:.2} GHz, not {:.2}", self.ghz))
    }
}

/// The limits beyond which a measurement of Falcon-512 verification is doubtful.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedFlags {
    pub(crate) too_fast_ops_per_second: f64,
    pub(crate) too_slow_ops_per_second: f64,
    pub(crate) high_variance_cv_percent: f64,
    /// The least and the most plausible cycles on x86-64.
    pub(crate) cycles_x86: [f64; 2],
    pub(crate) single_pass_against_median_percent: f64,
}

/// The operations of [`Cycles`], as records call them.
pub(crate) const OPERATIONS: [&str; 3] = ["keygen", "sign", "verify"];

#[cfg(test)]
mod tests {
    use super::*;
    use aioli::{Algorithm, Round};

    #[test]
    fn the_data_file_is_complete() {
        let published = Published::get();
        assert_eq!(published.cycles.len(), 8);
        let figures: usize = published.cycles.iter().map(|table| table.sets.len()).sum();
        assert_eq!(figures, 7 * 4 + 3, "the Cortex-M4 has no MAYO_5");
        let names: Vec<&str> = Algorithm::ALL
            .into_iter()
            .filter(|algorithm| algorithm.round() == Round::Two)
            .map(|algorithm| algorithm.set_name())
            .collect();
        for table in &published.cycles {
            assert!(table.sets.keys().all(|set| names.contains(&&**set)), "{table:?}");
            assert!(["portable", "avx2", "other"].contains(&&*table.kind), "{table:?}");
        }
        assert_eq!(published.cycles[0].sets["MAYO_1"], [118_704, 471_028, 153_266]);
        assert_eq!(published.multiply_accumulate_records.ice_lake, 78.8);
        assert_eq!(published.falcon_512_verify.len(), 5);
        assert_eq!(published.m4_arithmetic[1].p1_times_vt.m4r, 681_081);
    }

    #[test]
    fn published_sizes_are_ours() {
        for (set, sizes) in &Published::get().parameter_sets.sets {
            let ours = Algorithm::ALL
                .into_iter()
                .find(|algorithm| algorithm.round() == Round::Two && algorithm.set_name() == set)
                .expect("a set of round 2");
            assert_eq!(ours.secret_key_bytes(), sizes.secret_key_bytes, "{set}");
            assert_eq!(ours.public_key_bytes(), sizes.public_key_bytes, "{set}");
            assert_eq!(ours.signature_bytes(), sizes.signature_bytes, "{set}");
        }
    }

    #[test]
    fn published_averages_follow_from_the_published_times() {
        let experiments = &Published::get().optimization_experiments;
        for (column, technique) in experiments.columns.iter().enumerate().skip(1) {
            let improvements = experiments.sets.values().map(|seconds| (seconds[0] / seconds[column] - 1.0) * 100.0);
            let average = improvements.sum::<f64>() / experiments.sets.len() as f64;
            let stated = experiments.average_improvement_percent[technique];
            assert!((average - stated).abs() < 0.06, "{technique}: {average} against {stated}");
        }
    }

    #[test]
    fn two_tables_are_suspect_and_only_there() {
        let suspects: Vec<(&str, &str, &str)> = Published::get()
            .cycles
            .iter()
            .flat_map(|table| table.sets.keys().map(move |set| (table, set)))
            .flat_map(|(table, set)| OPERATIONS.map(|operation| (table, &**set, operation)))
            .filter(|(table, set, operation)| table.is_suspect(set, operation))
            .map(|(table, set, operation)| (&*table.implementation, set, operation))
            .collect();
        let expected = [
            ("MAYO-C avx2", "MAYO_5", "verify"),
            ("MAYO-C neon", "MAYO_5", "keygen"),
            ("MAYO-C neon", "MAYO_5", "sign"),
            ("MAYO-C neon", "MAYO_5", "verify"),
        ];
        assert_eq!(suspects, expected);
    }

    #[test]
    fn falcon_figures_that_contradict_their_clock_are_named() {
        let suspects: Vec<&str> = Published::get()
            .falcon_512_verify
            .iter()
            .filter(|figure| figure.suspicion().is_some())
            .map(|figure| &*figure.platform)
            .collect();
        // 82000 * 39024 = 3.20 GHz, not 3.6; 146778 * 23885 = 3.51, not 2.8; 40000 * 64260 = 2.57,
        // not 3.2.
        assert_eq!(suspects, ["AMD Ryzen 7 3700X", "Intel Xeon Gold 6242 (Cascade Lake)", "ARM M1, NEON"]);
    }
}
