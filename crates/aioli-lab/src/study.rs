//! The common frame of the chapters `techniques`, `kernel`, `profile`, `leakage` and `gpu`:
//! options, labels, and the way from measuring to a record.

use crate::chapter::{Run, Section};
use crate::measure::Conditions;
use crate::origin;
use crate::peers::{parse_set, round_number};
use crate::record::{self, Label, Machine, Record, version};
use crate::show::{self, Block};
use aioli::Algorithm;
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The options.
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Options {
    /// Sets to measure: mayo1, mayo2, mayo3, mayo5 [default: all]
    #[arg(long = "set", value_delimiter = ',', value_name = "SET", value_parser = parse_set)]
    sets: Vec<&'static str>,
    /// The round of NIST's process
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    round: u8,
    /// Take a first look only: few rounds, little work
    #[arg(long)]
    quick: bool,
    /// Write a record to this file, which must not exist; in a folder, to a file named after day
    /// and commit
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

/// A section that knows under which conditions it was measured.
pub(crate) trait Study: Section {
    /// The conditions, which tell how quiet the machine was.
    fn conditions(&self) -> &Conditions;
}

/// Measures, records and prints; returns what was measured.
///
/// # Errors
///
/// Errors of measuring, of the record's file, and of standard output.
pub(crate) fn run<S: Study>(
    options: &Options,
    stop: &AtomicBool,
    measure: impl FnOnce(&Run<'_>, &[Algorithm]) -> Result<S>,
) -> Result<S> {
    let record_path = options.json.as_deref().map(|path| origin::file(path, S::KEY, "json"));
    record_path.as_deref().map_or(Ok(()), record::check_new)?;
    let run = Run::new(options.quick, stop);
    let section = measure(&run, &algorithms(&options.sets, options.round))?;
    run.finish();
    // The record comes first, so that a closed pipe behind the output does not lose the
    // measurements.
    if let Some(path) = &record_path {
        let machine = Machine::here(section.conditions().clone(), Vec::new());
        let mut record = Record { machine, results: Vec::new(), sections: BTreeMap::new() };
        record.put(&section)?;
        record.write(path)?;
        eprintln!("{}", path.display());
    }
    let mut blocks = section.blocks();
    // The tables hold the numbers of the charts.
    blocks.retain(|block| !matches!(block, Block::Chart(_)));
    write!(std::io::stdout().lock(), "{}", show::text(&blocks))?;
    Ok(section)
}

/// The number of rounds. It is 1 in a build without optimization, which is for tests and not for
/// measuring.
pub(crate) fn rounds(run: &Run<'_>, full: usize, quick: usize) -> usize {
    match run.quick {
        _ if cfg!(debug_assertions) => 1,
        true => quick,
        false => full,
    }
}

/// The sets of a round: those named in `sets`, or all if none is named.
pub(crate) fn algorithms(sets: &[&str], round: u8) -> Vec<Algorithm> {
    Algorithm::ALL
        .into_iter()
        .filter(|set| round_number(*set) == round && (sets.is_empty() || sets.contains(&set.set_name())))
        .collect()
}

/// The label of our library with `backend`, which may be a technique or a worker too.
pub(crate) fn label(algorithm: Algorithm, backend: impl ToString) -> Label {
    Label {
        implementation: "aioli".into(),
        version: version("aioli"),
        backend: backend.to_string(),
        set: algorithm.set_name().into(),
        round: Some(round_number(algorithm)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_of_one_round_and_those_named() {
        assert_eq!(algorithms(&[], 3), [Algorithm::Mayo1, Algorithm::Mayo2, Algorithm::Mayo3, Algorithm::Mayo5]);
        assert_eq!(algorithms(&["MAYO_2", "MAYO_5"], 2), [Algorithm::Mayo2Round2, Algorithm::Mayo5Round2]);
    }
}
