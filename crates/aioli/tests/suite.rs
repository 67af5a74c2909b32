//! The tests of the public interface, in one binary: as binaries of their own, each would compile
//! the scheme for all sets and backends again.

#[path = "suite/api.rs"]
mod api;
#[cfg(feature = "rayon")]
#[path = "suite/batch.rs"]
mod batch;
#[path = "suite/differential.rs"]
mod differential;
#[path = "suite/faults.rs"]
mod faults;
#[path = "suite/malformed.rs"]
mod malformed;
#[path = "suite/one_seed.rs"]
mod one_seed;
#[path = "suite/random.rs"]
mod random;
#[path = "suite/stack.rs"]
mod stack;
#[path = "suite/trace.rs"]
mod trace;
#[path = "suite/vectors.rs"]
mod vectors;
