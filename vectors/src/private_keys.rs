//! Private keys in their encodings, encrypted too, and files that look like them.

use crate::file::{File, Flag, Group, Key, Test, Verdict};
use crate::material::{key, public_key};
use Verdict::{Invalid, Valid};
use aioli::pkcs8::pkcs8::PrivateKeyInfoRef;
use aioli::pkcs8::pkcs8::der::Decode;
use aioli::pkcs8::pkcs8::pkcs5::{pbes2, scrypt};
use aioli::pkcs8::{EncodePrivateKey, Identifiers, LineEnding};
use aioli::{Algorithm, ParameterSet, round3, with_set};

pub(crate) fn file() -> File {
    let mut groups = Algorithm::ALL.map(|algorithm| with_set!(algorithm, P => well_formed::<P>()));
    let group = &mut groups[0];
    more_forms(group);
    encrypted(group);
    hostile(group);
    File {
        name: "private-keys.json".into(),
        header: "Files of private keys: whether each is read as the group's seed.",
        groups: groups.into(),
    }
}

fn add(group: &mut Group, verdict: Verdict, flag: Flag, comment: &str, file: &[u8]) {
    group.push(Test::new(verdict, &[flag], comment).key(Key::Der(hex::encode(file))));
}

/// The forms in which a set's key is found.
fn well_formed<P: ParameterSet>() -> Group {
    let key = key::<P>();
    let seed = key.as_ref();
    let mut group = Group::new("MayoPrivateKey", P::ALGORITHM).seed(seed);
    group.push(Test::new(Valid, &[Flag::Valid], "raw bytes").key(Key::Raw(hex::encode(seed))));
    // Levels 3 and 5 would repeat this with longer keys.
    if P::ALGORITHM.level() == 1 {
        let provider = info(P::ALGORITHM, &der(4, &[seed, public_key(&key).as_ref()]), None);
        let comment = "seed and public key, the form of the Open Quantum Safe provider";
        add(&mut group, Valid, Flag::Valid, comment, &provider);
    }
    let alone = info(P::ALGORITHM, &der(4, &[seed]), None);
    add(&mut group, Valid, Flag::Valid, "seed alone", &alone);
    let tagged = info(P::ALGORITHM, &der(0x80, &[seed]), None);
    match P::ALGORITHM {
        // The same bytes may be a key of another set, which pq-mayo 0.6 calls MAYO_2.
        Algorithm::Mayo2Round2 => add(&mut group, Invalid, Flag::AioliRefuses, "seed tagged [0]", &tagged),
        _ => add(&mut group, Valid, Flag::AioliReads, "seed tagged [0], the form of pq-mayo 0.6", &tagged),
    }
    for length in [0, seed.len() - 1] {
        let file = info(P::ALGORITHM, &der(4, &[&seed[..length]]), None);
        add(&mut group, Invalid, Flag::KeyLength, &format!("seed of {length} bytes"), &file);
        group.push(
            Test::new(Invalid, &[Flag::KeyLength], format!("raw seed of {length} bytes"))
                .key(Key::Raw(hex::encode(&seed[..length]))),
        );
    }
    group
}

/// Other forms of the key of MAYO_1, and damage.
fn more_forms(group: &mut Group) {
    let set = Algorithm::Mayo1;
    let key = key::<round3::Mayo1>();
    let seed = key.as_ref();
    let public_key = public_key(&key);
    let raw = public_key.as_ref();
    let mut other = raw.to_vec();
    *other.last_mut().expect("a public key") ^= 1;
    let alone = der(4, &[seed]);
    let good = info(set, &alone, None);
    add(group, Valid, Flag::AioliReads, "public key in the field of version 2", &info(set, &alone, Some(raw)));
    for (comment, file) in [
        ("behind the seed", info(set, &der(4, &[seed, &other]), None)),
        ("in the field of version 2", info(set, &alone, Some(&other))),
    ] {
        add(group, Invalid, Flag::PublicKeyMismatch, &format!("the public key {comment} is another"), &file);
    }
    let short = &raw[..raw.len() - 1];
    add(group, Invalid, Flag::KeyLength, "public key a byte too short", &info(set, &der(4, &[seed, short]), None));
    add(group, Invalid, Flag::KeyLength, "a byte behind the seed", &info(set, &der(4, &[seed, &[0]]), None));
    add(group, Invalid, Flag::WrongSet, "identifier of mayo3", &info(Algorithm::Mayo3, &alone, None));
    let identifier = der(6, &[Identifiers::OQS.get(set).as_bytes()]);
    let with_null = der(0x30, &[&der(2, &[&[0]]), &der(0x30, &[&identifier, &[5, 0]]), &der(4, &[&alone])]);
    let version = |version| der(0x30, &[&der(2, &[&[version]]), &der(0x30, &[&identifier]), &der(4, &[&alone])]);
    let mut unknown = good.clone();
    // The last arc of the identifier, behind the sequence's head and the version; no set has 4.
    unknown[2 + 3 + 2 + identifier.len() - 1] = 4;
    for (comment, file) in [
        ("unknown identifier", &unknown[..]),
        ("parameters NULL", &with_null),
        ("version 3", &version(2)),
        ("version -1", &version(0xff)),
        ("seed without a tag of its own", &info(set, seed, None)),
        ("seed in a sequence", &info(set, &der(0x30, &[seed]), None)),
        ("seed tagged [1]", &info(set, &der(0x81, &[seed]), None)),
        ("empty OCTET STRING", &info(set, &[], None)),
        ("a byte behind the inner OCTET STRING", &info(set, &[&alone[..], &[0]].concat(), None)),
        ("a byte behind the file", &[&good[..], &[0]].concat()),
        ("last byte missing", &good[..good.len() - 1]),
        ("indefinite length", &[&[0x30, 0x80], &good[2..], &[0, 0]].concat()),
        ("length in two bytes", &[&[0x30, 0x81], &good[1..]].concat()),
        ("empty file", &[]),
    ] {
        add(group, Invalid, Flag::Malformed, comment, file);
    }
    let pem = |ending| key.to_pkcs8_pem(ending).expect("a short file").to_string();
    group.push(Test::new(Valid, &[Flag::Valid], "PEM, LF").key(Key::Pem(pem(LineEnding::LF))));
    group.push(Test::new(Valid, &[Flag::Valid], "PEM, CR LF").key(Key::Pem(pem(LineEnding::CRLF))));
    for label in ["PUBLIC KEY", "EC PRIVATE KEY"] {
        let text = pem(LineEnding::LF).replace("PRIVATE KEY", label);
        group.push(Test::new(Invalid, &[Flag::Malformed], format!("label {label}")).key(Key::Pem(text)));
    }
}

