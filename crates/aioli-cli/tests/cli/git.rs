//! `aioli-git`, by itself and under the machine's git.
#![cfg(unix)]

use crate::certificates::certify;
use crate::{AIOLI, Place, Run};
use aioli::any;
use aioli::pkcs8::Identifiers;
use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha512};
use std::process::Command;

/// A place with a key `k` for alice, a key `other`, and the command under its second name.
fn place(set: &str) -> Place {
    let place = Place::with_key(set);
    place.keygen("mayo2", "other");
    std::os::unix::fs::symlink(AIOLI, place.path("aioli-git")).unwrap();
    place.write("signers", format!("# who may sign\n\nalice@example.org {}", line(&place, "k.pub")));
    place
}

/// The public key in a file as the file of allowed signers has it.
fn line(place: &Place, key: &str) -> String {
    aioli_git(place, &["-y", "-f", key], b"").expect(0).out()
}

pub(crate) fn aioli_git(place: &Place, arguments: &[&str], input: &[u8]) -> Run {
    let mut command = Command::new(place.path("aioli-git"));
    command.args(arguments).env("AIOLI_PASSPHRASE_FILE", place.path("pw"));
    place.finish(command, input)
}

/// Signs the file `f` for git.
fn sign(place: &Place) {
    aioli_git(place, &["-Y", "sign", "-n", "git", "-f", "k.key", "f"], b"").expect(0);
}

/// Verifies `f.sig` as alice's, with more arguments, which may replace the first ones.
fn verify(place: &Place, signers: &str, more: &[&str], input: &[u8]) -> Run {
    place.write("signers", signers);
    let arguments = ["-Y", "verify", "-f", "signers", "-I", "alice@example.org", "-s", "f.sig"];
    aioli_git(place, &[&arguments, more].concat(), input)
}

