//! Our figures beside the published ones.

use super::{Counted, Cycles, OPERATIONS, Published, TwoWays, doubts};
use crate::record::{Machine, Measurement, Record};
use crate::show::{Block, Chart, Marks, Table, significant};
use aioli::{Algorithm, Round};

/// All published figures with ours beside them, and a warning for each platform that is not this
/// one.
pub(crate) fn blocks(record: &Record, counted: &[Counted]) -> Vec<Block> {
    let machine = &record.machine;
    let unit = match machine.conditions.core_ghz {
        Some(ghz) => format!("core cycles, from times at the {ghz:.3} GHz that the core was measured to run at"),
        None => "reference cycles of the time-stamp counter, since the core's clock is not known".into(),
    };
    let mut blocks = vec![
        Block::Text(format!(
            "Ours: {}, {}, {}; {unit}. A ratio is the published figure divided by ours: above 1, ours is faster. All \
             figures are of round 2, with compact keys unless stated.",
            machine.cpu, machine.target, machine.rustc
        )),
        Block::Text(format!("The record's verdict on itself: {}.", machine.conditions.verdict)),
    ];
    let missing: Vec<&str> = SETS.into_iter().filter(|&set| record.fastest((2, set), "verify").is_none()).collect();
    if !missing.is_empty() {
        blocks.push(Block::Warning(format!("the record has no figures of ours for {} of round 2", missing.join(", "))));
    }
    let published = Published::get();
    let of_this_kind = published.cycles.iter().filter(|table| table.kind != "other");
    let mut elsewhere: Vec<&str> = of_this_kind.map(|table| &*table.platform).collect();
    elsewhere.retain(|platform| !same_processor(&machine.cpu, platform));
    elsewhere.sort_unstable();
    elsewhere.dedup();
    if !elsewhere.is_empty() {
        blocks.push(Block::Warning(not_the_same(machine, &elsewhere.join(", "))));
    }
    for table in &published.cycles {
        match &*table.kind {
            "other" => arm(&mut blocks, counted, table),
            _ => cycles(&mut blocks, record, table),
        }
    }
    blocks.extend(OPERATIONS.iter().enumerate().map(|(i, operation)| chart(record, i, operation)));
    blocks.extend(counted.iter().flat_map(Counted::blocks));
    headline(&mut blocks, record);
    blocks.extend(doubts::of_headline());
    dilithium(&mut blocks, record);
    gpu(&mut blocks, record);
    blocks.extend(doubts::of_gpu());
    sizes(&mut blocks);
    m4_arithmetic(&mut blocks);
    experiments(&mut blocks);
    blocks.extend(doubts::of_experiments());
    blocks
}

/// Our cycles in the unit of the published ones: core cycles, or reference cycles if the core's
/// clock is unknown.
pub(crate) fn our_cycles(machine: &Machine, ours: &Measurement) -> Option<f64> {
    machine.conditions.core_ghz.map(|ghz| ours.median_ns * ghz).or(ours.median_cycles)
}

/// A warning that the platforms differ, if they do.
pub(crate) fn platform_warning(machine: &Machine, platform: &str) -> Option<String> {
    (!same_processor(&machine.cpu, platform)).then(|| not_the_same(machine, platform))
}

fn not_the_same(machine: &Machine, platforms: &str) -> String {
    format!(
        "measured on {}, published for {platforms}: the ratios compare machines and compilers as much as programs",
        machine.cpu
    )
}

/// Whether a processor, by its own name, is the one that a publication names.
fn same_processor(cpu: &str, platform: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let text = text.replace("(R)", " ").replace("(TM)", " ").replace("CPU", " ");
        let end = text.find(['(', '@', ',']).unwrap_or(text.len());
        text[..end].split_whitespace().map(str::to_lowercase).collect()
    };
    words(cpu) == words(platform)
}

