//! Files on disk: modes, interrupted writes, large files.
#![cfg(unix)]

use crate::Place;
use std::os::unix::fs::PermissionsExt;

fn mode(place: &Place, name: &str) -> u32 {
    place.path(name).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn private_keys_are_the_owners_alone() {
    let place = Place::new();
    let keygen = ["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase", "--force"];
    for (umask, public) in [("000", 0o666), ("022", 0o644), ("077", 0o600)] {
        place.run_in_shell(&format!("umask {umask}; exec \"$@\""), &keygen).expect(0);
        assert_eq!((mode(&place, "k.key"), mode(&place, "k.pub")), (0o600, public), "umask {umask}");
    }
    // Replacing a file that was open to others closes it.
    std::fs::set_permissions(place.path("k.key"), PermissionsExt::from_mode(0o644)).unwrap();
    assert!(place.run(&["inspect", "k.key"]).expect(0).out().contains("0644"));
    // Whoever uses it is told, too.
    place.write("f", b"a message");
    place.run(&["sign", "--quiet", "-k", "k.key", "f"]).expect(0).saying("warning: k.key").saying("0644");
    place.run(&["pubkey", "--force", "k.key"]).expect(0).saying("warning: k.key").saying("0644");
    place.run(&keygen).expect(0);
    assert_eq!(mode(&place, "k.key"), 0o600);
    assert!(!place.run(&["inspect", "k.key"]).expect(0).out().contains("warning"));
    assert_eq!(place.run(&["sign", "--force", "--quiet", "-k", "k.key", "f"]).expect(0).stderr, "");
}

/// A script in which no byte can be written into a file, as on a full disk.
const FULL: &str = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";

/// A script in which the system kills the command in the middle of writing.
const KILLED: &str = "ulimit -c 0; ulimit -f 0; exec \"$@\"";

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::with_key("mayo2");
    let before = place.names();
    let key = place.read("k.key");
    for arguments in [
        &["keygen", "--set", "mayo2", "--out", "n", "--no-passphrase"][..],
        &["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase", "--force"],
        &["pubkey", "k.key", "--out", "p"],
        &["sign", "-k", "k.key", "f"],
        &["sign", "--raw", "-k", "k.key", "f"],
    ] {
        place.run_in_shell(FULL, arguments).expect(3).saying("cannot write");
        assert_eq!(place.names(), before);
        assert_eq!(place.read("k.key"), key);
    }
}

#[test]
fn a_kill_leaves_no_partial_file_under_a_name() {
    let place = Place::with_key("mayo2");
    let key = place.read("k.key");
    let run = place.run_in_shell(KILLED, &["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase", "--force"]);
    assert_eq!(run.code, None, "killed by the signal: {}", run.stderr);
    assert_eq!(place.read("k.key"), key);
    assert_eq!(place.run_in_shell(KILLED, &["sign", "-k", "k.key", "f"]).code, None);
    assert!(!place.path("f.sig").exists());
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let place = Place::with_key("mayo2");
    place.run(&["keygen", "--out", "absent/k", "--no-passphrase"]).expect(3).saying("absent/k.key");
    place.run(&["keygen", "--out", "f/k", "--no-passphrase"]).expect(3).saying("f/k.key");
    place.run(&["sign", "-k", "k.key", "--out", "absent/f.sig", "f"]).expect(3).saying("absent/f.sig");
    std::fs::create_dir(place.path("f.sig")).unwrap();
    place.run(&["sign", "-k", "k.key", "--force", "f"]).expect(3).saying("f.sig");
    assert_eq!(place.names(), ["f", "f.sig", "k.key", "k.pub"]);
    // Both names must be free before the command takes the first.
    std::fs::create_dir(place.path("n.pub")).unwrap();
    place.run(&["keygen", "--out", "n", "--no-passphrase"]).expect(3).saying("n.pub");
    assert!(!place.path("n.key").exists());
}

#[test]
fn files_larger_than_the_memory_are_signed() {
    let place = Place::with_key("mayo2");
    let large = std::fs::File::create(place.path("large")).unwrap();
    large.set_len(192 << 20).unwrap();
    let limited = "export RAYON_NUM_THREADS=1 MALLOC_ARENA_MAX=1; ulimit -v 131072; exec \"$@\"";
    place.run_in_shell(limited, &["sign", "-k", "k.key", "large"]).expect(0);
    place.run_in_shell(limited, &["verify", "-k", "k.pub", "large"]).expect(0);
    large.set_len((192 << 20) + 1).unwrap();
    place.run_in_shell(limited, &["verify", "-k", "k.pub", "large"]).expect(1);
}
