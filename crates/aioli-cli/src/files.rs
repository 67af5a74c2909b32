//! Reads small files, and shows the names of files.

use crate::error::{Error, Reason};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Refuses arguments of which more than one is read from standard input.
///
/// Standard input can be read only once: the second reader would see an empty file. Every command
/// passes all its inputs here before it reads any of them.
pub(crate) fn check_standard_input<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    match inputs.into_iter().filter(|path| is_standard_input(path)).count() {
        0 | 1 => Ok(()),
        uses => Err(Error::Usage(format!("standard input can be read only once, but {uses} arguments name it"))),
    }
}

/// Whether a path is `-` or one of the names that Unix systems give to standard input.
fn is_standard_input(path: &Path) -> bool {
    const NAMES: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    is_dash(path) || cfg!(unix) && NAMES.iter().any(|name| path == Path::new(name))
}

/// Opens a file for reading; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    if is_dash(path) {
        return Ok(Box::new(io::stdin()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(source) => Err(Error::File { doing: "read", path: path.into(), source }),
    }
}

/// Reads a key or signature file.
pub(crate) fn read(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
    // The room for everything is reserved here: growing would leave copies of a secret behind.
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(LIMIT as usize + 1));
    let read = open(path)?.take(LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|source| Error::File { doing: "read", path: path.into(), source })?;
    match bytes.len() as u64 > LIMIT {
        true => Err(Error::Malformed { path: path.into(), reason: Reason::TooLong { limit: LIMIT } }),
        false => Ok(bytes),
    }
}

/// The path with an ending appended: `a.tar` and `.sig` give `a.tar.sig`.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether a path is `-`, which means standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Bytes of the longest key or signature file that is read. The longest that this program writes
/// has about 8 KiB.
const LIMIT: u64 = 1 << 16;
