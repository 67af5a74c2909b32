//! A module for each command. Its `run` does the work and returns the code to exit with.

pub(crate) mod cert;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod generate;
pub(crate) mod git;
pub(crate) mod git_x509;
pub(crate) mod inspect;
pub(crate) mod kat;
pub(crate) mod keygen;
pub(crate) mod pubkey;
pub(crate) mod sign;
pub(crate) mod speed;
pub(crate) mod verify;
