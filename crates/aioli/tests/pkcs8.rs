//! Key files: layouts built byte by byte, round trips, every kind of damage, and pq-mayo's files.
#![cfg(feature = "pkcs8")]

use aioli::pkcs8::pkcs8::spki::{self, AssociatedAlgorithmIdentifier, SignatureBitStringEncoding};
use aioli::pkcs8::pkcs8::{self as crate_pkcs8, PrivateKeyInfoRef, pkcs5::pbes2, pkcs5::scrypt};
use aioli::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, Form, FormatError, Identifiers, LineEnding,
    ObjectIdentifier,
};
use aioli::{Algorithm, Error, any, mayo1, mayo3, round2};

const OQS: Identifiers = Identifiers::OQS;

/// The last two arcs of 1.3.9999.8.SET.ROUND; the bytes before them are the same for all.
fn arcs(algorithm: Algorithm) -> [u8; 2] {
    match algorithm {
        Algorithm::Mayo1 => [1, 5],
        Algorithm::Mayo2 => [2, 5],
        Algorithm::Mayo3 => [3, 5],
        Algorithm::Mayo5 => [5, 5],
        Algorithm::Mayo1Round2 => [1, 3],
        Algorithm::Mayo2Round2 => [2, 3],
        Algorithm::Mayo3Round2 => [3, 3],
        Algorithm::Mayo5Round2 => [5, 3],
    }
}

/// DER: tag, length, value.
fn tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match value.len() {
        length @ 0..128 => out.push(length as u8),
        length @ 128..256 => out.extend([0x81, length as u8]),
        length => out.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    out.extend(value);
    out
}

fn identifier(algorithm: Algorithm) -> Vec<u8> {
    // DER encodes 1.3 in one byte, and 9999 = 78 * 128 + 15 in two.
    [&[0x06, 0x06, 0x2b, 0xce, 0x0f, 0x08][..], &arcs(algorithm)].concat()
}

fn public_der(algorithm: Algorithm, key: &[u8]) -> Vec<u8> {
    tlv(0x30, &[tlv(0x30, &identifier(algorithm)), tlv(0x03, &[&[0], key].concat())].concat())
}

/// PKCS#8 with the given contents of its OCTET STRING; version 2 if there is a public key.
fn private_der(algorithm: Algorithm, contents: &[u8], public_key: Option<&[u8]>) -> Vec<u8> {
    let version = [0x02, 0x01, u8::from(public_key.is_some())];
    let field = public_key.map_or(vec![], |key| tlv(0x81, &[&[0], key].concat()));
    tlv(0x30, &[&version[..], &tlv(0x30, &identifier(algorithm)), &tlv(0x04, contents), &field].concat())
}

fn key(algorithm: Algorithm) -> any::SigningKey {
    let seed: Vec<u8> = (0..algorithm.secret_key_bytes() as u8).map(|i| i.wrapping_mul(37) ^ 0xa5).collect();
    any::SigningKey::from_bytes(algorithm, &seed).unwrap()
}

fn read_private(file: &[u8]) -> Result<Vec<u8>, Error> {
    OQS.decode_private_key(file, None).map(|key| key.as_bytes().to_vec())
}

fn private_error(file: &[u8]) -> Error {
    read_private(file).expect_err("the file is malformed")
}

