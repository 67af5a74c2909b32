//! Records: the figures of a run with the machine, the commit and the compilers behind them, as
//! JSON.

use crate::chapter::Section;
use crate::measure::{Conditions, Quartiles, Sample, rounded};
use crate::origin::{Checkout, today};
use aioli::backend::BackendKind;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The figures of a run, and everything a reader needs to judge them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The machine, and the program that measured.
    pub(crate) machine: Machine,
    /// One entry for each cell.
    pub(crate) results: Vec<Measurement>,
    /// The sections of the other chapters, by their keys.
    #[serde(flatten)]
    pub(crate) sections: BTreeMap<String, serde_json::Value>,
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Errors of the file, and if it is not a record.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a record of measurements", path.display()))
    }

    /// Puts the section of a chapter into the record; it replaces an earlier one.
    ///
    /// # Errors
    ///
    /// If the section has no form in JSON.
    pub(crate) fn put<S: Section>(&mut self, section: &S) -> Result<()> {
        self.sections.insert(S::KEY.into(), serde_json::to_value(section)?);
        Ok(())
    }

    /// The section of a chapter, if the record has it.
    ///
    /// # Errors
    ///
    /// If the value under its key has another form.
    pub(crate) fn section<S: Section>(&self) -> Result<Option<S>> {
        let found = self.sections.get(S::KEY).map(S::deserialize).transpose();
        found
            .with_context(|| format!("`{}` in the record has another form than this version of the lab writes", S::KEY))
    }

    /// The figures of an operation, by implementation, backend, round and set.
    pub(crate) fn find(
        &self,
        implementation: &str,
        backend: &str,
        (round, set): (u8, &str),
        operation: &str,
    ) -> Option<&Measurement> {
        self.results.iter().find(|Measurement { label, operation: found, .. }| {
            label.implementation == implementation
                && label.backend == backend
                && (label.round, &*label.set) == (Some(round), set)
                && found == operation
        })
    }

    /// The fastest result of aioli's backends at an operation.
    pub(crate) fn fastest(&self, set: (u8, &str), operation: &str) -> Option<&Measurement> {
        let ours = BackendKind::ALL.iter().filter_map(|kind| self.find("aioli", kind.name(), set, operation));
        ours.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))
    }

    /// Writes the record to a new file.
    ///
    /// # Errors
    ///
    /// If the file exists already, since records are never overwritten; and errors of the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let mut file = fs::File::create_new(path)
            .with_context(|| format!("{} (records are never overwritten)", path.display()))?;
        writeln!(file, "{text}").with_context(|| format!("{}", path.display()))
    }
}

/// The code that was measured: an implementation, its code path and its parameter set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    /// `aioli`, `liboqs`, `pq-mayo`, ...
    pub(crate) implementation: String,
    /// Its version.
    pub(crate) version: String,
    /// The code path that ran.
    pub(crate) backend: String,
    /// The set as the specification writes it, `MAYO_1`, or the name of another signature
    /// algorithm.
    pub(crate) set: String,
    /// The round of NIST's process, for MAYO.
    pub(crate) round: Option<u8>,
}

/// The figures of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// The code that was measured.
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
    /// The number of samples behind these figures.
    pub(crate) samples: usize,
    /// The samples themselves, right after measuring only: they are not part of the record.
    #[serde(skip)]
    pub(crate) raw: Vec<Sample>,
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
            raw: samples.to_vec(),
        }
    }
}

/// The machine, the program that measured, and how quiet the machine was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// The date of the measurement in UTC; early records have it in their names alone.
    #[serde(default)]
    pub(crate) date: Option<String>,
    /// The processor's name for itself.
    pub(crate) cpu: String,
    /// Its instruction sets among those in [`FLAGS`].
    pub(crate) flags: Vec<String>,
    /// Logical processors that this process may use.
    pub(crate) cores: usize,
    /// Architecture and operating system of the program.
    pub(crate) target: String,
    /// The operating system's kernel.
    pub(crate) kernel: String,
    /// The clock source of the operating system.
    pub(crate) clock_source: String,
    /// The counter whose ticks are called cycles; they are not cycles of the core.
    pub(crate) cycle_counter: Option<String>,
    /// The commit of the program's source.
    #[serde(flatten)]
    pub(crate) checkout: Checkout,
    /// The Rust compiler.
    pub(crate) rustc: String,
    /// The compiler's flags.
    pub(crate) rustflags: String,
    /// Cargo's profile.
    pub(crate) profile: String,
    /// The C compiler, if C is measured.
    pub(crate) c_compiler: Option<String>,
    /// Versions of the crates whose code is timed.
    pub(crate) crates: BTreeMap<String, String>,
    /// Further sentences for the reader, each without its full stop.
    pub(crate) notes: Vec<String>,
    /// The conditions of the run, which tell how quiet the machine was.
    pub(crate) conditions: Conditions,
}

