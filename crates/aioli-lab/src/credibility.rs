//! `aioli-lab credibility`: checks whether to trust measurements on this machine.
//!
//! The yardstick is verification with Falcon-512 by liboqs, which others have published for several
//! platforms by one method: messages of 256 bytes, warm-up runs, many trials of many operations
//! each, a counter and the wall clock. Implausible figures raise red flags. Our own verification
//! passes the same checks, with limits from MAYO itself. Keys, signatures and refusals of all
//! algorithms are inspected.

mod flags;
mod inspect;
mod trials;

use crate::chapter::{Run, Section};
use crate::origin;
use crate::peers;
use crate::published::{FalconVerify, Published};
use crate::random::Random;
use crate::record::{self, Label};
use crate::samples::Samples;
use crate::show::{self, Block, Table, significant};
use aioli::backend::{BackendKind, DetectedBackend};
use aioli::params::ParameterSet;
use aioli::{Algorithm, with_set};
use anyhow::{Context, Result, ensure};
use flags::{Flag, Limits};
use inspect::Inspection;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use trials::{Plan, Trials};

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Take a first look only: a tenth of the trials, with fewer operations
    #[arg(long)]
    quick: bool,
    /// Write a record to this file, which must not exist; in a folder, to a file named after day
    /// and commit
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

/// Measures, inspects, judges, prints and records.
///
/// # Errors
///
/// If a measurement or a key inspection fails; and errors of the record's file.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    let record_path = options.json.as_deref().map(|path| origin::file(path, Credibility::KEY, "json"));
    record_path.as_deref().map_or(Ok(()), record::check_new)?;
    let run = Run::new(options.quick, stop);
    let section = measure(&run)?;
    if let Some(path) = &record_path {
        let mut record = peers::brief(stop)?;
        record.put(&section)?;
        record.write(path)?;
        eprintln!("{}", path.display());
    }
    write!(std::io::stdout().lock(), "{}", show::text(&section.blocks()))?;
    let failed: Vec<&str> =
        section.inspections.iter().filter(|found| !found.is_good()).map(|found| &*found.algorithm).collect();
    ensure!(failed.is_empty(), "key inspection failed for {}", failed.join(", "));
    Ok(())
}

/// The findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Credibility {
    /// The numbers of trials and operations.
    plan: Plan,
    /// The yardstick, if it is built in, and our sets.
    measurements: Vec<Judged>,
    /// The inspections of keys, signatures and refusals.
    inspections: Vec<Inspection>,
    /// Sentences on what was left out, and why.
    skipped: Vec<String>,
}

/// A measurement with its red flags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Judged {
    #[serde(flatten)]
    label: Label,
    operation: String,
    trials: Trials,
    flags: Vec<Flag>,
}

/// Measures, inspects and judges.
///
/// # Errors
///
/// If an implementation cannot sign or refuses its own signature; and if the run is stopped before
/// the first trial.
pub(crate) fn measure(run: &Run<'_>) -> Result<Credibility> {
    let plan = if run.quick { Plan::QUICK } else { Plan::PUBLISHED };
    let mut skipped = Vec::new();
    let mut measurements = Vec::new();
    let limits = Limits::of_falcon(&Published::get().falcon_red_flags);
    match peers::falcon_512()? {
        Some(falcon) => measurements.push(judge(&*falcon, plan, run, &limits)?),
        None => skipped.push(
            "Falcon-512, the yardstick, and the comparison with published machines that needs it: liboqs is not built \
             in (cargo feature `peers`)"
                .to_owned(),
        ),
    }
    for algorithm in Algorithm::ALL {
        if run.stopped() {
            skipped.push(format!("{} of round {:?}: the run was stopped", algorithm.set_name(), algorithm.round()));
            continue;
        }
        let ours = peers::aioli::implementation(algorithm, DetectedBackend::best());
        let limits = limits_of_mayo(algorithm, run)?;
        measurements.push(judge(&*ours, plan, run, &limits)?);
    }

    let inspected = peers::inspected()?;
    skipped.extend(peers::NOT_BUILT_IN.iter().map(|name| format!("key inspection of {name}: liboqs is not built in")));
    run.begin("credibility, inspection", inspected.len());
    let mut inspections = Vec::new();
    for subject in &inspected {
        inspections.push(inspect::inspect(&**subject)?);
        run.done(inspections.len());
    }
    run.finish();
    Ok(Credibility { plan, measurements, inspections, skipped })
}

