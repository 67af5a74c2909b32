//! `aioli-git` with certificates, under the machine's git and by itself.
#![cfg(unix)]

use crate::certificates::certify;
use crate::git::{aioli_git, repository};
use crate::{Place, Run};
use aioli::any::SigningKey;
use aioli::pkcs8::Identifiers;
use aioli_x509::pki_types::UnixTime;
use aioli_x509::{Authority, Certificate, Request, Time, Validity, days};
use base64ct::{Base64, Encoding};
use std::time::Duration;

/// Runs git as its configuration for certificates says.
fn git(place: &Place, arguments: &[&str]) -> Run {
    let program = format!("gpg.x509.program={}", place.path("aioli-git").display());
    let configuration = ["-c", "gpg.format=x509", "-c", &program, "-c", "aioli.ca=../ca.pem"];
    crate::git::git(place, &[&configuration, arguments].concat())
}

/// A place with a repository whose newest commit is signed with the certificate `k.pem`, the one
/// before it with a bare key.
fn signed(set: &str) -> Option<Place> {
    let place = repository(set)?;
    certify(&place, set, "CN=Alice", &[]);
    commit(&place);
    Some(place)
}

fn commit(place: &Place) {
    git(place, &["commit", "-q", "--allow-empty", "-S", "-m", "a subject"]).expect(0);
}

/// Verifies a commit that is refused, and checks what git thinks of it.
#[track_caller]
fn refused(place: &Place, arguments: &[&str], commit: &str, status: &str, saying: &str) {
    let run = git(place, &[arguments, &["verify-commit", commit]].concat()).expect(1).saying(saying);
    assert!(!run.stderr.contains("Good"), "{}", run.stderr);
    let log = git(place, &[arguments, &["log", "-1", "--format=%G?", commit]].concat()).expect(0);
    assert_eq!(log.out(), format!("{status}\n"));
}

/// Writes an object of git, changed, and returns its name.
fn rewrite(place: &Place, kind: &str, name: &str, change: impl FnOnce(String) -> String) -> String {
    let object = git(place, &["cat-file", kind, name]).expect(0).out();
    let changed = change(object.clone());
    assert_ne!(object, changed);
    place.write("object", changed);
    git(place, &["hash-object", "-w", "-t", kind, "../object"]).expect(0).out().trim().to_owned()
}

/// The text of a commit with the DER of its signature changed.
fn with_signature(commit: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let (begin, end) = ("gpgsig -----BEGIN SIGNED MESSAGE-----\n", " -----END SIGNED MESSAGE-----\n");
    let (before, rest) = commit.split_once(begin).unwrap();
    let (body, after) = rest.split_once(end).unwrap();
    let mut der = Base64::decode_vec(&body.replace([' ', '\n'], "")).unwrap();
    change(&mut der);
    let text = Base64::encode_string(&der);
    let lines: String =
        text.as_bytes().chunks(64).map(|line| format!(" {}\n", str::from_utf8(line).unwrap())).collect();
    format!("{before}{begin}{lines}{end}{after}")
}

fn key(place: &Place, name: &str) -> SigningKey {
    Identifiers::OQS.decode_private_key(&place.read(name), None).unwrap()
}

#[test]
fn git_signs_and_verifies_with_certificates() {
    for set in ["mayo1", "mayo5-round2"] {
        let Some(place) = signed(set) else { return };
        git(&place, &["tag", "-s", "v1", "-m", "a tag"]).expect(0);
        let described = place.run(&["inspect", "k.pub"]).expect(0).out();
        let fingerprint = described.split_whitespace().find(|word| word.starts_with("SHA256:")).unwrap();
        let good = format!("Good signature of CN=Alice with {set} key {fingerprint}\n");
        git(&place, &["verify-commit", "HEAD"]).expect(0).saying(&good);
        git(&place, &["-c", "gpg.minTrustLevel=fully", "verify-tag", "v1"]).expect(0).saying(&good);
        let log = git(&place, &["log", "--show-signature", "--format=%G? %GS %GK %GF %GT"]).expect(0);
        let shown = log.out() + &log.stderr;
        let told = format!("G CN=Alice {fingerprint} {fingerprint} fully\n");
        assert!(shown.contains(&good) && shown.contains(&told), "{shown}");
        // The commit before was signed without certificates, and is verified with this
        // configuration, too.
        assert!(shown.contains("Good \"git\" signature for alice@example.org with"), "{shown}");
    }
}

