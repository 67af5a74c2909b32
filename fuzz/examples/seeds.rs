//! Writes the first inputs of the fuzz targets, valid objects of every set, to the folder `seeds`:
//! `cargo run --example seeds`, in the folder `fuzz`.

use aioli::Algorithm;
use aioli::any::{Signature, SigningKey, VerifyingKey};
use aioli::pkcs8::pkcs8::PrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::der::asn1::OctetStringRef;
use aioli::pkcs8::pkcs8::der::pem;
use aioli::pkcs8::pkcs8::pkcs5::{pbes2, scrypt};
use aioli::pkcs8::pkcs8::spki::AlgorithmIdentifierRef;
use aioli::pkcs8::{EncodePrivateKey, EncodePublicKey, Identifiers, LineEnding};
use aioli_fuzz::{PASSPHRASE, Random};
use aioli_x509::cms::Signer;
use aioli_x509::{Authority, Request, days};
use base64ct::{Base64, Base64Unpadded, Encoding};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

fn main() {
    for (number, set) in (0u8..).zip(Algorithm::ALL) {
        let seed = Random(number.into()).bytes(set.secret_key_bytes());
        let key = SigningKey::from_bytes(set, &seed).expect("the length of a secret key");
        let public = key.verifying_key();
        let signature = key.sign_deterministic(b"message").expect("256 samples suffice");
        let write = |target: &str, what: &str, bytes: &[u8]| write(target, &format!("{set}-{what}"), bytes);

        write("raw", "verify", &[&[number], public.as_bytes(), signature.as_bytes(), b"message"].concat());
        write("raw", "secret", &[&[number], &seed[..]].concat());
        write("raw", "name", &[&[number], set.name().as_bytes()].concat());

        let der = public.to_public_key_der().expect("a public key fits");
        write("der", "public", der.as_bytes());
        let pem = public.to_public_key_pem(LineEnding::LF).expect("a public key fits");
        write("pem", "public", pem.as_bytes());
        write("inspect", "public", pem.as_bytes());
        let whole = key.to_pkcs8_der().expect("a private key fits");
        write("der", "private", whole.as_bytes());
        let pem = key.to_pkcs8_pem(LineEnding::CRLF).expect("a private key fits");
        write("pem", "private", pem.as_bytes());
        // An inner OCTET STRING of the seed, and `[0] IMPLICIT` seed.
        for (tag, what) in [(4, "seed"), (0x80, "tagged")] {
            let inner = [&[tag, seed.len() as u8], &seed[..]].concat();
            let oid = Identifiers::OQS.get(set);
            let inner = OctetStringRef::new(&inner).expect("a seed is short");
            let info = PrivateKeyInfoRef::new(AlgorithmIdentifierRef { oid, parameters: None }, inner);
            write("der", what, info.to_pkcs8_der().expect("a private key fits").as_bytes());
            write("pem", what, info.to_pkcs8_pem(LineEnding::LF).expect("a private key fits").as_bytes());
            let method = &methods()[usize::from(number) % 4];
            let encrypted = info.encrypt_with_params(method.clone(), PASSPHRASE).expect("parameters that are known");
            write("encrypted", what, encrypted.as_bytes());
            let pem = encrypted.to_pem("ENCRYPTED PRIVATE KEY", LineEnding::LF).expect("a private key fits");
            write("inspect", what, pem.as_bytes());
        }

        if set == Algorithm::Mayo1 {
            certificates(&key);
        }
        let envelope = envelope(&public, &signature);
        write("envelope", "lf", envelope.as_bytes());
        write("envelope", "crlf", envelope.replace('\n', "\r\n").as_bytes());
        write("inspect", "envelope", envelope.as_bytes());
        write("inspect", "signature", signature.as_bytes());
        let armour = for_git(&public, &signature);
        write("sshsig", "lf", armour.as_bytes());
        write("inspect", "sshsig", armour.as_bytes());
        write("scheme", "sign", &[&[number], &Random(number.into()).bytes(100)[..]].concat());
        // The first byte chooses the kernel and the next ones its shapes, whatever they are.
        for kernel in 0..5 {
            let bytes = Random(u64::from(number) << 8 | u64::from(kernel)).bytes(100);
            write("kernels", &format!("kernel-{kernel}"), &[&[kernel], &bytes[..]].concat());
        }
    }
}

