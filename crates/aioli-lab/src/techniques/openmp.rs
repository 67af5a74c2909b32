//! A team of OpenMP's threads. The build script finds a C compiler that knows OpenMP; without one,
//! this file is left out.
#![allow(unsafe_code, reason = "a call of C, which calls back")]

use std::ffi::c_void;

/// Calls `task` with each number below `threads`, each on a thread of its own.
pub(super) fn run<F: Fn(usize) + Sync>(threads: usize, task: &F) {
    // SAFETY: C hands `call` the pointer that it was given, on each of its threads, before it
    // returns. It points to a task of the type that `call` expects, which threads may share.
    unsafe { aioli_lab_openmp(call::<F>, std::ptr::from_ref(task).cast(), threads, threads as i32) }
}

/// The task as C calls it. A panic in it ends the process, as C cannot pass it on.
extern "C" fn call<F: Fn(usize) + Sync>(task: *const c_void, number: usize) {
    // SAFETY: `run` passes a pointer to a task of this type, which lives until C has returned.
    let task = unsafe { &*task.cast::<F>() };
    task(number);
}

unsafe extern "C" {
    fn aioli_lab_openmp(task: extern "C" fn(*const c_void, usize), context: *const c_void, count: usize, threads: i32);
}
