//! Many operations on all cores (feature `rayon`).
//!
//! Each item gets its own result, in the order of the items, and a bad item never affects the
//! others. Items with one key share expansions, one for each piece that a thread takes, and each
//! thread holds at most one expanded key. The work runs in rayon's current thread pool.

use crate::Error;
#[cfg(feature = "getrandom")]
use crate::keys::SigningKey;
use crate::keys::VerifyingKey;
use crate::message::MessageDigest;
use crate::params::ParameterSet;
use crate::sig::Signature;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use rayon::prelude::*;

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

/// Signs each message with the same key and fresh randomness. The key is expanded once, and not
/// [`checked`](crate::ExpandedSigningKey::checked).
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

/// A signature to verify, with its message and the place of its key in a list.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The index of the key.
    pub key: usize,
    /// The message.
    pub message: &'a [u8],
    /// The encoded signature, of any length.
    pub signature: &'a [u8],
}

/// Verifies each item.
///
/// Items with one key share its expansion. Each thread holds at most one expanded key, of
/// `P_BYTES`, whatever the number of keys. An item whose signature has the wrong length costs no
/// expansion.
///
/// Where the caller knows which items have one key, [`verify_grouped`] saves comparing keys.
pub fn verify_batch<P: ParameterSet>(items: &[Item<'_, P>]) -> Vec<Result<(), Error>> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.par_sort_unstable_by(|&i, &j| items[i].key.as_ref().cmp(items[j].key.as_ref()));
    let mut keys: Vec<&VerifyingKey<P>> = Vec::new();
    let mut rows: Vec<Row<'_>> =
        items.iter().map(|item| Row { key: 0, message: item.message, signature: item.signature }).collect();
    for i in order {
        if keys.last().is_none_or(|key| *key != items[i].key) {
            keys.push(items[i].key);
        }
        rows[i].key = keys.len() - 1;
    }
    verify_grouped(&keys, &rows)
}

/// Verifies each row with the key at its index, as [`verify_batch`] does.
///
/// The result of a row whose index is outside of the list is [`Error::KeyIndex`].
pub fn verify_grouped<P: ParameterSet, K: Borrow<VerifyingKey<P>> + Sync>(
    keys: &[K],
    rows: &[Row<'_>],
) -> Vec<Result<(), Error>> {
    let check = |row: &Row<'_>| match row.key < keys.len() {
        true => Signature::<P>::try_from(row.signature).map(|_| ()),
        false => Err(Error::KeyIndex { keys: keys.len(), given: row.key }),
    };
    let mut results: Vec<Result<(), Error>> = rows.iter().map(check).collect();
    let mut order: Vec<usize> = (0..rows.len()).filter(|&i| results[i].is_ok()).collect();
    order.par_sort_unstable_by_key(|&i| rows[i].key);
    let length = piece_length(order.len(), rayon::current_num_threads());
    let verified: Vec<(usize, Result<(), Error>)> = order
        .chunk_by(|&i, &j| rows[i].key == rows[j].key)
        .flat_map(|run| run.chunks(length))
        .collect::<Vec<_>>()
        .into_par_iter()
        .flat_map_iter(|piece| verify_piece(keys[rows[piece[0]].key].borrow(), rows, piece))
        .collect();
    for (i, result) in verified {
        results[i] = result;
    }
    results
}

/// The most items that share one expansion. A shorter piece repeats the expansion more often; a
/// longer one leaves threads idle at the end.
fn piece_length(items: usize, threads: usize) -> usize {
    let share = items.div_ceil(threads);
    // Sixteen verifications outweigh one expansion, and four pieces for each thread are even
    // enough.
    (share / 4).max(share.min(16)).max(1)
}

/// Verifies the rows at `piece`, which have this key and signatures of the right length.
///
/// It never calls into the thread pool, which might start another piece on this thread while the
/// key is expanded.
fn verify_piece<P: ParameterSet>(
    key: &VerifyingKey<P>,
    rows: &[Row<'_>],
    piece: &[usize],
) -> Vec<(usize, Result<(), Error>)> {
    let read = |&i: &usize| {
        let signature = Signature::try_from(rows[i].signature).expect("the length was checked");
        (MessageDigest::of(rows[i].message), signature)
    };
    if let [alone] = piece {
        let (digest, signature) = read(alone);
        return vec![(*alone, key.verify_digest(&digest, &signature))];
    }
    let key = key.expand();
    let groups = piece.chunks(GROUP).flat_map(|group| key.verify_many(&group.iter().map(read).collect::<Vec<_>>()));
    piece.iter().copied().zip(groups).collect()
}

/// Signatures that are read at a time: a multiple of what any set's kernels take together.
const GROUP: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_all_threads_busy_and_repay_an_expansion() {
        assert_eq!(piece_length(0, 8), 1);
        assert_eq!(piece_length(5, 8), 1);
        assert_eq!(piece_length(32, 8), 4);
        assert_eq!(piece_length(256, 8), 16);
        assert_eq!(piece_length(6400, 8), 200);
    }
}