fn cycles(blocks: &mut Vec<Block>, record: &Record, published: &Cycles) {
    let machine = &record.machine;
    let ghz = published.ghz.map_or(String::new(), |ghz| format!(" at {ghz:.2} GHz"));
    let title = format!(
        "Round 2: {} on {}{ghz}, {}, and ours on this machine",
        published.implementation, published.platform, published.build
    );
    let alike = &published.kind;
    let header = [
        "set and operation".to_owned(),
        "published, kilocycles".into(),
        "us".into(),
        format!("ours, {alike}"),
        "ratio".into(),
        "our fastest".into(),
        "backend".into(),
        "ratio".into(),
    ];
    let mut table = Table::new(title, header).folded();
    for (set, operation, figure) in figures(published) {
        let mut row = vec![
            format!("{set} {operation}"),
            shown(published, set, operation, figure),
            published.ghz.map_or(String::new(), |ghz| significant(figure / ghz / 1e3)),
        ];
        let beside = |row: &mut Vec<String>, ours: Option<&Measurement>, name: bool| {
            let cycles = ours.and_then(|ours| our_cycles(machine, ours));
            row.push(cycles.map_or(MISSING.into(), |cycles| significant(cycles / 1e3)));
            if name {
                row.push(ours.map_or(MISSING.into(), |ours| ours.label.backend.clone()));
            }
            row.push(cycles.map_or(MISSING.into(), |cycles| significant(figure / cycles)));
        };
        beside(&mut row, record.find("aioli", alike, (2, set), operation), false);
        beside(&mut row, record.fastest((2, set), operation), true);
        table.row(row);
    }
    blocks.push(Block::Table(table));
    source(blocks, published);
}

/// A processor of another kind: beside it stand counts of instructions on that kind, if there is a
/// record of them, and never times of this machine.
fn arm(blocks: &mut Vec<Block>, counted: &[Counted], published: &Cycles) {
    let title = format!("Round 2: {} on {}, {}", published.implementation, published.platform, published.build);
    let (processor, command) = match published.implementation.ends_with("neon") {
        true => ("aarch64", "cargo xtask neon"),
        false => ("Cortex-M4", "cargo xtask firmware"),
    };
    let ours = counted.iter().find(|counted| counted.processor() == processor);
    let mut header = vec!["set and operation", "published, kilocycles"];
    if ours.is_some() {
        header.extend(["ours, instructions (thousands)", "ours, estimated kilocycles", "published / estimate"]);
    }
    let mut table = Table::new(title, header).folded();
    for (set, operation, figure) in figures(published) {
        let mut row = vec![format!("{set} {operation}"), shown(published, set, operation, figure)];
        if let Some(ours) = ours {
            let cell = |value: Option<f64>| value.map_or(MISSING.into(), significant);
            let (instructions, estimate) = ours.fewest(set, operation);
            row.push(cell(instructions.map(|count| count / 1e3)));
            row.push(cell(estimate.map(|cycles| cycles / 1e3)));
            row.push(cell(estimate.map(|cycles| figure / cycles)));
        }
        table.row(row);
    }
    blocks.push(Block::Table(table));
    source(blocks, published);
    if ours.is_none() {
        blocks.push(Block::Warning(format!(
            "ours on such a processor are counts of instructions, which are missing here: {command} makes the record, \
             --counted RECORD shows it"
        )));
    }
}

/// The cells of a table: set, operation, cycles.
fn figures(published: &Cycles) -> impl Iterator<Item = (&str, &'static str, f64)> {
    published.sets.iter().flat_map(|(set, figures)| {
        OPERATIONS.into_iter().zip(figures).map(move |(name, &figure)| (&**set, name, figure as f64))
    })
}

/// A published figure in kilocycles, marked if it is doubtful.
fn shown(published: &Cycles, set: &str, operation: &str, figure: f64) -> String {
    let doubtful = if published.is_suspect(set, operation) { " (suspect)" } else { "" };
    format!("{}{doubtful}", significant(figure / 1e3))
}

fn source(blocks: &mut Vec<Block>, published: &Cycles) {
    blocks.push(Block::Text(format!("Source: {}.", published.source)));
    if let Some(suspect) = &published.suspect {
        let operation = suspect.cell.operation.as_deref().unwrap_or("every operation");
        blocks.push(Block::Warning(format!("suspect: {} {operation}: {}", suspect.cell.set, suspect.reason)));
    }
}

