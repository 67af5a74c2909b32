//! Raw samples, in a file beside the record: too many for it, and needed by whoever doubts a median.

use crate::measure::Sample;
use crate::record::Label;
use anyhow::{Context, Result};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Samples of operations, in the order in which they were taken.
#[derive(Default)]
pub(crate) struct Samples(Vec<(Names, Vec<Sample>)>);

/// What samples are of, one for each of [`NAMES`].
type Names = [String; NAMES.len()];

impl Samples {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds those of an operation, as part of the lab that is called `part`.
    pub(crate) fn add(&mut self, part: &str, label: &Label, operation: &str, samples: &[Sample]) {
        let round = label.round.map_or(String::new(), |round| round.to_string());
        let names = [part, &label.implementation, &label.version, &label.backend, &round, &label.set, operation];
        self.0.push((names.map(Into::into), samples.to_vec()));
    }

    /// Writes them to a new file: as Parquet if its name ends so, else as comma-separated values.
    ///
    /// # Errors
    ///
    /// If there is such a file already, and those of the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let file = fs::File::create_new(path)
            .with_context(|| format!("{} (samples are never overwritten)", path.display()))?;
        let parquet = path.extension().is_some_and(|ending| ending == "parquet");
        if parquet { self.write_parquet(file) } else { self.write_csv(file) }
            .with_context(|| format!("{}", path.display()))
    }

    fn write_csv(&self, file: fs::File) -> Result<()> {
        let mut out = BufWriter::new(file);
        writeln!(out, "{},sample,ns,cycles", NAMES.join(","))?;
        for (names, samples) in &self.0 {
            let names = names.each_ref().map(|name| quoted(name)).join(",");
            for (i, Sample { ns, cycles }) in samples.iter().enumerate() {
                let cycles = cycles.map_or(String::new(), |cycles| format!("{cycles:.1}"));
                writeln!(out, "{names},{i},{ns:.1},{cycles}")?;
            }
        }
        Ok(out.flush()?)
    }

    /// The same columns, in one group of rows. Names repeat, and a dictionary stores each once.
    fn write_parquet(&self, file: fs::File) -> Result<()> {
        let names: String = NAMES.iter().map(|name| format!("REQUIRED BYTE_ARRAY {name} (UTF8); ")).collect();
        let schema =
            format!("message samples {{ {names} REQUIRED INT32 sample; REQUIRED DOUBLE ns; OPTIONAL DOUBLE cycles; }}");
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(parse_message_type(&schema)?);
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let samples = || self.0.iter().flat_map(|(_, samples)| samples);
        for i in 0..NAMES.len() {
            let values: Vec<ByteArray> = self
                .0
                .iter()
                .flat_map(|(names, samples)| std::iter::repeat_n(ByteArray::from(&*names[i]), samples.len()))
                .collect();
            let mut column = group.next_column()?.context("a column of names")?;
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        let values: Vec<i32> = self.0.iter().flat_map(|(_, samples)| 0..samples.len() as i32).collect();
        let mut column = group.next_column()?.context("the column of numbers")?;
        column.typed::<Int32Type>().write_batch(&values, None, None)?;
        column.close()?;
        let values: Vec<f64> = samples().map(|sample| sample.ns).collect();
        let mut column = group.next_column()?.context("the column of times")?;
        column.typed::<DoubleType>().write_batch(&values, None, None)?;
        column.close()?;
        let values: Vec<f64> = samples().filter_map(|sample| sample.cycles).collect();
        let present: Vec<i16> = samples().map(|sample| sample.cycles.is_some().into()).collect();
        let mut column = group.next_column()?.context("the column of cycles")?;
        column.typed::<DoubleType>().write_batch(&values, Some(&present), None)?;
        column.close()?;
        group.close()?;
        writer.close()?;
        Ok(())
    }
}

/// A field of comma-separated values.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

/// Columns of text. Then follow `sample` (its number), `ns`, `cycles` (null without a counter).
const NAMES: [&str; 7] = ["part", "implementation", "version", "backend", "round", "set", "operation"];

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn planted() -> Samples {
        let record = crate::record::planted(4.0, &[("avx2", 3, "MAYO_1", "sign", 1500.0)]);
        let label = Label { version: "1".into(), ..record.results[0].label.clone() };
        let mut samples = Samples::new();
        let taken = [Sample { ns: 1.25, cycles: None }, Sample { ns: 2.0, cycles: Some(4.0) }];
        samples.add("peers", &label, "sign", &taken);
        samples
    }

    #[test]
    fn every_sample_is_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        planted().write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "peers,aioli,1,avx2,3,MAYO_1,sign,0,1.2,");
        assert_eq!(lines[2], "peers,aioli,1,avx2,3,MAYO_1,sign,1,2.0,4.0");
        assert_eq!(lines[0].matches(',').count(), lines[2].matches(',').count());
        assert!(planted().write(&path).is_err(), "never overwritten");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn every_sample_is_a_row_of_parquet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        planted().write(&path).unwrap();
        let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(6).unwrap(), "sign");
        assert_eq!((rows[0].get_int(7).unwrap(), rows[1].get_int(7).unwrap()), (0, 1));
        assert_eq!((rows[0].get_double(8).unwrap(), rows[1].get_double(9).unwrap()), (1.25, 4.0));
        assert!(rows[0].get_double(9).is_err(), "null");
    }
}
