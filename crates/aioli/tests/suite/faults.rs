//! Faults while a signature is made, as `docs/faults.md` lists them: none is released by signing
//! that is checked, compact, expanded or on the caller's memory.
//!
//! A backend strikes once: it leaves out or changes one step of the scheme.

use crate::one_seed::{oil_from_difference, oil_of};
use crate::random::Random;
use aioli::backend::{Backend, Portable};
use aioli::hazmat::{in_place, on};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use aioli::{
    Algorithm, Error, ExpandedSigningKey, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, any,
    with_set,
};
use signature::{Signer, Verifier};
use std::cell::Cell;
use std::marker::PhantomData;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The SHAKE256 of V and r writes nothing.
    SkippedHash,
    /// V is not decoded: the products see zeros.
    SkippedDecoding,
    /// All of V and r is one byte.
    ConstantV,
    /// v_1 is v_0.
    EqualRows,
    /// A r is not added to y.
    SkippedAddition,
    /// O x_i is not added to v_i.
    VinegarAlone,
    /// O x_i takes the place of v_i.
    OilAlone,
    /// One bit of x is flipped.
    FlippedX,
    /// V is zero.
    ZeroV,
    /// The last v_i is zero.
    ZeroRow,
    /// The first half of the last v_i is what the memory held before.
    HalfRow,
    /// V does not depend on the message.
    RepeatedV,
    /// One bit of O is flipped before it is used.
    FlippedO,
    /// One bit of t is flipped.
    FlippedT,
}

impl Fault {
    /// All of them; the first eight are those that must be answered.
    const ALL: [Self; 14] = [
        Self::SkippedHash,
        Self::SkippedDecoding,
        Self::ConstantV,
        Self::EqualRows,
        Self::SkippedAddition,
        Self::VinegarAlone,
        Self::OilAlone,
        Self::FlippedX,
        Self::ZeroV,
        Self::ZeroRow,
        Self::HalfRow,
        Self::RepeatedV,
        Self::FlippedO,
        Self::FlippedT,
    ];

