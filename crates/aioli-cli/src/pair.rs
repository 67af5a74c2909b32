//! Gives a key pair its two names, so that a key is never lost and a pair always belongs together.
//!
//! A file system renames one file at a time. The old pair therefore gets second names,
//! `NAME.key.old` and `NAME.pub.old`; then `NAME.pub` goes, the private key is replaced, and the
//! public key comes last. The pair is read back, and only then do the second names go; after a
//! failure the old pair gets its names back.
//!
//! A kill or a loss of power can thus leave `NAME.key` without `NAME.pub`, which `aioli pubkey`
//! makes again, and the files ending in `.old`, which the next `keygen --force` refuses to
//! overwrite. It never leaves a pair of two different keys, nor loses the old key before the new
//! pair is verified. This needs a file system that keeps the order of the renames: the directory is
//! synchronized after each, but some systems do not obey. Two runs of `keygen` exclude each other,
//! because second names and public keys never replace a file. Another program that writes
//! `NAME.key` or `NAME.pub` in these moments is not excluded.

use crate::error::Error;
use crate::files;
use crate::interrupt::{Hold, hold};
use crate::output::{self, Inputs, Pending};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Fails early if the pair may not have these names.
pub(crate) fn check(private: &Path, public: &Path, force: bool, inputs: &Inputs) -> Result<(), Error> {
    for path in [private, public] {
        inputs.check_output(path)?;
        output::check_regular(path, force)?;
        let old = files::with_ending(path, OLD);
        if force && old.symlink_metadata().is_ok() {
            return Err(Error::Leftover(old));
        }
    }
    Ok(())
}

/// Gives both files their names, or neither. `verify` reads the pair back.
pub(crate) fn commit(
    private: Pending,
    public: Pending,
    force: bool,
    verify: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let private_path = private.path().to_owned();
    let public_path = public.path().to_owned();
    // An interrupt waits until either pair is complete.
    let mut held = hold();
    let mut replacement = Replacement { private: None, public: None, old_private: None, old_public: None };
    let result = replacement.make(&mut held, private, public, force).and_then(|()| verify());
    match result {
        Ok(()) => replacement.discard_old(),
        Err(_) => replacement.undo(&private_path, &public_path),
    }
    result
}

/// The steps done so far.
struct Replacement {
    /// The new files, if they have got their names.
    private: Option<File>,
    public: Option<File>,
    /// The second names of the old files.
    old_private: Option<PathBuf>,
    old_public: Option<PathBuf>,
}

impl Replacement {
    fn make(&mut self, held: &mut Hold, private: Pending, public: Pending, force: bool) -> Result<(), Error> {
        let private_path = private.path().to_owned();
        let public_path = public.path().to_owned();
        if force {
            self.old_private = second_name(held, &private_path)?;
            self.old_public = second_name(held, &public_path)?;
            output::sync_directory(&private_path);
        }
        if self.old_public.is_some() {
            let removed = fs::remove_file(&public_path);
            removed.map_err(|source| Error::File { doing: "replace", path: public_path.clone(), source })?;
            output::sync_directory(&public_path);
        }
        self.private = Some(private.commit(held, self.old_private.is_some())?);
        output::sync_directory(&private_path);
        self.public = Some(public.commit(held, false)?);
        output::sync_directory(&public_path);
        Ok(())
    }

    /// Removes the old pair. A failure leaves a file that the next `keygen --force` names.
    fn discard_old(&self) {
        for old in [&self.old_public, &self.old_private].into_iter().flatten() {
            let _ = fs::remove_file(old);
        }
    }

    /// Gives the old pair its names back. What fails leaves the file under its second name.
    fn undo(&self, private_path: &Path, public_path: &Path) {
        let is_ours = |file: &Option<File>, path| file.as_ref().is_some_and(|file| output::is_named(file, path));
        if is_ours(&self.public, public_path) {
            let _ = fs::remove_file(public_path);
        }
        let private_is_ours = is_ours(&self.private, private_path);
        match &self.old_private {
            Some(old) if private_is_ours => drop(fs::rename(old, private_path)),
            // The old file has kept its first name. A copy of it keeps its second name, too.
            Some(old) if self.private.is_none() && output::is_same(old, private_path) => drop(fs::remove_file(old)),
            None if private_is_ours => drop(fs::remove_file(private_path)),
            _ => (),
        }
        if let Some(old) = &self.old_public {
            // Another file that has taken the first name keeps it.
            if output::is_same(old, public_path) || fs::hard_link(old, public_path).is_ok() {
                let _ = fs::remove_file(old);
            } else if public_path.symlink_metadata().is_err() {
                let _ = fs::rename(old, public_path);
            }
        }
    }
}

/// Gives a file a second name beside its own, if it exists.
fn second_name(held: &mut Hold, path: &Path) -> Result<Option<PathBuf>, Error> {
    let old = files::with_ending(path, OLD);
    match fs::hard_link(path, &old) {
        Ok(()) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Leftover(old)),
        // The file system has no hard links, or the file is another user's.
        Err(_) => Pending::copy(held, path, &old).map(|()| Some(old)),
    }
}

/// The ending of the second name of an old file.
const OLD: &str = ".old";
