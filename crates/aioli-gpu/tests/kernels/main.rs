//! The kernels, run on the CPU under sanitizers, give the bytes of the library.
//!
//! The tests need a C++ compiler (`CXX`, g++ or clang++) with its sanitizers. Without one, each
//! test says that it checked nothing. Batches are cut into small chunks, for two multiprocessors,
//! so that they take every path.

mod emulated;

use aioli::backend::DetectedBackend;
use aioli::{MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat, round2, round3};
use aioli_gpu::emulation::Engine;
use aioli_gpu::{Error, Item, SigningItem};
use emulated::{Emulated, build, compiler, supports};
use std::io::Write;
use std::path::PathBuf;

/// Builds the kernels of a set from their edited source, or says why this test checks nothing.
fn program<P: ParameterSet>(
    test: &str,
    flags: &[&str],
    shared_bytes: u32,
    edit: impl FnOnce(String) -> String,
) -> Option<PathBuf> {
    let Some(compiler) = compiler() else {
        skipped(&format!("{test} of {}: no C++ compiler (g++ or clang++)", P::ALGORITHM));
        return None;
    };
    if !supports::<P>(&compiler, test, flags) {
        skipped(&format!("{test} of {}: {} does not know {flags:?}", P::ALGORITHM, compiler.display()));
        return None;
    }
    Some(
        build::<P>(&compiler, test, flags, shared_bytes, edit)
            .unwrap_or_else(|log| panic!("the kernels do not compile:\n{log}")),
    )
}

/// Names what was not checked, on standard error itself, because the test runner captures what is
/// printed.
fn skipped(what: &str) {
    writeln!(std::io::stderr(), "SKIPPED {what}").expect("standard error");
}

/// Plants an error: replaces a piece of the source, which must occur.
fn planted(source: String, from: &str, to: &str) -> String {
    assert!(source.contains(from), "the place of the planted error: {from}");
    source.replacen(from, to, 1)
}

/// Keys, digests and randomizers, and the results of the library for them.
struct Expected<P: ParameterSet> {
    keys: Vec<SigningKey<P>>,
    public_keys: Vec<VerifyingKey<P>>,
    digests: Vec<MessageDigest<P>>,
    randomizers: Vec<u8>,
    signatures: Vec<Signature<P>>,
}

impl<P: ParameterSet> Expected<P> {
    fn new(count: usize) -> Self {
        let kind = DetectedBackend::best();
        let seed = |i: usize| (0..P::SECRET_KEY_BYTES).map(|j| (i * 29 + j * 7 + j * j) as u8).collect::<Vec<u8>>();
        let keys: Vec<_> = (0..count).map(|i| SigningKey::<P>::try_from(&seed(i)[..]).unwrap()).collect();
        let digests: Vec<_> = (0..count).map(|i| MessageDigest::of(&[i as u8; 5])).collect();
        let randomizers: Vec<u8> = (0..count * P::SALT_BYTES).map(|i| (i * 11 + 3) as u8).collect();
        let signatures = keys.iter().zip(&digests).zip(randomizers.chunks_exact(P::SALT_BYTES));
        let signatures = signatures.map(|((key, digest), randomizer)| hazmat::sign(kind, key, digest, randomizer));
        Self {
            public_keys: keys.iter().map(|key| hazmat::verifying_key(kind, key)).collect(),
            signatures: signatures.collect::<Result<_, _>>().unwrap(),
            keys,
            digests,
            randomizers,
        }
    }

    fn keygen(&self, device: &Emulated) -> Result<(), Error> {
        let public_keys = engine(device).verifying_keys(&self.keys)?;
        assert!(public_keys == self.public_keys, "public keys of {}", P::ALGORITHM);
        Ok(())
    }

    fn sign(&self, device: &Emulated) -> Result<(), Error> {
        let items = self.keys.iter().zip(&self.digests).map(|(key, digest)| SigningItem { key, digest });
        let signatures = engine(device).sign_batch_with(&items.collect::<Vec<_>>(), &self.randomizers)?;
        for (i, (signature, expected)) in signatures.iter().zip(&self.signatures).enumerate() {
            assert!(signature.as_ref() == Ok(expected), "signature {i} of {}", P::ALGORITHM);
        }
        assert_eq!(signatures.len(), self.signatures.len());
        Ok(())
    }

    /// Verifies good and bad signatures, each with its own key, and then enough of them under the
    /// first key that this key is expanded.
    fn verify(&self, device: &Emulated) -> Result<(), Error> {
        let packed = P::SIGNATURE_BYTES - P::SALT_BYTES;
        // Flips a bit of the vectors, from the first byte to the last, or of the salt.
        let flipped = |i: usize, signature: &Signature<P>| {
            let mut bytes = signature.as_ref().to_vec();
            let at = [0, packed - 1, packed, packed / 2, P::SIGNATURE_BYTES - 1][i % 5];
            bytes[at] ^= 1 << (i % 8);
            Signature::<P>::try_from(&bytes[..]).unwrap()
        };
        let bad: Vec<_> = self.signatures.iter().enumerate().map(|(i, signature)| flipped(i, signature)).collect();
        let bad_of_first: Vec<_> = (0..SHARED).map(|i| flipped(i, &self.signatures[0])).collect();
        let item = |key: usize, digest: usize, signature| Item {
            key: &self.public_keys[key],
            digest: &self.digests[digest],
            signature,
        };
        let mut items = Vec::new();
        let mut valid = Vec::new();
        for (i, (signature, bad)) in self.signatures.iter().zip(&bad).enumerate() {
            let other = (i + 1) % self.keys.len();
            items.extend([
                item(i, i, signature),
                item(i, i, bad),
                item(other, i, signature),
                item(i, other, signature),
            ]);
            valid.extend([true, false, false, false]);
        }
        for signature in &bad_of_first {
            items.extend([item(0, 0, signature), item(0, 0, &self.signatures[0])]);
            valid.extend([false, true]);
        }
        let verdicts = engine(device).verify_batch(&items)?;
        let verdicts: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
        assert_eq!(verdicts, valid, "signatures of {}", P::ALGORITHM);
        Ok(())
    }
}