/// The words of an OpenSSH structure.
fn fields(mut blob: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    while let Some((length, rest)) = blob.split_first_chunk() {
        let (field, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        fields.push(field);
        blob = rest;
    }
    fields
}

/// The blob in `f.sig`.
fn blob(place: &Place) -> Vec<u8> {
    let text = place.text("f.sig");
    let body = text.strip_prefix("-----BEGIN SSH SIGNATURE-----\n").unwrap();
    let body = body.strip_suffix("-----END SSH SIGNATURE-----\n").unwrap();
    Base64::decode_vec(&body.replace('\n', "")).unwrap()
}

fn armour(blob: &[u8]) -> String {
    let text = Base64::encode_string(blob);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
}

#[test]
fn a_signature_has_the_structure_of_openssh_and_binds_its_key() {
    let place = place("mayo1");
    sign(&place);
    let blob = blob(&place);
    let [key, namespace, reserved, hash, signature] = fields(blob.strip_prefix(b"SSHSIG\0\0\0\x01").unwrap())[..]
    else {
        panic!("five fields");
    };
    let public = Identifiers::OQS.decode_public_key(&place.read("k.pub")).unwrap();
    assert_eq!(fields(key), [&b"mayo1@aioli"[..], public.as_bytes()]);
    assert_eq!([namespace, reserved, hash], [&b"git"[..], b"", b"sha512"]);
    let [kind, bare] = fields(signature)[..] else { panic!("two fields") };
    assert_eq!(kind, b"mayo1@aioli");

    let field = |field: &[u8]| [&(field.len() as u32).to_be_bytes(), field].concat();
    let digest = Sha512::digest(b"a message");
    let data = [b"SSHSIG".to_vec(), field(b"git"), field(b""), field(b"sha512"), field(&digest)].concat();
    let bare = any::Signature::from_bytes(public.algorithm(), bare).unwrap();
    let described = place.run(&["inspect", "k.pub"]).expect(0).out();
    let fingerprint = described.lines().find_map(|line| line.trim().strip_prefix("fingerprint")).unwrap().trim();
    public.verify(&[format!("aioli bound key\n{fingerprint}\n").as_bytes(), &data].concat(), &bare).unwrap();
    assert_eq!(public.verify(&data, &bare), Err(aioli::Error::InvalidSignature), "the key is not bound");
}

#[test]
fn a_signature_for_git_is_described() {
    let place = place("mayo3");
    sign(&place);
    let text = place.run(&["inspect", "f.sig"]).expect(0).out();
    let key = place.run(&["inspect", "k.pub"]).expect(0).out();
    let fingerprint = key.lines().find_map(|line| line.trim().strip_prefix("fingerprint")).unwrap().trim();
    for expected in ["SSHSIG", "MAYO_3 of round 3", "git", fingerprint] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    place.write("f.sig", "-----BEGIN SSH SIGNATURE-----\n");
    place.run(&["inspect", "f.sig"]).expect(4).saying("f.sig: expected PEM");
}

#[test]
fn signatures_are_verified_without_git() {
    let place = place("mayo2");
    place.write("g", b"another");
    aioli_git(&place, &["-Y", "sign", "-n", "file", "-f", "k.key", "f", "g"], b"").expect(0);
    let signers = format!("alice@example.org {}", line(&place, "k.key"));
    let run = verify(&place, &signers, &["-n", "file", ""], b"a message").expect(0);
    assert!(
        run.out().starts_with("Good \"file\" signature for alice@example.org with mayo2 key SHA256:"),
        "{}",
        run.out()
    );
    assert_eq!(line(&place, "k.key"), line(&place, "k.pub"));
    for (more, input, code, saying) in [
        (&["-n", "file"][..], &b"a messagE"[..], 1, "signature is not valid"),
        (&["-n", "git"], b"a message", 5, "it signs for \"file\", not for \"git\""),
        (&[], b"a message", 2, "-n NAMESPACE"),
        (&["-n", "file", "-O", "verify-time=noon"], b"a message", 2, "YYYYMMDD"),
        (&["-n", "file", "-r", "absent"], b"a message", 3, "absent"),
        (&["-n", "file", "f"], b"a message", 2, "standard input"),
    ] {
        verify(&place, &signers, more, input).expect(code).saying(saying);
    }
    // Without files, standard input is signed. The signature of another key names that key.
    let signed = aioli_git(&place, &["-Y", "sign", "-n", "git", "-f", "other.key"], b"piped").expect(0).stdout;
    place.write("f.sig", signed);
    let check = ["-Y", "check-novalidate", "-n", "git", "-s", "f.sig"];
    let run = aioli_git(&place, &check, b"piped").expect(0);
    assert!(run.out().starts_with("Good \"git\" signature with mayo2 key SHA256:"), "{}", run.out());
    aioli_git(&place, &check, b"Piped").expect(1);
    aioli_git(&place, &["-Y", "find-principals", "-f", "signers", "-s", "f.sig"], b"").expect(5).saying("not among");
}

/// Who may sign, for what and when. `KEY` is alice's key, `OTHER` another.
#[test]
fn the_file_of_allowed_signers_decides() {
    let place = place("mayo2");
    sign(&place);
    let [key, other] = ["k.pub", "other.pub"].map(|name| line(&place, name).trim().to_owned());
    let ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for (signers, code, saying) in [
        ("alice@example.org KEY", 0, ""),
        ("*@example.org KEY a comment", 0, ""),
        ("bob@example.org,alice@example.??? KEY", 0, ""),
        ("\"alice@example.org\" namespaces=\"file,g*\" KEY", 0, ""),
        ("alice@example.org Namespaces=git,valid-after=20260615Z,valid-before=\"20260616Z\" KEY", 0, ""),
        ("alice@example.org valid-before=20260615120000Z KEY", 0, ""),
        ("alice@example.org valid-after=202606151200Z KEY", 0, ""),
        (
            "bob@example.org ED25519\nalice@example.org ED25519\nbob@example.org OTHER\nalice@example.org\tKEY\r\n",
            0,
            "",
        ),
        ("bob@example.org KEY\nalice@example.org KEY", 0, ""),
        ("alice@example.org namespaces=\"file\" KEY\nalice@example.org KEY", 0, ""),
        ("alice@example.org OTHER", 5, "not among the allowed signers"),
        ("", 5, "not among the allowed signers"),
        ("# alice@example.org KEY", 5, "not among the allowed signers"),
        ("bob@example.org KEY", 5, "another principal"),
        ("*,!alice@example.org KEY", 5, "another principal"),
        ("alice@example.org namespaces=\"file\" KEY", 5, "not allowed in this namespace"),
        ("alice@example.org namespaces=\"*,!git\" KEY", 5, "not allowed in this namespace"),
        ("alice@example.org valid-before=20260615115959Z KEY", 5, "the key has expired"),
        ("alice@example.org valid-after=20260615120001Z KEY", 5, "the key is not valid yet"),
        ("alice@example.org", 4, "line 1: expected principals"),
        ("alice@example.org cert-authority KEY", 4, "not \"cert-authority\""),
        ("alice@example.org frobnicate=1 KEY", 4, "not \"frobnicate=1\""),
        ("\nalice@example.org valid-after=soon KEY", 4, "line 2: expected a time"),
        ("alice@example.org valid-after=20260101,valid-after=20260102 KEY", 4, "given twice"),
        ("alice@example.org mayo1@aioli AAAA", 4, "a field is longer"),
        ("alice@example.org mayo1@aioli A", 4, "not base64"),
        ("alice@example.org mayo1@aioli AAAAAA==", 4, "expected the type \"mayo1@aioli\""),
        ("alice@example.org mayo1@aioli AAAAC21heW8xQGFpb2xpAAAAAQA=", 4, "1456"),
    ] {
        let signers = signers.replace("KEY", &key).replace("OTHER", &other).replace("ED25519", ed25519);
        let at = ["-n", "git", "-Overify-time=20260615120000Z"];
        let run = verify(&place, &signers, &at, b"a message");
        assert_eq!(run.out().is_empty(), code != 0, "{signers}");
        run.expect(code).saying(saying);
    }
    let revoked = |text: &str| {
        place.write("revoked", text.replace("KEY", &key).replace("OTHER", &other));
        verify(&place, &format!("alice@example.org {key}"), &["-n", "git", "-r", "revoked"], b"a message")
    };
    revoked("# nobody\nOTHER").expect(0);
    revoked("OTHER\nKEY").expect(5).saying("the key is revoked");
    revoked("SSHKRL\n\0").expect(4).saying("line 1");
}

#[test]
fn principals_are_found() {
    let place = place("mayo2");
    sign(&place);
    let key = line(&place, "k.pub");
    place.write(
        "signers",
        format!("b@x.org,a@x.org,!c@x.org {key}\n*@y.org {key}\nz@x.org valid-before=20200101 {key}"),
    );
    let find = ["-Y", "find-principals", "-f", "signers", "-s", "f.sig"];
    assert_eq!(aioli_git(&place, &find, b"").expect(0).out(), "*@y.org\na@x.org\nb@x.org\n");
}

#[test]
fn damaged_signatures_are_refused() {
    let place = place("mayo2");
    sign(&place);
    let key = format!("alice@example.org {}", line(&place, "k.pub"));
    let verify = || verify(&place, &key, &["-n", "git"], b"a message");
    let (text, blob) = (place.text("f.sig"), blob(&place));
    place.write("f.sig", text.replace('\n', "\r\n"));
    verify().expect(0);
    for end in (0..text.len()).step_by(251) {
        place.write("f.sig", &text[..end]);
        verify().expect(4).saying("f.sig: expected PEM");
    }
    for other in [format!("\n{text}"), format!("{text}\n"), text.replacen('\n', "\r\n", 1), text.replace("SSH", "PGP")]
    {
        place.write("f.sig", other);
        verify().expect(4).saying("f.sig: expected PEM");
    }
    for at in (0..blob.len()).step_by(97).chain(0..60) {
        let mut changed = blob.clone();
        changed[at] ^= 1;
        place.write("f.sig", armour(&changed));
        let run = verify();
        assert!(matches!(run.code, Some(1 | 4 | 5)) && run.stdout.is_empty(), "byte {at}: {:?}", run.code);
    }
    for end in (0..blob.len()).step_by(307) {
        place.write("f.sig", armour(&blob[..end]));
        verify().expect(4);
    }
    place.write("f.sig", armour(&[&blob[..], b"more"].concat()));
    verify().expect(4);
}

#[test]
fn arguments_of_aioli_git_that_make_no_sense() {
    let place = place("mayo2");
    for (arguments, saying) in [
        (&[][..], "-Y <OPERATION>"),
        (&["-Y", "frobnicate"], "find-principals"),
        (&["-Y", "sign", "-f", "k.key", "f"], "-n NAMESPACE"),
        (&["-Y", "sign", "-n", "git", "f"], "-f KEY"),
        (&["-Y", "sign", "-n", "git", "-f", "k.pub", "-U", "f"], "no agent"),
        (&["-Y", "verify", "-n", "git"], "-s SIGNATURE"),
        (&["-Y", "sign", "-y"], "cannot be used with"),
    ] {
        aioli_git(&place, arguments, b"").expect(2).saying(saying);
    }
    aioli_git(&place, &["-Y", "sign", "-n", "git", "-f", "k.pub", "f"], b"").expect(4).saying("k.pub");
    assert!(!place.path("f.sig").exists());
    sign(&place);
    aioli_git(&place, &["-Y", "sign", "-n", "git", "-f", "k.key", "f"], b"").expect(3).saying("f.sig exists");
    assert!(aioli_git(&place, &["--help"], b"").expect(0).out().contains("AIOLI_PASSPHRASE_FILE"));
}

/// Runs git in the repository of a place, at noon of June 15th, 2026, UTC.
pub(crate) fn git(place: &Place, arguments: &[&str]) -> Run {
    let mut command = Command::new("git");
    command.args(["-C", "repository", "-c", "user.name=Alice", "-c", "user.email=alice@example.org"]);
    command.args(["-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile=../signers"]);
    command.arg("-c").arg(format!("gpg.ssh.program={}", place.path("aioli-git").display()));
    command.args(["-c", "user.signingKey=../k.key"]).args(arguments);
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("LC_ALL", "C")]);
    command.envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-06-15T12:00:00Z")));
    // Five hours behind UTC.
    command.env("TZ", "EST5").env("AIOLI_PASSPHRASE_FILE", place.path("pw"));
    place.finish(command, b"")
}

