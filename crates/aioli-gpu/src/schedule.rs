//! Splits batches between GPU and processor, by the rates that it measures.

use crate::error::Error;
use crate::gpu::Gpu;
use crate::item::{Item, SigningItem};
use aioli::backend::DetectedBackend;
use aioli::{ExpandedVerifyingKey, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A worker on batches of one operation.
pub trait Worker<T, R> {
    /// Works on all of the items. Returns one result for each, in their order.
    ///
    /// # Errors
    ///
    /// An error if the batch fails as a whole.
    fn work(&self, items: &[T]) -> Result<Vec<R>, Error>;
}

/// Splits batches between two workers so that both end at the same time.
///
/// A schedule is for one operation of one parameter set.
#[derive(Debug, Default)]
pub struct Schedule(Mutex<Rates>);

impl Schedule {
    /// A schedule that knows no rates yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rates measured so far.
    pub fn rates(&self) -> Rates {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on a batch with both workers, and measures their rates.
    ///
    /// While a rate is unknown, a small part of the batch is a trial. A batch too small for a trial
    /// goes to the second worker, so that should be the one that needs no large batches.
    ///
    /// # Errors
    ///
    /// The errors of the workers.
    pub fn run<T: Sync, R: Send>(
        &self,
        items: &[T],
        first: &(impl Worker<T, R> + Sync),
        second: &(impl Worker<T, R> + Sync),
    ) -> Result<Vec<R>, Error> {
        let mut results = Vec::with_capacity(items.len());
        let mut rest = items;
        if self.rates().known().is_none() {
            if items.len() < 4 * TRIAL {
                return second.work(items);
            }
            let (trial, after) = items.split_at(2 * TRIAL);
            results.extend(self.both(trial, TRIAL, first, second)?);
            rest = after;
        }
        let share = self.rates().share(rest.len());
        results.extend(self.both(rest, share.first, first, second)?);
        Ok(results)
    }

    /// Gives the first `split` items to the first worker and the rest to the second, at the same
    /// time.
    fn both<T: Sync, R: Send>(
        &self,
        items: &[T],
        split: usize,
        first: &(impl Worker<T, R> + Sync),
        second: &(impl Worker<T, R> + Sync),
    ) -> Result<Vec<R>, Error> {
        fn timed<T, R>(worker: &impl Worker<T, R>, items: &[T]) -> Result<(Vec<R>, f64), Error> {
            if items.is_empty() {
                return Ok((Vec::new(), 0.0));
            }
            let start = Instant::now();
            Ok((worker.work(items)?, start.elapsed().as_secs_f64()))
        }
        let (head, tail) = items.split_at(split);
        let (of_first, of_second) = std::thread::scope(|scope| {
            let of_second = scope.spawn(|| timed(second, tail));
            (timed(first, head), of_second.join())
        });
        let (mut results, first_seconds) = of_first?;
        let (rest, second_seconds) = of_second.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rates.note(Side::First, results.len(), first_seconds);
        rates.note(Side::Second, rest.len(), second_seconds);
        results.extend(rest);
        Ok(results)
    }
}

/// The rates of the two workers, in items a second; none if not measured yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The rate of the first worker.
    pub first: Option<f64>,
    /// The rate of the second worker.
    pub second: Option<f64>,
}

impl Rates {
    /// Splits a number of items so that both workers end at the same time.
    ///
    /// A worker whose rate is unknown gets nothing. If both rates are unknown, the second worker
    /// gets everything.
    pub fn share(&self, items: usize) -> Share {
        let first = match self.known() {
            Some((first, second)) => (items as f64 * (first / (first + second))).round() as usize,
            None if self.first.is_some() => items,
            None => 0,
        };
        // The exact product is at most `items`, but the rounded one may be more.
        let first = first.min(items);
        Share { first, second: items - first }
    }

    fn known(&self) -> Option<(f64, f64)> {
        self.first.zip(self.second)
    }

    /// Records that a worker took `seconds` for `items`. Ignores empty batches and times of zero.
    fn note(&mut self, side: Side, items: usize, seconds: f64) {
        if items == 0 || seconds <= 0.0 {
            return;
        }
        let now = items as f64 / seconds;
        let rate = match side {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        };
        // The mean with the rate before: one slow batch should not upset the split.
        *rate = Some(rate.map_or(now, |before| (before + now) / 2.0));
    }
}

/// The number of items that each worker gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Items of the first worker, from the beginning of the batch.
    pub first: usize,
    /// Items of the second worker, the rest.
    pub second: usize,
}

