//! The GPU and its batches.

use crate::batch::Engine;
use crate::cuda::{Context, Cuda};
use crate::error::Error;
use crate::item::{Item, SigningItem};
use aioli::batch::KeyPair;
use aioli::{Algorithm, ParameterSet, Signature, SigningKey, VerifyingKey};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;

/// The first NVIDIA GPU of the machine.
///
/// Batches may have any size. A batch takes at most 2 GiB of device memory, and its copies overlap
/// with its work. Batches of one parameter set run one after another, even if several threads call.
#[derive(Debug)]
pub struct Gpu {
    context: Context,
    /// The engines of the sets whose kernels are loaded, each an `Arc<Mutex<Engine<P, Cuda>>>`.
    engines: Mutex<HashMap<Algorithm, Arc<dyn Any + Send + Sync>>>,
}

impl Gpu {
    /// Finds CUDA and the GPU, and compiles nothing yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoLibrary`], [`Error::NoDevice`], [`Error::Cuda`].
    pub fn open() -> Result<Self, Error> {
        Ok(Self { context: Context::open()?, engines: Mutex::default() })
    }

    /// The driver's name for the GPU.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`].
    pub fn name(&self) -> Result<String, Error> {
        self.context.name()
    }

    /// Compiles and loads the kernels of a set. Without this call, the first batch of the set does
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`], [`Error::SharedMemory`], [`Error::Cuda`].
    pub fn prepare<P: ParameterSet>(&self) -> Result<(), Error> {
        self.engine::<P>().map(drop)
    }

    /// Makes `count` fresh keys.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] if the system gives no randomness, and the errors of
    /// [`prepare`](Self::prepare).
    pub fn keygen_batch<P: ParameterSet>(&self, count: usize) -> Result<Vec<KeyPair<P>>, Error> {
        let keys: Vec<SigningKey<P>> = (0..count).map(|_| SigningKey::generate()).collect::<Result<_, _>>()?;
        let public_keys = self.verifying_keys(&keys)?;
        Ok(keys.into_iter().zip(public_keys).collect())
    }

    /// Computes the public keys of secret keys.
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare).
    pub fn verifying_keys<P: ParameterSet>(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        locked(&*self.engine::<P>()?).verifying_keys(keys)
    }

    /// Signs each of the items with fresh randomness. Returns one result for each item, whose only
    /// error is [`aioli::Error::SamplesExhausted`].
    ///
    /// # Errors
    ///
    /// [`Error::Library`] if the system gives no randomness, and the errors of
    /// [`prepare`](Self::prepare).
    pub fn sign_batch<P: ParameterSet>(
        &self,
        items: &[SigningItem<'_, P>],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        let mut randomizers = Zeroizing::new(vec![0; items.len() * P::SALT_BYTES]);
        getrandom::fill(&mut randomizers).map_err(|_| aioli::Error::Randomness)?;
        for (item, randomizer) in items.iter().zip(randomizers.chunks_exact_mut(P::SALT_BYTES)) {
            let fresh = Zeroizing::new(randomizer.to_vec());
            aioli::hazmat::derive_randomizer::<P>(item.key.as_seed(), &fresh, randomizer)?;
        }
        self.sign_batch_with(items, &randomizers)
    }

    /// Signs each of the items with given randomizers, `SALT_BYTES` for each, which are used as
    /// they are: [`aioli::hazmat`] says what that asks of them.
    ///
    /// # Errors
    ///
    /// [`Error::Randomizers`], and the errors of [`prepare`](Self::prepare).
    pub fn sign_batch_with<P: ParameterSet>(
        &self,
        items: &[SigningItem<'_, P>],
        randomizers: &[u8],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        locked(&*self.engine::<P>()?).sign_batch_with(items, randomizers)
    }

    /// Verifies each of the items. One result for each item, [`aioli::Error::InvalidSignature`] if
    /// the signature is not valid.
    ///
    /// A key that at least 16 of the items share is expanded once.
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare).
    pub fn verify_batch<P: ParameterSet>(&self, items: &[Item<'_, P>]) -> Result<Vec<Result<(), aioli::Error>>, Error> {
        locked(&*self.engine::<P>()?).verify_batch(items)
    }

    fn engine<P: ParameterSet>(&self) -> Result<Arc<Mutex<Engine<P, Cuda>>>, Error> {
        let mut engines = locked(&self.engines);
        if let Some(engine) = engines.get(&P::ALGORITHM).cloned().and_then(|engine| engine.downcast().ok()) {
            return Ok(engine);
        }
        let engine = Arc::new(Mutex::new(Engine::new(Cuda::new::<P>(&self.context)?)));
        engines.insert(P::ALGORITHM, engine.clone());
        Ok(engine)
    }
}

/// The contents of a mutex. A panic of another thread leaves nothing half done in them.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
