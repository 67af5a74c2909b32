//! The products of round 1, whose shapes are those of the published kernel table and profile.
//!
//! The library has no sets of round 1: these are shapes for products alone. Beside the published
//! cycles stand ours for the same products on this machine.

use super::product::{Product, Size};
use super::{AES, Kernels, stored};
use crate::measure::{Cell, Operation};
use crate::published::{Published, TwoWays};
use crate::record::{Label, Measurement, version};
use crate::show::{Block, Chart, Marks, Table, significant};
use crate::techniques::Technique;
use aioli::backend::{Backend, BackendKind, DetectedBackend};
use anyhow::Result;
use std::hint::black_box;
use std::rc::Rc;

/// A set of round 1: the elements of an m-vector, and n - o, o and k as the specification calls
/// them.
struct Set {
    name: &'static str,
    m: usize,
    v: usize,
    o: usize,
    k: usize,
}

const SETS: [Set; 4] = [
    Set { name: "MAYO_1", m: 64, v: 58, o: 8, k: 9 },
    Set { name: "MAYO_2", m: 64, v: 60, o: 18, k: 4 },
    Set { name: "MAYO_3", m: 96, v: 89, o: 10, k: 11 },
    Set { name: "MAYO_5", m: 128, v: 121, o: 12, k: 12 },
];

impl Set {
    /// The sizes of the published products.
    fn products(&self) -> [(&'static str, Size); 4] {
        let vector = self.m / 2;
        let triangle = |count, left_rows| Size { count, row_bytes: count * vector, step: vector, left_rows };
        let full = Size { count: self.v, row_bytes: self.v * vector, step: 0, left_rows: self.o };
        [
            (P1_O, triangle(self.v, self.o)),
            (P1_VT, triangle(self.v, self.k)),
            (SUM_O, full),
            (PS, triangle(self.v + self.o, self.k)),
        ]
    }

    fn label(&self, backend: impl ToString) -> Label {
        Label {
            implementation: "aioli".into(),
            version: version("aioli"),
            backend: backend.to_string(),
            set: self.name.into(),
            round: Some(1),
        }
    }

    /// The key stream of P1 and P2, with a library's AES.
    fn key_stream(&self, kind: BackendKind) -> Result<Operation> {
        let token = Technique::library(kind).token()?;
        let bytes = self.m / 2 * (self.v * (self.v + 1) / 2 + self.v * self.o);
        let mut out = vec![0; bytes];
        Ok(Operation::new(AES, move || {
            token.aes128_ctr(&[7; 16], &[0; 16], 0, &mut out);
            black_box(&mut out);
            Ok(())
        }))
    }
}

/// The products of the named sets by bit slices, the Four Russians and the library, and their key
/// streams. The scalar kernels are left out: the published table does not have them.
///
/// # Errors
///
/// If a product is wrong.
pub(super) fn cells(names: &[&str]) -> Result<Vec<Cell<Label>>> {
    let mut cells = Vec::new();
    for set in SETS.iter().filter(|set| names.contains(&set.name)) {
        for (name, size) in set.products() {
            let product = Rc::new(Product::random(size));
            for technique in Technique::kernels().filter(|found| !found.is_scalar()) {
                cells.push(Cell::new(set.label(technique), Rc::clone(&product).operation(name, technique)?));
            }
            let stored = stored::operations(&product, name)?.into_iter();
            cells.extend(stored.map(|(kernel, operation)| Cell::new(set.label(kernel), operation)));
        }
        let mut kinds = vec![BackendKind::Portable, DetectedBackend::best().kind()];
        kinds.dedup();
        for kind in kinds {
            cells.push(Cell::new(set.label(kind), set.key_stream(kind)?));
        }
    }
    Ok(cells)
}

/// The published tables on shapes of round 1, with our figures where they were measured.
pub(super) fn blocks(section: &Kernels) -> Vec<Block> {
    let mut blocks = vec![Block::Text(
        "Round 1, products alone. Published for the Cortex-M4, a scalar core of 32 bits: ratios compare, cycles \
         differ by the machine. Bit slices are stored as slices, as published. m4r_1 and m4r_2 tabulate combinations of one and \
         of two rows of the secret, which the public P looks up."
            .into(),
    )];
    if section.results.iter().all(|result| result.label.round != Some(1)) {
        blocks.push(Block::Warning("the record has no products of round 1: aioli-lab kernel measures them".into()));
    }
    blocks.push(Block::Table(beside_m4(section)));
    blocks.push(Block::Chart(chart(section)));
    blocks.push(Block::Table(beside_profile(section)));
    blocks
}

impl Kernels {
    fn of_round_1(&self, set: &str, backend: &str, operation: &str) -> Option<&Measurement> {
        self.results.iter().find(|result| {
            let label = &result.label;
            (label.round, &*label.set, &*label.backend) == (Some(1), set, backend) && result.operation == operation
        })
    }

    /// Thousands of core cycles, or of reference cycles if the core's clock is unknown.
    fn kilocycles(&self, result: &Measurement) -> Option<f64> {
        let cycles = self.conditions.core_ghz.map(|ghz| result.median_ns * ghz).or(result.median_cycles)?;
        Some(cycles / 1e3)
    }

