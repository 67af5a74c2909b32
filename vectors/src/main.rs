//! Writes the test vectors beside it: `cargo run --release -p aioli-vectors`.
//!
//! README.md and schema.json describe the files. Everything in them follows from labels, so the
//! program writes the same bytes each time. `cargo xtask vectors` holds the files against an
//! independent implementation.

mod file;
mod material;
mod private_keys;
mod public_keys;
mod sign;
mod verify;

use aioli::Algorithm;
use file::File;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for file in files() {
        std::fs::write(path(&file), file.text())?;
    }
    Ok(())
}

fn files() -> impl Iterator<Item = File> {
    let others = [sign::file, public_keys::file, private_keys::file];
    Algorithm::ALL.into_iter().map(verify::file).chain(others.into_iter().map(|make| make()))
}

fn path(file: &File) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(&file.name)
}

#[test]
fn the_committed_files_are_those_that_this_program_writes() {
    for file in files() {
        let committed = std::fs::read_to_string(path(&file)).unwrap();
        assert!(committed == file.text(), "{} differs: cargo run --release -p aioli-vectors", file.name);
    }
}
