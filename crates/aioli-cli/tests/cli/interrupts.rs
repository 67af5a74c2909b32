//! Signals in the middle of the work: no temporary file stays, and no terminal without echo.
#![cfg(target_os = "linux")]

use crate::{AIOLI, Place};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a program as the only process of a terminal, which is the result's second part.
fn on_a_terminal(place: &Place, program: &[&str]) -> (Child, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = File::options().read(true).write(true).open(name).unwrap();
    let mut command = Command::new("setsid");
    // A shell starts what runs in its background with some signals ignored.
    command.args(["--ctty", "env", "--default-signal"]).args(program).current_dir(place.path(""));
    command.stdin(slave.try_clone().unwrap()).stdout(Stdio::null()).stderr(slave);
    (command.spawn().unwrap(), master.into())
}

/// Reads what the terminal shows, up to a prompt.
fn read_until(terminal: &mut File, prompt: &str) {
    let mut shown = Vec::new();
    while !shown.ends_with(prompt.as_bytes()) {
        let mut byte = [0];
        assert_eq!(terminal.read(&mut byte).unwrap(), 1);
        shown.extend(byte);
    }
    assert!(!String::from_utf8_lossy(&shown).contains("horse"), "the passphrase is shown");
}

fn echoes(terminal: &File) -> bool {
    tcgetattr(terminal).unwrap().local_modes.contains(LocalModes::ECHO)
}

#[test]
fn an_interrupted_question_leaves_a_terminal_that_echoes() {
    for (signal, number) in [(None, 2), (Some(Signal::TERM), 15), (Some(Signal::HUP), 1), (Some(Signal::QUIT), 3)] {
        let place = Place::new();
        let (mut child, mut terminal) = on_a_terminal(&place, &[AIOLI, "keygen", "--set", "mayo2", "--out", "k"]);
        read_until(&mut terminal, "new key: ");
        wait_until("echo is turned off", || !echoes(&terminal));
        match signal {
            None => terminal.write_all(b"\x03").unwrap(),
            Some(signal) => kill_process(Pid::from_child(&child), signal).unwrap(),
        }
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert!(echoes(&terminal), "signal {number} leaves no echo");
        assert!(place.names().is_empty());
    }
}

#[test]
fn a_passphrase_typed_on_the_terminal_opens_the_key() {
    let place = Place::new();
    let (mut child, mut terminal) = on_a_terminal(&place, &[AIOLI, "keygen", "--set", "mayo2", "--out", "k"]);
    for prompt in ["new key: ", "Repeat the passphrase: "] {
        read_until(&mut terminal, prompt);
        terminal.write_all(b"correct horse\n").unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert!(echoes(&terminal));
    place.write("pw", b"correct horse");
    place.write("f", b"a message");
    place.run(&["sign", "-k", "k.key", "--passphrase-file", "pw", "f"]).expect(0);
}

/// git keeps standard error to itself, so the question goes to the terminal all the same.
#[test]
fn aioli_git_asks_on_the_terminal() {
    let place = Place::new();
    place.write("pw", b"correct horse");
    place.run(&["keygen", "--set", "mayo2", "--out", "k", "--passphrase-file", "pw"]).expect(0);
    std::os::unix::fs::symlink(AIOLI, place.path("aioli-git")).unwrap();
    place.write("f", b"a message");
    let words = ["sh", "-c", "exec ./aioli-git -Y sign -n git -f k.key f 2> said"];
    let (mut child, mut terminal) = on_a_terminal(&place, &words);
    read_until(&mut terminal, "Passphrase of k.key: ");
    terminal.write_all(b"correct horse\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.text("said"), "");
    assert!(place.text("f.sig").starts_with("-----BEGIN SSH SIGNATURE-----\n"));
}

#[test]
fn an_interrupt_leaves_no_temporary_file() {
    if Place::new().run_in_shell("strace -o /dev/null true", &[]).code != Some(0) {
        eprintln!("skipped: an interrupt while a temporary file exists, which needs strace");
        return;
    }
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        let place = Place::with_key("mayo2");
        place.write("pid", b"");
        let before = place.names();
        let key = place.read("k.key");
        for arguments in [
            &["keygen", "--set", "mayo2", "--out", "n", "--no-passphrase"][..],
            &["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase", "--force"],
            &["sign", "-k", "k.key", "f"],
            &["man", "--dir", "."],
        ] {
            place.write("pid", b"");
            // The file has its contents, and asking the disk to store them takes long.
            let mut command = Command::new("env");
            command.args(["--default-signal", "strace", "-f", "-o", "/dev/null", "-e", "trace=fsync", "-e"]);
            command.args(["inject=fsync:delay_enter=1500000:when=1", "sh", "-c", "echo $$ > pid; exec \"$@\"", "sh"]);
            command.arg(AIOLI).args(arguments).current_dir(place.path("")).stderr(Stdio::null());
            command.env("TMPDIR", place.path(""));
            let mut child = command.spawn().unwrap();
            wait_until("a temporary file", || place.names().iter().any(|name| name.ends_with(".part")));
            // Its contents follow at once.
            std::thread::sleep(Duration::from_millis(200));
            let pid = place.text("pid").trim().parse().ok().and_then(Pid::from_raw).unwrap();
            kill_process(pid, signal).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{arguments:?}");
            assert_eq!(place.names(), before, "{arguments:?}");
            assert_eq!(place.read("k.key"), key);
        }
    }
}

#[test]
fn an_interrupt_removes_nothing_that_took_the_name_of_a_temporary_file() {
    if Place::new().run_in_shell("strace -o /dev/null true", &[]).code != Some(0) {
        eprintln!("skipped: a demo that takes its time, which needs strace");
        return;
    }
    let place = Place::new();
    place.write("pid", b"");
    let mut command = Command::new("env");
    command.args(["--default-signal", "strace", "-f", "-o", "/dev/null", "-e", "trace=fsync", "-e"]);
    command.args(["inject=fsync:delay_enter=500000:when=1", "sh", "-c", "echo $$ > pid; exec \"$@\"", "sh"]);
    command.args([AIOLI, "demo"]).current_dir(place.path("")).env("TMPDIR", place.path(""));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut temporary = None;
    wait_until("the demo's directory", || {
        temporary = place.names().into_iter().find(|name| name.starts_with(".tmp"));
        temporary.is_some()
    });
    let temporary = place.path(&temporary.unwrap());
    // The measurement begins when the directory is gone.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("Speed on one core")));
    std::fs::write(&temporary, b"of somebody else").unwrap();
    let pid = place.text("pid").trim().parse().ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    assert!(temporary.exists());
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let place = Place::new();
    let script = "trap '' HUP INT; \"$@\" & sleep 0.05; kill -HUP $!; kill -INT $!; wait $!";
    let run = place.run_in_shell(script, &["keygen", "--set", "mayo2", "--out", "k", "--no-passphrase"]);
    run.expect(0);
}