impl Machine {
    /// The machine that this program runs on.
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
            date: Some(today()),
            cpu: field(&["model name", "CPU part"]).unwrap_or_else(|| UNKNOWN.into()),
            flags: present.split_whitespace().filter(|flag| FLAGS.contains(flag)).map(Into::into).collect(),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            kernel: text("/proc/sys/kernel/osrelease"),
            clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            cycle_counter: conditions.counter_ghz.map(|_| "time-stamp counter (reference cycles)".into()),
            checkout: Checkout::of_source(),
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

/// Refuses a path to which no record can be written, before measuring takes time. Writing checks
/// again.
///
/// # Errors
///
/// If the file exists, or its folder does not.
pub(crate) fn check_new(path: &Path) -> Result<()> {
    ensure!(!path.exists(), "{} exists, and records are never overwritten", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(folder.is_none_or(Path::is_dir), "there is no folder for {}", path.display());
    Ok(())
}

/// The version of a crate in this program.
pub(crate) fn version(name: &str) -> String {
    crates().find(|&(found, _)| found == name).map_or(UNKNOWN, |(_, version)| version).into()
}

fn crates() -> impl Iterator<Item = (&'static str, &'static str)> {
    env!("AIOLI_LAB_CRATES").split(';').filter_map(|entry| entry.split_once(' '))
}

const UNKNOWN: &str = "unknown";

/// Instruction sets that some backend or peer uses, and flags that tell how the counter behaves.
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

/// A record for tests: nanoseconds of aioli by backend, round, set and operation, on a core at
/// `ghz`.
#[cfg(test)]
pub(crate) fn planted(ghz: f64, cells: &[(&str, u8, &str, &str, f64)]) -> Record {
    let conditions = Conditions {
        rounds: 2,
        clock_granularity_ns: 20,
        counter_ghz: Some(2.0),
        core_ghz: Some(ghz),
        core_clock_spread: Some(0.01),
        spread: 0.01,
        waiting: Some(0.001),
        disturbed: 0.0,
        verdict: crate::measure::Verdict::Quiet,
    };
    let results = cells
        .iter()
        .map(|&(backend, round, set, operation, ns)| {
            let label = Label {
                implementation: "aioli".into(),
                version: version("aioli"),
                backend: backend.into(),
                set: set.into(),
                round: Some(round),
            };
            Measurement::new(label, operation, &[Sample { ns, cycles: Some(2.0 * ns) }])
        })
        .collect();
    let machine = Machine { cpu: "Planted 1000".into(), ..Machine::here(conditions, vec!["a note".into()]) };
    Record { machine, results, sections: BTreeMap::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = planted(4.0, &[("portable", 3, "MAYO_1", "keygen", 2.0)]);
        let samples = [1.0, 2.0, 4.0].map(|ns| Sample { ns, cycles: Some(2.0 * ns) });
        record.results[0] = Measurement::new(record.results[0].label.clone(), "keygen", &samples);
        record
    }

    /// A section that belongs to no chapter of the lab.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Extra {
        value: f64,
    }

    impl Section for Extra {
        const KEY: &'static str = "extra";
        const TITLE: &'static str = "Extra";

        fn blocks(&self) -> Vec<crate::show::Block> {
            Vec::new()
        }
    }

    #[test]
    fn sections_are_keys_of_the_record_and_optional() {
        let mut record = record();
        record.results[0].raw.clear();
        let plain = serde_json::to_value(&record).unwrap();
        assert_eq!(plain.as_object().unwrap().len(), 2, "machine and results");
        let old: Record = serde_json::from_value(plain).unwrap();
        assert_eq!(old, record);
        assert_eq!(old.section::<Extra>().unwrap(), None);

        record.put(&Extra { value: 1.5 }).unwrap();
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["extra"]["value"], 1.5);
        let back: Record = serde_json::from_value(json).unwrap();
        assert_eq!(back.section::<Extra>().unwrap(), Some(Extra { value: 1.5 }));
        assert_eq!(back, record);
        record.sections.insert("extra".into(), "other".into());
        let error = record.section::<Extra>().unwrap_err().to_string();
        assert!(error.contains("`extra`"), "{error}");
    }

    #[test]
    fn a_record_names_its_commit_and_one_without_is_still_read() {
        let mut json = serde_json::to_value(record()).unwrap();
        let machine = json["machine"].as_object_mut().unwrap();
        assert!(machine["commit"].is_string() && machine.contains_key("dirty"));
        machine.remove("commit");
        machine.remove("dirty");
        let read: Record = serde_json::from_value(json).unwrap();
        assert_eq!(read.machine.checkout, Checkout::default());
    }

    #[test]
    fn written_records_are_read_back_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let mut record = record();
        record.write(&path).unwrap();
        record.results[0].raw.clear();
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