    /// The outcome where the signature is not checked.
    fn unchecked(self) -> Unchecked {
        match self {
            Self::SkippedHash | Self::ConstantV | Self::EqualRows | Self::ZeroV | Self::ZeroRow => Unchecked::Refused,
            Self::HalfRow | Self::RepeatedV => Unchecked::Valid,
            _ => Unchecked::Invalid,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Unchecked {
    Refused,
    Valid,
    Invalid,
}

/// The portable backend with a fault.
struct Faulty<P>(Fault, Portable, PhantomData<P>);

impl<P> Faulty<P> {
    fn new(fault: Fault) -> Self {
        STRUCK.set(false);
        SIGNED.set(false);
        Self(fault, Portable::new(), PhantomData)
    }

    /// Whether this is the fault, at the first step that it can strike.
    fn strikes(&self, fault: Fault) -> bool {
        self.0 == fault && !STRUCK.replace(true)
    }
}

thread_local! {
    /// Whether the fault has struck.
    static STRUCK: Cell<bool> = const { Cell::new(false) };
    /// Whether V has entered s: whatever is multiplied then belongs to the check.
    static SIGNED: Cell<bool> = const { Cell::new(false) };
}

impl<P> Clone for Faulty<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Faulty<P> {}

impl<P: ParameterSet> Faulty<P> {
    /// Applies the fault to a hash that has the length of V and r.
    fn disturb_vinegar(&self, before: &[u8], hash: &mut [u8]) {
        let v = P::K * P::V_BYTES;
        let last = v - P::V_BYTES;
        if self.strikes(Fault::SkippedHash) {
            hash.copy_from_slice(before);
        }
        if self.strikes(Fault::ConstantV) {
            hash.fill(0x39);
        }
        if self.strikes(Fault::EqualRows) {
            hash.copy_within(..P::V_BYTES, P::V_BYTES);
        }
        if self.strikes(Fault::ZeroV) {
            hash.fill(0);
        }
        if self.strikes(Fault::ZeroRow) {
            hash[last..v].fill(0);
        }
        if self.strikes(Fault::HalfRow) {
            hash[last..last + 20].copy_from_slice(&before[last..last + 20]);
        }
        if self.strikes(Fault::RepeatedV) {
            Random::new("the same V for every message").fill(hash);
        }
    }

    /// The left operand of a product, with V at zero if V was not decoded.
    fn disturb_left(&self, left: Coefficients<'_>) -> Option<Vec<u8>> {
        let is_vo = left.rows() == P::K + P::O || left.rows() == P::K;
        if self.0 != Fault::SkippedDecoding || !is_vo || SIGNED.get() {
            return None;
        }
        STRUCK.set(true);
        let columns = (0..left.columns()).map(|i| left.of_row(i));
        Some(columns.flat_map(|column| (0..left.rows()).map(|l| if l < P::K { 0 } else { column[l] })).collect())
    }
}

impl<P: ParameterSet> Backend for Faulty<P> {
    const NAME: &'static str = "faulty";

    const REGISTER: usize = Portable::REGISTER;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
        let shape = (left.rows(), left.columns(), right.row_bytes());
        if shape == (1, P::K * P::O, P::M_BYTES) && self.strikes(Fault::SkippedAddition) {
            return;
        }
        if shape == (P::K, P::O, P::V_BYTES) {
            // s_i = v_i + O x_i.
            SIGNED.set(true);
            if self.strikes(Fault::VinegarAlone) {
                return;
            }
            if self.strikes(Fault::OilAlone) {
                out.bytes_mut().fill(0);
            }
        }
        match self.disturb_left(left) {
            Some(disturbed) => {
                self.1.left_product(Coefficients::new(&disturbed, left.rows(), left.rows()), right, out);
            }
            None => self.1.left_product(left, right, out),
        }
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        let disturbed = self.disturb_left(left);
        let left = disturbed.as_ref().map_or(left, |left_v| Coefficients::new(left_v, left.rows(), left.rows()));
        self.1.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        self.1.aes128_ctr(key, iv, first, out);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        let before: Vec<Vec<u8>> = outputs.iter().map(|output| output.to_vec()).collect();
        self.1.shake256(inputs, outputs);
        for (before, output) in before.iter().zip(outputs) {
            if output.len() == P::K * P::V_BYTES + P::R_BYTES {
                assert!(before.iter().all(|&byte| byte != 0), "{}: V begins without zeros", P::ALGORITHM);
                self.disturb_vinegar(before, output);
            }
            if output.len() == 16 + P::O_BYTES && self.strikes(Fault::FlippedO) {
                output[20] ^= 4;
            }
            if output.len() == if P::LINEAR { P::M_BYTES + 32 } else { P::M_BYTES } && self.strikes(Fault::FlippedT) {
                output[0] ^= 1;
            }
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        let solved = self.1.solve(columns, m, x);
        if self.strikes(Fault::FlippedX) {
            x[7] ^= 2;
        }
        solved
    }

    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        self.1.vectorize(f)
    }
}

/// A key, and a message whose first sample succeeds.
struct Case<P: ParameterSet> {
    key: SigningKey<P>,
    public_key: VerifyingKey<P>,
    expanded: ExpandedSigningKey<P>,
    digest: MessageDigest<P>,
    randomizer: Vec<u8>,
    /// Without a fault.
    signature: Signature<P>,
}

impl<P: ParameterSet> Case<P> {
    fn new(message: u8) -> Self {
        let key = SigningKey::<P>::generate_from_rng(&mut Random::new("faults")).unwrap();
        let randomizer = Random::new("randomizer").bytes(P::SALT_BYTES);
        let samples = (message..).step_by(16).map(|message| {
            let digest = MessageDigest::of(&[message]);
            (digest, on::sign(Portable::new(), &key, &digest, &randomizer, 1))
        });
        let (digest, signature) =
            samples.filter_map(|(digest, signature)| Some((digest, signature.ok()?))).next().unwrap();
        let (public_key, expanded) = (key.verifying_key(), key.expand());
        Self { key, public_key, expanded, digest, randomizer, signature }
    }

    /// The ways to sign without a check.
    fn unchecked(&self, fault: Fault) -> Vec<Result<Signature<P>, Error>> {
        let Self { key, expanded, digest, randomizer, .. } = self;
        let mut results = vec![struck(fault, |b| on::sign(b, key, digest, randomizer, 1))];
        // With an expanded key O is not hashed again.
        if fault != Fault::FlippedO {
            results.push(struck(fault, |b| on::sign_expanded(b, expanded, digest, randomizer, 1)));
        }
        results
    }

    /// The ways to sign with a check.
    fn checked(&self, fault: Fault) -> Vec<Result<Signature<P>, Error>> {
        let Self { key, public_key, expanded, digest, randomizer, .. } = self;
        let mut results = vec![struck(fault, |b| on::sign_checked(b, (key, public_key), digest, randomizer, 1))];
        results.push(struck(fault, |b| {
            if fault == Fault::FlippedO {
                // The wrong O of an expansion stays with the key.
                let expanded = on::expand_signing_key(b, key).checked(public_key);
                return on::sign_expanded(Portable::new(), &expanded, digest, randomizer, 1);
            }
            on::sign_expanded(b, &expanded.clone().checked(public_key), digest, randomizer, 1)
        }));
        // The smallest memory, and the largest. Trying all 256 samples there would take long.
        for (window, width) in [(in_place::min_window::<P>(), 1), (P::P_BYTES, P::V)] {
            let (window, memory) = (&mut vec![0; window], &mut vec![0; in_place::sign_memory::<P>(width)]);
            let keys = (key.as_seed(), public_key.as_bytes());
            if !exhausts::<P>(fault) {
                results
                    .push(struck(fault, |b| in_place::sign_checked(b, keys, digest, Some(randomizer), window, memory)));
            }
        }
        results
    }
}

/// Signs with a fault, which must strike.
fn struck<P: ParameterSet>(
    fault: Fault,
    sign: impl FnOnce(Faulty<P>) -> Result<Signature<P>, Error>,
) -> Result<Signature<P>, Error> {
    let result = sign(Faulty::new(fault));
    assert!(fault == Fault::None || STRUCK.get(), "{}: {fault:?} has struck", P::ALGORITHM);
    result
}

/// Whether no sample succeeds: in round 2 A is zero if V is.
fn exhausts<P: ParameterSet>(fault: Fault) -> bool {
    fault == Fault::SkippedDecoding && !P::LINEAR
}

fn no_fault_is_released<P: ParameterSet>() {
    let case = Case::<P>::new(0);
    for result in case.checked(Fault::None) {
        assert_eq!(result, Ok(case.signature), "{}: a check changes no signature", P::ALGORITHM);
    }
    for fault in Fault::ALL {
        for result in case.checked(fault) {
            let expected = if exhausts::<P>(fault) { Error::SamplesExhausted } else { Error::FaultDetected };
            assert_eq!(result.err(), Some(expected), "{}: {fault:?}", P::ALGORITHM);
        }
    }
}

#[test]
fn no_signature_with_a_fault_is_released() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => no_fault_is_released::<P>());
    }
}

