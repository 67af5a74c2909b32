//! How much stack an operation uses: the free part is painted before, and looked through afterwards.

use core::ptr;

/// Runs `f`; returns its result and the greatest depth of the stack below the caller's frame, in bytes.
#[inline(never)]
pub(crate) fn depth<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let here = 0u32;
    let top = ptr::from_ref(&here) as usize & !3;
    let bottom = cortex_m_rt::heap_start() as usize;
    let painted = bottom..top - MARGIN;
    for address in painted.clone().step_by(4) {
        // SAFETY: from the end of the statics up to below this frame the memory belongs to nobody; there is no heap.
        unsafe { ptr::write_volatile(address as *mut u32, PAINT) };
    }
    let result = f();
    // SAFETY: as above; the loop only reads.
    let used = painted.step_by(4).find(|&address| unsafe { ptr::read_volatile(address as *const u32) } != PAINT);
    (result, top - used.unwrap_or(top - MARGIN))
}

/// Bytes below the frame that are not painted: the painting itself may use them.
const MARGIN: usize = 256;
const PAINT: u32 = 0x5afe_57ac;
