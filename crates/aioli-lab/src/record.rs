//! Records: what was measured, on which machine, as JSON.

use crate::measure::{Conditions, Quartiles, Sample, rounded};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

/// A record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The machine, and the program that measured.
    pub(crate) machine: Machine,
    /// One entry for each cell.
    pub(crate) results: Vec<Measurement>,
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Those of the file, and if it is no record.
    #[cfg_attr(not(test), expect(dead_code, reason = "the commands that show stored records need it"))]
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a record of measurements", path.display()))
    }

    /// Writes the record to a new file.
    ///
    /// # Errors
    ///
    /// If there is such a file already: records are never overwritten. Those of the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let mut file = fs::File::create_new(path)
            .with_context(|| format!("{} (records are never overwritten)", path.display()))?;
        writeln!(file, "{text}").with_context(|| format!("{}", path.display()))
    }
}

/// Whose operation was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    /// `aioli`, `liboqs`, `pq-mayo`, ...
    pub(crate) implementation: String,
    /// Its version.
    pub(crate) version: String,
    /// Which of its code paths ran.
    pub(crate) backend: String,
    /// As the specification writes it: `MAYO_1`.
    pub(crate) set: String,
    /// Of NIST's process, for MAYO.
    pub(crate) round: Option<u8>,
}

/// The figures of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Whose operation it was.
    #[serde(flatten)]
    pub(crate) label: Label,
    /// The operation.
    pub(crate) operation: String,
    /// The median time in nanoseconds.
    pub(crate) median_ns: f64,
    /// The first quartile.
    pub(crate) q1_ns: f64,
    /// The third quartile.
    pub(crate) q3_ns: f64,
    /// The median in reference cycles, where there is a counter.
    pub(crate) median_cycles: Option<f64>,
    /// How many samples these are taken over.
    pub(crate) samples: usize,
}

impl Measurement {
    /// Summarizes samples.
    pub(crate) fn new(label: Label, operation: &str, samples: &[Sample]) -> Self {
        let ns = Quartiles::of(samples.iter().map(|sample| sample.ns));
        let cycles: Option<Vec<f64>> = samples.iter().map(|sample| sample.cycles).collect();
        Self {
            label,
            operation: operation.into(),
            median_ns: rounded(ns.median, 1),
            q1_ns: rounded(ns.q1, 1),
            q3_ns: rounded(ns.q3, 1),
            median_cycles: cycles.map(|cycles| rounded(Quartiles::of(cycles).median, 1)),
            samples: samples.len(),
        }
    }
}

/// A machine, the program that measured, and how well that went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// The processor's name for itself.
    pub(crate) cpu: String,
    /// Its instruction sets that matter here.
    pub(crate) flags: Vec<String>,
    /// Logical processors that this process may use.
    pub(crate) cores: usize,
    /// Architecture and operating system of the program.
    pub(crate) target: String,
    /// The operating system's kernel.
    pub(crate) kernel: String,
    /// What the operating system's clock is read from.
    pub(crate) clock_source: String,
    /// What cycles are: those of the time-stamp counter, which are not the core's.
    pub(crate) cycle_counter: Option<String>,
    /// The Rust compiler.
    pub(crate) rustc: String,
    /// Flags given to it.
    pub(crate) rustflags: String,
    /// Cargo's profile.
    pub(crate) profile: String,
    /// The C compiler, if C is measured.
    pub(crate) c_compiler: Option<String>,
    /// Versions of what runs inside the timed code.
    pub(crate) crates: BTreeMap<String, String>,
    /// Anything else that a reader should know about what was measured.
    pub(crate) notes: Vec<String>,
    /// How the measuring went.
    pub(crate) conditions: Conditions,
}

impl Machine {
    /// This machine.
    pub(crate) fn here(conditions: Conditions, notes: Vec<String>) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |names: &[&str]| {
            cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                names.contains(&name.trim()).then(|| value.trim().to_owned())
            })
        };
        let present = field(&["flags", "Features"]).unwrap_or_default();
        let text = |path| fs::read_to_string(path).map_or_else(|_| UNKNOWN.into(), |text| text.trim().to_owned());
        Self {
            cpu: field(&["model name", "CPU part"]).unwrap_or_else(|| UNKNOWN.into()),
            flags: present.split_whitespace().filter(|flag| FLAGS.contains(flag)).map(Into::into).collect(),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            kernel: text("/proc/sys/kernel/osrelease"),
            clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            cycle_counter: conditions.counter_ghz.map(|_| "time-stamp counter (reference cycles)".into()),
            rustc: env!("AIOLI_LAB_RUSTC").into(),
            rustflags: env!("AIOLI_LAB_RUSTFLAGS").into(),
            profile: env!("AIOLI_LAB_PROFILE").into(),
            c_compiler: cfg!(feature = "peers").then(|| env!("AIOLI_LAB_CC").into()),
            crates: crates().map(|(name, version)| (name.into(), version.into())).collect(),
            notes,
            conditions,
        }
    }
}

/// The version of a crate that this program is built with.
pub(crate) fn version(name: &str) -> String {
    crates().find(|&(found, _)| found == name).map_or(UNKNOWN, |(_, version)| version).into()
}

fn crates() -> impl Iterator<Item = (&'static str, &'static str)> {
    env!("AIOLI_LAB_CRATES").split(';').filter_map(|entry| entry.split_once(' '))
}

const UNKNOWN: &str = "unknown";

/// Instruction sets that some backend or peer makes use of.
const FLAGS: &[&str] = &[
    "sse2",
    "ssse3",
    "sse4_1",
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "aes",
    "vaes",
    "pclmulqdq",
    "gfni",
    "sha_ni",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512dq",
    "avx512vbmi",
    "avx512_vbmi2",
    "constant_tsc",
    "nonstop_tsc",
    "hypervisor",
    "neon",
    "asimd",
    "pmull",
    "sha3",
    "sve",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Verdict;

    fn record() -> Record {
        let conditions = Conditions {
            rounds: 2,
            clock_granularity_ns: 20,
            counter_ghz: Some(2.6),
            core_ghz: None,
            core_clock_spread: None,
            spread: 0.01,
            waiting: Some(0.001),
            disturbed: 0.0,
            verdict: Verdict::Quiet,
        };
        let label = Label {
            implementation: "aioli".into(),
            version: version("aioli"),
            backend: "portable".into(),
            set: "MAYO_1".into(),
            round: Some(3),
        };
        let samples = [1.0, 2.0, 4.0].map(|ns| Sample { ns, cycles: Some(2.0 * ns) });
        Record {
            machine: Machine::here(conditions, vec!["a note".into()]),
            results: vec![Measurement::new(label, "keygen", &samples)],
        }
    }

    #[test]
    fn written_records_are_read_back_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let record = record();
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
        let before = fs::read(&path).unwrap();
        let error = format!("{:#}", record.write(&path).unwrap_err());
        assert!(error.contains("never overwritten"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::write(folder.path().join("other.json"), "{}").unwrap();
        assert!(Record::read(&folder.path().join("other.json")).is_err());
    }

    #[test]
    fn entries_have_the_documented_fields() {
        let entry = serde_json::to_value(&record().results[0]).unwrap();
        assert_eq!(
            entry,
            serde_json::json!({
                "implementation": "aioli", "version": env!("CARGO_PKG_VERSION"), "backend": "portable",
                "set": "MAYO_1", "round": 3, "operation": "keygen",
                "median_ns": 2.0, "q1_ns": 1.5, "q3_ns": 3.0, "median_cycles": 4.0, "samples": 3,
            })
        );
    }
}
