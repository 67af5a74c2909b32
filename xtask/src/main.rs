//! The checks of this repository, each a named command; `cargo xtask ci` runs all of them in order.

mod constant_time;
mod rules;
mod steps;

use clap::{Parser, Subcommand};
use steps::Outcome;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything below, in order, with a summary.
    Ci,
    /// Formatting.
    Fmt,
    /// The rules that no compiler knows: unsafe code only at the edges, sizes of files, words that do not belong.
    Rules,
    /// Clippy, warnings denied.
    Clippy,
    /// Documentation, warnings denied.
    Docs,
    /// All tests.
    Test,
    /// The library for a microcontroller without an allocator, and for WebAssembly.
    Cross,
    /// memcheck follows marked secrets through keygen, expansion and signing: portable and avx2.
    CtValgrind(constant_time::Subject),
    /// MemorySanitizer follows them: portable, gfni256 and gfni512. Needs the nightly toolchain with rust-src.
    CtMsan(constant_time::Subject),
    /// Single-steps the release binary with several secrets and compares instructions and addresses.
    CtTrace(constant_time::Subject),
    /// Plants leaks, and demands that each checker catches them and passes the control.
    CtSelftest,
}

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    std::env::set_current_dir(root).expect("the root of the repository");
    let outcome = match Arguments::parse().task {
        Task::Ci => ci(),
        Task::Fmt => steps::fmt(),
        Task::Rules => rules::check(),
        Task::Clippy => steps::clippy(),
        Task::Docs => steps::docs(),
        Task::Test => steps::test(),
        Task::Cross => steps::cross(),
        Task::CtValgrind(subject) => constant_time::run(constant_time::Checker::Valgrind, &subject),
        Task::CtMsan(subject) => constant_time::run(constant_time::Checker::Msan, &subject),
        Task::CtTrace(subject) => constant_time::run(constant_time::Checker::Trace, &subject),
        Task::CtSelftest => constant_time::selftest(),
    };
    println!("{outcome}");
    std::process::exit(match outcome {
        Outcome::Passed => 0,
        Outcome::Failed(_) => 1,
        Outcome::Impossible(_) => 2,
    });
}

/// Runs every step, whatever the others say.
fn ci() -> Outcome {
    use constant_time::{Checker, Subject};
    type Step = (&'static str, fn() -> Outcome);
    let all: [Step; 10] = [
        ("fmt", steps::fmt),
        ("rules", rules::check),
        ("clippy", steps::clippy),
        ("docs", steps::docs),
        ("test", steps::test),
        ("cross", steps::cross),
        ("ct-selftest", constant_time::selftest),
        ("ct-valgrind", || constant_time::run(Checker::Valgrind, &Subject::default())),
        ("ct-msan", || constant_time::run(Checker::Msan, &Subject::default())),
        ("ct-trace", || constant_time::run(Checker::Trace, &Subject::default())),
    ];
    let outcomes = all.map(|(name, step)| {
        println!("== {name}");
        let start = std::time::Instant::now();
        (name, step(), start.elapsed().as_secs())
    });
    println!("== summary");
    for (name, outcome, seconds) in &outcomes {
        println!("{name:12} {seconds:4} s  {outcome}");
    }
    let failed: Vec<_> = outcomes.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_))).collect();
    match failed.as_slice() {
        [] => Outcome::Passed,
        failed => Outcome::Failed(failed.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")),
    }
}
