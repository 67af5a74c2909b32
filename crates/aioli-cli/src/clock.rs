//! The cycle counter of the processor, if it has one.

/// The time-stamp counter: cycles of a reference clock, whose rate is constant whatever the core
/// does.
#[cfg(target_arch = "x86_64")]
pub(crate) fn cycles() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction, and it changes nothing but its result
    // registers.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// None: this architecture has no counter that programs may read on every system.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn cycles() -> Option<u64> {
    None
}