    fn kilocycles_of(&self, set: &str, backend: &str, operation: &str) -> Option<f64> {
        self.kilocycles(self.of_round_1(set, backend, operation)?)
    }

    /// The fastest kernel at an operation, and its kilocycles.
    fn fastest_of_round_1(&self, set: &str, operation: &str) -> Option<(&str, f64)> {
        let of_operation = self
            .results
            .iter()
            .filter(|result| (result.label.round, &*result.label.set, &*result.operation) == (Some(1), set, operation));
        let fastest = of_operation.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))?;
        Some((&fastest.label.backend, self.kilocycles(fastest)?))
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or(String::new(), significant)
}

/// The nine rows of the published table.
fn published_products() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static TwoWays)> {
    Published::get().m4_arithmetic.iter().flat_map(|figures| {
        [
            ("(P1 + P1^T) O", SUM_O, &figures.p1_p1t_times_o),
            ("P1 V^T", P1_VT, &figures.p1_times_vt),
            ("P1 O", P1_O, &figures.p1_times_o),
        ]
        .map(|(product, operation, cycles)| (&*figures.set, product, operation, cycles))
    })
}

fn beside_m4(section: &Kernels) -> Table {
    let source = Published::get().m4_arithmetic.first().map_or("", |figures| &figures.source);
    let title = format!("Round 1: kilocycles, published for the Cortex-M4 ({source}), and here");
    let header = [
        "",
        "published bit slices",
        "published M4R",
        "ratio",
        "bit slices here",
        "m4r_1",
        "m4r_2",
        "ratio",
        "fastest here",
    ];
    let mut table = Table::new(title, header);
    for (set, product, operation, cycles) in published_products() {
        let here = |backend| section.kilocycles_of(set, backend, operation);
        let four_russians = here("m4r_1").into_iter().chain(here("m4r_2")).reduce(f64::min);
        let fastest = section.fastest_of_round_1(set, operation);
        table.row([
            format!("{set}: {product}"),
            significant(cycles.bitsliced as f64 / 1e3),
            significant(cycles.m4r as f64 / 1e3),
            significant(cycles.bitsliced as f64 / cycles.m4r as f64),
            shown(here(stored::WORDS)),
            shown(here("m4r_1")),
            shown(here("m4r_2")),
            shown(here(stored::WORDS).zip(four_russians).map(|(slices, m4r)| slices / m4r)),
            fastest.map_or(String::new(), |(name, cycles)| format!("{} {name}", significant(cycles))),
        ]);
    }
    table
}

/// The kernels at the nine products, relative to stored bit slices.
fn chart(section: &Kernels) -> Chart {
    const SERIES: [&str; 6] = ["m4r_1", "m4r_2", stored::AVX2, "portable", "avx2", "gfni512"];
    let groups =
        published_products().filter(|(_, product, ..)| *product == "P1 O").map(|(set, _, operation, cycles)| {
            let factor = |backend: &&str| {
                let slices = section.kilocycles_of(set, stored::WORDS, operation)?;
                Some(slices / section.kilocycles_of(set, backend, operation)?)
            };
            let published = Some(cycles.bitsliced as f64 / cycles.m4r as f64);
            (set.to_owned(), std::iter::once(published).chain(SERIES.iter().map(factor)).collect())
        });
    Chart {
        name: "round-1".into(),
        title: "Round 1, P1 O: times as fast as stored bit slices".into(),
        x: String::new(),
        y: "times as fast as bit slices".into(),
        log: true,
        marks: Marks::Bars {
            series: std::iter::once("published M4R").chain(SERIES).map(Into::into).collect(),
            groups: groups.collect(),
        },
    }
}

fn beside_profile(section: &Kernels) -> Table {
    let published = &Published::get().profile_mayo_1;
    let best = DetectedBackend::best().kind().name();
    let title = format!(
        "Round 1, MAYO_1: kilocycles of the largest parts, published ({}, {}, {}), and here",
        published.source, published.platform, published.build
    );
    let mut table = Table::new(title, ["", "published", "percent of all", "portable here", best]);
    let rows = [
        ("keygen", &published.keygen, "expand_p", AES),
        ("keygen", &published.keygen, "p1_times_o", P1_O),
        ("sign", &published.sign, "expand_sk", AES),
        ("sign", &published.sign, "p1_times_vt", P1_VT),
        ("verify", &published.verify, "expand_pk", AES),
        ("verify", &published.verify, "ps_sps", PS),
    ];
    for (name, figures, part, operation) in rows {
        table.row([
            format!("{name}: {part} / {operation}"),
            significant(figures[part] as f64 / 1e3),
            significant(100.0 * figures[part] as f64 / figures["total"] as f64),
            shown(section.kilocycles_of("MAYO_1", "portable", operation)),
            shown(section.kilocycles_of("MAYO_1", best, operation)),
        ]);
    }
    table
}

const P1_O: &str = "p1_times_o";
const P1_VT: &str = "p1_times_vt";
const SUM_O: &str = "p1_p1t_times_o";
/// The product of all of P with the columns of S^T, without the last product by S.
const PS: &str = "p_times_st";
