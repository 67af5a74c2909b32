//! Every operation on threads with little stack. The promise is 512 KiB; the tests use 128 KiB in
//! release builds, so that growth shows before it hurts.

use aioli::backend::DetectedBackend;
use aioli::{Algorithm, MessageDigest, ParameterSet, SigningKey, hazmat, with_set};

/// Bytes of stack. A release build needs far less; an unoptimized one holds every temporary at
/// once.
const STACK: usize = if cfg!(debug_assertions) { 512 << 10 } else { 128 << 10 };

fn every_operation<P: ParameterSet>(backend: DetectedBackend) {
    let seed = vec![5; P::SECRET_KEY_BYTES];
    let key = SigningKey::<P>::try_from(&seed[..]).unwrap();
    let digest = MessageDigest::of(b"little stack");
    let randomizer = vec![6; P::SALT_BYTES];

    let public_key = hazmat::verifying_key(backend, &key);
    let signature = hazmat::sign(backend, &key, &digest, &randomizer).unwrap();
    hazmat::verify(backend, &public_key, &digest, &signature).unwrap();

    let expanded = hazmat::expand_signing_key(backend, &key);
    let expanded_public = hazmat::expand_verifying_key(backend, &public_key);
    assert_eq!(hazmat::sign_expanded(backend, &expanded, &digest, &randomizer).unwrap(), signature);
    hazmat::verify_expanded(backend, &expanded_public, &digest, &signature).unwrap();
}

#[test]
fn every_operation_runs_on_a_small_stack() {
    for backend in DetectedBackend::all() {
        for algorithm in Algorithm::ALL {
            let thread = std::thread::Builder::new().name(format!("{algorithm} on {backend}")).stack_size(STACK);
            thread.spawn(move || with_set!(algorithm, P => every_operation::<P>(backend))).unwrap().join().unwrap();
        }
    }
}
