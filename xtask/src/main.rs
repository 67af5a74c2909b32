//! The checks of this repository, each a command of its own. `cargo xtask ci` runs all of them in
//! order. Beside them there is one measurement, `against`.

mod against;
mod bouncycastle;
mod c;
mod ci;
mod constant_time;
mod firmware;
mod fuzz;
mod gpu;
mod languages;
mod neon;
mod openssl;
mod origin;
mod processor;
mod python;
mod reproducible;
mod rules;
mod steps;
mod structure;
mod tools;
mod web;

use clap::{Parser, Subcommand};
use constant_time::{Checker, Subject};
use steps::Outcome;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs all checks, in two lanes beside each other, and prints a summary. With CI=true in the
    /// environment, a check that cannot run because a tool is missing has failed.
    ///
    /// Without --full, some checks leave a part out. firmware: the sets of levels 3 and 5. neon:
    /// all but the unit tests and the counts of mayo2 and mayo1-round2. gpu: all sets but mayo1,
    /// mayo5 and, on the CPU, mayo2-round2. fuzz: 50 of the 60 seconds for each target.
    /// ct-valgrind: all sets but mayo2 and, on portable, mayo1. ct-msan, ct-trace and their share
    /// of ct-selftest: all backends but gfni512, and of the others ct-trace takes the solver.
    /// openssl: OpenSSL 3.6, with CMS and TLS, and TLS with rustls. web: a file of 1 GB, and the
    /// official known answers. python: the wheel for old systems, engines for tables, notebooks.
    /// reproducible: everything. Most of these commands leave out nothing when they are run by
    /// themselves. openssl, web and python have --full too, and ct-valgrind takes all sets with
    /// --all.
    Ci {
        /// Leaves out nothing.
        #[arg(long)]
        full: bool,
        /// Runs these steps alone.
        #[arg(long, value_name = "STEP")]
        only: Vec<String>,
    },
    /// Runs one step of `ci`, as `ci` does in its second lane.
    #[command(hide = true)]
    Step {
        name: String,
        #[arg(long)]
        full: bool,
    },
    /// Checks the formatting.
    Fmt,
    /// Checks what no compiler knows: unsafe code only at the edges, lengths of files, names of
    /// records, unfinished work.
    Rules,
    /// Checks that imports point downwards, by the floors in ARCHITECTURE.md.
    Structure,
    /// Checks the spelling.
    Typos,
    /// Checks licences, sources and duplicates of dependencies. Checks advisories if
    /// AIOLI_ADVISORY_DB names a clone of RustSec's database.
    Deny,
    /// Runs clippy on the workspace, warnings denied.
    Clippy,
    /// Runs clippy on the library with each set of its features.
    Features,
    /// Checks the published crates with the oldest supported toolchain.
    Msrv,
    /// Builds the documentation, warnings denied.
    Docs,
    /// Runs the tests of the library and the command: `cargo test`, with overflow checks and debug
    /// assertions.
    Test,
    /// Regenerates the known answers of all sets on each backend with the released command.
    Kat,
    /// Holds the files in vectors/ against an independent implementation. Needs Python with numpy,
    /// cryptography and jsonschema.
    Vectors,
    /// Runs the tests of the laboratory and of these checks.
    Lab,
    /// Runs keygen, sign and verify on an emulated Cortex-M4 and prints their costs. Needs
    /// qemu-system-arm.
    Firmware(firmware::Options),
    /// Opens the report of a committed record in Chromium: sections, charts, keyboard, phone. Needs
    /// npm and Chromium.
    Page,
    /// Builds the package for JavaScript and the page, and tests them in Node, Deno and Chromium,
    /// also against the command. Needs npm and Chromium; Deno comes from npm where npm has it.
    Web(web::Options),
    /// Exchanges keys and signatures of round 2 with Bouncy Castle, both ways. Needs Maven and
    /// Java.
    Bouncycastle,
    /// Builds the library for C, installs it under target/c/prefix, and tests it there by programs
    /// in C and C++, with two compilers, sanitizers and valgrind.
    C(c::Options),
    /// Tests the examples for Go, Node and Java, copied out of the repository. Java needs a JDK of
    /// 22 or later, and is named if there is none.
    Languages(languages::Options),
    /// Builds the provider for the machine's OpenSSL, and tests it by the commands openssl and
    /// aioli and by a program in C, under valgrind too.
    Openssl(openssl::Options),
    /// Tests certificates and TLS in Rust: chains, requests, handshakes, and what OpenSSL reads of
    /// them.
    X509,
    /// Builds the package for Python and tests it, with its stubs and examples, on every version of
    /// Python that this machine has.
    Python(python::Options),
    /// Builds the library for a microcontroller without an allocator, and for WebAssembly.
    Cross,
    /// Tests the backend for 64-bit Arm under QEMU, and counts the instructions that its operations
    /// execute.
    Neon(neon::Options),
    /// Compiles the kernels for GPUs by NVIDIA's compiler, holds registers and spills against
    /// bounds, and runs the kernels on the CPU.
    Gpu,
    /// Fuzzes decoders, the command's readers, kernels and the scheme. Needs a C++ compiler.
    Fuzz(fuzz::Options),
    /// Follows marked secrets through keygen, expansion and signing by memcheck, on portable and
    /// avx2.
    CtValgrind(Subject),
    /// Follows marked secrets by MemorySanitizer, on portable and gfni512. Needs a nightly
    /// toolchain with rust-src, which it names if it is missing.
    CtMsan(Subject),
    /// Builds the command in two folders and compares the programs.
    Reproducible,
    /// Single-steps the release binary with eight keys and with twelve linear systems, and compares
    /// instructions and addresses.
    CtTrace(Subject),
    /// Measures the library beside that of another commit, both in one process and by turns. No
    /// part of `ci`.
    Against(against::Options),
    /// Plants leaks, and demands that each checker catches them and passes the control.
    CtSelftest {
        /// Leaves out the backends that `ci` leaves out.
        #[arg(long)]
        short: bool,
    },
}

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    std::env::set_current_dir(root).expect("the root of the repository");
    let outcome = match Arguments::parse().task {
        Task::Ci { full, only } => ci::run(full, &only),
        Task::Step { name, full } => ci::step(&name, full),
        Task::Fmt => steps::fmt(),
        Task::Rules => rules::check(),
        Task::Structure => structure::check(),
        Task::Typos => tools::typos(),
        Task::Deny => tools::deny(),
        Task::Clippy => steps::clippy(),
        Task::Features => tools::features(),
        Task::Msrv => tools::msrv(),
        Task::Docs => steps::docs(),
        Task::Test => steps::test(),
        Task::Kat => steps::kat(),
        Task::Vectors => tools::vectors(),
        Task::Lab => steps::lab(),
        Task::Firmware(options) => firmware::run(&options),
        Task::Page => steps::page(),
        Task::Web(options) => web::run_with(&options),
        Task::Bouncycastle => bouncycastle::check(),
        Task::C(options) => c::run_with(&options),
        Task::Languages(options) => languages::check(&options),
        Task::Openssl(options) => openssl::check(&options),
        Task::X509 => steps::x509(),
        Task::Python(options) => python::check(&options),
        Task::Cross => steps::cross(),
        Task::Neon(options) => neon::run(&options),
        Task::Gpu => gpu::check(gpu::Extent::Full),
        Task::Fuzz(options) => fuzz::check(&options),
        Task::Reproducible => reproducible::check(),
        Task::CtValgrind(subject) => constant_time::run(Checker::Valgrind, &subject),
        Task::CtMsan(subject) => constant_time::run(Checker::Msan, &subject),
        Task::CtTrace(subject) => constant_time::run(Checker::Trace, &subject),
        Task::Against(options) => against::check(&options),
        Task::CtSelftest { short } => constant_time::selftest(short),
    };
    println!("{outcome}");
    std::process::exit(match outcome {
        Outcome::Passed => 0,
        Outcome::Failed(_) => 1,
        Outcome::Impossible(_) => 2,
    });
}