/// A place with a repository that has one signed commit; none if there is no git that can sign.
pub(crate) fn repository(set: &str) -> Option<Place> {
    let version = Command::new("git")
        .arg("--version")
        .output()
        .map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let mut numbers = version.trim_start_matches("git version ").split('.').map(|number| number.parse().unwrap_or(0));
    // Since then, git tells the time of a commit to the program that verifies it.
    if (numbers.next(), numbers.next()) < (Some(2), Some(35)) {
        eprintln!("skipped: signatures under git, which needs git 2.35, not {version:?}");
        return None;
    }
    let place = place(set);
    std::fs::create_dir(place.path("repository")).unwrap();
    git(&place, &["init", "-q"]).expect(0);
    git(&place, &["commit", "-q", "--allow-empty", "-S", "-m", "a subject"]).expect(0);
    Some(place)
}

#[test]
fn git_signs_and_verifies_commits_and_tags() {
    for set in ["mayo1", "mayo5", "mayo3-round2"] {
        let Some(place) = repository(set) else { return };
        git(&place, &["tag", "-s", "v1", "-m", "a tag"]).expect(0);
        let good = format!("Good \"git\" signature for alice@example.org with {set} key SHA256:");
        git(&place, &["verify-commit", "HEAD"]).expect(0).saying(&good);
        git(&place, &["verify-tag", "v1"]).expect(0).saying(&good);
        let log = git(&place, &["log", "--show-signature", "--format=%G? %GS %GT"]).expect(0);
        let shown = log.out() + &log.stderr;
        assert!(shown.contains(&good) && shown.contains("G alice@example.org fully\n"), "{shown}");
    }
}

