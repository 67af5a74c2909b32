//! Threads inside one operation: a team shares the key stream and the left product.
//!
//! A team is of rayon's threads or of OpenMP's, and runs the same kernels with either. Its threads
//! are pinned to a core each, as far as there are cores.

#[cfg(openmp)]
use super::openmp;
use crate::pool::{pin, pinned};
use aioli::backend::Backend;
use aioli::packed::{Coefficients, Operand, Output};
use anyhow::{Context, Result};
use rayon::ThreadPool;
use std::cell::Cell;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Threads that share one operation. A team of one thread shows the cost of the team itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Team {
    runtime: Runtime,
    threads: usize,
}

/// Who makes the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    Rayon,
    #[cfg(openmp)]
    OpenMp,
}

impl Team {
    /// All teams: one, two and four threads of each runtime.
    pub(super) fn all() -> impl Iterator<Item = Self> + Clone {
        let runtimes = [
            Runtime::Rayon,
            #[cfg(openmp)]
            Runtime::OpenMp,
        ];
        runtimes.into_iter().flat_map(|runtime| COUNTS.map(|threads| Self { runtime, threads }))
    }

    /// Starts the threads that are kept, so that no measurement does.
    ///
    /// # Errors
    ///
    /// If the system gives no threads.
    pub(super) fn start(self) -> Result<()> {
        self.pool().map(drop)
    }

    /// Runs `f` on a thread of the team, so that entering the team costs once and not at every
    /// kernel.
    pub(super) fn enter<T: Send>(self, f: impl FnOnce() -> T + Send) -> T {
        self.pool().expect("started before").install(f)
    }

    /// The pool of rayon's threads, or the pinned thread from which OpenMP's are started; made at
    /// the first call and kept.
    fn pool(self) -> Result<&'static ThreadPool> {
        static POOLS: [OnceLock<ThreadPool>; COUNTS.len()] = [const { OnceLock::new() }; COUNTS.len()];
        let threads = match self.runtime {
            Runtime::Rayon => self.threads,
            #[cfg(openmp)]
            Runtime::OpenMp => 1,
        };
        let at = COUNTS.iter().position(|&count| count == threads).context("teams have 1, 2 or 4 threads")?;
        if let Some(pool) = POOLS[at].get() {
            return Ok(pool);
        }
        let pool = pinned(threads)?;
        Ok(POOLS[at].get_or_init(|| pool))
    }

    /// Does the parts of some work, each on a thread of its own; there are no more parts than
    /// threads.
    fn share<T: Send>(self, parts: Vec<T>, work: impl Fn(T) + Sync) {
        let work = &work;
        match self.runtime {
            Runtime::Rayon => self.pool().expect("started before").in_place_scope(|scope| {
                parts.into_iter().for_each(|part| scope.spawn(move |_| work(part)));
            }),
            #[cfg(openmp)]
            Runtime::OpenMp => {
                let parts: Vec<Mutex<Option<T>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
                openmp::run(self.threads, &|number| {
                    // A new thread has the affinity of the thread that started it.
                    if !PINNED.replace(true) {
                        pin(number);
                    }
                    let Some(part) = parts.get(number) else { return };
                    if let Some(part) = part.lock().unwrap_or_else(PoisonError::into_inner).take() {
                        work(part);
                    }
                });
            }
        }
    }

    /// The left product; each thread computes some rows of the result.
    ///
    /// A thread reads the whole operand but writes only its own rows, so no sums are combined at
    /// the end.
    pub(super) fn left_product<B: Backend>(
        self,
        b: B,
        left: Coefficients<'_>,
        right: Operand<'_>,
        mut out: Output<'_>,
    ) {
        if right.bytes().len() < MIN_BYTES || left.rows() < 2 {
            return b.left_product(left, right, out);
        }
        // Kernels work on pairs of rows, so a share is an even number of rows.
        let share = left.rows().div_ceil(self.threads).next_multiple_of(2);
        let (adds, stride) = (out.adds(), out.stride());
        let parts = (0..left.rows()).step_by(share).zip(out.bytes_mut().chunks_mut(share * stride)).collect();
        self.share(parts, |(first, out)| {
            let count = share.min(left.rows() - first);
            let columns = 0..left.columns();
            let elements: Vec<u8> = columns.flat_map(|i| left.of_row(i)[first..][..count].iter().copied()).collect();
            b.left_product(Coefficients::new(&elements, count, count), right, Output::new(out, stride, adds));
        });
    }

    /// The key stream; each thread makes a part of it.
    pub(super) fn aes128_ctr<B: Backend>(self, b: B, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        let wraps = first.checked_add(out.len() as u32).is_none();
        if out.len() < MIN_BYTES || wraps {
            return b.aes128_ctr(key, iv, first, out);
        }
        // A share is a multiple of a cache line.
        let share = out.len().div_ceil(self.threads).next_multiple_of(64);
        self.share(out.chunks_mut(share).enumerate().collect(), |(i, out)| {
            b.aes128_ctr(key, iv, first + (i * share / 16) as u32, out);
        });
    }
}

/// The end of a technique's name: `rayon_2`.
impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runtime = match self.runtime {
            Runtime::Rayon => "rayon",
            #[cfg(openmp)]
            Runtime::OpenMp => "openmp",
        };
        write!(f, "{runtime}_{}", self.threads)
    }
}

thread_local! {
    static PINNED: Cell<bool> = const { Cell::new(false) };
}

/// The numbers of threads that are measured.
const COUNTS: [usize; 3] = [1, 2, 4];
/// The fewest bytes that are worth waking a thread for.
const MIN_BYTES: usize = 8192;
