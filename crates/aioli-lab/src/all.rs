//! `aioli-lab all`: every chapter, one record, one report.

use crate::chapter::{Run, Section};
use crate::credibility::{self, Credibility};
use crate::gpu::{self, Batches};
use crate::kernel::{self, Kernels};
use crate::origin;
use crate::profile::{self, Profile};
use crate::published::Counted;
use crate::record::{self, Record};
use crate::report::{self, Format};
use crate::samples::Samples;
use crate::study::algorithms;
use crate::techniques::{self, Techniques};
use crate::{peers, show};
use aioli::Algorithm;
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Measure less of everything: under five minutes
    #[arg(long)]
    quick: bool,
    /// The round of NIST's process whose sets the studies measure; the peers are measured with both
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=3))]
    round: u8,
    /// Records of instructions executed on emulated processors, for the chapter on published
    /// figures
    #[arg(long, num_args = 1.., value_name = "RECORD")]
    counted: Vec<PathBuf>,
    /// Folder for the record, the raw samples and the report, created if missing; it must not hold
    /// a record yet [default: a folder named after day and commit, YYYY-MM-DD-COMMIT-all]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs every chapter, writes the record, the samples and the report, and prints the summary.
///
/// Ctrl-C ends the measuring. The files are written even then, and also if a chapter fails, with
/// what was measured.
///
/// # Errors
///
/// The first error of a chapter, returned after everything else is written; and errors of the
/// files.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    let folder = options.out.clone().unwrap_or_else(|| origin::stem("all").into());
    fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    let record_path = folder.join("record.json");
    let samples_path = folder.join("samples.parquet");
    let counted = options.counted.iter().map(|path| Counted::read(path)).collect::<Result<Vec<_>>>()?;
    record::check_new(&record_path)?;
    record::check_new(&samples_path)?;

    let run = Run::new(options.quick, stop);
    let count = 1 + CHAPTERS.len();
    run.chapter(1, count);
    let mut samples = Samples::new();
    let mut record = peers::measure(&peers::Options::everything(), &run).context("peers")?;
    record.results.iter().for_each(|result| samples.add("peers", &result.label, &result.operation, &result.raw));
    if options.quick {
        record.machine.notes.push("a first look (--quick): fewer rounds and trials than in a full run".into());
    }
    let mut failure = None;
    for (i, (name, measure)) in CHAPTERS.iter().enumerate() {
        if run.stopped() {
            record.machine.notes.push(format!("{name} was not measured: the run was stopped before it"));
            continue;
        }
        run.chapter(2 + i, count);
        if let Err(error) = measure(&mut record, &mut samples, &run, &algorithms(&[], options.round)) {
            run.finish();
            record.machine.notes.push(format!("{name} failed: {error:#}"));
            failure.get_or_insert(error.context(*name));
        }
    }
    run.finish();

    record.write(&record_path)?;
    samples.write(&samples_path)?;
    let summary = show::text(&report::summary(&record)?);
    let report_path = report::write(&[("record.json".to_owned(), record)], &counted, &folder, Format::Html)?;
    let mut out = std::io::stdout().lock();
    write!(out, "{summary}")?;
    for path in [record_path, samples_path, report_path] {
        writeln!(out, "{}", path.display())?;
    }
    failure.map_or(Ok(()), Err)
}

/// Measures a chapter with these sets and puts its section into the record.
type Measure = fn(&mut Record, &mut Samples, &Run<'_>, &[Algorithm]) -> Result<()>;

/// The chapters after the peers. Published figures and the report need no measuring.
const CHAPTERS: &[(&str, Measure)] = &[
    (Techniques::KEY, |record, samples, run, sets| {
        let section = techniques::measure_all(run, sets)?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Kernels::KEY, |record, samples, run, sets| {
        let section = kernel::measure(run, sets)?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Batches::KEY, |record, _, run, sets| record.put(&gpu::measure_all(run, sets)?)),
    (Profile::KEY, |record, samples, run, sets| {
        let section = profile::measure(run, sets)?;
        section.add_samples(samples);
        record.put(&section)
    }),
    (Credibility::KEY, |record, samples, run, _| {
        let section = credibility::measure(run)?;
        section.add_samples(samples);
        record.put(&section)
    }),
];
