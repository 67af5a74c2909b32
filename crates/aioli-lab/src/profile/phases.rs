//! Names for the calls that a probe has noted, and the hashing of the message, which a probe cannot
//! see.

use super::probe::{Call, Kernel};
use aioli::params::ParameterSet;
use shake::digest::{ExtendableOutput, Update, XofReader};

/// The operations that are profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Keygen,
    Sign,
    Verify,
}

impl Operation {
    pub(super) const ALL: [Self; 3] = [Self::Keygen, Self::Sign, Self::Verify];

    /// The name in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Keygen => "keygen",
            Self::Sign => "sign",
            Self::Verify => "verify",
        }
    }
}

/// The time of each phase, in the order of first appearance; the calls of a phase are added up.
///
/// Shapes identify the left products. A call of `vectorize` whips if it follows the last product
/// with the public map; an earlier one transposes and adds m-vectors.
pub(super) fn phases<P: ParameterSet>(operation: Operation, calls: &[Call]) -> Vec<(&'static str, u64)> {
    let mut phases: Vec<(&'static str, u64)> = Vec::new();
    let mut last_product = "";
    for call in calls {
        let name = match call.kernel {
            Kernel::Product { left_rows, count, step } => {
                last_product = product::<P>(operation, left_rows, count, step);
                last_product
            }
            Kernel::KeyStream { bytes } if bytes == P::P_BYTES => EXPAND_P,
            Kernel::KeyStream { .. } => "expand lambda",
            Kernel::Hash => HASHING,
            Kernel::Solve => "solve",
            Kernel::Vectorize if [V_Q, S_T].contains(&last_product) => "whip",
            Kernel::Vectorize => "transpose and add",
        };
        match phases.iter_mut().find(|(found, _)| *found == name) {
            Some((_, ticks)) => *ticks += call.ticks,
            None => phases.push((name, call.ticks)),
        }
    }
    phases
}

/// The name of a left product, in the letters of `docs/one-pass.md`.
fn product<P: ParameterSet>(operation: Operation, left_rows: usize, count: usize, step: usize) -> &'static str {
    let triangle = step > 0;
    match operation {
        Operation::Keygen if triangle => O_P1,
        Operation::Keygen => "O^T Q",
        Operation::Verify if triangle && count == P::V => S_P1,
        Operation::Verify if triangle => S_P3,
        Operation::Verify if count == P::V => S_P2,
        Operation::Verify => S_T,
        Operation::Sign if triangle && left_rows == P::K + P::O => VO_P1,
        Operation::Sign if triangle => "V P1 (again)",
        Operation::Sign if left_rows == P::K + P::O => "[V; O^T] [T | lambda]",
        // This comes before V Q, since A can have as many columns as Q has rows.
        Operation::Sign if left_rows == 1 => "A r",
        Operation::Sign if count == P::V => V_Q,
        Operation::Sign => "O x",
    }
}

/// The calls of SHAKE256 outside of the contract in an operation on a message, as pairs of bytes in
/// and bytes out.
pub(super) fn hashes<P: ParameterSet>(operation: Operation, message_bytes: usize) -> Vec<(usize, usize)> {
    match operation {
        Operation::Keygen => Vec::new(),
        Operation::Sign | Operation::Verify => vec![(message_bytes, P::DIGEST_BYTES)],
    }
}

/// Repeats such calls, by the same crate as the library.
pub(super) fn replay(hashes: &[(usize, usize)], out: &mut [u8]) {
    let input = [0x5a; 256];
    for &(bytes_in, bytes_out) in hashes {
        let mut hasher = shake::Shake256::default();
        hasher.update(&input[..bytes_in]);
        hasher.finalize_xof().read(&mut out[..bytes_out]);
    }
}

