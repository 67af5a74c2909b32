//! Key inspection: sizes are as specified, good signatures are accepted, corrupted ones refused.

use super::MESSAGE_BYTES;
use crate::peers::Implementation;
use crate::random::Random;
use crate::record::Label;
use crate::show::Table;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The findings about an implementation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inspection {
    pub(crate) algorithm: String,
    pub(crate) round: Option<u8>,
    pub(crate) implementation: String,
    /// Bytes in the public key, the secret key and the signature.
    bytes: [usize; 3],
    /// Whether these sizes are as specified.
    sizes: bool,
    accepts_good: bool,
    refuses_other_signature: bool,
    refuses_other_message: bool,
    refuses_other_key: bool,
}

impl Inspection {
    /// Whether everything is as it should be.
    pub(crate) fn is_good(&self) -> bool {
        self.sizes
            && self.accepts_good
            && self.refuses_other_signature
            && self.refuses_other_message
            && self.refuses_other_key
    }
}

/// Inspects an implementation.
///
/// # Errors
///
/// If it cannot make a key or sign, or if its sizes are not known here.
pub(crate) fn inspect(subject: &dyn Implementation) -> Result<Inspection> {
    let Label { implementation, set, round, .. } = subject.label();
    let specified = Sizes::of(&set, round).with_context(|| format!("no specified sizes for {set}"))?;
    let key = subject.keypair()?;
    let message = Random::bytes::<MESSAGE_BYTES>();
    let signature = subject.sign(&key, &message)?;
    // A bit is changed at the beginning, in the middle and at the end.
    let refuses = |bytes: &[u8], accepts: &dyn Fn(&[u8]) -> bool| {
        [0, bytes.len() / 2, bytes.len() - 1].into_iter().all(|at| {
            let mut corrupted = bytes.to_vec();
            corrupted[at] ^= 0x10;
            !accepts(&corrupted)
        })
    };
    Ok(Inspection {
        bytes: [key.public.len(), key.secret.len(), signature.len()],
        sizes: specified.fit(key.public.len(), key.secret.len(), signature.len()),
        accepts_good: subject.verify(&key.public, &message, &signature),
        refuses_other_signature: refuses(&signature, &|other| subject.verify(&key.public, &message, other)),
        refuses_other_message: refuses(&message, &|other| subject.verify(&key.public, other, &signature)),
        refuses_other_key: refuses(&key.public, &|other| subject.verify(other, &message, &signature)),
        algorithm: set,
        round,
        implementation,
    })
}

/// A table of all inspections.
pub(crate) fn table(inspections: &[Inspection]) -> Table {
    let header = [
        "algorithm",
        "implementation",
        "public key",
        "secret key",
        "signature",
        "sizes",
        "good signature",
        "other signature",
        "other message",
        "other key",
    ];
    let mut table = Table::new("Key inspection: bytes, and what verification says", header).folded();
    for found in inspections {
        let round = found.round.map_or(String::new(), |round| format!(" round {round}"));
        let says =
            |right: bool, expected: &str, wrong: &str| if right { expected.to_owned() } else { wrong.to_owned() };
        let mut row = vec![format!("{}{round}", found.algorithm), found.implementation.clone()];
        row.extend(found.bytes.map(|bytes| bytes.to_string()));
        row.push(says(found.sizes, "as specified", "WRONG"));
        row.push(says(found.accepts_good, "accepted", "REFUSED"));
        let refused = [found.refuses_other_signature, found.refuses_other_message, found.refuses_other_key];
        row.extend(refused.map(|refuses| says(refuses, "refused", "ACCEPTED")));
        if found.is_good() { table.row(row) } else { table.highlighted_row(row) }
    }
    table
}

/// Sizes by the specification, in bytes.
struct Sizes {
    public: usize,
    /// The allowed sizes: of the expanded key, or of the seed it is expanded from.
    secret: &'static [usize],
    signature: usize,
    /// Whether signatures may be shorter.
    varying: bool,
}

impl Sizes {
    fn of(algorithm: &str, round: Option<u8>) -> Option<Self> {
        let (_, _, public, secret, signature) =
            *SPECIFIED.iter().find(|(name, of_round, ..)| (*name, *of_round) == (algorithm, round))?;
        Some(Self { public, secret, signature, varying: algorithm.starts_with("Falcon") })
    }

