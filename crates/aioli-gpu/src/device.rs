//! The device that batches run on: memory, copies, and launches of kernels in two queues.
//!
//! A device is a GPU under CUDA or, in the tests, a process that runs the kernels on the CPU.

use crate::error::Error;
use std::fmt;

/// A device with the kernels of one parameter set.
///
/// The work in a queue runs in order. The queues, 0 and 1, do not wait for each other. Every method
/// fails with the errors of the device.
pub trait Device {
    /// A run of bytes on the device, at an address divisible by 16.
    type Memory;

    /// The needs of the kernels, and the resources of the device.
    fn facts(&self) -> Facts;

    /// Allocates memory of any content, for use in one queue at a time.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn allocate(&self, queue: usize, bytes: usize) -> Result<Self::Memory, Error>;

    /// Copies bytes to the beginning of the memory. When this returns, the caller may change them.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn upload(&self, queue: usize, memory: &mut Self::Memory, bytes: &[u8]) -> Result<(), Error>;

    /// Waits until the queue is empty, and copies the beginning of the memory to `bytes`.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn download(&self, queue: usize, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error>;

    /// Sets all of the memory to zero.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn clear(&self, queue: usize, memory: &mut Self::Memory) -> Result<(), Error>;

    /// Waits until the queue is empty.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn finish(&self, queue: usize) -> Result<(), Error>;

    /// Runs a kernel. The arguments must match its declaration, and the memory among them must be
    /// large enough for its items.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    fn launch(
        &self,
        queue: usize,
        kernel: Kernel,
        size: Size,
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<(), Error>;
}

/// The kernels of a set, which `kernels/` documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each kernel has its documentation in kernels/")]
pub enum Kernel {
    KeygenSeeds,
    KeygenMap,
    SignSeeds,
    SignMap,
    SignSolve,
    VerifyTargets,
    VerifyMap,
    ExpandMap,
    VerifyExpandedMap,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::KeygenSeeds,
        Self::KeygenMap,
        Self::SignSeeds,
        Self::SignMap,
        Self::SignSolve,
        Self::VerifyTargets,
        Self::VerifyMap,
        Self::ExpandMap,
        Self::VerifyExpandedMap,
    ];

    /// The name of the kernel in its source.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeygenSeeds => "keygen_seeds",
            Self::KeygenMap => "keygen_map",
            Self::SignSeeds => "sign_seeds",
            Self::SignMap => "sign_map",
            Self::SignSolve => "sign_solve",
            Self::VerifyTargets => "verify_targets",
            Self::VerifyMap => "verify_map",
            Self::ExpandMap => "expand_map",
            Self::VerifyExpandedMap => "verify_expanded_map",
        }
    }
}

/// An argument of a kernel.
pub enum Argument<'a, M> {
    /// The address of memory on the device.
    Memory(&'a M),
    /// The null address.
    Null,
    /// A number.
    Number(u32),
}

/// Does not show the memory, which may be secret.
impl<M> fmt::Debug for Argument<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(_) => f.write_str("Memory(..)"),
            Self::Null => f.write_str("Null"),
            Self::Number(number) => f.debug_tuple("Number").field(number).finish(),
        }
    }
}

// Written by hand: an argument only refers to memory, so `M` need not be `Clone`.
impl<M> Clone for Argument<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Argument<'_, M> {}

/// The size of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
}

/// The needs of the kernels, and the resources of the device.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    launch: Launch,
    /// Multiprocessors of the device.
    pub multiprocessors: u32,
    /// Bytes of device memory that a batch may take.
    pub memory: usize,
}

/// `struct Launch` of `kernels/mayo.cu`.
#[derive(Clone, Copy, Debug)]
struct Launch {
    /// Bytes of shared memory of a block, for each kernel that uses any.
    keygen_map: u32,
    sign_map: u32,
    verify_map: u32,
    expand_map: u32,
    sign_solve: u32,
    /// Threads of a block of the kernels that walk through P.
    map_threads: u32,
    /// Threads of a block of `sign_solve`.
    solve_threads: u32,
    /// Bytes of the products that `sign_map` leaves for `sign_solve`, for one item.
    products: u32,
}

impl Facts {
    /// Words of `aioli_launch`.
    pub const WORDS: usize = 8;

    /// The facts of a device, from the bytes of `aioli_launch`.
    pub fn new(launch: &[u8; 4 * Self::WORDS], multiprocessors: u32, memory: usize) -> Self {
        let (words, _) = launch.as_chunks();
        let words: [u32; Self::WORDS] = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
        let [keygen_map, sign_map, verify_map, expand_map, sign_solve, map_threads, solve_threads, products] = words;
        let launch =
            Launch { keygen_map, sign_map, verify_map, expand_map, sign_solve, map_threads, solve_threads, products };
        Self { launch, multiprocessors, memory }
    }

    /// The most shared memory that any kernel needs, in bytes.
    pub fn largest_shared(&self) -> u32 {
        Kernel::ALL.into_iter().map(|kernel| self.shared(kernel)).fold(0, u32::max)
    }

    /// Bytes of shared memory of a block.
    pub fn shared(&self, kernel: Kernel) -> u32 {
        match kernel {
            Kernel::KeygenSeeds | Kernel::SignSeeds | Kernel::VerifyTargets => 0,
            Kernel::KeygenMap => self.launch.keygen_map,
            Kernel::SignMap => self.launch.sign_map,
            Kernel::VerifyMap | Kernel::VerifyExpandedMap => self.launch.verify_map,
            Kernel::ExpandMap => self.launch.expand_map,
            Kernel::SignSolve => self.launch.sign_solve,
        }
    }

    /// Bytes of the products that `sign_map` leaves for `sign_solve`, for one item.
    pub fn products_bytes(&self) -> usize {
        self.launch.products as usize
    }

    /// The size of a launch for a number of items.
    pub fn size(&self, kernel: Kernel, items: usize) -> Size {
        let items = items as u32;
        let (blocks, threads) = match kernel {
            // Each item has a thread.
            Kernel::KeygenSeeds | Kernel::SignSeeds | Kernel::VerifyTargets => {
                (items.div_ceil(SEED_THREADS), SEED_THREADS)
            }
            // Each multiprocessor runs one block, which works on several items in turn.
            Kernel::KeygenMap | Kernel::SignMap | Kernel::VerifyMap | Kernel::VerifyExpandedMap => {
                (items.min(self.multiprocessors), self.launch.map_threads)
            }
            // The blocks share the expansion of a single key.
            Kernel::ExpandMap => (self.multiprocessors, self.launch.map_threads),
            // Each item has a block.
            Kernel::SignSolve => (items, self.launch.solve_threads),
        };
        Size { blocks, threads, shared: self.shared(kernel) }
    }
}

/// Threads of a block of the kernels in which each thread has an item of its own.
const SEED_THREADS: u32 = 128;
