//! The ends of the program.

use cortex_m_semihosting::debug::{EXIT_FAILURE, ExitStatus, exit};
use cortex_m_semihosting::hprintln;

/// Asks the debugger to end the program, until it does.
pub(crate) fn stop(status: ExitStatus) -> ! {
    loop {
        exit(status);
    }
}

/// Prints why the program failed, and ends it.
pub(crate) fn fail(why: &str) -> ! {
    hprintln!("failed: {}", why);
    stop(EXIT_FAILURE)
}
