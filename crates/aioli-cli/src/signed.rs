//! The files that are signed: digests of any length in constant memory, with a progress bar.

use crate::error::Error;
use crate::files;
use crate::terminal::{self, Unit};
use aioli::Algorithm;
use aioli::any::{MessageDigest, MessageHasher};
use indicatif::ProgressBar;
use std::io::{self, Write};
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
    let mut hasher = MessageHasher::new(algorithm);
    hasher.update(prefix.as_bytes());
    Ok(hash(hasher, file, progress)?.finalize())
}

/// A hasher that has read a file, in constant memory.
pub(crate) fn hash<H: Write>(mut hasher: H, file: &Path, progress: &ProgressBar) -> Result<H, Error> {
    let copied = io::copy(&mut progress.wrap_read(files::open(file)?), &mut hasher);
    copied.map_err(|source| Error::File { doing: "read", path: file.into(), source })?;
    Ok(hasher)
}

/// Bytes from which a progress bar is shown. Fewer take too little time.
const LARGE: u64 = 64 << 20;
