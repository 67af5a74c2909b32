//! Batches of any size in bounded device memory, over any [`Device`].
//!
//! A batch is cut into chunks. Two lanes, each with its own memory and queue, take them in turn: while the device works
//! on the chunk of one, the host packs and copies that of the other.

use crate::device::{Argument, Device, Kernel};
use crate::{Error, Signing, Verification};
use aioli::params::ByteArray;
use aioli::{ParameterSet, Signature, SigningKey, VerifyingKey};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use zeroize::Zeroize;

/// The batches of one parameter set on one device.
#[derive(Debug)]
pub struct Engine<P, D> {
    device: D,
    /// The most items of a chunk.
    chunk: usize,
    set: PhantomData<P>,
}

impl<P: ParameterSet, D: Device> Engine<P, D> {
    /// On a device that has the kernels of the set.
    pub fn new(device: D) -> Self {
        Self { device, chunk: CHUNK, set: PhantomData }
    }

    /// The same with smaller chunks, for tests.
    pub fn with_chunk(self, chunk: usize) -> Self {
        Self { chunk: chunk.clamp(1, CHUNK), ..self }
    }

    /// The public keys of secret keys.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn keygen(&self, keys: &[SigningKey<P>]) -> Result<Vec<VerifyingKey<P>>, Error> {
        let strides = [stride(P::SECRET_KEY_BYTES), oil_stride::<P>(), stride(P::PUBLIC_KEY_BYTES)];
        let mut public_keys = Vec::with_capacity(keys.len());
        let lanes = self.lanes(keys.len(), strides)?;
        self.pipeline(
            lanes,
            keys.len(),
            |lane, range| {
                let Lane { queue, memory: [secret, oils, public], .. } = lane;
                let mut packed = pack(&keys[range.clone()], P::SECRET_KEY_BYTES, |key| key.as_ref());
                self.device.upload(*queue, secret, &packed)?;
                packed.zeroize();
                let count = Argument::Number(range.len() as u32);
                self.launch(*queue, Kernel::KeygenSeeds, range.len(), &[memory(secret), memory(oils), count])?;
                self.launch(*queue, Kernel::KeygenMap, range.len(), &[memory(oils), memory(public), count])
            },
            |lane, range| {
                let Lane { queue, memory: [secret, oils, public], .. } = lane;
                let records = self.records(*queue, public, range.len(), P::PUBLIC_KEY_BYTES)?;
                for record in records.chunks_exact(stride(P::PUBLIC_KEY_BYTES)) {
                    public_keys.push(VerifyingKey::try_from(&record[..P::PUBLIC_KEY_BYTES])?);
                }
                [secret, oils].into_iter().try_for_each(|secret| self.device.clear(*queue, secret))
            },
        )?;
        Ok(public_keys)
    }

    /// Signs; `randomizers` holds `SALT_BYTES` for each item. One result for each.
    ///
    /// # Errors
    ///
    /// [`Error::Randomizers`], and those of the device.
    pub fn sign(
        &self,
        items: &[Signing<'_, P>],
        randomizers: &[u8],
    ) -> Result<Vec<Result<Signature<P>, aioli::Error>>, Error> {
        let (expected, given) = (items.len() * P::SALT_BYTES, randomizers.len());
        if expected != given {
            return Err(Error::Randomizers { expected, given });
        }
        let randomizers: Vec<&[u8]> = randomizers.chunks_exact(P::SALT_BYTES).collect();
        let vinegar = P::K * P::V_BYTES + P::R_BYTES;
        // What is secret, then what is not.
        let strides = [
            stride(P::SECRET_KEY_BYTES),
            oil_stride::<P>(),
            stride(vinegar),
            self.device.facts().record_bytes(),
            stride(digest_bytes::<P>()),
            stride(P::SALT_BYTES),
            stride(P::SALT_BYTES),
            target_stride::<P>(),
            stride(P::SIGNATURE_BYTES),
            size_of::<u32>(),
            size_of::<u32>(),
        ];
        let lanes = self.lanes(items.len(), strides)?;
        let mut results = Vec::with_capacity(items.len());
        self.pipeline(
            lanes,
            items.len(),
            |lane, range| {
                let (chunk, queue) = (&items[range.clone()], lane.queue);
                let [keys, _, _, _, digests, given, ..] = &mut lane.memory;
                let mut packed = pack(chunk, P::SECRET_KEY_BYTES, |item| item.key.as_ref());
                self.device.upload(queue, keys, &packed)?;
                packed.zeroize();
                self.device.upload(queue, digests, &pack(chunk, digest_bytes::<P>(), |item| item.digest.as_ref()))?;
                self.device.upload(queue, given, &pack(&randomizers[range.clone()], P::SALT_BYTES, |bytes| bytes))?;
                self.sample(lane, 0, range.len(), false)
            },
            |lane, range| {
                let (queue, count) = (lane.queue, range.len());
                let mut signed: Vec<u32> = Vec::new();
                for sample in 1..=256 {
                    let mut bytes = vec![0; count * size_of::<u32>()];
                    self.device.download(queue, &lane.memory[9], &mut bytes)?;
                    signed = words(&bytes);
                    let failed: Vec<u32> = (0..count as u32).filter(|&i| signed[i as usize] == 0).collect();
                    if failed.is_empty() || sample == 256 {
                        break;
                    }
                    let list: Vec<u8> = failed.iter().flat_map(|i| i.to_le_bytes()).collect();
                    self.device.upload(queue, &mut lane.memory[10], &list)?;
                    self.sample(lane, sample, failed.len(), true)?;
                }
                let records = self.records(queue, &lane.memory[8], count, P::SIGNATURE_BYTES)?;
                for (record, signed) in records.chunks_exact(stride(P::SIGNATURE_BYTES)).zip(signed) {
                    results.push(match signed {
                        0 => Err(aioli::Error::SamplesExhausted),
                        _ => Signature::try_from(&record[..P::SIGNATURE_BYTES]),
                    });
                }
                lane.memory[..4].iter_mut().try_for_each(|secret| self.device.clear(queue, secret))
            },
        )?;
        Ok(results)
    }

    /// Tries a vinegar sample for `count` items of a lane: those of its list, or all.
    fn sample(&self, lane: &Lane<D::Memory, 11>, sample: u32, count: usize, listed: bool) -> Result<(), Error> {
        let [keys, oils, vinegars, records, digests, given, salts, targets, signatures, solved, list] =
            lane.memory.each_ref().map(Argument::Memory);
        let list = if listed { list } else { Argument::Null };
        let (sample, number) = (Argument::Number(sample), Argument::Number(count as u32));
        let arguments = [list, keys, digests, given, sample, oils, salts, targets, vinegars, number];
        self.launch(lane.queue, Kernel::SignSeeds, count, &arguments)?;
        let arguments = [list, oils, vinegars, targets, records, number];
        self.launch(lane.queue, Kernel::SignMap, count, &arguments)?;
        let arguments = [list, oils, vinegars, targets, salts, records, signatures, solved, number];
        self.launch(lane.queue, Kernel::SignSolve, count, &arguments)
    }

    /// Verifies. One result for each item.
    ///
    /// A key of at least 16 items is expanded, once, and stays in device memory for them.
    ///
    /// # Errors
    ///
    /// Those of the device.
    pub fn verify(&self, items: &[Verification<'_, P>]) -> Result<Vec<Result<(), aioli::Error>>, Error> {
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

    fn verify_each(&self, items: &[Verification<'_, P>], chosen: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        let strides = [
            stride(P::PUBLIC_KEY_BYTES),
            stride(digest_bytes::<P>()),
            stride(P::SIGNATURE_BYTES),
            target_stride::<P>(),
            size_of::<u32>(),
        ];
        self.pipeline(
            self.lanes(chosen.len(), strides)?,
            chosen.len(),
            |lane, range| {
                let (queue, chunk) = (lane.queue, &chosen[range.clone()]);
                let [keys, digests, signatures, targets, verdicts] = &mut lane.memory;
                self.device.upload(queue, keys, &pack(chunk, P::PUBLIC_KEY_BYTES, |&i| items[i].key.as_ref()))?;
                self.upload_signed(queue, digests, signatures, items, chunk)?;
                let number = Argument::Number(range.len() as u32);
                let arguments = [memory(digests), memory(signatures), memory(targets), number];
                self.launch(queue, Kernel::VerifyTargets, range.len(), &arguments)?;
                let arguments = [memory(keys), memory(signatures), memory(targets), memory(verdicts), number];
                self.launch(queue, Kernel::VerifyMap, range.len(), &arguments)
            },
            |lane, range| self.verdicts(lane.queue, &lane.memory[4], &chosen[range], valid),
        )
    }

    fn verify_one_key(&self, items: &[Verification<'_, P>], chosen: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        let key = items[chosen[0]].key.as_ref();
        let mut public_key = self.device.allocate(0, stride(P::PUBLIC_KEY_BYTES))?;
        let expanded = self.device.allocate(0, stride(P::P_BYTES))?;
        self.device.upload(0, &mut public_key, &pack(&[key], P::PUBLIC_KEY_BYTES, |key| key))?;
        self.launch(0, Kernel::ExpandMap, 1, &[memory(&public_key), memory(&expanded)])?;
        // The other queue uses it too.
        self.device.finish(0)?;
        let strides = [stride(digest_bytes::<P>()), stride(P::SIGNATURE_BYTES), target_stride::<P>(), size_of::<u32>()];
        self.pipeline(
            self.lanes(chosen.len(), strides)?,
            chosen.len(),
            |lane, range| {
                let (queue, chunk) = (lane.queue, &chosen[range.clone()]);
                let [digests, signatures, targets, verdicts] = &mut lane.memory;
                self.upload_signed(queue, digests, signatures, items, chunk)?;
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
            |lane, range| self.verdicts(lane.queue, &lane.memory[3], &chosen[range], valid),
        )
    }

    fn upload_signed(
        &self,
        queue: usize,
        digests: &mut D::Memory,
        signatures: &mut D::Memory,
        items: &[Verification<'_, P>],
        chunk: &[usize],
    ) -> Result<(), Error> {
        self.device.upload(queue, digests, &pack(chunk, digest_bytes::<P>(), |&i| items[i].digest.as_ref()))?;
        self.device.upload(queue, signatures, &pack(chunk, P::SIGNATURE_BYTES, |&i| items[i].signature.as_ref()))
    }

    fn verdicts(&self, queue: usize, memory: &D::Memory, chunk: &[usize], valid: &mut [bool]) -> Result<(), Error> {
        let mut bytes = vec![0; size_of_val(chunk) / size_of::<usize>() * size_of::<u32>()];
        self.device.download(queue, memory, &mut bytes)?;
        for (&i, verdict) in chunk.iter().zip(words(&bytes)) {
            valid[i] = verdict == 1;
        }
        Ok(())
    }

    /// What is in the beginning of a lane's memory, `count` records of `length` bytes and what completes them.
    fn records(&self, queue: usize, memory: &D::Memory, count: usize, length: usize) -> Result<Vec<u8>, Error> {
        let mut records = vec![0; count * stride(length)];
        self.device.download(queue, memory, &mut records)?;
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

    /// Two lanes with memory for as many items as may be, of these many bytes each.
    fn lanes<const N: usize>(&self, items: usize, strides: [usize; N]) -> Result<Vec<Lane<D::Memory, N>>, Error> {
        let bytes: usize = strides.iter().sum();
        let fits = self.device.facts().memory / 2 / bytes;
        let chunk = fits.clamp(1, self.chunk).min(items);
        let lanes = if items > chunk { 2 } else { items.min(1) };
        (0..lanes)
            .map(|queue| {
                let memory: Vec<_> = strides
                    .iter()
                    .map(|stride| self.device.allocate(queue, stride * chunk))
                    .collect::<Result<_, _>>()?;
                let Ok(memory) = memory.try_into() else { unreachable!("as many as there are strides") };
                Ok(Lane { queue, memory, chunk, pending: None })
            })
            .collect()
    }

    /// Submits chunk after chunk, and collects each before its lane is used again.
    fn pipeline<const N: usize>(
        &self,
        mut lanes: Vec<Lane<D::Memory, N>>,
        items: usize,
        mut submit: impl FnMut(&mut Lane<D::Memory, N>, Range<usize>) -> Result<(), Error>,
        mut collect: impl FnMut(&mut Lane<D::Memory, N>, Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(chunk) = lanes.first().map(|lane| lane.chunk) else { return Ok(()) };
        let count = lanes.len();
        for (turn, first) in (0..items).step_by(chunk).enumerate() {
            let lane = &mut lanes[turn % count];
            if let Some(range) = lane.pending.take() {
                collect(lane, range)?;
            }
            let range = first..items.min(first + chunk);
            submit(lane, range.clone())?;
            lane.pending = Some(range);
        }
        // In the order of the items: the lane after the last one used is the older.
        let turns = items.div_ceil(chunk);
        for turn in turns..turns + count {
            let lane = &mut lanes[turn % count];
            if let Some(range) = lane.pending.take() {
                collect(lane, range)?;
            }
        }
        Ok(())
    }
}

/// A queue and the memory that a chunk needs.
struct Lane<M, const N: usize> {
    queue: usize,
    memory: [M; N],
    chunk: usize,
    /// The items that are being worked on.
    pending: Option<Range<usize>>,
}

fn memory<M>(memory: &M) -> Argument<'_, M> {
    Argument::Memory(memory)
}

/// Records of `length` bytes, each completed with zeros.
fn pack<'a, T>(items: &'a [T], length: usize, bytes: impl Fn(&'a T) -> &'a [u8]) -> Vec<u8> {
    let mut packed = vec![0; items.len() * stride(length)];
    for (record, item) in packed.chunks_exact_mut(stride(length)).zip(items) {
        record[..length].copy_from_slice(bytes(item));
    }
    packed
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// Records begin at multiples of 16 bytes (`stride16` of `kernels/params.cuh`).
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
/// Items of a key from which on it is worth expanding.
const SHARED: usize = 16;
