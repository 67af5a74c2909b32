//! Marks of secret bytes for the tools that check constant time; compiled only for them.
//! [`crate::ct`] says what the marks mean.
#![allow(unsafe_code, reason = "calls of memcheck and MemorySanitizer")]

pub(crate) use tool::{poison, poisoned, unpoison};

/// Whether the program runs under the tool that it was built for.
pub(crate) fn is_watched() -> bool {
    let mut probe = [0; 16];
    poison(&probe);
    let all = poisoned(&probe) == probe.len();
    unpoison(&mut probe);
    all && poisoned(&probe) == 0
}

/// Valgrind's memcheck: requests are an instruction sequence that does nothing outside of it.
#[cfg(aioli_ct = "valgrind")]
mod tool {
    /// Marks bytes as undefined.
    pub(crate) fn poison(bytes: &[u8]) {
        request(MAKE_MEM_UNDEFINED, bytes.as_ptr(), bytes.len(), 0);
    }

    /// Marks bytes as defined.
    pub(crate) fn unpoison(bytes: &mut [u8]) {
        request(MAKE_MEM_DEFINED, bytes.as_ptr(), bytes.len(), 0);
    }

    /// The number of bytes that have an undefined bit.
    pub(crate) fn poisoned(bytes: &[u8]) -> usize {
        let mut undefined = [0u8; 64];
        let mut count = 0;
        for bytes in bytes.chunks(undefined.len()) {
            request(GET_VBITS, bytes.as_ptr(), undefined.as_mut_ptr().addr(), bytes.len());
            count += undefined[..bytes.len()].iter().filter(|&&bits| bits != 0).count();
        }
        count
    }

    // Requests as in memcheck.h; the upper two bytes are "MC".
    const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
    const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
    const GET_VBITS: usize = 0x4d43_0008;

    fn request(code: usize, bytes: *const u8, second: usize, third: usize) {
        let arguments = [code, bytes.expose_provenance(), second, third, 0, 0];
        // SAFETY: outside of valgrind nothing happens, as the rotations add up to 128 and the
        // exchange is of a register with itself. Inside, memcheck reads the six arguments and
        // changes its own notes. GET_VBITS alone writes, `third` bytes at `second`, for which
        // `poisoned` passes an array of that length.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") arguments.as_ptr(), inout("rdx") 0usize => _,
            );
        }
    }
}

/// MemorySanitizer: calls of its runtime, which `-Zsanitizer=memory` links.
#[cfg(aioli_ct = "msan")]
mod tool {
    use core::ffi::c_void;

    // The declarations are those of sanitizer/msan_interface.h.
    unsafe extern "C" {
        fn __msan_poison(bytes: *const c_void, length: usize);
        fn __msan_unpoison(bytes: *const c_void, length: usize);
        fn __msan_test_shadow(bytes: *const c_void, length: usize) -> isize;
    }

    /// Marks bytes as uninitialized.
    pub(crate) fn poison(bytes: &[u8]) {
        // SAFETY: writes only the shadow of this slice.
        unsafe { __msan_poison(bytes.as_ptr().cast(), bytes.len()) }
    }

    /// Marks bytes as initialized.
    pub(crate) fn unpoison(bytes: &mut [u8]) {
        // SAFETY: as in `poison`; the bytes were initialized before they were marked.
        unsafe { __msan_unpoison(bytes.as_ptr().cast(), bytes.len()) }
    }

    /// The number of bytes that have an uninitialized bit.
    pub(crate) fn poisoned(bytes: &[u8]) -> usize {
        // SAFETY: reads the shadow of one byte of this slice; -1 says that it is clean.
        bytes.iter().filter(|&byte| unsafe { __msan_test_shadow((&raw const *byte).cast(), 1) } != -1).count()
    }
}
