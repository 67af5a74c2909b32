//! Names of files that try to deceive their reader.
#![cfg(unix)]

use crate::{AIOLI, Place, Run};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

fn run(place: &Place, arguments: &[&OsStr]) -> Run {
    let mut command = Command::new(AIOLI);
    command.args(arguments).current_dir(place.path(""));
    Run::new(format!("{command:?}"), command.output().unwrap())
}

/// Names, and how they are printed.
const NAMES: [(&[u8], &str); 9] = [
    (b"a: valid\nb", "a: valid\\nb"),
    (b"a\rb", "a\\rb"),
    (b"red \x1b[31m", "red \\u{1b}[31m"),
    (b"\x08\x7f", "\\u{8}\\u{7f}"),
    ("C1 \u{9b}2K".as_bytes(), "C1 \\u{9b}2K"),
    ("bidi \u{202e}dilav".as_bytes(), "bidi \\u{202e}dilav"),
    ("zero \u{200b} width".as_bytes(), "zero \\u{200b} width"),
    (b"not UTF-8 \xff\xc3", "not UTF-8 \\xff\\xc3"),
    ("back\\slash and \u{e9}".as_bytes(), "back\\\\slash and \u{e9}"),
];

#[test]
fn control_characters_are_never_printed() {
    let place = Place::with_key("mayo2");
    for (name, shown) in NAMES {
        let name = OsStr::from_bytes(name);
        let path = place.path("").join(name);
        std::fs::write(&path, b"a message").unwrap();
        let sign = run(&place, &["sign".as_ref(), "-k".as_ref(), "k.key".as_ref(), name]).expect(0);
        assert_eq!(sign.stderr, format!("{shown}: signature in {shown}.sig\n"));
        let verify = |code| run(&place, &["verify".as_ref(), "-k".as_ref(), "k.pub".as_ref(), name]).expect(code);
        assert_eq!(verify(0).out(), format!("{shown}: valid\n"));
        std::fs::write(&path, b"another message").unwrap();
        assert_eq!(verify(1).out(), format!("{shown}: NOT VALID\n"));
        std::fs::remove_file(&path).unwrap();
        verify(3).saying(shown);
        std::fs::write(&path, place.read("k.pub")).unwrap();
        let inspect = run(&place, &["inspect".as_ref(), name]).expect(0).out();
        assert!(inspect.starts_with(&format!("{shown}: MAYO public key")), "{inspect}");
        std::fs::write(&path, b"").unwrap();
        run(&place, &["inspect".as_ref(), name]).expect(4).saying(shown);
        run(&place, &["demo".as_ref(), name]).expect(2).saying(shown);
        std::fs::remove_file(path).unwrap();
        let keygen = ["keygen", "--set", "mayo2", "--no-passphrase", "--out"].map(OsStr::new);
        run(&place, &[&keygen[..], &[name]].concat()).expect(0).saying(shown);
    }
}

#[test]
fn json_names_every_file_without_loss() {
    let place = Place::with_key("mayo2");
    for (name, shown) in NAMES {
        let path = place.path("").join(OsStr::from_bytes(name));
        std::fs::write(&path, b"a message").unwrap();
        let arguments = ["verify", "--json", "-k", "k.pub"].map(OsStr::new);
        let run = run(&place, &[&arguments[..], &[OsStr::from_bytes(name)]].concat()).expect_silent(3);
        assert!(!run.out().chars().any(|c| c.is_control() && c != '\n' || ('\u{200b}'..='\u{202e}').contains(&c)));
        let json: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let result = &json["results"][0];
        match str::from_utf8(name) {
            Ok(name) => {
                assert_eq!(result["file"], name);
                assert_eq!(result["signature"], format!("{name}.sig"));
                assert!(result.get("file_bytes").is_none() && result.get("signature_bytes").is_none());
            }
            Err(_) => {
                assert_eq!(result["file"], String::from_utf8_lossy(name).as_ref());
                assert_eq!(result["file_bytes"], hex::encode(name));
                assert_eq!(result["signature_bytes"], hex::encode([name, b".sig"].concat()));
            }
        }
        assert!(result["error"].as_str().unwrap().contains(shown), "{result}");
    }
}
