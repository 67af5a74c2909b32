//! `aioli-lab gpu`: batches on a GPU alone, on the processor alone, and on both, by their size.
//!
//! The time of a batch is its caller's: packing, copies to the GPU, kernels, copies back. `verify`
//! has a key for each signature, `verify_one_key` one key for all. `round_trip` is keygen, sign and
//! verify, each on the whole batch, which the published figures count too. Fresh randomness comes
//! from the operating system. Without a GPU the processor is measured alone, and the section says
//! why.

use crate::chapter::{Run, Section};
use crate::measure::{self, Cell, Conditions, Operation};
use crate::published::Published;
use crate::record::Measurement;
use crate::show::{Block, Chart, Curve, Marks, Table, significant};
use crate::study::{self, Study, label};
use aioli::params::ParameterSet;
use aioli::{Algorithm, MessageDigest, Signature, SigningKey, VerifyingKey, with_set};
use aioli_gpu::{Gpu, Item, Processor, Schedule, SigningItem, Worker};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// The options.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    study: study::Options,
    /// Items in the largest batch; the smaller batches have 1, 16, 256, ... items
    #[arg(
        long,
        value_name = "ITEMS",
        default_value_t = LARGEST,
        value_parser = clap::value_parser!(u32).range(1..=1_048_576)
    )]
    largest: u32,
    /// Items in the largest batch on the processor alone
    #[arg(long, value_name = "ITEMS", default_value_t = LARGEST_CPU)]
    largest_cpu: u32,
}

/// Measures, prints and records.
///
/// # Errors
///
/// If a batch fails, and errors of the files.
pub(crate) fn run(options: &Options, stop: &AtomicBool) -> Result<()> {
    study::run(&options.study, stop, |run, sets| measure(options.largest, options.largest_cpu, run, sets)).map(drop)
}

/// The measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Batches {
    /// The GPU, if there is one.
    device: Option<String>,
    /// The reason if there is no GPU.
    no_device: Option<String>,
    results: Vec<Batch>,
    /// The conditions during the last size of batch.
    conditions: Conditions,
}

/// The figures of an operation on batches of one size by one worker; times are for one item.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Batch {
    items: u32,
    #[serde(flatten)]
    time: Measurement,
}

impl Batch {
    fn per_second(&self) -> f64 {
        1e9 / self.time.median_ns
    }

    fn latency_ms(&self) -> f64 {
        self.time.median_ns * f64::from(self.items) / 1e6
    }
}

/// Measures with the sizes that are the defaults.
///
/// # Errors
///
/// If a batch fails.
pub(crate) fn measure_all(run: &Run<'_>, sets: &[Algorithm]) -> Result<Batches> {
    measure(LARGEST, LARGEST_CPU, run, sets)
}

