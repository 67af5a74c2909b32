//! `sign` and `verify`.

use crate::Place;
use aioli::pkcs8::Identifiers;
use aioli::{Algorithm, any};

#[test]
fn bare_signatures_are_those_of_the_library() {
    let place = Place::with_key("mayo1");
    place.run(&["sign", "--raw", "-k", "k.key", "f"]).expect(0);
    let signature = any::Signature::from_bytes(Algorithm::Mayo1, &place.read("f.sig")).unwrap();
    let key = Identifiers::OQS.decode_public_key(&place.read("k.pub")).unwrap();
    key.verify(b"a message", &signature).unwrap();
    assert_eq!(place.run(&["verify", "-k", "k.pub", "f"]).expect(0).out(), "f: valid\n");

    // The other way round, the command verifies a signature of the library.
    let key = Identifiers::OQS.decode_private_key(&place.read("k.key"), None).unwrap();
    let signature = key.sign_deterministic(b"a message").unwrap();
    place.write("g.sig", signature.as_bytes());
    place.run(&["verify", "-k", "k.pub", "--signature", "g.sig", "f"]).expect(0);
}

#[test]
fn an_envelope_holds_the_bare_signature() {
    use base64ct::{Base64, Encoding};
    let place = Place::with_key("mayo2");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0).saying("f.sig");
    let text = place.text("f.sig");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..3], ["aioli-signature: 1", "algorithm: mayo2", "round: 3"]);
    assert_eq!(lines[4], "-----BEGIN MAYO SIGNATURE-----");
    assert_eq!(*lines.last().unwrap(), "-----END MAYO SIGNATURE-----");
    let bare = Base64::decode_vec(&lines[5..lines.len() - 1].concat()).unwrap();
    place.write("bare", &bare);
    assert_eq!(bare.len(), Algorithm::Mayo2.signature_bytes());
    place.run(&["verify", "-k", "k.pub", "-s", "bare", "f"]).expect(0);
    // Some systems turn LF into CR LF.
    place.write("f.sig", text.replace('\n', "\r\n"));
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
}

#[test]
fn signing_is_hedged() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "--quiet", "-k", "k.key", "f", "--out", "1"]).expect(0);
    let run = place.run(&["sign", "--quiet", "-k", "k.key", "f", "--out", "2"]).expect(0);
    assert_eq!((run.out(), run.stderr), (String::new(), String::new()));
    assert_ne!(place.read("1"), place.read("2"));
}

#[test]
fn unchecked_signatures_are_valid_too() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "--no-check", "-k", "k.key", "f"]).expect(0);
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
}

#[test]
fn changes_of_file_or_signature_are_refused() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    for contents in [&b"a messagE"[..], b"a messag", b"a message\n", b""] {
        place.write("f", contents);
        let run = place.run(&["verify", "-k", "k.pub", "f"]).expect(1);
        assert_eq!(run.out(), "f: NOT VALID\n");
    }
    place.write("f", b"a message");
    let text = place.text("f.sig");
    let at = text.find("BEGIN MAYO SIGNATURE-----\n").unwrap() + 30;
    let other = if &text[at..=at] == "A" { "B" } else { "A" };
    place.write("f.sig", format!("{}{other}{}", &text[..at], &text[at + 1..]));
    place.run(&["verify", "-k", "k.pub", "f"]).expect(1);

    place.run(&["sign", "--raw", "--force", "-k", "k.key", "f"]).expect(0);
    let mut bytes = place.read("f.sig");
    bytes[100] ^= 0x10;
    place.write("f.sig", &bytes);
    let run = place.run(&["verify", "--quiet", "-k", "k.pub", "f"]).expect(1);
    assert_eq!((run.out(), run.stderr), (String::new(), String::new()));
}