/// One of the two workers.
#[derive(Clone, Copy, Debug)]
enum Side {
    First,
    Second,
}

/// The processor as a worker: all threads of rayon's current pool, on the fastest backend.
#[derive(Clone, Copy, Debug)]
pub struct Processor;

impl<P: ParameterSet> Worker<SigningKey<P>, VerifyingKey<P>> for Processor {
    fn work(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        Ok(keys.par_iter().map(|key| hazmat::verifying_key(DetectedBackend::best(), key)).collect())
    }
}

impl<P: ParameterSet> Worker<SigningItem<'_, P>, Result<Signature<P>, aioli::Error>> for Processor {
    fn work(&self, items: &[SigningItem<'_, P>]) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        Ok(items.par_iter().map(|item| item.key.sign_digest(item.digest)).collect())
    }
}

impl<P: ParameterSet> Worker<Item<'_, P>, Result<(), aioli::Error>> for Processor {
    fn work(&self, items: &[Item<'_, P>]) -> Result<Vec<Result<(), aioli::Error>>, Error> {
        let mut uses = HashMap::<&[u8], (usize, &VerifyingKey<P>)>::new();
        for item in items {
            uses.entry(item.key.as_ref()).or_insert((0, item.key)).0 += 1;
        }
        let expanded: HashMap<&[u8], ExpandedVerifyingKey<P>> = uses
            .into_par_iter()
            .filter(|&(_, (uses, _))| uses > 1)
            .map(|(bytes, (_, key))| (bytes, key.expand()))
            .collect();
        let verify = |item: &Item<'_, P>| match expanded.get(item.key.as_ref()) {
            Some(key) => key.verify_digest(item.digest, item.signature),
            None => item.key.verify_digest(item.digest, item.signature),
        };
        Ok(items.par_iter().map(verify).collect())
    }
}

impl<P: ParameterSet> Worker<SigningKey<P>, VerifyingKey<P>> for Gpu {
    fn work(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        self.verifying_keys(keys)
    }
}

impl<P: ParameterSet> Worker<SigningItem<'_, P>, Result<Signature<P>, aioli::Error>> for Gpu {
    fn work(&self, items: &[SigningItem<'_, P>]) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        self.sign_batch(items)
    }
}

impl<P: ParameterSet> Worker<Item<'_, P>, Result<(), aioli::Error>> for Gpu {
    fn work(&self, items: &[Item<'_, P>]) -> Result<Vec<Result<(), aioli::Error>>, Error> {
        self.verify_batch(items)
    }
}