/// Published implementations with vector instructions, and ours, at one operation.
fn chart(record: &Record, index: usize, operation: &str) -> Block {
    let published: Vec<&Cycles> = Published::get().cycles.iter().filter(|table| table.kind == "avx2").collect();
    let mut series: Vec<String> = published.iter().map(|table| short(table)).collect();
    series.push("aioli avx2, here".into());
    series.push("aioli fastest, here".into());
    let groups = SETS.map(|set| {
        let mut values: Vec<Option<f64>> = published
            .iter()
            .map(|table| {
                let figure = table.sets.get(set).map(|figures| figures[index] as f64 / 1e3);
                // A misprint would distort the scale.
                figure.filter(|_| {
                    !table
                        .suspect
                        .as_ref()
                        .is_some_and(|s| s.cell.operation.as_deref() == Some(operation) && s.cell.set == set)
                })
            })
            .collect();
        let ours = |found: Option<&Measurement>| Some(our_cycles(&record.machine, found?)? / 1e3);
        values.push(ours(record.find("aioli", "avx2", (2, set), operation)));
        values.push(ours(record.fastest((2, set), operation)));
        (set.to_owned(), values)
    });
    Block::Chart(Chart {
        name: format!("published-{operation}"),
        title: format!("Published and ours, round 2: {operation}"),
        x: String::new(),
        y: "thousands of cycles".into(),
        log: true,
        marks: Marks::Bars { series, groups: groups.into() },
    })
}

/// The implementation with the platform's short name: `MAYO-C avx2, Ice Lake`.
fn short(table: &Cycles) -> String {
    let platform = &table.platform;
    let name =
        platform.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or(&**platform, |(name, _)| name);
    format!("{}, {name}", table.implementation)
}