/// A certificate, a request, a chain and a signature. Their salts and serial numbers are random.
fn certificates(key: &SigningKey) {
    let name = |name: &str| name.parse().expect("a name");
    let period = days(9).expect("a time that is near");
    let authority = Authority::root(key, name("CN=a"), period).expect("a key and a name");
    let hosts = ["a.example", "::1"].map(|host| host.parse().expect("a name of a host"));
    let request = Request::new(key, name("CN=b"), &hosts).expect("a key and a name");
    let leaf = authority.issue(&request, hosts.to_vec(), period).expect("an authority");
    write("inspect", "certificate", leaf.as_der());
    write("inspect", "request", request.as_der());
    write("inspect", "chain", [leaf.to_pem(), authority.certificate().to_pem()].concat().as_bytes());
    let signer = Signer::new(key, vec![leaf]).expect("the certificate of the key");
    let signature = signer.sign_detached(b"message").expect("256 samples suffice");
    write("inspect", "cms", signature.as_der());
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(name), bytes)).expect("the folder of seeds");
}

/// Cheap parameters of four methods of encryption.
fn methods() -> [pbes2::Parameters; 4] {
    let cheap = || scrypt::Params::new(1, 1, 1).expect("the least cost");
    let salt = b"salt and pepper!";
    [
        pbes2::Parameters::generate_scrypt_aes256cbc(cheap(), salt, [3; 16]),
        pbes2::Parameters::generate_scrypt_aes128cbc(cheap(), salt, [3; 16]),
        pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(2, salt, [3; 16]),
        pbes2::Parameters::scrypt_aes256gcm(cheap(), salt, [3; 12]),
    ]
    .map(|parameters| parameters.expect("parameters that are known"))
}

/// A signature for git, as `crates/aioli-cli/src/sshsig.rs` documents it.
fn for_git(public: &VerifyingKey, signature: &Signature) -> String {
    let field = |field: &[u8]| [&(field.len() as u32).to_be_bytes(), field].concat();
    let kind = format!("{}@aioli", signature.algorithm());
    let pair = |bytes: &[u8]| [field(kind.as_bytes()), field(bytes)].concat();
    let (key, signature) = (pair(public.as_bytes()), pair(signature.as_bytes()));
    let fields = [&key[..], b"git", b"", b"sha512", &signature].map(field).concat();
    let blob = [b"SSHSIG\0\0\0\x01", &fields[..]].concat();
    pem::encode_string("SSH SIGNATURE", LineEnding::LF, &blob).expect("a signature fits")
}

/// The text of a `.sig` file, as `crates/aioli-cli/src/envelope.rs` documents it.
fn envelope(public: &VerifyingKey, signature: &Signature) -> String {
    let set = signature.algorithm();
    let round = if set.name().ends_with("-round2") { 2 } else { 3 };
    let der = public.to_public_key_der().expect("a public key fits");
    let fingerprint = Base64Unpadded::encode_string(&Sha256::digest(der.as_bytes()));
    let body = Base64::encode_string(signature.as_bytes());
    let lines: Vec<&str> = (0..body.len()).step_by(64).map(|at| &body[at..body.len().min(at + 64)]).collect();
    format!(
        "aioli-signature: 1\nalgorithm: {set}\nround: {round}\nkey: SHA256:{fingerprint}\n\
         -----BEGIN MAYO SIGNATURE-----\n{}\n-----END MAYO SIGNATURE-----\n",
        lines.join("\n")
    )
}
