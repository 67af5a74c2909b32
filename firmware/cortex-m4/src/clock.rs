//! What time is counted in: instructions under QEMU, cycles on a board; and the marks around an operation.

use cortex_m::peripheral::{DWT, SYST};

/// A running counter.
pub(crate) struct Clock {
    systick: SYST,
    dwt: DWT,
}

impl Clock {
    /// What [`Clock::time`] counts.
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

    /// Runs `f` between the marks that QEMU's counter looks for; returns how much the clock has counted, modulo 2^32 or
    /// 671 million instructions.
    pub(crate) fn time(&mut self, f: impl FnOnce()) -> u32 {
        self.count(|| {
            // SAFETY: a hint without effect.
            unsafe { core::arch::asm!("dbg #1") };
            f();
            // SAFETY: a hint without effect.
            unsafe { core::arch::asm!("dbg #2") };
        })
    }

    /// The same without the marks.
    pub(crate) fn count(&mut self, f: impl FnOnce()) -> u32 {
        let begin = self.now();
        f();
        let end = self.now();
        if cfg!(feature = "mps2-an386") {
            // It counts down.
            (begin.wrapping_sub(end) & SYSTICK_RELOAD) * INSTRUCTIONS_A_TICK
        } else {
            end.wrapping_sub(begin)
        }
    }

    fn now(&mut self) -> u32 {
        if cfg!(feature = "mps2-an386") { SYST::get_current() } else { self.dwt.cyccnt.read() }
    }

    /// Whether the counter runs at all.
    pub(crate) fn runs(&mut self) -> bool {
        self.systick.is_counter_enabled() && self.count(|| cortex_m::asm::delay(10_000)) > 0
    }
}

/// All that the counter holds.
const SYSTICK_RELOAD: u32 = 0x00ff_ffff;
/// QEMU with `-icount shift=0` counts a nanosecond an instruction, and the model's timer runs at 25 MHz.
const INSTRUCTIONS_A_TICK: u32 = 40;
