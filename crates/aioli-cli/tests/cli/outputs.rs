//! Outputs replace neither inputs, nor keys, nor what is no regular file.
#![cfg(unix)]

use crate::{AIOLI, Place};
use aioli::pkcs8::Identifiers;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;

const KEYGEN: [&str; 7] = ["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase", "--force"];

fn make_pipe(place: &Place, name: &str) {
    assert!(Command::new("mkfifo").arg(place.path(name)).status().unwrap().success());
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let place = Place::with_key("mayo2");
    make_pipe(&place, "pipe");
    symlink("target", place.path("link")).unwrap();
    place.write("target", b"precious");
    std::fs::create_dir(place.path("directory")).unwrap();
    let speed = ["speed", "--set", "mayo2", "--backend", "portable", "--time", "0.001", "--json"];
    for name in ["pipe", "link", "directory"] {
        for arguments in [
            &["sign", "-k", "k.key", "f", "--force", "--out", name][..],
            &["sign", "-k", "k.key", "f", "--raw", "--force", "--out", name],
            &["pubkey", "k.key", "--force", "--out", name],
            &[&speed[..], &[name]].concat(),
        ] {
            place.run(arguments).expect(3).saying(name).saying("not a regular file");
        }
    }
    let kat = aioli_kat::file_name(aioli::Algorithm::Mayo2);
    symlink("target", place.path(&kat.to_string())).unwrap();
    place.run(&["kat", "mayo2", "--write", "."]).expect(3).saying("not a regular file");
    std::fs::create_dir(place.path("man1")).unwrap();
    symlink("../target", place.path("man1/aioli.1")).unwrap();
    place.run(&["man", "--dir", "man1"]).expect(3).saying("not a regular file");
    for ending in ["key", "pub"] {
        symlink("target", place.path(&format!("l.{ending}"))).unwrap();
        place.run(&["keygen", "--out", "l", "--no-passphrase", "--force"]).expect(3).saying("not a regular file");
        std::fs::remove_file(place.path(&format!("l.{ending}"))).unwrap();
    }
    assert!(place.path("pipe").symlink_metadata().unwrap().file_type().is_fifo());
    assert!(place.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(place.read("target"), b"precious");
}

#[test]
fn an_output_is_no_input() {
    let place = Place::with_key("mayo2");
    place.write("pw", b"secret");
    place.run(&["keygen", "--set", "mayo2", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    std::fs::hard_link(place.path("f"), place.path("g.sig")).unwrap();
    place.write("g", b"g");
    place.write("h", b"h");
    place.write("h.sig", b"to be signed too");
    std::fs::hard_link(place.path("pw"), place.path("pw.pub")).unwrap();
    for arguments in [
        &["sign", "--force", "-k", "k.key", "f", "--out", "f"][..],
        &["sign", "--force", "-k", "k.key", "f", "--out", "./f"],
        &["sign", "--force", "-k", "k.key", "f", "--out", "k.key"],
        &["sign", "--force", "-k", "k.key", "f", "--out", "g.sig"],
        &["sign", "--force", "-k", "k.key", "f", "g"],
        &["sign", "--force", "-k", "k.key", "h.sig", "h"],
        &["sign", "--force", "-k", "e.key", "--passphrase-file", "pw", "f", "--out", "pw"],
        &["pubkey", "--force", "k.key", "--out", "k.key"],
        &["pubkey", "--force", "e.key", "--passphrase-file", "pw", "--out", "pw"],
        &["keygen", "--force", "--out", "pw", "--passphrase-file", "pw"],
    ] {
        place.run(arguments).expect(2).saying("both input and output");
    }
    // Standard input may be a file, too.
    place.run_in_shell("exec \"$@\" < f", &["sign", "--force", "-k", "k.key", "-", "--out", "f"]).expect(2);
    assert_eq!(place.read("f"), b"a message");
    assert_eq!(place.read("h.sig"), b"to be signed too");
    assert_eq!(place.read("pw"), b"secret");
}

#[test]
fn a_private_key_is_replaced_by_keygen_alone() {
    let place = Place::with_key("mayo2");
    place.write("pw", b"secret");
    place.run(&["keygen", "--set", "mayo2", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    place.keygen("mayo2", "other");
    let key = Identifiers::OQS.decode_private_key(&place.read("k.key"), None).unwrap();
    place.write("der", crate::malformed::private_key_info(key.algorithm(), key.as_bytes(), &[]));
    for name in ["k.key", "e.key", "der"] {
        let before = place.read(name);
        for arguments in [
            &["sign", "--force", "-k", "other.key", "f", "--out", name][..],
            &["pubkey", "--force", "other.key", "--out", name],
            &["speed", "--set", "mayo2", "--time", "0.001", "--json", name],
        ] {
            place.run(arguments).expect(3).saying(name).saying("private key");
        }
        assert_eq!(place.read(name), before);
    }
}

#[test]
fn keygen_replaces_both_files_or_neither() {
    let place = Place::with_key("mayo2");
    let key = place.read("k.key");
    std::fs::remove_file(place.path("k.pub")).unwrap();
    std::fs::create_dir(place.path("k.pub")).unwrap();
    place.run(&KEYGEN).expect(3).saying("k.pub");
    assert_eq!(place.read("k.key"), key);
    assert_eq!(place.names(), ["f", "k.key", "k.pub"]);
    std::fs::remove_dir(place.path("k.pub")).unwrap();
    place.run(&KEYGEN).expect(0);
    assert_ne!(place.read("k.key"), key);
    assert_eq!(place.names(), ["f", "k.key", "k.pub"]);
    // The second name of an old key may be its last.
    for name in ["k.key.old", "k.pub.old"] {
        let pair = (place.read("k.key"), place.read("k.pub"));
        place.write(name, b"kept by an interrupted keygen");
        place.run(&KEYGEN).expect(3).saying(name);
        assert_eq!((place.read("k.key"), place.read("k.pub")), pair);
        std::fs::remove_file(place.path(name)).unwrap();
    }
}

/// Kills `keygen --force` at every system call that changes a directory, one after the other.
#[cfg(target_os = "linux")]
#[test]
fn a_kill_leaves_no_pair_that_does_not_belong_together() {
    if Place::new().run_in_shell("strace -o /dev/null true", &[]).code != Some(0) {
        eprintln!("skipped: kills between two renames, which need strace");
        return;
    }
    let mut kills = 0;
    for call in ["rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"] {
        for count in 1.. {
            let place = Place::with_key("mayo2");
            let key = place.read("k.key");
            let inject = format!("trace=?{call} -e inject=?{call}:signal=KILL:when={count}");
            let run = place.run_in_shell(&format!("exec strace -f -o /dev/null -e {inject} \"$@\""), &KEYGEN);
            let names = place.names();
            let has = |name: &str| names.iter().any(|other| other == name);
            if has("k.key") && has("k.pub") {
                let private = Identifiers::OQS.decode_private_key(&place.read("k.key"), None).unwrap();
                let public = Identifiers::OQS.decode_public_key(&place.read("k.pub")).unwrap();
                assert!(private.verifying_key() == public, "killed at {call} {count}: {names:?}");
            }
            let kept = ["k.key", "k.key.old"].iter().any(|name| has(name) && place.read(name) == key);
            let replaced = has("k.key") && has("k.pub") && place.read("k.key") != key;
            assert!(kept || replaced, "killed at {call} {count}, the old key is lost: {names:?}");
            if run.code.is_some() {
                // strace exits with 1 where the machine does not have this call.
                assert!(run.code == Some(1) || replaced && names == ["f", "k.key", "k.pub"], "{call}: {}", run.stderr);
                break;
            }
            kills += 1;
        }
    }
    assert!(kills >= 2, "the renames are seen");
}

/// Where hard links fail, second names are copies.
#[cfg(target_os = "linux")]
#[test]
fn an_old_pair_gets_its_permissions_back() {
    use std::os::unix::fs::PermissionsExt;
    if Place::new().run_in_shell("strace -o /dev/null true", &[]).code != Some(0) {
        eprintln!("skipped: a file system without hard links, which needs strace");
        return;
    }
    let place = Place::with_key("mayo2");
    let modes = [("k.key", 0o640), ("k.pub", 0o664)];
    for (name, mode) in modes {
        std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    let pair = (place.read("k.key"), place.read("k.pub"));
    // The new private key does not get its name.
    let inject = "-e inject=linkat:error=EPERM -e inject=renameat:error=EIO:when=1";
    place
        .run_in_shell(&format!("exec strace -f -o /dev/null -e trace=linkat,renameat {inject} \"$@\""), &KEYGEN)
        .expect(3);
    assert_eq!((place.read("k.key"), place.read("k.pub")), pair);
    for (name, mode) in modes {
        assert_eq!(place.path(name).metadata().unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn two_runs_of_keygen_leave_one_pair() {
    let place = Place::with_key("mayo2");
    for _ in 0..8 {
        let run = || Command::new(AIOLI).args(KEYGEN).current_dir(place.path("")).output().unwrap().status.code();
        let codes = std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|run| run.join().unwrap()));
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 3))) && codes.contains(&Some(0)), "{codes:?}");
        let private = Identifiers::OQS.decode_private_key(&place.read("k.key"), None).unwrap();
        let public = Identifiers::OQS.decode_public_key(&place.read("k.pub")).unwrap();
        assert!(private.verifying_key() == public);
        assert_eq!(place.names(), ["f", "k.key", "k.pub"]);
    }
}
