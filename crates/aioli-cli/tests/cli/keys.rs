//! `keygen`, `pubkey`, passphrases.

use crate::Place;
use aioli::Algorithm;
use aioli::pkcs8::Identifiers;

#[test]
fn every_set_makes_signs_and_verifies() {
    let place = Place::new();
    place.write("f", b"a message");
    for set in Algorithm::ALL {
        let name = set.name();
        let run = place.run(&["keygen", "--set", name, "--out", name, "--no-passphrase"]).expect(0);
        assert_eq!(run.stderr.contains("broken"), set == Algorithm::Mayo2Round2, "{}", run.stderr);
        let key = Identifiers::OQS.decode_private_key(&place.read(&format!("{name}.key")), None).unwrap();
        let public_key = Identifiers::OQS.decode_public_key(&place.read(&format!("{name}.pub"))).unwrap();
        assert_eq!((key.algorithm(), key.verifying_key()), (set, public_key));

        place.run(&["sign", "--force", "-k", &format!("{name}.key"), "f"]).expect(0);
        assert!(place.text("f.sig").contains(&format!("\nalgorithm: {name}\n")));
        let run = place.run(&["verify", "-k", &format!("{name}.pub"), "f"]).expect(0);
        assert_eq!(run.out(), "f: valid\n");
    }
}

#[test]
fn fingerprints_agree_and_are_those_of_openssl() {
    use base64ct::{Base64, Base64Unpadded, Encoding};
    use sha2::Digest;
    let place = Place::new();
    let printed = place.run(&["keygen", "--out", "k", "--no-passphrase"]).expect(0).out();
    let printed = printed.trim_end();
    let pem = place.text("k.pub");
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let digest = sha2::Sha256::digest(Base64::decode_vec(&body).unwrap());
    assert_eq!(printed, format!("SHA256:{}", Base64Unpadded::encode_string(&digest)));
    assert!(place.run(&["inspect", "k.pub"]).expect(0).out().contains(printed));
    assert!(place.run(&["inspect", "k.key"]).expect(0).out().contains(printed));
    assert_eq!(place.run(&["pubkey", "k.key", "--force"]).expect(0).out().trim_end(), printed);
    place.run(&["sign", "-k", "k.key", "k.pub"]).expect(0);
    assert!(place.text("k.pub.sig").contains(&format!("\nkey: {printed}\n")));
}

#[test]
fn keys_differ_from_call_to_call() {
    let place = Place::with_key("mayo2");
    place.keygen("mayo2", "other");
    assert_ne!(place.read("k.key"), place.read("other.key"));
}

#[test]
fn keygen_never_overwrites_unasked() {
    for existing in ["k.key", "k.pub"] {
        let place = Place::new();
        place.write(existing, b"precious");
        let keygen = ["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase"];
        place.run(&keygen).expect(3).saying(existing).saying("--force");
        assert_eq!(place.names(), [existing]);
        assert_eq!(place.read(existing), b"precious");
        place.run(&[&keygen[..], &["--force"]].concat()).expect(0);
        assert_eq!(place.names(), ["k.key", "k.pub"]);
        assert_ne!(place.read(existing), b"precious");
    }
}

#[test]
fn pubkey_derives_the_public_key() {
    let place = Place::with_key("mayo2");
    let public_key = place.read("k.pub");
    place.run(&["pubkey", "k.key"]).expect(3).saying("k.pub exists");
    std::fs::remove_file(place.path("k.pub")).unwrap();
    place.run(&["pubkey", "k.key"]).expect(0);
    assert_eq!(place.read("k.pub"), public_key);
    place.run(&["pubkey", "k.key", "--out", "p"]).expect(0);
    assert_eq!(place.read("p"), public_key);
    assert_eq!(place.run(&["pubkey", "k.key", "--out", "-"]).expect(0).stdout, public_key);
    let key = place.read("k.key");
    place.run_with_input(&["pubkey", "-", "--out", "q"], &key).expect(0);
    assert_eq!(place.read("q"), public_key);
    place.run(&["pubkey", "k.pub"]).expect(4);
    place.run(&["pubkey", "absent.key"]).expect(3).saying("absent.key");
}

