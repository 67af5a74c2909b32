//! The reader of `.sig` files: what it accepts is what the command would write, but for CR LF.
#![no_main]

#[path = "../../crates/aioli-cli/src/envelope.rs"]
#[allow(dead_code, unreachable_pub, reason = "a module of the command, which uses more of it")]
mod envelope;
#[path = "../../crates/aioli-cli/src/fingerprint.rs"]
#[allow(dead_code, reason = "a module of the command, which uses more of it")]
mod fingerprint;
#[path = "../../crates/aioli-cli/src/round.rs"]
mod round;

use envelope::Envelope;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    match Envelope::parse(file) {
        Ok(envelope) => {
            assert!(Envelope::is_meant(file));
            let written = envelope.to_string();
            let text = str::from_utf8(file).expect("an envelope is text");
            assert!(text == written || text == written.replace('\n', "\r\n"), "more than one form");
            assert_eq!(Envelope::parse(written.as_bytes()).as_ref(), Ok(&envelope), "the way back");
        }
        // It is printed on a terminal.
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?} is not escaped"),
    }
});
