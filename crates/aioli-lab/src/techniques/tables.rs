//! The output of `techniques`: the published tables with our figures in them, and the same by the
//! better method.

use super::backend::Technique;
use super::claims::{self, Judgement};
use super::comparison::{BASELINE, Times};
use super::{PROCESS, Techniques, workload::BATCH};
use crate::published::Published;
use crate::record::Measurement;
use crate::show::{Block, Chart, Marks, Table, significant};

/// All blocks of the chapter.
pub(super) fn blocks(section: &Techniques) -> Vec<Block> {
    let published = Times::published();
    let source = &Published::get().optimization_experiments;
    let whole = whole_processes(section);
    let one = one_process(section);
    let mut blocks = vec![
        Block::Text(format!(
            "Techniques as implementations of one kernel contract, each checked by the first known answer before it is \
             timed, on {} processors. Published: {} ({}, {}). Our `threads_N` is its OpenMP: the baseline with N \
             threads inside one operation; `threads_1` shows the cost of the pool. Improvement % = (baseline / \
             technique - 1) * 100. Our baseline works on one element at a time. A portable C implementation of MAYO \
             works on sixteen in a word, as our `portable` does, so the ranking has multiples of `portable` too.",
            section.cores, source.source, source.platform, source.build
        )),
        Block::Text(caveats(section)),
    ];
    if !whole.sets.is_empty() {
        blocks.push(Block::Text(format!(
            "The published method: wall time of a whole process with {} round trips (keygen, sign, verify), median of \
             {} processes. The published workload is not known, so seconds do not compare, but improvements do. The \
             time includes the start of the process, which is most of it for the fast techniques.",
            section.round_trips, section.runs
        )));
        blocks.extend(method("whole process", "seconds", &whole, &published));
    }
    blocks.push(Block::Text(format!(
        "The better method: one process, warmed up, all operations in turn, medians of {} rounds; {}.",
        section.conditions.rounds, section.conditions.verdict
    )));
    blocks.extend(one.sets.iter().map(|(set, _)| Block::Table(latencies(section, set))));
    blocks.extend(method("in one process", "milliseconds of keygen, sign and verify", &one, &published));
    blocks.push(Block::Chart(chart(&one)));
    blocks.extend(judged(&whole, &one, section.cores));
    blocks
}

/// Wall times of whole processes in seconds.
fn whole_processes(section: &Techniques) -> Times {
    times(section, |set, technique| Some(section.find(set, technique, PROCESS)?.median_ns / 1e9))
}

/// The time of a round trip in one process, in milliseconds.
fn one_process(section: &Techniques) -> Times {
    times(section, |set, technique| Some(section.round_trip_ns(set, technique)? / 1e6))
}

/// The times of all sets and techniques, as far as they were measured.
fn times(section: &Techniques, time: impl Fn(&str, &str) -> Option<f64>) -> Times {
    let mut times = Times::default();
    let mut sets: Vec<&str> = Vec::new();
    for Measurement { label, .. } in &section.results {
        if !times.techniques.contains(&label.backend) {
            times.techniques.push(label.backend.clone());
        }
        if !sets.contains(&&*label.set) {
            sets.push(&label.set);
        }
    }
    for set in sets {
        let row: Vec<Option<f64>> = times.techniques.iter().map(|technique| time(set, technique)).collect();
        if row.iter().any(Option::is_some) {
            times.sets.push((set.into(), row));
        }
    }
    times
}

impl Techniques {
    fn find(&self, set: &str, technique: &str, operation: &str) -> Option<&Measurement> {
        self.results.iter().find(|Measurement { label, operation: found, .. }| {
            label.set == set && label.backend == technique && found == operation
        })
    }

    /// The time of a round trip: the sum of the medians of keygen, sign and verify.
    fn round_trip_ns(&self, set: &str, technique: &str) -> Option<f64> {
        ["keygen", "sign", "verify"].iter().map(|operation| Some(self.find(set, technique, operation)?.median_ns)).sum()
    }
}

fn caveats(section: &Techniques) -> String {
    let mut names: Vec<&str> = section.results.iter().map(|result| &*result.label.backend).collect();
    names.dedup();
    let all: Vec<String> = Technique::available()
        .into_iter()
        .filter(|technique| names.contains(&&*technique.to_string()))
        .filter_map(|technique| Some(format!("{technique}: {}.", technique.caveat()?)))
        .collect();
    all.join(" ")
}

