//! `aioli-lab compare`: two records beside each other, with a verdict for each figure.

use crate::measure::{Conditions, Quartiles, Verdict};
use crate::record::{Machine, Measurement, Record};
use crate::show::{self, Block, Table, significant};
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::io::Write;
use std::path::PathBuf;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// The record that is compared with
    before: PathBuf,
    /// The record that is judged
    after: PathBuf,
}

/// Prints the machines, a table for each chapter that both records have, and what to believe.
///
/// # Errors
///
/// Errors of the files; if the records have no figure in common.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (before, after) = (Record::read(&options.before)?, Record::read(&options.after)?);
    let mut blocks = machines(&before.machine, &after.machine);
    let mut common = 0;
    for chapter in chapters(&after) {
        let Some(other) = chapters(&before).into_iter().find(|other| other.name == chapter.name) else { continue };
        let pairs = pairs(&other, &chapter);
        common += pairs.len();
        if !pairs.is_empty() {
            blocks.extend(figures(&other, &chapter, &pairs));
        }
    }
    ensure!(
        common > 0,
        "{} and {} have no figure in common: the same implementation, backend, set, round and operation",
        options.before.display(),
        options.after.display()
    );
    write!(std::io::stdout(), "{}", show::text(&blocks))?;
    Ok(())
}

/// The figures of one chapter.
struct Chapter {
    name: String,
    results: Vec<Measurement>,
    conditions: Conditions,
}

/// The part of a section that all chapters with times share.
#[derive(Deserialize)]
struct Times {
    results: Vec<Measurement>,
    conditions: Conditions,
}

/// The chapters of a record whose figures are times; all others are passed over.
fn chapters(record: &Record) -> Vec<Chapter> {
    let peers = Chapter {
        name: "peers".into(),
        results: record.results.clone(),
        conditions: record.machine.conditions.clone(),
    };
    let sections = record.sections.iter().filter_map(|(name, section)| {
        let Times { results, conditions } = Times::deserialize(section).ok()?;
        Some(Chapter { name: name.clone(), results, conditions })
    });
    std::iter::once(peers).chain(sections).collect()
}

type Pair<'a> = (&'a Measurement, &'a Measurement);

/// The figures that both have, in the order of the second.
fn pairs<'a>(before: &'a Chapter, after: &'a Chapter) -> Vec<Pair<'a>> {
    let key = |figure: &Measurement| {
        let label = &figure.label;
        let names = [&label.implementation, &label.backend, &label.set, &figure.operation].map(String::clone);
        (names, label.round)
    };
    let find = |wanted: &Measurement| before.results.iter().find(|figure| key(figure) == key(wanted));
    after.results.iter().filter_map(|figure| Some((find(figure)?, figure))).collect()
}

fn machines(before: &Machine, after: &Machine) -> Vec<Block> {
    let mut table = Table::new("What was measured", ["", "before", "after"]);
    let mut row = |name: &str, of: fn(&Machine) -> String| table.row([name.into(), of(before), of(after)]);
    row("processor", |machine| machine.cpu.clone());
    row("cores", |machine| machine.cores.to_string());
    row("target", |machine| machine.target.clone());
    row("commit", |machine| machine.checkout.commit.chars().take(7).collect());
    row("compiler", |machine| machine.rustc.clone());
    let mut blocks = vec![Block::Table(table)];
    if (&before.cpu, &before.flags) != (&after.cpu, &after.flags) {
        let text = "The machines differ, so a verdict is about the machine as much as about the code.";
        blocks.push(Block::Warning(text.into()));
    }
    blocks
}

/// The table of a chapter, and the change of what should not have changed.
fn figures(before: &Chapter, after: &Chapter, pairs: &[Pair<'_>]) -> Vec<Block> {
    let [first, second] = [before, after].map(|chapter| chapter.conditions.verdict);
    let usable = first != Verdict::Unusable && second != Verdict::Unusable;
    let title = format!("{}: microseconds. Before: {first}. After: {second}", after.name);
    let header =
        ["implementation", "backend", "set", "round", "operation", "before", "after", "times as fast", "verdict"];
    let mut table = Table::new(title, header);
    for (before, after) in pairs {
        let label = &after.label;
        table.row([
            label.implementation.clone(),
            label.backend.clone(),
            label.set.clone(),
            label.round.map_or(String::new(), |round| round.to_string()),
            after.operation.clone(),
            significant(before.median_ns / 1e3),
            significant(after.median_ns / 1e3),
            significant(before.median_ns / after.median_ns),
            if usable { judged(before, after) } else { "-" }.into(),
        ]);
    }
    let mut blocks = vec![Block::Table(table)];
    if !usable {
        blocks.push(Block::Warning("A run that calls itself unusable gives no verdicts.".into()));
    }
    let controls: Vec<f64> = (pairs.iter())
        .filter(|(before, after)| after.label.implementation != "aioli" && before.label == after.label)
        .map(|(before, after)| before.median_ns / after.median_ns)
        .collect();
    if !controls.is_empty() {
        let Quartiles { q1, median, q3 } = Quartiles::of(controls.iter().copied());
        let [q1, median, q3] = [q1, median, q3].map(significant);
        blocks.push(Block::Text(format!(
            "Control: the {} figures of other implementations in the same version are {median} times as fast \
             (quartiles {q1} and {q3}). That much is the machine.",
            controls.len()
        )));
    }
    let only = [(before, "before"), (after, "after")]
        .map(|(chapter, name)| (chapter.results.len().saturating_sub(pairs.len()), name))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} figures are in the record {name} alone."));
    let only: Vec<String> = only.collect();
    if !only.is_empty() {
        blocks.push(Block::Text(only.join(" ")));
    }
    blocks
}

/// Whether the middle halves of the samples lie apart.
fn judged(before: &Measurement, after: &Measurement) -> &'static str {
    if after.q3_ns < before.q1_ns {
        "faster"
    } else if after.q1_ns > before.q3_ns {
        "slower"
    } else {
        "alike"
    }
}
