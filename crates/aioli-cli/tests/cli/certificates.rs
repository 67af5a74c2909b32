//! `cert`, and what the other commands do with certificates.

use crate::Place;

/// A place with an authority `ca`, and a key `k` with its request and its certificate for
/// example.org.
fn place(set: &str) -> Place {
    place_of(set, "CN=server", &["--name", "example.org", "--name", "127.0.0.1"])
}

/// The same for a subject and names.
pub(crate) fn place_of(set: &str, subject: &str, names: &[&str]) -> Place {
    let place = Place::with_key(set);
    certify(&place, set, subject, names);
    place
}

/// Makes an authority `ca`, which certifies the key `k` of a place.
pub(crate) fn certify(place: &Place, set: &str, subject: &str, names: &[&str]) {
    place.keygen(set, "ca");
    place.run(&["cert", "ca", "-k", "ca.key", "--subject", "CN=Authority,O=Example", "-o", "ca.pem"]).expect(0);
    let request = ["cert", "request", "-k", "k.key", "--subject", subject, "-o", "k.csr"];
    place.run(&[&request[..], names].concat()).expect(0);
    let issue = place.run(&["cert", "issue", "--ca", "ca.pem", "-k", "ca.key", "k.csr", "-o", "k.pem"]).expect(0);
    let issue = issue.saying("certified: k.csr").saying(subject);
    names.iter().filter(|word| **word != "--name").for_each(|name| assert!(issue.stderr.contains(name), "{name}"));
    assert!(issue.stdout.is_empty());
}

