//! The backends: their names, their detection, and the choice of one for this machine.
//!
//! [`BackendKind`] is a name. [`BackendKind::detect`] turns it into a [`DetectedBackend`], the
//! proof that this processor has the instructions; nothing falls back to another backend silently.
//! [`DetectedBackend::best`] is the choice of every operation that is not told otherwise.
//!
//! The kernel contract is the trait [`Backend`]. The portable backend is complete, and a new one
//! begins by naming the portable kernels and replaces one at a time. Each backend's type is a
//! zero-sized token, which for all but [`Portable`] only `detect` makes.
#![doc = ""]
#![doc = include_str!("../docs/one-pass.md")]

#[cfg(aioli_aarch64)]
mod aarch64;
#[cfg(aioli_armv7em)]
mod armv7em;
#[cfg(all(test, feature = "std"))]
mod conformance;
pub(crate) mod contract;
pub(crate) mod kind;
mod portable;
#[cfg(aioli_ct)]
pub(crate) mod taint;
#[cfg(feature = "alloc")]
pub(crate) mod unwritten;
#[cfg(aioli_wasm32)]
mod wasm32;
#[cfg(aioli_x86_64)]
mod x86_64;

use crate::Error;

#[cfg(aioli_aarch64)]
pub use aarch64::Neon;
#[cfg(aioli_armv7em)]
pub use armv7em::Armv7em;
pub use contract::{Backend, MAX_EQUATIONS, MAX_ROWS, MAX_UNKNOWNS};
pub use kind::BackendKind;
pub use portable::Portable;
#[cfg(aioli_wasm32)]
pub use wasm32::Simd128;
#[cfg(aioli_x86_64)]
pub use x86_64::{Avx2, Gfni256, Gfni512};

impl BackendKind {
    /// The backend of this name.
    ///
    /// # Errors
    ///
    /// [`Error::UnavailableBackend`] if this machine cannot run it.
    pub fn detect(self) -> Result<DetectedBackend, Error> {
        let token = kind::for_the_backends! { (self) => detected_token };
        token.map(DetectedBackend).ok_or(Error::UnavailableBackend(self))
    }

    /// The backends that this machine can run, the fastest last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kind| kind.detect().is_ok())
    }
}

macro_rules! detected_token {
    (($kind:expr) $($name:ident($condition:meta) $label:literal $doc:literal;)*) => {
        match $kind {
            $(
                #[cfg($condition)]
                BackendKind::$name => $name::detect().map(Token::$name),
            )*
            #[allow(unreachable_patterns, reason = "some targets have all backends that are listed")]
            _ => None,
        }
    };
}
use detected_token;

/// Reads what [`BackendKind::name`] gives.
impl core::str::FromStr for BackendKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or(Error::UnknownBackend)
    }
}

/// A backend that this machine can run: what [`BackendKind::detect`] gives, and `hazmat` takes.
#[derive(Clone, Copy, Debug)]
pub struct DetectedBackend(Token);

impl DetectedBackend {
    /// The fastest backend that this machine can run.
    #[cfg_attr(aioli_wasm32, inline(always))]
    pub fn best() -> Self {
        // The compiler knows it, so a module has no code of the other backend.
        #[cfg(aioli_wasm32)]
        if let Some(token) = Simd128::detect() {
            return Self(Token::Simd128(token));
        }
        let portable = Self(Token::Portable(Portable::new()));
        BackendKind::ALL.iter().rev().find_map(|kind| kind.detect().ok()).unwrap_or(portable)
    }

    /// The backends that this machine can run, the fastest last.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        BackendKind::ALL.iter().filter_map(|kind| kind.detect().ok())
    }

    /// Its name.
    pub fn kind(self) -> BackendKind {
        kind::for_the_backends! { (self.0) => kind_of_token }
    }

    #[cfg(feature = "alloc")]
    pub(crate) const fn token(self) -> Token {
        self.0
    }
}

/// Prints the name.
impl core::fmt::Display for DetectedBackend {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.kind().fmt(f)
    }
}

macro_rules! kind_of_token {
    (($token:expr) $($name:ident($condition:meta) $label:literal $doc:literal;)*) => {
        match $token {
            $(
                #[cfg($condition)]
                Token::$name(_) => BackendKind::$name,
            )*
        }
    };
}
use kind_of_token;

macro_rules! token {
    (() $($name:ident($condition:meta) $label:literal $doc:literal;)*) => {
        /// The token of some backend.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Token {
            $(
                #[cfg($condition)]
                $name($name),
            )*
        }
    };
}
kind::for_the_backends! { () => token }

/// Evaluates an expression with the typed token of a [`DetectedBackend`], the one place where a
/// choice at run time becomes a type.
#[cfg(feature = "alloc")]
macro_rules! with_backend {
    ($detected:expr, |$backend:ident| $body:expr) => {
        $crate::backend::kind::for_the_backends! {
            ($detected.token(), $backend, $body) => $crate::backend::match_token
        }
    };
}
#[cfg(feature = "alloc")]
pub(crate) use with_backend;

#[cfg(feature = "alloc")]
macro_rules! match_token {
    (($token:expr, $backend:ident, $body:expr) $($name:ident($condition:meta) $label:literal $doc:literal;)*) => {
        match $token {
            $(
                #[cfg($condition)]
                $crate::backend::Token::$name($backend) => $body,
            )*
        }
    };
}
#[cfg(feature = "alloc")]
pub(crate) use match_token;
