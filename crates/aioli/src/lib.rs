//! MAYO post-quantum signatures: small keys and signatures, as fast as the machine allows.
//!
//! ```
//! use aioli::mayo1::{Signature, SigningKey, VerifyingKey};
//! use aioli::signature::{SignatureEncoding, Signer, Verifier};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = SigningKey::generate()?;
//! let signature: Signature = key.try_sign(b"a message")?;
//! let public_key = key.verifying_key();
//!
//! // On the other side, from bytes:
//! let public_key = VerifyingKey::try_from(public_key.as_ref())?;
//! let signature = Signature::try_from(signature.to_bytes().as_slice())?;
//! public_key.verify(b"a message", &signature)?;
//! # Ok(()) }
//! ```
//!
//! # For users
//!
//! - [`mayo1`], [`mayo2`], [`mayo3`], [`mayo5`]: the types of each parameter set of round 3, the
//!   current MAYO.
//! - [`round2`] (feature `round2`): the same for round 2, the round of most published figures.
//! - [`any`]: keys and signatures whose set ([`Algorithm`]) is chosen at run time.
//! - `batch` (feature `rayon`): many operations at once, on all cores.
//! - `pkcs8` (feature `pkcs8`): keys as PEM and DER files.
//! - [`signature`]: the traits that keys implement, re-exported.
//!
//! Where one key is used for many operations, expand it: [`SigningKey::expand`],
//! [`VerifyingKey::expand`].
//!
//! Signing is hedged: a fresh salt from the operating system is mixed with the key and the message,
//! so a bad random source does no harm. The time of signing, and the memory addresses it touches,
//! depend on nothing secret but the number of vinegar samples tried; SOUNDNESS.md says how that is
//! checked. Where faults of the machine are to be feared, sign with
//! [`ExpandedSigningKey::checked`], which verifies each signature before it is released; that is
//! not the default, because of its price. `faults` says which attacks it answers.
//!
//! The rounds do not interoperate, and mixing them does not compile:
//!
//! ```compile_fail
//! use aioli::signature::Verifier;
//! fn mixed(key: aioli::mayo3::VerifyingKey, signature: aioli::round2::mayo3::Signature) {
//!     key.verify(b"a message", &signature).unwrap();
//! }
//! ```
//!
//! # For backends and measurements
//!
//! - [`hazmat`]: every operation with its backend, randomizer and digest given, and on the caller's
//!   memory ([`hazmat::in_place`]).
//! - [`backend`]: the kernel contract, the backends, their detection; the algorithm is derived
//!   there.
//! - [`packed`], [`stream`], [`gf16`]: the layout of matrices, where P is in its key stream, the
//!   field.
//! - [`params`]: the parameter sets as types, and their sizes.
//! - `specification`: MAYO in this project's words, with the name of each letter in the code.
//!
//! # Features
//!
//! `std`, `getrandom` and `round2` are on by default. Without `alloc` there is
//! [`hazmat::in_place`] alone. `rayon` adds `batch`, `pkcs8` adds key files. No feature changes
//! what a function computes.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

// First, because the other modules use its macros.
mod sets;

mod algorithm;
// All sets on all backends: no checker runs it, and their drivers are built much faster without.
#[cfg(all(feature = "alloc", not(aioli_ct)))]
pub mod any;
pub mod backend;
#[cfg(feature = "rayon")]
pub mod batch;
mod ct;
mod error;
pub mod gf16;
pub mod hazmat;
#[cfg(feature = "alloc")]
mod keys;
mod memory;
mod message;
#[cfg(feature = "alloc")]
mod operations;
pub mod packed;
pub mod params;
#[cfg(feature = "pkcs8")]
pub mod pkcs8;
mod plants;
mod randomizer;
mod scheme;
mod sig;
pub mod stream;
mod xof;

pub use algorithm::{Algorithm, Round};
pub use error::Error;
#[cfg(feature = "alloc")]
pub use keys::{ExpandedSigningKey, ExpandedVerifyingKey, SigningKey, VerifyingKey};
pub use message::{MessageDigest, MessageHasher};
pub use params::ParameterSet;
pub use sig::Signature;

pub use signature;

/// The types of each parameter set, so that users need not name it.
macro_rules! modules_of_types {
    (
        ()
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {$(
        $(#[$doc])*
        pub mod $round {
            pub use crate::params::$round::*;

            $(
                #[doc = $set_doc]
                pub mod $module {
                    use super::$set;

                    /// A compact secret key.
                    #[cfg(feature = "alloc")]
                    pub type SigningKey = crate::SigningKey<$set>;
                    /// A secret key expanded for many signatures.
                    #[cfg(feature = "alloc")]
                    pub type ExpandedSigningKey = crate::ExpandedSigningKey<$set>;
                    /// A compact public key.
                    #[cfg(feature = "alloc")]
                    pub type VerifyingKey = crate::VerifyingKey<$set>;
                    /// A public key expanded for many verifications.
                    #[cfg(feature = "alloc")]
                    pub type ExpandedVerifyingKey = crate::ExpandedVerifyingKey<$set>;
                    /// A signature.
                    pub type Signature = crate::Signature<$set>;
                    /// The digest of a message, to sign or verify in its place.
                    pub type MessageDigest = crate::MessageDigest<$set>;
                    /// Computes a message's digest from pieces.
                    pub type MessageHasher = crate::MessageHasher<$set>;
                }
            )*
        }
    )*};
}
for_the_sets! { () => modules_of_types }

#[doc(inline)]
pub use round3::{mayo1, mayo2, mayo3, mayo5};

/// The specification in this project's words.
#[cfg(doc)]
#[doc = ""]
#[doc = include_str!("../docs/mayo.md")]
pub mod specification {}

/// Faults while signing: which attacks are answered, by what, and which are not.
#[cfg(doc)]
#[doc = ""]
#[doc = include_str!("../docs/faults.md")]
pub mod faults {}

/// Runs the code of README.md as a test.
#[cfg(all(doctest, feature = "getrandom"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