fn measure(largest: u32, largest_cpu: u32, run: &Run<'_>, sets: &[Algorithm]) -> Result<Batches> {
    let (gpu, no_device) = match Gpu::open() {
        Ok(gpu) => (Some(Rc::new(gpu)), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let largest = if run.quick { largest.min(QUICK_LARGEST) } else { largest };
    let mut sizes: Vec<u32> =
        std::iter::successors(Some(1u32), |size| Some(size * 16)).take_while(|&size| size < largest).collect();
    sizes.push(largest);
    let rounds = study::rounds(run, ROUNDS, QUICK_ROUNDS);
    let mut results = Vec::new();
    let mut conditions = None;
    for &set in sets {
        for &items in &sizes {
            if run.stopped() && conditions.is_some() {
                break;
            }
            let cpu = items <= largest_cpu;
            let mut cells = with_set!(set, P => cells::<P>(gpu.as_ref(), items, cpu))?;
            if cells.is_empty() {
                continue;
            }
            run.begin(format!("{set}, batches of {items}, round"), rounds);
            conditions = Some(measure::interleaved(&mut cells, rounds, run.stop, |done| run.done(done))?);
            results.extend(
                cells.into_iter().map(|cell| Batch {
                    items,
                    time: Measurement::new(cell.label, &cell.operation.name, &cell.samples),
                }),
            );
        }
    }
    let conditions = conditions.context("nothing was measured: no GPU, and no batch small enough for --largest-cpu")?;
    let device = gpu.map(|gpu| gpu.name()).transpose()?;
    Ok(Batches { device, no_device, results, conditions })
}

/// The inputs of the batches.
struct Fixture<P: ParameterSet> {
    keys: Vec<SigningKey<P>>,
    public_keys: Vec<VerifyingKey<P>>,
    digests: Vec<MessageDigest<P>>,
    signatures: Vec<Signature<P>>,
    /// Signatures of the same digests, all by the first key.
    of_one_key: Vec<Signature<P>>,
}

/// A worker that takes all batches of a set.
trait Works<P: ParameterSet>:
    for<'a> Worker<SigningItem<'a, P>, Signed<P>>
    + for<'a> Worker<Item<'a, P>, Verified>
    + Worker<SigningKey<P>, VerifyingKey<P>>
{
}

impl<P: ParameterSet, W> Works<P> for W where
    W: for<'a> Worker<SigningItem<'a, P>, Signed<P>>
        + for<'a> Worker<Item<'a, P>, Verified>
        + Worker<SigningKey<P>, VerifyingKey<P>>
{
}

type Signed<P> = Result<Signature<P>, aioli::Error>;
type Verified = Result<(), aioli::Error>;

/// GPU and processor together; each operation has a schedule of its own, since their rates differ
/// by operation.
struct Both {
    gpu: Rc<Gpu>,
    keygen: Schedule,
    sign: Schedule,
    verify: Schedule,
}

impl<P: ParameterSet> Worker<SigningKey<P>, VerifyingKey<P>> for Both {
    fn work(&self, items: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, aioli_gpu::Error> {
        self.keygen.run(items, &*self.gpu, &Processor)
    }
}

impl<P: ParameterSet> Worker<SigningItem<'_, P>, Signed<P>> for Both {
    fn work(&self, items: &[SigningItem<'_, P>]) -> Result<Vec<Signed<P>>, aioli_gpu::Error> {
        self.sign.run(items, &*self.gpu, &Processor)
    }
}

impl<P: ParameterSet> Worker<Item<'_, P>, Verified> for Both {
    fn work(&self, items: &[Item<'_, P>]) -> Result<Vec<Verified>, aioli_gpu::Error> {
        self.verify.run(items, &*self.gpu, &Processor)
    }
}

impl<P: ParameterSet> Fixture<P> {
    fn new(items: u32, worker: &impl Works<P>) -> Result<Self> {
        let keys: Vec<SigningKey<P>> = (0..items).map(|_| SigningKey::generate()).collect::<Result<_, _>>()?;
        let public_keys = worker.work(&keys)?;
        let digests: Vec<MessageDigest<P>> = (0..items).map(|i| MessageDigest::of(&i.to_le_bytes())).collect();
        let sign = |key: &dyn Fn(usize) -> usize| -> Result<Vec<Signature<P>>> {
            let requests = (0..keys.len()).map(|i| SigningItem { key: &keys[key(i)], digest: &digests[i] });
            Ok(worker.work(&requests.collect::<Vec<_>>())?.into_iter().collect::<Result<_, _>>()?)
        };
        let signatures = sign(&|i| i)?;
        let of_one_key = sign(&|_| 0)?;
        let fixture = Self { keys, public_keys, digests, signatures, of_one_key };
        // The library must accept what the worker makes, before anything is timed.
        for (i, signature) in fixture.signatures.iter().enumerate().take(CHECKED) {
            fixture.public_keys[i].verify_digest(&fixture.digests[i], signature)?;
        }
        Ok(fixture)
    }

    fn keygen(&self, worker: &impl Works<P>) -> Result<()> {
        let public_keys = worker.work(&self.keys)?;
        ensure!(public_keys.len() == self.keys.len(), "a batch with fewer results than items");
        Ok(())
    }

    fn sign(&self, worker: &impl Works<P>) -> Result<()> {
        let requests = self.keys.iter().zip(&self.digests).map(|(key, digest)| SigningItem { key, digest });
        ensure!(worker.work(&requests.collect::<Vec<_>>())?.iter().all(Result::is_ok), "a signature failed");
        Ok(())
    }

    fn verify(&self, worker: &impl Works<P>, one_key: bool) -> Result<()> {
        let signatures = if one_key { &self.of_one_key } else { &self.signatures };
        let items = signatures.iter().enumerate().map(|(i, signature)| Item {
            key: &self.public_keys[if one_key { 0 } else { i }],
            digest: &self.digests[i],
            signature,
        });
        ensure!(worker.work(&items.collect::<Vec<_>>())?.iter().all(Result::is_ok), "a good signature was refused");
        Ok(())
    }
}

/// The operations of a set in batches of one size, on each worker.
fn cells<P: ParameterSet>(gpu: Option<&Rc<Gpu>>, items: u32, cpu: bool) -> Result<Vec<Cell<crate::record::Label>>> {
    let mut cells = Vec::new();
    if let Some(gpu) = gpu {
        let fixture = Rc::new(Fixture::<P>::new(items, &**gpu)?);
        let both =
            Both { gpu: Rc::clone(gpu), keygen: Schedule::new(), sign: Schedule::new(), verify: Schedule::new() };
        add(&mut cells, "gpu", &fixture, Rc::clone(gpu));
        add(&mut cells, "gpu+cpu", &fixture, Rc::new(both));
        if cpu {
            add(&mut cells, "cpu", &fixture, Rc::new(Processor));
        }
    } else if cpu {
        add(&mut cells, "cpu", &Rc::new(Fixture::<P>::new(items, &Processor)?), Rc::new(Processor));
    }
    Ok(cells)
}

fn add<P: ParameterSet, W: Works<P> + 'static>(
    cells: &mut Vec<Cell<crate::record::Label>>,
    name: &str,
    fixture: &Rc<Fixture<P>>,
    worker: Rc<W>,
) {
    let items = fixture.keys.len() as u32;
    let mut operation = |operation: &str, run: fn(&Fixture<P>, &W) -> Result<()>| {
        let fixture = Rc::clone(fixture);
        let worker = Rc::clone(&worker);
        let run = Box::new(move || run(&fixture, &worker));
        cells.push(Cell::new(label(P::ALGORITHM, name), Operation { name: operation.into(), items, run }));
    };
    operation("keygen", |fixture, worker| fixture.keygen(worker));
    operation("sign", |fixture, worker| fixture.sign(worker));
    operation("verify", |fixture, worker| fixture.verify(worker, false));
    operation("verify_one_key", |fixture, worker| fixture.verify(worker, true));
    operation("round_trip", |fixture, worker| {
        fixture.keygen(worker)?;
        fixture.sign(worker)?;
        fixture.verify(worker, false)
    });
}

impl Study for Batches {
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}

impl Section for Batches {
    const KEY: &'static str = "gpu";
    const TITLE: &'static str = "Batches by size, on a GPU and on the processor";

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        match (&self.device, &self.no_device) {
            (Some(device), _) => blocks.push(Block::Text(format!("GPU: {device}."))),
            (None, why) => blocks.push(Block::Warning(format!(
                "the processor alone was measured; {}",
                why.as_deref().unwrap_or("there is no GPU")
            ))),
        }
        let mut sets: Vec<(&str, Option<u8>)> = Vec::new();
        for Batch { time, .. } in &self.results {
            if !sets.contains(&(&*time.label.set, time.label.round)) {
                sets.push((&time.label.set, time.label.round));
            }
        }
        for &(set, round) in &sets {
            let round = round.map_or(String::new(), |round| round.to_string());
            blocks.push(Block::Table(self.table(&round, set)));
            let workers = WORKERS.iter().map(|worker| self.chart(&round, set, worker));
            blocks.extend(workers.filter(|chart| chart.size() > 0).map(Block::Chart));
        }
        blocks.push(Block::Table(self.published(&sets)));
        let published = &Published::get().gpu;
        blocks.push(Block::Text(format!("Published: round 2 on {}, {}.", published.device, published.source)));
        blocks
    }
}

impl Batches {
    fn of<'a>(&'a self, set: &'a str, operation: &'a str, worker: &'a str) -> impl Iterator<Item = &'a Batch> {
        self.results.iter().filter(move |Batch { time, .. }| {
            (&*time.label.set, &*time.operation, &*time.label.backend) == (set, operation, worker)
        })
    }

    fn table(&self, round: &str, set: &str) -> Table {
        let header = WORKERS.iter().flat_map(|worker| [format!("{worker}, a second"), format!("{worker}, ms")]);
        let title = format!("Round {round}, {set}: operations a second, and the time of a whole batch");
        let mut table = Table::new(title, ["".to_owned(), "batch".to_owned()].into_iter().chain(header)).folded();
        let mut sizes: Vec<u32> = self.results.iter().map(|batch| batch.items).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for operation in OPERATIONS {
            for &size in &sizes {
                let cells = WORKERS.iter().flat_map(|worker| {
                    let found = self.of(set, operation, worker).find(|batch| batch.items == size);
                    let cell =
                        |value: fn(&Batch) -> f64| found.map_or(String::new(), |batch| significant(value(batch)));
                    [cell(Batch::per_second), cell(Batch::latency_ms)]
                });
                let cells: Vec<String> = cells.collect();
                if cells.iter().any(|cell| !cell.is_empty()) {
                    table.row([operation.to_owned(), size.to_string()].into_iter().chain(cells));
                }
            }
        }
        table
    }

    fn chart(&self, round: &str, set: &str, worker: &str) -> Chart {
        let curves = OPERATIONS.iter().map(|operation| Curve {
            name: (*operation).into(),
            points: self.of(set, operation, worker).map(|batch| (f64::from(batch.items), batch.per_second())).collect(),
            line: true,
        });
        Chart {
            name: format!("batches-{}-{}", set.to_lowercase(), worker.replace('+', "-and-")),
            title: format!("Round {round}, {set} in batches, {worker}"),
            x: "items of a batch".into(),
            y: "operations a second".into(),
            log: true,
            marks: Marks::Curves(curves.filter(|curve| !curve.points.is_empty()).collect()),
        }
    }

    /// Round trips per second, beside the published ones.
    fn published(&self, sets: &[(&str, Option<u8>)]) -> Table {
        let published = &Published::get().gpu;
        let mut table = Table::new(
            "Round trips (keygen, sign, verify) a second, at the best size of batch",
            ["set", "published CPU", "published GPU", "gpu", "gpu+cpu", "cpu", "gpu / published GPU"],
        );
        for &(set, round) in sets {
            let best = |worker: &str| self.of(set, "round_trip", worker).map(Batch::per_second).reduce(f64::max);
            let cell = |value: Option<f64>| value.map_or(String::new(), significant);
            let theirs = published.gpu.get(set).copied();
            table.row([
                format!("{set}, round {}", round.map_or(String::new(), |round| round.to_string())),
                cell(published.cpu.get(set).copied()),
                cell(theirs),
                cell(best("gpu")),
                cell(best("gpu+cpu")),
                cell(best("cpu")),
                cell(best("gpu").zip(theirs).map(|(ours, theirs)| ours / theirs)),
            ]);
        }
        table
    }
}

const WORKERS: [&str; 3] = ["gpu", "gpu+cpu", "cpu"];
const OPERATIONS: [&str; 5] = ["keygen", "sign", "verify", "verify_one_key", "round_trip"];
/// Signatures of a batch that the library verifies before timing.
const CHECKED: usize = 64;
const ROUNDS: usize = 7;
const QUICK_ROUNDS: usize = 3;
/// Items in the largest batch, and in that of the processor alone.
const LARGEST: u32 = 65_536;
const LARGEST_CPU: u32 = 4096;
/// The largest batch of a first look.
const QUICK_LARGEST: u32 = 256;
