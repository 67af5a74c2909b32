//! Cycle counter, where there is one.

/// The time-stamp counter: cycles of the reference clock, which ticks at a constant rate whatever the core does.
#[cfg(target_arch = "x86_64")]
pub(crate) fn cycles() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction, and it touches nothing but its result registers.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// No counter that programs may read everywhere on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn cycles() -> Option<u64> {
    None
}
