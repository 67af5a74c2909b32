//! Messages that come in pieces.

use crate::algorithm::set;
use crate::edge::{self, Output, guarded};
use crate::status::{AioliStatus, Failure};
use aioli::any::MessageHasher;

/// Computes the digest of a message that comes in pieces, in constant memory.
#[derive(Clone, Debug)]
pub struct AioliHasher(Option<MessageHasher>);

/// Makes a hasher for messages to be signed or verified with a set.
///
/// # Safety
///
/// `hasher` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_hasher_new(algorithm: u32, hasher: *mut *mut AioliHasher) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("hasher", hasher) }?;
        edge::give(place, AioliHasher(Some(MessageHasher::new(set(algorithm)?))));
        Ok(())
    })
}

/// Makes a second hasher that has read the same pieces.
///
/// # Safety
///
/// `hasher` is a hasher, and `copy` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_hasher_copy(hasher: *const AioliHasher, copy: *mut *mut AioliHasher) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a hasher.
        let hasher = unsafe { edge::object("hasher", hasher) }?;
        // SAFETY: the caller promises that it may be written.
        let place = unsafe { edge::place("copy", copy) }?;
        edge::give(place, hasher.clone());
        Ok(())
    })
}

/// Reads the next piece.
///
/// # Safety
///
/// `hasher` is a hasher that no other thread uses, and `bytes` an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_hasher_update(hasher: *mut AioliHasher, bytes: *const u8, length: usize) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a hasher of its own.
        let hasher = unsafe { edge::object_mut("hasher", hasher) }?;
        // SAFETY: the caller promises an input.
        let bytes = unsafe { edge::input("bytes", bytes, length) }?;
        hasher.0.as_mut().ok_or_else(finished)?.update(bytes);
        Ok(())
    })
}

/// Writes the digest of all pieces, for aioli_sign_digest() and aioli_verify_digest(). Afterwards
/// the hasher can only be freed; after a failure it is as before.
///
/// # Safety
///
/// `hasher` is a hasher that no other thread uses; `digest` and `length` are an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_hasher_finish(
    hasher: *mut AioliHasher,
    digest: *mut u8,
    length: *mut usize,
) -> AioliStatus {
    guarded(|| {
        // SAFETY: the caller promises a hasher of its own.
        let hasher = unsafe { edge::object_mut("hasher", hasher) }?;
        // SAFETY: the caller promises an output.
        let output = unsafe { Output::new(digest, length) }?;
        let algorithm = hasher.0.as_ref().ok_or_else(finished)?.algorithm();
        output.demand(algorithm.digest_bytes())?;
        let reader = hasher.0.take().ok_or_else(finished)?;
        output.write(reader.finalize().as_bytes())
    })
}

/// Frees a hasher. NULL is allowed.
///
/// # Safety
///
/// `hasher` is NULL or a hasher, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_hasher_free(hasher: *mut AioliHasher) {
    // SAFETY: the caller promises the last use of a hasher.
    unsafe { edge::free(hasher) }
}

fn finished() -> Failure {
    Failure::new(AioliStatus::Finished, "the hasher has been finished")
}
