//! The figures of the firmware as a table and as a record, beside the targets and the published
//! figures.

use super::counts::Counts;
use crate::origin;
use crate::steps::Outcome;
use serde_json::{Value, json};
use std::collections::HashMap;

/// One operation of one set.
pub(crate) struct Operation {
    /// `mayo1-round2`.
    algorithm: String,
    /// `keygen`, `sign`, `verify`.
    name: String,
    backend: String,
    /// `small` or `fast`, by the working memory that it was given.
    profile: String,
    counts: Counts,
    /// The same count by the program's own timer.
    clock: u64,
    /// Bytes of stack, and of all memory that the operation needs, stack included.
    stack: u64,
    ram: u64,
    right: bool,
}

impl Operation {
    /// The name of the set, such as `MAYO_1`, and the round.
    fn set(&self) -> (String, u8) {
        let (set, round) = match self.algorithm.strip_suffix("-round2") {
            Some(set) => (set, 2),
            None => (&*self.algorithm, 3),
        };
        (set.replace("mayo", "MAYO_"), round)
    }

    /// The faults that fail the check: a wrong answer; counters that disagree; in the profile
    /// `small` more memory than the targets allow; in the profile `fast` more than 1 / 1.25 of the
    /// official instructions.
    pub(crate) fn faults(&self) -> Vec<String> {
        let subject = format!("{} {} {}", self.algorithm, self.profile, self.name);
        let mut faults = Vec::new();
        if !self.right {
            faults.push(format!("{subject}: not the known answer"));
        }
        if self.counts.instructions.abs_diff(self.clock) > CLOCK_TOLERANCE {
            let counted = self.counts.instructions;
            faults.push(format!("{subject}: the counter has {counted} instructions, the timer {}", self.clock));
        }
        if self.backend == "armv7em"
            && self.profile == "small"
            && let Some(target) = self.target(&MEMORY_TARGETS)
            && self.ram > target << 10
        {
            faults.push(format!("{subject}: {} bytes of memory, more than {target} KiB", self.ram));
        }
        if self.backend == "armv7em"
            && self.profile == "fast"
            && let Some(official) = self.round2(&OFFICIAL_INSTRUCTIONS)
            && 4 * official < 5 * self.counts.instructions
        {
            faults.push(format!("{subject}: {} instructions, official {official}", self.counts.instructions));
        }
        faults
    }

    fn target(&self, targets: &[(&str, [u64; 3])]) -> Option<u64> {
        let set = self.set().0;
        let operation = OPERATIONS.iter().position(|name| *name == self.name)?;
        targets.iter().find(|(name, _)| *name == set).map(|(_, targets)| targets[operation])
    }

    fn round2(&self, figures: &[(&str, [u64; 3])]) -> Option<u64> {
        if self.set().1 == 2 { self.target(figures) } else { None }
    }

    /// Cycles by the rule 0.953 (instructions + loads), which fits the published assembly on the
    /// board within 1.6 %.
    fn cycles_by_rule(&self) -> u64 {
        (self.counts.instructions + self.counts.loads) * 953 / 1000
    }
}

/// Joins the lines that the program printed with the counts.
pub(crate) fn join(printed: &str, counts: Vec<Counts>) -> Result<Vec<Operation>, String> {
    let results: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("result ")).collect();
    if results.len() != counts.len() {
        return Err(format!("{} operations printed, {} counted", results.len(), counts.len()));
    }
    let mut operations = Vec::new();
    for (line, counts) in results.into_iter().zip(counts) {
        let fields: HashMap<&str, &str> = line.split(' ').filter_map(|field| field.split_once('=')).collect();
        let text = |name| fields.get(name).copied().ok_or_else(|| format!("no {name} in: {line}"));
        let number = |name| text(name)?.parse::<u64>().map_err(|_| format!("no number for {name} in: {line}"));
        operations.push(Operation {
            algorithm: text("set")?.into(),
            name: text("operation")?.into(),
            backend: text("backend")?.into(),
            profile: text("profile")?.into(),
            counts,
            clock: number("time")?,
            stack: number("stack")?,
            ram: number("ram")?,
            right: text("answer")? == "right",
        });
    }
    Ok(operations)
}

pub(crate) fn print(operations: &[Operation]) {
    println!(
        "{:12} {:5} {:6} {:>12} {:>11} {:>9} {:>7} {:>8} {:>6} {:>13} {:>13} {:>15}",
        "set",
        "",
        "",
        "instructions",
        "loads",
        "official",
        "stack",
        "RAM",
        "code",
        "est. cycles",
        "est. by class",
        "board, official"
    );
    for operation in operations {
        let Operation { algorithm, name, profile, counts, stack, ram, .. } = operation;
        let official = operation.round2(&OFFICIAL_INSTRUCTIONS);
        let ratio = official.map_or(String::new(), |o| format!("{:.2} x", o as f64 / counts.instructions as f64));
        let board = operation.round2(&OFFICIAL_CYCLES).map_or(String::new(), |cycles| cycles.to_string());
        println!(
            "{algorithm:12} {profile:5} {name:6} {:12} {:11} {ratio:>9} {stack:7} {ram:8} {:6} {:13} {:13} {board:>15}",
            counts.instructions,
            counts.loads,
            counts.code_bytes,
            operation.cycles_by_rule(),
            counts.cycles,
        );
    }
    println!(
        "official: instructions of MAYO-M4 over ours; RAM: working memory, stack, keys, signature; est. cycles: \
         0.953 (instructions + loads), and a model by classes of instructions, both estimates; board: published cycles \
         of MAYO-M4 on an STM32L4R5"
    );
}

