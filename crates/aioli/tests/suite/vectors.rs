//! The test vectors of the folder `vectors`, on every backend that this machine can run. README.md
//! there describes them.

use aioli::backend::{BackendKind, DetectedBackend};
use aioli::{Algorithm, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat, with_set};
use serde_json::Value;

/// The groups of a file, which must have as many tests as it says.
fn groups(file: &str) -> Vec<Value> {
    let path = format!("{}/../../vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap();
    let groups = file["testGroups"].as_array().unwrap().clone();
    let count: usize = groups.iter().map(|group| tests(group).len()).sum();
    assert_eq!(file["numberOfTests"], count);
    groups
}

fn tests(group: &Value) -> &Vec<Value> {
    group["tests"].as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a field that every such test has")
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = text(value).as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn is_valid(test: &Value) -> bool {
    match text(&test["result"]) {
        "valid" => true,
        "invalid" => false,
        other => panic!("{other}"),
    }
}

fn has_flag(test: &Value, flag: &str) -> bool {
    test["flags"].as_array().unwrap().iter().any(|other| other == flag)
}

fn set(group: &Value) -> Algorithm {
    text(&group["set"]).parse().unwrap()
}

fn name(group: &Value, test: &Value) -> String {
    format!("{}, test {}: {}", text(&group["set"]), test["tcId"], text(&test["comment"]))
}

/// The public keys and signatures of a test, with what was changed.
fn variants(key: &[u8], test: &Value) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let signature = bytes(&test["sig"]);
    let changed = |list: &str, number: usize, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        match list.ends_with("Bits") {
            true => bytes[number / 8] ^= 1 << (number % 8),
            false => bytes.resize(number, 0),
        }
        bytes
    };
    for list in ["sigLengths", "sigBits", "keyLengths", "keyBits"] {
        let Some(numbers) = test[list].as_array() else { continue };
        let numbers = numbers.iter().map(|number| number.as_u64().unwrap() as usize);
        let variants = numbers.map(|number| match list.starts_with("sig") {
            true => (format!("{list} {number}"), key.to_vec(), changed(list, number, &signature)),
            false => (format!("{list} {number}"), changed(list, number, key), signature.clone()),
        });
        return variants.collect();
    }
    vec![("as it is".into(), key.to_vec(), signature)]
}

/// Whether a signature is valid on a backend, with a compact and with an expanded key.
fn verdict<P: ParameterSet>(backend: DetectedBackend, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let (Ok(key), Ok(signature)) = (VerifyingKey::<P>::try_from(key), Signature::<P>::try_from(signature)) else {
        return false;
    };
    let digest = MessageDigest::of(message);
    let verdict = hazmat::verify(backend, &key, &digest, &signature);
    let expanded = hazmat::expand_verifying_key(backend, &key);
    assert_eq!(hazmat::verify_expanded(backend, &expanded, &digest, &signature), verdict);
    verdict.is_ok()
}

