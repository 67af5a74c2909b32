//! Batches on one thread and on all cores, by `aioli::batch`, which runs on the fastest backend.

use super::{MESSAGE_BYTES, aioli::fresh_key};
use crate::measure::Operation;
use crate::pool::pinned;
use crate::random::Random;
use aioli::params::ParameterSet;
use aioli::{Algorithm, SigningKey, VerifyingKey, batch, with_set};
use anyhow::{Result, ensure};
use rayon::ThreadPool;
use std::rc::Rc;
use std::sync::Arc;

/// The names of the batches. The name of an operation is one of them with the number of threads,
/// see [`name`].
pub(crate) const BATCHES: [&str; 4] = [VERIFY_ONE_KEY, VERIFY_MANY_KEYS, SIGN, KEYGEN];
const VERIFY_ONE_KEY: &str = "verify_batch_one_key";
const VERIFY_MANY_KEYS: &str = "verify_batch_many_keys";
const SIGN: &str = "sign_batch";
const KEYGEN: &str = "keygen_batch";

/// The name of a batch's operation on `threads` threads.
pub(super) fn name(batch: &str, threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{batch}_{threads}_thread{plural}")
}

/// The batch and the number of threads in an operation's name, if it is a batch's.
pub(crate) fn parse(operation: &str) -> Option<(&'static str, usize)> {
    let batch = BATCHES.into_iter().find(|batch| operation.starts_with(batch))?;
    let threads = operation[batch.len()..].strip_prefix('_')?.split_once("_thread")?.0;
    Some((batch, threads.parse().ok()?))
}

/// The batches of a set on 1, 2, 4, ... threads and on all cores; times are for one item.
///
/// Keys and signing in a batch draw randomness from the operating system.
pub(super) fn operations(algorithm: Algorithm) -> Result<Vec<Operation>> {
    let cores = std::thread::available_parallelism()?.get();
    let doubled = std::iter::successors(Some(1), |threads| Some(2 * threads));
    let threads = doubled.take_while(|&threads| threads < cores).chain([cores]);
    let mut operations = Vec::new();
    for threads in threads {
        let pool = Rc::new(pinned(threads)?);
        with_set!(algorithm, P => operations.extend(on_pool::<P>(&pool, threads)?));
    }
    Ok(operations)
}

fn on_pool<P: ParameterSet>(pool: &Rc<ThreadPool>, threads: usize) -> Result<[Operation; BATCHES.len()]> {
    let key = fresh_key::<P>()?;
    let one_key = signed::<P>(std::iter::repeat_n(key.clone(), ITEMS).collect())?;
    let many_keys = signed::<P>((0..ITEMS).map(|_| fresh_key::<P>()).collect::<Result<_>>()?)?;
    let messages: Vec<_> = (0..ITEMS).map(|_| Random::bytes::<MESSAGE_BYTES>()).collect();
    let verify = |batch, items: Arc<[Signed<P>]>| {
        operation(pool, name(batch, threads), move || {
            let items: Vec<_> = items
                .iter()
                .map(|item| batch::Item { key: &item.key, message: &item.message, signature: &item.signature })
                .collect();
            batch::verify_batch(&items).into_iter().try_for_each(|result| Ok(result?))
        })
    };
    Ok([
        verify(VERIFY_ONE_KEY, one_key),
        verify(VERIFY_MANY_KEYS, many_keys),
        operation(pool, name(SIGN, threads), move || {
            let signatures = batch::sign_batch(&key, &messages);
            ensure!(signatures.iter().all(Result::is_ok), "a signature of the batch failed");
            Ok(())
        }),
        operation(pool, name(KEYGEN, threads), || {
            ensure!(batch::keygen_batch::<P>(ITEMS).iter().all(Result::is_ok), "a key of the batch failed");
            Ok(())
        }),
    ])
}

fn operation(pool: &Rc<ThreadPool>, name: String, run: impl Fn() -> Result<()> + Send + Sync + 'static) -> Operation {
    let pool = Rc::clone(pool);
    Operation { name, items: ITEMS as u32, run: Box::new(move || pool.install(&run)) }
}

/// A message, its signature, and the key to verify it.
struct Signed<P: ParameterSet> {
    key: VerifyingKey<P>,
    message: [u8; MESSAGE_BYTES],
    signature: Vec<u8>,
}

fn signed<P: ParameterSet>(keys: Vec<SigningKey<P>>) -> Result<Arc<[Signed<P>]>> {
    keys.into_iter()
        .map(|key| {
            let message = Random::bytes();
            let signature = key.sign_deterministic(&message)?.as_ref().to_vec();
            Ok(Signed { key: key.verifying_key(), message, signature })
        })
        .collect()
}

/// Items in a batch: enough to make the time for waking an idle core a small part.
const ITEMS: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_batch_succeeds_on_every_number_of_threads() {
        let mut operations = operations(Algorithm::Mayo2).unwrap();
        let names: Vec<&str> = operations.iter().map(|operation| &*operation.name).collect();
        for batch in BATCHES {
            assert!(names.contains(&&*name(batch, 1)), "{names:?}");
            assert_eq!((parse(&name(batch, 1)), parse(&name(batch, 16))), (Some((batch, 1)), Some((batch, 16))));
        }
        assert_eq!((names.len() % BATCHES.len(), parse("sign"), parse("sign_batch")), (0, None, None));
        operations.iter_mut().for_each(|operation| (operation.run)().unwrap());
    }
}