/// Times verification and judges the figures.
fn judge(subject: &dyn peers::Implementation, plan: Plan, run: &Run<'_>, limits: &Limits) -> Result<Judged> {
    let label = subject.label();
    let key = subject.keypair()?;
    let message = Random::bytes::<MESSAGE_BYTES>();
    let signature = subject.sign(&key, &message)?;
    run.begin(format!("credibility, {} {}, trial", label.implementation, label.set), plan.trials);
    let trials = trials::measure(plan, run, || {
        ensure!(subject.verify(&key.public, &message, &signature), "a good signature was refused");
        Ok(())
    })
    .with_context(|| format!("{} {}", label.implementation, label.set))?;
    run.finish();
    let flags = flags::judge(&trials.statistics, limits);
    Ok(Judged { label, operation: "verify".into(), trials, flags })
}

/// The limits for verification with MAYO, which has to expand P. So it takes at least as long as
/// the key stream takes here, and at least as many cycles as its AES instructions. It should not
/// take twice as long as the slowest published code of the same kind.
fn limits_of_mayo(algorithm: Algorithm, run: &Run<'_>) -> Result<Limits> {
    let bytes = with_set!(algorithm, P => P::P_BYTES);
    let mut operations = peers::aioli::implementation(algorithm, DetectedBackend::best()).operations()?;
    let expand =
        operations.iter_mut().find(|operation| operation.name == "expand_p").context("a key stream to time")?;
    run.begin("credibility, key stream, trial", Plan::QUICK.trials);
    let key_stream = trials::measure(Plan::QUICK, run, &mut expand.run)?;
    run.finish();
    let verify = |table: &crate::published::Cycles| {
        table.sets.get(algorithm.set_name()).map(|[_keygen, _sign, verify]| *verify as f64)
    };
    let slow = Published::get().cycles.iter().filter(|table| {
        let code = if DetectedBackend::best().kind() == BackendKind::Portable { "portable" } else { "avx2" };
        table.kind == code && table.ghz.is_some() && !table.is_suspect(algorithm.set_name(), "verify")
    });
    let slowest = slow.filter_map(|table| Some((verify(table)?, table.ghz?)));
    let (cycles, ns) =
        slowest.fold((0f64, 0f64), |(cycles, ns), (figure, ghz)| (cycles.max(figure), ns.max(figure / ghz)));
    Ok(Limits::of_mayo(bytes, key_stream.statistics.q1_ns, cycles, ns))
}

impl Section for Credibility {
    const KEY: &'static str = "credibility";
    const TITLE: &'static str = "Credibility";

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![Block::Text(self.plan.to_string())];
        if self.plan != Plan::PUBLISHED {
            blocks.push(Block::Warning(format!("a first look, not the published method: {}", Plan::PUBLISHED)));
        }
        blocks.extend(self.skipped.iter().map(|what| Block::Warning(format!("skipped: {what}"))));
        if let Some(yardstick) = self.measurements.iter().find(|judged| judged.label.set == FALCON) {
            falcon(&mut blocks, yardstick);
        }
        blocks.push(Block::Table(self.statistics()));
        blocks.push(Block::Table(self.flags()));
        blocks.push(Block::Table(inspect::table(&self.inspections)));
        blocks
    }
}

impl Credibility {
    /// A sentence with the number of raised flags and of passed inspections.
    pub(crate) fn verdict(&self) -> String {
        let flags = || self.measurements.iter().flat_map(|judged| &judged.flags);
        let raised = flags().filter(|flag| flag.raised).count();
        let good = self.inspections.iter().filter(|inspection| inspection.is_good()).count();
        format!(
            "{raised} of {} red flags raised; key inspection passed for {good} of {} implementations",
            flags().count(),
            self.inspections.len()
        )
    }

    /// Adds the raw trials.
    pub(crate) fn add_samples(&self, samples: &mut Samples) {
        for judged in &self.measurements {
            samples.add(Self::KEY, &judged.label, &judged.operation, &judged.trials.raw);
        }
    }

    fn statistics(&self) -> Table {
        let mut table = Table::new(
            "Verification: median of the trials, spread and clocks",
            ["algorithm", "us", "ops/s", "kilocycles", "CV, %", "single pass off, %", "counter, GHz", "core, GHz"],
        );
        for judged in &self.measurements {
            let statistics = &judged.trials.statistics;
            table.row([
                name(&judged.label),
                significant(statistics.median_ns / 1e3),
                significant(statistics.ops_per_second()),
                statistics.median_cycles.map_or("no counter".into(), |cycles| significant(cycles / 1e3)),
                significant(statistics.cv_percent),
                significant(statistics.single_pass_off_percent()),
                statistics.counter_ghz.map_or("unknown".into(), |ghz| format!("{ghz:.3}")),
                statistics.core_ghz.map_or("unknown".into(), |ghz| format!("{ghz:.3}")),
            ]);
        }
        table
    }

