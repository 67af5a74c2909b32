//! Reads small files, and writes files so that a partial one is never seen under its name.

use crate::error::{Error, Reason};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Who may read a file that this program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The owner alone (mode 0600 on Unix).
    Owner,
    /// Everyone, as far as the umask allows.
    Everyone,
}

/// A file whose contents are on disk, but not yet under its name. Dropping it removes it.
pub(crate) struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Writes `contents` into a temporary file beside `path`.
    pub(crate) fn new(path: &Path, contents: &[u8], access: Access) -> Result<Self, Error> {
        let failed = |source| Error::File { doing: "write", path: path.into(), source };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".aioli-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = match access {
                Access::Owner => 0o600,
                Access::Everyone => 0o666,
            };
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = access;
        let mut file = builder.tempfile_in(directory).map_err(failed)?;
        file.write_all(contents).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        Ok(Self { file, path: path.into() })
    }

    /// Gives the file its name. Without `force`, fails if another file has that name.
    pub(crate) fn commit(self, force: bool) -> Result<(), Error> {
        let Self { file, path } = self;
        let result = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        match result {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(path)),
            Err(error) => Err(Error::File { doing: "write", path, source: error.error }),
        }
    }
}

/// Writes a file whole or not at all, by way of [`Pending`].
pub(crate) fn write(path: &Path, contents: &[u8], access: Access, force: bool) -> Result<(), Error> {
    Pending::new(path, contents, access)?.commit(force)
}

/// Fails early if a file of this name exists. [`Pending::commit`] has the last word.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<(), Error> {
    match !force && path.symlink_metadata().is_ok() {
        true => Err(Error::Exists(path.into())),
        false => Ok(()),
    }
}

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
