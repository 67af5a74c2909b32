//! Lanes: a batch in chunks that take turns in bounded device memory.
//!
//! Each lane has a queue of the device and memory for one chunk. While the device works on the
//! chunk of one lane, the host packs and copies the chunk of the other.

use crate::device::Device;
use crate::error::Error;
use std::ops::Range;

/// A queue of the device, and memory for a chunk, by region.
///
/// Its secret regions are cleared once a chunk has been collected, or when the lane is dropped
/// after an error.
pub(crate) struct Lane<'d, S: Strides, D: Device> {
    device: &'d D,
    pub(crate) queue: usize,
    pub(crate) memory: S::Regions<D::Memory>,
    /// The most items of a chunk.
    chunk: usize,
    /// The items of the chunk that the device works on.
    pending: Option<Range<usize>>,
}

impl<S: Strides, D: Device> Lane<'_, S, D> {
    fn clear(&mut self) -> Result<(), Error> {
        S::secrets(&mut self.memory).into_iter().try_for_each(|secret| self.device.clear(self.queue, secret))
    }
}

impl<S: Strides, D: Device> Drop for Lane<'_, S, D> {
    fn drop(&mut self) {
        if self.pending.is_some() {
            for secret in S::secrets(&mut self.memory) {
                // The batch has failed already. The next region may still be cleared.
                let _ = self.device.clear(self.queue, secret);
            }
        }
    }
}

/// Named regions of device memory, by the bytes that one item takes in each of them.
pub(crate) trait Strides {
    /// The same regions, with the memory of each.
    type Regions<M>;

    /// Bytes of one item in all regions together.
    fn item_bytes(&self) -> usize;

    /// Allocates memory for `items` items, for use in one queue.
    fn allocate<D: Device>(&self, device: &D, queue: usize, items: usize) -> Result<Self::Regions<D::Memory>, Error>;

    /// The regions that hold secrets.
    fn secrets<M>(regions: &mut Self::Regions<M>) -> Vec<&mut M>;
}

/// Declares a struct of regions, and which of them hold secrets; with numbers for fields it holds
/// their [`Strides`].
macro_rules! regions {
    (
        $(#[$doc:meta])*
        $name:ident {
            secret { $($(#[$secret_doc:meta])* $secret:ident,)* }
            public { $($(#[$public_doc:meta])* $public:ident,)* }
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name<T> {
            $($(#[$secret_doc])* $secret: T,)*
            $($(#[$public_doc])* $public: T,)*
        }

        impl $crate::lanes::Strides for $name<usize> {
            type Regions<M> = $name<M>;

            fn item_bytes(&self) -> usize {
                [$(self.$secret,)* $(self.$public),*].iter().sum()
            }

            fn allocate<D: Device>(&self, device: &D, queue: usize, items: usize) -> Result<$name<D::Memory>, Error> {
                Ok($name {
                    $($secret: device.allocate(queue, self.$secret * items)?,)*
                    $($public: device.allocate(queue, self.$public * items)?,)*
                })
            }

            fn secrets<M>(_regions: &mut $name<M>) -> Vec<&mut M> {
                vec![$(&mut _regions.$secret),*]
            }
        }
    };
}
pub(crate) use regions;

/// Lanes for a batch of `items` items in chunks of at most `chunk`: two, or one if a chunk is
/// enough.
///
/// Each lane takes at most half of the device memory that a batch may have.
pub(crate) fn lanes<'d, S: Strides, D: Device>(
    device: &'d D,
    items: usize,
    chunk: usize,
    strides: &S,
) -> Result<Vec<Lane<'d, S, D>>, Error> {
    let fits = device.facts().memory / 2 / strides.item_bytes();
    let chunk = fits.clamp(1, chunk).min(items);
    let lanes = if items > chunk { 2 } else { items.min(1) };
    (0..lanes)
        .map(|queue| Ok(Lane { device, queue, memory: strides.allocate(device, queue, chunk)?, chunk, pending: None }))
        .collect()
}

/// Submits chunk after chunk, and collects each of them before its lane is used again.
///
/// Chunks are collected in the order of their items.
pub(crate) fn pipeline<S: Strides, D: Device>(
    mut lanes: Vec<Lane<'_, S, D>>,
    items: usize,
    mut submit: impl FnMut(&mut Lane<'_, S, D>, Range<usize>) -> Result<(), Error>,
    mut collect: impl FnMut(&mut Lane<'_, S, D>, Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(chunk) = lanes.first().map(|lane| lane.chunk) else { return Ok(()) };
    let mut finish = |lane: &mut Lane<'_, S, D>| {
        if let Some(range) = lane.pending.clone() {
            collect(lane, range)?;
            lane.clear()?;
            lane.pending = None;
        }
        Ok(())
    };
    let count = lanes.len();
    for (turn, first) in (0..items).step_by(chunk).enumerate() {
        let lane = &mut lanes[turn % count];
        finish(lane)?;
        let range = first..items.min(first + chunk);
        // From here on the lane may hold secrets.
        lane.pending = Some(range.clone());
        submit(lane, range)?;
    }
    // The lane after the one used last holds the older chunk.
    let turns = items.div_ceil(chunk);
    (turns..turns + count).try_for_each(|turn| finish(&mut lanes[turn % count]))
}
