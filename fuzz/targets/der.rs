//! Key files in DER.
#![no_main]

use aioli_fuzz::formats;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    formats::public_key(file);
    formats::private_key(file, None);
});
