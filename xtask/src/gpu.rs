//! The kernels for GPUs, compiled by NVIDIA's compiler without a GPU; and their tests, which run them on the CPU.

use crate::steps::{Outcome, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles every kernel of every set for each architecture, holds registers and spills against their bounds, and runs
/// the tests of the crate with NVIDIA's run-time compiler at hand.
pub(crate) fn check() -> Outcome {
    let toolkit = match toolkit() {
        Ok(toolkit) => toolkit,
        Err(why) => {
            println!("NOT RUN: kernels for {ARCHITECTURES:?} compiled by nvcc and NVRTC ({why})");
            return match tests(None) {
                Outcome::Passed => Outcome::Impossible(format!("nvcc and NVRTC: {why}; tests of the kernels passed")),
                other => other,
            };
        }
    };
    let mut broken = 0;
    for (architecture, shared) in ARCHITECTURES {
        match compile(&toolkit, architecture, shared) {
            Ok(found) => broken += found,
            Err(why) => return Outcome::Failed(why),
        }
    }
    match broken {
        0 => tests(Some(&toolkit)),
        count => Outcome::Failed(format!("{count} kernels beyond their bounds")),
    }
}

/// The tests of the crate; with NVRTC where there is a toolkit.
fn tests(toolkit: Option<&Path>) -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "-p", "aioli-gpu"]);
    if let Some(toolkit) = toolkit {
        command.env("LD_LIBRARY_PATH", toolkit.join("lib"));
    }
    run(&mut command)
}

/// NVIDIA's compilers from the Python package index, in a virtual environment under target/.
fn toolkit() -> Result<PathBuf, String> {
    let folder = Path::new("target/gpu-toolkit");
    let wanted = PACKAGES.join(" ");
    let stamp = folder.join("packages");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return found(folder);
    }
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    succeeds(
        Command::new(folder.join("bin/pip")).args(["install", "-q", "--disable-pip-version-check"]).args(PACKAGES),
    )?;
    let toolkit = found(folder)?;
    std::fs::write(stamp, wanted).map_err(|error| error.to_string())?;
    Ok(toolkit)
}

/// Where the packages put their programs.
fn found(folder: &Path) -> Result<PathBuf, String> {
    let missing = || format!("no nvcc under {}", folder.display());
    let versions = std::fs::read_dir(folder.join("lib")).map_err(|error| error.to_string())?;
    let toolkits = versions.flatten().map(|version| version.path().join("site-packages/nvidia/cu13"));
    let toolkit = toolkits.into_iter().find(|toolkit| toolkit.join("bin/nvcc").exists()).ok_or_else(missing)?;
    toolkit.canonicalize().map_err(|error| error.to_string())
}

/// Compiles all sets; prints what each kernel takes and returns how many take too much.
fn compile(toolkit: &Path, architecture: &str, shared: &str) -> Result<usize, String> {
    let sources = &Path::new("target/gpu-kernels").join(architecture);
    let mut write = Command::new("cargo");
    succeeds(write.args(["run", "-q", "-p", "aioli-gpu", "--example", "sources", "--"]).arg(sources).arg(shared))?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(sources)
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    files.sort();
    let mut broken = 0;
    for file in files {
        let set = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut path = toolkit.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let output = Command::new(toolkit.join("bin/nvcc"))
            .args(["-O3", "-std=c++17", "-cubin", "-Xptxas", "-v", "-Werror", "all-warnings"])
            .args([&format!("-arch={architecture}"), "-o"])
            .arg(file.with_extension("cubin"))
            .arg(&file)
            .env("PATH", path)
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("{set} for {architecture}: {text}"));
        }
        let kernels = kernels(&text);
        if kernels.len() != KERNELS {
            return Err(format!("{set} for {architecture}: {} kernels reported, not {KERNELS}", kernels.len()));
        }
        for kernel in kernels {
            let within = kernel.registers <= MAX_REGISTERS && kernel.spilled <= MAX_SPILLED;
            broken += usize::from(!within);
            let Kernel { name, registers, spilled } = kernel;
            let verdict = if within { "" } else { "  BEYOND ITS BOUND" };
            println!("{architecture} {set:13} {name:20} {registers:4} registers {spilled:4} bytes spilled{verdict}");
        }
    }
    Ok(broken)
}

/// What a kernel takes.
#[derive(Debug, PartialEq)]
struct Kernel {
    name: String,
    registers: u32,
    /// Bytes of spilled registers that are stored and loaded, together.
    spilled: u32,
}

/// What `ptxas -v` says.
fn kernels(text: &str) -> Vec<Kernel> {
    let number = |line: &str, after: &str| {
        let before = line.split(after).next()?;
        before.rsplit(' ').find(|word| !word.is_empty())?.parse::<u32>().ok()
    };
    let (mut kernels, mut spilled) = (Vec::new(), 0);
    let mut name = String::new();
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if line.contains("bytes spill stores") {
            let [stores, loads] = ["bytes spill stores", "bytes spill loads"].map(|kind| number(line, kind));
            spilled = stores.unwrap_or(u32::MAX / 2) + loads.unwrap_or(u32::MAX / 2);
        } else if let Some(registers) = line.contains("Used ").then(|| number(line, "registers")).flatten() {
            kernels.push(Kernel { name: std::mem::take(&mut name), registers, spilled });
        }
    }
    kernels
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    match run(command) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) | Outcome::Impossible(why) => Err(why),
    }
}

/// Pinned to 13.0: a driver of that version refuses what later compilers make.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-nvvm==13.0.88",
];
/// A100 and H100, with the bytes of shared memory that a block may have there.
const ARCHITECTURES: [(&str, &str); 2] = [("sm_80", "166912"), ("sm_90", "232448")];
/// Kernels of a set.
const KERNELS: usize = 9;
/// With blocks of 512 threads, what a multiprocessor has for each thread.
const MAX_REGISTERS: u32 = 128;
/// Bytes stored and loaded, by instructions: a few addresses set aside at the beginning of a kernel for its end. Sums that
/// do not fit into registers go beyond it at once.
const MAX_SPILLED: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_ptxas_are_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'sign_map' for 'sm_90'\n\
            ptxas info    : Function properties for sign_map\n    \
            144 bytes stack frame, 164 bytes spill stores, 200 bytes spill loads\n\
            ptxas info    : Used 128 registers, used 1 barriers, 144 bytes cumulative stack size\n";
        assert_eq!(kernels(text), [Kernel { name: "sign_map".into(), registers: 128, spilled: 364 }]);
    }
}