    fn fit(&self, public: usize, secret: usize, signature: usize) -> bool {
        let signature =
            if self.varying { (1..=self.signature).contains(&signature) } else { signature == self.signature };
        public == self.public && self.secret.contains(&secret) && signature
    }
}

/// Algorithm, round of NIST's process, public key, secret keys, signature.
type Specified = (&'static str, Option<u8>, usize, &'static [usize], usize);

/// The sizes in the specifications, not in the inspected code: Falcon 1.2 (the longest compressed
/// signature, as in NIST's interface), FIPS 204, SPHINCS+ 3.1, RFC 8032, SEC 1 (uncompressed
/// points), MAYO.
const SPECIFIED: &[Specified] = &[
    ("Falcon-512", None, 897, &[1281], 752),
    ("Falcon-1024", None, 1793, &[2305], 1462),
    ("ML-DSA-44", None, 1312, &[2560, 32], 2420),
    ("ML-DSA-65", None, 1952, &[4032, 32], 3309),
    ("SPHINCS+-SHA2-128f", None, 32, &[64], 17088),
    ("Ed25519", None, 32, &[32], 64),
    ("ECDSA P-256", None, 65, &[32], 64),
    ("MAYO_1", Some(2), 1420, &[24], 454),
    ("MAYO_2", Some(2), 4912, &[24], 186),
    ("MAYO_3", Some(2), 2986, &[32], 681),
    ("MAYO_5", Some(2), 5554, &[40], 964),
    ("MAYO_1", Some(3), 1456, &[24], 464),
    ("MAYO_2", Some(3), 2928, &[24], 239),
    ("MAYO_3", Some(3), 2986, &[32], 681),
    ("MAYO_5", Some(3), 5554, &[40], 964),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Operation;
    use crate::peers::{self, Keypair};
    use aioli::Algorithm;
    use aioli::backend::DetectedBackend;

    #[test]
    fn everything_that_is_built_in_passes() {
        let inspected = peers::inspected().unwrap();
        assert!(inspected.len() + peers::NOT_BUILT_IN.len() >= 7 + Algorithm::ALL.len());
        for subject in inspected {
            let found = inspect(&*subject).unwrap();
            assert!(found.is_good(), "{found:?}");
        }
    }

    /// aioli with a mistake, named by the string.
    struct Planted(&'static str);

    impl Planted {
        fn inner() -> Box<dyn Implementation> {
            peers::aioli::implementation(Algorithm::Mayo1, DetectedBackend::best())
        }
    }

    impl Implementation for Planted {
        fn label(&self) -> Label {
            Self::inner().label()
        }

        fn keypair(&self) -> Result<Keypair> {
            let mut key = Self::inner().keypair()?;
            if self.0 == "sizes" {
                key.public.push(0);
            }
            Ok(key)
        }

        fn sign(&self, key: &Keypair, message: &[u8]) -> Result<Vec<u8>> {
            Self::inner().sign(key, message)
        }

        fn verify(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> bool {
            let found = Self::inner().verify(public_key, message, signature);
            match self.0 {
                "accepts all" => true,
                "refuses all" => false,
                _ => found,
            }
        }

        fn operations(&self) -> Result<Vec<Operation>> {
            Self::inner().operations()
        }
    }

    #[test]
    fn planted_mistakes_are_found() {
        let sound = inspect(&Planted("nothing")).unwrap();
        assert!(sound.is_good());
        assert!(!inspect(&Planted("sizes")).unwrap().sizes);
        let refusing = inspect(&Planted("refuses all")).unwrap();
        assert!(!refusing.accepts_good && refusing.refuses_other_key && !refusing.is_good());
        let gullible = inspect(&Planted("accepts all")).unwrap();
        assert!(gullible.accepts_good && gullible.sizes);
        assert!(!gullible.refuses_other_signature && !gullible.refuses_other_message && !gullible.refuses_other_key);
        assert!(!gullible.is_good());
        let rows = table(&[sound, gullible]).rows;
        assert_eq!(rows[0][6..], ["accepted", "refused", "refused", "refused"]);
        assert_eq!(rows[1][7..], ["ACCEPTED", "ACCEPTED", "ACCEPTED"]);
    }
}
