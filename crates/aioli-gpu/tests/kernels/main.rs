//! The kernels, run on the CPU under sanitizers, give the bytes of the library.
//!
//! Needs a C++ compiler (`CXX`, g++ or clang++) with its sanitizers; where there is none, each test says that it checked
//! nothing. The batches are cut into chunks so small, for two multiprocessors, that every path of them is taken.

mod emulated;

use aioli::backend::Kind;
use aioli::{MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat, round2, round3};
use aioli_gpu::emulation::Engine;
use aioli_gpu::{Error, Signing, Verification};
use emulated::{Emulated, build, compiler};
use std::path::PathBuf;

/// Builds the kernels of a set, or says why this test checks nothing.
fn program<P: ParameterSet>(test: &str, flags: &[&str]) -> Option<PathBuf> {
    let Some(compiler) = compiler() else {
        println!("SKIPPED {test} of {}: no C++ compiler (g++ or clang++)", P::ALGORITHM);
        return None;
    };
    Some(build::<P>(&compiler, test, flags).unwrap_or_else(|log| panic!("the kernels do not compile:\n{log}")))
}

/// Keys, digests, randomizers and what the library makes of them.
struct Expected<P: ParameterSet> {
    keys: Vec<SigningKey<P>>,
    public_keys: Vec<VerifyingKey<P>>,
    digests: Vec<MessageDigest<P>>,
    randomizers: Vec<u8>,
    signatures: Vec<Signature<P>>,
}

impl<P: ParameterSet> Expected<P> {
    fn new(count: usize) -> Self {
        let kind = Kind::best();
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
        let public_keys = engine(device).keygen(&self.keys)?;
        assert!(public_keys == self.public_keys, "public keys of {}", P::ALGORITHM);
        Ok(())
    }

    fn sign(&self, device: &Emulated) -> Result<(), Error> {
        let items = self.keys.iter().zip(&self.digests).map(|(key, digest)| Signing { key, digest });
        let signatures = engine(device).sign(&items.collect::<Vec<_>>(), &self.randomizers)?;
        for (i, (signature, expected)) in signatures.iter().zip(&self.signatures).enumerate() {
            assert!(signature.as_ref() == Ok(expected), "signature {i} of {}", P::ALGORITHM);
        }
        assert_eq!(signatures.len(), self.signatures.len());
        Ok(())
    }

    /// Each under its key, and as many under the first key alone that it is expanded; of each signature a bad one too.
    fn verify(&self, device: &Emulated) -> Result<(), Error> {
        let packed = P::SIGNATURE_BYTES - P::SALT_BYTES;
        // A flipped bit in the vectors, from the first to the last, or in the salt.
        let flipped = |i: usize, signature: &Signature<P>| {
            let mut bytes = signature.as_ref().to_vec();
            let at = [0, packed - 1, packed, packed / 2, P::SIGNATURE_BYTES - 1][i % 5];
            bytes[at] ^= 1 << (i % 8);
            Signature::<P>::try_from(&bytes[..]).unwrap()
        };
        let bad: Vec<_> = self.signatures.iter().enumerate().map(|(i, signature)| flipped(i, signature)).collect();
        let one: Vec<_> = (0..SHARED).map(|i| flipped(i, &self.signatures[0])).collect();
        let item = |key: usize, digest: usize, signature| Verification {
            key: &self.public_keys[key],
            digest: &self.digests[digest],
            signature,
        };
        let (mut items, mut valid) = (Vec::new(), Vec::new());
        for i in 0..self.keys.len() {
            let other = (i + 1) % self.keys.len();
            items.extend([
                item(i, i, &self.signatures[i]),
                item(i, i, &bad[i]),
                item(other, i, &self.signatures[i]),
                item(i, other, &self.signatures[i]),
            ]);
            valid.extend([true, false, false, false]);
        }
        for signature in &one {
            items.extend([item(0, 0, signature), item(0, 0, &self.signatures[0])]);
            valid.extend([false, true]);
        }
        let verdicts = engine(device).verify(&items)?;
        let verdicts: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
        assert_eq!(verdicts, valid, "signatures of {}", P::ALGORITHM);
        Ok(())
    }
}

fn engine<P: ParameterSet>(device: &Emulated) -> Engine<P, &Emulated> {
    Engine::new(device).with_chunk(3)
}

/// All operations of a set.
fn agrees<P: ParameterSet>(count: usize) {
    let Some(program) = program::<P>("agrees", SANITIZED) else { return };
    let device = Emulated::start(&program, 1 << 30);
    let expected = Expected::<P>::new(count);
    let result = expected.keygen(&device).and_then(|()| expected.sign(&device)).and_then(|()| expected.verify(&device));
    result.unwrap_or_else(|error| panic!("{error}: {}", device.report()));
}

/// Items under one key, enough that it is expanded.
const SHARED: usize = 10;
const SANITIZED: &[&str] = &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

macro_rules! sets {
    ($($name:ident: $round:ident, $set:ident, $count:literal;)*) => {$(
        #[test]
        fn $name() {
            agrees::<$round::$set>($count);
        }
    )*};
}

sets! {
    round3_mayo1: round3, Mayo1, 8;
    round3_mayo2: round3, Mayo2, 8;
    round3_mayo3: round3, Mayo3, 4;
    round3_mayo5: round3, Mayo5, 4;
    round2_mayo1: round2, Mayo1, 8;
    round2_mayo2: round2, Mayo2, 8;
    round2_mayo3: round2, Mayo3, 4;
    round2_mayo5: round2, Mayo5, 4;
}
