//! Batches of any size in bounded device memory, over any [`Device`].
//!
//! A batch is cut into chunks, which take turns in [`lanes`].

use crate::device::{Argument, Device, Kernel};
use crate::error::Error;
use crate::item::{Item, SigningItem};
use crate::lanes::{Lane, lanes, pipeline, regions};
use aioli::params::ByteArray;
use aioli::{ParameterSet, Signature, SigningKey, VerifyingKey};
use std::collections::HashMap;
use std::marker::PhantomData;
use zeroize::Zeroizing;

/// The batches of one parameter set on one device.
#[derive(Debug)]
pub struct Engine<P, D> {
    device: D,
    /// The most items of a chunk.
    chunk: usize,
    set: PhantomData<P>,
}

regions! {
    /// The regions of key generation.
    KeygenRegions {
        secret {
            secret_keys,
            /// The seed of P, and O.
            oils,
        }
        public {
            public_keys,
        }
    }
}

regions! {
    /// The regions of signing.
    SigningRegions {
        secret {
            secret_keys,
            /// The seed of P, and O.
            oils,
            /// The vinegar and r.
            vinegars,
            /// The products that `sign_map` leaves for `sign_solve`.
            products,
            randomizers,
        }
        public {
            digests,
            salts,
            /// t, and the key of the linear map if the set has one.
            targets,
            signatures,
            /// 1 for an item that is signed, else 0.
            solved,
            /// The items that need another sample.
            retried,
        }
    }
}

regions! {
    /// The regions of verification with a key for each signature.
    VerifyingRegions {
        secret {}
        public {
            public_keys,
            digests,
            signatures,
            /// t, and the key of the linear map if the set has one.
            targets,
            /// 1 for a valid signature, else 0.
            verdicts,
        }
    }
}

regions! {
    /// The regions of verification under one key, which is expanded.
    ExpandedRegions {
        secret {}
        public {
            digests,
            signatures,
            /// t, and the key of the linear map if the set has one.
            targets,
            /// 1 for a valid signature, else 0.
            verdicts,
        }
    }
}

impl<P: ParameterSet, D: Device> Engine<P, D> {
    /// Batches on a device that has the kernels of the set.
    pub fn new(device: D) -> Self {
        Self { device, chunk: CHUNK, set: PhantomData }
    }

    /// The same batches in smaller chunks, for tests.
    pub fn with_chunk(self, chunk: usize) -> Self {
        Self { chunk: chunk.clamp(1, CHUNK), ..self }
    }

