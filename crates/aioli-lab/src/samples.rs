//! Raw samples, as comma-separated values beside the record: too many for it, and needed by whoever doubts a median.

use crate::measure::Sample;
use crate::record::Label;
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Samples of operations, in the order in which they were taken.
pub(crate) struct Samples(String);

impl Samples {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(HEADER.into())
    }

    /// Adds those of an operation, as part of the lab that is called `part`.
    pub(crate) fn add(&mut self, part: &str, label: &Label, operation: &str, samples: &[Sample]) {
        let round = label.round.map_or(String::new(), |round| round.to_string());
        let fields = [part, &label.implementation, &label.version, &label.backend, &round, &label.set, operation];
        let name = fields.map(quoted).join(",");
        for (i, Sample { ns, cycles }) in samples.iter().enumerate() {
            let cycles = cycles.map_or(String::new(), |cycles| format!("{cycles:.1}"));
            self.0 += &format!("{name},{i},{ns:.1},{cycles}\n");
        }
    }

    /// Writes them to a new file.
    ///
    /// # Errors
    ///
    /// If there is such a file already, and those of the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut file = fs::File::create_new(path)
            .with_context(|| format!("{} (samples are never overwritten)", path.display()))?;
        file.write_all(self.0.as_bytes()).with_context(|| format!("{}", path.display()))
    }
}

/// A field of comma-separated values.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

const HEADER: &str = "part,implementation,version,backend,round,set,operation,sample,ns,cycles\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_a_line() {
        let record = crate::record::planted(4.0, &[("avx2", 3, "MAYO_1", "sign", 1500.0)]);
        let label = Label { version: "1".into(), ..record.results[0].label.clone() };
        let mut samples = Samples::new();
        samples.add(
            "peers",
            &label,
            "sign",
            &[Sample { ns: 1.25, cycles: None }, Sample { ns: 2.0, cycles: Some(4.0) }],
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        samples.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "peers,aioli,1,avx2,3,MAYO_1,sign,0,1.2,");
        assert_eq!(lines[2], "peers,aioli,1,avx2,3,MAYO_1,sign,1,2.0,4.0");
        assert_eq!(lines[0].matches(',').count(), lines[2].matches(',').count());
        assert!(samples.write(&path).is_err(), "never overwritten");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
