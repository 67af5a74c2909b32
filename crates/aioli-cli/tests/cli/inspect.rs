//! `inspect`, and a check that no command prints a secret.

use crate::malformed::{private_key_info, public_key_info};
use crate::{Place, Run};
use aioli::Algorithm;
use aioli::pkcs8::Identifiers;
use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding};

/// Whether a text contains eight bytes in a row of a secret: raw, in hexadecimal or in base64.
fn leaks(secret: &[u8], text: &[u8]) -> bool {
    let contains = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    let eight = |window: &[u8]| {
        contains(window)
            || contains(hex::encode(window).as_bytes())
            || contains(hex::encode_upper(window).as_bytes())
            || contains(format!("{window:?}").trim_matches(['[', ']']).as_bytes())
    };
    // Base64 of eight bytes, wherever it begins, holds all characters of six of them.
    let six = |window: &[u8]| {
        contains(Base64Unpadded::encode_string(window).as_bytes())
            || contains(Base64UrlUnpadded::encode_string(window).as_bytes())
    };
    secret.windows(8).any(eight) || secret.windows(6).any(six)
}

#[track_caller]
fn check_silent(secret: &[u8], run: &Run) {
    assert!(!leaks(secret, &run.stdout) && !leaks(secret, run.stderr.as_bytes()), "a secret is printed");
}

#[test]
fn the_check_for_secrets_finds_them() {
    let secret: Vec<u8> = (0..24).map(|i| i * 11).collect();
    for text in [
        [b"x", &secret[3..11]].concat(),
        hex::encode(&secret[5..13]).into_bytes(),
        hex::encode_upper(&secret).into_bytes(),
        format!("{:?}", &secret).into_bytes(),
        Base64Unpadded::encode_string(&secret).into_bytes(),
        Base64Unpadded::encode_string(&[b"a", &secret[..]].concat()).into_bytes(),
        Base64Unpadded::encode_string(&[b"ab", &secret[7..15]].concat()).into_bytes(),
    ] {
        assert!(leaks(&secret, &text), "{text:?}");
    }
    assert!(!leaks(&secret, b"nothing of it"));
}