fn engine<P: ParameterSet>(device: &Emulated) -> Engine<P, &Emulated> {
    Engine::new(device).with_chunk(3)
}

/// Compares all operations of a set with the library.
fn agrees<P: ParameterSet>(count: usize, shared_bytes: u32) {
    let Some(program) = program::<P>("agrees", SANITIZED, shared_bytes, |source| source) else { return };
    let device = Emulated::start(&program, 1 << 30);
    let expected = Expected::<P>::new(count);
    let result = expected.keygen(&device).and_then(|()| expected.sign(&device)).and_then(|()| expected.verify(&device));
    result.unwrap_or_else(|error| panic!("{error}: {}", device.report()));
}

/// The smallest set.
type Small = round2::Mayo2;

#[test]
fn threads_do_not_race_and_a_missing_barrier_is_caught() {
    let expected = Expected::<Small>::new(2);
    let control = program::<Small>("race-control", THREADS, SMALL, |source| source);
    let race = program::<Small>("race", THREADS, SMALL, |source| {
        // Takes out the barrier between filling a buffer and using it.
        planted(source, "        __syncthreads();\n        int base = 0;", "        int base = 0;")
    });
    let (Some(control), Some(race)) = (control, race) else { return };
    let device = Emulated::start(&control, 1 << 30);
    let result = expected.keygen(&device).and_then(|()| expected.sign(&device)).and_then(|()| expected.verify(&device));
    result.unwrap_or_else(|error| panic!("{error}: {}", device.report()));
    let device = Emulated::start(&race, 1 << 30);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| expected.keygen(&device)));
    let report = device.report();
    assert!(report.contains("data race"), "the race was not reported; the batch: {caught:?}; {report}");
}

#[test]
fn an_access_beyond_shared_memory_is_caught() {
    let Some(program) = program::<Small>("overrun", SANITIZED, SMALL, |source| {
        planted(source, "rows + i * P::STAGE_STRIDE + thread", "rows + (i + 1) * P::STAGE_STRIDE + thread")
    }) else {
        return;
    };
    let device = Emulated::start(&program, 1 << 30);
    let result = Expected::<Small>::new(1).keygen(&device);
    let report = device.report();
    assert!(result.is_err() && report.contains("heap-buffer-overflow"), "{result:?}: {report}");
}

#[test]
fn bounded_memory_makes_smaller_chunks() {
    let Some(program) = program::<Small>("bounded", SANITIZED, SMALL, |source| source) else { return };
    // Each lane has room for one signature.
    let device = Emulated::start(&program, 60_000);
    let expected = Expected::<Small>::new(3);
    let items = expected.keys.iter().zip(&expected.digests).map(|(key, digest)| SigningItem { key, digest });
    let engine = Engine::<Small, _>::new(&device);
    let signatures = engine.sign_batch_with(&items.collect::<Vec<_>>(), &expected.randomizers).unwrap();
    assert!(
        signatures.iter().zip(&expected.signatures).all(|(signature, expected)| signature.as_ref() == Ok(expected))
    );
    assert_eq!(engine.verifying_keys(&[]).unwrap(), []);
    let key = SigningKey::from_seed([1; Small::SECRET_KEY_BYTES]);
    let item = SigningItem { key: &key, digest: &MessageDigest::of(b"") };
    let error = Error::Randomizers { expected: Small::SALT_BYTES, given: 1 };
    assert_eq!(engine.sign_batch_with(&[item], &[0]).unwrap_err(), error);
}

/// Pairs of items under one key, enough that the key is expanded.
const SHARED: usize = 10;
/// Bytes of shared memory of a block on a consumer's GPU, where one AES table fits.
const SMALL: u32 = 101_376;
/// Bytes of shared memory of a block on an H200, where four AES tables fit, or two.
const LARGE: u32 = 232_448;
const SANITIZED: &[&str] = &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Flags for ThreadSanitizer. Each thread of a block is a thread of the operating system, so that
/// two accesses without a barrier between them race.
const THREADS: &[&str] = &["-O1", "-DSHIM_THREADS", "-fsanitize=thread"];

macro_rules! sets {
    ($($name:ident: $round:ident, $set:ident, $count:literal, $shared:ident;)*) => {$(
        #[test]
        fn $name() {
            agrees::<$round::$set>($count, $shared);
        }
    )*};
}

sets! {
    round3_mayo1: round3, Mayo1, 8, LARGE;
    round3_mayo2: round3, Mayo2, 8, SMALL;
    round3_mayo3: round3, Mayo3, 4, LARGE;
    round3_mayo5: round3, Mayo5, 4, LARGE;
    round2_mayo1: round2, Mayo1, 8, SMALL;
    round2_mayo2: round2, Mayo2, 8, SMALL;
    round2_mayo3: round2, Mayo3, 4, SMALL;
    round2_mayo5: round2, Mayo5, 4, SMALL;
}
