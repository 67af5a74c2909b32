//! Malformed files.

use crate::Place;
use aioli::Algorithm;
use aioli::pkcs8::Identifiers;

/// An encoded element of DER.
pub(crate) fn der(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let length = match contents.len() {
        length @ 0..0x80 => vec![length as u8],
        length @ 0x80..0x100 => vec![0x81, length as u8],
        length => [vec![0x82], (length as u16).to_be_bytes().to_vec()].concat(),
    };
    [vec![tag], length, contents].concat()
}

/// A SubjectPublicKeyInfo of bytes under a set's identifier.
pub(crate) fn public_key_info(set: Algorithm, bytes: &[u8]) -> Vec<u8> {
    let identifier = Identifiers::OQS.get(set);
    der(0x30, &[&der(0x30, &[&der(6, &[identifier.as_bytes()])]), &der(3, &[&[0], bytes])])
}

/// A PKCS#8 private key of a seed and a public key, in the Open Quantum Safe provider's form.
pub(crate) fn private_key_info(set: Algorithm, seed: &[u8], public_key: &[u8]) -> Vec<u8> {
    let identifier = der(0x30, &[&der(6, &[Identifiers::OQS.get(set).as_bytes()])]);
    der(0x30, &[&der(2, &[&[0]]), &identifier, &der(4, &[&der(4, &[seed, public_key])])])
}

#[test]
fn envelopes() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let good = place.text("f.sig");
    let body = good.lines().nth(5).unwrap();
    let mut cases = vec![
        ("version", good.replace("aioli-signature: 1", "aioli-signature: 2"), "version"),
        ("no version", good.replace("aioli-signature: 1", "aioli-signature:"), "aioli-signature:"),
        ("set", good.replace("algorithm: mayo2", "algorithm: mayo9"), "mayo9"),
        ("no set", good.replace("algorithm: mayo2\n", ""), "algorithm:"),
        ("round", good.replace("round: 3", "round: 2"), "round 3"),
        ("no round", good.replace("round: 3\n", ""), "round:"),
        ("fingerprint", good.replace("key: SHA256:", "key: SHA256:A"), "SHA256:"),
        ("hash", good.replace("key: SHA256:", "key: MD5:"), "SHA256:"),
        ("no space", good.replace("key: SHA256:", "bound-key:SHA256:"), "bound-key:"),
        ("two keys", good.replace("key: SHA256:", "bound-key: SHA256:SHA256:"), "SHA256:"),
        ("begin", good.replace("BEGIN MAYO", "BEGIN PGP"), "BEGIN MAYO SIGNATURE"),
        ("end", good.replace("END MAYO", "END PGP"), "END MAYO SIGNATURE"),
        ("trailing", format!("{good}more\n"), "trailing data after"),
        ("empty line", good.replace("-----END", "\n-----END"), "lines of 64"),
        ("short line", good.replace(body, &body[1..]), "lines of 64"),
        ("long line", good.replace(body, &format!("{body}A")), "lines of 64"),
        ("missing line", good.replace(&format!("{body}\n"), ""), "239 bytes"),
        ("not base64", good.replace(body, &body.replace(&body[3..4], "!")), "base64"),
        ("another line", good.replace("round: 3", "comment: none\nround: 3"), "round:"),
        ("space", good.replace("round: 3", "round:  3"), "round"),
        ("lower case", good.replace("algorithm: mayo2", "algorithm: MAYO2"), "MAYO2"),
        ("line order", good.replace("algorithm: mayo2\nround: 3", "round: 3\nalgorithm: mayo2"), "algorithm:"),
    ];
    let ends: Vec<_> = good.match_indices('\n').map(|(at, _)| at).collect();
    for &end in &ends[..ends.len() - 1] {
        cases.push(("truncated", good[..=end].into(), "expected the line"));
    }
    cases.push(("half a line", good[..ends[6] - 20].into(), "expected the line"));
    for (case, text, says) in cases {
        assert_ne!(text, good, "{case}");
        place.write("bad", &text);
        place.run(&["verify", "-k", "k.pub", "-s", "bad", "f"]).expect(4).saying("bad:").saying(says);
        place.run(&["inspect", "bad"]).expect(4).saying("bad:").saying(says);
    }
    let mut bytes = good.into_bytes();
    bytes[100] = 0xff;
    place.write("bad", &bytes);
    place.run(&["verify", "-k", "k.pub", "-s", "bad", "f"]).expect(4).saying("not text");
}