pub(super) const HASHING: &str = "hashing";
pub(super) const EXPAND_P: &str = "expand P";
pub(super) const O_P1: &str = "O^T P1";
pub(super) const VO_P1: &str = "[V; O^T] P1";
const V_Q: &str = "V Q";
pub(super) const S_P1: &str = "S P1";
pub(super) const S_P2: &str = "S P2";
pub(super) const S_P3: &str = "S P3";
pub(super) const S_T: &str = "S [T | lambda]";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::probe::{Probe, calls_of};
    use crate::techniques::Technique;
    use aioli::backend::BackendKind;
    use aioli::hazmat::on;
    use aioli::{MessageDigest, SigningKey, round2, round3};

    fn names<P: ParameterSet>(operation: Operation, calls: &[Call]) -> Vec<&'static str> {
        let mut names: Vec<_> = phases::<P>(operation, calls).into_iter().map(|(name, _)| name).collect();
        // The order of the phases does not matter.
        names.sort_unstable();
        names
    }

    fn every_pass_has_its_own_name<P: ParameterSet>(seed: u8) {
        let b = Probe(Technique::library(BackendKind::Portable).token().unwrap());
        let key = SigningKey::<P>::try_from(&vec![seed; P::SECRET_KEY_BYTES][..]).unwrap();
        let digest = MessageDigest::of(b"message");
        let (calls, total, public_key) = calls_of(|| on::verifying_key(b, &key));
        assert!(calls.iter().map(|call| call.ticks).sum::<u64>() <= total);
        let products = ["O^T P1", "O^T Q", "expand P", "hashing", "transpose and add"];
        assert_eq!(names::<P>(Operation::Keygen, &calls), products);

        let (calls, _, signature) = calls_of(|| on::sign(b, &key, &digest, &vec![0; P::SALT_BYTES], 256).unwrap());
        let mut expected = vec![
            "hashing",
            "expand P",
            "expand lambda",
            "[V; O^T] P1",
            "transpose and add",
            "[V; O^T] [T | lambda]",
            "V Q",
            "whip",
            "A r",
            "solve",
            "O x",
        ];
        expected.retain(|name| P::LINEAR || *name != "expand lambda");
        expected.sort_unstable();
        let mut found = names::<P>(Operation::Sign, &calls);
        // This phase appears only if the first vinegar sample fails, which is rare.
        found.retain(|name| *name != "V P1 (again)");
        assert_eq!(found, expected);
        // Two calls whip the map and the system; at least three copy and add before them.
        let vectorized = calls.iter().filter(|call| call.kernel == Kernel::Vectorize).count();
        assert!(vectorized >= 5, "{vectorized}");

        let (calls, _, verified) = calls_of(|| on::verify(b, &public_key, &digest, &signature));
        verified.unwrap();
        let mut expected = vec![
            "hashing",
            "expand P",
            "expand lambda",
            "S P1",
            "S P2",
            "S P3",
            "transpose and add",
            "S [T | lambda]",
            "whip",
        ];
        expected.retain(|name| P::LINEAR || *name != "expand lambda");
        expected.sort_unstable();
        assert_eq!(names::<P>(Operation::Verify, &calls), expected);
    }

    #[test]
    fn passes_of_sets_whose_shapes_are_close() {
        every_pass_has_its_own_name::<round3::Mayo1>(1);
        every_pass_has_its_own_name::<round3::Mayo2>(2);
        every_pass_has_its_own_name::<round3::Mayo5>(3);
        every_pass_has_its_own_name::<round2::Mayo2>(4);
    }

    #[test]
    fn calls_of_a_phase_are_added_up() {
        let product = Kernel::Product { left_rows: 8, count: 80, step: 40 };
        let calls = [(Kernel::Vectorize, 5), (product, 100), (Kernel::Vectorize, 7)];
        let calls = calls.map(|(kernel, ticks)| Call { kernel, ticks });
        let found = phases::<round3::Mayo1>(Operation::Keygen, &calls);
        assert_eq!(found, [("transpose and add", 12), ("O^T P1", 100)]);
    }

    #[test]
    fn the_message_is_hashed_outside_of_the_contract() {
        assert_eq!(hashes::<round3::Mayo1>(Operation::Keygen, 32), []);
        assert_eq!(hashes::<round2::Mayo2>(Operation::Verify, 32), [(32, 32)]);
        let mut out = [0; 512];
        replay(&[(256, 3), (0, 4)], &mut out);
        // SHAKE256 of nothing begins with 46b9dd2b.
        assert_eq!(hex::encode(&out[..4]), "46b9dd2b");
    }
}