/// Prints the functions with 0.2 % of the instructions or more, the heaviest first.
pub(crate) fn print_functions(operation: &Operation) {
    println!("{} {} {}", operation.algorithm, operation.profile, operation.name);
    let mut functions: Vec<_> = operation.counts.functions.iter().collect();
    functions.sort_by_key(|(_, (instructions, _))| std::cmp::Reverse(*instructions));
    for (name, (instructions, loads)) in functions {
        let share = *instructions as f64 / operation.counts.instructions as f64;
        if share >= 0.002 {
            println!("  {:5.1} %  {instructions:11} instructions  {loads:11} loads  {name}", 100.0 * share);
        }
    }
}

/// Prints the products with P1, bit-sliced and by tables, beside the published figures.
pub(crate) fn print_kernels(printed: &str) -> Outcome {
    println!("{:12} {:8} {:>10} {:>10} {:>7}  published, round 1", "set", "product", "bitsliced", "tables", "ratio");
    let mut lines = 0;
    for line in printed.lines().filter_map(|line| line.strip_prefix("kernel ")) {
        let fields: HashMap<&str, &str> = line.split(' ').filter_map(|field| field.split_once('=')).collect();
        let text = |name| fields.get(name).copied().unwrap_or_default();
        let (Ok(sliced), Ok(tables)) = (text("bitsliced").parse::<f64>(), text("tables").parse::<f64>()) else {
            return Outcome::Failed(line.into());
        };
        let published = PUBLISHED_PRODUCTS
            .iter()
            .find(|(set, product, ..)| text("set").strip_suffix("-round2") == Some(set) && text("product") == *product);
        let published = published.map_or(String::new(), |(.., sliced, m4r)| {
            format!("bitsliced {sliced} cycles, M4R {m4r}, ratio {:.2}", *sliced as f64 / *m4r as f64)
        });
        let set = text("set");
        let product = text("product");
        println!("{set:12} {product:8} {sliced:10} {tables:10} {:7.2}  {published}", sliced / tables);
        if text("agree") != "true" {
            return Outcome::Failed(format!("{set} {product}: both ways differ"));
        }
        lines += 1;
    }
    if lines > 0 { Outcome::Passed } else { Outcome::Failed("no kernel was counted".into()) }
}

/// The record, in the schema of the lab's records.
pub(crate) fn record(operations: &[Operation]) -> Value {
    let results: Vec<Value> = operations
        .iter()
        .map(|operation| {
            let (set, round) = operation.set();
            json!({
                "implementation": "aioli",
                "backend": operation.backend,
                "profile": operation.profile,
                "set": set,
                "round": round,
                "operation": operation.name,
                "instructions": operation.counts.instructions,
                "loads": operation.counts.loads,
                "stack_bytes": operation.stack,
                "ram_bytes": operation.ram,
                "code_bytes": operation.counts.code_bytes,
                "estimated_cycles": operation.cycles_by_rule(),
                "estimated_cycles_by_class": operation.counts.cycles,
            })
        })
        .collect();
    json!({
        "machine": {
            "cpu": "Cortex-M4",
            "board": format!("{}, board mps2-an386", origin::version("qemu-system-arm")),
            "counted": "executed instructions",
            "commit": origin::commit(),
            "dirty": origin::dirty(),
            "rustc": origin::version("rustc"),
        },
        "results": results,
    })
}

const OPERATIONS: [&str; 3] = ["keygen", "sign", "verify"];
/// The instructions by which timer and counter may differ: their marks lie apart, and the timer
/// counts whole ticks.
const CLOCK_TOLERANCE: u64 = 200;
/// The most KiB of RAM, for keygen, sign, verify.
const MEMORY_TARGETS: [(&str, [u64; 3]); 2] = [("MAYO_1", [48, 96, 48]), ("MAYO_3", [NONE, 192, 96])];
const NONE: u64 = u64::MAX >> 10;
/// The instructions that MAYO-M4, round 2, executes under the same QEMU.
const OFFICIAL_INSTRUCTIONS: [(&str, [u64; 3]); 3] = [
    ("MAYO_1", [7_615_475, 13_750_105, 8_486_090]),
    ("MAYO_2", [8_087_347, 8_962_580, 4_660_140]),
    ("MAYO_3", [21_714_900, 37_590_072, 21_577_845]),
];
/// Products with P1 in round 1, bit-sliced and by the method of the four Russians, in cycles on the
/// board ("Nibbling MAYO", TCHES 2024).
const PUBLISHED_PRODUCTS: [(&str, &str, u64, u64); 6] = [
    ("mayo1", "O^T_P1", 1_177_752, 714_332),
    ("mayo1", "V_P1", 1_323_797, 1_119_136),
    ("mayo2", "O^T_P1", 2_830_681, 1_683_616),
    ("mayo2", "V_P1", 629_400, 681_081),
    ("mayo3", "O^T_P1", 5_126_000, 3_525_668),
    ("mayo3", "V_P1", 5_635_495, 3_452_417),
];
/// Cycles of MAYO-M4, round 2, on a NUCLEO-L4R5ZI, published by its authors.
const OFFICIAL_CYCLES: [(&str, [u64; 3]); 3] = [
    ("MAYO_1", [9_572_510, 16_911_188, 11_242_036]),
    ("MAYO_2", [9_574_993, 11_003_859, 6_027_831]),
    ("MAYO_3", [27_170_014, 45_428_633, 28_446_049]),
];
