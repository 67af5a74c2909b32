//! `aioli-lab all`: every part, one record, one report.

use crate::credibility::{self, Credibility};
use crate::kernel::{self, Kernels};
use crate::part::{Run, Section};
use crate::profile::{self, Profile};
use crate::record::{self, Record};
use crate::report::{self, Format};
use crate::samples::Samples;
use crate::study::all_sets;
use crate::techniques::{self, Techniques};
use crate::{peers, show};
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Less of everything: under five minutes
    #[arg(long)]
    quick: bool,
    /// The folder for the record, the raw samples and the report; made if it is not there, and must have no record yet
    #[arg(long, value_name = "DIR", default_value = "aioli-lab-record")]
    out: PathBuf,
}

/// Runs every part, writes the record, the samples and the report, and prints the summary.
///
/// Ctrl-C ends the measuring, and what was measured until then is written all the same; so it is if a part fails.
///
/// # Errors
///
/// The first error of a part, after everything else is written; and those of the files.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    fs::create_dir_all(&options.out).with_context(|| format!("{}", options.out.display()))?;
    let paths = ["record.json", "samples.csv", "samples.parquet"].map(|name| options.out.join(name));
    paths.iter().try_for_each(|path| record::check_new(path))?;

    let run = Run::new(options.quick, stop);
    let count = 1 + PARTS.len();
    run.part(1, count);
    let mut samples = Samples::new();
    let mut record = peers::measure(&peers::Options::everything(), &run).context("peers")?;
    record.results.iter().for_each(|result| samples.add("peers", &result.label, &result.operation, &result.raw));
    if options.quick {
        record.machine.notes.push("a first look (--quick): fewer rounds and trials than in a full run".into());
    }
    let mut failure = None;
    for (i, (name, part)) in PARTS.iter().enumerate() {
        if run.stopped() {
            record.machine.notes.push(format!("{name} was not measured: stopped before"));
            continue;
        }
        run.part(2 + i, count);
        if let Err(error) = part(&mut record, &mut samples, &run) {
            run.finish();
            record.machine.notes.push(format!("{name} failed: {error:#}"));
            failure.get_or_insert(error.context(*name));
        }
    }
    run.finish();

    record.write(&paths[0])?;
    paths[1..].iter().try_for_each(|path| samples.write(path))?;
    let records = [("record.json".to_owned(), record)];
    let mut files = Vec::from(paths);
    files.push(report::write(&records, &[], &options.out, Format::Html)?);
    let mut out = std::io::stdout().lock();
    write!(out, "{}", show::text(&report::summary(&records[0].1)?))?;
    for file in files {
        writeln!(out, "{}", file.display())?;
    }
    failure.map_or(Ok(()), Err)
}

/// Runs a part, and puts its section into the record.
type Part = fn(&mut Record, &mut Samples, &Run<'_>) -> Result<()>;

/// What follows on the peers. The published figures and the report need no measuring.
const PARTS: &[(&str, Part)] = &[
    (Techniques::KEY, |record, samples, run| {
        let section = techniques::measure(run, &all_sets())?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Kernels::KEY, |record, samples, run| {
        let section = kernel::measure(run, &all_sets())?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Profile::KEY, |record, samples, run| {
        let section = profile::measure(run, &all_sets())?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Credibility::KEY, |record, samples, run| {
        let section = credibility::measure(run)?;
        section.add_samples(samples);
        record.put(&section)
    }),
];
