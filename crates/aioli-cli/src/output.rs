//! Writes files so that a partial one is never seen under its name, and nothing valuable is lost.
//!
//! An output takes the place of a regular file or of nothing: a device, a directory, a pipe or a
//! symbolic link is refused. It is never one of the inputs, under whatever name, and it never takes
//! the place of a private key, even with `--force`. Only `keygen` replaces keys, see
//! [`crate::pair`].

use crate::error::Error;
use crate::interrupt::{Hold, Remembered, hold};
use crate::shown::shown;
use crate::{files, keys};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
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
    // Removed before it is forgotten.
    file: NamedTempFile,
    remembered: Remembered,
    path: PathBuf,
}

impl Pending {
    /// Writes `contents` into a temporary file beside `path`.
    pub(crate) fn new(path: &Path, contents: &[u8], access: Access) -> Result<Self, Error> {
        let mut held = hold();
        let mut pending = Self::empty(&mut held, path, access)?;
        drop(held);
        pending.fill(contents)?;
        Ok(pending)
    }

    /// Copies a key file and its permissions to a name that must be free. The caller holds
    /// interrupts back.
    pub(crate) fn copy(held: &mut Hold, from: &Path, to: &Path) -> Result<(), Error> {
        let contents = files::read(from)?;
        let mut pending = Self::empty(held, to, Access::Owner)?;
        pending.fill(&contents)?;
        let allowed =
            from.metadata().and_then(|metadata| pending.file.as_file().set_permissions(metadata.permissions()));
        allowed.map_err(|source| Error::File { doing: "copy", path: from.into(), source })?;
        pending.commit(held, false).map(drop)
    }

    fn empty(held: &mut Hold, path: &Path, access: Access) -> Result<Self, Error> {
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
        let file = builder.tempfile_in(directory(path));
        let file = file.map_err(|source| Error::File { doing: "write", path: path.into(), source })?;
        let remembered = held.remember(file.path());
        Ok(Self { file, remembered, path: path.into() })
    }

    fn fill(&mut self, contents: &[u8]) -> Result<(), Error> {
        let filled = self.file.write_all(contents).and_then(|()| self.file.as_file().sync_all());
        filled.map_err(|source| Error::File { doing: "write", path: self.path.clone(), source })
    }

    /// The name that the file will get.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name. Without `replace`, fails if another file has that name.
    /// The caller holds interrupts back.
    pub(crate) fn commit(self, _: &mut Hold, replace: bool) -> Result<File, Error> {
        let Self { file, remembered, path } = self;
        let result = if replace { file.persist(&path) } else { file.persist_noclobber(&path) };
        let result = result.map_err(|error| error.error);
        drop(remembered);
        match result {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(path)),
            Err(source) => Err(Error::File { doing: "write", path, source }),
        }
    }
}

/// Writes a file whole or not at all, by way of [`Pending`].
pub(crate) fn write(path: &Path, contents: &[u8], access: Access, force: bool) -> Result<(), Error> {
    let pending = Pending::new(path, contents, access)?;
    let mut held = hold();
    // The name may have been taken since the command began.
    check_kept(path, force)?;
    pending.commit(&mut held, force).map(drop)
}

/// Fails early if an output may not have this name. [`write`] has the last word.
pub(crate) fn check(path: &Path, force: bool, inputs: &Inputs) -> Result<(), Error> {
    inputs.check_output(path)?;
    check_kept(path, force)
}

/// Refuses to replace anything without `force`, and a private key or what is no regular file with
/// it.
fn check_kept(path: &Path, force: bool) -> Result<(), Error> {
    check_regular(path, force)?;
    match force && path.is_file() && keys::is_private(path) {
        true => Err(Error::PrivateKey(path.into())),
        false => Ok(()),
    }
}

/// Refuses to replace anything without `force`, and what is no regular file with it.
pub(crate) fn check_regular(path: &Path, force: bool) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(_) if !force => Err(Error::Exists(path.into())),
        Ok(metadata) if !metadata.is_file() => Err(Error::NotRegular(path.into())),
        // A name that cannot be looked up cannot be written either, and writing says why.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The files that a command reads.
pub(crate) struct Inputs(HashSet<Identity>);

impl Inputs {
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        Self(paths.into_iter().filter_map(identity).collect())
    }

    /// Refuses an output that is one of the inputs.
    pub(crate) fn check_output(&self, path: &Path) -> Result<(), Error> {
        match identity(path).is_some_and(|identity| self.0.contains(&identity)) {
            true => Err(Error::Usage(format!("{} is both input and output", shown(path)))),
            false => Ok(()),
        }
    }
}

/// Device and inode, which two names of one file share.
#[cfg(unix)]
type Identity = (u64, u64);
/// The canonical path, which two names of one file share unless they are hard links.
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let metadata = match files::is_dash(path) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata(),
        false => path.metadata(),
    };
    metadata.ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Whether two names are those of one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Whether this name is still that of the open file. Where files have no identity, it is assumed.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(metadata) = file.metadata() else { return false };
        identity(path) == Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Asks the system to store the names in the directory of `path`, as far as it can.
pub(crate) fn sync_directory(path: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory(path)).and_then(|directory| directory.sync_all());
    #[cfg(not(unix))]
    let _ = path;
}

/// The directory that holds a file.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
