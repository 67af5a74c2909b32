//! Memory between two pages that nobody can access, so that a read or write beyond either end of
//! an operand ends the process.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::ptr::{null_mut, slice_from_raw_parts_mut};

/// Writable memory between two guard pages. It lives as long as the process.
#[derive(Debug)]
pub struct Guarded(&'static mut [u8]);

impl Guarded {
    /// Memory of at least `bytes` bytes.
    ///
    /// # Panics
    ///
    /// Panics if the operating system has no memory.
    pub fn new(bytes: usize) -> Self {
        let page = rustix::param::page_size();
        let bytes = bytes.next_multiple_of(page);
        // SAFETY: the system chooses the address, so nothing that exists is replaced.
        let start = unsafe { mmap_anonymous(null_mut(), bytes + 2 * page, ProtFlags::empty(), MapFlags::PRIVATE) };
        let memory = start.expect("memory for operands").wrapping_byte_add(page);
        // SAFETY: these pages are the inner ones of the mapping above, which nothing else knows.
        unsafe { mprotect(memory, bytes, MprotectFlags::READ | MprotectFlags::WRITE) }.expect("access to operands");
        // SAFETY: the pages are zero, can be read and written, are never unmapped, and are given
        // out here alone.
        Self(unsafe { &mut *slice_from_raw_parts_mut(memory.cast(), bytes) })
    }

    /// The first or the last `length` bytes, whose one end touches a guard page.
    ///
    /// # Panics
    ///
    /// Panics if there are fewer.
    pub fn slice(&mut self, length: usize, last: bool) -> &mut [u8] {
        let start = if last { self.0.len() - length } else { 0 };
        &mut self.0[start..][..length]
    }
}
