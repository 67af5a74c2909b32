//! Signs a file with MAYO_1, writes the signature beside it, and verifies what was written.
//!
//! ```text
//! cargo run --release --example sign_file -- [FILE [KEY]]
//! ```
//!
//! KEY is a file of 24 secret bytes. Without it a fresh key signs; without FILE the source of this
//! example is signed, in a copy in the temporary folder.

use aioli::mayo1::{MessageDigest, MessageHasher, Signature, SigningKey};
use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    if let Err(error) = sign_and_verify(arguments.next(), arguments.next()) {
        eprintln!("sign_file: {error}");
        std::process::exit(1);
    }
}

fn sign_and_verify(file: Option<PathBuf>, key: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let file = match file {
        Some(file) => file,
        None => copy_of_this_source()?,
    };
    let key = match key {
        Some(path) => SigningKey::try_from(&Zeroizing::new(read(&path)?)[..])?,
        None => SigningKey::generate()?,
    };
    let signature = key.sign_digest(&digest(&file)?)?;
    let mut name = file.clone().into_os_string();
    name.push(".sig");
    let signature_file = PathBuf::from(name);
    fs::write(&signature_file, signature.as_bytes()).map_err(|e| at(&signature_file, e))?;

    // The other side has the public key, the file and the signature's bytes.
    let public_key = key.verifying_key();
    let signature = Signature::try_from(&read(&signature_file)?[..])?;
    public_key.verify_digest(&digest(&file)?, &signature)?;
    println!("{} holds a valid signature of {}", signature_file.display(), file.display());
    Ok(())
}

/// Reads the file once, in pieces: memory does not grow with its length.
fn digest(path: &Path) -> Result<MessageDigest, Box<dyn Error>> {
    let mut hasher = MessageHasher::new();
    File::open(path).and_then(|file| hasher.update_from(file)).map_err(|e| at(path, e))?;
    Ok(hasher.finalize())
}

fn copy_of_this_source() -> Result<PathBuf, Box<dyn Error>> {
    let path = std::env::temp_dir().join("sign_file.rs");
    fs::write(&path, include_str!("sign_file.rs")).map_err(|e| at(&path, e))?;
    Ok(path)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| at(path, e))
}

fn at(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