/// The bytes in a file of PEM, and a file with other bytes.
pub(crate) fn flipped(place: &Place, name: &str, from_the_end: usize) -> String {
    use base64ct::{Base64, Encoding};
    let text = place.text(name);
    let mut lines: Vec<_> = text.lines().collect();
    let (begin, end) = (lines.remove(0), lines.pop().unwrap());
    let mut der = Base64::decode_vec(&lines.concat()).unwrap();
    let at = der.len() - from_the_end;
    der[at] ^= 1;
    let text = Base64::encode_string(&der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("{begin}\n{}\n{end}\n", lines.join("\n"))
}

#[test]
fn a_certificate_is_issued_and_verified() {
    let place = place("mayo1");
    let run = place.run(&["cert", "verify", "--ca", "ca.pem", "--name", "example.org", "k.pem"]).expect(0);
    assert_eq!(run.out(), "k.pem: valid\n");
    for arguments in [&["--name", "127.0.0.1"][..], &["--purpose", "client"], &["--purpose", "any", "-q"]] {
        place.run(&[&["cert", "verify", "--ca", "ca.pem", "k.pem"], arguments].concat()).expect(0);
    }
    place.run_with_input(&["cert", "verify", "--ca", "ca.pem", "-"], &place.read("k.pem")).expect(0);
    let to_stdout = place.run(&["cert", "request", "-k", "k.key", "--subject", "CN=a", "-o", "-"]).expect(0);
    assert!(to_stdout.out().starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"));
}

#[test]
fn what_is_wrong_with_a_certificate_is_said() {
    let place = place("mayo2");
    place.keygen("mayo2", "other");
    place.run(&["cert", "ca", "-k", "other.key", "--subject", "CN=Authority,O=Example", "-o", "other.pem"]).expect(0);
    place.write("flipped.pem", flipped(&place, "k.pem", 3));
    place.write("not-der.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    place.write("cut.pem", &place.read("k.pem")[..1000]);
    for (arguments, code, saying) in [
        (&["--ca", "other.pem", "k.pem"][..], 1, "k.pem: a signature is not valid under the key of its issuer"),
        (&["--ca", "ca.pem", "flipped.pem"], 1, "flipped.pem: a signature is not valid"),
        (&["--ca", "ca.pem", "k.pem", "--name", "example.com"], 1, "not valid for the name example.com, but for:"),
        (&["--ca", "ca.pem", "k.pem", "--time", "2020-01-01T00:00:00Z"], 1, "not valid before"),
        (&["--ca", "ca.pem", "k.pem", "--time", "2199-01-01T00:00:00Z"], 1, "expired at"),
        (&["--ca", "k.pem", "k.pem"], 1, "its issuer is not known here"),
        (&["--ca", "ca.pem", "ca.pem"], 1, "the certificate of an authority, not of a server"),
        (&["--ca", "ca.pem", "k.csr"], 4, "k.csr: PEM without a block of the kind CERTIFICATE"),
        (&["--ca", "ca.pem", "not-der.pem"], 4, "not-der.pem: not a certificate"),
        (&["--ca", "ca.pem", "cut.pem"], 4, "cut.pem: PEM with a block that is damaged"),
        (&["--ca", "k.pub", "k.pem"], 4, "k.pub: PEM without"),
        (&["--ca", "absent", "k.pem"], 3, "absent"),
        (&["--ca", "ca.pem", "k.pem", "--time", "tomorrow"], 2, "2027-01-31"),
        (&["--ca", "-", "-"], 2, "standard input"),
        (&["--ca", "ca.pem", "k.pem", "flipped.pem", "not-der.pem"], 4, "flipped.pem: a signature"),
    ] {
        place.run(&[&["cert", "verify"], arguments].concat()).expect(code).saying(saying);
    }
}

#[test]
fn authorities_below_authorities() {
    let place = place("mayo1");
    place.keygen("mayo2", "below");
    place.run(&["cert", "request", "-k", "below.key", "--subject", "CN=Below", "-o", "below.csr"]).expect(0);
    let issue = ["cert", "issue", "--ca", "ca.pem", "-k", "ca.key", "--authority", "0", "below.csr", "-o", "below.pem"];
    place.run(&issue).expect(0).saying("may sign certificates, 0 more below it");
    let issue =
        ["cert", "issue", "--ca", "below.pem", "-k", "below.key", "k.csr", "--name", "a.example", "-o", "leaf.pem"];
    place.run(&issue).expect(0);
    place.run(&["cert", "verify", "--ca", "ca.pem", "leaf.pem"]).expect(1).saying("its issuer is not known here");
    place.write("chain.pem", [place.read("leaf.pem"), place.read("below.pem")].concat());
    place.run(&["cert", "verify", "--ca", "ca.pem", "--name", "a.example", "chain.pem"]).expect(0);
    // The name in the request was replaced.
    place.run(&["cert", "verify", "--ca", "ca.pem", "--name", "example.org", "chain.pem"]).expect(1);
    let shown = place.run(&["cert", "show", "chain.pem"]).expect(0).out();
    assert_eq!(shown.matches("certificate (X.509)").count(), 2, "{shown}");
}

#[test]
fn nothing_is_issued_against_the_rules() {
    let place = place("mayo1");
    place.write("flipped.csr", flipped(&place, "k.csr", 3));
    for (arguments, code, saying) in [
        (&["--ca", "ca.pem", "-k", "ca.key", "flipped.csr"][..], 1, "flipped.csr: signature is not valid"),
        (&["--ca", "ca.pem", "-k", "k.key", "k.csr"], 5, "another key"),
        (&["--ca", "k.pem", "-k", "k.key", "k.csr"], 4, "not that of an authority"),
        (&["--ca", "ca.pem", "-k", "ca.key", "k.pem"], 4, "without a block of the kind CERTIFICATE REQUEST"),
        (&["--ca", "ca.pem", "-k", "ca.key", "k.csr", "--name", "not a name"], 2, "neither a DNS name"),
        (&["--ca", "ca.pem", "-k", "ca.key", "k.csr", "--days", "0"], 2, "36500"),
    ] {
        place.run(&[&["cert", "issue", "-o", "new.pem"], arguments].concat()).expect(code).saying(saying);
    }
    assert!(!place.names().contains(&"new.pem".to_owned()));
    place.run(&["cert", "ca", "-k", "ca.key", "--subject", "nothing", "-o", "new.pem"]).expect(2).saying("CN=Example");
    let issue = ["cert", "issue", "--ca", "ca.pem", "-k", "ca.key", "k.csr", "-o"];
    place.run(&[&issue[..], &["k.pem"]].concat()).expect(3).saying("--force");
    place.run(&[&issue[..], &["k.pem", "--force"]].concat()).expect(0);
    place.run(&[&issue[..], &["k.csr", "--force"]].concat()).expect(2).saying("both input and output");
    place.run(&[&issue[..], &["k.key", "--force"]].concat()).expect(3).saying("private key");
}

#[test]
fn certificates_are_shown_and_their_keys_verify_files() {
    let place = place("mayo5");
    let key = place.run(&["inspect", "k.pub"]).expect(0).out();
    let fingerprint = key.lines().find_map(|line| line.trim().strip_prefix("fingerprint")).unwrap().trim();
    for command in [&["inspect"][..], &["cert", "show"]] {
        let text = place.run(&[command, &["k.pem", "k.csr", "ca.pem"]].concat()).expect(0).out();
        for expected in ["k.pem: certificate (X.509)", "k.csr: request for a certificate (PKCS#10)", "by mayo5"] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert_eq!(text.matches(fingerprint).count(), 2, "{text}");
        assert!(text.contains("may sign certificates") && text.contains("CN=Authority,O=Example"), "{text}");
    }
    place.run(&["cert", "show", "k.pub"]).expect(4).saying("neither a certificate nor a request");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    for with_key in ["k.pem", "k.csr"] {
        place.run(&["verify", "-k", with_key, "f"]).expect(0);
    }
    place.run(&["verify", "-k", "ca.pem", "f"]).expect(5).saying("but the given key is");
    place.write("cut.pem", &place.read("k.pem")[..1000]);
    for command in [&["inspect", "cut.pem"][..], &["cert", "show", "cut.pem"], &["verify", "-k", "cut.pem", "f"]] {
        place.run(command).expect(4).saying("damaged");
    }
}

#[test]
fn names_in_certificates_cannot_deceive_a_terminal() {
    let place = place("mayo2");
    let request = ["cert", "request", "-k", "k.key", "--subject", "CN=a\u{202e}b\u{1b}[31m", "-o", "bad.csr"];
    place.run(&request).expect(0);
    let text = place.run(&["cert", "show", "bad.csr"]).expect(0).out();
    assert!(text.contains("CN=a\\u{202e}b\\1b[31m"), "{text}");
}