/// Runs the commands of docs/git.md, after those that install, as they are but for a passphrase.
#[test]
fn the_page_leads_to_a_signed_commit() {
    let Some(place) = repository("mayo2") else { return };
    let blocks: Vec<_> = include_str!("../../../../docs/git.md").split("```sh\n").skip(1).collect();
    let blocks: Vec<_> = blocks.iter().map(|block| block.split("```").next().unwrap()).collect();
    let [install, keys, commit, certificates] = blocks[..] else { panic!("four blocks of commands") };
    assert!(install.starts_with("cargo install"));
    assert_eq!(keys.matches("aioli keygen").count(), 1);
    let keys = keys.replace("aioli keygen", "aioli keygen --no-passphrase");
    certify(&place, "mayo1", "CN=Other", &[]);
    std::os::unix::fs::symlink(AIOLI, place.path("aioli")).unwrap();
    let mut command = Command::new("sh");
    let certify = "aioli cert request -k ~/keys/git.key --subject CN=Alice -o ~/keys/git.csr
        aioli cert issue --ca ~/ca.pem -k ~/ca.key ~/keys/git.csr -o ~/keys/git.pem
        cp ~/ca.pem ~/keys/ca.pem
        git commit -q --allow-empty -S -m two";
    let script = format!("{keys}cd repository\n{commit}{certificates}{certify}\ngit verify-commit HEAD HEAD^");
    command.args(["-e", "-c", &script]);
    let programs = std::env::join_paths(
        [place.path("")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    command.env("PATH", programs.unwrap()).env("HOME", place.path("")).env("GIT_CONFIG_NOSYSTEM", "1");
    command.envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Alice")));
    command.envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "alice@example.org")));
    let run = place.finish(command, b"").expect(0);
    let good = "Good \"git\" signature for alice@example.org with mayo1 key SHA256:";
    assert!(run.out().contains(good), "{}", run.out());
    run.saying(good).saying("Good signature of CN=Alice with mayo1 key SHA256:");
}

