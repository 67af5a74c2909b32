//! The processor's counter, and a loop whose length in core cycles is known.
//!
//! This is the lab's only unsafe code besides its calls of C. The counter and the loop exist on
//! x86-64 only; records of other architectures say `null` instead of cycles.
#![allow(unsafe_code, reason = "reading a counter and counting cycles need instructions that Rust has no names for")]

/// The time-stamp counter, in reference cycles. It ticks at a fixed rate, independent of the core's
/// clock.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn cycles() -> Option<u64> {
    // SAFETY: `rdtsc` reads a register that every x86-64 has, and touches no memory.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// `None`: this architecture has no counter that is known to tick at a fixed rate.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn cycles() -> Option<u64> {
    None
}

/// Runs a chain of [`ADDS`] dependent additions, each of which takes one core cycle; returns false
/// if it cannot.
#[cfg(target_arch = "x86_64")]
pub(crate) fn dependent_adds() -> bool {
    // The addend is in a register, since some cores fold additions of constants while renaming, at
    // no cost. SAFETY: the code changes only its own registers and the flags, which `asm!` takes as
    // clobbered.
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

/// Returns false: there is no such chain for this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dependent_adds() -> bool {
    false
}

/// Additions in the chain: long against reading a clock, short against the operations that are
/// measured.
pub(crate) const ADDS: u64 = 100_000;
