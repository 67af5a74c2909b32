//! MAYO signatures for JavaScript: the classes of the npm package `aioli-wasm`.
//!
//! The classes wrap [`aioli::any`], whose sets are chosen at run time. Methods throw an
//! `AioliError` that names what was wrong and what was expected; none of them panics.

mod algorithm;
mod command;
#[cfg(feature = "describe")]
mod description;
mod edge;
mod error;
mod expansion;
mod message;
mod signature_file;
mod signing_key;
mod verifying_key;

// The files of the command name each other from the root.
#[cfg(feature = "describe")]
use command::{envelope, reason, shown, sshsig};
use command::{fingerprint, round};

pub use algorithm::{algorithms, backend};
#[cfg(feature = "describe")]
pub use description::describe;
pub use message::{MessageDigest, MessageHasher};
pub use signature_file::SignatureFile;
pub use signing_key::{ExpandedSigningKey, SigningKey};
pub use verifying_key::{ExpandedVerifyingKey, VerifyingKey};
