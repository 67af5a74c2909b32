//! Findings from the results of a record: who is faster, by how much, and how sure that is.

use crate::peers::our_counterpart;
use crate::published::OPERATIONS;
use crate::record::{Label, Measurement, Record};
use crate::show::{Block, Chart, Marks, Table, significant};
use aioli::backend::BackendKind;

/// The summary: our lead over the peers, our fastest times, how sure they are.
///
/// Nothing is concluded from a record that calls itself unusable.
pub(super) fn summary(record: &Record, credibility: Option<&str>) -> Vec<Block> {
    let unusable = record.machine.conditions.verdict.unusable();
    let mut blocks = if unusable {
        vec![Block::Warning("the record calls itself unusable, so nothing is concluded from it: measure again".into())]
    } else {
        leads(record)
    };
    blocks.extend(story(record));
    for round in ROUNDS {
        blocks.extend(fastest(record, round).map(Block::Table));
    }
    blocks.extend(
        PEERS.iter().flat_map(|peer| ROUNDS.map(|round| factors(record, round, peer))).flatten().map(Block::Table),
    );
    let conditions = &record.machine.conditions;
    blocks.push(Block::Text(format!(
        "How sure: {} rounds, half of the operations vary by less than {:.1} % (interquartile range), {:.1} % of the \
         samples were disturbed. {}.",
        conditions.rounds,
        100.0 * conditions.spread,
        100.0 * conditions.disturbed,
        capital(&conditions.verdict.to_string())
    )));
    blocks.push(match credibility {
        Some(verdict) => Block::Text(format!("Credibility: {verdict}.")),
        None => Block::Warning("the record has no credibility checks: `aioli-lab credibility` makes them".into()),
    });
    blocks
}

/// The least and the largest lead over the fastest peer, round by round.
fn leads(record: &Record) -> Vec<Block> {
    let mut blocks = Vec::new();
    for round in ROUNDS {
        let mut leads = Vec::new();
        for set in SETS {
            leads.extend(OPERATIONS.iter().filter_map(|operation| lead(record, round, set, operation)));
        }
        leads.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let (Some(least), Some(most)) = (leads.first(), leads.last()) else { continue };
        let wins = leads.iter().filter(|lead| lead.ratio > 1.0).count();
        blocks.push(Block::Text(format!(
            "Round {round}: ours is faster than the fastest peer measured in {wins} of {} comparisons (sets and \
             operations). The fastest peer takes {} times as long for {} ({}), where the lead is smallest, and {} \
             times for {} ({}), where it is largest.",
            leads.len(),
            significant(least.ratio),
            least.what,
            least.peer,
            significant(most.ratio),
            most.what,
            most.peer,
        )));
    }
    if blocks.is_empty() {
        blocks.push(Block::Warning("the record has no peer beside ours: build the lab with --features peers".into()));
    }
    blocks
}

/// The whole story in one chart: round trips of all sets of the first round that has a peer, or of
/// the last round.
fn story(record: &Record) -> Option<Block> {
    let has_peer = |round: &u8| {
        record.results.iter().any(|result| result.label.round == Some(*round) && result.label.implementation != "aioli")
    };
    let round = ROUNDS.into_iter().find(has_peer).unwrap_or(3);
    let of = |name: &str, set: &str| {
        let time = |operation: &&str| -> Option<f64> {
            let of_set = record.results.iter().filter(|result| {
                let label = &result.label;
                (label.round, &*label.set, &*result.operation) == (Some(round), set, *operation)
            });
            let times = of_set.filter(|result| match name {
                OURS_FASTEST => result.label.implementation == "aioli",
                _ => self::name(&result.label) == name,
            });
            times.map(|result| result.median_ns).reduce(f64::min)
        };
        Some(1e9 / OPERATIONS.iter().map(time).sum::<Option<f64>>()?)
    };
    let mut series: Vec<String> = Vec::new();
    for result in record.results.iter().filter(|result| result.label.round == Some(round)) {
        let name = name(&result.label);
        let told =
            result.label.implementation != "aioli" || ["portable", "avx2", "neon"].contains(&&*result.label.backend);
        if told && !series.contains(&name) {
            series.push(name);
        }
    }
    series.sort_by_key(|name| name.starts_with("aioli"));
    series.push(OURS_FASTEST.into());
    let groups = SETS.map(|set| (set.to_owned(), series.iter().map(|name| of(name, set)).collect::<Vec<_>>()));
    groups.iter().any(|(_, values)| values.iter().any(Option::is_some)).then(|| {
        Block::Chart(Chart {
            name: "story".into(),
            title: format!("Round {round}: keygen, sign and verify together, times a second on one core"),
            x: String::new(),
            y: "round trips a second".into(),
            log: true,
            marks: Marks::Bars { series, groups: groups.into() },
        })
    })
}

