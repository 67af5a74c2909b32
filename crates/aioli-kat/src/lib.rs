//! NIST's known-answer files for MAYO, regenerated on any backend, and their official digests.
//!
//! A file has 100 records. All randomness comes from NIST's generator, seeded with the bytes 00 to
//! 2F.
#![forbid(unsafe_code)]

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aioli::backend::DetectedBackend;
use aioli::{Algorithm, Error, MessageDigest, ParameterSet, Round, Signature, SigningKey, VerifyingKey, hazmat};
use sha2::{Digest, Sha256};
use std::fmt;

/// Records in an official file.
pub const RECORDS: usize = 100;

/// One record of a file: its inputs, the keys and the signature.
#[derive(Clone)]
pub struct Record {
    /// The generator's seed for this record.
    pub seed: [u8; 48],
    /// The message.
    pub message: Vec<u8>,
    /// The compact public key.
    pub public_key: Vec<u8>,
    /// The compact secret key.
    pub secret_key: Vec<u8>,
    /// The randomizer of the salt. The file does not contain it.
    pub randomizer: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
}

impl Record {
    /// The text of the record in its file, as record number `count`, without the empty line after
    /// it.
    pub fn text(&self, count: usize) -> String {
        let Self { seed, message, public_key, secret_key, signature, .. } = self;
        format!(
            "count = {count}\nseed = {}\nmlen = {}\nmsg = {}\npk = {}\nsk = {}\nsmlen = {}\nsm = {}{}\n",
            hex::encode_upper(seed),
            message.len(),
            hex::encode_upper(message),
            hex::encode_upper(public_key),
            hex::encode_upper(secret_key),
            signature.len() + message.len(),
            hex::encode_upper(signature),
            hex::encode_upper(message),
        )
    }
}

/// Does not show the secret key, nor the seed and the randomizer, which tell as much.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, public_key, signature, .. } = self;
        f.debug_struct("Record")
            .field("message", message)
            .field("public_key", public_key)
            .field("signature", signature)
            .finish_non_exhaustive()
    }
}

/// Makes the records of a set on a backend, one by one. Verifies each signature, and makes and
/// verifies it a second time with expanded keys.
///
/// An item is an error if signing or verifying fails, or if expanded keys give another signature.
pub fn records(algorithm: Algorithm, backend: DetectedBackend) -> impl Iterator<Item = Result<Record, Error>> {
    let mut seeds = Drbg::new(&core::array::from_fn(|i| i as u8));
    (0..RECORDS).map(move |i| {
        let mut seed = [0; 48];
        let mut message = vec![0; 33 * (i + 1)];
        seeds.fill(&mut seed);
        seeds.fill(&mut message);
        aioli::with_set!(algorithm, P => record::<P>(backend, seed, message))
    })
}

/// The record of a seed and a message.
fn record<P: ParameterSet>(backend: DetectedBackend, seed: [u8; 48], message: Vec<u8>) -> Result<Record, Error> {
    let mut random = Drbg::new(&seed);
    let mut secret_key = vec![0; P::SECRET_KEY_BYTES];
    random.fill(&mut secret_key);
    let mut randomizer = vec![0; P::SALT_BYTES];
    random.fill(&mut randomizer);

    let key = SigningKey::<P>::try_from(&secret_key[..])?;
    let public_key: VerifyingKey<P> = hazmat::verifying_key(backend, &key);
    let digest = MessageDigest::of(&message);
    let signature: Signature<P> = hazmat::sign(backend, &key, &digest, &randomizer)?;
    hazmat::verify(backend, &public_key, &digest, &signature)?;
    let expanded = hazmat::expand_signing_key(backend, &key);
    if hazmat::sign_expanded(backend, &expanded, &digest, &randomizer)? != signature {
        return Err(Error::InvalidSignature);
    }
    hazmat::verify_expanded(backend, &hazmat::expand_verifying_key(backend, &public_key), &digest, &signature)?;
    Ok(Record {
        seed,
        message,
        public_key: public_key.as_ref().to_vec(),
        secret_key,
        randomizer,
        signature: signature.as_ref().to_vec(),
    })
}

/// The heading of a set's file.
pub fn heading(algorithm: Algorithm) -> String {
    match algorithm.round() {
        Round::Three => format!("# {}\n\n", algorithm.set_name().replace('_', "-")),
        Round::Two => format!("# {}\n\n", algorithm.set_name()),
    }
}

/// The name under which a set's file is published.
pub fn file_name(algorithm: Algorithm) -> String {
    format!("PQCsignKAT_{}_{}.rsp", algorithm.secret_key_bytes(), algorithm.name())
}

/// SHA-256 digests of a set's file, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    /// The digest of the file of 100 records.
    pub file: String,
    /// The digest of the first record alone, which liboqs and MAYO-C publish.
    pub first_record: String,
}

