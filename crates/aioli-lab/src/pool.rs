//! Pools of threads that are measured.

use anyhow::{Context, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool that pins each thread to a core, as far as there are cores: a scheduler takes longer than
/// a batch, and far longer than an operation, to spread threads.
///
/// # Errors
///
/// If the system gives no threads.
pub(crate) fn pinned(threads: usize) -> Result<ThreadPool> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let pin = move |thread: usize| {
        if let Some(&core) = cores.get(thread) {
            core_affinity::set_for_current(core);
        }
    };
    ThreadPoolBuilder::new().num_threads(threads).start_handler(pin).build().context("threads of a pool")
}
