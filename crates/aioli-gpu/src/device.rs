//! What the batches need of a device: memory, copies and launches in two queues. CUDA serves it, and in the tests a
//! process that runs the kernels on the CPU.

use crate::Error;

/// A device with the kernels of one parameter set.
///
/// Work of one queue runs in order; the queues, 0 and 1, do not wait for each other.
pub trait Device {
    /// A run of bytes on the device, at an address divisible by 16.
    type Memory;

    /// What the kernels need, and what the device has.
    fn facts(&self) -> Facts;

    /// Memory of any content, for use in one queue at a time.
    ///
    /// # Errors
    ///
    /// Those of the device; so for all methods.
    fn allocate(&self, queue: usize, bytes: usize) -> Result<Self::Memory, Error>;

    /// Copies bytes to the beginning of the memory; they may change when this returns.
    fn upload(&self, queue: usize, memory: &mut Self::Memory, bytes: &[u8]) -> Result<(), Error>;

    /// Copies the beginning of the memory to `bytes`, when all that is in the queue is done; returns after that.
    fn download(&self, queue: usize, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error>;

    /// Sets all of the memory to zero.
    fn clear(&self, queue: usize, memory: &mut Self::Memory) -> Result<(), Error>;

    /// Waits until all that is in the queue is done.
    fn finish(&self, queue: usize) -> Result<(), Error>;

    /// Runs a kernel. The arguments must be those of the kernel, and large enough for what it does.
    fn launch(
        &self,
        queue: usize,
        kernel: Kernel,
        size: Size,
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<(), Error>;
}

/// The kernels of a set; what they do stands at each in `kernels/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names of the kernels")]
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

    /// The name in the source.
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
#[expect(missing_docs, reason = "as they say")]
pub enum Argument<'a, M> {
    Memory(&'a M),
    Null,
    Number(u32),
}

// Whatever the memory is: an argument only refers to it.
impl<M> Clone for Argument<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Argument<'_, M> {}

/// How large a launch is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
}

/// What the kernels need, as `aioli_launch` in `kernels/mayo.cu` has it, and what the device has.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Bytes of shared memory, and threads of a block, by kernel.
    launch: [u32; Self::WORDS],
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory that a batch may take.
    pub memory: usize,
}

impl Facts {
    /// Words of `aioli_launch`.
    pub const WORDS: usize = 8;

    /// From the bytes of `aioli_launch`.
    pub fn new(launch: &[u8; 4 * Self::WORDS], multiprocessors: u32, memory: usize) -> Self {
        let (words, _) = launch.as_chunks();
        Self { launch: std::array::from_fn(|i| u32::from_le_bytes(words[i])), multiprocessors, memory }
    }

    /// The most shared memory that any kernel needs, in bytes.
    pub fn largest_shared(&self) -> u32 {
        Kernel::ALL.into_iter().map(|kernel| self.shared(kernel)).max().expect("there are kernels")
    }

    /// Bytes of shared memory of a block.
    pub fn shared(&self, kernel: Kernel) -> u32 {
        match kernel {
            Kernel::KeygenSeeds | Kernel::SignSeeds | Kernel::VerifyTargets => 0,
            Kernel::KeygenMap => self.launch[0],
            Kernel::SignMap => self.launch[1],
            Kernel::VerifyMap | Kernel::VerifyExpandedMap => self.launch[2],
            Kernel::ExpandMap => self.launch[3],
            Kernel::SignSolve => self.launch[4],
        }
    }

    /// Bytes of what one scheme leaves between `sign_map` and `sign_solve`.
    pub fn record_bytes(&self) -> usize {
        self.launch[7] as usize
    }

    /// The size of a launch for so many schemes.
    pub fn size(&self, kernel: Kernel, items: usize) -> Size {
        let items = items as u32;
        let (blocks, threads) = match kernel {
            // A thread for each scheme.
            Kernel::KeygenSeeds | Kernel::SignSeeds | Kernel::VerifyTargets => {
                (items.div_ceil(SEED_THREADS), SEED_THREADS)
            }
            // One block on a multiprocessor works on all the schemes that fall to it.
            Kernel::KeygenMap | Kernel::SignMap | Kernel::VerifyMap | Kernel::VerifyExpandedMap => {
                (items.min(self.multiprocessors), self.launch[5])
            }
            Kernel::ExpandMap => (self.multiprocessors, self.launch[5]),
            Kernel::SignSolve => (items, self.launch[6]),
        };
        Size { blocks, threads, shared: self.shared(kernel) }
    }
}

/// Threads of a block in which each works for itself.
const SEED_THREADS: u32 = 128;
