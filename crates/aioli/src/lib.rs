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
mod keygen;
#[cfg(feature = "alloc")]
mod keys;
mod memory;
mod message;
pub mod packed;
pub mod params;
#[cfg(feature = "pkcs8")]
pub mod pkcs8;
mod public_map;
mod sig;
mod sign;
mod solve;
pub mod stream;
mod verify;
mod whip;
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
macro_rules! set_modules {
    ($($module:ident: $set:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
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
    )*};
}

pub use round3::{mayo1, mayo2, mayo3, mayo5};

/// Round 3 (specification of August 2026), today's MAYO; its modules stand at the top of the crate too.
pub mod round3 {
    pub use crate::params::round3::*;

    set_modules! {
        mayo1: Mayo1, "MAYO_1, NIST level 1: public key 1456 bytes, signature 464.";
        mayo2: Mayo2, "MAYO_2, NIST level 1: public key 2928 bytes, signature 239.";
        mayo3: Mayo3, "MAYO_3, NIST level 3: public key 2986 bytes, signature 681.";
        mayo5: Mayo5, "MAYO_5, NIST level 5: public key 5554 bytes, signature 964.";
    }
}

/// Round 2 (specification of February 2025), which most published figures speak of. It does not interoperate with
/// round 3.
pub mod round2 {
    pub use crate::params::round2::*;

    set_modules! {
        mayo1: Mayo1, "Round 2's MAYO_1, NIST level 1: public key 1420 bytes, signature 454.";
        mayo2: Mayo2, "Round 2's MAYO_2, **broken at its claimed level 1** (wedge attack, about 2^113): for comparison only.";
        mayo3: Mayo3, "Round 2's MAYO_3, NIST level 3: public key 2986 bytes, signature 681.";
        mayo5: Mayo5, "Round 2's MAYO_5, NIST level 5: public key 5554 bytes, signature 964.";
    }
}
