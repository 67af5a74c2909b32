//! `aioli-lab profile`: where the time of keygen, sign and verify goes.
//!
//! A [probe](probe::Probe) wraps the backend and times every call of the kernel contract; shapes
//! tell the passes of the left product apart. The message is hashed outside of the contract, so the
//! same call of SHAKE256 is repeated and timed alone. The rest of an operation decodes, encodes,
//! copies and clears memory. The same operation is also timed without a probe, which gives the cost
//! of the probe.

mod phases;
mod probe;

use crate::chapter::{Run, Section};
use crate::measure::{self, Cell, Conditions, Quartiles, Sample, rounded};
use crate::peers::{MESSAGE_BYTES, aioli::fresh_key};
use crate::published::Published;
use crate::random::Random;
use crate::record::Label;
use crate::samples::Samples;
use crate::show::{Block, Chart, Marks, Table, significant};
use crate::study::{Study, label, rounds};
use crate::techniques::{Technique, Token};
use aioli::backend::{Backend, BackendKind};
use aioli::hazmat::on;
use aioli::params::ParameterSet;
use aioli::{Algorithm, MessageDigest, SigningKey, with_set};
use anyhow::Result;
use phases::{HASHING, Operation};
use probe::Probe;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

/// The measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// `reference cycles`, or `nanoseconds` without a counter.
    unit: String,
    /// One for each set, backend and operation.
    entries: Vec<Entry>,
    conditions: Conditions,
}

/// Where the time of an operation goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    label: Label,
    operation: String,
    /// The median of the whole operation, with the probe.
    total: f64,
    /// The median of the whole operation, without the probe.
    unprobed: f64,
    /// The medians of the phases; the last two are hashing and the rest.
    phases: Vec<(String, f64)>,
    /// The samples without the probe, right after measuring only: they are not part of the record.
    #[serde(skip)]
    raw: Vec<Sample>,
}

impl Entry {
    /// The percentage of the whole that these phases take.
    fn percent(&self, names: &[&str]) -> f64 {
        // The sum of no numbers is negative zero; adding 0.0 makes it zero.
        let sum: f64 = self.phases.iter().filter(|(name, _)| names.contains(&&**name)).map(|(_, time)| time).sum();
        100.0 * (sum + 0.0) / self.total
    }
}

