//! MAYO in large batches on an NVIDIA GPU: keygen, sign and verify, for every parameter set of both rounds, with the same
//! bytes as the library [`aioli`].
//!
//! ```no_run
//! use aioli::{MessageDigest, round3::Mayo1};
//! use aioli_gpu::{Gpu, Signing, Verification};
//!
//! # fn main() -> Result<(), aioli_gpu::Error> {
//! let gpu = Gpu::open()?;
//! let keys = gpu.keygen_batch::<Mayo1>(100_000)?;
//! let digest = MessageDigest::of(b"a message");
//! let requests: Vec<_> = keys.iter().map(|(key, _)| Signing { key, digest: &digest }).collect();
//! let signatures: Vec<_> = gpu.sign_batch(&requests)?.into_iter().collect::<Result<_, _>>()?;
//! let items: Vec<_> = keys
//!     .iter()
//!     .zip(&signatures)
//!     .map(|((_, key), signature)| Verification { key, digest: &digest, signature })
//!     .collect();
//! assert!(gpu.verify_batch(&items)?.iter().all(Result::is_ok));
//! # Ok(()) }
//! ```
//!
//! CUDA is found when [`Gpu::open`] is called: without it the crate builds, programs start, and `open` says what is
//! missing. The kernels are compiled for the GPU at hand when a parameter set is used first, and kept on disk.
//!
//! [`Schedule`] splits a batch between GPU and processor by the rates that it measures.
#![doc = ""]
#![doc = ""]
#![doc = include_str!("../docs/gpu.md")]
#![deny(unsafe_code)]

mod batch;
mod cuda;
mod device;
mod error;
mod gpu;
mod schedule;
mod source;

pub use error::Error;
pub use gpu::Gpu;
pub use schedule::{Processor, Rates, Schedule, Share, Worker};
pub use source::source;

/// A signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a, P: aioli::ParameterSet> {
    /// The key.
    pub key: &'a aioli::VerifyingKey<P>,
    /// The digest of the message.
    pub digest: &'a aioli::MessageDigest<P>,
    /// The signature.
    pub signature: &'a aioli::Signature<P>,
}

/// A message to sign.
#[derive(Clone, Copy)]
pub struct Signing<'a, P: aioli::ParameterSet> {
    /// The key. Secret.
    pub key: &'a aioli::SigningKey<P>,
    /// The digest of the message.
    pub digest: &'a aioli::MessageDigest<P>,
}

/// The kernels with a [`device::Device`] that is not a GPU, for the tests.
#[doc(hidden)]
pub mod emulation {
    pub use crate::batch::Engine;
    pub use crate::device::{Argument, Device, Facts, Kernel, Size};
}
