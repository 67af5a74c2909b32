//! The output of `techniques`: the published tables with our figures in them, by the published
//! method and by the better one.

use super::backend::Technique;
use super::claims;
use super::comparison::{SCALAR, Times};
use super::ladder;
use super::{PROCESS, Techniques, workload::BATCH};
use crate::measure::Quartiles;
use crate::published::Published;
use crate::record::{Label, Measurement};
use crate::show::{Block, Table, significant};

/// All blocks of the chapter.
pub(super) fn blocks(section: &Techniques) -> Vec<Block> {
    let published = Times::published();
    let one = Method {
        name: "one process",
        unit: "milliseconds of keygen, sign and verify",
        times: times(section, |set, technique| Some(section.round_trip_ns(set, technique)? / 1e6)),
        round: section.round(),
        unusable: section.conditions.verdict.unusable().then(|| "the run calls itself unusable".to_owned()),
    };
    let whole = Method {
        name: "whole processes",
        unit: "milliseconds of a round trip",
        times: times(section, |set, technique| Some(section.find(set, technique, PROCESS)?.median_ns / 1e6)),
        round: section.round(),
        unusable: section.processes_unusable(),
    };
    let mut blocks = introduction(section);
    if one.times.time(SCALAR, "MAYO_1").is_none() && one.times.average(SCALAR).is_none() {
        blocks.push(Block::Warning(
            "the record has no scalar baseline, so nothing is compared with the published figures: measure \
             again, aioli-lab techniques"
                .into(),
        ));
    } else {
        blocks.extend(ladder::charts(&section.round(), &one.times, &published));
        blocks.extend(judged(section, &whole, &one));
    }
    blocks.push(Block::Text(format!(
        "In one process: warmed up, all operations in turn, medians of {} rounds; {}.",
        section.conditions.rounds, section.conditions.verdict
    )));
    blocks.extend(one.tables(&published));
    blocks.extend(one.times.sets.iter().map(|(set, _)| Block::Table(latencies(section, set))));
    blocks.push(Block::Text(match section.start_share {
        Some(share) => format!(
            "The published method, whole processes: as many round trips (keygen, sign, verify) in each that its start \
             takes a small part of its time, {:.1} % at most here; median of {} processes, divided by their round \
             trips. The published workload is not known, so times do not compare, but improvements do.",
            100.0 * share,
            section.runs
        ),
        None => "The record has no whole processes that work longer than they take to start: measure again, aioli-lab \
                 techniques."
            .into(),
    }));
    if section.start_share.is_some() {
        blocks.extend(whole.tables(&published));
    }
    blocks
}

fn introduction(section: &Techniques) -> Vec<Block> {
    let source = &Published::get().optimization_experiments;
    vec![
        Block::Text(format!(
            "{} repeated with the sets of round {}: techniques as implementations of one kernel contract, each checked \
             by the first known answer before it is timed, on {} processors. Published for {} ({}). Its baseline is \
             our scalar, its openmp_4 our scalar_openmp_4, its avx2_openmp our avx2_openmp_4. {}.",
            source.source,
            section.round(),
            section.cores,
            source.platform,
            source.build,
            section.openmp_named(),
        )),
        Block::Text(format!(
            "Its text does not say what its baseline is. A baseline of one element at a time, such as scalar, leaves \
             AVX2 far more to gain than one that works on sixteen elements in a word, such as our portable. So \
             gains over both are shown. {}",
            caveats(section)
        )),
    ]
}

/// The times by one method, and what is wrong with them.
struct Method {
    name: &'static str,
    unit: &'static str,
    times: Times,
    round: String,
    unusable: Option<String>,
}

impl Method {
    /// Summary, improvements, averages and ranking, ours beside the published ones.
    fn tables(&self, published: &Times) -> [Block; 3] {
        let beside = |what: &str, cell: &dyn Fn(&Times, &str, &str) -> Option<f64>| {
            let sets = || self.times.sets.iter().map(|(set, _)| &**set);
            let header = std::iter::once("".to_owned())
                .chain(sets().map(Into::into))
                .chain(sets().map(|set| format!("{set} published")));
            let mut table =
                Table::new(format!("Round {} (published: 2): {what}, {}", self.round, self.name), header).folded();
            for technique in &self.times.techniques {
                let cells = |times: &Times| -> Vec<String> {
                    sets().map(|set| cell(times, technique, set).map_or(String::new(), significant)).collect()
                };
                table.row(std::iter::once(technique.clone()).chain(cells(&self.times)).chain(cells(published)));
            }
            Block::Table(table)
        };
        let improvement = |times: &Times, technique: &str, set: &str| {
            times.improvement(technique, set).filter(|_| technique != SCALAR)
        };
        [
            Block::Table(self.ranking(published)),
            beside("Improvement in percent, (scalar / technique - 1) * 100", &improvement),
            beside(&format!("Summary: {} (published: seconds of its workload)", self.unit), &Times::time_of),
        ]
    }

    fn ranking(&self, published: &Times) -> Table {
        let title =
            format!("Round {} (published: 2): average improvement in percent and rank, {}", self.round, self.name);
        let header = ["", "rank", "average", "times as fast as portable", "published rank", "published average"];
        let mut table = Table::new(title, header).folded();
        let published = published.ranking();
        for (rank, (technique, average)) in self.times.ranking().into_iter().enumerate() {
            let found = published.iter().position(|(name, _)| *name == technique);
            table.row([
                technique.to_owned(),
                (rank + 1).to_string(),
                significant(average),
                self.times.ratio("portable", technique).map_or(String::new(), significant),
                found.map_or(String::new(), |rank| (rank + 1).to_string()),
                Times::stated_average(technique).map_or(String::new(), significant),
            ]);
        }
        table
    }
}

