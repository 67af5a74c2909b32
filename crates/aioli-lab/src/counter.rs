//! The processor's counter, and a loop whose length in core cycles is known.
//!
//! The only unsafe code of the lab beside its calls of C. On other architectures than x86-64 there is neither, and
//! records say `null` where cycles would stand.
#![allow(unsafe_code, reason = "reading a counter and counting cycles need instructions that Rust has no names for")]

/// The time-stamp counter, in reference cycles: it ticks at a fixed rate whatever the core's clock does.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn cycles() -> Option<u64> {
    // SAFETY: reads a register that every x86-64 has, and touches no memory.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// No counter that is known to tick at a fixed rate.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn cycles() -> Option<u64> {
    None
}

/// Runs a chain of [`ADDS`] dependent additions, which takes one core cycle each; false where that cannot be done.
#[cfg(target_arch = "x86_64")]
pub(crate) fn dependent_adds() -> bool {
    // A register operand: some cores fold additions of constants while renaming, which takes no cycle.
    // SAFETY: changes only its own registers and the flags, which asm! takes as clobbered.
    unsafe {
        core::arch::asm!(
            "2:",
            ".rept 100",
            "add {sum}, {addend}",
            ".endr",
            "dec {count}",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            addend = in(reg) 3u64,
            count = inout(reg) ADDS / 100 => _,
            options(nomem, nostack)
        );
    }
    true
}

/// No such chain.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dependent_adds() -> bool {
    false
}

/// Long against the cost of reading a clock, short against what else is measured.
pub(crate) const ADDS: u64 = 100_000;
