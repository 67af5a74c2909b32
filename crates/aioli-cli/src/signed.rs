//! The files that are signed: digests of any length in constant memory, with a progress bar.

use crate::error::Error;
use crate::files;
use crate::terminal::{self, Unit};
use aioli::Algorithm;
use aioli::any::MessageDigest;
use indicatif::ProgressBar;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A progress bar over the bytes of all files, hidden if they are few.
pub(crate) fn progress(files: &[PathBuf]) -> ProgressBar {
    let total = files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum();
    match total {
        0..LARGE => ProgressBar::hidden(),
        _ => terminal::progress(total, Unit::Bytes),
    }
}

/// The digest of a prefix and a file, read in constant memory.
pub(crate) fn digest(
    algorithm: Algorithm,
    prefix: &str,
    file: &Path,
    progress: &ProgressBar,
) -> Result<MessageDigest, Error> {
    let message = prefix.as_bytes().chain(progress.wrap_read(files::open(file)?));
    let digest = MessageDigest::of_reader(algorithm, message);
    digest.map_err(|source| Error::File { doing: "read", path: file.into(), source })
}

/// Bytes from which a progress bar is shown. Fewer take too little time.
const LARGE: u64 = 64 << 20;
