//! The items of a batch.

use aioli::{MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey};
use std::fmt;

/// A message to sign, and the key to sign it with.
#[derive(Clone, Copy)]
pub struct SigningItem<'a, P: ParameterSet> {
    /// The key. Secret.
    pub key: &'a SigningKey<P>,
    /// The digest of the message.
    pub digest: &'a MessageDigest<P>,
}

/// Does not show the key.
impl<P: ParameterSet> fmt::Debug for SigningItem<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningItem").field("digest", self.digest).finish_non_exhaustive()
    }
}

/// A signature to verify: [`aioli::batch::Item`] with the digest in place of the message.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a, P: ParameterSet> {
    /// The key.
    pub key: &'a VerifyingKey<P>,
    /// The digest of the message.
    pub digest: &'a MessageDigest<P>,
    /// The signature.
    pub signature: &'a Signature<P>,
}
