//! The clock, which counts instructions under QEMU and cycles on a board, and the marks around an
//! operation.

use cortex_m::peripheral::{DWT, SYST};

/// A running counter.
pub(crate) struct Clock {
    systick: SYST,
    dwt: DWT,
}

impl Clock {
    /// The unit of [`Clock::time`].
    pub(crate) const UNIT: &'static str = if cfg!(feature = "mps2-an386") { "instructions" } else { "cycles" };

    /// Starts both counters.
    pub(crate) fn start(mut peripherals: cortex_m::Peripherals) -> Self {
        peripherals.DCB.enable_trace();
        peripherals.DWT.enable_cycle_counter();
        peripherals.SYST.set_clock_source(cortex_m::peripheral::syst::SystClkSource::Core);
        peripherals.SYST.set_reload(SYSTICK_RELOAD);
        peripherals.SYST.clear_current();
        peripherals.SYST.enable_counter();
        Self { systick: peripherals.SYST, dwt: peripherals.DWT }
    }

    /// Runs `f` between the marks that QEMU's counter looks for.
    ///
    /// Returns the cycles modulo 2^32, or the instructions modulo 671 million.
    pub(crate) fn time(&mut self, f: impl FnOnce()) -> u32 {
        self.count(|| {
            // SAFETY: a hint without effect.
            unsafe { core::arch::asm!("dbg #1") };
            f();
            // SAFETY: a hint without effect.
            unsafe { core::arch::asm!("dbg #2") };
        })
    }

    /// Does the same without the marks.
    pub(crate) fn count(&mut self, f: impl FnOnce()) -> u32 {
        let begin = self.now();
        f();
        let end = self.now();
        if cfg!(feature = "mps2-an386") {
            // The timer counts down.
            (begin.wrapping_sub(end) & SYSTICK_RELOAD) * INSTRUCTIONS_A_TICK
        } else {
            end.wrapping_sub(begin)
        }
    }

    /// The value of the counter.
    fn now(&mut self) -> u32 {
        if cfg!(feature = "mps2-an386") { SYST::get_current() } else { self.dwt.cyccnt.read() }
    }

    /// Whether the counter runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.systick.is_counter_enabled() && self.count(|| cortex_m::asm::delay(10_000)) > 0
    }
}

/// The largest value of the timer, which has 24 bits.
const SYSTICK_RELOAD: u32 = 0x00ff_ffff;
/// QEMU with `-icount shift=0` counts a nanosecond for an instruction, and the timer of the model
/// runs at 25 MHz.
const INSTRUCTIONS_A_TICK: u32 = 40;