#[test]
fn git_refuses_what_was_changed() {
    let Some(place) = signed("mayo2") else { return };
    let invalid = "signature is not valid";
    for (from, to) in [("a subject", "a subjects"), ("author Alice", "author Malice")] {
        let rewritten = rewrite(&place, "commit", "HEAD", |commit| commit.replacen(from, to, 1));
        refused(&place, &[], &rewritten, "B", invalid);
    }
    let flipped =
        rewrite(&place, "commit", "HEAD", |commit| with_signature(&commit, |der| *der.last_mut().unwrap() ^= 1));
    refused(&place, &[], &flipped, "B", invalid);
    let cut = rewrite(&place, "commit", "HEAD", |commit| with_signature(&commit, |der| der.truncate(1000)));
    refused(&place, &[], &cut, "E", "not a signature of CMS");
    git(&place, &["tag", "-s", "v1", "-m", "a tag"]).expect(0);
    let rewritten = rewrite(&place, "tag", "v1", |tag| tag.replacen("a tag", "a tags", 1));
    let run = git(&place, &["verify-tag", &rewritten]).expect(1).saying(invalid);
    assert!(!run.stderr.contains("Good"), "{}", run.stderr);
}

#[test]
fn git_trusts_the_authorities_in_its_configuration() {
    let Some(place) = signed("mayo2") else { return };
    for (name, subject) in [("same", "CN=Authority,O=Example"), ("another", "CN=Another")] {
        let pem = format!("{name}.pem");
        place.run(&["cert", "ca", "-k", "other.key", "--subject", subject, "-o", &pem]).expect(0);
    }
    for (ca, saying) in [
        ("aioli.ca=../same.pem", "a signature is not valid under the key of its issuer"),
        ("aioli.ca=../another.pem", "no trusted authority leads to it"),
        ("aioli.ca=../k.pem", "no trusted authority leads to it"),
        ("aioli.ca=../k.pub", "k.pub: PEM without a block of the kind CERTIFICATE"),
        ("aioli.ca=../absent", "cannot read ../absent"),
        ("aioli.ca", "aioli.ca in the configuration of git must be the path"),
    ] {
        refused(&place, &["-c", ca], "HEAD", "E", saying);
    }
    let program = format!("gpg.x509.program={}", place.path("aioli-git").display());
    let verify = ["-c", &program, "verify-commit", "HEAD"];
    crate::git::git(&place, &verify).expect(1).saying("aioli.ca in the configuration of git must be the path");
    // The file may have several.
    place.write("both.pem", [place.read("same.pem"), place.read("another.pem"), place.read("ca.pem")].concat());
    git(&place, &["-c", "aioli.ca=../both.pem", "verify-commit", "HEAD"]).expect(0);
    // Neither may a server sign commits, nor the authority itself.
    let issue = ["cert", "issue", "--ca", "ca.pem", "-k", "ca.key", "k.csr", "--name", "example.org", "-o", "k.pem"];
    place.run(&[&issue[..], &["--force"]].concat()).expect(0);
    commit(&place);
    refused(&place, &[], "HEAD", "E", "not meant for this purpose");
    place.write("k.key", place.read("ca.key"));
    place.write("k.pem", place.read("ca.pem"));
    commit(&place);
    refused(&place, &[], "HEAD", "E", "the certificate of an authority");
}

