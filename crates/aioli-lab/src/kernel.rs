//! `aioli-lab kernel`: the left product alone, nibble-sliced against bit-sliced and the rest.
//!
//! A left product multiplies a small dense matrix, `left`, with P1 of a set, which is in memory.
//! `left` has o rows as in keygen, k as in verification, or k + o as in signing. A
//! multiply-accumulate is one product in GF(16) added to a sum: two for each byte of P1 and row of
//! `left`. Core cycles are times multiplied by the core's clock, which the same rounds have
//! measured.

mod product;
mod roofline;
mod round1;
mod stored;

use crate::chapter::{Run, Section};
use crate::measure::{self, Cell, Conditions, Operation};
use crate::peers::round_number;
use crate::published::Published;
use crate::random::Random;
use crate::record::{Label, Measurement};
use crate::samples::Samples;
use crate::show::{Block, Table, significant};
use crate::study::{self, Study, label};
use crate::techniques::Technique;
use aioli::backend::{Backend, DetectedBackend};
use aioli::params::ParameterSet;
use aioli::{Algorithm, with_set};
use anyhow::Result;
use product::{Product, Size};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::rc::Rc;

/// The measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kernels {
    /// The sizes of the products, set by set.
    shapes: Vec<Shape>,
    /// `keygen`, `verify`, `sign`: the product with P1 that has the rows of that operation. `aes`:
    /// the key stream of P1 and P2.
    results: Vec<Measurement>,
    conditions: Conditions,
}

fn round_3() -> u8 {
    3
}

/// The sizes of the left products of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shape {
    set: String,
    /// The round of NIST's process; records that do not say it are of round 3.
    #[serde(default = "round_3")]
    round: u8,
    p1_bytes: usize,
    /// Bytes in P1 and P2 together, the length of the key stream.
    p_bytes: usize,
    keygen_rows: usize,
    verify_rows: usize,
    sign_rows: usize,
}

impl Shape {
    fn of<P: ParameterSet>() -> Self {
        Self {
            set: P::ALGORITHM.set_name().into(),
            round: round_number(P::ALGORITHM),
            p1_bytes: P::P1_BYTES,
            p_bytes: P::P_BYTES,
            keygen_rows: P::O,
            verify_rows: P::K,
            sign_rows: P::K + P::O,
        }
    }

    fn rows(&self, operation: &str) -> usize {
        match operation {
            "keygen" => self.keygen_rows,
            "verify" => self.verify_rows,
            _ => self.sign_rows,
        }
    }

    /// Multiply-accumulates in the product of an operation.
    fn work(&self, operation: &str) -> f64 {
        (2 * self.p1_bytes * self.rows(operation)) as f64
    }
}

/// Measures all kernels with these sets.
///
/// # Errors
///
/// If a kernel is not correct; if the run is stopped before anything was measured.
pub(crate) fn measure(run: &Run<'_>, algorithms: &[Algorithm]) -> Result<Kernels> {
    let mut cells = Vec::new();
    let mut shapes = Vec::new();
    for &algorithm in algorithms {
        shapes.push(with_set!(algorithm, P => Shape::of::<P>()));
        for technique in Technique::kernels() {
            let operations = with_set!(algorithm, P => operations::<P>(technique)?);
            let label = label(algorithm, technique);
            cells.extend(operations.into_iter().map(|operation| Cell::new(label.clone(), operation)));
        }
        let aes = with_set!(algorithm, P => key_stream::<P>()?);
        cells.push(Cell::new(label(algorithm, Technique::library(DetectedBackend::best().kind())), aes));
    }
    let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.set_name()).collect();
    cells.extend(round1::cells(&names)?);
    let rounds = study::rounds(run, ROUNDS, QUICK_ROUNDS);
    run.begin("kernels, round", rounds);
    let conditions = measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?;
    let results =
        cells.into_iter().map(|cell| Measurement::new(cell.label, &cell.operation.name, &cell.samples)).collect();
    Ok(Kernels { shapes, results, conditions })
}

/// The three products of a technique with P1.
fn operations<P: ParameterSet>(technique: Technique) -> Result<Vec<Operation>> {
    OPERATIONS
        .iter()
        .map(|&name| {
            let left_rows = Shape::of::<P>().rows(name);
            let size = Size { count: P::V, row_bytes: P::V * P::M_BYTES, step: P::M_BYTES, left_rows };
            Rc::new(Product::random(size)).operation(name, technique)
        })
        .collect()
}

