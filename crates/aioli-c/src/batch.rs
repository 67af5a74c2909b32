//! Many verifications at once.

use crate::algorithm::set;
use crate::edge::{self, guarded};
use crate::status::{AioliStatus, Failure};
use aioli::batch::{Row, verify_grouped};
use aioli::{Algorithm, ParameterSet, VerifyingKey, with_set};
use std::collections::HashMap;

/// A signature to verify, with its message and key.
#[derive(Debug)]
#[repr(C)]
pub struct AioliItem {
    /// The set, such as AIOLI_MAYO2.
    pub algorithm: u32,
    /// The public key.
    pub public_key: *const u8,
    /// Its length in bytes.
    pub public_key_length: usize,
    /// The message.
    pub message: *const u8,
    /// Its length in bytes.
    pub message_length: usize,
    /// The signature.
    pub signature: *const u8,
    /// Its length in bytes.
    pub signature_length: usize,
}

/// Verifies many signatures on all cores, and writes for each the status that aioli_verify() would
/// return. Items with one key share its expansion, whatever their order. Returns AIOLI_STATUS_OK if
/// all are valid, AIOLI_STATUS_INVALID_SIGNATURE if some are not; any other status means that
/// nothing was verified and nothing written.
///
/// # Safety
///
/// `items` points to `count` items whose pointers are inputs, and `results` to as many statuses
/// that may be written; both may be NULL if the count is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aioli_verify_batch(
    items: *const AioliItem,
    count: usize,
    results: *mut AioliStatus,
) -> AioliStatus {
    guarded(|| {
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the caller promises that the first result may be written.
        unsafe { edge::place("results", results) }?;
        // SAFETY: the caller promises the first item, or NULL, which is refused here.
        unsafe { edge::object("items", items) }?;
        // SAFETY: it is not NULL, and the caller promises this many items.
        let items = unsafe { std::slice::from_raw_parts(items, count) };
        let mut statuses = vec![AioliStatus::Internal; count];
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); Algorithm::ALL.len()];
        for (i, item) in items.iter().enumerate() {
            match set(item.algorithm) {
                Ok(algorithm) => sets[algorithm as usize].push(i),
                Err(failure) => statuses[i] = failure.status,
            }
        }
        for (algorithm, members) in Algorithm::ALL.into_iter().zip(&sets) {
            // SAFETY: the caller promises inputs.
            with_set!(algorithm, P => unsafe { verify::<P>(items, members, &mut statuses) });
        }
        // SAFETY: the caller promises room for this many, and `statuses` is ours.
        unsafe { std::ptr::copy_nonoverlapping(statuses.as_ptr(), results, count) };
        let bad = statuses.iter().filter(|&&status| status != AioliStatus::Ok).count();
        if bad == 0 {
            return Ok(());
        }
        Err(Failure::new(AioliStatus::InvalidSignature, format!("{bad} of {count} signatures are not valid")))
    })
}

/// Verifies the items at `members`, which are of one set.
///
/// # Safety
///
/// The pointers of the items are inputs.
unsafe fn verify<P: ParameterSet>(items: &[AioliItem], members: &[usize], statuses: &mut [AioliStatus]) {
    let (mut keys, mut known) = (Vec::<VerifyingKey<P>>::new(), HashMap::new());
    let mut row = |item: &AioliItem| {
        // SAFETY: the caller promises an input.
        let key = unsafe { edge::input("public_key", item.public_key, item.public_key_length) }?;
        // SAFETY: the caller promises an input.
        let message = unsafe { edge::input("message", item.message, item.message_length) }?;
        // SAFETY: the caller promises an input.
        let signature = unsafe { edge::input("signature", item.signature, item.signature_length) }?;
        if !known.contains_key(key) {
            keys.push(VerifyingKey::try_from(key)?);
            known.insert(key, keys.len() - 1);
        }
        Ok::<_, Failure>(Row { key: known[key], message, signature })
    };
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    for &i in members {
        match row(&items[i]) {
            Ok(row) => {
                rows.push(row);
                places.push(i);
            }
            Err(failure) => statuses[i] = failure.status,
        }
    }
    for (i, result) in places.into_iter().zip(verify_grouped(&keys, &rows)) {
        statuses[i] = result.map_or_else(|error| Failure::from(error).status, |()| AioliStatus::Ok);
    }
}
