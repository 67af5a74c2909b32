//! The errors of a whole batch.

/// Why a batch failed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A library of CUDA is not on this machine.
    NoLibrary {
        /// The library: the driver or the compiler.
        name: &'static str,
    },
    /// The driver finds no GPU that it can use.
    NoDevice,
    /// A call of CUDA failed.
    Cuda {
        /// The call.
        call: &'static str,
        /// CUDA's description of the failure.
        reason: String,
    },
    /// The compiler of this machine rejects the kernels.
    Compile {
        /// The compiler's messages.
        log: String,
    },
    /// The GPU has less shared memory for a block than the kernels need.
    SharedMemory {
        /// The bytes that the kernels need.
        expected: usize,
        /// The bytes that the GPU has.
        given: usize,
    },
    /// The randomizers have another length than the batch needs.
    Randomizers {
        /// The bytes that the batch needs.
        expected: usize,
        /// The bytes that were given.
        given: usize,
    },
    /// The library failed.
    Library(aioli::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoLibrary { name } => write!(f, "no NVIDIA GPU can be used here: {name} is not installed"),
            Self::NoDevice => f.write_str("no NVIDIA GPU can be used here: the driver finds no device"),
            Self::Cuda { call, reason } => write!(f, "{call} failed: {reason}"),
            Self::Compile { log } => write!(f, "the kernels do not compile for this GPU: {log}"),
            Self::SharedMemory { expected, given } => {
                write!(f, "the kernels need {expected} bytes of shared memory in a block, this GPU has {given}")
            }
            Self::Randomizers { expected, given } => {
                write!(f, "the batch needs {expected} bytes of randomizers, {given} given")
            }
            Self::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<aioli::Error> for Error {
    fn from(error: aioli::Error) -> Self {
        Self::Library(error)
    }
}
