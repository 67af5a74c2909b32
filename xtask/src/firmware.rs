//! MAYO on a Cortex-M4 under QEMU: builds `firmware/cortex-m4`, runs it, counts its instructions,
//! prints the table.

mod counts;
mod leaves;
mod table;
mod trace;

use crate::steps::{self, Outcome, answers};
use counts::Counts;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use table::Operation;

/// The sets to run, and the uses of the figures.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Runs only these parameter sets (`mayo1`, `mayo1-round2`, ...); by default all of them.
    #[arg(long, value_name = "SET", value_delimiter = ',')]
    set: Vec<String>,
    /// Runs the portable backend instead of the one in assembly.
    #[arg(long)]
    portable: bool,
    /// Counts the products with P1 by tables and by bit slices, and nothing else.
    #[arg(long)]
    kernels: bool,
    /// Writes the figures to a new file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Shows the functions that an operation spends its instructions in.
    #[arg(long)]
    functions: bool,
}

impl Options {
    /// The sets of level 1.
    pub(crate) fn in_short() -> Self {
        let set = ["mayo1", "mayo2", "mayo1-round2", "mayo2-round2"].map(String::from).into();
        Self { set, ..Self::default() }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    if options.kernels {
        return match build().and_then(|image| run_image(&image, &["kernels"], None)) {
            Ok(output) => table::print_kernels(&String::from_utf8_lossy(&output.stdout)),
            Err(outcome) => outcome,
        };
    }
    match clippy().and_then(|()| measure(options)) {
        Ok(operations) => judge(options, &operations),
        Err(outcome) => outcome,
    }
}

/// Prints and writes the figures. Fails on a wrong answer, a missed target, or counters that
/// disagree.
fn judge(options: &Options, operations: &[Operation]) -> Outcome {
    table::print(operations);
    if options.functions {
        operations.iter().for_each(table::print_functions);
    }
    let faults: Vec<String> = operations.iter().flat_map(Operation::faults).collect();
    faults.iter().for_each(|fault| println!("{fault}"));
    if let Some(path) = &options.json {
        let written = std::fs::File::create_new(path).and_then(|file| {
            serde_json::to_writer_pretty(file, &table::record(operations)).map_err(std::io::Error::from)
        });
        if let Err(error) = written {
            return Outcome::Failed(format!("{}: {error}", path.display()));
        }
    }
    if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(format!("{} faults", faults.len())) }
}

/// Builds the firmware and returns the path of its image.
fn build() -> Result<String, Outcome> {
    available()?;
    passed(cargo(FIRMWARE, &["build", "--release", "--locked", "--features", "mps2-an386"]))?;
    Ok(format!("{FIRMWARE}/target/thumbv7em-none-eabihf/release/aioli-cortex-m4"))
}

/// Runs clippy, warnings denied, on the code for this target alone: the firmware for both boards,
/// and the backend.
fn clippy() -> Result<(), Outcome> {
    available()?;
    const DENY: [&str; 3] = ["--", "-D", "warnings"];
    for board in ["mps2-an386", "stm32l4r5"] {
        passed(cargo(FIRMWARE, &[&["clippy", "--release", "--locked", "--features", board], &DENY[..]].concat()))?;
    }
    let library = ["clippy", "-p", "aioli", "--target", TARGET, "--no-default-features"];
    for features in [&[][..], &["--features", "alloc"]] {
        passed(cargo(".", &[&library, features, &DENY].concat()))?;
    }
    Ok(())
}

/// Runs cargo in a directory and with its configuration, without the flags that are meant for this
/// machine.
fn cargo(directory: &str, arguments: &[&str]) -> Outcome {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).current_dir(directory);
    steps::run(cargo.env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR"))
}

fn measure(options: &Options) -> Result<Vec<Operation>, Outcome> {
    available()?;
    let read =
        |path: &Path| std::fs::read(path).map_err(|error| Outcome::Failed(format!("{}: {error}", path.display())));
    let built = Path::new("target/firmware");
    std::fs::create_dir_all(built).map_err(|error| Outcome::Failed(format!("{}: {error}", built.display())))?;
    let plugin = built.join("counter.so");
    let counted = built.join("counts.txt");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-o"]);
    passed(steps::run(compile.arg(&plugin).arg(format!("{FIRMWARE}/counter/counter.c"))))?;
    let image = build()?;
    let kernels = leaves::count(&read(Path::new(&image))?).map_err(Outcome::Failed)?;
    println!("kernels, none of which calls another function: {kernels}");
    let checks = run_image(&image, &["check"], None)?;
    let checked = String::from_utf8_lossy(&checks.stdout).into_owned();
    print!("calling convention, and agreement with the portable backend: {checked}");
    if !checks.status.success() || !checked.starts_with("checked=") {
        return Err(Outcome::Failed("the checks of the backend on the device".into()));
    }
    let run_counted = |arguments: &[&str]| {
        let output = run_image(&image, arguments, Some(&format!("{},out={}", plugin.display(), counted.display())))?;
        let counts = String::from_utf8_lossy(&read(&counted)?).into_owned();
        let counts = Counts::parse_all(&counts, &read(Path::new(&image))?).map_err(Outcome::Failed)?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok((printed, counts)),
            false => Err(Outcome::Failed(format!("the firmware ended with {}: {printed}", output.status))),
        }
    };
    let (printed, counts) = run_counted(&["trace"])?;
    let (operations, secrets) = trace::compare(&printed, &counts).map_err(Outcome::Failed)?;
    println!("operations that branch alike and touch the same addresses with {secrets} secrets each: {operations}");
    let arguments: Vec<&str> =
        options.set.iter().map(|set| &**set).chain(options.portable.then_some("portable")).collect();
    let (printed, counts) = run_counted(&arguments)?;
    let expected = if options.set.is_empty() { 8 } else { options.set.len() };
    if !printed.lines().any(|line| line == format!("done sets={expected}")) {
        return Err(Outcome::Failed(format!("the firmware did not finish {expected} sets: {printed}")));
    }
    table::join(&printed, counts).map_err(Outcome::Failed)
}

/// Runs the image with arguments, and with a plugin of QEMU if one is given.
fn run_image(image: &str, arguments: &[&str], plugin: Option<&str>) -> Result<std::process::Output, Outcome> {
    let arguments: String = arguments.iter().map(|argument| format!(",arg={argument}")).collect();
    let mut qemu = Command::new("timeout");
    qemu.args([TIME_LIMIT, "qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "null"])
        .args(["-icount", "shift=0", "-kernel", image])
        .args(["-semihosting-config", &format!("enable=on,target=native,arg=aioli{arguments}")])
        .args(plugin.map(|plugin| ["-plugin", plugin]).iter().flatten())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    qemu.output().map_err(|error| Outcome::Impossible(format!("qemu-system-arm: {error}")))
}

/// An error that names a tool which this machine lacks.
fn available() -> Result<(), Outcome> {
    let missing = if !answers("qemu-system-arm", &["--version"]) {
        "qemu-system-arm"
    } else if !answers("cc", &["--version"]) {
        "cc"
    } else if !steps::has_target(TARGET) {
        "rustup target add thumbv7em-none-eabihf"
    } else {
        return Ok(());
    };
    Err(Outcome::Impossible(missing.into()))
}

fn passed(outcome: Outcome) -> Result<(), Outcome> {
    match outcome {
        Outcome::Passed => Ok(()),
        other => Err(other),
    }
}

const FIRMWARE: &str = "firmware/cortex-m4";
const TARGET: &str = "thumbv7em-none-eabihf";
/// Seconds. A run of all sets takes about fifteen.
const TIME_LIMIT: &str = "600";