#[test]
fn every_form_of_every_set_reads_and_the_provider_s_is_written() {
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        let public_key = key.verifying_key();
        let seed = key.as_bytes();
        let pk = public_key.as_bytes();

        let file = public_der(algorithm, pk);
        assert_eq!(public_key.to_public_key_der().unwrap().as_bytes(), file, "{algorithm}");
        assert_eq!(OQS.decode_public_key(&file).unwrap(), public_key);
        assert_eq!(any::VerifyingKey::from_public_key_der(&file).unwrap(), public_key);

        let provider = tlv(0x04, &[seed, pk].concat());
        assert_eq!(key.to_pkcs8_der().unwrap().as_bytes(), private_der(algorithm, &provider, None), "{algorithm}");
        for contents in [&provider, &tlv(0x04, seed), &tlv(0x80, seed)] {
            for field in [None, Some(pk)] {
                let file = private_der(algorithm, contents, field);
                if algorithm == Algorithm::Mayo2Round2 && contents[0] == 0x80 && field.is_none() {
                    assert_eq!(private_error(&file), Error::KeyFormat(FormatError::InterimSet));
                    continue;
                }
                let read = OQS.decode_private_key(&file, None).unwrap();
                assert_eq!((read.algorithm(), read.as_bytes()), (algorithm, seed));
                assert_eq!(any::SigningKey::from_pkcs8_der(&file).unwrap().as_bytes(), seed);
            }
        }
    }
}

#[test]
fn the_forms_of_other_programs_are_written() {
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        let (seed, public) = (key.as_bytes(), key.verifying_key());
        let forms = [
            (Form::BouncyCastle, tlv(0x04, seed), tlv(0x04, public.as_bytes())),
            (Form::PqMayo, tlv(0x80, seed), public.as_bytes().to_vec()),
        ];
        for (form, private_contents, public_contents) in forms {
            let private_file = OQS.encode(&key).form(form).to_pkcs8_der().unwrap();
            let public_file = OQS.encode(&public).form(form).to_public_key_der().unwrap();
            assert_eq!(private_file.as_bytes(), private_der(algorithm, &private_contents, None));
            assert_eq!(public_file.as_bytes(), public_der(algorithm, &public_contents));
            assert_eq!(OQS.decode_public_key(public_file.as_bytes()).unwrap(), public);
        }
        // A wrapped key that is too short is measured with its wrapping.
        let short = public_der(algorithm, &tlv(0x04, &public.as_bytes()[1..]));
        assert!(matches!(OQS.decode_public_key(&short), Err(Error::Length { .. })));
    }
}

#[test]
fn pem_of_every_set_reads_back() {
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        for ending in [LineEnding::LF, LineEnding::CRLF] {
            let public = key.verifying_key().to_public_key_pem(ending).unwrap();
            assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"));
            assert_eq!(OQS.decode_public_key(public.as_bytes()).unwrap(), key.verifying_key());
            assert_eq!(any::VerifyingKey::from_public_key_pem(&public).unwrap(), key.verifying_key());
            let private = key.to_pkcs8_pem(ending).unwrap();
            assert!(private.starts_with("-----BEGIN PRIVATE KEY-----"));
            assert_eq!(read_private(private.as_bytes()).unwrap(), key.as_bytes());
            assert_eq!(any::SigningKey::from_pkcs8_pem(&private).unwrap().as_bytes(), key.as_bytes());
        }
    }
}

/// The values that a builder of certificates takes from a key and a signature.
#[test]
fn certificates_name_the_key_s_identifier_and_hold_the_raw_signature() {
    fn identifier<K: spki::DynSignatureAlgorithmIdentifier>(key: &K) -> spki::AlgorithmIdentifierOwned {
        key.signature_algorithm_identifier().unwrap()
    }
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        let expected = spki::AlgorithmIdentifierOwned { oid: OQS.get(algorithm), parameters: None };
        assert_eq!([identifier(&key), identifier(&key.expand())], [expected.clone(), expected]);
        let signature = key.sign_deterministic(b"a certificate").unwrap();
        assert_eq!(signature.to_bitstring().unwrap().as_bytes(), Some(signature.as_bytes()));
    }
    let typed = mayo3::SigningKey::from_seed([7; 32]);
    assert_eq!(identifier(&typed).oid, OQS.get(Algorithm::Mayo3));
    assert_eq!(mayo3::VerifyingKey::ALGORITHM_IDENTIFIER.oid, OQS.get(Algorithm::Mayo3));
    let signature = typed.sign_deterministic(b"a certificate").unwrap();
    assert_eq!(signature.to_bitstring().unwrap().as_bytes(), Some(signature.as_bytes().as_slice()));
}

