//! Every operation on threads with little stack. The promise is 512 KiB; the tests use 128 KiB in
//! release builds, so that growth shows before it hurts.

use aioli::backend::BackendKind;
use aioli::{Algorithm, MessageDigest, ParameterSet, SigningKey, hazmat, with_set};

/// Bytes of stack. A release build needs far less; an unoptimized one holds every temporary at once.
const STACK: usize = if cfg!(debug_assertions) { 512 << 10 } else { 128 << 10 };

fn every_operation<P: ParameterSet>(kind: BackendKind) {
    let seed = vec![5; P::SECRET_KEY_BYTES];
    let key = SigningKey::<P>::try_from(&seed[..]).unwrap();
    let digest = MessageDigest::of(b"little stack");
    let randomizer = vec![6; P::SALT_BYTES];

    let public_key = hazmat::verifying_key(kind, &key);
    let signature = hazmat::sign(kind, &key, &digest, &randomizer).unwrap();
    hazmat::verify(kind, &public_key, &digest, &signature).unwrap();

    let (expanded, expanded_public) =
        (hazmat::expand_signing_key(kind, &key), hazmat::expand_verifying_key(kind, &public_key));
    assert_eq!(hazmat::sign_expanded(kind, &expanded, &digest, &randomizer).unwrap(), signature);
    hazmat::verify_expanded(kind, &expanded_public, &digest, &signature).unwrap();
}

#[test]
fn every_operation_runs_on_a_small_stack() {
    for kind in BackendKind::available() {
        for algorithm in Algorithm::ALL {
            let thread = std::thread::Builder::new().name(format!("{algorithm} on {kind}")).stack_size(STACK);
            thread.spawn(move || with_set!(algorithm, P => every_operation::<P>(kind))).unwrap().join().unwrap();
        }
    }
}
