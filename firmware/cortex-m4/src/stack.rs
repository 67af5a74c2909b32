//! Measures the stack of an operation: paints the free part before it, and searches the paint after
//! it.

use core::ptr;

/// Runs `f`. Returns its result and the greatest depth of the stack below the frame of this
/// function, in bytes.
#[inline(never)]
pub(crate) fn depth<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let here = 0u32;
    let top = ptr::from_ref(&here) as usize & !3;
    let bottom = cortex_m_rt::heap_start() as usize;
    let painted = bottom..top - MARGIN;
    for address in painted.clone().step_by(4) {
        // SAFETY: nobody owns the memory from the end of the statics up to `MARGIN` bytes below
        // this frame, because there is no heap.
        unsafe { ptr::write_volatile(address as *mut u32, PAINT) };
    }
    let result = f();
    // SAFETY: the same memory, and the loop only reads it.
    let used = painted.step_by(4).find(|&address| unsafe { ptr::read_volatile(address as *const u32) } != PAINT);
    (result, top - used.unwrap_or(top - MARGIN))
}

/// Bytes below the frame that are not painted, because the painting itself may use them.
const MARGIN: usize = 256;
/// The paint, which programs hardly ever write.
const PAINT: u32 = 0x5afe_57ac;
