//! Freed memory holds no secrets.
//!
//! The allocator of this binary searches every freed block for secrets: the seed, O in its two
//! forms, an m-vector of Q, and the first vinegar vector in its two forms. It cannot see the stack.
#![allow(unsafe_code, reason = "a global allocator can be written in no other way")]

use aioli::backend::{Backend, DetectedBackend, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::{Algorithm, MessageDigest, ParameterSet, SigningKey, any, hazmat, with_set};
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};

const SECRETS: [&str; 6] = ["seed", "packed O", "O", "Q", "packed v", "v"];

/// The first bytes of each of the [`SECRETS`]; zero while none is sought. A static array, because
/// writing it must not allocate.
static PATTERNS: RwLock<[u128; SECRETS.len()]> = RwLock::new([0; SECRETS.len()]);
/// One bit for each of the [`SECRETS`], set if it was seen in a freed block.
static SEEN: AtomicU32 = AtomicU32::new(0);

struct Scanner;

#[global_allocator]
static SCANNER: Scanner = Scanner;

// SAFETY: all blocks come from the system's allocator and go back to it with their own layout.
// `realloc` is the trait's default (a new block, a copy, `dealloc`), so the old block is searched
// too.
unsafe impl GlobalAlloc for Scanner {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what `System` requires. The block is zeroed, so that
        // `dealloc` may read every byte of it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block is `layout.size()` bytes long, initialized by `alloc`, and from here on
        // nobody else uses it.
        look_through(unsafe { std::slice::from_raw_parts(block, layout.size()) });
        // SAFETY: the block came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

fn look_through(block: &[u8]) {
    let patterns = *PATTERNS.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    if patterns == [0; SECRETS.len()] {
        return;
    }
    for window in block.windows(16) {
        let window = u128::from_le_bytes(window.try_into().expect("16 bytes"));
        for (i, &pattern) in patterns.iter().enumerate() {
            if window == pattern && pattern != 0 {
                SEEN.fetch_or(1 << i, Ordering::Relaxed);
            }
        }
    }
}

/// The secrets seen in blocks that were freed during `f`.
fn seen_during(patterns: [u128; SECRETS.len()], f: impl FnOnce()) -> Vec<&'static str> {
    SEEN.store(0, Ordering::Relaxed);
    *PATTERNS.write().unwrap() = patterns;
    f();
    *PATTERNS.write().unwrap() = [0; SECRETS.len()];
    let seen = SEEN.load(Ordering::Relaxed);
    (SECRETS.into_iter().enumerate()).filter(|(i, _)| seen >> i & 1 == 1).map(|(_, secret)| secret).collect()
}

fn pattern(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(*bytes.first_chunk().expect("16 bytes"))
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect()
}

fn shake256(parts: &[&[u8]], length: usize) -> Vec<u8> {
    let mut hasher = Shake256::default();
    parts.iter().for_each(|part| hasher.update(part));
    let mut bytes = vec![0; length];
    hasher.finalize_xof().read(&mut bytes);
    bytes
}

/// The randomizer of deterministic signatures, with which `hazmat` makes the same signatures as
/// `sign_deterministic`.
fn deterministic_randomizer<P: ParameterSet>(seed: &[u8]) -> Vec<u8> {
    let mut randomizer = vec![0; P::SALT_BYTES];
    let seed = P::SecretKeyBytes::try_from(seed).ok().expect("the right length");
    hazmat::derive_randomizer::<P>(&seed, &[], &mut randomizer).unwrap();
    randomizer
}

/// The secrets of a key and of its deterministic signature of `message`.
fn secrets_of<P: ParameterSet>(seed: &[u8], message: &[u8]) -> [u128; SECRETS.len()] {
    let packed = shake256(&[seed], 16 + P::O_BYTES);
    let (seed_pk, packed_oil) = packed.split_first_chunk().unwrap();
    let oil = unpacked(packed_oil);

    // The first m-vector of the last row of Q = P2 + (O^T P1)' needs one entry of each row of P1.
    let b = Portable::new();
    let mut p = vec![0; P::P_BYTES];
    b.aes128_ctr(seed_pk, &[0; 16], 0, &mut p);
    let (p1, p2) = p.split_at(P::P1_BYTES);
    let row_bytes = P::V * P::M_BYTES;
    let mut oil_p1 = vec![0; row_bytes];
    let first_column = Coefficients::new(&oil[..P::V * P::O], P::O, 1);
    b.left_product(
        first_column,
        Operand::upper(p1, P::V, row_bytes, P::M_BYTES),
        Output::replace(&mut oil_p1, row_bytes),
    );
    let last_row_of_p2 = &p2[(P::V - 1) * P::O * P::M_BYTES..];
    let q: Vec<u8> = oil_p1[row_bytes - P::M_BYTES..].iter().zip(last_row_of_p2).map(|(a, b)| a ^ b).collect();

    let digest = MessageDigest::<P>::of(message);
    let salt = shake256(&[digest.as_ref(), &deterministic_randomizer::<P>(seed), seed], P::SALT_BYTES);
    let vinegar = shake256(&[digest.as_ref(), &salt, seed, &[0]], P::V_BYTES);
    [seed, packed_oil, &oil, &q, &vinegar, &unpacked(&vinegar)].map(pattern)
}

fn nothing_secret_is_given_back<P: ParameterSet>(backend: DetectedBackend) {
    let seed = shake256(&[P::ALGORITHM.name().as_bytes()], P::SECRET_KEY_BYTES);
    let seed = P::SecretKeyBytes::try_from(&seed[..]).ok().expect("the right length");
    let message = b"a message";
    let patterns = secrets_of::<P>(seed.as_ref(), message);

    let operations = |leak: fn(&SigningKey<P>)| {
        // Runs in a thread of its own, whose scratch memory is freed when the thread ends.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let digest = MessageDigest::of(message);
                let randomizer = deterministic_randomizer::<P>(seed.as_ref());
                let key = Box::new(SigningKey::<P>::from_seed(seed));
                let public_key = hazmat::verifying_key(backend, &key);
                let signature = hazmat::sign(backend, &key, &digest, &randomizer).unwrap();
                let expanded = hazmat::expand_signing_key(backend, &key);
                let copy = expanded.clone();
                assert_eq!(hazmat::sign_expanded(backend, &copy, &digest, &randomizer), Ok(signature));
                hazmat::verify(backend, &public_key, &digest, &signature).unwrap();

                let erased = any::SigningKey::from_bytes(P::ALGORITHM, key.as_seed().as_ref()).unwrap();
                assert_eq!(erased.sign_deterministic(message).unwrap().as_bytes(), signature.as_ref());
                drop(erased.expand());
                leak(&key);
            });
        });
    };
    let context = format!("{} on {backend}", P::ALGORITHM);
    assert_eq!(seen_during(patterns, || operations(|_| ())), [""; 0], "{context}");

    // Planted leaks are seen.
    let seen = seen_during(patterns, || operations(|key| drop(key.as_ref().to_vec())));
    assert_eq!(seen, ["seed"], "{context}: a planted copy of the seed");
    for (i, pattern) in patterns.into_iter().enumerate() {
        let seen = seen_during(patterns, || drop([&[1; 7][..], &pattern.to_le_bytes(), &[2; 9]].concat()));
        assert_eq!(seen, [SECRETS[i]], "{context}: planted");
    }
}

/// The only test of this binary: a second one would free blocks of its own at the same time.
#[test]
fn nothing_secret_is_given_back_to_the_allocator() {
    for backend in DetectedBackend::all() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => nothing_secret_is_given_back::<P>(backend));
        }
    }
}
