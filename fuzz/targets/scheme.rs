//! The scheme from a seed, a randomizer and a message: every backend, compact and expanded keys,
//! and the caller's memory give the same key, the same signature and the same verdicts.
#![no_main]

use aioli::backend::{Backend, Portable};
use aioli::hazmat::{in_place, on};
use aioli::params::ByteArray;
use aioli::{Error, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, with_set};
use aioli_fuzz::{on_every_backend, require_backends};
use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: require_backends(), |data: &[u8]| -> Corpus {
    let mut input = Unstructured::new(data);
    let Ok(set) = aioli_fuzz::set(&mut input) else { return Corpus::Reject };
    match with_set!(set, P => run::<P>(&mut input)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

/// The inputs of all operations.
struct Given<'a, P: ParameterSet> {
    seed: P::SecretKeyBytes,
    randomizer: &'a [u8],
    digest: MessageDigest<P>,
    /// The columns at a time, and the window (255: the largest), of the operations on the
    /// caller's memory.
    width: u8,
    window: u8,
    /// The value that is added to a byte of the signature, and the place of that byte.
    flip: (u16, u8),
}

/// The results of all operations.
#[derive(Debug, PartialEq)]
struct Results<P: ParameterSet> {
    key: VerifyingKey<P>,
    signature: Signature<P>,
    /// The verdict on the signature after the flip.
    flipped: Result<(), Error>,
}

fn run<P: ParameterSet>(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let mut seed = P::SecretKeyBytes::ZERO;
    input.fill_buffer(seed.as_mut())?;
    let (width, window) = Arbitrary::arbitrary(input)?;
    let flip = Arbitrary::arbitrary(input)?;
    let randomizer = input.bytes(P::SALT_BYTES)?;
    let digest = MessageDigest::of(input.bytes(input.len())?);
    let given = Given::<P> { seed, randomizer, digest, width, window, flip };
    let portable = on_backend(Portable::new(), &given);
    on_every_backend!(|b| {
        assert_eq!(on_backend(b, &given), portable, "{} and portable, {}", name(b), P::ALGORITHM);
    });
    Ok(())
}

fn on_backend<P: ParameterSet, B: Backend>(b: B, given: &Given<'_, P>) -> Results<P> {
    let digest = &given.digest;
    let secret = SigningKey::<P>::from_seed(given.seed);
    let key = on::verifying_key(b, &secret);
    let signature = on::sign(b, &secret, digest, given.randomizer, 256).expect("256 samples suffice");
    let expanded = on::expand_signing_key(b, &secret);
    let by_expanded = on::sign_expanded(b, &expanded, digest, given.randomizer, 256);
    assert_eq!(by_expanded.as_ref(), Ok(&signature), "the expanded key, {} on {}", P::ALGORITHM, B::NAME);

    let mut tampered = signature.as_ref().to_vec();
    let at = usize::from(given.flip.0) % tampered.len();
    tampered[at] ^= given.flip.1;
    let tampered = Signature::<P>::try_from(&tampered[..]).expect("the length of a signature");
    let expanded = on::expand_verifying_key(b, &key);
    let [valid, flipped] = [&signature, &tampered].map(|signature| {
        let verdict = on::verify(b, &key, digest, signature);
        let by_expanded = on::verify_expanded(b, &expanded, digest, signature);
        assert_eq!(by_expanded, verdict, "the expanded key, {} on {}", P::ALGORITHM, B::NAME);
        verdict
    });
    assert_eq!(valid, Ok(()), "a signature is valid, {} on {}", P::ALGORITHM, B::NAME);
    let results = Results { key, signature, flipped };
    assert_eq!(in_memory(b, given, &tampered), results, "the caller's memory, {} on {}", P::ALGORITHM, B::NAME);
    results
}

/// The same results from the operations on the caller's memory.
fn in_memory<P: ParameterSet, B: Backend>(b: B, given: &Given<'_, P>, tampered: &Signature<P>) -> Results<P> {
    let least = in_place::min_window::<P>();
    let share = |of: usize, share: u8| of * usize::from(share) / 255;
    let mut window = vec![0xa5; least + share(P::P_BYTES - least, given.window)];
    let width = 1 + share(P::V - 1, given.width);
    let mut memory = vec![0xa5; in_place::keygen_memory::<P>(width)];
    let key = in_place::keygen::<P, B>(b, &given.seed, &mut window, &mut memory).expect("memory for a key");
    let mut memory = vec![0xa5; in_place::sign_memory::<P>(width)];
    let randomizer = Some(given.randomizer);
    let signature = in_place::sign(b, &given.seed, &given.digest, randomizer, &mut window, &mut memory);
    let signature = signature.expect("256 samples suffice");
    let mut memory = vec![0xa5; in_place::verify_memory::<P>(P::O + share(P::N - P::O, given.width))];
    let mut verdict = |signature| in_place::verify::<P, B>(b, &key, &given.digest, signature, &mut window, &mut memory);
    assert_eq!(verdict(&signature), Ok(()), "a signature is valid, {} on {}", P::ALGORITHM, B::NAME);
    let flipped = verdict(tampered);
    Results { key: VerifyingKey::try_from(key.as_ref()).expect("the length of a public key"), signature, flipped }
}

fn name<B: Backend>(_: B) -> &'static str {
    B::NAME
}
