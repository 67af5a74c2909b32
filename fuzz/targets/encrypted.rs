//! Encrypted private keys, decrypted with a passphrase that fits the seeds.
//!
//! The library lets a file cost about a second. Files that cost more than a thousandth of that, and
//! no more than the limits, are left out; those beyond the limits must be refused.
#![no_main]

use aioli::Error;
use aioli::pkcs8::pkcs8::EncryptedPrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::pkcs5::pbes2::Kdf;
use aioli::pkcs8::{FormatError, Identifiers};
use aioli_fuzz::{PASSPHRASE, formats};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|file: &[u8]| -> Corpus {
    let thousandths = thousandths(file);
    if (2..=1000).contains(&thousandths) {
        return Corpus::Reject;
    }
    if thousandths > 1000 {
        let refused = Identifiers::OQS.decode_private_key(file, Some(PASSPHRASE)).map(|_| "key");
        let unsupported = matches!(refused, Err(Error::KeyFormat(FormatError::UnsupportedEncryption(_))));
        assert!(unsupported, "{refused:?} from a file at {thousandths} thousandths of the limit");
    }
    formats::private_key(file, Some(PASSPHRASE));
    formats::private_key(file, None);
    Corpus::Keep
});

/// The cost of decrypting a file, in thousandths of the limits of the library, rounded up.
fn thousandths(file: &[u8]) -> u128 {
    let Ok(info) = EncryptedPrivateKeyInfoRef::try_from(file) else { return 0 };
    let (cost, limit) = match info.encryption_algorithm.pbes2().map(|parameters| &parameters.kdf) {
        Some(Kdf::Scrypt(kdf)) => {
            let blocks = u128::from(kdf.block_size) * u128::from(kdf.parallelization);
            (128 * blocks * u128::from(kdf.cost_parameter), 1 << 28)
        }
        Some(Kdf::Pbkdf2(kdf)) => (kdf.iteration_count.into(), 2_000_000),
        _ => (0, 1),
    };
    (1000 * cost).div_ceil(limit)
}
