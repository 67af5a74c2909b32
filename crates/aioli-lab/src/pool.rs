//! Threads that are measured, pinned to cores: a scheduler takes longer than a batch, and far
//! longer than an operation, to spread them.

use anyhow::{Context, Result};
use core_affinity::CoreId;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// A pool that pins each thread to a core.
///
/// # Errors
///
/// If the system gives no threads.
pub(crate) fn pinned(threads: usize) -> Result<ThreadPool> {
    // Before the first thread is pinned, since a pinned one sees its own core alone.
    cores();
    ThreadPoolBuilder::new().num_threads(threads).start_handler(pin).build().context("threads of a pool")
}

/// Pins the calling thread to core number `thread` of those that this process may use. Threads
/// beyond their number share them in turn.
pub(crate) fn pin(thread: usize) {
    if let Some(&core) = cores().get(thread % cores().len().max(1)) {
        core_affinity::set_for_current(core);
    }
}

fn cores() -> &'static [CoreId] {
    static CORES: OnceLock<Vec<CoreId>> = OnceLock::new();
    CORES.get_or_init(|| core_affinity::get_core_ids().unwrap_or_default())
}
