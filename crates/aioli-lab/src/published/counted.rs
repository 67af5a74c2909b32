//! Records of instructions executed on emulated processors, written by `cargo xtask neon` and
//! `cargo xtask firmware`.
//!
//! They have no times. Their estimates of cycles are shown beside published cycles, and called
//! estimates.

use super::{Cycles, OPERATIONS, Published};
use crate::show::{Block, Chart, Marks, Table, significant};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// A record of executed instructions.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Counted {
    machine: Processor,
    results: Vec<Count>,
}

/// The emulated processor.
#[derive(Clone, Debug, Deserialize)]
struct Processor {
    cpu: String,
    /// The emulator and the emulated board.
    board: String,
}

/// The figures of an operation. A figure that an emulator does not give is left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Count {
    backend: String,
    set: String,
    round: u8,
    operation: String,
    /// The chosen trade of memory for speed, if there are several.
    profile: Option<String>,
    instructions: u64,
    loads: Option<u64>,
    ram_bytes: Option<u64>,
    stack_bytes: Option<u64>,
    code_bytes: Option<u64>,
    estimated_cycles: Option<f64>,
    estimated_cycles_by_class: Option<f64>,
}

impl Counted {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not such a record.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a record of instructions", path.display()))
    }

    /// The emulated processor.
    pub(super) fn processor(&self) -> &str {
        &self.machine.cpu
    }

    /// The fewest instructions of an operation of round 2, and its fewest estimated cycles.
    pub(super) fn fewest(&self, set: &str, operation: &str) -> (Option<f64>, Option<f64>) {
        let of_operation =
            || self.results.iter().filter(|count| (count.round, &*count.set, &*count.operation) == (2, set, operation));
        let instructions = of_operation().map(|count| count.instructions as f64).reduce(f64::min);
        (instructions, of_operation().filter_map(|count| count.estimated_cycles).reduce(f64::min))
    }

    /// All figures, published cycles beside the estimates, and a comparison of the backends.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let Processor { cpu, board } = &self.machine;
        let mut blocks = vec![Block::Text(format!(
            "{cpu}: executed instructions, counted under {board}. Nothing was timed; cycles are estimates from counts."
        ))];
        blocks.extend(self.against_portable());
        blocks.push(Block::Table(self.figures()));
        blocks.extend(self.chart());
        blocks
    }

    fn figures(&self) -> Table {
        type Column = (&'static str, fn(&Count) -> Option<f64>);
        const COLUMNS: [Column; 7] = [
            ("instructions, thousands", |count| Some(count.instructions as f64 / 1e3)),
            ("loads, thousands", |count| Some(count.loads? as f64 / 1e3)),
            ("RAM in all, KiB", |count| Some(count.ram_bytes? as f64 / 1024.0)),
            ("stack, KiB", |count| Some(count.stack_bytes? as f64 / 1024.0)),
            ("code, KiB", |count| Some(count.code_bytes? as f64 / 1024.0)),
            ("estimated kilocycles, by instructions and loads", |count| Some(count.estimated_cycles? / 1e3)),
            ("estimated kilocycles, by classes", |count| Some(count.estimated_cycles_by_class? / 1e3)),
        ];
        let columns: Vec<&Column> =
            COLUMNS.iter().filter(|(_, value)| self.results.iter().any(|count| value(count).is_some())).collect();
        let board = self.results.iter().any(|count| published_cycles(&self.machine.cpu, count).is_some());
        let header = ["set, round, operation", "backend"].into_iter().chain(columns.iter().map(|(name, _)| *name));
        let header = header.chain(board.then_some("published kilocycles, MAYO-M4 on a board"));
        let mut table = Table::new(format!("{}: all figures", self.machine.cpu), header);
        for count in &self.results {
            let shown = |value: Option<f64>| value.map_or(String::new(), significant);
            let profile = count.profile.as_ref().map_or(String::new(), |profile| format!(", {profile}"));
            let name = format!("{} round {} {}{profile}", count.set, count.round, count.operation);
            let values = columns.iter().map(|(_, value)| shown(value(count)));
            let published = published_cycles(&self.machine.cpu, count).map(|cycles| cycles / 1e3);
            table.row([name, count.backend.clone()].into_iter().chain(values).chain(board.then(|| shown(published))));
        }
        table
    }

    /// The instructions of the portable backend in multiples of the other backend's, if there is
    /// another.
    fn against_portable(&self) -> Option<Block> {
        let mut table = Table::new(
            format!("{}: instructions of `portable`, divided by those of the backend", self.machine.cpu),
            ["set", "backend"].into_iter().chain(OPERATIONS),
        );
        let find = |backend: &str, like: &Count, operation: &str| {
            self.results.iter().find(|count| {
                count.backend == backend
                    && (count.round, &count.set) == (like.round, &like.set)
                    && count.operation == operation
            })
        };
        for count in self.results.iter().filter(|count| count.backend != "portable" && count.operation == "sign") {
            let ratio = |operation| {
                let portable = find("portable", count, operation)?.instructions as f64;
                Some(portable / find(&count.backend, count, operation)?.instructions as f64)
            };
            let ratios = OPERATIONS.map(ratio);
            if ratios.iter().any(Option::is_some) {
                let name = [format!("{} round {}", count.set, count.round), count.backend.clone()];
                let shown = ratios.map(|ratio| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")));
                table.row(name.into_iter().chain(shown));
            }
        }
        (!table.rows.is_empty()).then_some(Block::Table(table))
    }

    /// A chart of working memory if it is known, of instructions otherwise.
    fn chart(&self) -> Option<Block> {
        let memory = self.results.iter().any(|count| count.ram_bytes.is_some());
        let value = |count: &Count| match memory {
            true => count.ram_bytes.map(|bytes| bytes as f64 / 1024.0),
            false => Some(count.instructions as f64 / 1e6),
        };
        let mut groups: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        let mut backends: Vec<&str> = self.results.iter().map(|count| &*count.backend).collect();
        backends.dedup();
        // The last backend is the one made for the processor.
        let backend = backends.last()?;
        for count in self.results.iter().filter(|count| count.backend == *backend) {
            let Some(i) = OPERATIONS.iter().position(|&operation| operation == count.operation) else { continue };
            let name = format!("{} r{}", count.set, count.round);
            let known = groups.iter().position(|(known, _)| *known == name);
            let known = known.unwrap_or_else(|| {
                groups.push((name, vec![None; OPERATIONS.len()]));
                groups.len() - 1
            });
            // The least of several profiles.
            let (_, values) = &mut groups[known];
            let least = &mut values[i];
            *least = value(count).map(|new| least.map_or(new, |least| least.min(new)));
        }
        let what = if memory { "working memory" } else { "executed instructions" };
        Some(Block::Chart(Chart {
            name: format!("counted-{}", self.machine.cpu.to_lowercase().replace(' ', "-")),
            title: format!("{}, backend {backend}: {what}", self.machine.cpu),
            x: String::new(),
            y: if memory { "KiB of RAM in all" } else { "millions of instructions" }.into(),
            log: false,
            marks: Marks::Bars { series: OPERATIONS.map(Into::into).into(), groups },
        }))
    }
}

/// Published cycles of the operation on this processor.
fn published_cycles(cpu: &str, count: &Count) -> Option<f64> {
    let wanted = |table: &&Cycles| table.platform.contains(cpu) && count.round == 2;
    let table = Published::get().cycles.iter().find(wanted)?;
    let operation = OPERATIONS.iter().position(|&operation| operation == count.operation)?;
    Some(table.sets.get(&count.set)?[operation] as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    fn planted(text: &str) -> Counted {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn backends_are_compared_by_instructions() {
        let counted = planted(
            r#"{"machine": {"cpu": "aarch64", "board": "an emulator"}, "results": [
                {"backend": "portable", "set": "MAYO_1", "round": 3, "operation": "sign", "instructions": 9000},
                {"backend": "neon", "set": "MAYO_1", "round": 3, "operation": "sign", "instructions": 2000}]}"#,
        );
        let Some(Block::Table(table)) = counted.against_portable() else { panic!("a table") };
        assert_eq!(table.rows, [["MAYO_1 round 3", "neon", "", "4.50", ""]]);
        assert_eq!(counted.figures().header.len(), 3, "no columns without figures");
        let Some(Block::Chart(chart)) = counted.chart() else { panic!("a chart") };
        assert_eq!((chart.size(), &*chart.name), (1, "counted-aarch64"));
    }

    #[test]
    fn estimates_stand_beside_published_cycles() {
        let counted = planted(
            r#"{"machine": {"cpu": "Cortex-M4", "board": "an emulator"}, "results": [
                {"backend": "armv7em", "set": "MAYO_1", "round": 2, "operation": "keygen", "instructions": 1000,
                 "profile": "small", "loads": 500, "ram_bytes": 2048, "estimated_cycles": 1430.0},
                {"backend": "armv7em", "set": "MAYO_1", "round": 2, "operation": "keygen", "instructions": 900,
                 "profile": "fast", "loads": 500, "ram_bytes": 4096, "estimated_cycles": 1334.0}]}"#,
        );
        assert_eq!(counted.fewest("MAYO_1", "keygen"), (Some(900.0), Some(1334.0)));
        let table = counted.figures();
        assert_eq!(table.rows[0][2..], ["1.00", "0.500", "2.00", "1.43", "9,573"]);
        let text = show::text(&counted.blocks());
        assert!(text.contains("Nothing was timed") && text.contains("KiB of RAM"), "{text}");
        assert!(counted.against_portable().is_none());
        let Some(Block::Chart(Chart { marks: Marks::Bars { groups, .. }, .. })) = counted.chart() else {
            panic!("bars")
        };
        assert_eq!(groups, [("MAYO_1 r2".to_owned(), vec![Some(2.0), None, None])]);
    }
}
