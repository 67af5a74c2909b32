//! Threads inside one operation: the threads of a fork-join pool share the key stream and the left
//! product.

use crate::pool::pinned;
use aioli::backend::Backend;
use aioli::packed::{Coefficients, Operand, Output};
use anyhow::{Context, Result};
use rayon::ThreadPool;
use std::sync::OnceLock;

/// The pool of `threads` threads, made at the first call and kept.
///
/// # Errors
///
/// If `threads` is not in [`COUNTS`], or the system gives no threads.
pub(super) fn pool(threads: usize) -> Result<&'static ThreadPool> {
    static POOLS: [OnceLock<ThreadPool>; COUNTS.len()] = [const { OnceLock::new() }; COUNTS.len()];
    let at = COUNTS.iter().position(|&count| count == threads).context("pools have 1, 2 or 4 threads")?;
    if let Some(pool) = POOLS[at].get() {
        return Ok(pool);
    }
    let pool = pinned(threads)?;
    Ok(POOLS[at].get_or_init(|| pool))
}

/// The left product; each thread computes some rows of the result.
///
/// A thread reads the whole operand but writes only its own rows, so no sums are combined at the
/// end.
pub(super) fn left_product<B: Backend>(
    b: B,
    pool: &ThreadPool,
    left: Coefficients<'_>,
    right: Operand<'_>,
    mut out: Output<'_>,
) {
    let threads = pool.current_num_threads();
    if right.bytes().len() < MIN_BYTES || left.rows() < 2 || threads == 1 {
        return pool.install(|| b.left_product(left, right, out));
    }
    let adds = out.adds();
    let stride = out.stride();
    // Kernels work on pairs of rows, so a share is an even number of rows.
    let share = left.rows().div_ceil(threads).next_multiple_of(2);
    let parts = (0..left.rows()).step_by(share).zip(out.bytes_mut().chunks_mut(share * stride));
    pool.in_place_scope(|scope| {
        for (first, out) in parts {
            scope.spawn(move |_| {
                let count = share.min(left.rows() - first);
                let columns = 0..left.columns();
                let elements: Vec<u8> =
                    columns.flat_map(|i| left.of_row(i)[first..][..count].iter().copied()).collect();
                let part = Coefficients::new(&elements, count, count);
                b.left_product(part, right, Output::new(out, stride, adds));
            });
        }
    });
}

/// The key stream; each thread makes a part of it.
pub(super) fn aes128_ctr<B: Backend>(
    b: B,
    pool: &ThreadPool,
    key: &[u8; 16],
    iv: &[u8; 16],
    first: u32,
    out: &mut [u8],
) {
    let threads = pool.current_num_threads();
    let wraps = first.checked_add(out.len() as u32).is_none();
    if out.len() < MIN_BYTES || wraps || threads == 1 {
        return pool.install(|| b.aes128_ctr(key, iv, first, out));
    }
    // A share is a multiple of a cache line.
    let share = out.len().div_ceil(threads).next_multiple_of(64);
    pool.in_place_scope(|scope| {
        for (i, out) in out.chunks_mut(share).enumerate() {
            scope.spawn(move |_| b.aes128_ctr(key, iv, first + (i * share / 16) as u32, out));
        }
    });
}

/// The numbers of threads that are measured.
pub(super) const COUNTS: [usize; 3] = [1, 2, 4];
/// The fewest bytes that are worth waking a thread for.
const MIN_BYTES: usize = 8192;
