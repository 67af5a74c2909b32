//! The checker is this process itself: it single-steps the release binary and compares the traces
//! of several secrets.
//!
//! With the processor's trap flag set, every instruction ends in SIGTRAP, whose handler logs the
//! instruction pointer and the general registers. Afterwards the instructions are decoded. All
//! secrets must have run the same instructions with the same memory addresses, and divided the same
//! numbers. The result holds for the very machine code that is shipped, with any instructions, but
//! only for the secrets that were tried.
#![allow(unsafe_code, reason = "a signal handler and the flags register")]

use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register,
    UsedMemory, UsedRegister,
};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::time::Instant;

/// Runs each operation with several secrets and compares them with the first.
pub(crate) struct Checker {
    backend: &'static str,
    subject: String,
    /// The only operation to run, if not all.
    operation: Option<String>,
    /// The trace of the first secret, which all children see.
    first: Log,
    /// The trace of another secret, which each child has for itself.
    other: Log,
    code: Code,
    operations: usize,
    differences: usize,
}

/// The part of an operation that is traced.
pub(crate) struct Section<'a> {
    /// `None` for a run that only warms up: the thread gets its buffers, and functions are resolved
    /// at their first call.
    log: Option<&'a mut Log>,
}

impl Checker {
    pub(crate) fn new(backend: &'static str, subject: &str, operation: Option<&str>) -> Self {
        install_handler();
        Self {
            backend,
            subject: subject.to_owned(),
            operation: operation.map(str::to_owned),
            first: Log::new(libc::MAP_SHARED),
            other: Log::new(libc::MAP_PRIVATE),
            code: Code::new(),
            operations: 0,
            differences: 0,
        }
    }

    /// The number of keys to compare. Two are enough to see a planted leak.
    pub(crate) fn keys(&self) -> usize {
        if self.subject.starts_with("plant-") { 2 } else { 8 }
    }

    /// Does nothing. Marks are for the tools that know which data is secret.
    pub(crate) fn secret(_: &[u8]) {}

    /// Checks `run`, which takes the number of the secret to use, for all numbers below `secrets`.
    pub(crate) fn operation(&mut self, name: &str, secrets: usize, mut run: impl FnMut(usize, &mut Section<'_>)) {
        if self.operation.as_ref().is_some_and(|only| only != name) {
            return;
        }
        let what = format!("{} on {}, {name}", self.subject, self.backend);
        let begun = Instant::now();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // A byte in the first pipe is leave to trace beside the first secret, a byte in the second
        // says that the first trace is complete.
        let (mut leave, mut give_leave) = std::io::pipe().expect("a pipe");
        let (mut complete, mut completed) = std::io::pipe().expect("a pipe");
        give_leave.write_all(&vec![0; cores - 1]).expect("a byte for each other core");
        let wait = |pipe: &mut std::io::PipeReader| pipe.read_exact(&mut [0]).expect("a byte of the pipe");
        let leaks = in_children(secrets, |secret| {
            let log = if secret == 0 { &mut self.first } else { &mut self.other };
            if secret > 0 {
                wait(&mut leave);
            }
            run(secret, &mut Section { log: None });
            run(secret, &mut Section { log: Some(log) });
            give_leave.write_all(&[0]).expect("a byte for the next secret");
            if secret == 0 {
                completed.write_all(&vec![0; secrets - 1]).expect("a byte for each other secret");
                self.describe(&what);
                return 0;
            }
            wait(&mut complete);
            match self.code.difference(self.first.steps(), self.other.steps()) {
                Some(difference) => {
                    println!("{what}: secret {secret} shows: {difference}");
                    LEAK
                }
                None => 0,
            }
        });
        self.operations += 1;
        self.differences += leaks;
        println!("{what}: {} of {secrets} secrets alike, {} s", secrets - leaks, begun.elapsed().as_secs());
    }

    /// Prints what the first trace consists of.
    fn describe(&mut self, what: &str) {
        let steps = self.first.steps();
        let mut of =
            |property: fn(&Decoded) -> bool| steps.iter().filter(|step| property(self.code.decoded(step.rip))).count();
        let (gfni, wide) = (of(|decoded| decoded.gfni), of(|decoded| decoded.wide));
        println!("{what}: {} instructions, {gfni} of them GFNI and {wide} on 512 bits", steps.len());
        assert!(gfni > 0 || !self.backend.starts_with("gfni"), "a backend on GFNI that does not run it");
        assert!(wide > 0 || self.backend != "gfni512", "a backend on AVX-512 that does not run it");
        assert!(gfni == 0 || self.backend != "avx2", "GFNI beyond the name of the backend");
        assert!(wide == 0 || !["avx2", "gfni256"].contains(&self.backend), "512 bits beyond the name of the backend");
    }

    pub(crate) fn finish(self) {
        assert!(self.operations > 0, "an operation of this name");
        if self.differences > 0 {
            std::process::exit(LEAK);
        }
    }
}

impl Section<'_> {
    /// Runs the code to check.
    pub(crate) fn enter(&mut self, f: impl FnOnce()) {
        if let Some(log) = &mut self.log {
            // SAFETY: no other reference to the mapping is alive.
            unsafe { (*log.0).length = 0 };
            LOG.store(log.0, Relaxed);
        }
        traced_if(self.log.is_some(), f);
    }
}

