//! Verifying a batch takes memory by the number of threads, not by the number of keys.
//!
//! The allocator of this binary counts the bytes in use.
#![cfg(feature = "rayon")]
#![allow(unsafe_code, reason = "a global allocator can be written in no other way")]

use aioli::batch::{Item, Row, verify_batch, verify_grouped};
use aioli::round3::Mayo1 as P;
use aioli::{Error, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counter;

#[global_allocator]
static COUNTER: Counter = Counter;

// SAFETY: all blocks come from the system's allocator and go back to it with their own layout.
// `realloc` is the trait's default (a new block, a copy, `dealloc`), so it is counted too.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller promises what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the block came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The result of `f`, and the most bytes that it had in use beside those before.
fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = f();
    (result, PEAK.load(Ordering::Relaxed) - before)
}

const KEYS: u16 = 300;
/// Results, the order of the items, and what rayon keeps of them: far below the 155,200 bytes of an
/// expanded key.
const BYTES_OF_AN_ITEM: usize = 512;

struct Signed {
    key: VerifyingKey<P>,
    message: [u8; 2],
    signature: Signature<P>,
}

/// The only test of this binary: a second one would allocate at the same time.
#[test]
fn the_peak_of_a_batch_follows_from_the_threads() {
    let signed: Vec<Signed> = (0..KEYS)
        .map(|i| {
            let mut seed = [0; P::SECRET_KEY_BYTES];
            let message = i.to_le_bytes();
            seed[..2].copy_from_slice(&message);
            let key = SigningKey::<P>::from_seed(seed);
            Signed { key: key.verifying_key(), message, signature: key.sign_deterministic(&message).unwrap() }
        })
        .collect();
    let item = |signed: &'static Signed| Item::<P> {
        key: &signed.key,
        message: &signed.message,
        signature: signed.signature.as_ref(),
    };
    let row = |key, item: &Item<'static, P>| Row { key, message: item.message, signature: item.signature };
    let signed: &'static [Signed] = signed.leak();
    // Each key twice, the uses far apart, and one key with as many items again.
    let twice: Vec<Item<'_, P>> = signed.iter().chain(signed).map(item).collect();
    let one_key: Vec<Item<'_, P>> = twice.iter().map(|_| item(&signed[0])).collect();
    // The first list by the indices of its keys.
    let by_index: Vec<Row<'_>> = (0..).zip(&twice).map(|(i, item)| row(i % signed.len(), item)).collect();
    let keys: Vec<&VerifyingKey<P>> = signed.iter().map(|signed| &signed.key).collect();
    let too_short: Vec<Item<'_, P>> =
        twice.iter().map(|item| Item { signature: &item.signature[1..], ..*item }).collect();
    let given = P::SIGNATURE_BYTES - 1;
    let length = Error::Length { what: "signature", algorithm: P::ALGORITHM, expected: P::SIGNATURE_BYTES, given };

    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // All threads allocate their working memory, which stays with them.
        let digest = MessageDigest::of(&signed[0].message);
        pool.broadcast(|_| signed[0].key.verify_digest(&digest, &signed[0].signature).unwrap());

        let items = twice.len() * BYTES_OF_AN_ITEM;
        // An expanded key for each thread.
        let bound = items + threads * P::P_BYTES;
        assert!(bound < usize::from(KEYS) * P::P_BYTES / 10, "the bound tells threads from keys");
        for items in [&twice, &one_key] {
            let (results, peak) = peak_of(|| pool.install(|| verify_batch(items)));
            assert!(results.iter().all(|result| *result == Ok(())));
            assert!(peak <= bound, "{peak} bytes with {threads} threads, at most {bound} expected");
        }
        let (results, peak) = peak_of(|| pool.install(|| verify_grouped(&keys, &by_index)));
        assert!(results.iter().all(|result| *result == Ok(())));
        assert!(peak <= bound, "{peak} bytes by indices with {threads} threads, at most {bound} expected");
        let (results, peak) = peak_of(|| pool.install(|| verify_batch(&too_short)));
        assert!(results.iter().all(|result| *result == Err(length)));
        assert!(peak < items.min(P::P_BYTES), "{peak} bytes for items that cannot be valid");
    }
}
