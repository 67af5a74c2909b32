//! Measures the library of the working tree beside that of a commit, in one process.
//!
//! The commit is unpacked with another version number, so that one program
//! (`xtask/against/main.rs`) can depend on both. What disturbs the machine disturbs both.

use crate::origin;
use crate::steps::{Outcome, run};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The commit to compare with.
    commit: String,
    /// Rounds in which each operation is timed once with either version.
    #[arg(long, default_value_t = 400)]
    rounds: usize,
    /// Measures only operations whose name has all of these parts: `gfni512`, `sign`, `MAYO_1`.
    #[arg(long = "only", value_name = "PART")]
    only: Vec<String>,
    /// Writes the record into this folder, as `<date>-<commit>-against-<other commit>.json`.
    #[arg(long, value_name = "DIR")]
    json: Option<PathBuf>,
}

pub(crate) fn check(options: &Options) -> Outcome {
    let Some(before) = git(&["rev-parse", "--verify", &format!("{}^{{commit}}", options.commit)]) else {
        return Outcome::Failed(format!("{} is no commit of this repository", options.commit));
    };
    let driver = Path::new(FOLDER);
    prepare(&before, driver)
        .and(|| run(Command::new("cargo").args(["build", "--release", "--quiet"]).current_dir(driver)))
        .and(|| measure(options, &before, driver))
}

/// Unpacks the commit and writes the package of the driver.
fn prepare(commit: &str, driver: &Path) -> Outcome {
    // Outside of the repository: inside, cargo would take the workspace here for that of the
    // commit.
    let unpacked = std::env::temp_dir().join("aioli-against");
    let written = (|| {
        // A version of another commit may be there from an earlier run.
        if unpacked.exists() {
            std::fs::remove_dir_all(&unpacked)?;
        }
        std::fs::create_dir_all(&unpacked)?;
        std::fs::create_dir_all(driver.join("src"))?;
        let root = std::env::current_dir()?;
        let manifest = include_str!("../against/Cargo.toml.in")
            .replace("@BEFORE@", &unpacked.to_string_lossy())
            .replace("@AFTER@", &root.to_string_lossy());
        std::fs::write(driver.join("Cargo.toml"), manifest)?;
        std::fs::copy("xtask/against/main.rs", driver.join("src/main.rs"))
    })();
    if let Err(error) = written {
        return Outcome::Failed(format!("{FOLDER}: {error}"));
    }
    let archive = format!("git archive {commit} | tar -x -C {}", unpacked.display());
    run(Command::new("sh").args(["-c", &archive])).and(|| {
        // Cargo tells two packages of one name apart by their versions.
        let manifest = unpacked.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map(|text| text.replace("\"0.1.0\"", "\"0.0.0\""));
        match text.and_then(|text| std::fs::write(&manifest, text)) {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(format!("{}: {error}", manifest.display())),
        }
    })
}

fn measure(options: &Options, before: &str, driver: &Path) -> Outcome {
    let program = driver.join("target/release/against-driver");
    let output = Command::new(&program).arg(options.rounds.to_string()).args(&options.only).output();
    let mut record: Value = match output {
        Ok(output) if output.status.success() => match serde_json::from_slice(&output.stdout) {
            Ok(record) => record,
            Err(error) => return Outcome::Failed(format!("result of the driver: {error}")),
        },
        Ok(output) => return Outcome::Failed(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => return Outcome::Failed(format!("{}: {error}", program.display())),
    };
    record["before"] = json!({ "commit": before });
    record["after"] = json!({ "commit": origin::commit(), "dirty": origin::dirty() });
    record["compiler"] = json!(origin::version("rustc"));
    record["processor"] = json!(processor());
    record["date"] = json!(today());
    print(&record);
    let Some(folder) = &options.json else { return Outcome::Passed };
    let name = format!("{}-{}-against-{}.json", today(), &origin::commit()[..7], &before[..7]);
    let text = serde_json::to_string_pretty(&record).expect("a record is valid JSON") + "\n";
    match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(name), text)) {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("{}: {error}", folder.display())),
    }
}

/// Prints how many times as fast the working tree is: a line for each set and backend.
fn print(record: &Value) {
    let text = |cell: &Value, key: &str| cell[key].as_str().unwrap_or_default().to_owned();
    let cells = record["cells"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut line = String::new();
    for cell in cells {
        let name = format!("{:16} {:9}", text(cell, "set"), text(cell, "backend"));
        if name != line {
            print!("{}{name}", if line.is_empty() { "" } else { "\n" });
            line = name;
        }
        print!("  {} {:.3}", text(cell, "operation"), cell["times_as_fast"].as_f64().unwrap_or(f64::NAN));
    }
    println!();
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).and_then(|line| line.split_once(": "));
    let field = |key| line(key).map_or("unknown", |(_, value)| value);
    format!("{}, family {}, model {}", field("model name"), field("cpu family"), field("model\t"))
}

fn today() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or_else(|_| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).stderr(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().into())
}

/// The package of the driver.
const FOLDER: &str = "target/against";
