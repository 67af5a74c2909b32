//! The checks of this repository, each a named command; `cargo xtask ci` runs all of them in order.

mod constant_time;
mod firmware;
mod gpu;
mod neon;
mod rules;
mod steps;
mod structure;

use clap::{Parser, Subcommand};
use constant_time::{Checker, Subject};
use steps::Outcome;

#[derive(Parser)]
#[command(name = "cargo xtask", about)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything below, in order, with a summary; of the constant-time checks a part that takes a few minutes. Where
    /// CI=true, a check that cannot run for want of a tool has failed.
    Ci {
        /// Leaves out the tests.
        #[arg(long)]
        skip_tests: bool,
    },
    /// Formatting.
    Fmt,
    /// The rules that no compiler knows: unsafe code only at the edges, sizes of files, words that do not belong.
    Rules,
    /// Imports point downwards: holds every crate against the floors in ARCHITECTURE.md.
    Structure,
    /// Clippy, warnings denied.
    Clippy,
    /// Documentation, warnings denied.
    Docs,
    /// The tests of the library and the command.
    Test,
    /// The tests of the laboratory and of these checks.
    Lab,
    /// Runs keygen, sign and verify on an emulated Cortex-M4 and prints what they take. Needs qemu-system-arm.
    Firmware(firmware::Options),
    /// A report of a committed record, opened in Chromium: sections, charts, keyboard, phone. Needs npm and Chromium.
    Page,
    /// The library for a microcontroller without an allocator, and for WebAssembly.
    Cross,
    /// The tests of the backend for 64-bit Arm under QEMU, and how many instructions its operations execute.
    Neon(neon::Options),
    /// The kernels for GPUs: compiled by NVIDIA's compiler, registers and spills within bounds, run on the CPU.
    Gpu,
    /// memcheck follows marked secrets through keygen, expansion and signing: portable and avx2.
    CtValgrind(Subject),
    /// MemorySanitizer follows them: portable and gfni512. Needs a nightly toolchain with rust-src, which it names if it is missing.
    CtMsan(Subject),
    /// Single-steps the release binary with several secrets and compares instructions and addresses.
    CtTrace(Subject),
    /// Plants leaks, and demands that each checker catches them and passes the control.
    CtSelftest {
        /// Not on all backends.
        #[arg(long)]
        short: bool,
    },
}

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    std::env::set_current_dir(root).expect("the root of the repository");
    let outcome = match Arguments::parse().task {
        Task::Ci { skip_tests } => ci(skip_tests),
        Task::Fmt => steps::fmt(),
        Task::Rules => rules::check(),
        Task::Structure => structure::check(),
        Task::Clippy => steps::clippy(),
        Task::Docs => steps::docs(),
        Task::Test => steps::test(),
        Task::Lab => steps::lab(),
        Task::Firmware(options) => firmware::run(&options),
        Task::Page => steps::page(),
        Task::Cross => steps::cross(),
        Task::Neon(options) => neon::run(&options),
        Task::Gpu => gpu::check(),
        Task::CtValgrind(subject) => constant_time::run(Checker::Valgrind, &subject),
        Task::CtMsan(subject) => constant_time::run(Checker::Msan, &subject),
        Task::CtTrace(subject) => constant_time::run(Checker::Trace, &subject),
        Task::CtSelftest { short } => constant_time::selftest(short),
    };
    println!("{outcome}");
    std::process::exit(match outcome {
        Outcome::Passed => 0,
        Outcome::Failed(_) => 1,
        Outcome::Impossible(_) => 2,
    });
}

/// Runs every step, whatever the others say. The last line counts them.
fn ci(skip_tests: bool) -> ! {
    fn in_short(checker: Checker) -> Outcome {
        constant_time::run(checker, &Subject::in_short(checker))
    }
    type Step = (&'static str, fn() -> Outcome);
    let all: &[Step] = &[
        ("fmt", steps::fmt),
        ("rules", rules::check),
        ("clippy", steps::clippy),
        ("docs", steps::docs),
        ("test", steps::test),
        ("lab", steps::lab),
        ("firmware", || firmware::run(&firmware::Options::in_short())),
        ("page", steps::page),
        ("cross", steps::cross),
        ("neon", || neon::run(&neon::Options::default())),
        ("gpu", gpu::check),
        ("ct-selftest", || constant_time::selftest(true)),
        ("ct-valgrind", || in_short(Checker::Valgrind)),
        ("ct-msan", || in_short(Checker::Msan)),
        ("ct-trace", || in_short(Checker::Trace)),
    ];
    let mut outcomes = Vec::new();
    for &(name, step) in all.iter().filter(|(name, _)| !(skip_tests && *name == "test")) {
        println!("== {name}");
        let start = std::time::Instant::now();
        outcomes.push((name, step(), start.elapsed().as_secs()));
    }
    println!("== summary");
    for (name, outcome, seconds) in &outcomes {
        println!("{name:12} {seconds:4} s  {outcome}");
    }
    let strict = std::env::var("CI").is_ok_and(|ci| ci == "true");
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|(_, outcome, _)| wanted(outcome)).count();
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let not_run = count(|outcome| matches!(outcome, Outcome::Impossible(_)));
    let failed = outcomes.len() - passed - if strict { 0 } else { not_run };
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}
