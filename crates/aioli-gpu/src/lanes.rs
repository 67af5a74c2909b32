//! Lanes: a batch in chunks that take turns in bounded device memory.
//!
//! Each lane has a queue of the device and memory for one chunk. While the device works on the
//! chunk of one lane, the host packs and copies the chunk of the other.

use crate::device::Device;
use crate::error::Error;
use std::ops::Range;

/// A queue of the device, and memory for a chunk, by region.
#[derive(Debug)]
pub(crate) struct Lane<R> {
    pub(crate) queue: usize,
    pub(crate) memory: R,
    /// The most items of a chunk.
    chunk: usize,
    /// The items of the chunk that the device works on.
    pending: Option<Range<usize>>,
}

/// Named regions of device memory, by the bytes that one item takes in each of them.
pub(crate) trait Strides {
    /// The same regions, with the memory of each.
    type Regions<M>;

    /// Bytes of one item in all regions together.
    fn item_bytes(&self) -> usize;

    /// Allocates memory for `items` items, for use in one queue.
    fn allocate<D: Device>(&self, device: &D, queue: usize, items: usize) -> Result<Self::Regions<D::Memory>, Error>;
}

/// Declares a struct of regions; with numbers for fields it holds their [`Strides`].
macro_rules! regions {
    ($(#[$doc:meta])* $name:ident { $($(#[$region_doc:meta])* $region:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name<T> {
            $($(#[$region_doc])* $region: T,)*
        }

        impl $crate::lanes::Strides for $name<usize> {
            type Regions<M> = $name<M>;

            fn item_bytes(&self) -> usize {
                [$(self.$region),*].iter().sum()
            }

            fn allocate<D: Device>(&self, device: &D, queue: usize, items: usize) -> Result<$name<D::Memory>, Error> {
                Ok($name { $($region: device.allocate(queue, self.$region * items)?),* })
            }
        }
    };
}
pub(crate) use regions;

/// The lanes of a batch.
pub(crate) type Lanes<S, D> = Vec<Lane<<S as Strides>::Regions<<D as Device>::Memory>>>;

/// Lanes for a batch of `items` items in chunks of at most `chunk`: two, or one if a chunk is
/// enough.
///
/// Each lane takes at most half of the device memory that a batch may have.
pub(crate) fn lanes<D: Device, S: Strides>(
    device: &D,
    items: usize,
    chunk: usize,
    strides: &S,
) -> Result<Lanes<S, D>, Error> {
    let fits = device.facts().memory / 2 / strides.item_bytes();
    let chunk = fits.clamp(1, chunk).min(items);
    let lanes = if items > chunk { 2 } else { items.min(1) };
    (0..lanes)
        .map(|queue| Ok(Lane { queue, memory: strides.allocate(device, queue, chunk)?, chunk, pending: None }))
        .collect()
}

/// Submits chunk after chunk, and collects each of them before its lane is used again.
///
/// Chunks are collected in the order of their items.
pub(crate) fn pipeline<R>(
    mut lanes: Vec<Lane<R>>,
    items: usize,
    mut submit: impl FnMut(&mut Lane<R>, Range<usize>) -> Result<(), Error>,
    mut collect: impl FnMut(&mut Lane<R>, Range<usize>) -> Result<(), Error>,
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
    // The lane after the one used last holds the older chunk.
    let turns = items.div_ceil(chunk);
    for turn in turns..turns + count {
        let lane = &mut lanes[turn % count];
        if let Some(range) = lane.pending.take() {
            collect(lane, range)?;
        }
    }
    Ok(())
}