/// Summary, improvements, averages and ranking by one method, ours beside the published ones.
fn method(name: &str, unit: &str, ours: &Times, published: &Times) -> [Block; 3] {
    let beside = |what: &str, cell: &dyn Fn(&Times, &str, &str) -> Option<f64>| {
        let sets = || ours.sets.iter().map(|(set, _)| &**set);
        let header = std::iter::once("".to_owned())
            .chain(sets().map(Into::into))
            .chain(sets().map(|set| format!("{set} published")));
        let mut table = Table::new(format!("{what}, {name}"), header);
        for technique in &ours.techniques {
            let cells = |times: &Times| -> Vec<String> {
                sets().map(|set| cell(times, technique, set).map_or(String::new(), significant)).collect()
            };
            table.row(std::iter::once(technique.clone()).chain(cells(ours)).chain(cells(published)));
        }
        Block::Table(table)
    };
    let improvement =
        |times: &Times, technique: &str, set: &str| times.improvement(technique, set).filter(|_| technique != BASELINE);
    [
        beside(&format!("Summary: {unit} (published: seconds)"), &|times, technique, set| times.time(technique, set)),
        beside("Improvement in percent", &improvement),
        Block::Table(ranking(name, ours, published)),
    ]
}

fn ranking(name: &str, ours: &Times, published: &Times) -> Table {
    let title = format!("Average improvement in percent and rank, {name}");
    let mut table =
        Table::new(title, ["", "rank", "average", "times as fast as portable", "published rank", "published average"]);
    let published = published.ranking();
    for (rank, (technique, average)) in ours.ranking().into_iter().enumerate() {
        let found = published.iter().position(|(name, _)| *name == technique);
        table.row([
            technique.to_owned(),
            (rank + 1).to_string(),
            significant(average),
            ours.ratio("portable", technique).map_or(String::new(), significant),
            found.map_or(String::new(), |rank| (rank + 1).to_string()),
            Times::stated_average(technique).map_or(String::new(), significant),
        ]);
    }
    table
}

/// The latency of single operations and the throughput of round trips.
fn latencies(section: &Techniques, set: &str) -> Table {
    let title = format!(
        "{set}: thousands of reference cycles (microseconds) of one operation; quartiles of sign; round trips a \
         second, one after another and in a batch on {} processors",
        section.cores
    );
    let mut table =
        Table::new(title, ["", "keygen", "sign", "verify", "sign, middle half", "one after another", "batch"]);
    let mut names: Vec<&str> = Vec::new();
    for result in section.results.iter().filter(|result| result.label.set == set) {
        if !names.contains(&&*result.label.backend) {
            names.push(&result.label.backend);
        }
    }
    for name in names {
        let find = |operation| section.find(set, name, operation);
        let figure = |operation| find(operation).map_or(String::new(), figure);
        let quartiles = find("sign").map_or(String::new(), |sign| {
            format!("{}-{} us", significant(sign.q1_ns / 1000.0), significant(sign.q3_ns / 1000.0))
        });
        let rate = |ns: f64| significant(1e9 / ns);
        table.row([
            name.to_owned(),
            figure("keygen"),
            figure("sign"),
            figure("verify"),
            quartiles,
            section.round_trip_ns(set, name).map_or(String::new(), rate),
            find(BATCH).map_or(String::new(), |batch| rate(batch.median_ns)),
        ]);
    }
    table
}

fn figure(result: &Measurement) -> String {
    let us = significant(result.median_ns / 1000.0);
    match result.median_cycles {
        Some(cycles) => format!("{} ({us})", significant(cycles / 1000.0)),
        None => format!("({us})"),
    }
}

fn chart(times: &Times) -> Chart {
    let groups = times.sets.iter().map(|(set, _)| {
        let factors = times.techniques.iter().map(|name| Some(times.time(BASELINE, set)? / times.time(name, set)?));
        (set.clone(), factors.collect())
    });
    Chart {
        name: "techniques".into(),
        title: "Times as fast as the baseline, keygen, sign and verify together".into(),
        x: "set".into(),
        y: "times as fast as the baseline".into(),
        log: true,
        marks: Marks::Bars { series: times.techniques.clone(), groups: groups.collect() },
    }
}

/// The verdicts on the claims by both methods, with reasons.
fn judged(whole: &Times, one: &Times, cores: usize) -> Vec<Block> {
    let header = ["", "by whole processes", "in one process"];
    let mut table = Table::new("Published claims on this machine", header);
    let by_whole = claims::judge(whole, cores);
    let by_one = claims::judge(one, cores);
    for (whole, one) in by_whole.iter().zip(&by_one) {
        table.row([whole.claim.to_owned(), whole.verdict.to_string(), one.verdict.to_string()]);
    }
    let reasons = |by: &str, all: &[Judgement]| {
        all.iter()
            .map(|j| Block::Text(format!("{} ({by}): {}: {}.", j.claim, j.verdict, j.because)))
            .collect::<Vec<_>>()
    };
    let claimed = Published::get().optimization_experiments.claims.join("; ");
    let mut blocks = vec![Block::Table(table), Block::Text(format!("As published: {claimed}."))];
    blocks.extend(reasons("whole processes", &by_whole));
    blocks.extend(reasons("one process", &by_one));
    blocks
}