/// Regenerates a set's file on a backend and digests it. `write` receives the file piece by piece.
///
/// # Errors
///
/// The errors of [`records`] and of `write`.
pub fn regenerate<E: From<Error>>(
    algorithm: Algorithm,
    backend: DetectedBackend,
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<Digests, E> {
    let mut file = Sha256::new();
    let mut first_record = String::new();
    let mut put = |text: &str| {
        file.update(text);
        write(text)
    };
    put(&heading(algorithm))?;
    for (i, record) in records(algorithm, backend).enumerate() {
        let text = record?.text(i);
        if i == 0 {
            first_record = hex::encode(Sha256::digest(&text));
        }
        put(&text)?;
        put("\n")?;
    }
    Ok(Digests { file: hex::encode(file.finalize()), first_record })
}

/// The digests of the official files.
///
/// For round 3, the digests of whole files come from the executable specification, whose first
/// records agree with the official ones.
pub fn official(algorithm: Algorithm) -> Digests {
    let (file, first_record) = match algorithm {
        Algorithm::Mayo1 => (
            "4b25af7e1aadcf28831abe0627170b39cf45f603ced5a52ba2e0655d7e638497",
            "860cb113d7f5d7c8cb34d8f2a4845eea3480d6a0add3c8aada3186061c9e1288",
        ),
        Algorithm::Mayo2 => (
            "a4776e43ec93464a190d719ac9328873c034b9f4489c8835b169a59354367a9e",
            "fd06cbf912ccf0d146760cb539149d536ac52c73192ad2fcd7957a3bc844cb69",
        ),
        Algorithm::Mayo3 => (
            "aa4b05c9f6b974ec3ad0f73bcbd4785c170786ed9f04d5ff02c38847344ff584",
            "c53b5f752f39b23b10d0e173f5853549e2e80716e0257633407871c9950b990f",
        ),
        Algorithm::Mayo5 => (
            "7ab823a8282c2ff56a65e46c686707b74c239223f6dad9d2f023568cfb603a51",
            "4bfe37eca0e02b69c3c41da84023f414c9a5b54df104da0792cea54facbc6d94",
        ),
        Algorithm::Mayo1Round2 => (
            "4e56d600d7c0027952dd40725cb9ff05c0b5b10550dcdd72b17ce904f70e86de",
            "178adb997203ae0512b1bd6fa4a5cfae25805d88aeb0ce5226981423153418ee",
        ),
        Algorithm::Mayo2Round2 => (
            "a68435c4f30e4b0ed64ce8c82eb1d732fbad91399accf3416409542e57bdc966",
            "777df9b41af1a58536ef76d483775b5c8389ff991e70652fa3af803770a5fce3",
        ),
        Algorithm::Mayo3Round2 => (
            "6727eb49619fd83f22882b767622e2328e1f6b45fc34fcf320d9a5105a70f06d",
            "af940f5cd678bde08f452d3ee7e831ec1a2269715579c604ae699069b6fd9c15",
        ),
        Algorithm::Mayo5Round2 => (
            "828e5c3e0632f03a2a3d25fe552a29b0a1372b7e7327d4a56ed0bb24696930ac",
            "9a2ede41913131ab479c2581a1a8e86b97222d800aeb16bf67f6163481f2d587",
        ),
    };
    Digests { file: file.into(), first_record: first_record.into() }
}

/// NIST's generator for known answers: CTR_DRBG with AES-256, without derivation function and
/// personalisation string (SP 800-90A, 10.2.1).
struct Drbg {
    key: [u8; 32],
    v: u128,
}

impl Drbg {
    fn new(seed: &[u8; 48]) -> Self {
        let mut drbg = Self { key: [0; 32], v: 0 };
        drbg.update(seed);
        drbg
    }

    /// CTR_DRBG_Generate: the next bytes.
    fn fill(&mut self, out: &mut [u8]) {
        self.blocks(out);
        self.update(&[0; 48]);
    }

    /// Encrypts the counter, which steps before each block.
    fn blocks(&mut self, out: &mut [u8]) {
        let cipher = aes::Aes256::new(&Array(self.key));
        for chunk in out.chunks_mut(16) {
            self.v = self.v.wrapping_add(1);
            let mut block = Array(self.v.to_be_bytes());
            cipher.encrypt_block(&mut block);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }

    /// CTR_DRBG_Update: replaces key and counter.
    fn update(&mut self, data: &[u8; 48]) {
        let mut state = [0; 48];
        self.blocks(&mut state);
        state.iter_mut().zip(data).for_each(|(state, data)| *state ^= data);
        self.key.copy_from_slice(&state[..32]);
        self.v = u128::from_be_bytes(core::array::from_fn(|i| state[32 + i]));
    }
}
