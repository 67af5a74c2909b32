//! The kernels for GPUs, compiled by NVIDIA's compiler without a GPU; and their tests, which run
//! them on the CPU.

use crate::steps::{Outcome, one_build, run};
use crate::tools::{install, succeeds};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The sets that are compiled and emulated.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// All of them.
    Full,
    /// The smallest and the largest of round 3, and emulated besides them MAYO_2 of round 2.
    Short,
}

/// Compiles the kernels for each architecture, holds registers and spills against their bounds, and
/// runs the tests of the crate with NVIDIA's run-time compiler at hand.
pub(crate) fn check(extent: Extent) -> Outcome {
    let toolkit = match toolkit() {
        Ok(toolkit) => toolkit,
        Err(why) => {
            println!("NOT RUN: kernels for {ARCHITECTURES:?} compiled by nvcc and NVRTC ({why})");
            return match tests(extent, None) {
                Outcome::Passed => Outcome::Impossible(format!("nvcc and NVRTC: {why}; tests of the kernels passed")),
                other => other,
            };
        }
    };
    match compile_all(&toolkit, extent) {
        Ok(0) => tests(extent, Some(&toolkit)),
        Ok(broken) => Outcome::Failed(format!("{broken} kernels beyond their bounds")),
        Err(why) => Outcome::Failed(why),
    }
}

/// The tests of the crate. NVRTC is tested too if there is a toolkit.
fn tests(extent: Extent, toolkit: Option<&Path>) -> Outcome {
    let mut command = one_build(&["test", "-p", "aioli-gpu", "--lib", "--tests"]);
    if let Some(toolkit) = toolkit {
        command.env("LD_LIBRARY_PATH", toolkit.join("lib"));
    }
    if extent == Extent::Short {
        println!("left to the full form: the tests {}", EMULATED_IN_FULL.join(", "));
        command.arg("--").args(EMULATED_IN_FULL.iter().flat_map(|name| ["--skip", name]));
    }
    run(&mut command)
}

/// NVIDIA's compilers from the Python package index, in a virtual environment under target/.
fn toolkit() -> Result<PathBuf, String> {
    let folder = install("target/gpu-toolkit", &PACKAGES)?;
    let versions = std::fs::read_dir(folder.join("lib")).map_err(|error| error.to_string())?;
    let toolkits = versions.flatten().map(|version| version.path().join("site-packages/nvidia/cu13"));
    let toolkit = toolkits.into_iter().find(|toolkit| toolkit.join("bin/nvcc").exists());
    toolkit.ok_or_else(|| format!("no nvcc under {}", folder.display()))
}

/// Compiles the sets for all architectures, two at a time. Prints the registers and spills of each
/// kernel, and returns how many are beyond their bounds.
fn compile_all(toolkit: &Path, extent: Extent) -> Result<usize, String> {
    succeeds(&mut one_build(&["build", "-q", "-p", "aioli-gpu", "--example", "sources"]))?;
    let mut files = Vec::new();
    for (architecture, shared) in ARCHITECTURES {
        let sources = &Path::new("target/gpu-kernels").join(architecture);
        succeeds(Command::new("target/debug/examples/sources").arg(sources).arg(shared))?;
        let entries = std::fs::read_dir(sources).map_err(|error| error.to_string())?.flatten();
        let names =
            entries.filter_map(|entry| Some(entry.path().file_name()?.to_str()?.strip_suffix(".cu")?.to_owned()));
        let wanted = |set: &String| extent == Extent::Full || COMPILED_IN_SHORT.contains(&&**set);
        files.extend(names.filter(wanted).map(|set| (architecture, sources.join(format!("{set}.cu")), set)));
    }
    if files.len() < ARCHITECTURES.len() * COMPILED_IN_SHORT.len() {
        return Err(format!("{} sources for {COMPILED_IN_SHORT:?}", files.len()));
    }
    files.sort();
    let left = Mutex::new(files.into_iter());
    let work = || {
        let mut broken = 0;
        // The lock is held only while the next file is taken.
        while let Some((architecture, file, set)) = { left.lock().expect("the files left").next() } {
            broken += compile(toolkit, architecture, &file, &set)?;
        }
        Ok(broken)
    };
    std::thread::scope(|scope| {
        let workers = [(); 2].map(|()| scope.spawn(work));
        workers.into_iter().map(|worker| worker.join().expect("a thread that compiles")).sum()
    })
}

/// Compiles a set for an architecture. Returns how many of its kernels are beyond their bounds.
fn compile(toolkit: &Path, architecture: &str, file: &Path, set: &str) -> Result<usize, String> {
    let mut path = toolkit.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new(toolkit.join("bin/nvcc"))
        .args(["-O3", "-std=c++17", "-cubin", "-Xptxas", "-v", "-Werror", "all-warnings"])
        .args([&format!("-arch={architecture}"), "-o"])
        .arg(file.with_extension("cubin"))
        .arg(file)
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
    let mut broken = 0;
    for Kernel { name, registers, spilled } in kernels {
        let within = registers <= MAX_REGISTERS && spilled <= MAX_SPILLED;
        broken += usize::from(!within);
        let verdict = if within { "" } else { "  BEYOND ITS BOUND" };
        println!("{architecture} {set:13} {name:20} {registers:4} registers {spilled:4} bytes spilled{verdict}");
    }
    Ok(broken)
}

/// The resources of a kernel.
#[derive(Debug, PartialEq)]
struct Kernel {
    name: String,
    registers: u32,
    /// Bytes of spilled registers, stored and loaded together.
    spilled: u32,
}

/// Reads the report of `ptxas -v`.
fn kernels(text: &str) -> Vec<Kernel> {
    let number = |line: &str, after: &str| {
        let before = line.split(after).next()?;
        before.rsplit(' ').find(|word| !word.is_empty())?.parse::<u32>().ok()
    };
    let mut kernels = Vec::new();
    let mut spilled = 0;
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

/// Pinned to 13.0, since a driver of that version refuses the output of later compilers.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-nvvm==13.0.88",
];
/// The A100 and the H100, with the bytes of shared memory that a block may have there.
const ARCHITECTURES: [(&str, &str); 2] = [("sm_80", "166912"), ("sm_90", "232448")];
/// The sets that the short form compiles: the fewest and the most registers for a row.
const COMPILED_IN_SHORT: [&str; 2] = ["mayo1", "mayo5"];
/// The tests that the short form leaves out. Those with planted faults run MAYO_2 of round 2.
const EMULATED_IN_FULL: [&str; 6] =
    ["round3_mayo2", "round3_mayo3", "round2_mayo1", "round2_mayo2", "round2_mayo3", "round2_mayo5"];
/// The number of kernels of a set.
const KERNELS: usize = 9;
/// The registers that a multiprocessor has for each thread, with blocks of 512 threads.
const MAX_REGISTERS: u32 = 128;
/// Bytes stored and loaded, by instructions: a few addresses set aside at the beginning of a kernel
/// for its end. Sums that do not fit into registers exceed it at once.
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
