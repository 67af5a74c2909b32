//! liboqs, through the crate `oqs` (cargo feature `peers`).
//!
//! Building it needs cmake, libclang, OpenSSL's headers and a C compiler; clang makes the faster MAYO:
//! `CC=clang-19 CXX=clang++-19 LIBCLANG_PATH=/usr/lib/llvm-19/lib cargo build --release -p aioli-lab --features peers`.
//! It is built as its packagers build it: every code path compiled in and chosen when it runs, AES by OpenSSL.
//!
//! It has no expanded keys in its interface.
#![allow(unsafe_code, reason = "two functions of liboqs that the crate `oqs` does not wrap")]

use super::{Keypair, MESSAGE_BYTES, SIGNATURES, Scheme};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::Label;
use aioli::Algorithm;
use anyhow::{Context, Result};
use oqs::sig::Sig;
use oqs_sys::common::{OQS_CPU_EXT, OQS_CPU_has_extension};
use std::hint::black_box;
use std::rc::Rc;

/// The set, if liboqs has it: those of round 2.
pub(super) fn mayo(algorithm: Algorithm) -> Result<Option<Box<dyn Scheme>>> {
    use oqs::sig::Algorithm as Oqs;
    let oqs = match algorithm {
        Algorithm::Mayo1Round2 => Oqs::Mayo1,
        Algorithm::Mayo2Round2 => Oqs::Mayo2,
        Algorithm::Mayo3Round2 => Oqs::Mayo3,
        Algorithm::Mayo5Round2 => Oqs::Mayo5,
        _ => return Ok(None),
    };
    Ok(Some(scheme(oqs, algorithm.set_name(), Some(2))?))
}

/// Other signature schemes, for scale.
pub(super) fn others() -> Result<[Box<dyn Scheme>; 2]> {
    use oqs::sig::Algorithm as Oqs;
    Ok([scheme(Oqs::Falcon512, "Falcon-512", None)?, scheme(Oqs::MlDsa44, "ML-DSA-44", None)?])
}

/// What is inspected besides MAYO.
pub(super) fn inspected() -> Result<Vec<Box<dyn Scheme>>> {
    use oqs::sig::Algorithm as Oqs;
    [
        (Oqs::Falcon512, "Falcon-512"),
        (Oqs::Falcon1024, "Falcon-1024"),
        (Oqs::MlDsa44, "ML-DSA-44"),
        (Oqs::MlDsa65, "ML-DSA-65"),
        (Oqs::SphincsSha2128fSimple, "SPHINCS+-SHA2-128f"),
    ]
    .into_iter()
    .map(|(algorithm, name)| scheme(algorithm, name, None))
    .collect()
}

/// How it was built, and what it found here.
pub(super) fn build_note() -> String {
    let dispatch = if run_time_dispatch() { "code paths chosen at run time" } else { "code paths fixed when built" };
    let compiler = env!("AIOLI_LAB_CC");
    format!("liboqs {} built by {compiler}, {dispatch}; on this machine it runs its {} code", version(), backend())
}

fn scheme(algorithm: oqs::sig::Algorithm, set: &'static str, round: Option<u8>) -> Result<Box<dyn Scheme>> {
    oqs::init();
    // SAFETY: `random` has the signature that is asked for and can be called at any time from any thread.
    unsafe { oqs_sys::rand::OQS_randombytes_custom_algorithm(Some(random)) };
    let sig = Sig::new(algorithm).with_context(|| format!("liboqs without {set}"))?;
    Ok(Box::new(Liboqs { sig: Rc::new(sig), set, round }))
}

/// What liboqs draws its randomness from here.
extern "C" fn random(bytes: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: liboqs passes memory of that many bytes to write to, which it owns and that was initialized or is
        // plain bytes; nothing else refers to it during the call.
        Random::fill(unsafe { std::slice::from_raw_parts_mut(bytes, length) });
    }
}

struct Liboqs {
    sig: Rc<Sig>,
    set: &'static str,
    round: Option<u8>,
}

impl Scheme for Liboqs {
    fn label(&self) -> Label {
        Label {
            implementation: "liboqs".into(),
            version: version(),
            backend: backend().into(),
            set: self.set.into(),
            round: self.round,
        }
    }

    fn keypair(&self) -> Result<Keypair> {
        let (public, secret) = self.sig.keypair()?;
        Ok(Keypair { secret: secret.into_vec(), public: public.into_vec() })
    }

    fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
        let key = self.sig.secret_key_from_bytes(&key.secret).context("a secret key of liboqs's length")?;
        Ok(self.sig.sign(message, key)?.into_vec())
    }

    fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = self.sig.public_key_from_bytes(public_key);
        let (Some(key), Some(signature)) = (key, self.sig.signature_from_bytes(signature)) else { return false };
        self.sig.verify(message, signature, key).is_ok()
    }

    fn operations(&self) -> Result<Vec<Operation>> {
        let (public_key, key) = self.sig.keypair()?;
        let signed = (0..SIGNATURES)
            .map(|_| {
                let message = Random::bytes::<MESSAGE_BYTES>();
                Ok((message, self.sig.sign(&message, &key)?))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut next = (0..signed.len()).cycle();
        let [generating, signing, verifying] = std::array::from_fn(|_| Rc::clone(&self.sig));
        Ok(vec![
            Operation::new("keygen", move || {
                black_box(generating.keypair()?);
                Ok(())
            }),
            Operation::new("sign", move || {
                black_box(signing.sign(&Random::bytes::<MESSAGE_BYTES>(), &key)?);
                Ok(())
            }),
            Operation::new("verify", move || {
                let (message, signature) = &signed[next.next().context("there are signatures")?];
                Ok(verifying.verify(message, signature, &public_key)?)
            }),
        ])
    }
}

/// Of the C library, not of the crate.
fn version() -> String {
    let version = crate::record::version("oqs-sys");
    version.rsplit_once("liboqs-").map_or(version.clone(), |(_, liboqs)| liboqs.into())
}

/// Which of its code paths liboqs takes for all schemes measured here: they have one for AVX2, and one in plain C.
fn backend() -> &'static str {
    oqs::init();
    // SAFETY: reads what `init` found out about the processor.
    let avx2 = unsafe { OQS_CPU_has_extension(OQS_CPU_EXT::OQS_CPU_EXT_AVX2) } == 1;
    if run_time_dispatch() && avx2 { "avx2" } else { "portable" }
}

/// Whether it was built with all code paths.
fn run_time_dispatch() -> bool {
    oqs_sys::common::OQS_DIST_BUILD == 1
}
