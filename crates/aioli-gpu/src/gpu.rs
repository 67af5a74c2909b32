//! A GPU and its batches.

use crate::batch::Engine;
use crate::cuda::{Context, Cuda};
use crate::{Error, Signing, Verification};
use aioli::batch::KeyPair;
use aioli::{Algorithm, ParameterSet, Signature, SigningKey, VerifyingKey};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The first NVIDIA GPU of the machine.
///
/// Batches may have any size; they take at most 2 GiB of device memory, and copies overlap with work. Calls from several
/// threads are served one after another for a parameter set.
#[derive(Debug)]
pub struct Gpu {
    context: Context,
    /// The loaded kernels: for each set a mutex of its engine.
    engines: Mutex<HashMap<Algorithm, Arc<dyn Any + Send + Sync>>>,
}

impl Gpu {
    /// Finds CUDA and the GPU. Nothing is compiled yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoLibrary`], [`Error::NoDevice`], [`Error::Cuda`].
    pub fn open() -> Result<Self, Error> {
        Ok(Self { context: Context::open()?, engines: Mutex::default() })
    }

    /// The name that the driver has for it.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`].
    pub fn name(&self) -> Result<String, Error> {
        self.context.name()
    }

    /// Compiles and loads the kernels of a set, which otherwise its first batch does.
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
    /// [`Error::Library`] if there is no randomness; those of [`prepare`](Self::prepare).
    pub fn keygen_batch<P: ParameterSet>(&self, count: usize) -> Result<Vec<KeyPair<P>>, Error> {
        let keys: Vec<SigningKey<P>> = (0..count).map(|_| SigningKey::generate()).collect::<Result<_, _>>()?;
        let public_keys = self.verifying_keys(&keys)?;
        Ok(keys.into_iter().zip(public_keys).collect())
    }

    /// Computes the public keys of secret keys.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare).
    pub fn verifying_keys<P: ParameterSet>(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        locked(&*self.engine::<P>()?).keygen(keys)
    }

    /// Signs each of the items with fresh randomness. One result for each item, [`aioli::Error::SamplesExhausted`] being
    /// what can go wrong with one.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] if there is no randomness; those of [`prepare`](Self::prepare).
    pub fn sign_batch<P: ParameterSet>(
        &self,
        items: &[Signing<'_, P>],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        let mut randomizers = vec![0; items.len() * P::SALT_BYTES];
        getrandom::fill(&mut randomizers).map_err(|_| aioli::Error::Randomness)?;
        self.sign_batch_with(items, &randomizers)
    }

    /// Signs with given randomizers, `SALT_BYTES` for each item; zeros make the signatures deterministic.
    ///
    /// # Errors
    ///
    /// [`Error::Randomizers`]; those of [`prepare`](Self::prepare).
    pub fn sign_batch_with<P: ParameterSet>(
        &self,
        items: &[Signing<'_, P>],
        randomizers: &[u8],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        locked(&*self.engine::<P>()?).sign(items, randomizers)
    }

    /// Verifies each of the items. One result for each, [`aioli::Error::InvalidSignature`] if it is not valid.
    ///
    /// A key that at least 16 of the items share is expanded once.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare).
    pub fn verify_batch<P: ParameterSet>(
        &self,
        items: &[Verification<'_, P>],
    ) -> Result<Vec<Result<(), aioli::Error>>, Error> {
        locked(&*self.engine::<P>()?).verify(items)
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

/// The contents of a mutex; a panic elsewhere has left nothing half done in them.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
