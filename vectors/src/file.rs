//! A file of test vectors, and its text.

use aioli::{Algorithm, Round};
use serde::Serialize;
use std::collections::BTreeMap;

/// Groups of tests; those of a group share a key.
pub(crate) struct File {
    pub(crate) name: String,
    /// The purpose of the file.
    pub(crate) header: &'static str,
    pub(crate) groups: Vec<Group>,
}

impl File {
    /// The JSON of the file, one test a line. Numbers the tests from 1.
    pub(crate) fn text(&self) -> String {
        let tests = || self.groups.iter().flat_map(|group| &group.tests);
        let notes: BTreeMap<Flag, Note> = (tests().flat_map(|test| &test.flags))
            .map(|&flag| (flag, Note { description: flag.description() }))
            .collect();
        let notes = notes.iter().map(|(flag, note)| format!("\n{}: {}", json(flag), json(note)));
        let mut numbers = 1..;
        let groups = self.groups.iter().map(|group| {
            let tests = group.tests.iter().zip(&mut numbers).map(|(test, tc_id)| {
                let test = Numbered { tc_id, test };
                format!("\n{}", json(&test))
            });
            let tests: Vec<_> = tests.collect();
            // The list of tests is the last field, so the object is opened again before it.
            let fields = json(&group.fields);
            format!("\n{}, \"tests\": [{}\n]}}", fields.trim_end_matches('}'), tests.join(","))
        });
        let groups: Vec<_> = groups.collect();
        format!(
            "{{\n\"algorithm\": \"MAYO\",\n\"schema\": \"schema.json\",\n\"header\": [{}],\n\"numberOfTests\": {},\n\
             \"notes\": {{{}\n}},\n\"testGroups\": [{}\n]\n}}\n",
            json(&self.header),
            tests().count(),
            notes.collect::<Vec<_>>().join(","),
            groups.join(",")
        )
    }
}

/// Tests with one key.
pub(crate) struct Group {
    fields: Fields,
    tests: Vec<Test>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    r#type: &'static str,
    /// The name in this repository, which tells the round too.
    set: &'static str,
    /// The name in the specification, which does not.
    parameter_set: &'static str,
    round: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

impl Group {
    pub(crate) fn new(r#type: &'static str, algorithm: Algorithm) -> Self {
        let round = match algorithm.round() {
            Round::Two => 2,
            Round::Three => 3,
        };
        let fields = Fields {
            r#type,
            set: algorithm.name(),
            parameter_set: algorithm.set_name(),
            round,
            seed: None,
            public_key: None,
        };
        Self { fields, tests: Vec::new() }
    }

    pub(crate) fn seed(mut self, seed: &[u8]) -> Self {
        self.fields.seed = Some(hex::encode(seed));
        self
    }

    pub(crate) fn public_key(mut self, key: &[u8]) -> Self {
        self.fields.public_key = Some(hex::encode(key));
        self
    }

    pub(crate) fn push(&mut self, test: Test) {
        self.tests.push(test);
    }
}

/// The fields of a test; those that a kind of test does not have are left out of the JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Test {
    comment: String,
    flags: Vec<Flag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    randomizer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sig: Option<String>,
    #[serde(flatten)]
    variants: Option<Variants>,
    #[serde(flatten)]
    key: Option<Key>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passphrase: Option<String>,
    result: Verdict,
}

impl Test {
    pub(crate) fn new(result: Verdict, flags: &[Flag], comment: impl Into<String>) -> Self {
        Self {
            comment: comment.into(),
            flags: flags.to_vec(),
            msg: None,
            randomizer: None,
            sig: None,
            variants: None,
            key: None,
            passphrase: None,
            result,
        }
    }

    pub(crate) fn signed(mut self, msg: &[u8], sig: &[u8]) -> Self {
        self.msg = Some(hex::encode(msg));
        self.sig = Some(hex::encode(sig));
        self
    }

    pub(crate) fn randomizer(mut self, randomizer: &[u8]) -> Self {
        self.randomizer = Some(hex::encode(randomizer));
        self
    }

