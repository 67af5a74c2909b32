//! This module words what is said about failures.

use crate::edge::{Output, guarded};
use crate::status::{AioliStatus, last_message};
use std::ffi::{CStr, c_char};

/// The name of a status, such as "AIOLI_STATUS_OK"; a static string. A number that is no status
/// gives "unknown status".
#[unsafe(no_mangle)]
pub extern "C" fn aioli_status_name(status: u32) -> *const c_char {
    let name: &CStr = match NAMES.get(status as usize) {
        Some((_, name)) => name,
        None => c"unknown status",
    };
    name.as_ptr()
}

/// Writes what was wrong, and what was expected, at the last failure of a function in this thread:
/// text in UTF-8 without a zero at its end, and empty if nothing has failed yet. A message never
/// holds a secret.
///
/// # Safety
///
/// `message` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_error_message(message: *mut c_char, length: *mut usize) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller gives an output.
        let output = unsafe { Output::new(message.cast(), length) }?;
        output.write(last_message().as_bytes())
    })
}

/// The statuses in the order of their numbers, with their names.
const NAMES: [(AioliStatus, &CStr); 14] = [
    (AioliStatus::Ok, c"AIOLI_STATUS_OK"),
    (AioliStatus::InvalidSignature, c"AIOLI_STATUS_INVALID_SIGNATURE"),
    (AioliStatus::WrongLength, c"AIOLI_STATUS_WRONG_LENGTH"),
    (AioliStatus::BufferTooSmall, c"AIOLI_STATUS_BUFFER_TOO_SMALL"),
    (AioliStatus::UnknownAlgorithm, c"AIOLI_STATUS_UNKNOWN_ALGORITHM"),
    (AioliStatus::AlgorithmMismatch, c"AIOLI_STATUS_ALGORITHM_MISMATCH"),
    (AioliStatus::NullPointer, c"AIOLI_STATUS_NULL_POINTER"),
    (AioliStatus::Randomness, c"AIOLI_STATUS_RANDOMNESS"),
    (AioliStatus::SigningFailed, c"AIOLI_STATUS_SIGNING_FAILED"),
    (AioliStatus::KeyFormat, c"AIOLI_STATUS_KEY_FORMAT"),
    (AioliStatus::PassphraseNeeded, c"AIOLI_STATUS_PASSPHRASE_NEEDED"),
    (AioliStatus::WrongPassphrase, c"AIOLI_STATUS_WRONG_PASSPHRASE"),
    (AioliStatus::Finished, c"AIOLI_STATUS_FINISHED"),
    (AioliStatus::Internal, c"AIOLI_STATUS_INTERNAL"),
];

const _: () = {
    let mut i = 0;
    while i < NAMES.len() {
        assert!(NAMES[i].0 as usize == i, "the names stand in the order of the numbers");
        i += 1;
    }
};