#[test]
fn keys_that_do_not_fit_are_told_apart_from_bad_signatures() {
    let place = Place::with_key("mayo3");
    place.keygen("mayo3", "other");
    place.keygen("mayo3-round2", "round2");
    place.keygen("mayo2", "small");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
    place.run(&["verify", "-k", "other.pub", "f"]).expect(5).saying("SHA256:");
    place.run(&["verify", "-k", "round2.pub", "f"]).expect(5).saying("mayo3-round2");
    place.run(&["verify", "-k", "small.pub", "f"]).expect(5).saying("mayo2");

    // Bare bytes do not name their key: a wrong set shows in the length, a wrong key or round of
    // the same length does not.
    place.run(&["sign", "--raw", "--force", "-k", "k.key", "f"]).expect(0);
    place.run(&["verify", "-k", "other.pub", "f"]).expect(1);
    place.run(&["verify", "-k", "round2.pub", "f"]).expect(1);
    place.run(&["verify", "-k", "small.pub", "f"]).expect(5).saying("mayo3 or mayo3-round2");
}

#[test]
fn standard_input_and_output() {
    let place = Place::with_key("mayo2");
    let signature = place.run_with_input(&["sign", "-k", "k.key", "-"], b"from a pipe").expect(0).stdout;
    place.write("s", &signature);
    assert!(signature.starts_with(b"aioli-signature: 1\n"));
    let verify = ["verify", "-k", "k.pub", "--signature", "s", "-"];
    place.run_with_input(&verify, b"from a pipe").expect(0);
    place.run_with_input(&verify, b"from a Pipe").expect(1);
    let raw = place.run_with_input(&["sign", "--raw", "-k", "k.key", "-"], b"from a pipe").expect(0).stdout;
    assert_eq!(raw.len(), Algorithm::Mayo2.signature_bytes());
    let signature = place.run(&["sign", "-k", "k.key", "f", "--out", "-"]).expect(0).stdout;
    place.run_with_input(&["verify", "-k", "k.pub", "--signature", "-", "f"], &signature).expect(0);
    let public_key = place.read("k.pub");
    place.run_with_input(&["verify", "-k", "-", "--signature", "s", "f"], &public_key).expect(1);
    place.run_with_input(&["sign", "-k", "k.key", "-", "--out", "p.sig"], b"from a pipe").expect(0);
    place.run_with_input(&["verify", "-k", "k.pub", "-s", "p.sig", "-"], b"from a pipe").expect(0);
}

#[test]
fn arguments_that_make_no_sense() {
    let place = Place::with_key("mayo2");
    place.write("g", b"");
    for arguments in [
        &["sign", "-k", "k.key"][..],
        &["sign", "f"],
        &["sign", "-k", "k.key", "-", "-"],
        &["sign", "-k", "-", "-"],
        &["sign", "-k", "k.key", "--out", "s", "f", "g"],
        &["verify", "-k", "k.pub"],
        &["verify", "-k", "k.pub", "-"],
        &["verify", "-k", "k.pub", "-s", "-", "-"],
        &["verify", "-k", "-", "-s", "-", "f"],
        &["verify", "-k", "k.pub", "-s", "s", "f", "g"],
        &["verify", "-k", "k.pub", "--json", "--quiet", "f"],
        &["frobnicate"],
        &["sign", "--frobnicate", "-k", "k.key", "f"],
    ] {
        place.run(arguments).expect(2);
    }
    assert_eq!(place.names(), ["f", "g", "k.key", "k.pub"]);
}

#[test]
fn one_bad_file_spoils_no_other() {
    let place = Place::with_key("mayo2");
    let names: Vec<_> = (0..20).map(|i| format!("file{i:02}")).collect();
    for name in &names {
        place.write(name, name);
    }
    std::fs::remove_file(place.path("file07")).unwrap();
    std::fs::remove_file(place.path("file11")).unwrap();
    std::fs::create_dir(place.path("file11")).unwrap();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    place.run(&[&["sign", "-k", "k.key"], &names[..]].concat()).expect(3).saying("file07").saying("file11");
    let verify = |code| place.run(&[&["verify", "-k", "k.pub"], &names[..]].concat()).expect(code);
    let run = verify(3).saying("file07").saying("file11");
    assert_eq!(run.out().matches(": valid\n").count(), 18);
    assert!(!run.out().contains("NOT VALID"));

    // The highest code counts, and results stay in the order of the files.
    place.write("file07", b"file07");
    std::fs::remove_dir(place.path("file11")).unwrap();
    place.write("file11", b"file11");
    place.run(&["sign", "-k", "k.key", "file07", "file11"]).expect(0);
    place.write("file03", b"changed");
    let run = verify(1);
    let lines = names.iter().map(|name| match *name {
        "file03" => format!("{name}: NOT VALID\n"),
        _ => format!("{name}: valid\n"),
    });
    assert_eq!(run.out(), lines.collect::<String>());
    place.write("file05.sig", b"garbage");
    verify(4).saying("file05.sig");
    place.keygen("mayo2", "other");
    place.run(&["sign", "--force", "-k", "other.key", "file09"]).expect(0);
    let run = verify(5).saying("file09.sig").saying("file05.sig");
    assert_eq!(run.out().matches(": valid\n").count(), 17);
}