#[test]
fn keys_are_converted_to_every_form_and_back() {
    let place = Place::with_key("mayo1-round2");
    let [private, public] = ["k.key", "k.pub"].map(|name| place.read(name));
    for form in ["oqs", "bouncycastle", "pq-mayo"] {
        for der in [&[][..], &["--der"]] {
            for (kind, original) in [("key", &private), ("pub", &public)] {
                let file = format!("{form}{}.{kind}", der.len());
                let from = format!("k.{kind}");
                place.run(&[&["convert", &from, "--to", form, "--out", &file], der].concat()).expect(0);
                let back = place.run(&["convert", &file, "--to", "oqs", "--out", "-"]).expect(0).stdout;
                assert_eq!(&back, original, "{file}");
            }
        }
    }
    place.run(&["convert", "k.key", "--to", "seed", "--out", "seed"]).expect(0);
    assert_eq!(place.read("seed").len(), 24);
    place.run(&["convert", "k.pub", "--to", "seed", "--out", "raw"]).expect(0);
    assert_eq!(place.read("raw").len(), 1420);
    let shown = place.run(&["convert", "k.pub", "--to", "oqs", "--out", "-"]).expect(0).stdout;
    assert_eq!(shown, public);
    place.run(&["convert", "k.pub", "--to", "pem", "--out", "-"]).expect(2).saying("bouncycastle");
    place.run(&["convert", "raw", "--to", "oqs", "--out", "-"]).expect(4).saying("raw");
}

#[test]
fn an_encrypted_key_stays_encrypted_unless_told_otherwise() {
    let place = Place::new();
    place.write("pw", b"secret\n");
    place.run(&["keygen", "--out", "k", "--passphrase-file", "pw"]).expect(0);
    let convert = |more: &[&str]| place.run(&[&["convert", "k.key", "--passphrase-file", "pw"], more].concat());
    convert(&["--to", "bouncycastle", "--out", "sealed.key"]).expect(0);
    assert!(place.text("sealed.key").starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    place.run(&["pubkey", "sealed.key", "--passphrase-file", "pw"]).expect(0);
    assert_eq!(place.read("sealed.pub"), place.read("k.pub"));
    convert(&["--to", "seed", "--out", "seed"]).expect(2).saying("--no-passphrase");
    assert!(!place.path("seed").exists());
    convert(&["--to", "seed", "--out", "seed", "--no-passphrase"]).expect(0);
    assert_eq!(place.read("seed").len(), 24);
    convert(&["--to", "oqs", "--out", "open.key", "--no-passphrase"]).expect(0);
    assert!(place.text("open.key").starts_with("-----BEGIN PRIVATE KEY-----\n"));
}

#[test]
fn a_passphrase_is_needed_for_a_new_key() {
    let place = Place::new();
    place.write("pw", b"secret\n");
    place.run(&["keygen", "--out", "k"]).expect(2).saying("--passphrase-file").saying("--no-passphrase");
    place.run(&["keygen", "--out", "k", "--no-passphrase", "--passphrase-file", "pw"]).expect(2);
    place.run(&["keygen", "--out", "k", "--passphrase-file", "absent"]).expect(3).saying("absent");
    place.write("empty", b"\nsecond line\n");
    place.run(&["keygen", "--out", "k", "--passphrase-file", "empty"]).expect(4).saying("empty");
    place.run(&["keygen", "--set", "mayo4", "--out", "k", "--no-passphrase"]).expect(2).saying("mayo4");
    assert_eq!(place.names(), ["empty", "pw"]);
}

#[test]
fn encrypted_keys_open_with_their_passphrase_alone() {
    let place = Place::new();
    place.write("f", b"a message");
    place.write("pw", b"correct horse\nnot part of it\n");
    place.write("same", b"correct horse\r\n");
    place.write("wrong", b"correct hors\n");
    place.run(&["keygen", "--set", "mayo2", "--out", "k", "--passphrase-file", "pw"]).expect(0);
    assert!(place.text("k.key").starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    place.run(&["sign", "-k", "k.key", "f"]).expect(2).saying("--passphrase-file");
    place.run(&["sign", "-k", "k.key", "--passphrase-file", "wrong", "f"]).expect(4).saying("passphrase");
    assert!(!place.path("f.sig").exists());
    place.run(&["sign", "-k", "k.key", "--passphrase-file", "same", "f"]).expect(0);
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
    let public_key = place.run(&["pubkey", "k.key", "--passphrase-file", "pw", "--out", "-"]).expect(0).stdout;
    assert_eq!(public_key, place.read("k.pub"));
    // A passphrase that is not needed does no harm.
    place.keygen("mayo2", "plain");
    place.run(&["sign", "--force", "-k", "plain.key", "--passphrase-file", "wrong", "f"]).expect(0);
}
