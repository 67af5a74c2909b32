//! Many operations on all cores (feature `rayon`).
//!
//! Each item gets its own result, in the order of the items, and a bad item never affects the
//! others. A key that several items share is expanded once. The work runs in rayon's current thread
//! pool.

use crate::Error;
use crate::keys::{ExpandedVerifyingKey, SigningKey, VerifyingKey};
use crate::message::MessageDigest;
use crate::params::ParameterSet;
use crate::sig::Signature;
use alloc::vec::Vec;
use rayon::prelude::*;
use std::collections::HashMap;

/// A secret key and its public key.
#[cfg(feature = "getrandom")]
pub type KeyPair<P> = (SigningKey<P>, VerifyingKey<P>);

/// Makes `count` fresh key pairs.
#[cfg(feature = "getrandom")]
pub fn keygen_batch<P: ParameterSet>(count: usize) -> Vec<Result<KeyPair<P>, Error>> {
    (0..count)
        .into_par_iter()
        .map(|_| {
            let key = SigningKey::generate()?;
            let public_key = key.verifying_key();
            Ok((key, public_key))
        })
        .collect()
}

/// Signs each message with the same key and fresh randomness. The key is expanded once.
#[cfg(feature = "getrandom")]
pub fn sign_batch<P: ParameterSet>(
    key: &SigningKey<P>,
    messages: &[impl AsRef<[u8]> + Sync],
) -> Vec<Result<Signature<P>, Error>> {
    let key = key.expand();
    messages.par_iter().map(|message| key.sign_digest(&MessageDigest::of(message.as_ref()))).collect()
}

/// A signature to verify, with its message and key.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a, P: ParameterSet> {
    /// The key.
    pub key: &'a VerifyingKey<P>,
    /// The message.
    pub message: &'a [u8],
    /// The encoded signature, of any length.
    pub signature: &'a [u8],
}

/// Verifies each item.
///
/// A key that several items share is expanded once, which takes `P_BYTES` of memory for each such
/// key.
pub fn verify_batch<P: ParameterSet>(items: &[Item<'_, P>]) -> Vec<Result<(), Error>> {
    let mut uses = HashMap::<&[u8], (&VerifyingKey<P>, usize)>::new();
    for item in items {
        let (_, uses) = uses.entry(item.key.as_ref()).or_insert((item.key, 0));
        *uses += 1;
    }
    let shared: HashMap<&[u8], ExpandedVerifyingKey<P>> = uses
        .into_par_iter()
        .filter(|&(_, (_, uses))| uses > 1)
        .map(|(bytes, (key, _))| (bytes, key.expand()))
        .collect();
    items
        .par_iter()
        .map(|item| {
            let signature = Signature::try_from(item.signature)?;
            let digest = MessageDigest::of(item.message);
            match shared.get(item.key.as_ref()) {
                Some(key) => key.verify_digest(&digest, &signature),
                None => item.key.verify_digest(&digest, &signature),
            }
        })
        .collect()
}
