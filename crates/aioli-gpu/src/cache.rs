//! Compiled kernels on disk. They work on secret keys, so they are taken only from a file and a
//! folder that no other user could have written.
//!
//! Only Unix has the owners and modes that tell this, so other systems have no cache.

use std::io;
use std::path::{Path, PathBuf};

/// The folder of compiled kernels: `AIOLI_GPU_CACHE`, or `aioli/gpu` in the user's cache folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("AIOLI_GPU_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?.join("aioli/gpu")))
}

/// Reads a file of the cache.
///
/// # Errors
///
/// Those of reading; [`io::ErrorKind::PermissionDenied`] if the file or the folder belongs to
/// another user, or if other users may write to it.
#[cfg(unix)]
pub(crate) fn load(folder: &Path, name: &str) -> io::Result<String> {
    check(&std::fs::symlink_metadata(folder)?)?;
    let file = std::fs::File::open(folder.join(name))?;
    // The owner and mode are those of the file that is read, wherever a link leads to.
    check(&file.metadata()?)?;
    io::read_to_string(file)
}

/// Writes a file of the cache for this user alone, and makes the folder if there is none.
///
/// The file gets its name once it is complete, so nobody reads half of it.
///
/// # Errors
///
/// Those of writing; [`io::ErrorKind::PermissionDenied`] as for [`load`].
#[cfg(unix)]
pub(crate) fn store(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    check(&std::fs::symlink_metadata(folder)?)?;
    let part = folder.join(format!("{name}.{}.part", std::process::id()));
    // A process of the same number may have left one behind.
    let _ = std::fs::remove_file(&part);
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&part)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| std::fs::rename(&part, folder.join(name)));
    written.inspect_err(|_| _ = std::fs::remove_file(&part))
}

/// Fails if someone else may have written what this describes.
#[cfg(unix)]
fn check(metadata: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    match own && metadata.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Fails: nothing tells who wrote a file.
#[cfg(not(unix))]
pub(crate) fn load(_: &Path, _: &str) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails, because nothing would be read.
#[cfg(not(unix))]
pub(crate) fn store(_: &Path, _: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// A folder with a file `kernels`, which `load` gives.
    fn stored() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("aioli/gpu");
        store(&folder, "kernels", "old").unwrap();
        store(&folder, "kernels", "text").unwrap();
        assert_eq!(load(&folder, "kernels").unwrap(), "text");
        (home, folder)
    }

    fn refused(folder: &Path, why: &str) {
        assert_eq!(load(folder, "kernels").unwrap_err().kind(), io::ErrorKind::PermissionDenied, "{why}");
    }

    #[test]
    fn only_the_user_can_access_what_is_stored() {
        let (home, folder) = stored();
        assert_eq!(mode(&home.path().join("aioli")), 0o700);
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("kernels")), 0o600);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left over");
    }

    #[test]
    fn what_others_may_write_is_neither_read_nor_replaced() {
        for bit in [0o020, 0o002] {
            let (_home, folder) = stored();
            fs::set_permissions(folder.join("kernels"), Permissions::from_mode(0o600 | bit)).unwrap();
            refused(&folder, "a file that others may write");
            fs::set_permissions(folder.join("kernels"), Permissions::from_mode(0o644)).unwrap();
            assert_eq!(load(&folder, "kernels").unwrap(), "text");
            fs::set_permissions(&folder, Permissions::from_mode(0o700 | bit)).unwrap();
            refused(&folder, "a folder that others may write");
            assert!(store(&folder, "kernels", "new").is_err());
            assert_eq!(fs::read_to_string(folder.join("kernels")).unwrap(), "text");
        }
    }

    #[test]
    fn what_belongs_to_others_is_not_read() {
        let (_home, folder) = stored();
        let file = folder.join("kernels");
        if rustix::process::geteuid().is_root() {
            chown(&file, Some(65534), None).unwrap();
            refused(&folder, "a file of another user");
            chown(&file, Some(0), None).unwrap();
            chown(&folder, Some(65534), None).unwrap();
            refused(&folder, "a folder of another user");
        } else {
            // Only root can give files away, and has some that everybody can read.
            fs::remove_file(&file).unwrap();
            symlink("/etc/passwd", &file).unwrap();
            refused(&folder, "a file of another user");
            assert_eq!(load(Path::new("/etc"), "passwd").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
    }
}