const OURS_FASTEST: &str = "aioli, its fastest";

/// The times of our fastest backend at each operation of a round, if any was measured.
fn fastest(record: &Record, round: u8) -> Option<Table> {
    let operations = || OPERATIONS.into_iter().chain(["sign_expanded", "verify_expanded"]);
    let header = ["set"].into_iter().chain(operations()).chain(["backend"]);
    let mut table = Table::new(format!("Round {round}, our fastest: microseconds"), header);
    for set in SETS {
        let found: Vec<_> = operations().map(|operation| record.fastest((round, set), operation)).collect();
        let mut backends: Vec<&str> = found.iter().flatten().map(|ours| &*ours.label.backend).collect();
        backends.dedup();
        if backends.is_empty() {
            continue;
        }
        let times = found.iter().map(|ours| ours.map_or(String::new(), |ours| significant(ours.median_ns / 1e3)));
        table.row([set.to_owned()].into_iter().chain(times).chain([backends.join(", ")]));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The speed of each of our backends in multiples of a peer's, if the peer has sets of the round.
fn factors(record: &Record, round: u8, peer: &str) -> Option<Table> {
    let theirs = |set: &str, operation: &str| {
        let wanted = |label: &Label| label.implementation == peer && label.round == Some(round) && label.set == set;
        record.results.iter().find(|result| wanted(&result.label) && result.operation == operation)
    };
    let backends: Vec<&str> = BackendKind::ALL
        .iter()
        .map(|kind| kind.name())
        .filter(|name| SETS.iter().any(|set| record.find("aioli", name, (round, set), "sign").is_some()))
        .collect();
    let version = &record.results.iter().find(|result| result.label.implementation == peer)?.label.version;
    let title = format!("Round {round}, times as fast as {peer} {version}: {}", OPERATIONS.join(" / "));
    let mut table = Table::new(title, ["set"].into_iter().chain(backends.iter().copied()));
    for set in SETS.into_iter().filter(|set| theirs(set, "sign").is_some()) {
        let factor = |backend: &str, operation: &str| {
            // Some records lack the counterpart.
            let find = |operation| record.find("aioli", backend, (round, set), operation);
            let ours = find(our_counterpart(peer, operation)).or_else(|| find(operation))?;
            Some(format!("{:.2}", theirs(set, operation)?.median_ns / ours.median_ns))
        };
        let cell = |backend: &&str| {
            OPERATIONS.map(|operation| factor(backend, operation).unwrap_or_else(|| "-".into())).join(" / ")
        };
        table.row([set.to_owned()].into_iter().chain(backends.iter().map(cell)));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The machine, the program and the method.
pub(super) fn machine(record: &Record) -> Vec<Block> {
    let machine = &record.machine;
    let conditions = &machine.conditions;
    let ghz = |value: Option<f64>| value.map_or("unknown".to_owned(), |ghz| format!("{ghz:.3} GHz"));
    let mut table = Table::new("The machine and the program", ["", "value"]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("date", machine.date.clone().unwrap_or_else(|| "in the record's name".into()));
    row("processor", machine.cpu.clone());
    row("logical processors", machine.cores.to_string());
    row("instruction sets", machine.flags.join(" "));
    row("target", machine.target.clone());
    row("kernel", machine.kernel.clone());
    row("clock source", machine.clock_source.clone());
    row("cycle counter", machine.cycle_counter.clone().unwrap_or_else(|| "none".into()));
    row("counter runs at", ghz(conditions.counter_ghz));
    row("core runs at", ghz(conditions.core_ghz));
    row("commit", machine.checkout.to_string());
    row("Rust compiler", format!("{} {}", machine.rustc, machine.rustflags));
    row("profile", machine.profile.clone());
    row("C compiler", machine.c_compiler.clone().unwrap_or_else(|| "none: no C is measured".into()));
    row(
        "measured crates",
        machine.crates.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", "),
    );
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(machine.notes.iter().map(|note| Block::Text(format!("Note: {note}."))));
    blocks.push(Block::Text(
        "All implementations are checked against known answers and against each other before anything is timed. Then \
         each operation is timed once a round, in turn with all others, so that a slow or busy period of the machine \
         affects all alike; medians are shown. METHODOLOGY.md and BIAS.md in the lab's folder say more."
            .into(),
    ));
    blocks
}

/// Ours beside others: ratios and times as charts, all figures as tables.
pub(super) fn peers(record: &Record) -> Vec<Block> {
    let mut blocks = vec![ratio_chart(record)];
    for round in ROUNDS {
        blocks.extend(OPERATIONS.iter().filter_map(|operation| time_chart(record, round, operation)));
    }
    for round in ROUNDS.map(Some).into_iter().chain([None]) {
        blocks.extend(times(record, round).map(Block::Table));
    }
    blocks
}

/// Our fastest in multiples of `expand_p`, the key stream that every compact key has to be expanded
/// to.
pub(super) fn multiples(record: &Record) -> Vec<Block> {
    let mut blocks = vec![Block::Text(
        "expand_p is the AES-128-CTR key stream of P1 and P2 alone. Every operation with compact keys includes it, so \
         1 is the lower bound. Each operation, and expand_p, is that of its fastest backend."
            .into(),
    )];
    let expand = |round, set| record.fastest((round, set), "expand_p");
    let rounds = ROUNDS.into_iter().filter(|&round| SETS.iter().any(|set| expand(round, set).is_some()));
    let charts: Vec<Block> = rounds
        .map(|round| {
            let groups = SETS.map(|set| {
                let value = |operation: &&str| {
                    let ours = record.fastest((round, set), operation)?;
                    Some(ours.median_ns / expand(round, set)?.median_ns)
                };
                (set.to_owned(), OPERATIONS.iter().map(value).collect())
            });
            Block::Chart(Chart {
                name: format!("multiples-round-{round}"),
                title: format!("Round {round}: our fastest in multiples of expand_p"),
                x: String::new(),
                y: "multiples of expand_p".into(),
                log: false,
                marks: Marks::Bars { series: OPERATIONS.map(Into::into).into(), groups: groups.into() },
            })
        })
        .collect();
    if charts.is_empty() {
        blocks.push(Block::Warning("the record has no expand_p of ours".into()));
    }
    blocks.extend(charts);
    blocks
}

/// Our fastest against the fastest peer, at an operation with a set.
struct Lead {
    /// The peer's time divided by ours.
    ratio: f64,
    /// Set and operation.
    what: String,
    peer: String,
}

fn lead(record: &Record, round: u8, set: &str, operation: &str) -> Option<Lead> {
    let peers = record.results.iter().filter(|Measurement { label, operation: found, .. }| {
        label.implementation != "aioli" && label.round == Some(round) && label.set == set && found == operation
    });
    let peer = peers.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))?;
    let fastest = |operation| record.fastest((round, set), operation);
    let ours = fastest(our_counterpart(&peer.label.implementation, operation)).or_else(|| fastest(operation))?;
    Some(Lead { ratio: peer.median_ns / ours.median_ns, what: format!("{set} {operation}"), peer: name(&peer.label) })
}

fn ratio_chart(record: &Record) -> Block {
    // The first round with peers.
    let with_peers =
        |&round: &u8| SETS.iter().any(|set| OPERATIONS.iter().any(|op| lead(record, round, set, op).is_some()));
    let Some(round) = ROUNDS.into_iter().find(with_peers) else {
        return Block::Warning("the record has no peer beside ours".into());
    };
    let groups = SETS.map(|set| {
        let ratios = OPERATIONS.iter().map(|operation| lead(record, round, set, operation).map(|lead| lead.ratio));
        (set.to_owned(), ratios.collect())
    });
    Block::Chart(Chart {
        name: "peers-ratio".into(),
        title: format!("Round {round}: time of the fastest peer measured, divided by ours (above 1, ours is faster)"),
        x: String::new(),
        y: "peer / aioli".into(),
        log: false,
        marks: Marks::Bars { series: OPERATIONS.map(Into::into).into(), groups: groups.into() },
    })
}

/// The times of all implementations at an operation, if there are any.
fn time_chart(record: &Record, round: u8, operation: &str) -> Option<Block> {
    let of_operation =
        || record.results.iter().filter(|result| result.label.round == Some(round) && result.operation == operation);
    let mut names: Vec<String> = Vec::new();
    for result in of_operation() {
        let name = name(&result.label);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let groups = SETS.map(|set| {
        let value = |wanted: &String| {
            let found = of_operation().find(|result| result.label.set == set && name(&result.label) == *wanted);
            found.map(|result| result.median_ns / 1e3)
        };
        (set.to_owned(), names.iter().map(value).collect())
    });
    Some(Block::Chart(Chart {
        name: format!("peers-round-{round}-{operation}"),
        title: format!("Round {round}: {operation} with compact keys"),
        x: String::new(),
        y: "microseconds (logarithmic)".into(),
        log: true,
        marks: Marks::Bars { series: names, groups: groups.into() },
    }))
}

/// All figures of a round, or of the algorithms that have no round.
fn times(record: &Record, round: Option<u8>) -> Option<Table> {
    let title = match round {
        Some(round) => format!("Round {round}: all figures"),
        None => "Other signature algorithms, for scale".into(),
    };
    let header = [
        "implementation",
        "set",
        "operation",
        "median, us",
        "first quartile",
        "third quartile",
        "kilocycles",
        "samples",
    ];
    let mut table = Table::new(title, header).folded();
    for result in record.results.iter().filter(|result| result.label.round == round) {
        let us = |ns: f64| significant(ns / 1e3);
        let row = [
            name(&result.label),
            result.label.set.clone(),
            result.operation.clone(),
            us(result.median_ns),
            us(result.q1_ns),
            us(result.q3_ns),
            result.median_cycles.map_or("no counter".into(), us),
            result.samples.to_string(),
        ];
        if result.label.implementation == "aioli" { table.highlighted_row(row) } else { table.row(row) }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn name(label: &Label) -> String {
    format!("{} {}", label.implementation, label.backend)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

const SETS: [&str; 4] = ["MAYO_1", "MAYO_2", "MAYO_3", "MAYO_5"];
/// The implementations of MAYO.
const PEERS: [&str; 2] = ["liboqs", "pq-mayo"];
/// The rounds, the current one last.
const ROUNDS: [u8; 2] = [2, 3];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::planted;

    fn record() -> Record {
        let mut record = planted(
            4.0,
            &[
                ("avx2", 2, "MAYO_1", "sign", 4000.0),
                ("gfni512", 2, "MAYO_1", "sign", 2000.0),
                ("gfni512", 2, "MAYO_1", "expand_p", 500.0),
                ("avx2", 2, "MAYO_1", "sign", 5000.0),
                ("avx2", 2, "MAYO_1", "sign", 9000.0),
            ],
        );
        record.results[3].label.implementation = "liboqs".into();
        record.results[4].label.implementation = "pq-mayo".into();
        record
    }

    #[test]
    fn the_fastest_peer_is_compared_with_our_fastest() {
        let lead = lead(&record(), 2, "MAYO_1", "sign").unwrap();
        assert_eq!((lead.ratio, &*lead.what, &*lead.peer), (2.5, "MAYO_1 sign", "liboqs avx2"));
        let rows = fastest(&record(), 2).unwrap().rows;
        assert_eq!(rows, [["MAYO_1", "", "2.00", "", "", "", "gfni512"]]);
        assert!(fastest(&record(), 3).is_none());
        assert!(super::lead(&record(), 3, "MAYO_1", "sign").is_none());
        let Block::Text(text) = &summary(&record(), None)[0] else { panic!("a sentence") };
        assert!(text.contains("in 1 of 1 comparisons") && text.contains("2.50 times"), "{text}");
    }

    #[test]
    fn factors_are_of_each_backend() {
        let table = factors(&record(), 2, "liboqs").unwrap();
        assert_eq!(table.header, ["set", "avx2", "gfni512"]);
        assert_eq!(table.rows, [["MAYO_1", "- / 1.25 / -", "- / 2.50 / -"]]);
        assert!(factors(&record(), 3, "liboqs").is_none());
    }

    #[test]
    fn the_story_is_of_whole_round_trips_and_the_unusable_concludes_nothing() {
        let mut record = record();
        assert!(story(&record).is_none(), "no set has all three operations");
        for operation in ["keygen", "verify"] {
            for i in 0..record.results.len() {
                let mut result = record.results[i].clone();
                if result.operation == "sign" {
                    result.operation = operation.into();
                    record.results.push(result);
                }
            }
        }
        let Some(Block::Chart(Chart { marks: Marks::Bars { series, groups }, .. })) = story(&record) else {
            panic!("a chart")
        };
        assert_eq!(series, ["liboqs avx2", "pq-mayo avx2", "aioli avx2", OURS_FASTEST]);
        // Three times 2000 ns are 6 us.
        assert_eq!(groups[0].1.last().unwrap().map(f64::round), Some(166_667.0));
        record.machine.conditions.verdict = crate::measure::Verdict::Unusable;
        let blocks = summary(&record, None);
        let Block::Warning(text) = &blocks[0] else { panic!("a warning") };
        assert!(text.contains("nothing is concluded"), "{text}");
    }

    #[test]
    fn multiples_are_of_the_key_stream() {
        let blocks = multiples(&record());
        let Block::Chart(Chart { marks: Marks::Bars { groups, .. }, .. }) = &blocks[1] else { panic!("a chart") };
        assert_eq!(groups[0], ("MAYO_1".into(), vec![None, Some(4.0), None]));
    }

    #[test]
    fn times_of_everyone_are_drawn_and_listed() {
        let Some(Block::Chart(Chart { marks: Marks::Bars { series, groups }, .. })) = time_chart(&record(), 2, "sign")
        else {
            panic!("a chart")
        };
        assert_eq!(series, ["aioli avx2", "aioli gfni512", "liboqs avx2", "pq-mayo avx2"]);
        assert_eq!(groups[0].1, [4.0, 2.0, 5.0, 9.0].map(Some));
        let table = times(&record(), Some(2)).unwrap();
        assert_eq!(table.rows.len(), 5);
        assert_eq!(table.highlighted, [0, 1, 2]);
        assert!(times(&record(), None).is_none());
    }
}
