//! Signatures with certificates, in the form of CMS: `sign --certificate`, and `verify` by a key
//! or by authorities.

use crate::Place;
use crate::certificates::{flipped, place_of};

/// A place with a file `f` that was signed with the certificate `k.pem`.
fn signed(set: &str) -> Place {
    let place = place_of(set, "CN=signer", &[]);
    place.run(&["sign", "-k", "k.key", "--certificate", "k.pem", "f"]).expect(0).saying("signature in f.p7s");
    place
}

#[test]
fn a_signature_with_a_certificate_is_verified_by_keys_and_authorities() {
    for set in ["mayo1", "mayo5-round2"] {
        let place = signed(set);
        for key in ["k.pub", "k.pem", "k.csr"] {
            assert_eq!(place.run(&["verify", "-k", key, "--bind-key", "f"]).expect(0).out(), "f: valid\n");
        }
        let run = place.run(&["verify", "--ca", "ca.pem", "--bind-key", "f"]).expect(0);
        assert_eq!(run.out(), "f: valid, signed by CN=signer\n");
        let json = place.run(&["verify", "--ca", "ca.pem", "--json", "f"]).expect(0).out();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["results"][0]["signer"], "CN=signer");
        assert!(json.get("key").is_none());
        let input = place.read("f");
        place.run_with_input(&["verify", "--ca", "ca.pem", "--signature", "f.p7s", "-"], &input).expect(0);
        let text = place.run(&["inspect", "f.p7s"]).expect(0).out();
        let fingerprint = place.run(&["inspect", "k.pub"]).out();
        let fingerprint = fingerprint.split_whitespace().find(|word| word.starts_with("SHA256:")).unwrap();
        for expected in ["f.p7s: signature (CMS)", set, "kept elsewhere", "CN=signer, not verified", fingerprint] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }
}

#[test]
fn what_is_wrong_with_such_a_signature_is_said() {
    let place = signed("mayo2");
    place.keygen("mayo2", "other");
    place.keygen("mayo1", "longer");
    place.run(&["cert", "ca", "-k", "other.key", "--subject", "CN=Authority,O=Example", "-o", "other.pem"]).expect(0);
    place.write("g", b"another message");
    place.write("flipped.p7s", flipped(&place, "f.p7s", 3));
    place.write("cut.p7s", &place.read("f.p7s")[..1000]);
    place.write("empty.p7s", "-----BEGIN CMS-----\nAAAA\n-----END CMS-----\n");
    place.run(&["sign", "-k", "k.key", "f", "-o", "bare.sig"]).expect(0);
    for (arguments, code, saying) in [
        (&["-k", "k.pub", "-s", "flipped.p7s", "f"][..], 1, ""),
        (&["--ca", "ca.pem", "-s", "flipped.p7s", "f"], 1, ""),
        (&["-k", "k.pub", "-s", "f.p7s", "g"], 1, ""),
        (&["--ca", "ca.pem", "-s", "f.p7s", "g"], 1, ""),
        (&["--ca", "other.pem", "f"], 1, "f.p7s: a signature is not valid under the key of its issuer"),
        (&["--ca", "k.pem", "f"], 1, "f.p7s: no trusted authority leads to it"),
        (&["-k", "other.pub", "f"], 5, "f.p7s: signature of the key SHA256:"),
        (&["-k", "longer.pub", "f"], 5, "f.p7s: signature of mayo2, but the key is for mayo1"),
        (&["-k", "k.pub", "-s", "cut.p7s", "f"], 4, "cut.p7s: PEM with a block that is damaged"),
        (&["-k", "k.pub", "-s", "empty.p7s", "f"], 4, "empty.p7s: not a signature of CMS"),
        (&["--ca", "ca.pem", "-s", "bare.sig", "f"], 4, "bare.sig: PEM without a block of the kind CMS"),
        (&["--ca", "ca.pem", "g"], 3, "g.p7s"),
        (&["-k", "k.pub", "g"], 3, "g.sig"),
        (&["--ca", "k.pub", "f"], 4, "k.pub: PEM without a block of the kind CERTIFICATE"),
        (&["--ca", "ca.pem", "-k", "k.pub", "f"], 2, "cannot be used with"),
        (&["f"], 2, "--key"),
    ] {
        let run = place.run(&[&["verify"], arguments].concat()).expect(code).saying(saying);
        assert_eq!(run.out().contains("NOT VALID"), saying.is_empty(), "{arguments:?}");
    }
    place.run(&["inspect", "cut.p7s"]).expect(4).saying("damaged");
}

#[test]
fn nothing_is_signed_with_a_certificate_of_another_key() {
    let place = place_of("mayo1", "CN=signer", &[]);
    for (arguments, code, saying) in [
        (&["--certificate", "ca.pem"][..], 5, "ca.pem: the certificate is for another key"),
        (&["--certificate", "k.csr"], 4, "k.csr: PEM without"),
        (&["--certificate", "absent"], 3, "absent"),
        (&["--certificate", "k.pem", "--raw"], 2, "cannot be used with"),
        (&["--certificate", "k.pem", "--bind-key"], 2, "cannot be used with"),
        (&["--certificate", "k.pem", "-o", "k.pem", "--force"], 2, "both input and output"),
    ] {
        place.run(&[&["sign", "-k", "k.key", "f"], arguments].concat()).expect(code).saying(saying);
    }
    assert!(!place.names().contains(&"f.p7s".to_owned()));
}

/// A signature of either form is found without being named; the text comes first.
#[test]
fn the_text_is_read_before_cms() {
    let place = signed("mayo2");
    place.write("f.sig", "neither");
    place.run(&["verify", "-k", "k.pub", "f"]).expect(4).saying("f.sig");
    place.run(&["verify", "--ca", "ca.pem", "f"]).expect(0);
    // CMS under the name of the text.
    place.write("f.sig", place.read("f.p7s"));
    place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
}