fn signatures_verify<P: ParameterSet>(group: &Value) -> usize {
    let key = bytes(&group["publicKey"]);
    let mut cases = 0;
    for backend in DetectedBackend::all() {
        if !group["seed"].is_null() {
            let seed = SigningKey::<P>::try_from(&bytes(&group["seed"])[..]).unwrap();
            assert_eq!(hazmat::verifying_key(backend, &seed).as_ref(), key, "{} on {backend}", P::ALGORITHM);
        }
        for test in tests(group) {
            for (change, key, signature) in variants(&key, test) {
                let verdict = verdict::<P>(backend, &key, &bytes(&test["msg"]), &signature);
                assert_eq!(verdict, is_valid(test), "{} on {backend}, {change}", name(group, test));
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn every_signature_has_its_verdict_on_every_backend() {
    for algorithm in Algorithm::ALL {
        let groups = groups(&format!("verify-{algorithm}.json"));
        assert!(groups.iter().all(|group| set(group) == algorithm));
        let cases: usize = groups.iter().map(|group| with_set!(algorithm, P => signatures_verify::<P>(group))).sum();
        assert!(cases > algorithm.signature_bytes() * BackendKind::available().count(), "every truncation");
    }
}

fn signatures_are_made<P: ParameterSet>(group: &Value) {
    let key = SigningKey::<P>::try_from(&bytes(&group["seed"])[..]).unwrap();
    for test in tests(group) {
        let message = bytes(&test["msg"]);
        let digest = MessageDigest::of(&message);
        let randomizer = bytes(&test["randomizer"]);
        let expected = Ok(Signature::try_from(&bytes(&test["sig"])[..]).unwrap());
        for backend in DetectedBackend::all() {
            let what = format!("{} on {backend}", name(group, test));
            assert_eq!(hazmat::sign(backend, &key, &digest, &randomizer), expected, "{what}");
            let expanded = hazmat::expand_signing_key(backend, &key);
            assert_eq!(hazmat::sign_expanded(backend, &expanded, &digest, &randomizer), expected, "{what}");
        }
        if has_flag(test, "Deterministic") {
            assert_eq!(key.sign_deterministic(&message), expected, "{}", name(group, test));
        }
    }
}

#[test]
fn every_signature_is_made_on_every_backend() {
    let groups = groups("sign.json");
    assert!(Algorithm::ALL.iter().all(|&algorithm| groups.iter().any(|group| set(group) == algorithm)));
    for group in &groups {
        with_set!(set(group), P => signatures_are_made::<P>(group));
    }
}

#[cfg(feature = "pkcs8")]
mod keys {
    use super::*;
    use aioli::pkcs8::{FormatError, Identifiers};
    use aioli::{Error, any};

    /// The key of a test read: what it must be, read from raw bytes or from a file.
    fn read<K>(
        test: &Value,
        raw: impl Fn(&[u8]) -> Result<K, Error>,
        file: impl Fn(&[u8]) -> Result<K, Error>,
    ) -> Result<K, Error> {
        match (&test["raw"], &test["der"], &test["pem"]) {
            (Value::Null, Value::Null, pem) => file(text(pem).as_bytes()),
            (Value::Null, der, Value::Null) => file(&bytes(der)),
            (bare, Value::Null, Value::Null) => raw(&bytes(bare)),
            _ => panic!("test {} has several encodings", test["tcId"]),
        }
    }

    /// Checks the outcome of each test of a file.
    fn check<K: PartialEq>(
        file: &str,
        expected: impl Fn(&any::SigningKey) -> K,
        read: impl Fn(Algorithm, &Value) -> Result<K, Error>,
    ) {
        for group in groups(file) {
            let key = expected(&any::SigningKey::from_bytes(set(&group), &bytes(&group["seed"])).unwrap());
            for test in tests(&group) {
                let name = name(&group, test);
                match read(set(&group), test) {
                    Ok(read) => assert!(is_valid(test) && read == key, "{name}"),
                    Err(error) => {
                        assert!(!is_valid(test), "{name}: {error}");
                        let too_costly = matches!(error, Error::KeyFormat(FormatError::UnsupportedEncryption(_)));
                        assert!(too_costly || !has_flag(test, "CostLimit"), "{name}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_public_key_is_read_or_refused() {
        check("public-keys.json", any::SigningKey::verifying_key, |set, test| {
            read(test, |raw| any::VerifyingKey::from_bytes(set, raw), |file| Identifiers::OQS.decode_public_key(file))
        });
    }

    #[test]
    fn every_private_key_is_read_or_refused() {
        let contents = |key: &any::SigningKey| (key.algorithm(), key.as_bytes().to_vec());
        check("private-keys.json", contents, |set, test| {
            let passphrase = test["passphrase"].as_str().map(str::as_bytes);
            let file = |file: &[u8]| Identifiers::OQS.decode_private_key(file, passphrase);
            read(test, |raw| any::SigningKey::from_bytes(set, raw), file).map(|key| contents(&key))
        });
    }
}
