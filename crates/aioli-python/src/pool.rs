//! The threads that tables are verified on.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, PoisonError};

/// Runs `work` on as many threads as there are cores, or as RAYON_NUM_THREADS says.
///
/// Each process has its own pool: after a fork the threads of the parent's are not there, and work
/// given to it would wait forever.
pub(crate) fn install<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| Ok(pool()?.install(work))).map_err(|error: rayon::ThreadPoolBuildError| {
        PyOSError::new_err(format!("threads could not be started: {error}"))
    })
}

fn pool() -> Result<&'static ThreadPool, rayon::ThreadPoolBuildError> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match *pool {
        Some((owner, pool)) if owner == process => Ok(pool),
        _ => {
            let fresh: &ThreadPool = Box::leak(Box::new(ThreadPoolBuilder::new().build()?));
            *pool = Some((process, fresh));
            Ok(fresh)
        }
    }
}
