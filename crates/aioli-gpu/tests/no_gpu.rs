//! Opening a GPU without CUDA explains itself, and a GPU, if there is one, agrees with the library.

use aioli::{Algorithm, MessageDigest, ParameterSet, Signature, SigningKey, with_set};
use aioli_gpu::{Error, Gpu, Item, SigningItem};
use std::io::Write;

#[test]
fn opening_never_panics_and_says_what_is_missing() {
    match Gpu::open() {
        Ok(gpu) => assert!(!gpu.name().unwrap().is_empty()),
        Err(error @ (Error::NoLibrary { .. } | Error::NoDevice)) => {
            println!("no GPU here: {error}");
            assert!(error.to_string().starts_with("no NVIDIA GPU can be used here"), "{error}");
        }
        Err(error) => panic!("a driver that fails: {error}"),
    }
}

#[test]
fn a_gpu_agrees_with_the_library() {
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(error) => {
            // Written to standard error itself, because the test runner captures what is printed.
            writeln!(std::io::stderr(), "SKIPPED a_gpu_agrees_with_the_library: {error}").unwrap();
            return;
        }
    };
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => agrees::<P>(&gpu));
    }
}

fn agrees<P: ParameterSet>(gpu: &Gpu) {
    let count = 1000;
    let keys = gpu.keygen_batch::<P>(count).unwrap();
    assert!(keys.iter().all(|(key, public_key)| key.verifying_key() == *public_key), "keys of {}", P::ALGORITHM);
    let digests: Vec<MessageDigest<P>> = (0..count).map(|i| MessageDigest::of(&i.to_le_bytes())).collect();
    let to_sign: Vec<SigningItem<'_, P>> =
        keys.iter().zip(&digests).map(|((key, _), digest)| SigningItem { key, digest }).collect();
    let zeros = vec![0; count * P::SALT_BYTES];
    let signatures = gpu.sign_batch_with(&to_sign, &zeros).unwrap();
    let signatures: Vec<Signature<P>> = signatures.into_iter().collect::<Result<_, _>>().unwrap();
    let deterministic = |key: &SigningKey<P>, i: usize| key.sign_deterministic(&i.to_le_bytes()).unwrap();
    for (i, ((key, _), signature)) in keys.iter().zip(&signatures).enumerate() {
        assert!(*signature == deterministic(key, i), "signature {i} of {}", P::ALGORITHM);
    }
    // Every second item has a wrong digest. After that, all items have the first key, which is
    // expanded.
    let item = |key: usize, digest: usize, signature: usize| Item {
        key: &keys[key].1,
        digest: &digests[digest],
        signature: &signatures[signature],
    };
    let items: Vec<_> = (0..count).map(|i| item(i, i & !1, i)).chain((0..count).map(|i| item(0, 0, i))).collect();
    let verdicts = gpu.verify_batch(&items).unwrap();
    for (i, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict.is_ok(), if i < count { i % 2 == 0 } else { i == count }, "item {i} of {}", P::ALGORITHM);
    }
}
