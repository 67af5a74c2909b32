//! Runs each operation once between calls of [`begin`] and [`end`], which appear in QEMU's log of
//! executed blocks.
//!
//! `count-driver SET` prints the numbers of two keys for which the first vinegar sample succeeds,
//! and `count-driver BACKEND SET NUMBER` takes one of them and prints the names of the operations
//! in the order of the marks. Each operation has run before, so that neither the allocation of the
//! memory that stays with the thread nor the detection of instructions is counted. The message is
//! hashed outside of the marks. The last operation is a planted leak: its instructions depend on
//! the key.

use aioli::backend::{BackendKind, DetectedBackend};
use aioli::params::ByteArray;
use aioli::{Algorithm, MessageDigest, ParameterSet, SigningKey, hazmat};
use std::hint::black_box;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let set = |name: &String| -> Algorithm { name.parse().expect("name of a set") };
    match arguments.as_slice() {
        [name] => aioli::with_set!(set(name), P => print_keys::<P>()),
        [kind, name, number] => {
            let kind: BackendKind = kind.parse().expect("name of a backend");
            let backend = kind.detect().expect("a backend of this processor");
            let number = number.parse().expect("number of a key");
            aioli::with_set!(set(name), P => run::<P>(backend, number));
        }
        _ => panic!("usage: count-driver SET, or count-driver BACKEND SET NUMBER"),
    }
}

/// Prints the numbers of two keys for which the first vinegar sample succeeds.
fn print_keys<P: ParameterSet>() {
    let (digest, randomizer) = message::<P>();
    let one_sample = |&number: &u8| {
        let portable = aioli::backend::Portable::new();
        hazmat::on::sign(portable, &key(number), &digest, &randomizer.as_ref()[..P::SALT_BYTES], 1).is_ok()
    };
    (0..=255).filter(one_sample).take(2).for_each(|number| println!("{number}"));
}

fn run<P: ParameterSet>(backend: DetectedBackend, number: u8) {
    let (digest, randomizer) = message::<P>();
    let randomizer = &randomizer.as_ref()[..P::SALT_BYTES];
    let key = &key::<P>(number);
    let expanded = hazmat::expand_signing_key(backend, key);
    let public = hazmat::verifying_key(backend, key);
    let expanded_public = hazmat::expand_verifying_key(backend, &public);
    let signature = hazmat::sign(backend, key, &digest, randomizer).expect("a signature");

    count("keygen", || hazmat::verifying_key(backend, key));
    count("expand_sk", || hazmat::expand_signing_key(backend, key));
    count("expand_pk", || hazmat::expand_verifying_key(backend, &public));
    count("sign", || hazmat::sign(backend, key, &digest, randomizer).expect("a signature"));
    count("sign_expanded", || hazmat::sign_expanded(backend, &expanded, &digest, randomizer).expect("a signature"));
    count("verify", || hazmat::verify(backend, &public, &digest, &signature).expect("a valid signature"));
    count("verify_expanded", || {
        hazmat::verify_expanded(backend, &expanded_public, &digest, &signature).expect("a valid signature");
    });
    count("planted leak", || key.as_ref().iter().filter(|&&byte| black_box(byte) & 1 == 1).for_each(leak));
}

/// The digest to sign, and zeros, the first of which are the randomizer.
fn message<P: ParameterSet>() -> (MessageDigest<P>, P::DigestBytes) {
    (MessageDigest::of(b"the same message for all backends"), P::DigestBytes::ZERO)
}

/// A function that is called or not, by a bit of the key.
#[inline(never)]
fn leak(byte: &u8) {
    black_box(byte);
}

/// Names an operation, runs it to warm up, and once more between the marks.
fn count<T>(operation: &str, mut run: impl FnMut() -> T) {
    println!("{operation}");
    drop(black_box(run()));
    begin();
    let result = black_box(run());
    end();
    drop(result);
}

/// The mark before an operation. The log is searched for its symbol.
#[inline(never)]
fn begin() {
    black_box(0);
}

/// The mark after it. Its code differs, since the compiler would merge two equal functions.
#[inline(never)]
fn end() {
    black_box(1);
}

/// Different secret keys for different numbers.
fn key<P: ParameterSet>(number: u8) -> SigningKey<P> {
    let mut seed = P::SecretKeyBytes::ZERO;
    for (i, byte) in seed.as_mut().iter_mut().enumerate() {
        *byte = (i as u8).wrapping_mul(29).wrapping_add(number.wrapping_mul(83));
    }
    SigningKey::from_seed(seed)
}