#[test]
fn an_envelope_has_one_form() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let good = place.text("f.sig");
    let crlf = good.replace('\n', "\r\n");
    let body = good.find("BEGIN MAYO SIGNATURE-----\n").unwrap() + 26;
    let end = good.find("\n-----END").unwrap();
    let padded = good[..end].ends_with('=');
    let mut cases = vec![
        ("no end of the last line", good.trim_end().to_owned()),
        ("CR alone at the end", format!("{}\r", good.trim_end())),
        ("one CR LF", good.replacen('\n', "\r\n", 1)),
        ("CR LF at the end", format!("{}\r\n", good.trim_end())),
        ("one LF", crlf.replacen("\r\n", "\n", 1)),
        ("LF at the end", format!("{}\n", crlf.trim_end())),
        ("no end of the last CR LF", crlf.trim_end().to_owned()),
        ("CR for LF", good.replace('\n', "\r")),
        ("CR CR LF", good.replace('\n', "\r\r\n")),
        ("empty last line", format!("{good}\n")),
        ("NUL", format!("{good}\0")),
        ("twice", format!("{good}{good}")),
        ("tab", good.replace("round: 3", "round:\t3")),
        ("leading zero", good.replace("round: 3", "round: 03")),
        ("sign", good.replace("round: 3", "round: +3")),
        ("version 01", good.replace("signature: 1", "signature: 01")),
        ("set's other name", good.replace("algorithm: mayo2", "algorithm: MAYO_2")),
        ("set's long name", good.replace("algorithm: mayo2", "algorithm: mayo2-round3")),
        ("padded fingerprint", good.replace("\n-----BEGIN", "=\n-----BEGIN")),
        ("URL alphabet", good.replace(['+', '/'], "-") + "\n"),
        ("body in one line", good[..body].to_owned() + &good[body..end].replace('\n', "") + &good[end..]),
        ("space in the body", good[..body].to_owned() + " " + &good[body..]),
        ("empty line in the body", good[..body].to_owned() + "\n" + &good[body..]),
        ("no body", good[..body].to_owned() + &good[end + 1..]),
        ("other padding", good[..end].trim_end_matches('=').to_owned() + if padded { "" } else { "=" } + &good[end..]),
    ];
    // The last character before the padding, and that of the fingerprint, have unused bits.
    let next = |c: u8| char::from(if c == b'z' { b'0' } else { c + 1 });
    let at = good.find("\n-----BEGIN").unwrap() - 1;
    cases.push((
        "fingerprint's unused bits",
        format!("{}{}{}", &good[..at], next(good.as_bytes()[at]), &good[at + 1..]),
    ));
    // Each position outside the fingerprint and the body, with one character more, less or another.
    let key = good.find("SHA256:").unwrap()..good.find("\n-----BEGIN").unwrap();
    for at in (0..good.len()).filter(|at| !key.contains(at) && !(body..end).contains(at)) {
        cases.push(("missing", format!("{}{}", &good[..at], &good[at + 1..])));
        for other in [" ", "\n", "\r", "0", "\u{feff}"] {
            cases.push(("inserted", format!("{}{other}{}", &good[..at], &good[at..])));
            if good[at..=at] != *other {
                cases.push(("other", format!("{}{other}{}", &good[..at], &good[at + 1..])));
            }
        }
    }
    let mut names = Vec::new();
    for (i, (case, text)) in cases.iter().enumerate() {
        assert_ne!(*text, good, "{case}");
        let name = format!("bad{i}");
        place.write(&name, text);
        names.push(name);
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let run = place.run(&[&["inspect"], &names[..]].concat()).expect(4);
    let accepted: Vec<_> =
        names.iter().zip(&cases).filter(|(name, _)| run.out().contains(&format!("{name}: "))).collect();
    assert!(accepted.is_empty(), "{accepted:?}");
    place.write("f.sig", crlf);
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
}

