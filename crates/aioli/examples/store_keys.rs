//! Stores a key pair in files that other software can read, and signs with what was stored.
//!
//! ```text
//! cargo run --release --features pkcs8 --example store_keys -- [FOLDER]
//! ```
//!
//! Writes `mayo.key` (PKCS#8, encrypted, PEM) and `mayo.pub` (SubjectPublicKeyInfo, PEM), by
//! default in a folder of their own in the temporary folder. `openssl asn1parse -in mayo.pub` shows
//! the latter.

use aioli::mayo2::{SigningKey, VerifyingKey};
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, Identifiers, LineEnding};
use aioli::signature::{Signer, Verifier};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A real program asks for it.
const PASSPHRASE: &[u8] = b"correct horse battery staple";

fn main() {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("aioli-store-keys"));
    if let Err(error) = store(&folder).and_then(|()| use_stored(&folder)) {
        eprintln!("store_keys: {}: {error}", folder.display());
        std::process::exit(1);
    }
}

fn store(folder: &Path) -> Result<(), Box<dyn Error>> {
    let key = SigningKey::generate()?;
    let private_pem = key.to_pkcs8_encrypted_pem(PASSPHRASE, LineEnding::LF)?;
    let public_pem = key.verifying_key().to_public_key_pem(LineEnding::LF)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("mayo.key"), private_pem.as_bytes())?;
    fs::write(folder.join("mayo.pub"), public_pem)?;
    println!("wrote mayo.key and mayo.pub in {}", folder.display());
    Ok(())
}

fn use_stored(folder: &Path) -> Result<(), Box<dyn Error>> {
    // Reads PEM or DER, encrypted or not. The file's identifier says which set the key is of.
    let private_file = fs::read(folder.join("mayo.key"))?;
    let key = Identifiers::OQS.decode_private_key(&private_file, Some(PASSPHRASE))?;
    println!("mayo.key is of {}", key.algorithm());
    // Fails with both names if that is not the set of the type.
    let key = SigningKey::try_from(key)?;
    let public_key = VerifyingKey::try_from(Identifiers::OQS.decode_public_key(&fs::read(folder.join("mayo.pub"))?)?)?;

    let signature = key.try_sign(b"a message")?;
    public_key.verify(b"a message", &signature)?;
    println!("the stored keys sign and verify");
    if let Err(error) = Identifiers::OQS.decode_private_key(&private_file, Some(b"wrong")) {
        println!("with another passphrase: {error}");
    }
    Ok(())
}