/// The steps of a trace.
struct Log(*mut LogMemory);

struct LogMemory {
    length: usize,
    steps: [Step; MAX_STEPS],
}

impl Log {
    /// An empty log, shared with children or private to each of them.
    fn new(sharing: libc::c_int) -> Self {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, sharing | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, of zeros, which are a valid empty log.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<LogMemory>(), access, kind, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED, "memory for a trace");
        Self(memory.cast())
    }

    fn steps(&self) -> &[Step] {
        // SAFETY: the mapping lives for ever, and its trace is complete.
        let memory = unsafe { &*self.0 };
        assert!((1..MAX_STEPS).contains(&memory.length), "a trace of 1 to {MAX_STEPS} instructions");
        &memory.steps[..memory.length]
    }
}

/// Runs `f` with each number below `count`, each in a copy of this process, so that every secret
/// meets the same memory. Returns how many of them ended with [`LEAK`].
fn in_children(count: usize, mut f: impl FnMut(usize) -> libc::c_int) -> usize {
    for number in 0..count {
        // SAFETY: this process has one thread, so the child may do whatever this process may.
        match unsafe { libc::fork() } {
            -1 => panic!("a child process: {}", std::io::Error::last_os_error()),
            0 => {
                // A child that fails ends this process, and with it the children that wait for it.
                // SAFETY: asks for a signal at the end of the parent.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                let status = f(number);
                // SAFETY: ends the child where it stands; nothing of its parent's is touched.
                unsafe { libc::_exit(status) }
            }
            _ => {}
        }
    }
    (0..count)
        .filter(|_| {
            let mut status = 0;
            // SAFETY: `status` is an int to write to.
            let ended = unsafe { libc::waitpid(-1, &mut status, 0) };
            let code = libc::WEXITSTATUS(status);
            assert!(
                ended > 0 && libc::WIFEXITED(status) && matches!(code, 0 | LEAK),
                "a child ended with status {status:#x}"
            );
            code == LEAK
        })
        .count()
}

/// Warming up and tracing share this function, so that the traced code is the code that has warmed
/// up.
#[inline(never)]
fn traced_if(traced: bool, f: impl FnOnce()) {
    let flag = usize::from(traced) << TRAP_FLAG_BIT;
    // SAFETY: changes nothing but the trap flag, whose signals the handler of `install_handler`
    // takes.
    unsafe { std::arch::asm!("pushfq", "or [rsp], {}", "popfq", in(reg) flag) };
    f();
    // SAFETY: likewise.
    unsafe { std::arch::asm!("pushfq", "and [rsp], {}", "popfq", in(reg) !(1usize << TRAP_FLAG_BIT)) };
}

/// The state before an instruction.
#[derive(Clone, Copy)]
struct Step {
    rip: u64,
    /// The general registers, in the order of their numbers in machine code.
    registers: [u64; 16],
}

/// The log that the handler writes to. It is set before the trap flag.
static LOG: AtomicPtr<LogMemory> = AtomicPtr::new(std::ptr::null_mut());

fn install_handler() {
    let stack: &'static mut [u8] = vec![0; 1 << 16].leak();
    let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
    // SAFETY: the stack lives for ever; the handler touches only the log, as `Section` set it up,
    // and allocates nothing; all-zero is a valid `sigaction`.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaltstack(&stack, std::ptr::null_mut()) | libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut())
    };
    assert_eq!(failed, 0, "a handler for SIGTRAP");
}

extern "C" fn on_trap(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a `ucontext_t`, as SA_SIGINFO asks.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let step = Step {
        rip: registers[libc::REG_RIP as usize] as u64,
        registers: GENERAL_REGISTERS.map(|register| registers[register as usize] as u64),
    };
    // SAFETY: the mapping that `Section` set, which nothing else uses while it is traced.
    let log = unsafe { &mut *LOG.load(Relaxed) };
    if let Some(place) = log.steps.get_mut(log.length) {
        *place = step;
        log.length += 1;
    }
}

const GENERAL_REGISTERS: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// The machine code of this process. Instructions are decoded when a trace first meets them.
struct Code {
    memory: File,
    /// The addresses of this program, without those of the C library.
    own: std::ops::Range<u64>,
    seen: HashMap<u64, Decoded>,
}