#[test]
fn typed_keys_take_their_own_set_only() {
    let seed = [7; 32];
    let new = mayo3::SigningKey::from_seed(seed);
    let old = round2::mayo3::SigningKey::from_seed(seed);
    let new_file = new.to_pkcs8_der().unwrap();
    let old_file = old.to_pkcs8_der().unwrap();
    assert_eq!(mayo3::SigningKey::from_pkcs8_der(new_file.as_bytes()).unwrap().as_seed(), &seed);
    assert_eq!(round2::mayo3::SigningKey::from_pkcs8_der(old_file.as_bytes()).unwrap().as_seed(), &seed);

    // The other round has the same sizes. The traits' errors name the identifier found, ours both
    // sets.
    let oid = OQS.get(Algorithm::Mayo3Round2);
    let unknown = crate_pkcs8::spki::Error::OidUnknown { oid };
    let error = mayo3::SigningKey::from_pkcs8_der(old_file.as_bytes()).err().unwrap();
    assert_eq!(error, crate_pkcs8::Error::PublicKey(unknown));
    let old_public = old.verifying_key().to_public_key_der().unwrap();
    assert_eq!(mayo3::VerifyingKey::from_public_key_der(old_public.as_bytes()).unwrap_err(), unknown);
    let mismatch = Error::AlgorithmMismatch { expected: Algorithm::Mayo3, given: Algorithm::Mayo3Round2 };
    let read = OQS.decode_private_key(old_file.as_bytes(), None).unwrap();
    assert_eq!(mayo3::SigningKey::try_from(read).err(), Some(mismatch));
    let read = OQS.decode_public_key(old_public.as_bytes()).unwrap();
    assert_eq!(mayo3::VerifyingKey::try_from(read), Err(mismatch));
    assert!(mayo1::SigningKey::from_pkcs8_der(new_file.as_bytes()).is_err());

    // These sets have the same key bytes in both rounds, so only the identifier tells the rounds
    // apart.
    assert_eq!(new.verifying_key().as_ref(), old.verifying_key().as_ref());
}