/// An encrypted private key whose derivation of the cipher's key has these parameters.
fn encrypted(kdf: &[u8], parameters: &[&[u8]]) -> Vec<u8> {
    let aes = der(0x30, &[&der(6, &[&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a]]), &der(4, &[&[3; 16]])]);
    let kdf = der(0x30, &[&der(6, &[kdf]), &der(0x30, parameters)]);
    let pbes2 = der(0x30, &[&der(6, &[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13]]), &der(0x30, &[&kdf, &aes])]);
    der(0x30, &[&pbes2, &der(4, &[&[0; 64]])])
}

#[test]
fn a_key_file_cannot_ask_for_much() {
    let place = Place::with_key("mayo2");
    place.write("pw", b"secret");
    let salt = der(4, &[b"salt and pepper!"]);
    let scrypt = [0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11];
    let pbkdf2 = [0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 12];
    let sha256 = der(0x30, &[&der(6, &[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, 9]]), &[5, 0]]);
    for file in [
        // N = 2^18 with r = 9, N = 2^19, and N = 2^14 with p = 17: more than 256 MiB, or as much
        // work.
        encrypted(&scrypt, &[&salt, &[2, 3, 4, 0, 0], &[2, 1, 9], &[2, 1, 1]]),
        encrypted(&scrypt, &[&salt, &[2, 3, 8, 0, 0], &[2, 1, 8], &[2, 1, 1]]),
        encrypted(&scrypt, &[&salt, &[2, 2, 0x40, 0], &[2, 1, 8], &[2, 1, 17]]),
        // N = 2^62, and zero.
        encrypted(&scrypt, &[&salt, &[2, 8, 0x40, 0, 0, 0, 0, 0, 0, 0], &[2, 1, 8], &[2, 1, 1]]),
        encrypted(&scrypt, &[&salt, &[2, 1, 0], &[2, 1, 8], &[2, 1, 1]]),
        // 2,000,001 iterations.
        encrypted(&pbkdf2, &[&salt, &[2, 3, 0x1e, 0x84, 0x81], &sha256]),
    ] {
        place.write("e.key", file);
        let arguments = ["sign", "-k", "e.key", "--passphrase-file", "pw", "f"];
        place.run(&arguments).expect(4).saying("excessive cost");
    }
    // A cost within the limit, but beyond the memory of the machine, is refused too.
    place.write("e.key", encrypted(&scrypt, &[&salt, &[2, 3, 4, 0, 0], &[2, 1, 8], &[2, 1, 1]]));
    #[cfg(unix)]
    place
        .run_in_shell(
            "export MALLOC_ARENA_MAX=1; ulimit -v 131072; exec \"$@\"",
            &["pubkey", "e.key", "--passphrase-file", "pw"],
        )
        .expect(4)
        .saying("excessive cost");
}

#[test]
fn a_set_or_round_that_was_changed_in_the_envelope() {
    let place = Place::with_key("mayo3");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let text = place.text("f.sig");
    place.write("f.sig", text.replace("algorithm: mayo3\nround: 3", "algorithm: mayo3-round2\nround: 2"));
    place.run(&["verify", "-k", "k.pub", "f"]).expect(5).saying("mayo3-round2");
    place.write("f.sig", text.replace("algorithm: mayo3\n", "algorithm: mayo1\n"));
    place.run(&["verify", "-k", "k.pub", "f"]).expect(4).saying("464 bytes");
}

#[test]
fn bare_signatures() {
    let place = Place::with_key("mayo2");
    let length = Algorithm::Mayo2.signature_bytes();
    for length in [0, 1, length - 1, length + 1, 216, 60_000, 70_000] {
        place.write("f.sig", vec![0x5a; length]);
        place.run(&["verify", "-k", "k.pub", "f"]).expect(4).saying("f.sig");
    }
    place.write("f.sig", vec![0x5a; length]);
    place.run(&["verify", "-k", "k.pub", "f"]).expect(1);
}

#[test]
fn files_that_are_missing_or_no_files() {
    let place = Place::with_key("mayo2");
    place.run(&["verify", "-k", "k.pub", "f"]).expect(3).saying("f.sig");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    place.run(&["verify", "-k", "k.pub", "-s", "f.sig", "absent"]).expect(3).saying("absent");
    place.run(&["verify", "-k", "absent", "f"]).expect(3).saying("absent");
    place.run(&["sign", "-k", "absent", "f"]).expect(3).saying("absent");
    place.run(&["inspect", "absent"]).expect(3).saying("absent");
    std::fs::create_dir(place.path("d")).unwrap();
    place.run(&["inspect", "d"]).expect(3).saying("cannot read d");
    place.run(&["sign", "-k", "d", "f"]).expect(3).saying("cannot read d");
}

