//! The laboratory: measurements of MAYO that others can repeat.
#![deny(unsafe_code)]

mod all;
mod chapter;
mod compare;
mod counter;
mod credibility;
mod gpu;
mod kernel;
mod leakage;
mod measure;
mod origin;
mod peers;
mod pool;
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

/// Measures MAYO: aioli beside other implementations and published figures, and tells how far to
/// trust the result.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// aioli's backends beside liboqs, pq-mayo and other signature algorithms
    ///
    /// Checks known answers and agreement with the peers first. Then it times every operation once
    /// a round and prints medians, in thousands of reference cycles and in microseconds.
    ///
    /// liboqs is measured if it is built in; it is fastest when built with clang:
    ///
    /// CC=clang-19 CXX=clang++-19 LIBCLANG_PATH=/usr/lib/llvm-19/lib cargo build --release
    /// -p aioli-lab --features peers
    Peers(peers::Options),
    /// Our figures beside all published ones, with ratios and warnings
    Published(published::Options),
    /// Checks whether to trust measurements on this machine: a yardstick, red flags, key inspection
    Credibility(credibility::Options),
    /// A web page or Markdown, made from records
    Report(report::Options),
    /// Two records beside each other, with a verdict for each figure that both have
    ///
    /// A figure is faster or slower where the middle halves of the samples lie apart. Peers in the
    /// same version are the control. Nothing is judged by a run that calls itself unusable.
    Compare(compare::Options),
    /// Every chapter of the lab but leakage: one record, one report
    All(all::Options),
    /// Techniques that make MAYO fast, beside the published experiment, whose claims are judged
    ///
    /// Each is checked by a known answer, then timed in whole processes, as published, and inside
    /// one process.
    Techniques(techniques::Options),
    /// The left product alone: multiply-accumulates per cycle by technique, beside published ones
    /// and hardware limits
    Kernel(study::Options),
    /// The phases of keygen, sign and verify and their times, by backend, beside the published
    /// profile
    Profile(study::Options),
    /// Whether times tell a fixed secret from random ones: Welch's t on sign, solve and decode
    ///
    /// On gfni256 and gfni512, beside planted leaks, which the test has to find.
    Leakage(study::Options),
    /// Batches on a GPU, on the processor and on both, by size, beside the published figures
    ///
    /// Without CUDA it measures the processor alone.
    Gpu(gpu::Options),
    #[command(hide = true)]
    Worker(techniques::Worker),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // The first Ctrl-C ends the measuring and keeps the finished rounds; the second ends the
    // program.
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
        Command::Compare(options) => compare::run(&options),
        Command::All(options) => all::run(&options, &stop),
        Command::Techniques(options) => techniques::run(&options, &stop),
        Command::Kernel(options) => study::run(&options, &stop, kernel::measure).map(drop),
        Command::Profile(options) => study::run(&options, &stop, profile::measure).map(drop),
        Command::Leakage(options) => study::run(&options, &stop, leakage::measure).map(drop),
        Command::Gpu(options) => gpu::run(&options, &stop),
        Command::Worker(worker) => worker.run(),
    }
}
