//! The output of `peers`.

use super::our_counterpart;
use super::throughput::{self, BATCHES};
use crate::record::{Label, Measurement, Record};
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use std::io::Write;

/// Prints a record: the machine, a table for each round and set, ratios.
///
/// # Errors
///
/// Errors of standard output.
pub(super) fn print(record: &Record) -> Result<()> {
    Ok(write!(std::io::stdout().lock(), "{}", text(record))?)
}

fn text(record: &Record) -> String {
    let machine = &record.machine;
    let conditions = &machine.conditions;
    let ghz = |value: Option<f64>| value.map_or("unknown".into(), |ghz| format!("{ghz:.3} GHz"));
    let mut text = format!(
        "{}, {} cores, {}, kernel {}\ncommit {}\n\
         clock {}, counter {}, core {}; {} rounds, spread {:.1} %, {:.1} % disturbed: {}\n",
        machine.cpu,
        machine.cores,
        machine.target,
        machine.kernel,
        machine.checkout,
        machine.clock_source,
        ghz(conditions.counter_ghz),
        ghz(conditions.core_ghz),
        conditions.rounds,
        100.0 * conditions.spread,
        100.0 * conditions.disturbed,
        conditions.verdict,
    );
    for note in &machine.notes {
        text += &format!("{note}\n");
    }
    let mut groups: Vec<(Option<u8>, &str)> = Vec::new();
    for Measurement { label, .. } in &record.results {
        // Algorithms other than MAYO have no round and share a table.
        let group = (label.round, label.round.map_or("", |_| &label.set));
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for (round, set) in groups {
        let results: Vec<&Measurement> = record
            .results
            .iter()
            .filter(|result| result.label.round == round && (round.is_none() || result.label.set == set))
            .collect();
        text += &match round {
            Some(round) => format!("\nRound {round}, {set}: thousands of reference cycles (microseconds)\n"),
            None => "\nFor scale: thousands of reference cycles (microseconds)\n".into(),
        };
        text += &format!("{}\n", group_table(&results));
    }
    text
}

/// A set's figures, the peers' times in multiples of ours, ours in multiples of `expand_p`, and
/// figures of batches.
fn group_table(results: &[&Measurement]) -> String {
    let mut labels: Vec<&Label> = Vec::new();
    let mut operations: Vec<&str> = Vec::new();
    for result in results {
        if !labels.contains(&&result.label) {
            labels.push(&result.label);
        }
        let is_batch = BATCHES.iter().any(|batch| result.operation.starts_with(batch));
        if !is_batch && !operations.contains(&&*result.operation) {
            operations.push(&result.operation);
        }
    }
    let find = |label: &Label, operation: &str| {
        results.iter().find(|result| result.label == *label && result.operation == operation).copied()
    };
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(std::iter::once("").chain(operations.iter().copied()));
    let mut row = |name: String, cell: &dyn Fn(&str) -> Option<String>| {
        table.add_row(std::iter::once(name).chain(operations.iter().map(|op| cell(op).unwrap_or_default())));
    };
    // Batches run on the fastest backend even if the options leave it out; its row would be empty.
    let measured = |label: &Label| operations.iter().any(|operation| find(label, operation).is_some());
    for label in labels.iter().filter(|label| measured(label)) {
        row(row_name(label), &|operation| find(label, operation).map(figure));
    }
    let (ours, peers): (Vec<&Label>, Vec<&Label>) =
        labels.iter().copied().partition(|label| label.implementation == "aioli");
    for peer in peers.iter().filter(|peer| peer.round.is_some()) {
        for our in ours.iter().filter(|our| measured(our)) {
            row(format!("{} / {}", row_name(peer), our.backend), &|operation| {
                ratio(find(peer, operation), find(our, our_counterpart(&peer.implementation, operation)))
            });
        }
    }
    for our in ours.iter().filter(|our| our.round == Some(3) && measured(our)) {
        row(format!("{} / its expand_p", our.backend), &|operation| ratio(find(our, operation), find(our, "expand_p")));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.trim_fmt();
    for our in ours {
        for batch in BATCHES {
            let Some(one) = find(our, &throughput::name(batch, 1)) else { continue };
            text += &format!("\n{batch}, {} for an item on 1 thread", figure(one));
            for threads in 2..=MAX_THREADS {
                if let Some(many) = find(our, &throughput::name(batch, threads)) {
                    text +=
                        &format!("; on {threads} {}, {:.2} times faster", figure(many), one.median_ns / many.median_ns);
                }
            }
        }
    }
    text
}

fn row_name(label: &Label) -> String {
    match label.round {
        Some(_) => format!("{} {}", label.implementation, label.backend),
        None => format!("{} {}", label.implementation, label.set),
    }
}

fn figure(result: &Measurement) -> String {
    let us = result.median_ns / 1000.0;
    match result.median_cycles {
        Some(cycles) => format!("{:.1} ({us:.1})", cycles / 1000.0),
        None => format!("({us:.1})"),
    }
}

fn ratio(numerator: Option<&Measurement>, denominator: Option<&Measurement>) -> Option<String> {
    Some(format!("{:.2}", numerator?.median_ns / denominator?.median_ns))
}

/// The largest number of threads that is looked up in results.
const MAX_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(implementation: &str, backend: &str, round: u8, operation: &str, ns: f64) -> Measurement {
        let label = Label {
            implementation: implementation.into(),
            version: "1".into(),
            backend: backend.into(),
            set: "MAYO_1".into(),
            round: Some(round),
        };
        let sample = crate::measure::Sample { ns, cycles: Some(2.0 * ns) };
        Measurement::new(label, operation, &[sample])
    }

    fn rows(results: &[Measurement]) -> Vec<Vec<String>> {
        let text = group_table(&results.iter().collect::<Vec<_>>());
        text.lines()
            .map(|line| line.split("  ").map(str::trim).filter(|s| !s.is_empty()).map(Into::into).collect())
            .collect()
    }

    #[test]
    fn peers_are_multiples_of_ours() {
        let rows = rows(&[
            measurement("aioli", "avx2", 2, "keygen", 1000.0),
            measurement("aioli", "avx2", 2, "sign", 4000.0),
            measurement("liboqs", "avx2", 2, "sign", 10000.0),
        ]);
        assert_eq!(rows[0], ["keygen", "sign"]);
        assert_eq!(rows[1], ["aioli avx2", "2.0 (1.0)", "8.0 (4.0)"]);
        assert_eq!(rows[2], ["liboqs avx2", "20.0 (10.0)"]);
        assert_eq!(rows[3], ["liboqs avx2 / avx2", "2.50"]);
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn round_3_is_in_multiples_of_the_key_stream_and_batches_of_one_thread() {
        let rows = rows(&[
            measurement("aioli", "avx2", 3, "expand_p", 1000.0),
            measurement("aioli", "avx2", 3, "sign", 3500.0),
            measurement("aioli", "gfni512", 3, "sign_batch_1_thread", 900.0),
            measurement("aioli", "gfni512", 3, "sign_batch_2_threads", 600.0),
        ]);
        assert_eq!(rows[2], ["avx2 / its expand_p", "1.00", "3.50"]);
        assert_eq!(rows[3], ["sign_batch, 1.8 (0.9) for an item on 1 thread; on 2 1.2 (0.6), 1.50 times faster"]);
        assert_eq!(rows.len(), 4);
    }
}