/// One run of an operation: its phases and its whole time.
type Breakdown = (Vec<(&'static str, u64)>, u64);

/// Profiles all backends with these sets.
///
/// # Errors
///
/// If an operation fails; if the run is stopped before anything was measured.
pub(crate) fn measure(run: &Run<'_>, algorithms: &[Algorithm]) -> Result<Profile> {
    let mut cells = Vec::new();
    let mut breakdowns = Vec::new();
    for &algorithm in algorithms {
        for kind in BackendKind::available() {
            let label = label(algorithm, Technique::library(kind));
            let token = Technique::library(kind).token()?;
            for operation in Operation::ALL {
                let seen = Rc::new(RefCell::new(Vec::new()));
                for timed in with_set!(algorithm, P => operations::<P>(operation, token, &seen)?) {
                    cells.push(Cell::new((), timed));
                }
                breakdowns.push((label.clone(), operation, seen));
            }
        }
    }
    let rounds = rounds(run, ROUNDS, QUICK_ROUNDS);
    run.begin("profile, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let counted = conditions.counter_ghz.is_some();
    let entries = breakdowns.into_iter().zip(cells.chunks_exact(3)).map(|((label, operation, seen), cells)| {
        let median = |cell: &Cell<()>| {
            Quartiles::of(cell.samples.iter().map(|sample| sample.cycles.filter(|_| counted).unwrap_or(sample.ns)))
                .median
        };
        let [_probed, unprobed, hashing] = cells else { unreachable!("three cells for each breakdown") };
        let entry = entry(label, operation, &seen.borrow(), median(unprobed), median(hashing));
        Entry { raw: unprobed.samples.clone(), ..entry }
    });
    let unit = if counted { "reference cycles" } else { "nanoseconds" };
    Ok(Profile { unit: unit.into(), entries: entries.collect(), conditions })
}

/// The operation with a probe, which adds to `seen`; the operation without; and the hashing of its
/// message alone.
fn operations<P: ParameterSet>(
    operation: Operation,
    token: Token,
    seen: &Rc<RefCell<Vec<Breakdown>>>,
) -> Result<[measure::Operation; 3]> {
    let key = fresh_key::<P>()?;
    let probed_key = key.clone();
    let seen = Rc::clone(seen);
    let mut probed_input = input(&key, operation)?;
    let hashes = phases::hashes::<P>(operation, MESSAGE_BYTES);
    let longest = hashes.iter().map(|&(_, out)| out).max().unwrap_or(0);
    let mut out = vec![0; longest];
    Ok([
        measure::Operation::new("probed", move || {
            // Every run signs a fresh message, since the number of vinegar samples varies with it.
            if operation == Operation::Sign {
                probed_input = input(&probed_key, operation)?;
            }
            let (calls, total, result) = probe::calls_of(|| once(Probe(token), &probed_key, &probed_input));
            result?;
            seen.borrow_mut().push((phases::phases::<P>(operation, &calls), total));
            Ok(())
        }),
        measure::Operation::new("unprobed", {
            let input = input(&key, operation)?;
            move || once(token, &key, &input)
        }),
        measure::Operation::new("hashing", move || {
            phases::replay(&hashes, &mut out);
            black_box(&mut out);
            Ok(())
        }),
    ])
}

/// The input of an operation besides the key.
enum Input<P: ParameterSet> {
    Key,
    Message([u8; MESSAGE_BYTES]),
    Signed(Box<aioli::VerifyingKey<P>>, [u8; MESSAGE_BYTES], Box<aioli::Signature<P>>),
}

fn input<P: ParameterSet>(key: &SigningKey<P>, operation: Operation) -> Result<Input<P>> {
    let message = Random::bytes();
    Ok(match operation {
        Operation::Keygen => Input::Key,
        Operation::Sign => Input::Message(message),
        Operation::Verify => {
            Input::Signed(Box::new(key.verifying_key()), message, Box::new(key.sign_deterministic(&message)?))
        }
    })
}

/// Runs the operation once, the hashing of its message included.
fn once<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>, input: &Input<P>) -> Result<()> {
    match input {
        Input::Key => drop(black_box(on::verifying_key(b, key))),
        Input::Message(message) => {
            let digest = MessageDigest::of(message);
            black_box(on::sign(b, key, &digest, &[0x5a; 64][..P::SALT_BYTES], 256)?);
        }
        Input::Signed(public_key, message, signature) => {
            on::verify(b, public_key, &MessageDigest::of(message), signature)?;
        }
    }
    Ok(())
}

/// Medians over all runs. A phase that most runs do not have (a second vinegar sample) is left out.
fn entry(label: Label, operation: Operation, seen: &[Breakdown], unprobed: f64, hashing: f64) -> Entry {
    let median = |time: &dyn Fn(&Breakdown) -> u64| Quartiles::of(seen.iter().map(|run| time(run) as f64)).median;
    let total = median(&|(_, total)| *total);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in seen.iter().flat_map(|(phases, _)| phases) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let time_of = |name: &str| {
        median(&|(phases, _)| phases.iter().find(|(found, _)| *found == name).map_or(0, |(_, ticks)| *ticks))
    };
    let mut phases: Vec<(String, f64)> = names.into_iter().map(|name| (name.to_owned(), time_of(name))).collect();
    phases.retain(|(_, time)| *time > 0.0);
    let outside = median(&|(phases, total)| total - phases.iter().map(|(_, ticks)| ticks).sum::<u64>());
    phases.retain(|(name, _)| name != HASHING);
    phases.push((HASHING.into(), time_of(HASHING) + hashing.min(outside)));
    phases.push((REST.into(), (outside - hashing).max(0.0)));
    phases.iter_mut().for_each(|(_, time)| *time = rounded(*time, 0));
    Entry { label, operation: operation.name().into(), total, unprobed: rounded(unprobed, 0), phases, raw: Vec::new() }
}

impl Study for Profile {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}

impl Section for Profile {
    const KEY: &'static str = "profile";
    const TITLE: &'static str = "Where the time goes";

    fn blocks(&self) -> Vec<Block> {
        let overhead =
            Quartiles::of(self.entries.iter().map(|entry| 100.0 * (entry.total / entry.unprobed - 1.0))).median;
        let mut blocks = vec![Block::Text(format!(
            "A left product multiplies a small matrix with P, and whipping adds up products with powers of z. Each call \
             of the kernel contract is timed from outside, in {}; {HASHING} includes the message's, timed \
             alone; \"{REST}\" is the remainder. Medians of {} rounds at least; the probe itself adds {} % (median \
             over all); {}.",
            self.unit,
            self.conditions.rounds,
            significant(overhead),
            self.conditions.verdict
        ))];
        let mut sets: Vec<&str> = self.entries.iter().map(|entry| &*entry.label.set).collect();
        sets.dedup();
        for set in sets {
            for operation in Operation::ALL {
                let of_set = |entry: &&Entry| entry.label.set == set && entry.operation == operation.name();
                let entries: Vec<&Entry> = self.entries.iter().filter(of_set).collect();
                blocks.push(Block::Table(table(set, operation, &entries)));
            }
        }
        blocks.push(Block::Chart(self.chart()));
        blocks.extend(self.beside_published());
        blocks
    }
}

/// Thousands of cycles and percent, backend by backend.
fn table(set: &str, operation: Operation, entries: &[&Entry]) -> Table {
    let header = std::iter::once("").chain(entries.iter().map(|entry| &*entry.label.backend));
    let round = entries.first().and_then(|entry| entry.label.round).map_or(String::new(), |round| round.to_string());
    let title = format!("Round {round}, {set}, {}: thousands and percent", operation.name());
    let mut table = Table::new(title, header).folded();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in entries.iter().flat_map(|entry| &entry.phases) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    for name in names {
        let cell = |entry: &&Entry| match entry.phases.iter().find(|(found, _)| found == name) {
            Some((_, time)) => format!("{} {:3.0} %", significant(time / 1000.0), entry.percent(&[name])),
            None => String::new(),
        };
        table.row(std::iter::once(name.to_owned()).chain(entries.iter().map(cell)));
    }
    let total = |entry: &&Entry| format!("{} 100 %", significant(entry.total / 1000.0));
    table.highlighted_row(std::iter::once("all".to_owned()).chain(entries.iter().map(total)));
    table
}

impl Profile {
    /// Adds the raw samples.
    pub(crate) fn add_samples(&self, samples: &mut Samples) {
        self.entries.iter().for_each(|entry| samples.add(Self::KEY, &entry.label, &entry.operation, &entry.raw));
    }

    /// The round of the sets, which are all of one.
    fn round(&self) -> String {
        let round = self.entries.first().and_then(|entry| entry.label.round);
        round.map_or("unknown".into(), |round| round.to_string())
    }

    /// A chart of the phases' shares, in groups, for the first set and every backend.
    fn chart(&self) -> Chart {
        let set = self.entries.first().map_or("", |entry| &entry.label.set);
        let round = self.round();
        let groups = self.entries.iter().filter(|entry| entry.label.set == set).map(|entry| {
            let outside = |name: &str| [EXPANSION, &OTHERS].concat().contains(&name);
            let products: Vec<&str> =
                entry.phases.iter().map(|(name, _)| &**name).filter(|name| !outside(name)).collect();
            let shares = [entry.percent(EXPANSION), entry.percent(&products)]
                .into_iter()
                .chain(OTHERS.map(|name| entry.percent(&[name])));
            (format!("{} {}", entry.operation, entry.label.backend), shares.map(Some).collect())
        });
        Chart {
            name: "profile".into(),
            title: format!("Round {round}: where the time goes, {set}"),
            x: "operation and backend".into(),
            y: "percent of the operation".into(),
            log: false,
            marks: Marks::Bars {
                series: ["expansion", "left products"].into_iter().chain(OTHERS).map(Into::into).collect(),
                groups: groups.collect(),
            },
        }
    }

    /// The published profile of MAYO_1 and the same shares of ours.
    fn beside_published(&self) -> Option<Block> {
        let published = &Published::get().profile_mayo_1;
        let ours: Vec<&Entry> = self.entries.iter().filter(|entry| entry.label.set == "MAYO_1").collect();
        let keygen = ours.iter().filter(|entry| entry.operation == Operation::Keygen.name());
        let backends: Vec<&str> = keygen.map(|entry| &*entry.label.backend).collect();
        if ours.is_empty() {
            return None;
        }
        let title = format!(
            "MAYO_1 in percent of the operation: ours of round {} beside {} on {} ({}, round 1), whose signing expands \
             P and forms L first; ours walks P1 once and uses the processor's AES in every backend",
            self.round(),
            published.source,
            published.platform,
            published.build
        );
        let header = ["", "published"].into_iter().chain(backends.iter().copied());
        let mut table = Table::new(title, header);
        for (operation, published_phase, phases) in COUNTERPARTS {
            let figures = match *operation {
                "keygen" => &published.keygen,
                "sign" => &published.sign,
                _ => &published.verify,
            };
            let percent = 100.0 * figures[*published_phase] as f64 / figures["total"] as f64;
            let mut row =
                vec![format!("{operation}: {published_phase} / {}", phases.join(" + ")), significant(percent)];
            for backend in &backends {
                let entry = ours.iter().find(|entry| entry.label.backend == *backend && entry.operation == *operation);
                // A backend that fuses several phases has no share for any of them.
                let entry = entry.filter(|entry| entry.phases.iter().any(|(name, _)| phases.contains(&&**name)));
                row.push(entry.map_or(String::new(), |entry| significant(entry.percent(phases))));
            }
            table.row(row);
        }
        Some(Block::Table(table))
    }
}

/// Operations, phases of the published profile, and our phases that do the same.
const COUNTERPARTS: &[(&str, &str, &[&str])] = &[
    ("keygen", "expand_p", &[phases::EXPAND_P]),
    ("keygen", "p1_times_o", &[phases::O_P1]),
    ("sign", "expand_sk", &[phases::EXPAND_P]),
    ("sign", "p1_times_vt", &[phases::VO_P1]),
    ("verify", "expand_pk", &[phases::EXPAND_P]),
    ("verify", "ps_sps", &[phases::S_P1, phases::S_P2, phases::S_P3, phases::S_T]),
];

const EXPANSION: &[&str] = &[phases::EXPAND_P, "expand lambda"];
/// Phases that are neither expansion nor a left product.
const OTHERS: [&str; 5] = ["transpose and add", "whip", "solve", HASHING, REST];
const REST: &str = "decoding, clearing, rest";
const ROUNDS: usize = 400;
const QUICK_ROUNDS: usize = 30;