#[test]
fn git_refuses_certificates_outside_their_time() {
    let Some(place) = signed("mayo2") else { return };
    let ca = Certificate::read_all(&place.read("ca.pem")).unwrap().swap_remove(0);
    let authority = Authority::new(&key(&place, "ca.key"), ca).unwrap();
    let request = Request::read(&place.read("k.csr")).unwrap();
    let now = UnixTime::now().as_secs();
    let time = |seconds| Time::try_from(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    for (from, to, saying) in [
        // It was valid when the commit was made, by the time that this claims.
        (1_577_836_800, now - 60, "expired at"),
        (now + 24 * 60 * 60, now + 48 * 60 * 60, "not valid before"),
    ] {
        let certificate = authority.issue(&request, vec![], Validity::new(time(from), time(to))).unwrap();
        place.write("k.pem", certificate.to_pem());
        commit(&place);
        refused(&place, &[], "HEAD", "E", saying);
    }
    place.write("k.pem", authority.issue(&request, vec![], days(1).unwrap()).unwrap().to_pem());
    commit(&place);
    git(&place, &["verify-commit", "HEAD"]).expect(0);
}

#[test]
fn chains_and_names_in_certificates() {
    let Some(place) = signed("mayo2") else { return };
    place.run(&["cert", "request", "-k", "other.key", "--subject", "CN=Below", "-o", "below.csr"]).expect(0);
    let issue = ["cert", "issue", "--ca", "ca.pem", "-k", "ca.key", "--authority", "0", "below.csr", "-o", "below.pem"];
    place.run(&issue).expect(0);
    // The name tries to end its line.
    let subject = "CN=Eve\n[GNUPG:] TRUST_NEVER\u{1b}[31m";
    place.run(&["cert", "request", "-k", "k.key", "--subject", subject, "-o", "k.csr", "--force"]).expect(0);
    let issue = ["cert", "issue", "--ca", "below.pem", "-k", "other.key", "k.csr", "-o", "k.pem", "--force"];
    place.run(&issue).expect(0);
    commit(&place);
    refused(&place, &[], "HEAD", "E", "its issuer is not known here");
    place.write("k.pem", [place.read("k.pem"), place.read("below.pem")].concat());
    commit(&place);
    let run = git(&place, &["verify-commit", "--raw", "HEAD"]).expect(0);
    assert!(run.stderr.lines().any(|line| line == "[GNUPG:] TRUST_FULLY 0 chain"), "{}", run.stderr);
    assert!(run.stderr.lines().all(|line| !line.starts_with("[GNUPG:] TRUST_NEVER")), "{}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

/// Without the attribute that names the certificate, it would be valid under computed keys.
#[test]
fn a_signature_that_does_not_bind_its_key_is_refused() {
    let Some(place) = signed("mayo2") else { return };
    let signer = key(&place, "k.key");
    let commit = rewrite(&place, "commit", "HEAD", |commit| {
        with_signature(&commit, |der| {
            // The last number of the attribute's identifier becomes one that means nothing.
            let attribute = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 2, 47];
            let at = der.windows(attribute.len()).position(|window| window == attribute).unwrap();
            der[at + attribute.len() - 1] = 48;
            // The attributes follow their tag and a length of two bytes; the type of the content is
            // the first of them. They are signed as a set.
            let first = [0x30, 0x18, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 3];
            let start = der.windows(first.len()).position(|window| window == first).unwrap() - 3;
            assert_eq!(der[start..start + 2], [0xa0, 0x81]);
            let attributes = &der[start + 1..start + 3 + usize::from(der[start + 2])];
            let signature = signer.sign(&[&[0x31], attributes].concat()).unwrap();
            let end = der.len() - signature.as_bytes().len();
            der[end..].copy_from_slice(signature.as_bytes());
        })
    });
    refused(&place, &[], &commit, "E", "does not bind the key");
    // The signature is valid otherwise: a user who does not demand more is told so.
    let object = git(&place, &["cat-file", "commit", &commit]).expect(0).out();
    let (before, rest) = object.split_once("gpgsig ").unwrap();
    let (signature, after) = rest.split_once("-----END SIGNED MESSAGE-----\n").unwrap();
    place.write("f", format!("{before}{after}"));
    place.write("f.p7s", format!("{}-----END SIGNED MESSAGE-----\n", signature.replace("\n ", "\n")));
    place.run(&["verify", "--ca", "ca.pem", "f"]).expect(0);
    place.run(&["verify", "--ca", "ca.pem", "--bind-key", "f"]).expect(5).saying("does not bind the key");
}

#[test]
fn nothing_is_signed_without_a_certificate() {
    let Some(place) = signed("mayo2") else { return };
    place.write("other.pem", place.read("k.pem"));
    for (key, code, saying) in [
        ("absent.key", 2, "absent.key does not exist: user.signingKey must be the path of a private key"),
        ("Alice <alice@example.org>", 2, "user.signingKey must be the path"),
        ("ca.pem", 4, "ca.pem"),
        ("other.key", 5, "other.pem: the certificate is for another key"),
    ] {
        let run = aioli_git(&place, &["--status-fd=2", "-bsau", key], b"a message").expect(code).saying(saying);
        assert!(run.stdout.is_empty() && !run.stderr.contains("SIG_CREATED"), "{key}");
    }
    std::fs::remove_file(place.path("k.pem")).unwrap();
    aioli_git(&place, &["--status-fd=2", "-bsau", "k.key"], b"a message").expect(3).saying("cannot read k.pem");
    let commit = ["commit", "-q", "--allow-empty", "-S", "-m", "two"];
    assert_ne!(git(&place, &commit).saying("failed to sign").code, Some(0));
}

#[test]
fn arguments_in_the_manner_of_gpgsm_that_make_no_sense() {
    let place = Place::with_key("mayo2");
    std::os::unix::fs::symlink(crate::AIOLI, place.path("aioli-git")).unwrap();
    for (arguments, saying) in [
        (&["--status-fd=2"][..], "-u <KEY>"),
        (&["--status-fd=3", "-bsau", "k.key"], "3 is not in 1..=2"),
        (&["--status-fd=2", "-bsu", "k.key"], "-a"),
        (&["--status-fd=1", "--verify", "f"], "2 values required"),
        (&["--status-fd=1", "--verify", "f", "-", "--verify", "f", "-"], "cannot be used multiple times"),
        (&["--status-fd=1", "--verify", "f", "-", "-bsau", "k.key"], "cannot be used with"),
        (&["--status-fd=1", "--verify", "-", "-"], "standard input"),
    ] {
        aioli_git(&place, arguments, b"").expect(2).saying(saying);
    }
    let run = aioli_git(&place, &["--status-fd=1", "--verify", "absent", "-"], b"").expect(3);
    assert_eq!(run.out(), "[GNUPG:] NEWSIG\n[GNUPG:] ERRSIG - 0 10 00 0 0\n");
    assert!(aioli_git(&place, &["--help"], b"").expect(0).out().contains("git config aioli.ca"));
}