    /// Computes the public keys of secret keys.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn verifying_keys(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        let strides = KeygenRegions {
            secret_keys: stride(P::SECRET_KEY_BYTES),
            oils: oil_stride::<P>(),
            public_keys: stride(P::PUBLIC_KEY_BYTES),
        };
        let mut results = Vec::with_capacity(keys.len());
        pipeline(
            lanes(&self.device, keys.len(), self.chunk, &strides)?,
            keys.len(),
            |lane, range| {
                let Lane { queue, memory: KeygenRegions { secret_keys, oils, public_keys }, .. } = lane;
                let packed = Zeroizing::new(pack(&keys[range.clone()], P::SECRET_KEY_BYTES, |key| key.as_ref()));
                self.device.upload(*queue, secret_keys, &packed)?;
                let count = Argument::Number(range.len() as u32);
                self.launch(*queue, Kernel::KeygenSeeds, range.len(), &[memory(secret_keys), memory(oils), count])?;
                self.launch(*queue, Kernel::KeygenMap, range.len(), &[memory(oils), memory(public_keys), count])
            },
            |lane, range| {
                let records = self.records(lane.queue, &lane.memory.public_keys, range.len(), P::PUBLIC_KEY_BYTES)?;
                for record in records.chunks_exact(stride(P::PUBLIC_KEY_BYTES)) {
                    results.push(VerifyingKey::try_from(&record[..P::PUBLIC_KEY_BYTES])?);
                }
                Ok(())
            },
        )?;
        Ok(results)
    }

    /// Signs each of the items, with `SALT_BYTES` of `randomizers` for each. One result for each
    /// item.
    ///
    /// # Errors
    ///
    /// [`Error::Randomizers`], and the errors of the device.
    pub fn sign_batch_with(
        &self,
        items: &[SigningItem<'_, P>],
        randomizers: &[u8],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        let expected = items.len() * P::SALT_BYTES;
        if randomizers.len() != expected {
            return Err(Error::Randomizers { expected, given: randomizers.len() });
        }
        let given: Vec<&[u8]> = randomizers.chunks_exact(P::SALT_BYTES).collect();
        let mut results = Vec::with_capacity(items.len());
        pipeline(
            lanes(&self.device, items.len(), self.chunk, &self.signing_strides())?,
            items.len(),
            |lane, range| {
                let chunk = &items[range.clone()];
                let Lane { queue, memory: SigningRegions { secret_keys, digests, randomizers, .. }, .. } = lane;
                let packed = Zeroizing::new(pack(chunk, P::SECRET_KEY_BYTES, |item| item.key.as_ref()));
                self.device.upload(*queue, secret_keys, &packed)?;
                self.device.upload(*queue, digests, &pack(chunk, digest_bytes::<P>(), |item| item.digest.as_ref()))?;
                let packed = Zeroizing::new(pack(&given[range.clone()], P::SALT_BYTES, |bytes| bytes));
                self.device.upload(*queue, randomizers, &packed)?;
                self.sample(lane, 0, range.len(), false)
            },
            |lane, range| {
                let signed = self.retry(lane, range.len())?;
                let records = self.records(lane.queue, &lane.memory.signatures, range.len(), P::SIGNATURE_BYTES)?;
                for (record, signed) in records.chunks_exact(stride(P::SIGNATURE_BYTES)).zip(signed) {
                    results.push(match signed {
                        0 => Err(aioli::Error::SamplesExhausted),
                        _ => Signature::try_from(&record[..P::SIGNATURE_BYTES]),
                    });
                }
                Ok(())
            },
        )?;
        Ok(results)
    }

    fn signing_strides(&self) -> SigningRegions<usize> {
        SigningRegions {
            secret_keys: stride(P::SECRET_KEY_BYTES),
            oils: oil_stride::<P>(),
            vinegars: stride(P::K * P::V_BYTES + P::R_BYTES),
            products: self.device.facts().products_bytes(),
            randomizers: stride(P::SALT_BYTES),
            digests: stride(digest_bytes::<P>()),
            salts: stride(P::SALT_BYTES),
            targets: target_stride::<P>(),
            signatures: stride(P::SIGNATURE_BYTES),
            solved: size_of::<u32>(),
            retried: size_of::<u32>(),
        }
    }

    /// Tries further samples for the first `count` items of a lane until all are signed, or until
    /// no sample is left. Returns 0 for each item that is not signed.
    fn retry(&self, lane: &mut Lane<'_, SigningRegions<usize>, D>, count: usize) -> Result<Vec<u32>, Error> {
        let mut sample = 1;
        loop {
            let signed = self.words(lane.queue, &lane.memory.solved, count)?;
            let failed: Vec<u32> = (0..count as u32).filter(|&i| signed[i as usize] == 0).collect();
            if failed.is_empty() || sample == SAMPLES {
                return Ok(signed);
            }
            let list: Vec<u8> = failed.iter().flat_map(|i| i.to_le_bytes()).collect();
            self.device.upload(lane.queue, &mut lane.memory.retried, &list)?;
            self.sample(lane, sample, failed.len(), true)?;
            sample += 1;
        }
    }

    /// Tries vinegar sample number `sample` for `count` items of a lane: the first ones, or those
    /// listed in `retried`.
    fn sample(
        &self,
        lane: &Lane<'_, SigningRegions<usize>, D>,
        sample: u32,
        count: usize,
        listed: bool,
    ) -> Result<(), Error> {
        let SigningRegions {
            secret_keys,
            oils,
            vinegars,
            products,
            digests,
            randomizers,
            salts,
            targets,
            signatures,
            solved,
            retried,
        } = &lane.memory;
        let list = if listed { memory(retried) } else { Argument::Null };
        let sample = Argument::Number(sample);
        let number = Argument::Number(count as u32);
        let arguments = [
            list,
            memory(secret_keys),
            memory(digests),
            memory(randomizers),
            sample,
            memory(oils),
            memory(salts),
            memory(targets),
            memory(vinegars),
            number,
        ];
        self.launch(lane.queue, Kernel::SignSeeds, count, &arguments)?;
        let arguments = [list, memory(oils), memory(vinegars), memory(targets), memory(products), number];
        self.launch(lane.queue, Kernel::SignMap, count, &arguments)?;
        let arguments = [
            list,
            memory(oils),
            memory(vinegars),
            memory(targets),
            memory(salts),
            memory(products),
            memory(signatures),
            memory(solved),
            number,
        ];
        self.launch(lane.queue, Kernel::SignSolve, count, &arguments)
    }

    /// Verifies each of the items. One result for each.
    ///
    /// A key that at least 16 items share is expanded once, and stays in device memory for them.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn verify_batch(&self, items: &[Item<'_, P>]) -> Result<Vec<Result<(), aioli::Error>>, Error> {
        let mut by_key = HashMap::<&[u8], Vec<usize>>::new();
        for (i, item) in items.iter().enumerate() {
            by_key.entry(item.key.as_ref()).or_default().push(i);
        }
        let (shared, single): (Vec<_>, Vec<_>) = by_key.into_values().partition(|items| items.len() >= SHARED);
        let mut valid = vec![false; items.len()];
        let mut single: Vec<usize> = single.into_iter().flatten().collect();
        single.sort_unstable();
        self.verify_each(items, &single, &mut valid)?;
        for same in shared {
            self.verify_one_key(items, &same, &mut valid)?;
        }
        Ok(valid.into_iter().map(|valid| if valid { Ok(()) } else { Err(aioli::Error::InvalidSignature) }).collect())
    }

    /// Verifies the chosen items, each with its own key.
    fn verify_each(&self, items: &[Item<'_, P>], chosen: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        let strides = VerifyingRegions {
            public_keys: stride(P::PUBLIC_KEY_BYTES),
            digests: stride(digest_bytes::<P>()),
            signatures: stride(P::SIGNATURE_BYTES),
            targets: target_stride::<P>(),
            verdicts: size_of::<u32>(),
        };
        pipeline(
            lanes(&self.device, chosen.len(), self.chunk, &strides)?,
            chosen.len(),
            |lane, range| {
                let queue = lane.queue;
                let chunk = &chosen[range.clone()];
                let VerifyingRegions { public_keys, digests, signatures, targets, verdicts } = &mut lane.memory;
                let packed = pack(chunk, P::PUBLIC_KEY_BYTES, |&i| items[i].key.as_ref());
                self.device.upload(queue, public_keys, &packed)?;
                self.upload_signed(queue, digests, signatures, items, chunk)?;
                let number = Argument::Number(range.len() as u32);
                let arguments = [memory(digests), memory(signatures), memory(targets), number];
                self.launch(queue, Kernel::VerifyTargets, range.len(), &arguments)?;
                let arguments = [memory(public_keys), memory(signatures), memory(targets), memory(verdicts), number];
                self.launch(queue, Kernel::VerifyMap, range.len(), &arguments)
            },
            |lane, range| self.verdicts(lane.queue, &lane.memory.verdicts, &chosen[range], valid),
        )
    }

    /// Verifies the chosen items, which share a key, with the key expanded.
    fn verify_one_key(&self, items: &[Item<'_, P>], chosen: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        let key = items[chosen[0]].key.as_ref();
        let mut public_key = self.device.allocate(0, stride(P::PUBLIC_KEY_BYTES))?;
        let expanded = self.device.allocate(0, stride(P::P_BYTES))?;
        self.device.upload(0, &mut public_key, &pack(&[key], P::PUBLIC_KEY_BYTES, |key| key))?;
        self.launch(0, Kernel::ExpandMap, 1, &[memory(&public_key), memory(&expanded)])?;
        // The other queue reads the expanded key, too.
        self.device.finish(0)?;
        let strides = ExpandedRegions {
            digests: stride(digest_bytes::<P>()),
            signatures: stride(P::SIGNATURE_BYTES),
            targets: target_stride::<P>(),
            verdicts: size_of::<u32>(),
        };
        pipeline(
            lanes(&self.device, chosen.len(), self.chunk, &strides)?,
            chosen.len(),
            |lane, range| {
                let queue = lane.queue;
                let ExpandedRegions { digests, signatures, targets, verdicts } = &mut lane.memory;
                self.upload_signed(queue, digests, signatures, items, &chosen[range.clone()])?;
                let number = Argument::Number(range.len() as u32);
                let arguments = [memory(digests), memory(signatures), memory(targets), number];
                self.launch(queue, Kernel::VerifyTargets, range.len(), &arguments)?;
                let arguments = [
                    memory(&public_key),
                    memory(&expanded),
                    memory(signatures),
                    memory(targets),
                    memory(verdicts),
                    number,
                ];
                self.launch(queue, Kernel::VerifyExpandedMap, range.len(), &arguments)
            },
            |lane, range| self.verdicts(lane.queue, &lane.memory.verdicts, &chosen[range], valid),
        )
    }

    /// Uploads digests and signatures of the items of a chunk.
    fn upload_signed(
        &self,
        queue: usize,
        digests: &mut D::Memory,
        signatures: &mut D::Memory,
        items: &[Item<'_, P>],
        chunk: &[usize],
    ) -> Result<(), Error> {
        self.device.upload(queue, digests, &pack(chunk, digest_bytes::<P>(), |&i| items[i].digest.as_ref()))?;
        self.device.upload(queue, signatures, &pack(chunk, P::SIGNATURE_BYTES, |&i| items[i].signature.as_ref()))
    }

    /// Downloads the verdicts on the items of a chunk.
    fn verdicts(&self, queue: usize, verdicts: &D::Memory, chunk: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        for (&i, verdict) in chunk.iter().zip(self.words(queue, verdicts, chunk.len())?) {
            valid[i] = verdict == 1;
        }
        Ok(())
    }

    /// Downloads the first `count` words of a region.
    fn words(&self, queue: usize, region: &D::Memory, count: usize) -> Result<Vec<u32>, Error> {
        let mut bytes = vec![0; count * size_of::<u32>()];
        self.device.download(queue, region, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }

    /// Downloads the first `count` records of `length` bytes, with their padding.
    fn records(&self, queue: usize, region: &D::Memory, count: usize, length: usize) -> Result<Vec<u8>, Error> {
        let mut records = vec![0; count * stride(length)];
        self.device.download(queue, region, &mut records)?;
        Ok(records)
    }

    fn launch(
        &self,
        queue: usize,
        kernel: Kernel,
        items: usize,
        arguments: &[Argument<'_, D::Memory>],
    ) -> Result<(), Error> {
        self.device.launch(queue, kernel, self.device.facts().size(kernel, items), arguments)
    }
}

fn memory<M>(memory: &M) -> Argument<'_, M> {
    Argument::Memory(memory)
}

/// Records of `length` bytes, each padded with zeros.
fn pack<'a, T>(items: &'a [T], length: usize, bytes: impl Fn(&'a T) -> &'a [u8]) -> Vec<u8> {
    let mut packed = vec![0; items.len() * stride(length)];
    for (record, item) in packed.chunks_exact_mut(stride(length)).zip(items) {
        record[..length].copy_from_slice(bytes(item));
    }
    packed
}

/// Bytes from one record to the next: a multiple of 16 (`stride16` of `kernels/params.cuh`).
const fn stride(length: usize) -> usize {
    length.next_multiple_of(16)
}

const fn oil_stride<P: ParameterSet>() -> usize {
    stride(aioli::params::PUBLIC_SEED_BYTES + P::O_BYTES)
}

const fn target_stride<P: ParameterSet>() -> usize {
    stride(if P::LINEAR { P::M_BYTES + 32 } else { P::M_BYTES })
}

fn digest_bytes<P: ParameterSet>() -> usize {
    P::DigestBytes::ZERO.as_ref().len()
}

/// The most items of a chunk: enough for every multiprocessor to work on many of them.
const CHUNK: usize = 1 << 14;
/// Items of a key from which on expanding it pays.
const SHARED: usize = 16;
/// Vinegar samples that the specification allows for a signature.
const SAMPLES: u32 = 256;