#[test]
fn no_command_prints_a_secret() {
    let place = Place::new();
    place.write("pw", b"correct horse battery");
    place.write("f", b"a message");
    for set in ["mayo1", "mayo5"] {
        let plain = place.run(&["keygen", "--set", set, "--out", "k", "--no-passphrase", "--force"]).expect(0);
        let file = place.read("k.key");
        let key = Identifiers::OQS.decode_private_key(&file, None).unwrap();
        assert!(leaks(key.as_bytes(), &file), "the file has the seed, so that the check means something");
        place.write("seed", key.as_bytes());
        let der = private_key_info(key.algorithm(), key.as_bytes(), key.verifying_key().as_bytes());
        place.write("der", &der);
        place.write("damaged", &der[..der.len() - 1]);
        place.write("half", &file[..file.len() / 2]);
        check_silent(key.as_bytes(), &plain);
        for arguments in [
            &["inspect", "k.key", "seed", "der", "damaged", "half"][..],
            &["pubkey", "--out", "-", "k.key"],
            &["sign", "-k", "k.key", "f", "--out", "-"],
            &["sign", "-k", "damaged", "f", "--out", "-"],
            &["sign", "-k", "half", "f", "--out", "-"],
            &["verify", "-k", "k.key", "f"],
        ] {
            check_silent(key.as_bytes(), &place.run(arguments));
        }
    }
    let keygen = place.run(&["keygen", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    let inspect = place.run(&["inspect", "--passphrase-file", "pw", "e.key"]).expect(0);
    let file = place.read("e.key");
    let key = Identifiers::OQS.decode_private_key(&file, Some(b"correct horse battery")).unwrap();
    assert!(!leaks(key.as_bytes(), &file));
    for run in [&keygen, &inspect] {
        check_silent(key.as_bytes(), run);
        check_silent(b"correct horse battery", run);
    }
}

/// The output of `inspect` for a file of these contents.
fn inspect(place: &Place, contents: &[u8]) -> String {
    place.write("x", contents);
    place.run(&["inspect", "x"]).expect(0).out()
}

#[track_caller]
fn check(text: &str, says: &[&str]) {
    for says in says {
        assert!(text.contains(says), "expected {says:?} in {text}");
    }
}

#[test]
fn keys_and_signatures_are_described() {
    let place = Place::with_key("mayo1");
    place.write("pw", b"secret");
    place.run(&["keygen", "--set", "mayo5-round2", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let set = "MAYO_1 of round 3 (mayo1), NIST level 1";
    check(&inspect(&place, &place.read("k.pub")), &["public key", "PEM", set, "1456 bytes", "SHA256:"]);
    check(&inspect(&place, &place.read("k.key")), &["private key", "PEM", "not encrypted", set, "SHA256:"]);
    check(&inspect(&place, &place.read("f.sig")), &["signature", "envelope", set, "464 bytes", "SHA256:"]);
    check(&inspect(&place, &place.read("e.key")), &["encrypted private key", "PBES2", "scrypt", "256 bit"]);
    let run = place.run(&["inspect", "--passphrase-file", "pw", "e.key"]).expect(0);
    check(&run.out(), &["private key", "encrypted", "MAYO_5 of round 2 (mayo5-round2), NIST level 5"]);
    place.write("pw", b"wrong");
    place.run(&["inspect", "--passphrase-file", "pw", "e.key"]).expect(4).saying("passphrase");

    let key = Identifiers::OQS.decode_private_key(&place.read("k.key"), None).unwrap();
    let public_key = key.verifying_key();
    let der = public_key_info(Algorithm::Mayo1, public_key.as_bytes());
    check(&inspect(&place, &der), &["public key", "DER", set]);
    let der = private_key_info(Algorithm::Mayo1, key.as_bytes(), public_key.as_bytes());
    check(&inspect(&place, &der), &["private key", "DER", set]);
    let run = place.run_with_input(&["inspect", "-"], &der).expect(0);
    check(&run.out(), &["-: MAYO private key", set]);
    place.keygen("mayo2-round2", "broken");
    check(&inspect(&place, &place.read("broken.pub")), &["MAYO_2 of round 2", "broken at its claimed level"]);
}

#[test]
fn raw_bytes_are_judged_by_their_number() {
    let place = Place::new();
    for set in Algorithm::ALL {
        let name = format!("({set})");
        for (what, bytes) in [
            ("secret key of", set.secret_key_bytes()),
            ("public key of", set.public_key_bytes()),
            ("signature of", set.signature_bytes()),
        ] {
            check(&inspect(&place, &vec![0xa5; bytes]), &["raw bytes", what, &name]);
        }
    }
    check(&inspect(&place, &[1; 2986]), &["(mayo3)", "(mayo3-round2)", "do not tell the round"]);
    assert!(!inspect(&place, &[1; 1456]).contains("round 2"));
    assert!(!inspect(&place, &[1; 1420]).contains("round 3"));
}

#[test]
fn interim_keys_of_pq_mayo_are_recognised() {
    let place = Place::new();
    for (bytes, what) in [(4368, "public key"), (216, "signature"), (24, "secret key")] {
        check(&inspect(&place, &vec![3; bytes]), &[what, "pq-mayo's interim MAYO_2"]);
    }
    let der = public_key_info(Algorithm::Mayo2Round2, &[3; 4368]);
    check(&inspect(&place, &der), &["pq-mayo's interim MAYO_2", "not usable", "n = 96, o = 16, k = 4"]);
}

#[test]
fn other_files_are_refused_one_by_one() {
    let place = Place::with_key("mayo2");
    place.write("empty", b"");
    place.write("text", b"some text");
    place.write("large", vec![0; 1 << 20]);
    place.write("pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let run = place.run(&["inspect", "empty", "k.pub", "text", "large", "pem", "absent", "k.key"]).expect(4);
    for name in ["empty", "text", "large", "pem", "absent"] {
        assert!(run.stderr.contains(name), "{name}: {}", run.stderr);
    }
    check(&run.out(), &["k.pub: MAYO public key", "k.key: MAYO private key"]);
}