const PASSPHRASE: &str = "correct horse";
const SALT: [u8; 16] = *b"salt and pepper!";
const IV: [u8; 16] = *b"not a random iv.";

/// PBES2 with every method that aioli reads, and wrong passphrases.
fn encrypted(group: &mut Group) {
    let plain = info(Algorithm::Mayo1, &der(4, &[key::<round3::Mayo1>().as_ref()]), None);
    let plain = PrivateKeyInfoRef::from_der(&plain).expect("a private key");
    let costs = |log_n| scrypt::Params::new(log_n, 8, 1).expect("costs of scrypt");
    let nonce = *IV.first_chunk().expect("a nonce is shorter");
    let scrypt_aes256 = |log_n| pbes2::Parameters::generate_scrypt_aes256cbc(costs(log_n), &SALT, IV);
    let written = scrypt_aes256(14);
    let file = |parameters: pbes2::Parameters| {
        let file = plain.encrypt_with_params(parameters, PASSPHRASE).expect("a method with all its features");
        file.as_bytes().to_vec()
    };
    for (comment, parameters) in [
        ("scrypt, AES-256-CBC: the method that aioli writes", written.clone()),
        ("scrypt, AES-128-CBC", pbes2::Parameters::generate_scrypt_aes128cbc(costs(10), &SALT, IV)),
        ("scrypt, AES-128-GCM", pbes2::Parameters::scrypt_aes128gcm(costs(10), &SALT, nonce)),
        ("scrypt, AES-256-GCM", pbes2::Parameters::scrypt_aes256gcm(costs(10), &SALT, nonce)),
        ("PBKDF2, AES-128-CBC", pbes2::Parameters::generate_pbkdf2_sha256_aes128cbc(2048, &SALT, IV)),
        ("PBKDF2, AES-256-CBC", pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(1, &SALT, IV)),
    ] {
        let file = file(parameters.expect("parameters within their limits"));
        let test = Test::new(Valid, &[Flag::Encrypted], comment).passphrase(PASSPHRASE);
        group.push(test.key(Key::Der(hex::encode(file))));
    }
    let written = written.expect("parameters within their limits");
    let pem = plain.encrypt_with_params(written, PASSPHRASE).expect("a method with all its features");
    let pem = pem.to_pem("ENCRYPTED PRIVATE KEY", LineEnding::LF).expect("a short file").to_string();
    group.push(Test::new(Valid, &[Flag::Encrypted], "PEM").passphrase(PASSPHRASE).key(Key::Pem(pem.clone())));
    let unlabelled = pem.replace("ENCRYPTED ", "");
    let cheap = file(scrypt_aes256(1).expect("parameters within their limits"));
    group.push(Test::new(Invalid, &[Flag::Passphrase], "no passphrase").key(Key::Pem(pem)));
    group.push(
        Test::new(Valid, &[Flag::AioliReads], "encrypted, labelled as if it were not")
            .passphrase(PASSPHRASE)
            .key(Key::Pem(unlabelled)),
    );
    for wrong in ["correct horsf", "", "correct horse\n"] {
        let test = Test::new(Invalid, &[Flag::Passphrase], "wrong passphrase").passphrase(wrong);
        group.push(test.key(Key::Der(hex::encode(&cheap))));
    }
    for (comment, at, change) in [("first byte", cheap.len() - 64, 1), ("last byte", cheap.len() - 1, 1)] {
        let mut file = cheap.clone();
        file[at] ^= change;
        let test = Test::new(Invalid, &[Flag::Passphrase], format!("{comment} of the encrypted data changed"));
        group.push(test.passphrase(PASSPHRASE).key(Key::Der(hex::encode(file))));
    }
}

