//! Memory that is not cleared before it is overwritten.

use alloc::boxed::Box;
#[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
use alloc::vec::Vec;

/// `length` bytes of any content, for a caller that writes all of them: memory as the allocator
/// gives it where there is inline assembly; elsewhere, and in Miri, zeros.
///
/// Clearing them would take a fifth of the expansion of a public key.
#[allow(unsafe_code, reason = "allocated bytes become initialized without being written")]
pub(crate) fn unwritten(length: usize) -> Box<[u8]> {
    #[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let mut bytes = Vec::with_capacity(length);
        // SAFETY: the capacity is `length`. The compiler must assume that the assembly writes all
        // of it, so the bytes are initialized, to values about which it knows nothing.
        unsafe {
            core::arch::asm!("/* {0} */", in(reg) bytes.as_mut_ptr(), options(nostack, preserves_flags));
            bytes.set_len(length);
        }
        bytes.into_boxed_slice()
    }
    #[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
    alloc::vec![0; length].into_boxed_slice()
}