    pub(crate) fn variants(mut self, variants: Variants) -> Self {
        self.variants = Some(variants);
        self
    }

    pub(crate) fn key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    pub(crate) fn passphrase(mut self, passphrase: &str) -> Self {
        self.passphrase = Some(passphrase.into());
        self
    }
}

/// Many tests in one: each number changes the signature or the public key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Variants {
    /// Lengths to cut it to, or to extend it to with zero bytes.
    SigLengths(Vec<usize>),
    KeyLengths(Vec<usize>),
    /// Bits to flip, bit 0 being the lowest of the first byte.
    SigBits(Vec<usize>),
    KeyBits(Vec<usize>),
}

/// A key in one of its encodings: bytes in hexadecimal, or text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Key {
    Raw(String),
    Der(String),
    Pem(String),
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Verdict {
    Valid,
    Invalid,
}

/// The reason for a test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Flag {
    AioliReads,
    AioliRefuses,
    BitFlip,
    CostLimit,
    Deterministic,
    Encrypted,
    KeyBitFlip,
    KeyLength,
    Malformed,
    MessageLength,
    Order,
    Passphrase,
    PublicKeyMismatch,
    SeveralSamples,
    SignatureLength,
    UnusedNibbles,
    Valid,
    WrongKey,
    WrongMessage,
    WrongRound,
    WrongSet,
    ZeroBytes,
    ZeroPublicKey,
    ZeroSignature,
}

impl Flag {
    fn description(self) -> &'static str {
        match self {
            Self::AioliReads => "A form that others may refuse. Aioli reads it.",
            Self::AioliRefuses => "A form that others may read. Aioli refuses it.",
            Self::BitFlip => {
                "One bit of a valid signature is flipped: the lowest and the highest bit of the elements at the borders \
                 of s_i, of its vinegar and oil parts, and of the salt."
            }
            Self::CostLimit => {
                "The file asks for more work or memory than aioli grants: 256 MiB, about a second of scrypt, or \
                 2,000,000 iterations of PBKDF2. The refusal must come at once."
            }
            Self::Deterministic => {
                "The randomizer is the one that aioli derives for deterministic signatures \
                 (hazmat::derive_randomizer), so its deterministic signature is this one."
            }
            Self::Encrypted => "An encrypted private key and its passphrase.",
            Self::KeyBitFlip => "One bit of the public key is flipped.",
            Self::KeyLength => "The key does not have the length of its set.",
            Self::Malformed => "The structure of the file is damaged or not the one of such a key.",
            Self::MessageLength => "The empty message, a block of SHAKE256, and a long message.",
            Self::Order => "The parts of a valid signature in another order.",
            Self::Passphrase => "The passphrase is wrong or missing.",
            Self::PublicKeyMismatch => "The public key beside the seed is not the seed's.",
            Self::SeveralSamples => "The system of the first vinegar sample has no solution: signing must go on.",
            Self::SignatureLength => "A valid signature is cut, or extended by zero bytes.",
            Self::UnusedNibbles => {
                "O, the first vinegar vector and r have an odd number of elements, and the hash has a non-zero value \
                 in the nibble behind the last one. It must be ignored."
            }
            Self::Valid => "An ordinary valid case.",
            Self::WrongKey => "A valid signature of another key.",
            Self::WrongMessage => "A valid signature of another message.",
            Self::WrongRound => {
                "A valid signature of the same seed and message in the other round of MAYO. For MAYO_3 and MAYO_5 the \
                 public key is the same in both rounds."
            }
            Self::WrongSet => "A valid signature of another set, cut or extended to the length of this one.",
            Self::ZeroBytes => "A valid signature that begins or ends with a zero byte.",
            Self::ZeroPublicKey => {
                "The public key is all zero. Anyone can sign under it, but the specification does not exclude it, so \
                 valid signatures are valid."
            }
            Self::ZeroSignature => "The signature, or its vectors alone, or its salt alone, is all zero.",
        }
    }
}

#[derive(Serialize)]
struct Note {
    description: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Numbered<'a> {
    tc_id: usize,
    #[serde(flatten)]
    test: &'a Test,
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, numbers and lists")
}
