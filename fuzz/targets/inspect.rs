//! `aioli inspect`: any file is described or refused as malformed.
#![no_main]

/// Modules of the command, which uses more of them than `inspect` does.
macro_rules! of_the_command {
    ($($path:literal $name:ident)*) => {$(
        #[path = $path]
        #[allow(dead_code, unused_imports, unused_macros, reason = "a module of the command, which uses more of it")]
        mod $name;
    )*};
}
of_the_command! {
    "../../crates/aioli-cli/src/cli.rs" cli
    "../../crates/aioli-cli/src/describe.rs" describe
    "../../crates/aioli-cli/src/envelope.rs" envelope
    "../../crates/aioli-cli/src/error.rs" error
    "../../crates/aioli-cli/src/files.rs" files
    "../../crates/aioli-cli/src/fingerprint.rs" fingerprint
    "../../crates/aioli-cli/src/commands/inspect.rs" inspect
    "../../crates/aioli-cli/src/interrupt.rs" interrupt
    "../../crates/aioli-cli/src/keys.rs" keys
    "../../crates/aioli-cli/src/reason.rs" reason
    "../../crates/aioli-cli/src/round.rs" round
    "../../crates/aioli-cli/src/shown.rs" shown
    "../../crates/aioli-cli/src/sshsig.rs" sshsig
    "../../crates/aioli-cli/src/terminal.rs" terminal
}

use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

fuzz_target!(|bytes: &[u8]| {
    let mut file = File::from(memfd_create("input", MemfdFlags::empty()).expect("a file in memory"));
    file.write_all(bytes).expect("room in memory");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
    let arguments =
        cli::Inspect { files: vec![path], passphrase: keys::PassphraseSource { passphrase_file: None, insist: false } };
    let exit = inspect::run(&arguments).expect("a file of its own and standard output");
    assert!(matches!(exit, error::Exit::Done | error::Exit::Invalid | error::Exit::Malformed), "{exit:?}");
});
