//! Raw samples, in a Parquet file beside the record: too many for the record, and needed by anyone
//! who doubts a median.
//!
//! Parquet and not comma-separated values: a full run has some 75,000 samples, which take 0.8 MB
//! instead of 5 MB, so they can be committed. The columns have types, and pandas, DuckDB and R read
//! them.

use crate::measure::Sample;
use crate::record::Label;
use anyhow::{Context, Result};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Samples of operations, in the order in which they were taken.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<(Names, Vec<Sample>)>);

/// The text that identifies an operation, one entry for each of [`NAMES`].
type Names = [String; NAMES.len()];

impl Samples {
    /// An empty collection.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds the samples of an operation that the chapter `chapter` has measured.
    pub(crate) fn add(&mut self, chapter: &str, label: &Label, operation: &str, samples: &[Sample]) {
        let round = label.round.map_or(String::new(), |round| round.to_string());
        let names = [chapter, &label.implementation, &label.version, &label.backend, &round, &label.set, operation];
        self.0.push((names.map(Into::into), samples.to_vec()));
    }

    /// Writes the samples to a new file, in one group of rows. The columns of text are encoded by
    /// dictionaries.
    ///
    /// # Errors
    ///
    /// If the file exists already, and errors of the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let file = fs::File::create_new(path)
            .with_context(|| format!("{} (samples are never overwritten)", path.display()))?;
        self.write_parquet(file).with_context(|| format!("{}", path.display()))
    }

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

/// The columns of text. After them come `sample` (its number), `ns`, and `cycles` (null without a
/// counter).
const NAMES: [&str; 7] = ["chapter", "implementation", "version", "backend", "round", "set", "operation"];

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn every_sample_is_a_row() {
        let record = crate::record::planted(4.0, &[("avx2", 3, "MAYO_1", "sign", 1500.0)]);
        let mut samples = Samples::new();
        let taken = [Sample { ns: 1.25, cycles: None }, Sample { ns: 2.0, cycles: Some(4.0) }];
        samples.add("peers", &record.results[0].label, "sign", &taken);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        samples.write(&path).unwrap();
        let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let column = |name: &str| {
            let found = rows[0].get_column_iter().position(|(found, _)| found == name);
            found.expect("the column is there")
        };
        let [operation, number, ns, cycles] = ["operation", "sample", "ns", "cycles"].map(column);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(column("chapter")).unwrap(), "peers");
        assert_eq!(rows[0].get_string(operation).unwrap(), "sign");
        assert_eq!((rows[0].get_int(number).unwrap(), rows[1].get_int(number).unwrap()), (0, 1));
        assert_eq!((rows[0].get_double(ns).unwrap(), rows[1].get_double(cycles).unwrap()), (1.25, 4.0));
        assert!(rows[0].get_double(cycles).is_err(), "null");
        assert!(samples.write(&path).is_err(), "never overwritten");
    }
}