fn headline(blocks: &mut Vec<Block>, record: &Record) {
    let published = &Published::get().headline;
    let mut table = Table::new(
        format!("Round 2: times that the MAYO team gives first, {}, MAYO-C avx2", published.platform),
        ["set and operation", "published, us", "our fastest, us", "backend", "ratio"],
    );
    for entry in &published.entries {
        let ours = record.fastest((2, &entry.set), &entry.operation);
        let cell = |f: &dyn Fn(&Measurement) -> String| ours.map_or(MISSING.into(), f);
        table.row([
            format!("{} {}", entry.set, entry.name),
            significant(entry.us),
            cell(&|ours| significant(ours.median_ns / 1e3)),
            cell(&|ours| ours.label.backend.clone()),
            cell(&|ours| significant(entry.us * 1e3 / ours.median_ns)),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(format!(
        "Source: {}. Beside their batches are our operations with an expanded key.",
        published.source
    )));
    blocks.extend(platform_warning(&record.machine, &published.platform).map(Block::Warning));
}

fn dilithium(blocks: &mut Vec<Block>, record: &Record) {
    let published = &Published::get().dilithium2;
    let ours = |operation: &str| {
        let found =
            record.results.iter().filter(|result| result.label.set == "ML-DSA-44" && result.operation == operation);
        found.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))
    };
    let mut table = Table::new(
        "Dilithium2, beside MAYO for scale: kilocycles, and its successor ML-DSA-44 here",
        ["operation", "Ice Lake", "Cortex-M4", "ML-DSA-44 here", "implementation"],
    );
    for (i, operation) in OPERATIONS.iter().enumerate() {
        let here = ours(operation);
        table.row([
            (*operation).to_owned(),
            significant(published.ice_lake[i] as f64 / 1e3),
            significant(published.cortex_m4[i] as f64 / 1e3),
            here.and_then(|here| our_cycles(&record.machine, here))
                .map_or(MISSING.into(), |cycles| significant(cycles / 1e3)),
            here.map_or(MISSING.into(), |here| format!("{} {}", here.label.implementation, here.label.backend)),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(format!("Source: {}.", published.source)));
}

fn gpu(blocks: &mut Vec<Block>, record: &Record) {
    let published = &Published::get().gpu;
    let mut table = Table::new(
        format!(
            "Round trips (keygen, sign and verify, once each) per second, on a CPU and on {}; ours of round 2",
            published.device
        ),
        ["set", "published CPU", "published GPU", "GPU latency, ms", "ours, 1 thread", "ours / CPU", "ours / GPU"],
    );
    for set in SETS {
        let ours = round_trips_per_second(record, set);
        let ratio = |published: f64| ours.map_or(MISSING.into(), |ours| significant(ours / published));
        table.row([
            set.to_owned(),
            significant(published.cpu[set]),
            significant(published.gpu[set]),
            significant(published.gpu_latency_ms[set]),
            ours.map_or(MISSING.into(), significant),
            ratio(published.cpu[set]),
            ratio(published.gpu[set]),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(format!("Source: {}.", published.source)));
    blocks.push(Block::Warning(
        "here the ratio is ours divided by the published figure, since these are rates; ours is one thread of this \
         processor, theirs are portable code on another processor and a whole GPU"
            .into(),
    ));
}

/// Round trips per second on one thread, with the fastest backend for each operation.
fn round_trips_per_second(record: &Record, set: &str) -> Option<f64> {
    let ns = OPERATIONS.iter().map(|operation| Some(record.fastest((2, set), operation)?.median_ns));
    Some(1e9 / ns.sum::<Option<f64>>()?)
}

fn sizes(blocks: &mut Vec<Block>) {
    let published = &Published::get().parameter_sets;
    let header = ["set", "level", "secret key", "ours", "public key", "ours", "signature", "ours"];
    let mut table = Table::new("Sizes in bytes, round 2", header).folded();
    for (set, sizes) in &published.sets {
        let ours =
            Algorithm::ALL.into_iter().find(|algorithm| algorithm.round() == Round::Two && algorithm.set_name() == set);
        let ours = |size: fn(Algorithm) -> usize| ours.map_or(String::new(), |algorithm| size(algorithm).to_string());
        table.row([
            set.clone(),
            sizes.level.to_string(),
            sizes.secret_key_bytes.to_string(),
            ours(Algorithm::secret_key_bytes),
            sizes.public_key_bytes.to_string(),
            ours(Algorithm::public_key_bytes),
            sizes.signature_bytes.to_string(),
            ours(Algorithm::signature_bytes),
        ]);
    }
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(format!("Source: {}.", published.source)));
}

fn m4_arithmetic(blocks: &mut Vec<Block>) {
    let mut table = Table::new(
        "Matrix products on the Cortex-M4, round 1: kilocycles, bit-sliced and by the Method of the Four Russians",
        ["set and product", "bit-sliced", "Four Russians", "ratio"],
    );
    for published in &Published::get().m4_arithmetic {
        let products = [
            ("(P1 + P1^T) O", &published.p1_p1t_times_o),
            ("P1 V^T", &published.p1_times_vt),
            ("P1 O", &published.p1_times_o),
        ];
        for (product, TwoWays { bitsliced, m4r }) in products {
            table.row([
                format!("{} {product}", published.set),
                significant(*bitsliced as f64 / 1e3),
                significant(*m4r as f64 / 1e3),
                significant(*bitsliced as f64 / *m4r as f64),
            ]);
        }
    }
    blocks.push(Block::Table(table));
    let sources = Published::get().m4_arithmetic.first().map_or("", |published| &published.source);
    blocks
        .push(Block::Text(format!("Source: {sources}. The chapter on the left product has ours on the same shapes.")));
}

fn experiments(blocks: &mut Vec<Block>) {
    let published = &Published::get().optimization_experiments;
    let mut table = Table::new(
        format!(
            "Technique by technique: improvement on the baseline in percent, {}, {}",
            published.platform, published.build
        ),
        ["set"].into_iter().chain(published.columns.iter().skip(1).map(String::as_str)),
    );
    for (set, seconds) in &published.sets {
        let improvement = |technique: &f64| format!("{:.1}", (seconds[0] / technique - 1.0) * 100.0);
        table.row(std::iter::once(set.clone()).chain(seconds.iter().skip(1).map(improvement)));
    }
    let average = |technique: &String| published.average_improvement_percent.get(technique).copied();
    let averages =
        published.columns.iter().skip(1).map(|name| average(name).map_or(String::new(), |x| format!("{x:.1}")));
    table.row(std::iter::once("average, as stated".to_owned()).chain(averages));
    blocks.push(Block::Table(table));
    blocks.push(Block::Text(format!(
        "Source: {}; its look-up tables take {} bytes more. It claims: {}. The chapter on techniques judges these claims.",
        published.source,
        published.lut_memory_overhead_bytes,
        published.claims.join("; ")
    )));
}

/// The text for a figure that a record does not have.
const MISSING: &str = "not measured";

const SETS: [&str; 4] = ["MAYO_1", "MAYO_2", "MAYO_3", "MAYO_5"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::planted;
    use crate::show;

    fn table<'a>(blocks: &'a [Block], title: &str) -> &'a Table {
        let found = blocks.iter().find_map(|block| match block {
            Block::Table(table) if table.title.contains(title) => Some(table),
            _ => None,
        });
        found.expect("the table")
    }

    #[test]
    fn ratios_on_a_planted_record() {
        // 4 GHz, 25,000 ns: 100 kilocycles on avx2; half of that on gfni512.
        let record =
            planted(4.0, &[("avx2", 2, "MAYO_1", "keygen", 25_000.0), ("gfni512", 2, "MAYO_1", "keygen", 12_500.0)]);
        let blocks = blocks(&record, &[]);
        let ice_lake = table(&blocks, "MAYO-C avx2 on Intel Xeon Gold 6338");
        assert_eq!(ice_lake.header[3..], ["ours, avx2", "ratio", "our fastest", "backend", "ratio"]);
        // 118,704 cycles at 2 GHz are 59.352 us; 118.704 / 100 = 1.19; 118.704 / 50 = 2.37.
        assert_eq!(ice_lake.rows[0], ["MAYO_1 keygen", "119", "59.4", "100", "1.19", "50.0", "gfni512", "2.37"]);
        assert_eq!(ice_lake.rows[1][3], "not measured");
        // Times of this machine do not stand beside another kind of processor.
        let m4 = table(&blocks, "MAYO-M4");
        assert_eq!(m4.rows[0], ["MAYO_1 keygen", "9,573"]);
        assert_eq!(table(&blocks, "gives first").rows[0], ["MAYO_1 keygen", "55.0", "12.5", "gfni512", "4.40"]);
    }

    #[test]
    fn round_trips_per_second_on_a_planted_record() {
        let cells = [("avx2", "keygen", 200e3), ("avx2", "sign", 500e3), ("avx2", "verify", 300e3)];
        let record = planted(4.0, &cells.map(|(backend, operation, ns)| (backend, 2, "MAYO_3", operation, ns)));
        let blocks = blocks(&record, &[]);
        let row = &table(&blocks, "Round trips").rows[2];
        // A millisecond for all three.
        assert_eq!(row[..], ["MAYO_3", "150", "161", "396", "1,000", "6.66", "6.19"]);
    }

    #[test]
    fn suspect_figures_and_other_platforms_are_pointed_out() {
        let text = show::text(&blocks(&planted(4.0, &[]), &[]));
        assert!(text.contains("11,337 (suspect)"), "{text}");
        assert!(text.contains("probably a misprint"), "{text}");
        assert!(text.contains("MAYO_four"), "{text}");
        assert!(text.contains("counts of instructions, which are missing here: cargo xtask neon"), "{text}");
        assert!(text.contains("no figures of ours for MAYO_1, MAYO_2, MAYO_3, MAYO_5"), "{text}");
    }

    #[test]
    fn published_ratios_and_improvements() {
        let blocks = blocks(&planted(4.0, &[]), &[]);
        // 2165337 / 1244009, and 629400 / 681081: there the Four Russians lose.
        let m4 = table(&blocks, "Cortex-M4, round 1");
        assert_eq!((&*m4.rows[0][3], &*m4.rows[4][3]), ("1.74", "0.924"));
        // 0.475 / 0.280, 0.475 / 0.140, 0.475 / 0.245, 0.475 / 0.250.
        let rows = &table(&blocks, "Technique by technique").rows;
        assert_eq!(rows[1], ["MAYO_2", "69.6", "239.3", "93.9", "90.0"]);
        assert_eq!(rows[4], ["average, as stated", "36.0", "277.9", "50.4", "49.3"]);
    }

    #[test]
    fn the_published_processor_is_recognized() {
        assert!(same_processor("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", "Intel Xeon Gold 6338 (Ice Lake)"));
        assert!(same_processor("Apple M3", "Apple M3"));
        assert!(!same_processor("AMD EPYC 9R45", "Intel Xeon Gold 6338 (Ice Lake)"));
    }
}
