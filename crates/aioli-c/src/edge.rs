//! This module turns what C gives into slices and references, and writes results through pointers.

use crate::status::{AioliStatus, Failure, remember};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of an exported function. A panic must not reach C, where unwinding is undefined.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> AioliStatus {
    // Nothing that the body changes is used after a panic: outputs are written last.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => AioliStatus::Ok,
        Ok(Err(failure)) => remember(failure),
        Err(_) => remember(Failure::new(AioliStatus::Internal, "an error in Aioli itself: please report it")),
    }
}

fn null(what: &str) -> Failure {
    Failure::new(AioliStatus::NullPointer, format!("{what} is NULL"))
}

/// An input: `length` bytes, or none at all.
///
/// # Safety
///
/// Unless it is NULL, `bytes` points to `length` bytes that nobody changes during `'a`.
pub(crate) unsafe fn input<'a>(what: &str, bytes: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not NULL, and the caller promises the bytes.
    Ok(unsafe { std::slice::from_raw_parts(bytes, length) })
}

/// A string that ends with a zero.
///
/// # Safety
///
/// Unless it is NULL, `string` is such a string, and nobody changes it during `'a`.
pub(crate) unsafe fn string<'a>(what: &str, string: *const c_char) -> Result<&'a CStr, Failure> {
    if string.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not NULL, and the caller promises a string.
    Ok(unsafe { CStr::from_ptr(string) })
}

/// An object that an Aioli function made.
///
/// # Safety
///
/// Unless it is NULL, `object` came from [`give`] and has not been freed; during `'a` nobody
/// changes it.
pub(crate) unsafe fn object<'a, T>(what: &str, object: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises an object or NULL, which becomes `None`.
    unsafe { object.as_ref() }.ok_or_else(|| null(what))
}

/// An object to change.
///
/// # Safety
///
/// As [`object`], and during `'a` nobody else uses it.
pub(crate) unsafe fn object_mut<'a, T>(what: &str, object: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller promises an object of its own or NULL, which becomes `None`.
    unsafe { object.as_mut() }.ok_or_else(|| null(what))
}

/// Where to write a value or a new object.
///
/// # Safety
///
/// Unless it is NULL, `place` may be written.
pub(crate) unsafe fn place<T>(what: &str, place: *mut T) -> Result<Place<T>, Failure> {
    if place.is_null() { Err(null(what)) } else { Ok(Place(place)) }
}

/// A pointer that is not NULL and may be written.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    pub(crate) fn write(self, value: T) {
        // SAFETY: whoever made this promised that it may be written. What was there is not
        // dropped: C may not have set it.
        unsafe { self.0.write(value) }
    }
}

/// Moves a new object to the heap and gives it to C.
pub(crate) fn give<T>(place: Place<*mut T>, object: T) {
    place.write(Box::into_raw(Box::new(object)));
}

/// Drops an object. NULL is allowed.
///
/// # Safety
///
/// Unless it is NULL, `object` came from [`give`], has not been freed, and is not used again.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: it came from `Box::into_raw` in `give`, and this is its last use.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// Room for bytes, and the variable that holds its length and takes the length of the output.
pub(crate) struct Output {
    bytes: *mut u8,
    length: *mut usize,
    room: usize,
}

impl Output {
    /// # Safety
    ///
    /// Unless it is NULL, `length` may be read and written; unless it is NULL, `bytes` points to
    /// that many bytes that may be written.
    pub(crate) unsafe fn new(bytes: *mut u8, length: *mut usize) -> Result<Self, Failure> {
        if length.is_null() {
            return Err(null("the length of the output"));
        }
        // SAFETY: it is not NULL, and the caller promises that it may be read.
        let room = unsafe { length.read() };
        if bytes.is_null() && room > 0 {
            return Err(null("the output"));
        }
        Ok(Self { bytes, length, room })
    }

    /// Fails unless there is room for `needed` bytes, and tells C the number. A function whose
    /// output has a known length calls this before it does any work.
    pub(crate) fn demand(&self, needed: usize) -> Result<(), Failure> {
        if needed <= self.room {
            return Ok(());
        }
        // SAFETY: `new` was promised that it may be written.
        unsafe { self.length.write(needed) };
        let message = format!("the output has {needed} bytes, and there is room for {}", self.room);
        Err(Failure::new(AioliStatus::BufferTooSmall, message))
    }

    /// Writes the output, which may overlap an input of the function.
    pub(crate) fn write(&self, output: &[u8]) -> Result<(), Failure> {
        self.demand(output.len())?;
        if !output.is_empty() {
            // SAFETY: there is room, which is not NULL where it is not empty; `output` is ours, so
            // it does not overlap memory of the caller's.
            unsafe { std::ptr::copy_nonoverlapping(output.as_ptr(), self.bytes, output.len()) };
        }
        // SAFETY: `new` was promised that it may be written.
        unsafe { self.length.write(output.len()) };
        Ok(())
    }
}