#[test]
fn key_files() {
    let place = Place::with_key("mayo2");
    place.keygen("mayo2", "other");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    let [public_pem, private_pem] = ["k.pub", "k.key"].map(|name| place.text(name));
    let key = Identifiers::OQS.decode_private_key(private_pem.as_bytes(), None).unwrap();
    let public_key = Identifiers::OQS.decode_public_key(public_pem.as_bytes()).unwrap();
    let other = Identifiers::OQS.decode_public_key(&place.read("other.pub")).unwrap();
    let seed = key.as_bytes();
    let public_key = public_key.as_bytes();
    let set = Algorithm::Mayo2;
    let private = private_key_info(set, seed, public_key);
    let public = public_key_info(set, public_key);

    // The unchanged encodings are valid.
    place.write("good", &private);
    place.run(&["sign", "--force", "-k", "good", "f"]).expect(0);
    place.write("good", &public);
    place.run(&["verify", "-k", "good", "f"]).expect(0);

    let unknown = |der: &[u8]| {
        let oid = Identifiers::OQS.get(set);
        let at = der.windows(oid.as_bytes().len()).position(|window| window == oid.as_bytes()).unwrap();
        let mut der = der.to_vec();
        der[at + oid.as_bytes().len() - 1] = 0x7f;
        der
    };
    let private_keys = [
        ("nothing", Vec::new(), "not a key"),
        ("garbage", b"garbage".to_vec(), "not a key"),
        ("public", public.clone(), "not a key"),
        ("public PEM", public_pem.clone().into_bytes(), "PRIVATE KEY"),
        ("truncated", private[..private.len() - 1].to_vec(), "not a key"),
        ("trailing", [&private[..], &[0]].concat(), "not a key"),
        ("truncated PEM", private_pem[..private_pem.len() / 2].into(), "not a key"),
        ("damaged PEM", private_pem.replace("-----BEGIN", "----BEGIN").into_bytes(), "not a key"),
        ("short seed", private_key_info(set, &seed[1..], &[]), "24 bytes"),
        ("another's public key", private_key_info(set, seed, other.as_bytes()), "does not belong"),
        ("unknown identifier", unknown(&private), "identifier"),
        ("seed alone", seed.to_vec(), "not a key"),
        ("too long", vec![0x30; 70_000], "longer than"),
    ];
    for (case, contents, says) in private_keys {
        place.write("bad", &contents);
        let run = place.run(&["sign", "-k", "bad", "f", "--out", "-"]).expect(4).saying("bad").saying(says);
        assert!(run.stdout.is_empty(), "{case}");
        place.run(&["pubkey", "bad", "--out", "-"]).expect(4).saying(says);
    }
    let public_keys = [
        ("nothing", Vec::new(), "not a key"),
        ("garbage", b"garbage".to_vec(), "not a key"),
        ("private", private.clone(), "not a key"),
        ("private PEM", private_pem.clone().into_bytes(), "PUBLIC KEY"),
        ("truncated", public[..public.len() - 1].to_vec(), "not a key"),
        ("truncated PEM", public_pem[..public_pem.len() / 2].into(), "not a key"),
        ("short", public_key_info(set, &public_key[1..]), "2928 bytes"),
        ("long", public_key_info(set, &[public_key, &[0]].concat()), "2928 bytes"),
        ("other set's", public_key_info(Algorithm::Mayo1, public_key), "1456 bytes"),
        ("other round's", public_key_info(Algorithm::Mayo2Round2, public_key), "4912 bytes"),
        ("interim", public_key_info(Algorithm::Mayo2Round2, &[7; 4368]), "pq-mayo"),
        ("unknown identifier", unknown(&public), "identifier"),
        ("raw", public_key.to_vec(), "not a key"),
    ];
    for (_, contents, says) in public_keys {
        place.write("bad", &contents);
        place.run(&["verify", "-k", "bad", "f"]).expect(4).saying("bad").saying(says);
    }
}
