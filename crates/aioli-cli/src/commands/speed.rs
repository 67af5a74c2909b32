//! `aioli speed`.

use crate::cli::Speed;
use crate::error::{Error, Exit};
use crate::files;
use crate::gpu::Gpu;
use crate::measure::{Measurement, measure};
use crate::output::{self, Access, Inputs};
use crate::terminal::say;
use aioli::Algorithm;
use aioli::backend::BackendKind;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(arguments: &Speed) -> Result<Exit, Error> {
    let Speed { sets, backend, threads, gpu, time, json } = arguments;
    let backend = backend.detect()?;
    let sets = if sets.is_empty() { &Algorithm::ALL[..4] } else { sets };
    let gpu = gpu.then(Gpu::open).transpose()?;
    let pool = threads.map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build());
    let pool = pool.transpose().map_err(|error| Error::Usage(format!("cannot start the threads: {error}")))?;
    let table = !json.as_deref().is_some_and(files::is_dash);
    if let Some(path) = json.as_ref().filter(|_| table) {
        output::check(path, true, &Inputs::new([]))?;
    }
    if table {
        let threads = threads.map_or("one thread".into(), |threads| format!("batches on {threads} threads"));
        match &gpu {
            Some(gpu) => say!("{}, batches", gpu.name()?)?,
            None => say!("backend {backend}, {threads}")?,
        }
        heading()?;
    }
    let mut results = Vec::new();
    for &set in sets {
        let time = Duration::from_secs_f64(*time);
        let measured = match &gpu {
            Some(gpu) => gpu.measure(set, time)?,
            None => measure(set, backend, time, pool.as_ref())?,
        };
        if table {
            measured.iter().try_for_each(row)?;
        }
        results.extend(measured);
    }
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&Document { machine: Machine::this(), results });
        let text = text.expect("strings and numbers") + "\n";
        match table {
            true => output::write(path, text.as_bytes(), Access::Everyone, true)?,
            false => crate::terminal::put_bytes(text.as_bytes())?,
        }
    }
    Ok(Exit::Done)
}

/// The first line of the table.
pub(crate) fn heading() -> Result<(), Error> {
    say!("{:<15}{:<22}{:>12}{:>9}{:>14}{:>14}", "set", "operation", "median", "spread", "per second", "TSC cycles")
}

/// A line of the table.
pub(crate) fn row(measurement: &Measurement) -> Result<(), Error> {
    let Measurement { set, round, operation, median_ns, q1_ns, q3_ns, median_cycles, .. } = measurement;
    say!(
        "{:<15}{operation:<22}{:>9.1} us{:>7.1} %{:>14.0}{:>14}",
        format!("{set} round {round}"),
        median_ns / 1e3,
        (q3_ns - q1_ns) / median_ns * 100.0,
        1e9 / median_ns,
        median_cycles.map_or("-".into(), |cycles| format!("{cycles:.0}")),
    )
}

/// The document that `--json` writes.
#[derive(Serialize)]
struct Document {
    machine: Machine,
    results: Vec<Measurement>,
}

/// The machine that was measured.
#[derive(Serialize)]
struct Machine {
    cpu: Option<String>,
    cores: Option<usize>,
    os: &'static str,
    arch: &'static str,
    backends: Vec<&'static str>,
    cycle_counter: Option<&'static str>,
}

impl Machine {
    fn this() -> Self {
        let cpu = std::fs::read_to_string(Path::new("/proc/cpuinfo")).ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Self {
            cpu,
            cores: std::thread::available_parallelism().ok().map(usize::from),
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            backends: BackendKind::available().map(BackendKind::name).collect(),
            cycle_counter: crate::clock::cycles().map(|_| "TSC"),
        }
    }
}
