//! What `techniques`, `kernel` and `profile` have in common: options, labels, and the way from measuring to a record.

use crate::measure::Conditions;
use crate::part::{Run, Section};
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
    /// A first look: few rounds, little work
    #[arg(long)]
    quick: bool,
    /// Write a record to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A section with its conditions, as these parts have.
pub(crate) trait Study: Section {
    /// How the measuring went.
    fn conditions(&self) -> &Conditions;
}

/// Measures, records and prints; returns what was measured.
///
/// # Errors
///
/// Those of measuring, of the record's file, and of standard output.
pub(crate) fn run<S: Study>(
    options: &Options,
    stop: &AtomicBool,
    measure: impl FnOnce(&Run<'_>, &[Algorithm]) -> Result<S>,
) -> Result<S> {
    options.json.as_deref().map_or(Ok(()), record::check_new)?;
    let run = Run::new(options.quick, stop);
    let section = measure(&run, &algorithms(&options.sets, options.round))?;
    run.finish();
    // The record first: what was measured is not lost if the output goes to a closed pipe.
    if let Some(path) = &options.json {
        let machine = Machine::here(section.conditions().clone(), Vec::new());
        let mut record = Record { machine, results: Vec::new(), sections: BTreeMap::new() };
        record.put(&section)?;
        record.write(path)?;
    }
    let mut blocks = section.blocks();
    // Their numbers are in the tables.
    blocks.retain(|block| !matches!(block, Block::Chart(_)));
    write!(std::io::stdout().lock(), "{}", show::text(&blocks))?;
    Ok(section)
}

/// How many rounds: a few in a build without optimization, which is for tests and not for measuring.
pub(crate) fn rounds(run: &Run<'_>, full: usize, quick: usize) -> usize {
    match run.quick {
        _ if cfg!(debug_assertions) => 1,
        true => quick,
        false => full,
    }
}

/// The sets of round 3, which is what is measured unless something else is asked for.
pub(crate) fn all_sets() -> Vec<Algorithm> {
    algorithms(&[], 3)
}

/// The sets of a round, or those of them that are named.
fn algorithms(sets: &[&str], round: u8) -> Vec<Algorithm> {
    Algorithm::ALL
        .into_iter()
        .filter(|set| round_number(*set) == round && (sets.is_empty() || sets.contains(&set.set_name())))
        .collect()
}

/// Ours, with something else than a backend of the library perhaps.
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
        assert_eq!(all_sets(), [Algorithm::Mayo1, Algorithm::Mayo2, Algorithm::Mayo3, Algorithm::Mayo5]);
        assert_eq!(algorithms(&["MAYO_2", "MAYO_5"], 2), [Algorithm::Mayo2Round2, Algorithm::Mayo5Round2]);
    }
}
