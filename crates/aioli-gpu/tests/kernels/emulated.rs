//! A device on the CPU: a process that runs the kernels, with stand-ins for CUDA's built-ins.

use aioli::ParameterSet;
use aioli_gpu::Error;
use aioli_gpu::emulation::{Argument, Device, Facts, Kernel, Size};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A C++ compiler of this machine.
pub(crate) fn compiler() -> Option<PathBuf> {
    let candidates =
        std::env::var_os("CXX").map(PathBuf::from).into_iter().chain(["g++", "clang++"].map(PathBuf::from));
    candidates
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()))
}

/// Whether the compiler takes these flags and its programs run. A sanitizer may not be installed.
pub(crate) fn supports<P: ParameterSet>(compiler: &Path, name: &str, flags: &[&str]) -> bool {
    let folder = folder::<P>(name);
    let source = folder.join("nothing.cpp");
    let program = folder.join("nothing");
    std::fs::create_dir_all(&folder).is_ok()
        && std::fs::write(&source, "int main() {}\n").is_ok()
        && Command::new(compiler)
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output()
            .is_ok_and(|output| output.status.success())
        && Command::new(&program).output().is_ok_and(|output| output.status.success())
}

/// Compiles the edited source of a set's kernels with these flags, and returns the program.
pub(crate) fn build<P: ParameterSet>(
    compiler: &Path,
    name: &str,
    flags: &[&str],
    shared_bytes: u32,
    edit: impl FnOnce(String) -> String,
) -> Result<PathBuf, String> {
    let folder = folder::<P>(name);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("kernels.cu"), edit(aioli_gpu::source::<P>(shared_bytes)))
        .map_err(|error| error.to_string())?;
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harness");
    let program = folder.join("harness");
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-g1", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]);
    command.args(flags).arg("-I").arg(&harness).arg("-I").arg(&folder).arg(harness.join("main.cpp"));
    let output = command.arg("-o").arg(&program).arg("-lpthread").output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(program),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The folder in which a test of a set builds. Tests run at the same time, so each has its own.
fn folder<P: ParameterSet>(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", P::ALGORITHM))
}

/// The process, as a device.
pub(crate) struct Emulated(RefCell<Process>);

struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    launch: [u8; 4 * Facts::WORDS],
    memory: usize,
}

impl Emulated {
    /// Starts the process. Batches on it may take `memory` bytes.
    pub(crate) fn start(program: &Path, memory: usize) -> Self {
        let mut child = Command::new(program)
            .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
            .env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
            .env("TSAN_OPTIONS", "halt_on_error=1:exitcode=66")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the harness starts");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("it was asked for");
        let mut process = Process { child, input, output, launch: [0; 4 * Facts::WORDS], memory };
        process.send(b"C").expect("the harness answers");
        let mut launch = [0; 4 * Facts::WORDS];
        process.output.read_exact(&mut launch).expect("the harness answers");
        process.launch = launch;
        Self(RefCell::new(process))
    }

    /// Ends the process, and returns what it wrote to standard error.
    pub(crate) fn report(self) -> String {
        let mut process = self.0.into_inner();
        drop(process.input.take());
        let mut text = String::new();
        let mut errors = process.child.stderr.take().expect("it was asked for");
        errors.read_to_string(&mut text).expect("messages are text");
        let status = process.child.wait().expect("it has ended");
        format!("{text}{status}")
    }
}

impl Process {
    fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let input = self.input.as_mut().expect("it is running");
        input.write_all(bytes).and_then(|()| input.flush()).map_err(ended)
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.output.read_exact(bytes).map_err(ended)
    }
}

/// The error of a process that is gone, whether a sanitizer has ended it or it has ended itself.
fn ended(error: std::io::Error) -> Error {
    Error::Cuda { call: "the harness", reason: error.to_string() }
}

/// The number that a piece of memory has in the process.
pub(crate) struct Memory(u32);

/// A message to the process: a command and its numbers.
fn message(command: u8, numbers: &[u32]) -> Vec<u8> {
    std::iter::once(command).chain(numbers.iter().flat_map(|number| number.to_le_bytes())).collect()
}

impl Device for &Emulated {
    type Memory = Memory;

    fn facts(&self) -> Facts {
        let process = self.0.borrow();
        Facts::new(&process.launch, MULTIPROCESSORS, process.memory)
    }

    fn allocate(&self, _: usize, bytes: usize) -> Result<Memory, Error> {
        let mut process = self.0.borrow_mut();
        process.send(&message(b'A', &[bytes as u32]))?;
        let mut id = [0; 4];
        process.receive(&mut id)?;
        Ok(Memory(u32::from_le_bytes(id)))
    }

    fn upload(&self, _: usize, memory: &mut Memory, bytes: &[u8]) -> Result<(), Error> {
        let mut process = self.0.borrow_mut();
        process.send(&message(b'W', &[memory.0, 0, bytes.len() as u32]))?;
        process.send(bytes)
    }

    fn download(&self, _: usize, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        let mut process = self.0.borrow_mut();
        process.send(&message(b'R', &[memory.0, 0, bytes.len() as u32]))?;
        process.receive(bytes)
    }

    fn clear(&self, _: usize, memory: &mut Memory) -> Result<(), Error> {
        self.0.borrow_mut().send(&message(b'Z', &[memory.0]))
    }

    fn finish(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn launch(&self, _: usize, kernel: Kernel, size: Size, arguments: &[Argument<'_, Memory>]) -> Result<(), Error> {
        let mut bytes = vec![b'L', kernel.name().len() as u8];
        bytes.extend(kernel.name().bytes());
        let numbers = [size.blocks, size.threads, size.shared, arguments.len() as u32];
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        for argument in arguments {
            bytes.extend(match argument {
                Argument::Memory(memory) => message(b'b', &[memory.0]),
                Argument::Null => message(b'n', &[0]),
                Argument::Number(number) => message(b'u', &[*number]),
            });
        }
        self.0.borrow_mut().send(&bytes)
    }
}

/// Few, so that each block works on several items.
const MULTIPROCESSORS: u32 = 2;
