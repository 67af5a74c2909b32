//! MAYO in large batches on an NVIDIA GPU: keygen, sign and verify for every parameter set of both
//! rounds, with the same bytes as the library [`aioli`].
//!
//! ```no_run
//! use aioli::{MessageDigest, round3::Mayo1};
//! use aioli_gpu::{Gpu, Item, SigningItem};
//!
//! # fn main() -> Result<(), aioli_gpu::Error> {
//! let gpu = Gpu::open()?;
//! let keys = gpu.keygen_batch::<Mayo1>(100_000)?;
//! let digest = MessageDigest::of(b"a message");
//! let to_sign: Vec<_> = keys.iter().map(|(key, _)| SigningItem { key, digest: &digest }).collect();
//! let signatures: Vec<_> = gpu.sign_batch(&to_sign)?.into_iter().collect::<Result<_, _>>()?;
//! let to_verify: Vec<_> = keys
//!     .iter()
//!     .zip(&signatures)
//!     .map(|((_, key), signature)| Item { key, digest: &digest, signature })
//!     .collect();
//! assert!(gpu.verify_batch(&to_verify)?.iter().all(Result::is_ok));
//! # Ok(()) }
//! ```
//!
//! [`Gpu::open`] loads CUDA. Without CUDA the crate builds and programs start, and `open` says what
//! is missing. The kernels are compiled for the GPU of the machine at the first use of a parameter
//! set, and kept on disk.
//!
//! [`Schedule`] splits a batch between GPU and processor by the rates that it measures.
#![doc = ""]
#![doc = ""]
#![doc = include_str!("../docs/gpu.md")]
#![deny(unsafe_code)]

mod batch;
mod cache;
mod cuda;
mod device;
mod error;
mod gpu;
mod item;
mod lanes;
mod schedule;
mod source;

pub use error::Error;
pub use gpu::Gpu;
pub use item::{Item, SigningItem};
pub use schedule::{Processor, Rates, Schedule, Share, Worker};
pub use source::source;

/// Batches on a [`Device`](emulation::Device) that is not a GPU, for the tests.
#[doc(hidden)]
pub mod emulation {
    pub use crate::batch::Engine;
    pub use crate::device::{Argument, Device, Facts, Kernel, Size};
}
