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
//! The modules [`mayo1`], [`mayo2`], [`mayo3`] and [`mayo5`] are today's MAYO, round 3 of NIST's process. Round 2, which
//! most published figures speak of, is in [`round2`]; the rounds do not interoperate, and mixing them does not compile:
//!
//! ```compile_fail
//! use aioli::signature::Verifier;
//! fn mixed(key: aioli::mayo3::VerifyingKey, signature: aioli::round2::mayo3::Signature) {
//!     key.verify(b"a message", &signature).unwrap();
//! }
//! ```
//!
//! Code that chooses the set at run time uses [`Algorithm`] and the keys in [`any`]. Many operations at once, on all
//! cores, are in `batch`. Where one key serves many operations, expand it: [`SigningKey::expand`],
//! [`VerifyingKey::expand`].
//!
//! Signing is hedged: a fresh salt from the operating system, mixed with the key and the message, so that a bad random
//! source does no harm. The time of signing, and the memory addresses it touches, depend on nothing secret but the
//! number of vinegar samples tried (specification; SOUNDNESS.md says how that is checked).
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

// The list of sets, from which the modules below take it as macros.
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
