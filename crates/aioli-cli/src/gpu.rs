//! Times batches on a GPU. Without the feature `gpu`, opening one says what is missing.

/// The GPU to measure.
pub(crate) struct Gpu(Device);

#[cfg(not(feature = "gpu"))]
type Device = std::convert::Infallible;
#[cfg(feature = "gpu")]
type Device = aioli_gpu::Gpu;

#[cfg(not(feature = "gpu"))]
mod without_feature {
    use super::Gpu;
    use crate::error::Error;
    use crate::measure::Measurement;
    use aioli::Algorithm;
    use std::time::Duration;

    impl Gpu {
        pub(crate) fn open() -> Result<Self, Error> {
            let message = "--gpu needs a build with the feature gpu: cargo install aioli-cli --features gpu";
            Err(Error::Usage(message.into()))
        }

        pub(crate) fn name(&self) -> Result<String, Error> {
            match self.0 {}
        }

        pub(crate) fn measure(&self, _: Algorithm, _: Duration) -> Result<Vec<Measurement>, Error> {
            match self.0 {}
        }
    }
}

#[cfg(feature = "gpu")]
mod with_feature {
    use super::Gpu;
    use crate::error::Error;
    use crate::measure::{MIN_SAMPLES, Measurement, summary};
    use aioli::{Algorithm, MessageDigest, ParameterSet, Signature, SigningKey};
    use aioli_gpu::{Item, SigningItem};
    use std::time::{Duration, Instant};

    impl Gpu {
        pub(crate) fn open() -> Result<Self, Error> {
            Ok(Self(aioli_gpu::Gpu::open()?))
        }

        pub(crate) fn name(&self) -> Result<String, Error> {
            Ok(self.0.name()?)
        }

        /// Measures batches of keygen, sign and verify. `verify` has a key for each signature,
        /// `verify_one_key` one key for all.
        pub(crate) fn measure(&self, set: Algorithm, time: Duration) -> Result<Vec<Measurement>, Error> {
            aioli::with_set!(set, P => self.measure_set::<P>(time))
        }

        fn measure_set<P: ParameterSet>(&self, time: Duration) -> Result<Vec<Measurement>, Error> {
            let keys: Vec<SigningKey<P>> = (0..BATCH).map(|_| SigningKey::generate()).collect::<Result<_, _>>()?;
            let public_keys = self.0.verifying_keys(&keys)?;
            let digests: Vec<MessageDigest<P>> = (0..BATCH).map(|i| MessageDigest::of(&i.to_le_bytes())).collect();
            let signing_items = |one_key: bool| -> Vec<SigningItem<'_, P>> {
                let item = |i: usize| SigningItem { key: &keys[if one_key { 0 } else { i }], digest: &digests[i] };
                (0..BATCH).map(item).collect()
            };
            let sign = |one_key| -> Result<Vec<Signature<P>>, Error> {
                Ok(self.0.sign_batch(&signing_items(one_key))?.into_iter().collect::<Result<_, _>>()?)
            };
            let signatures = sign(false)?;
            let signatures_of_one_key = sign(true)?;
            let items = |signatures, one_key: bool| -> Vec<Item<'_, P>> {
                let signatures: &Vec<Signature<P>> = signatures;
                let key = |i: usize| &public_keys[if one_key { 0 } else { i }];
                let items = signatures.iter().enumerate();
                items.map(|(i, signature)| Item { key: key(i), digest: &digests[i], signature }).collect()
            };
            let a_key_each = items(&signatures, false);
            let one_key = items(&signatures_of_one_key, true);
            let verify = |items| -> Result<(), Error> {
                Ok(self.0.verify_batch::<P>(items)?.into_iter().collect::<Result<(), _>>()?)
            };
            let to_sign = signing_items(false);
            type Operation<'a> = (&'static str, Box<dyn Fn() -> Result<(), Error> + 'a>);
            let operations: [Operation<'_>; 4] = [
                ("keygen", Box::new(|| Ok(self.0.verifying_keys(&keys).map(drop)?))),
                ("sign", Box::new(|| Ok(self.0.sign_batch(&to_sign).map(drop)?))),
                ("verify", Box::new(|| verify(&a_key_each))),
                ("verify_one_key", Box::new(|| verify(&one_key))),
            ];
            operations
                .iter()
                .map(|(name, run)| {
                    run()?;
                    let mut samples = Vec::new();
                    let begun = Instant::now();
                    while begun.elapsed() < time || samples.len() < MIN_SAMPLES {
                        let start = Instant::now();
                        run()?;
                        samples.push((start.elapsed().as_nanos() as f64 / BATCH as f64, None));
                    }
                    Ok(summary(P::ALGORITHM, "gpu", name, samples, 1))
                })
                .collect()
        }
    }

    impl From<aioli_gpu::Error> for Error {
        fn from(error: aioli_gpu::Error) -> Self {
            match error {
                aioli_gpu::Error::Library(error) => Self::Library(error),
                error => Self::Usage(error.to_string()),
            }
        }
    }

    /// Operations of a batch.
    const BATCH: usize = 1 << 14;
}
