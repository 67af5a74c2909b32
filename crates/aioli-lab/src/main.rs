//! The laboratory: measurements of MAYO that others can repeat.
#![deny(unsafe_code)]

mod all;
mod counter;
mod credibility;
mod gpu;
mod kernel;
mod measure;
mod part;
mod peers;
mod profile;
mod published;
mod random;
mod record;
mod report;
mod samples;
mod show;
mod study;
mod techniques;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Measures MAYO: aioli beside other implementations and published figures, and whether that is to be believed.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// aioli's backends beside liboqs, pq-mayo and other signature schemes
    ///
    /// Known answers and agreement with the peers are checked first; then every operation is timed once a round, and
    /// medians are printed, in thousands of reference cycles and in microseconds.
    ///
    /// liboqs is measured if it is built in, at its best with clang:
    ///
    /// CC=clang-19 CXX=clang++-19 LIBCLANG_PATH=/usr/lib/llvm-19/lib cargo build --release -p aioli-lab --features peers
    Peers(peers::Options),
    /// Our figures beside every published one, with ratios and warnings
    Published(published::Options),
    /// Whether measurements on this machine are to be believed: a yardstick, red flags, key inspection
    Credibility(credibility::Options),
    /// A page to look at, from records
    Report(report::Options),
    /// Every part of the lab, one record, one report
    All(all::Options),
    /// Every technique of making MAYO fast, beside the published experiment, whose claims are judged
    ///
    /// Each is checked by a known answer, then timed twice: whole processes, as published, and in one process.
    Techniques(study::Options),
    /// The left product alone: multiply-accumulates per cycle of every technique, beside published records and roofs
    Kernel(study::Options),
    /// Where the time of keygen, sign and verify goes, backend by backend, beside the published profile
    Profile(study::Options),
    /// Batches on a GPU, on the processor and on both, by size, beside the published figures
    ///
    /// Without CUDA the processor is measured alone.
    Gpu(gpu::Options),
    #[command(hide = true)]
    Worker(techniques::Worker),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // The first Ctrl-C ends the measuring and keeps what there is, the second ends the program.
    ctrlc::set_handler(move || {
        if handler.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    match arguments.command {
        Command::Peers(options) => peers::run(&options, &stop),
        Command::Published(options) => published::run(&options, &stop),
        Command::Credibility(options) => credibility::run(&options, &stop),
        Command::Report(options) => report::run(&options),
        Command::All(options) => all::run(&options, &stop),
        Command::Techniques(options) => study::run(&options, &stop, techniques::measure).map(drop),
        Command::Kernel(options) => study::run(&options, &stop, kernel::measure).map(drop),
        Command::Profile(options) => study::run(&options, &stop, profile::measure).map(drop),
        Command::Gpu(options) => gpu::run(&options, &stop),
        Command::Worker(worker) => worker.run(),
    }
}