#[test]
fn signatures_are_not_overwritten_unasked() {
    let place = Place::with_key("mayo2");
    place.write("g", b"another");
    place.write("f.sig", b"precious");
    place.run(&["sign", "-k", "k.key", "f", "g"]).expect(3).saying("f.sig exists");
    assert_eq!(place.read("f.sig"), b"precious");
    place.run(&["verify", "-k", "k.pub", "g"]).expect(0);
    place.run(&["sign", "-k", "k.key", "--force", "f", "g"]).expect(0);
    place.run(&["verify", "-k", "k.pub", "f", "g"]).expect(0);
}

#[test]
fn json_says_it_all() {
    let place = Place::with_key("mayo2");
    place.write("g", b"another");
    place.run(&["sign", "-k", "k.key", "f", "g"]).expect(0);
    place.write("g", b"changed");
    let run = place.run(&["verify", "--json", "-k", "k.pub", "f", "g", "absent"]);
    assert_eq!(run.code, Some(3));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["key"]["algorithm"], "mayo2");
    assert_eq!(json["key"]["round"], 3);
    assert!(place.text("f.sig").contains(json["key"]["fingerprint"].as_str().unwrap()));
    let results = json["results"].as_array().unwrap();
    let codes: Vec<_> = results.iter().map(|result| result["exit_code"].as_u64().unwrap()).collect();
    assert_eq!(codes, [0, 1, 3]);
    let valid: Vec<_> = results.iter().map(|result| result["valid"].as_bool().unwrap()).collect();
    assert_eq!(valid, [true, false, false]);
    assert_eq!(results[0]["file"], "f");
    assert_eq!(results[0]["signature"], "f.sig");
    assert!(results[0]["error"].is_null());
    assert!(results[2]["error"].as_str().unwrap().contains("absent"));
}

#[test]
fn standard_input_is_read_once() {
    let place = Place::with_key("mayo2");
    place.write("pw", b"secret");
    place.run(&["keygen", "--set", "mayo2", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let before = place.names();
    for arguments in [
        &["sign", "-k", "e.key", "--passphrase-file", "-", "-"][..],
        &["sign", "-k", "-", "--passphrase-file", "-", "f"],
        &["sign", "-k", "-", "-"],
        &["sign", "-k", "k.key", "-", "f", "-"],
        &["pubkey", "--passphrase-file", "-", "-", "--out", "p"],
        &["inspect", "-", "-"],
        &["inspect", "--passphrase-file", "-", "-"],
        &["inspect", "--passphrase-file", "-", "e.key", "k.key", "-"],
        &["verify", "-k", "-", "-s", "f.sig", "-"],
        &["verify", "-k", "k.pub", "-s", "-", "-"],
        &["verify", "-k", "-", "-s", "-", "f"],
        #[cfg(unix)]
        &["sign", "-k", "e.key", "--passphrase-file", "/dev/stdin", "-"],
    ] {
        let run = place.run_with_input(arguments, b"secret\n").expect(2).saying("standard input");
        assert!(run.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(place.names(), before);
    // One use of standard input is fine, whichever it is.
    place.run_with_input(&["sign", "--force", "-k", "e.key", "--passphrase-file", "-", "f"], b"secret\n").expect(0);
    place.run_with_input(&["verify", "-k", "-", "f"], &place.read("e.pub")).expect(0);
}
