//! The reader of signatures for git: what it accepts is what the command would write, but for CR
//! LF.
#![no_main]

/// Modules of the command, which uses more of them.
macro_rules! of_the_command {
    ($($path:literal $name:ident)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, reason = "a module of the command, which uses more of it")]
        mod $name;
    )*};
}
of_the_command! {
    "../../crates/aioli-cli/src/envelope.rs" envelope
    "../../crates/aioli-cli/src/fingerprint.rs" fingerprint
    "../../crates/aioli-cli/src/round.rs" round
    "../../crates/aioli-cli/src/sshsig.rs" sshsig
}

use libfuzzer_sys::fuzz_target;
use sshsig::{SshSignature, key_line, key_of};

fuzz_target!(|file: &[u8]| {
    match SshSignature::parse(file) {
        Ok(signature) => {
            assert!(SshSignature::is_meant(file));
            let written = signature.to_string();
            let text = str::from_utf8(file).expect("base64 is text");
            assert!(text == written || text == written.replace('\n', "\r\n"), "more than one form");
            assert_eq!(SshSignature::parse(written.as_bytes()).as_ref(), Ok(&signature), "the way back");
            let line = key_line(&signature.key);
            let (kind, base64) = line.split_once(' ').expect("two words");
            assert_eq!(key_of(kind, base64), Ok(Some(signature.key)));
        }
        // It is printed on a terminal.
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?} is not escaped"),
    }
});