/// Items that each worker gets in a trial.
const TRIAL: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Doubles numbers, and takes a given time for each.
    struct Doubler {
        each: Duration,
        done: AtomicUsize,
    }

    impl Doubler {
        fn new(each: Duration) -> Self {
            Self { each, done: AtomicUsize::new(0) }
        }
    }

    impl Worker<usize, usize> for Doubler {
        fn work(&self, items: &[usize]) -> Result<Vec<usize>, Error> {
            self.done.fetch_add(items.len(), Ordering::Relaxed);
            std::thread::sleep(self.each * items.len() as u32);
            Ok(items.iter().map(|item| item * 2).collect())
        }
    }

    struct Broken;

    impl Worker<usize, usize> for Broken {
        fn work(&self, _: &[usize]) -> Result<Vec<usize>, Error> {
            Err(Error::NoDevice)
        }
    }

    #[test]
    fn shares_follow_the_rates() {
        let share = |first, second, items| {
            let Share { first, second } = Rates { first, second }.share(items);
            (first, second)
        };
        assert_eq!(share(Some(3.0), Some(1.0), 1000), (750, 250));
        assert_eq!(share(Some(1.0), Some(1e12), 1000), (0, 1000));
        assert_eq!(share(Some(1e12), Some(1.0), 1000), (1000, 0));
        assert_eq!(share(Some(1.0), Some(1.0), 0), (0, 0));
        assert_eq!(share(Some(1.0), None, 10), (10, 0));
        assert_eq!(share(None, Some(1.0), 10), (0, 10));
        assert_eq!(share(None, None, 10), (0, 10));
    }

    #[test]
    fn rates_are_averages_of_what_was_measured() {
        let mut rates = Rates::default();
        rates.note(Side::First, 100, 1.0);
        rates.note(Side::First, 300, 1.0);
        rates.note(Side::First, 0, 1.0);
        rates.note(Side::Second, 100, 0.0);
        assert_eq!(rates, Rates { first: Some(200.0), second: None });
    }

    #[test]
    fn both_work_and_results_keep_their_order() {
        let slow = Doubler::new(Duration::from_micros(400));
        let fast = Doubler::new(Duration::from_micros(40));
        let schedule = Schedule::new();
        let items: Vec<usize> = (0..2000).collect();
        let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
        assert_eq!(schedule.run(&items, &fast, &slow).unwrap(), expected);
        let by_fast = fast.done.load(Ordering::Relaxed);
        let by_slow = slow.done.load(Ordering::Relaxed);
        assert_eq!(by_fast + by_slow, items.len());
        assert!(by_fast > 2 * by_slow && by_slow >= TRIAL, "{by_fast} and {by_slow}, {:?}", schedule.rates());
    }

    #[test]
    fn a_small_batch_goes_to_the_second_while_rates_are_unknown() {
        let second = Doubler::new(Duration::ZERO);
        let schedule = Schedule::new();
        assert_eq!(schedule.run(&[1, 2, 3], &Broken, &second).unwrap(), [2, 4, 6]);
        assert_eq!(schedule.rates(), Rates::default());
    }

    #[test]
    fn a_failure_of_either_is_the_failure_of_the_batch() {
        let items = [0; 4 * TRIAL];
        let works = Doubler::new(Duration::ZERO);
        assert_eq!(Schedule::new().run(&items, &Broken, &works), Err(Error::NoDevice));
        assert_eq!(Schedule::new().run(&items, &works, &Broken), Err(Error::NoDevice));
    }

    #[test]
    fn the_processor_agrees_with_the_library() {
        type P = aioli::round3::Mayo2;
        let keys: Vec<SigningKey<P>> = (0..3).map(|i| SigningKey::from_seed([i; P::SECRET_KEY_BYTES])).collect();
        let public_keys: Vec<VerifyingKey<P>> = Processor.work(&keys).unwrap();
        assert!(keys.iter().zip(&public_keys).all(|(key, public_key)| key.verifying_key() == *public_key));
        let digest = aioli::MessageDigest::of(b"message");
        let to_sign: Vec<_> = keys.iter().map(|key| SigningItem { key, digest: &digest }).collect();
        let signatures: Vec<Result<Signature<P>, aioli::Error>> = Processor.work(&to_sign).unwrap();
        let signatures: Vec<Signature<P>> = signatures.into_iter().collect::<Result<_, _>>().unwrap();
        // The first key is used twice, the second time with another key's signature.
        let pairs = [(0, 0), (1, 1), (2, 2), (0, 1)];
        let items = pairs.map(|(key, signature)| Item {
            key: &public_keys[key],
            digest: &digest,
            signature: &signatures[signature],
        });
        let verdicts: Vec<Result<(), aioli::Error>> = Processor.work(&items).unwrap();
        assert_eq!(verdicts, [Ok(()), Ok(()), Ok(()), Err(aioli::Error::InvalidSignature)]);
    }
}