    fn flags(&self) -> Table {
        let mut table = Table::new("Red flags", ["algorithm", "flag", "verdict", "reason"]).folded();
        for judged in &self.measurements {
            for flag in &judged.flags {
                let row = [name(&judged.label), flag.name.clone(), flag.verdict().into(), flag.reason.clone()];
                if flag.raised { table.highlighted_row(row) } else { table.row(row) }
            }
        }
        table
    }
}

/// A table of this machine among the published ones, with warnings about doubtful figures.
fn falcon(blocks: &mut Vec<Block>, yardstick: &Judged) {
    let mut table = Table::new(
        "Verification with Falcon-512, here and published",
        ["platform", "GHz", "cycles", "ops/s", "single pass, ops/s", "CV, %", "counter", "source"],
    );
    let statistics = &yardstick.trials.statistics;
    table.highlighted_row([
        "this machine".into(),
        statistics.core_ghz.map_or("unknown".into(), |ghz| format!("{ghz:.2}")),
        statistics.median_cycles.map_or("none".into(), |cycles| format!("{cycles:.0}")),
        format!("{:.0}", statistics.ops_per_second()),
        format!("{:.0}", 1e9 / statistics.single_pass_ns),
        format!("{:.2}", statistics.cv_percent),
        "time-stamp counter".into(),
        format!("here, liboqs {} {}", yardstick.label.version, yardstick.label.backend),
    ]);
    for published in &Published::get().falcon_512_verify {
        table.row([
            published.platform.clone(),
            format!("{:.2}", published.ghz),
            format!("{:.0}", published.cycles),
            format!("{:.0}", published.ops_per_second),
            published.single_pass_ops_per_second.map_or("not stated".into(), |rate| format!("{rate:.0}")),
            published.cv_percent.map_or("not stated".into(), |cv| format!("{cv:.2}")),
            published.counter.clone(),
            published.source.clone(),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(
        "Our cycles are ticks of the time-stamp counter, which has its own rate and not the core's.".into(),
    ));
    let suspect = |published: &FalconVerify| {
        Some(Block::Warning(format!("suspect: {}: {}", published.platform, published.suspicion()?)))
    };
    blocks.extend(Published::get().falcon_512_verify.iter().filter_map(suspect));
}

fn name(label: &Label) -> String {
    let round = label.round.map_or(String::new(), |round| format!(" round {round}"));
    format!("{} {}{round}", label.implementation, label.set)
}

/// Bytes in a message, as in the publications.
const MESSAGE_BYTES: usize = 256;
const FALCON: &str = "Falcon-512";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_named_and_the_rest_is_there() {
        let stop = AtomicBool::new(false);
        let section = measure_planted(&stop);
        let text = show::text(&section.blocks());
        assert!(text.contains("skipped: Falcon-512"), "{text}");
        assert!(text.contains("a first look"), "{text}");
        assert!(text.contains("RAISED"), "{text}");
        assert!(text.contains("aioli MAYO_1 round 3"), "{text}");
        assert!(!text.contains("NaN"), "{text}");
        assert!(section.verdict().starts_with("1 of 5 red flags raised"), "{}", section.verdict());
        let back: Credibility = serde_json::from_str(&serde_json::to_string(&section).unwrap()).unwrap();
        assert_eq!(back, section);
    }

    #[test]
    fn limits_of_mayo_are_the_slowest_published_and_the_key_stream() {
        let stop = AtomicBool::new(false);
        let limits = limits_of_mayo(Algorithm::Mayo5Round2, &Run::new(true, &stop)).unwrap();
        // Haswell has the slowest: 1,488,808 with vectors, 2,400,637 without. Skylake's misprint
        // does not count.
        let slowest = if DetectedBackend::best().kind() == BackendKind::Portable { 2_400_637.0 } else { 1_488_808.0 };
        assert_eq!(limits.most_cycles, 2.0 * slowest);
        assert!(limits.fastest_ns > 0.0);
    }

    /// A section with one set whose coefficient of variation is too high.
    fn measure_planted(stop: &AtomicBool) -> Credibility {
        let ours = peers::aioli::implementation(Algorithm::Mayo1, DetectedBackend::best());
        let limits = Limits::of_falcon(&Published::get().falcon_red_flags);
        let plan = Plan { warm_ups: 1, trials: 3, operations: 2 };
        let mut judged = judge(&*ours, plan, &Run::new(true, stop), &limits).unwrap();
        judged.trials.raw.clear();
        judged.trials.statistics = trials::planted(20_000.0, Some(100_000.0), 11.0, 20_000.0);
        judged.flags = flags::judge(&judged.trials.statistics, &limits);
        Credibility { plan, measurements: vec![judged], inspections: Vec::new(), skipped: vec!["Falcon-512".into()] }
    }
}