/// The times of all sets and techniques, as far as they were measured.
fn times(section: &Techniques, time: impl Fn(&str, &str) -> Option<f64>) -> Times {
    let mut times = Times::default();
    let mut sets: Vec<&str> = Vec::new();
    for Measurement { label, .. } in &section.results {
        let name = name(label);
        if !times.techniques.contains(&name) {
            times.techniques.push(name);
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

/// A technique's name; another implementation's begins with its own.
fn name(label: &Label) -> String {
    match &*label.implementation {
        "aioli" => label.backend.clone(),
        other => format!("{other} {}", label.backend),
    }
}

impl Techniques {
    fn find(&self, set: &str, technique: &str, operation: &str) -> Option<&Measurement> {
        self.results.iter().find(|Measurement { label, operation: found, .. }| {
            label.set == set && found == operation && name(label) == technique
        })
    }

    /// The time of a round trip: the sum of the medians of keygen, sign and verify.
    pub(super) fn round_trip_ns(&self, set: &str, technique: &str) -> Option<f64> {
        ["keygen", "sign", "verify"].iter().map(|operation| Some(self.find(set, technique, operation)?.median_ns)).sum()
    }

    /// The round of the sets, which are all of one.
    fn round(&self) -> String {
        let round = self.results.first().and_then(|result| result.label.round);
        round.map_or("unknown".into(), |round| round.to_string())
    }

    fn openmp_named(&self) -> String {
        match &self.openmp {
            Some(openmp) => format!("OpenMP is {openmp}"),
            None => "OpenMP was not found when the lab was built, so it is missing: apt-get install libomp-19-dev for \
                     clang-19, or gcc; then cargo clean -p aioli-lab"
                .into(),
        }
    }

    /// The reason why times of whole processes decide nothing, if there is one.
    fn processes_unusable(&self) -> Option<String> {
        let Some(share) = self.start_share else { return Some("the processes mostly start".into()) };
        if share >= MOST_START {
            return Some(format!("the start takes {:.1} % of a process", 100.0 * share));
        }
        let of_processes = self.results.iter().filter(|result| result.operation == PROCESS);
        let spread = Quartiles::of(of_processes.map(|r| (r.q3_ns - r.q1_ns) / r.median_ns)).median;
        (spread >= MOST_SPREAD).then(|| format!("half of the processes vary by {:.0} % or more", 100.0 * spread))
    }
}

fn caveats(section: &Techniques) -> String {
    let measured = |technique: &Technique| {
        let name = technique.to_string();
        section.results.iter().any(|result| result.label.implementation == "aioli" && result.label.backend == name)
    };
    let all: Vec<String> = Technique::kernels()
        .filter(measured)
        .filter_map(|technique| Some(format!("{technique}: {}.", technique.caveat()?)))
        .collect();
    all.join(" ")
}

/// The latency of single operations and the throughput of round trips.
fn latencies(section: &Techniques, set: &str) -> Table {
    let title = format!(
        "Round {}, {set}: thousands of reference cycles (microseconds) of one operation; quartiles of sign; round trips a \
         second, one after another and in a batch on {} processors",
        section.round(),
        section.cores
    );
    let header = ["", "keygen", "sign", "verify", "sign, middle half, us", "one after another", "batch"];
    let mut table = Table::new(title, header).folded();
    let mut names: Vec<String> = Vec::new();
    for result in section.results.iter().filter(|result| result.label.set == set) {
        let name = name(&result.label);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let find = |operation| section.find(set, &name, operation);
        let figure = |operation| find(operation).map_or(String::new(), figure);
        let quartiles = find("sign").map_or(String::new(), |sign| {
            format!("{}-{}", significant(sign.q1_ns / 1000.0), significant(sign.q3_ns / 1000.0))
        });
        let rate = |ns: f64| significant(1e9 / ns);
        table.row([
            name.clone(),
            figure("keygen"),
            figure("sign"),
            figure("verify"),
            quartiles,
            section.round_trip_ns(set, &name).map_or(String::new(), rate),
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

/// The verdicts on the claims by both methods and by the published table itself, with reasons.
fn judged(section: &Techniques, whole: &Method, one: &Method) -> Vec<Block> {
    // The experiment had four threads, so its machine had at least as many processors.
    let by_its_table = claims::judge(&Times::published(), 4, None);
    let by_whole = claims::judge(&whole.times, section.cores, whole.unusable.as_deref());
    let by_one = claims::judge(&one.times, section.cores, one.unusable.as_deref());
    let header = ["", "by its own table", "by whole processes", "in one process"];
    let mut verdicts = Table::new("Published claims, and what this machine says", header);
    let mut reasons = Table::new("The figures behind these verdicts", header).folded();
    for ((own, whole), one) in by_its_table.iter().zip(&by_whole).zip(&by_one) {
        let row = |cell: fn(&claims::Judgement) -> String| [one.claim.into(), cell(own), cell(whole), cell(one)];
        verdicts.row(row(|judgement| judgement.verdict.to_string()));
        reasons.row(row(|judgement| judgement.because.clone()));
    }
    let claimed = Published::get().optimization_experiments.claims.join("; ");
    vec![Block::Table(verdicts), Block::Table(reasons), Block::Text(format!("As published: {claimed}."))]
}

/// From this share on, the start of a process spoils its time.
const MOST_START: f64 = 0.05;
/// From this interquartile range on, as a share of the median, processes decide nothing.
const MOST_SPREAD: f64 = 0.1;
