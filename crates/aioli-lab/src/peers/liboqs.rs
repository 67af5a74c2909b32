//! liboqs, through the crate `oqs` (cargo feature `peers`).
//!
//! Building it needs cmake, libclang, OpenSSL's headers and a C compiler; clang makes the faster
//! MAYO: `CC=clang-19 CXX=clang++-19 LIBCLANG_PATH=/usr/lib/llvm-19/lib cargo build --release -p
//! aioli-lab --features peers`. It is built like distribution packages: all code paths are compiled
//! in and chosen at run time, and AES is OpenSSL's.
//!
//! Its interface has no expanded keys.
#![allow(unsafe_code, reason = "functions of liboqs that the crate `oqs` does not wrap")]

mod generic;

use super::{Implementation, Keypair, MESSAGE_BYTES, SIGNATURES};
use crate::measure::Operation;
use crate::random::Random;
use crate::record::Label;
use aioli::Algorithm;
use anyhow::{Context, Result};
use oqs::sig::Sig;
use oqs_sys::common::{OQS_CPU_EXT, OQS_CPU_has_extension};
use std::hint::black_box;
use std::rc::Rc;

pub(super) use generic::generic;

/// liboqs with this set, if it has it. It has the sets of round 2.
pub(super) fn mayo(algorithm: Algorithm) -> Result<Option<Box<dyn Implementation>>> {
    use oqs::sig::Algorithm as Oqs;
    let oqs = match algorithm {
        Algorithm::Mayo1Round2 => Oqs::Mayo1,
        Algorithm::Mayo2Round2 => Oqs::Mayo2,
        Algorithm::Mayo3Round2 => Oqs::Mayo3,
        Algorithm::Mayo5Round2 => Oqs::Mayo5,
        _ => return Ok(None),
    };
    Ok(Some(implementation(oqs, algorithm.set_name(), Some(2))?))
}

/// Falcon-512, the yardstick of `credibility`.
pub(super) fn falcon_512() -> Result<Box<dyn Implementation>> {
    implementation(oqs::sig::Algorithm::Falcon512, "Falcon-512", None)
}

/// Other signature algorithms, for scale.
pub(super) fn for_scale() -> Result<[Box<dyn Implementation>; 2]> {
    Ok([falcon_512()?, implementation(oqs::sig::Algorithm::MlDsa44, "ML-DSA-44", None)?])
}

/// The algorithms besides MAYO whose keys and signatures are inspected.
pub(super) fn inspected() -> Result<Vec<Box<dyn Implementation>>> {
    use oqs::sig::Algorithm as Oqs;
    [
        (Oqs::Falcon512, "Falcon-512"),
        (Oqs::Falcon1024, "Falcon-1024"),
        (Oqs::MlDsa44, "ML-DSA-44"),
        (Oqs::MlDsa65, "ML-DSA-65"),
        (Oqs::SphincsSha2128fSimple, "SPHINCS+-SHA2-128f"),
    ]
    .into_iter()
    .map(|(algorithm, name)| implementation(algorithm, name, None))
    .collect()
}

/// A sentence on how it was built and which code path it runs here.
pub(super) fn build_note() -> String {
    let dispatch = if run_time_dispatch() { "code paths chosen at run time" } else { "code paths fixed when built" };
    let compiler = env!("AIOLI_LAB_CC");
    format!("liboqs {} built by {compiler}, {dispatch}; on this machine it runs its {} code", version(), backend())
}

fn implementation(
    algorithm: oqs::sig::Algorithm,
    set: &'static str,
    round: Option<u8>,
) -> Result<Box<dyn Implementation>> {
    oqs::init();
    // SAFETY: `random` has the required signature and can be called at any time from any thread.
    unsafe { oqs_sys::rand::OQS_randombytes_custom_algorithm(Some(random)) };
    let sig = Sig::new(algorithm).with_context(|| format!("liboqs without {set}"))?;
    Ok(Box::new(Liboqs { sig: Rc::new(sig), set, round }))
}

/// The generator that replaces liboqs's own.
extern "C" fn random(bytes: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: liboqs passes `length` writable bytes that it owns and that nothing else refers
        // to during the call. They may be uninitialized, but `fill` only writes them.
        Random::fill(unsafe { std::slice::from_raw_parts_mut(bytes, length) });
    }
}

struct Liboqs {
    sig: Rc<Sig>,
    set: &'static str,
    round: Option<u8>,
}

impl Implementation for Liboqs {
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

/// The version of the C library, which is not the crate's.
fn version() -> String {
    let version = crate::record::version("oqs-sys");
    version.rsplit_once("liboqs-").map_or(version.clone(), |(_, liboqs)| liboqs.into())
}

/// The code path that liboqs takes. Every algorithm measured here has one for AVX2 and one in plain
/// C.
fn backend() -> &'static str {
    oqs::init();
    // SAFETY: the function reads the processor's features, which `init` has detected.
    let avx2 = unsafe { OQS_CPU_has_extension(OQS_CPU_EXT::OQS_CPU_EXT_AVX2) } == 1;
    if run_time_dispatch() && avx2 { "avx2" } else { "portable" }
}

/// Whether it was built with all code paths, to choose among them at run time.
fn run_time_dispatch() -> bool {
    oqs_sys::common::OQS_DIST_BUILD == 1
}