#[test]
fn a_public_key_that_is_not_the_seed_s_is_refused_wherever_it_stands() {
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        let mut pk = key.verifying_key().as_bytes().to_vec();
        let right = pk.clone();
        *pk.last_mut().unwrap() ^= 1;
        for (contents, field) in [
            ([key.as_bytes(), &pk].concat(), None),
            ([key.as_bytes(), &pk].concat(), Some(&right[..])),
            ([key.as_bytes(), &right].concat(), Some(&pk[..])),
            (key.as_bytes().to_vec(), Some(&pk[..])),
        ] {
            let file = private_der(algorithm, &tlv(0x04, &contents), field);
            assert_eq!(private_error(&file), Error::KeyFormat(FormatError::PublicKeyMismatch), "{algorithm}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let algorithm = Algorithm::Mayo1;
    let key = key(algorithm);
    let public_key = key.verifying_key();
    let seed = key.as_bytes();
    let pk = public_key.as_bytes();
    let format = Error::KeyFormat;
    let public_error = |file: &[u8]| OQS.decode_public_key(file).unwrap_err();

    // Lengths.
    for length in [0, 1, 23] {
        let error = private_error(&private_der(algorithm, &tlv(0x04, &seed[..length]), None));
        assert_eq!(error, Error::Length { what: "secret key", algorithm, expected: 24, given: length });
    }
    for contents in [&pk[..1], &pk[..pk.len() - 1], &[pk, &[0]].concat()] {
        let wrong = Error::Length { what: "public key", algorithm, expected: pk.len(), given: contents.len() };
        assert_eq!(private_error(&private_der(algorithm, &tlv(0x04, &[seed, contents].concat()), None)), wrong);
        assert_eq!(private_error(&private_der(algorithm, &tlv(0x80, seed), Some(contents))), wrong);
        assert_eq!(public_error(&public_der(algorithm, contents)), wrong);
    }
    let long = private_der(algorithm, &tlv(0x80, &[seed, &[0]].concat()), None);
    assert_eq!(private_error(&long), Error::Length { what: "secret key", algorithm, expected: 24, given: 25 });

    // Forms of the private key.
    for contents in [seed.to_vec(), vec![], tlv(0x30, seed), tlv(0x81, seed), [tlv(0x04, seed), vec![0]].concat()] {
        let error = private_error(&private_der(algorithm, &contents, None));
        assert_eq!(error, format(FormatError::PrivateKeyForm), "{contents:02x?}");
    }

    // Identifiers and parameters.
    let with_null = tlv(0x30, &[identifier(algorithm), vec![5, 0]].concat());
    let file = tlv(0x30, &[with_null.clone(), tlv(0x03, &[&[0], pk].concat())].concat());
    assert_eq!(public_error(&file), format(FormatError::Parameters));
    let file = tlv(0x30, &[vec![2, 1, 0], with_null, tlv(0x04, &tlv(0x04, seed))].concat());
    assert_eq!(private_error(&file), format(FormatError::Parameters));
    assert_eq!(any::SigningKey::from_pkcs8_der(&file).err(), Some(crate_pkcs8::Error::ParametersMalformed));
    let mut file = public_der(algorithm, pk);
    let at = file.windows(8).position(|window| window == identifier(algorithm)).unwrap();
    file[at + 7] = 4;
    let unknown = FormatError::UnknownIdentifier(ObjectIdentifier::new_unwrap("1.3.9999.8.1.4"));
    assert_eq!(public_error(&file), format(unknown));

    // Unused bits: DER demands that they are zero.
    let mut bits = [&[4], pk].concat();
    *bits.last_mut().unwrap() &= 0xf0;
    let file = tlv(0x30, &[tlv(0x30, &identifier(algorithm)), tlv(0x03, &bits)].concat());
    assert_eq!(public_error(&file), format(FormatError::UnusedBits));

    // Other files.
    let public_pem = public_key.to_public_key_pem(LineEnding::LF).unwrap();
    let private_pem = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    assert_eq!(private_error(public_pem.as_bytes()), format(FormatError::Label { expected: "PRIVATE KEY" }));
    assert_eq!(public_error(private_pem.as_bytes()), format(FormatError::Label { expected: "PUBLIC KEY" }));
    for file in [&b""[..], b"\x30", b"hello", b"-----BEGIN PRIVATE KEY-----", &public_der(algorithm, pk)] {
        assert!(matches!(private_error(file), Error::KeyFormat(FormatError::Encoding(_))), "{file:02x?}");
    }
    for error in [unknown, FormatError::Parameters, FormatError::InterimSet, FormatError::Decryption] {
        assert!(format(error).to_string().len() > 20);
    }
}

#[test]
fn damage_never_panics_and_never_gives_a_key_with_another_public_key() {
    // The set with the smallest public key. Every byte is damaged in its lowest bit, its highest,
    // and all.
    let key = key(Algorithm::Mayo1Round2);
    let public_key = key.verifying_key();
    let private = key.to_pkcs8_der().unwrap();
    let public = public_key.to_public_key_der().unwrap();
    for (length, _) in private.as_bytes().iter().enumerate() {
        assert!(OQS.decode_private_key(&private.as_bytes()[..length], None).is_err(), "{length}");
    }
    for (length, _) in public.as_bytes().iter().enumerate() {
        assert!(OQS.decode_public_key(&public.as_bytes()[..length]).is_err(), "{length}");
    }
    let payload = public.as_bytes().len() - public_key.as_bytes().len();
    for change in [0x01, 0x80, 0xff] {
        for at in 0..private.as_bytes().len() {
            let mut file = private.as_bytes().to_vec();
            file[at] ^= change;
            assert!(OQS.decode_private_key(&file, None).is_err(), "byte {at} ^ {change:#x}");
            assert!(any::SigningKey::from_pkcs8_der(&file).is_err(), "byte {at} ^ {change:#x}");
        }
        for at in 0..public.as_bytes().len() {
            let mut file = public.as_bytes().to_vec();
            file[at] ^= change;
            // A public key has no redundancy: damage in its bytes gives another key.
            match OQS.decode_public_key(&file) {
                Ok(read) => {
                    assert!(at >= payload, "byte {at} ^ {change:#x}");
                    assert_eq!(read.as_bytes(), &file[payload..]);
                }
                Err(_) => assert!(at < payload, "byte {at} ^ {change:#x}"),
            }
        }
    }
}

#[test]
fn identifiers_can_be_replaced() {
    let own = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.99999.1");
    let identifiers = OQS.with(Algorithm::Mayo1, own);
    let key = key(Algorithm::Mayo1);
    let public = identifiers.encode(&key.verifying_key()).to_public_key_der().unwrap();
    let private = identifiers.encode(&key).to_pkcs8_pem(LineEnding::LF).unwrap();
    assert!(public.as_bytes().windows(own.as_bytes().len()).any(|window| window == own.as_bytes()));
    assert_eq!(identifiers.decode_public_key(public.as_bytes()).unwrap(), key.verifying_key());
    let read = identifiers.decode_private_key(private.as_bytes(), None).unwrap();
    assert_eq!(mayo1::SigningKey::try_from(read).unwrap().as_ref(), key.as_bytes());

    let unknown = |oid| Error::KeyFormat(FormatError::UnknownIdentifier(oid));
    assert_eq!(OQS.decode_public_key(public.as_bytes()), Err(unknown(own)));
    assert_eq!(private_error(private.as_bytes()), unknown(own));
    let standard = key.verifying_key().to_public_key_der().unwrap();
    assert_eq!(identifiers.decode_public_key(standard.as_bytes()), Err(unknown(OQS.get(Algorithm::Mayo1))));
    for algorithm in Algorithm::ALL {
        assert_eq!(OQS.algorithm(OQS.get(algorithm)), Ok(algorithm));
        assert_eq!(OQS.get(algorithm).as_bytes(), &identifier(algorithm)[2..]);
    }
}

#[test]
fn encrypted_keys_need_their_passphrase() {
    let key = key(Algorithm::Mayo1);
    let pem = key.to_pkcs8_encrypted_pem(b"correct horse", LineEnding::LF).unwrap();
    assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    let read = |passphrase| OQS.decode_private_key(pem.as_bytes(), passphrase).map(|key| key.as_bytes().to_vec());
    assert_eq!(read(Some(b"correct horse")).unwrap(), key.as_bytes());
    assert_eq!(read(Some(b"correct horsf")), Err(Error::KeyFormat(FormatError::Decryption)));
    assert_eq!(read(Some(b"")), Err(Error::KeyFormat(FormatError::Decryption)));
    assert_eq!(read(None), Err(Error::KeyFormat(FormatError::Encrypted)));
    assert_eq!(any::SigningKey::from_pkcs8_encrypted_pem(&pem, "correct horse").unwrap().as_bytes(), key.as_bytes());
    assert!(mayo1::SigningKey::from_pkcs8_encrypted_pem(&pem, "wrong").is_err());

    // The file was written with scrypt and AES-256-CBC.
    let der = key.to_pkcs8_encrypted_der("x").unwrap();
    let info = crate_pkcs8::EncryptedPrivateKeyInfoRef::try_from(der.as_bytes()).unwrap();
    let parameters = info.encryption_algorithm.pbes2().unwrap();
    assert!(matches!(parameters.encryption, pbes2::EncryptionScheme::Aes256Cbc { .. }));
    let pbes2::Kdf::Scrypt(kdf) = &parameters.kdf else { panic!("not scrypt") };
    assert_eq!((kdf.cost_parameter, kdf.block_size, kdf.parallelization), (1 << 14, 8, 1));
    assert_eq!(OQS.decode_private_key(der.as_bytes(), Some(b"x")).unwrap().as_bytes(), key.as_bytes());
}

/// A file encrypted under the passphrase "x", with parameters cheap enough for thousands of trials.
fn cheaply_encrypted(key: &any::SigningKey) -> Vec<u8> {
    let cheap = scrypt::Params::new(1, 1, 1).unwrap();
    let parameters = pbes2::Parameters::generate_scrypt_aes256cbc(cheap, b"salt and pepper!", [3; 16]).unwrap();
    let plain = key.to_pkcs8_der().unwrap();
    let info = PrivateKeyInfoRef::try_from(plain.as_bytes()).unwrap();
    info.encrypt_with_params(parameters, b"x").unwrap().as_bytes().to_vec()
}

#[test]
fn wrong_passphrases_with_valid_padding_are_told_too() {
    let file = cheaply_encrypted(&key(Algorithm::Mayo1Round2));
    assert!(OQS.decode_private_key(&file, Some(b"x")).is_ok());
    // One wrong passphrase in 256 leaves valid padding.
    for wrong in 0..2000 {
        let error = OQS.decode_private_key(&file, Some(format!("wrong {wrong}").as_bytes())).err();
        assert_eq!(error, Some(Error::KeyFormat(FormatError::Decryption)), "{wrong}");
    }
}

#[test]
fn damaged_or_costly_encryption_is_refused() {
    let key = key(Algorithm::Mayo1Round2);
    let file = cheaply_encrypted(&key);
    let data = file.len() - (key.to_pkcs8_der().unwrap().as_bytes().len() / 16 + 1) * 16;
    for at in (0..data).chain([data, data + 16, file.len() - 16, file.len() - 1]) {
        assert!(OQS.decode_private_key(&file[..at], Some(b"x")).is_err(), "cut at {at}");
        for change in 1..=255 {
            let mut file = file.clone();
            file[at] ^= change;
            // Lenient reading (scrypt's optional key length) is allowed, but must never give
            // another key.
            if let Ok(read) = OQS.decode_private_key(&file, Some(b"x")) {
                assert_eq!(read.as_bytes(), key.as_bytes(), "byte {at} ^ {change:#x}");
            }
        }
    }

    // The cost parameter N is the INTEGER after the salt.
    let at = file.windows(16).position(|window| window == b"salt and pepper!").unwrap() + 16;
    assert_eq!(file[at..at + 3], [2, 1, 2]);
    for cost in [0, 3] {
        let mut file = file.clone();
        file[at + 2] = cost;
        let error = OQS.decode_private_key(&file, Some(b"x")).err();
        assert!(matches!(error, Some(Error::KeyFormat(FormatError::UnsupportedEncryption(_)))), "{cost}");
    }
    // scrypt: N = 2^62; N = 2^19, which takes 512 MiB; N = 2^14 with p = 17, which works as long.
    let salt = tlv(0x04, b"salt and pepper!");
    let encrypted = |costs: [&[u8]; 3]| {
        let costs = costs.map(|cost| tlv(0x02, cost)).concat();
        let scrypt =
            [&[0x06, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11][..], &tlv(0x30, &[salt.clone(), costs].concat())].concat();
        let aes = [&[0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a][..], &tlv(0x04, &[3; 16])].concat();
        let pbes2 = tlv(0x30, &[tlv(0x30, &scrypt), tlv(0x30, &aes)].concat());
        [&[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13][..], &pbes2].concat()
    };
    let largest = encrypted([&[0x40, 0, 0, 0, 0, 0, 0, 0], &[8], &[1]]);
    let large = encrypted([&[8, 0, 0], &[8], &[1]]);
    let long = encrypted([&[0x40, 0], &[8], &[17]]);
    let pbes1 = tlv(0x30, &[tlv(0x04, b"pepper!!"), vec![2, 1, 1]].concat());
    let pbes1 = [&[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 3][..], &pbes1].concat();
    for scheme in [largest, large, long, pbes1] {
        let file = tlv(0x30, &[tlv(0x30, &scheme), tlv(0x04, &[0; 32])].concat());
        let error = OQS.decode_private_key(&file, Some(b"x")).err();
        assert!(matches!(error, Some(Error::KeyFormat(FormatError::UnsupportedEncryption(_)))), "{error:?}");
    }
}

/// pq-mayo writes `[0]` seed and reads nothing else. So its private keys are read here, but ours
/// are not read there. Public keys go both ways.
#[test]
fn pq_mayo_s_files_of_round_2_are_read() {
    macro_rules! check {
        ($($set:ident, $module:ident, $algorithm:ident;)*) => {$({
            let algorithm = Algorithm::$algorithm;
            let ours = key(algorithm);
            let theirs = pq_mayo::KeyPair::<pq_mayo::$set>::from_seed(ours.as_bytes()).unwrap();
            let private = theirs.to_pkcs8_der().unwrap();
            assert_eq!(private.as_bytes(), private_der(algorithm, &tlv(0x80, ours.as_bytes()), None));
            assert_eq!(read_private(private.as_bytes()).unwrap(), ours.as_bytes());
            let pem = theirs.to_pkcs8_pem(LineEnding::LF).unwrap();
            let read = round2::$module::SigningKey::from_pkcs8_pem(&pem).unwrap();
            assert_eq!(read.verifying_key().as_ref(), theirs.verifying_key().as_ref());

            let public = theirs.verifying_key().to_public_key_der().unwrap();
            assert_eq!(OQS.decode_public_key(public.as_bytes()).unwrap(), ours.verifying_key());
            let public = ours.verifying_key().to_public_key_der().unwrap();
            let read = pq_mayo::VerifyingKey::<pq_mayo::$set>::from_public_key_der(public.as_bytes()).unwrap();
            assert_eq!(&read, theirs.verifying_key());

            let provider = ours.to_pkcs8_der().unwrap();
            assert!(pq_mayo::KeyPair::<pq_mayo::$set>::from_pkcs8_der(provider.as_bytes()).is_err());
        })*};
    }
    check! {
        Mayo1, mayo1, Mayo1Round2;
        Mayo3, mayo3, Mayo3Round2;
        Mayo5, mayo5, Mayo5Round2;
    }
}

#[test]
fn pq_mayo_s_interim_set_is_named_as_such() {
    let theirs = pq_mayo::KeyPair::<pq_mayo::Mayo2>::from_seed(&[9; 24]).unwrap();
    let pk = theirs.verifying_key().as_ref();
    assert_eq!(pk.len(), 4368);
    let interim = Error::KeyFormat(FormatError::InterimSet);
    assert_eq!(private_error(theirs.to_pkcs8_der().unwrap().as_bytes()), interim);
    let public = theirs.verifying_key().to_public_key_pem(LineEnding::LF).unwrap();
    assert_eq!(OQS.decode_public_key(public.as_bytes()), Err(interim));
    let algorithm = Algorithm::Mayo2Round2;
    assert_eq!(private_error(&private_der(algorithm, &tlv(0x80, &[9; 24]), Some(pk))), interim);
    assert_eq!(private_error(&private_der(algorithm, &tlv(0x04, &[&[9; 24], pk].concat()), None)), interim);
    assert!(interim.to_string().contains("pq-mayo") && interim.to_string().contains("interim"));
}
