//! The checker is this process itself: it single-steps the release binary and compares the traces
//! of two secrets.
//!
//! With the processor's trap flag set, every instruction ends in SIGTRAP, whose handler logs the
//! instruction pointer and the general registers. Afterwards the instructions are decoded. Two
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
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Runs each operation with several secrets and compares them with the first.
pub(crate) struct Checker {
    backend: String,
    subject: String,
    logs: [Log; Self::SECRETS],
    code: Code,
    differences: usize,
}

/// The part of an operation that is traced.
pub(crate) struct Section<'a> {
    /// `None` for a run that only warms up: the thread gets its buffers, and functions are resolved
    /// at their first call.
    log: Option<&'a mut Log>,
}

impl Checker {
    /// The number of secrets that an operation is run with.
    pub(crate) const SECRETS: usize = 2;

    pub(crate) fn new(backend: &str, subject: &str) -> Self {
        install_handler();
        Self {
            backend: backend.to_owned(),
            subject: subject.to_owned(),
            logs: std::array::from_fn(|_| Log::new()),
            code: Code::new(),
            differences: 0,
        }
    }

    /// Does nothing. Marks are for the tools that know which data is secret.
    pub(crate) fn secret(_: &[u8]) {}

    /// Checks `run`, which takes the number of the secret to use.
    pub(crate) fn operation(&mut self, name: &str, mut run: impl FnMut(usize, &mut Section<'_>)) {
        for secret in 0..Self::SECRETS {
            // Each runs in a child, so that every secret meets the same memory.
            let log = &mut self.logs[secret];
            in_child(|| {
                run(secret, &mut Section { log: None });
                run(secret, &mut Section { log: Some(log) });
            });
        }
        let what = format!("{} on {}, {name}", self.subject, self.backend);
        for secret in 1..Self::SECRETS {
            if let Some(difference) = self.code.difference(self.logs[0].steps(), self.logs[secret].steps()) {
                println!("{what}: secret {secret} shows: {difference}");
                self.differences += 1;
                return;
            }
        }
        let steps = self.logs[0].steps();
        let of =
            |property: fn(&Decoded) -> bool| steps.iter().filter(|step| property(&self.code.seen[&step.rip])).count();
        let (gfni, wide) = (of(|decoded| decoded.gfni), of(|decoded| decoded.wide));
        println!(
            "{what}: {} instructions, {gfni} of them GFNI and {wide} on 512 bits, alike for {} secrets",
            steps.len(),
            Self::SECRETS
        );
        assert!(gfni > 0 || !self.backend.starts_with("gfni"), "a backend on GFNI that does not run it");
        assert!(wide > 0 || self.backend != "gfni512", "a backend on AVX-512 that does not run it");
    }

    pub(crate) fn finish(self) {
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

/// The steps of a trace, in memory that children share with this process.
struct Log(*mut LogMemory);

struct LogMemory {
    length: usize,
    steps: [Step; MAX_STEPS],
}

impl Log {
    fn new() -> Self {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, of zeros, which are a valid empty log.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<LogMemory>(), access, kind, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED, "memory for a trace");
        Self(memory.cast())
    }

    fn steps(&self) -> &[Step] {
        // SAFETY: the mapping lives for ever, and the child that wrote to it has ended.
        let memory = unsafe { &*self.0 };
        assert!((1..MAX_STEPS).contains(&memory.length), "a trace of 1 to {MAX_STEPS} instructions");
        &memory.steps[..memory.length]
    }
}

/// Runs `f` in a copy of this process and waits for its end.
fn in_child(f: impl FnOnce()) {
    // SAFETY: this process has one thread, so the child may do whatever this process may.
    match unsafe { libc::fork() } {
        -1 => panic!("a child process: {}", std::io::Error::last_os_error()),
        0 => {
            f();
            // SAFETY: ends the child where it stands; nothing of its parent's is touched.
            unsafe { libc::_exit(0) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is an int to write to.
            let ended = unsafe { libc::waitpid(child, &mut status, 0) };
            assert!(ended == child && status == 0, "the child ended with status {status:#x}");
        }
    }
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
    seen: HashMap<u64, Decoded>,
}

struct Decoded {
    instruction: Instruction,
    memory: Vec<UsedMemory>,
    /// The operands of a division, on which its time depends.
    divided: Vec<UsedRegister>,
    gfni: bool,
    wide: bool,
}

impl Code {
    fn new() -> Self {
        Self { memory: File::open("/proc/self/mem").expect("the memory of this process"), seen: HashMap::new() }
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
                wide: info.used_registers().iter().any(|used| used.register().is_zmm()),
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