/// Each fault is real: without the check, what is not refused is another signature.
fn unchecked_signing_releases<P: ParameterSet>() {
    let case = Case::<P>::new(0);
    for fault in Fault::ALL {
        for result in case.unchecked(fault) {
            let found = match result {
                Err(Error::SamplesExhausted) if exhausts::<P>(fault) => continue,
                Err(error) => {
                    assert_eq!(error, Error::FaultDetected);
                    Unchecked::Refused
                }
                Ok(signature) => {
                    assert_ne!(signature, case.signature, "{}: {fault:?}", P::ALGORITHM);
                    match case.public_key.verify_digest(&case.digest, &signature) {
                        Ok(()) => Unchecked::Valid,
                        Err(_) => Unchecked::Invalid,
                    }
                }
            };
            assert_eq!(found, fault.unchecked(), "{}: {fault:?}", P::ALGORITHM);
        }
    }
}

#[test]
fn without_the_check_a_v_that_was_not_sampled_is_refused_and_other_faults_are_released() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => unchecked_signing_releases::<P>());
    }
}

/// Two valid signatures with one V: their difference gives O.
fn a_repeated_v_gives_the_key_away<P: ParameterSet>() {
    let recovered = (0..8).any(|message| {
        let signed = [message, message + 8].map(|message| {
            let case = Case::<P>::new(message);
            let signature = case.unchecked(Fault::RepeatedV).remove(0).unwrap();
            assert_eq!(case.public_key.verify_digest(&case.digest, &signature), Ok(()));
            signature
        });
        let oil = oil_of(&Case::<P>::new(0).key);
        oil_from_difference::<P>(signed[0].as_ref(), signed[1].as_ref()).is_some_and(|found| found == oil)
    });
    // With fewer vectors than columns of O, one difference is not enough.
    assert_eq!(recovered, P::K >= P::O, "{}", P::ALGORITHM);
}

#[test]
fn two_valid_signatures_with_one_v_give_the_secret_key() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => a_repeated_v_gives_the_key_away::<P>());
    }
}

#[test]
fn a_checked_key_signs_for_its_own_public_key_alone() {
    for algorithm in Algorithm::ALL {
        let [key, other] = ["a key", "another"].map(|label| {
            let mut seed = vec![0; 40];
            Random::new(label).fill(&mut seed);
            with_set!(algorithm, P => any::SigningKey::from_bytes(algorithm, &seed[..P::SECRET_KEY_BYTES]).unwrap())
        });
        let checked = key.expand().checked(&key.verifying_key()).unwrap();
        let signature = checked.sign(b"a message").unwrap();
        assert_eq!(key.verifying_key().verify(b"a message", &signature), Ok(()), "{algorithm}");
        let mismatched = key.expand().checked(&other.verifying_key()).unwrap();
        assert_eq!(mismatched.sign(b"a message"), Err(Error::FaultDetected), "{algorithm}");
    }
    let [one, two] = [Algorithm::Mayo1, Algorithm::Mayo2].map(|set| any::SigningKey::generate(set).unwrap());
    let mismatch = Error::AlgorithmMismatch { expected: Algorithm::Mayo1, given: Algorithm::Mayo2 };
    assert_eq!(one.expand().checked(&two.verifying_key()).err(), Some(mismatch));
}

#[test]
fn the_traits_of_a_checked_key_check() {
    let [key, other] = [(); 2].map(|()| aioli::mayo2::SigningKey::generate().unwrap());
    let checked = key.expand().checked(&key.verifying_key());
    let signature: aioli::mayo2::Signature = checked.try_sign(b"a message").unwrap();
    assert!(key.verifying_key().verify(b"a message", &signature).is_ok());
    let signature = checked.clone().sign_deterministic(b"a message");
    assert_eq!(signature, key.sign_deterministic(b"a message"));
    let mismatched = key.expand().checked(&other.verifying_key());
    assert_eq!(mismatched.clone().sign_deterministic(b"a message"), Err(Error::FaultDetected));
    assert!(mismatched.try_sign(b"a message").is_err());
}
