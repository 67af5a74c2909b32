//! Writes the kernels of every set into a folder, a file for each set, for nvcc and other
//! compilers.
//!
//! `cargo run -p aioli-gpu --example sources -- FOLDER SHARED_BYTES`

use aioli::{Algorithm, with_set};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: sources FOLDER SHARED_BYTES")?);
    let shared_bytes = arguments.next().ok_or("usage: sources FOLDER SHARED_BYTES")?.parse()?;
    std::fs::create_dir_all(&folder)?;
    for algorithm in Algorithm::ALL {
        let source = with_set!(algorithm, P => aioli_gpu::source::<P>(shared_bytes));
        std::fs::write(folder.join(format!("{algorithm}.cu")), source)?;
    }
    Ok(())
}