#[test]
fn git_refuses_a_rewritten_commit_and_a_rewritten_tag() {
    let Some(place) = repository("mayo2") else { return };
    git(&place, &["tag", "-s", "v1", "-m", "a tag"]).expect(0);
    for (kind, name, verify, from, to) in [
        ("commit", "HEAD", "verify-commit", "a subject", "a subjects"),
        ("commit", "HEAD", "verify-commit", "author Alice", "author Malice"),
        ("tag", "v1", "verify-tag", "a tag", "a tags"),
    ] {
        let object = git(&place, &["cat-file", kind, name]).expect(0).out();
        place.write("object", object.replacen(from, to, 1));
        let rewritten = git(&place, &["hash-object", "-w", "-t", kind, "../object"]).expect(0).out();
        let run = git(&place, &[verify, rewritten.trim()]).expect(1).saying("signature is not valid");
        assert!(!run.stderr.contains("Good"), "{}", run.stderr);
        if kind == "commit" {
            assert_eq!(git(&place, &["log", "-1", "--format=%G?", rewritten.trim()]).expect(0).out(), "B\n");
        }
    }
}

#[test]
fn git_obeys_the_file_of_allowed_signers() {
    let Some(place) = repository("mayo2") else { return };
    let [key, other] = ["k.pub", "other.pub"].map(|name| line(&place, name));
    // The commit was made at seven o'clock, local time.
    for (who, key, status, saying) in [
        ("alice@example.org namespaces=\"git\",valid-before=202606150700", &key, "G", "Good \"git\" signature for"),
        ("*@example.org valid-after=202606151200Z", &key, "G", "Good \"git\" signature for *@example.org with"),
        ("alice@example.org valid-before=20260615065959", &key, "U", "the key has expired"),
        ("alice@example.org valid-after=20260615120001Z", &key, "U", "the key is not valid yet"),
        ("alice@example.org", &other, "U", "the key is not among the allowed signers"),
        ("alice@example.org namespaces=\"file\"", &key, "B", "the key is not allowed in this namespace"),
        ("alice@example.org valid-after=soon", &key, "U", "line 1: expected a time"),
    ] {
        place.write("signers", format!("{who} {key}"));
        git(&place, &["verify-commit", "HEAD"]).expect(if status == "G" { 0 } else { 1 }).saying(saying);
        let log = git(&place, &["log", "-1", "--format=%G?"]).expect(0);
        assert_eq!(log.out(), format!("{status}\n"), "{who}");
    }
    place.write("signers", format!("alice@example.org {key}"));
    place.write("revoked", &key);
    let verify = ["-c", "gpg.ssh.revocationFile=../revoked", "verify-commit", "HEAD"];
    git(&place, &verify).expect(1).saying("the key is revoked");
}

#[test]
fn git_signs_with_an_encrypted_key() {
    let Some(place) = repository("mayo2") else { return };
    place.write("pw", b"correct horse\n");
    place.run(&["keygen", "--set", "mayo2", "--out", "e", "--passphrase-file", "pw"]).expect(0);
    place.write("signers", format!("alice@example.org {}", line(&place, "e.key")));
    let commit = ["-c", "user.signingKey=../e.key", "commit", "-q", "--allow-empty", "-S", "-m", "two"];
    git(&place, &commit).expect(0);
    git(&place, &["verify-commit", "HEAD"]).expect(0);
    place.write("pw", b"wrong\n");
    assert_ne!(git(&place, &commit).saying("passphrase").code, Some(0));
}
