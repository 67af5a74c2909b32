//! The digests of contents.

use super::unsupported;
use crate::Error;
use aioli::pkcs8::ObjectIdentifier;
use core::fmt;
use der::oid::db::rfc5912::{ID_SHA_256, ID_SHA_384, ID_SHA_512};
use sha2::digest::{Digest, DynDigest};
use sha2::{Sha256, Sha384, Sha512};
use std::io;

/// Computes the digest of a content that comes in pieces.
pub struct Hasher {
    algorithm: ObjectIdentifier,
    digest: Box<dyn DynDigest + Send>,
}

impl Hasher {
    /// A hasher for a content that is to be signed (SHA-512).
    pub fn new() -> Self {
        Self { algorithm: ID_SHA_512, digest: Box::new(Sha512::new()) }
    }

    /// The digest of a content in one piece that is to be signed.
    pub fn of(content: &[u8]) -> Self {
        Self::new().and(content)
    }

    /// The same hasher after one more piece.
    #[must_use]
    pub fn and(mut self, piece: &[u8]) -> Self {
        self.digest.update(piece);
        self
    }

    /// A hasher by the identifier of its algorithm.
    pub(super) fn with(algorithm: ObjectIdentifier) -> Result<Self, Error> {
        let digest: Box<dyn DynDigest + Send> = match algorithm {
            ID_SHA_256 => Box::new(Sha256::new()),
            ID_SHA_384 => Box::new(Sha384::new()),
            ID_SHA_512 => Box::new(Sha512::new()),
            other => return Err(unsupported("digest", "SHA-256, SHA-384 or SHA-512", other)),
        };
        Ok(Self { algorithm, digest })
    }

    pub(super) fn algorithm(&self) -> ObjectIdentifier {
        self.algorithm
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.digest.finalize().into_vec()
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Never fails.
impl io::Write for Hasher {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.digest.update(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