struct Decoded {
    instruction: Instruction,
    memory: Vec<UsedMemory>,
    /// The operands of a division, on which its time depends.
    divided: Vec<UsedRegister>,
    gfni: bool,
    /// Uses registers of 512 bits and is part of this program. The C library copies and clears
    /// memory with any registers that the processor has.
    wide: bool,
}

impl Code {
    fn new() -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the memory map of this process");
        let (mut first, mut end) = (u64::MAX, 0);
        for line in maps.lines().filter(|line| line.ends_with(&*program.to_string_lossy())) {
            let range = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range of addresses");
            let bounds = [range.0, range.1].map(|hex| u64::from_str_radix(hex, 16).expect("an address"));
            first = first.min(bounds[0]);
            end = end.max(bounds[1]);
        }
        let own = first..end;
        assert!(!own.is_empty(), "this program in the memory map");
        let memory = File::open("/proc/self/mem").expect("the memory of this process");
        Self { memory, own, seen: HashMap::new() }
    }

    /// Describes the first step in which two traces differ.
    fn difference(&mut self, first: &[Step], other: &[Step]) -> Option<String> {
        let mut before = first.first()?.rip;
        for (a, b) in first.iter().zip(other) {
            if a.rip != b.rip {
                return Some(format!("a branch: {}", self.place(before)));
            }
            before = a.rip;
            let decoded = self.decoded(a.rip);
            for used in &decoded.memory {
                match (address(used, a), address(used, b)) {
                    (Some(a), Some(b)) if a == b => {}
                    (Some(_), Some(_)) => return Some(format!("a memory address: {}", self.place(before))),
                    _ => return Some(format!("addresses from a vector cannot be followed: {}", self.place(before))),
                }
            }
            if decoded.divided.iter().any(|used| value(used.register(), a) != value(used.register(), b)) {
                return Some(format!("a division: {}", self.place(before)));
            }
        }
        (first.len() != other.len()).then(|| format!("the end: {}", self.place(before)))
    }

    fn decoded(&mut self, rip: u64) -> &Decoded {
        let memory = &self.memory;
        let own = self.own.contains(&rip);
        self.seen.entry(rip).or_insert_with(|| {
            let mut bytes = [0; 15];
            let length = memory.read_at(&mut bytes, rip).expect("bytes of an instruction");
            let instruction = Decoder::with_ip(64, &bytes[..length], rip, DecoderOptions::NONE).decode();
            assert!(!instruction.is_invalid(), "an instruction at {rip:#x} that the decoder knows");
            let mut factory = InstructionInfoFactory::new();
            let info = factory.info(&instruction);
            // LEA and NOP name an address without accessing it.
            let touched = |used: &&UsedMemory| !matches!(used.access(), OpAccess::NoMemAccess | OpAccess::None);
            let divides = matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
            let features = instruction.cpuid_features();
            Decoded {
                memory: info.used_memory().iter().filter(touched).copied().collect(),
                divided: if divides { info.used_registers().to_vec() } else { Vec::new() },
                gfni: features.contains(&CpuidFeature::GFNI),
                // Named registers: by its effect, any VEX instruction clears the rest of a ZMM.
                wide: own && (0..instruction.op_count()).any(|operand| instruction.op_register(operand).is_zmm()),
                instruction,
            }
        })
    }

    fn place(&mut self, rip: u64) -> String {
        let instruction = self.decoded(rip).instruction;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let hex = |digits| u64::from_str_radix(digits, 16).unwrap_or(0);
        let object = maps.lines().find_map(|line| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            (hex(start)..hex(end)).contains(&rip).then(|| line.split_whitespace().nth(5))?
        });
        let object = object.unwrap_or("[no file]");
        // The first mapping of a file begins at its first byte.
        let base =
            maps.lines().find(|line| line.ends_with(object)).and_then(|line| line.split('-').next()).map_or(0, hex);
        format!("`{instruction}`; addr2line -Cfie {object} {:#x}", rip.wrapping_sub(base))
    }
}

/// The address of an operand. `None` if a vector register is part of it.
fn address(used: &UsedMemory, step: &Step) -> Option<u64> {
    used.virtual_address(0, |register, _, _| value(register, step))
}

fn value(register: Register, step: &Step) -> Option<u64> {
    match register {
        register if register.is_gpr() => Some(step.registers[register.full_register().number()]),
        // The bases of segments do not change.
        register if register.is_segment_register() => Some(0),
        _ => None,
    }
}

const TRAP_FLAG_BIT: u32 = 8;
/// Enough for the largest operation. Pages that are not written cost nothing.
const MAX_STEPS: usize = 40_000_000;
/// The exit status for two secrets that can be told apart.
const LEAK: i32 = 86;