/// PBES2 that asks for too much, or contradicts itself. The data are zeros where nobody should
/// come to decrypt them.
fn hostile(group: &mut Group) {
    let oid = |arcs: &[u8]| der(6, &[arcs]);
    let number = |bytes: &[u8]| der(2, &[bytes]);
    let salt = der(4, &[&SALT]);
    let scrypt = |costs: [&[u8]; 4]| {
        let costs: Vec<u8> = costs.iter().filter(|cost| !cost.is_empty()).flat_map(|cost| number(cost)).collect();
        der(0x30, &[&oid(&[0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11]), &der(0x30, &[&salt, &costs])])
    };
    let hmac = |last| der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, last]), &[5, 0]]);
    let pbkdf2 = |iterations: &[u8], prf: &[u8]| {
        let parameters = der(0x30, &[&salt, &number(iterations), prf]);
        der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 12]), &parameters])
    };
    let aes = |last, iv: &[u8]| der(0x30, &[&oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, last]), &der(4, &[iv])]);
    let aes256 = aes(42, &IV);
    let sha256 = hmac(9);
    let pbes2 = |kdf: &[u8], cipher: &[u8]| {
        der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13]), &der(0x30, &[kdf, cipher])])
    };
    let cheap = scrypt([&[2], &[1], &[1], &[]]);
    for (flag, comment, kdf, cipher) in [
        (Flag::CostLimit, "scrypt with N = 2^62", scrypt([&[0x40, 0, 0, 0, 0, 0, 0, 0], &[8], &[1], &[]]), &aes256),
        (Flag::CostLimit, "scrypt with 512 MiB: N = 2^19", scrypt([&[8, 0, 0], &[8], &[1], &[]]), &aes256),
        (Flag::CostLimit, "scrypt with r = 2^16", scrypt([&[0x40, 0], &[1, 0, 0], &[1], &[]]), &aes256),
        (Flag::CostLimit, "scrypt with p = 17 at N = 2^14", scrypt([&[0x40, 0], &[8], &[17], &[]]), &aes256),
        (Flag::CostLimit, "PBKDF2 with 2,000,001 iterations", pbkdf2(&[0x1e, 0x84, 0x81], &sha256), &aes256),
        (Flag::CostLimit, "PBKDF2 with 2^31 - 1 iterations", pbkdf2(&[0x7f, 0xff, 0xff, 0xff], &sha256), &aes256),
        (Flag::Malformed, "PBKDF2 without iterations", pbkdf2(&[0], &sha256), &aes256),
        (Flag::Malformed, "PBKDF2 with -1 iterations", pbkdf2(&[0xff], &sha256), &aes256),
        (Flag::Malformed, "scrypt with N = 0", scrypt([&[0], &[1], &[1], &[]]), &aes256),
        (Flag::Malformed, "scrypt with N = 1", scrypt([&[1], &[1], &[1], &[]]), &aes256),
        (Flag::Malformed, "scrypt with N = 3", scrypt([&[3], &[1], &[1], &[]]), &aes256),
        (Flag::Malformed, "scrypt with r = 0", scrypt([&[2], &[0], &[1], &[]]), &aes256),
        (Flag::Malformed, "scrypt with p = 0", scrypt([&[2], &[1], &[0], &[]]), &aes256),
        (Flag::Malformed, "keys of 16 bytes for AES-256", scrypt([&[2], &[1], &[1], &[16]]), &aes256),
        (Flag::Malformed, "initial vector of 8 bytes", cheap.clone(), &aes(42, &IV[..8])),
        (Flag::Malformed, "AES-256-ECB, which has no initial vector", cheap.clone(), &aes(41, &IV)),
        (Flag::AioliRefuses, "PBKDF2 with SHA-1, the default", pbkdf2(&[8, 0], &[]), &aes256),
    ] {
        let file = der(0x30, &[&pbes2(&kdf, cipher), &der(4, &[&[0; 64]])]);
        let test = Test::new(Invalid, &[flag], comment).passphrase(PASSPHRASE);
        group.push(test.key(Key::Der(hex::encode(file))));
    }
}

/// PKCS#8 with the given contents of its OCTET STRING; version 2 if there is a public key.
fn info(algorithm: Algorithm, contents: &[u8], public_key: Option<&[u8]>) -> Vec<u8> {
    let version = der(2, &[&[u8::from(public_key.is_some())]]);
    let identifier = der(0x30, &[&der(6, &[Identifiers::OQS.get(algorithm).as_bytes()])]);
    let field = public_key.map_or(Vec::new(), |key| der(0x81, &[&[0], key]));
    der(0x30, &[&version, &identifier, &der(4, &[contents]), &field])
}

/// An element of DER: tag, length, contents.
pub(crate) fn der(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let length = match contents.len() {
        length @ 0..0x80 => vec![length as u8],
        length @ 0x80..0x100 => vec![0x81, length as u8],
        length => [&[0x82][..], &(length as u16).to_be_bytes()].concat(),
    };
    [vec![tag], length, contents].concat()
}