fn key_stream<P: ParameterSet>() -> Result<Operation> {
    let token = Technique::library(DetectedBackend::best().kind()).token()?;
    let key = Random::bytes();
    let mut out = vec![0; P::P_BYTES];
    Ok(Operation::new(AES, move || {
        token.aes128_ctr(&key, &[0; 16], 0, &mut out);
        black_box(&mut out);
        Ok(())
    }))
}

impl Study for Kernels {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}

impl Kernels {
    /// Adds the raw samples.
    pub(crate) fn add_samples(&self, samples: &mut Samples) {
        self.results.iter().for_each(|result| samples.add(Self::KEY, &result.label, &result.operation, &result.raw));
    }

    /// Work per core cycle, if the core's clock is known, and per reference cycle, if there is a
    /// counter.
    fn per_cycle(&self, result: &Measurement, work: f64) -> (Option<f64>, Option<f64>) {
        let core = self.conditions.core_ghz.map(|ghz| work / (result.median_ns * ghz));
        (core, result.median_cycles.map(|cycles| work / cycles))
    }

    fn of_set<'a>(&'a self, shape: &'a Shape) -> impl Iterator<Item = &'a Measurement> {
        let wanted = |label: &Label| (label.round, &label.set) == (Some(shape.round), &shape.set);
        self.results.iter().filter(move |result| wanted(&result.label))
    }

    fn table(&self, shape: &Shape) -> Table {
        let title = format!(
            "Round {}, {}: multiply-accumulates per core cycle (per reference cycle), by operation (rows)",
            shape.round, shape.set
        );
        let named = OPERATIONS.map(|operation| format!("{operation} ({})", shape.rows(operation)));
        let mut table = Table::new(title, std::iter::once("".to_owned()).chain(named)).folded();
        let mut techniques: Vec<&str> = Vec::new();
        for result in self.of_set(shape).filter(|result| result.operation != AES) {
            if !techniques.contains(&&*result.label.backend) {
                techniques.push(&result.label.backend);
            }
        }
        for technique in techniques {
            let cells = OPERATIONS.map(|operation| {
                self.of_set(shape)
                    .find(|result| result.label.backend == technique && result.operation == operation)
                    .map_or(String::new(), |result| figure(self.per_cycle(result, shape.work(operation))))
            });
            table.row(std::iter::once(technique.to_owned()).chain(cells));
        }
        table
    }
}

fn figure((core, reference): (Option<f64>, Option<f64>)) -> String {
    let text = |value: Option<f64>| value.map_or("unknown".into(), significant);
    format!("{} ({})", text(core), text(reference))
}

impl Section for Kernels {
    const KEY: &'static str = "kernel";
    const TITLE: &'static str = "The left product alone";

    fn blocks(&self) -> Vec<Block> {
        let records = &Published::get().multiply_accumulate_records;
        let mut blocks = vec![Block::Text(format!(
            "A left product multiplies a small secret matrix from the left with P1, a public matrix of m-vectors, and \
             is most of the arithmetic of MAYO. A multiply-accumulate is one product in GF(16), added to a sum. \
             Published, with AVX2: {} per cycle on Skylake, {} on Ice Lake ({}). The core runs at {}, the counter at \
             {}; {}.",
            records.skylake,
            records.ice_lake,
            records.source,
            ghz(self.conditions.core_ghz),
            ghz(self.conditions.counter_ghz),
            self.conditions.verdict
        ))];
        let mut aes = Table::new("AES-128-CTR of P1 and P2: bytes per core cycle (per reference cycle)", ["", "bytes"]);
        for shape in &self.shapes {
            blocks.push(Block::Table(self.table(shape)));
            for result in self.of_set(shape).filter(|result| result.operation == AES) {
                aes.row([
                    format!("{}, round {}", shape.set, shape.round),
                    figure(self.per_cycle(result, shape.p_bytes as f64)),
                ]);
            }
        }
        blocks.push(Block::Table(aes));
        blocks.extend(roofline::blocks(self));
        blocks.extend(round1::blocks(self));
        blocks
    }
}

fn ghz(value: Option<f64>) -> String {
    value.map_or("an unknown clock".into(), |ghz| format!("{ghz:.2} GHz"))
}

/// The operations whose numbers of rows are measured.
const OPERATIONS: [&str; 3] = ["keygen", "verify", "sign"];
/// The name of the key stream in results.
const AES: &str = "aes";
const ROUNDS: usize = 60;
const QUICK_ROUNDS: usize = 8;
