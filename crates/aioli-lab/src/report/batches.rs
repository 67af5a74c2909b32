//! Batches on the processor by threads: rates, rates of a core, and how well threads scale.

use crate::peers::throughput as batches;
use crate::record::{Measurement, Record};
use crate::show::{Block, Chart, Marks, Table, significant};

/// The table and the chart of batches, or the command that measures them.
pub(super) fn blocks(record: &Record) -> Vec<Block> {
    let found: Vec<Batch<'_>> = record.results.iter().filter_map(Batch::of).collect();
    if found.is_empty() {
        let missing = "the record has no batches: `aioli-lab peers --threads` and `aioli-lab all` measure them";
        return vec![Block::Warning(missing.into())];
    }
    let mut blocks = vec![Block::Text(
        "Many items in one call on pinned threads, by the fastest backend, with compact keys. \"One key\" verifies \
         all items under one key, \"many keys\" each under its own. The efficiency is the rate of a core in \
         percent of the rate of one thread."
            .into(),
    )];
    if record.machine.conditions.verdict != crate::measure::Verdict::Quiet {
        blocks.push(Block::Warning("the machine was not quiet, and times on several threads suffer first".into()));
    }
    blocks.push(Block::Table(table(&found, record.machine.cores)));
    for round in [2, 3] {
        blocks.extend(chart(&found, round).map(Block::Chart));
    }
    blocks
}

/// A batch of a record, by the name of its operation.
struct Batch<'a> {
    result: &'a Measurement,
    operation: &'static str,
    threads: usize,
}

impl<'a> Batch<'a> {
    fn of(result: &'a Measurement) -> Option<Self> {
        let (operation, threads) = batches::parse(&result.operation)?;
        Some(Self { result, operation, threads })
    }

    fn per_second(&self) -> f64 {
        1e9 / self.result.median_ns
    }

    /// The same batch on one thread.
    fn alone<'b>(&self, all: &'b [Self]) -> Option<&'b Self> {
        let same = |other: &&Batch<'_>| other.result.label == self.result.label && other.operation == self.operation;
        all.iter().filter(same).find(|other| other.threads == 1)
    }
}

fn table(all: &[Batch<'_>], cores: usize) -> Table {
    let header = ["round, set, batch", "threads", "items a second", "a second and core", "efficiency, percent"];
    let mut table = Table::new("Batches by threads", header).folded();
    for batch in all {
        let label = &batch.result.label;
        let rate = batch.per_second();
        let of_a_core = rate / batch.threads.min(cores) as f64;
        let round = label.round.map_or(String::new(), |round| round.to_string());
        table.row([
            format!("round {round}, {}, {}", label.set, batch.operation),
            batch.threads.to_string(),
            significant(rate),
            significant(of_a_core),
            batch.alone(all).map_or(String::new(), |alone| significant(100.0 * of_a_core / alone.per_second())),
        ]);
    }
    table
}

/// The rates on all threads.
fn chart(all: &[Batch<'_>], round: u8) -> Option<Chart> {
    let most = all.iter().map(|batch| batch.threads).max()?;
    let shown: Vec<&Batch<'_>> =
        all.iter().filter(|batch| batch.threads == most && batch.result.label.round == Some(round)).collect();
    let mut sets: Vec<&str> = shown.iter().map(|batch| &*batch.result.label.set).collect();
    sets.dedup();
    let groups = sets.into_iter().map(|set| {
        let rate = |operation: &&str| {
            let found = shown.iter().find(|b| b.result.label.set == set && b.operation == *operation);
            found.map(|batch| batch.per_second())
        };
        (set.to_owned(), batches::BATCHES.iter().map(rate).collect())
    });
    (!shown.is_empty()).then(|| Chart {
        name: format!("batches-round-{round}"),
        title: format!("Round {round}: batches on {most} threads"),
        x: String::new(),
        y: "items a second".into(),
        log: true,
        marks: Marks::Bars { series: batches::BATCHES.map(Into::into).into(), groups: groups.collect() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::planted;

    #[test]
    fn rates_and_efficiency_of_a_planted_record() {
        let cells = [("sign_batch_1_thread", 1000.0), ("sign_batch_2_threads", 625.0), ("sign", 900.0)];
        let record = planted(4.0, &cells.map(|(operation, ns)| ("gfni512", 3, "MAYO_1", operation, ns)));
        let found: Vec<Batch<'_>> = record.results.iter().filter_map(Batch::of).collect();
        let rows = table(&found, 2).rows;
        assert_eq!(rows.len(), 2, "single operations are no batches");
        // 1.6 million a second on two cores are 800,000 each.
        assert_eq!(rows[1], ["round 3, MAYO_1, sign_batch", "2", "1,600,000", "800,000", "80.0"]);
        assert_eq!(chart(&found, 3).unwrap().size(), 1);
        assert!(chart(&found, 2).is_none());
        let Block::Warning(text) = &blocks(&planted(4.0, &[]))[0] else { panic!("a warning") };
        assert!(text.contains("peers --threads"), "{text}");
    }
}
