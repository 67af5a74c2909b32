//! Help, version, completions, manual page, and readers that go away.

use crate::{AIOLI, Place, Run};
use aioli::backend::BackendKind;
use std::process::{Command, Stdio};

const COMMANDS: [&str; 12] =
    ["keygen", "pubkey", "convert", "sign", "verify", "inspect", "cert", "kat", "speed", "demo", "completions", "man"];

#[test]
fn help_names_the_commands_and_the_exit_codes() {
    let place = Place::new();
    for arguments in [&[][..], &["--help"], &["help"]] {
        let text = place.run(arguments).expect(0).out();
        assert!(COMMANDS.iter().all(|command| text.contains(command)), "{text}");
        for code in ["0  done", "1  a signature", "2  usage", "3  input", "4  malformed", "5  a key does not fit"] {
            assert!(text.contains(code), "{code} in {text}");
        }
    }
    for command in COMMANDS {
        assert!(place.run(&[command, "--help"]).expect(0).out().contains("Usage: aioli"));
    }
    let text = place.run(&["keygen", "--help"]).expect(0).out();
    assert!(text.contains("mayo1-round2") && text.contains("broken") && text.contains("Examples:"), "{text}");
}

#[test]
fn version_names_the_backends() {
    let place = Place::new();
    let text = place.run(&["--version"]).expect(0).out();
    assert!(text.starts_with(&format!("aioli {}\n", env!("CARGO_PKG_VERSION"))));
    assert!(BackendKind::available().all(|kind| text.contains(kind.name())), "{text}");
    assert_eq!(place.run(&["-V"]).expect(0).out().lines().count(), 1);
}

#[test]
fn completions_and_manual_pages() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).expect(0).out();
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
        assert!(script.contains("mayo5-round2") || shell == "powershell" || shell == "elvish", "{shell}");
    }
    place.run(&["completions", "cmd"]).expect(2);
    let page = place.run(&["man"]).expect(0).out();
    assert!(page.contains(".TH aioli 1") && page.contains("Exit codes"), "{page}");
    std::fs::create_dir(place.path("man1")).unwrap();
    place.run(&["man", "--dir", "man1"]).expect(0);
    for command in COMMANDS {
        assert!(place.text(&format!("man1/aioli-{command}.1")).contains(".TH"));
    }
    place.run(&["man", "--dir", "absent"]).expect(3).saying("absent");
}

#[test]
fn a_reader_that_went_away_is_no_panic() {
    let place = Place::with_key("mayo2");
    place.run(&["sign", "-k", "k.key", "f"]).expect(0);
    for arguments in [
        &["inspect", "k.pub"][..],
        &["verify", "-k", "k.pub", "f"],
        &["verify", "--json", "-k", "k.pub", "f"],
        &["sign", "-k", "k.key", "f", "--out", "-"],
        &["pubkey", "k.key", "--out", "-"],
        &["kat", "mayo2"],
        &["completions", "bash"],
        &["man"],
        &[],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(AIOLI);
        command.args(arguments).current_dir(place.path("")).stdin(Stdio::null()).stdout(writer);
        let run = Run::new(format!("{command:?}"), command.stderr(Stdio::piped()).output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{arguments:?}");
    }
}
