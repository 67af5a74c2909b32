//! The public interface: traits, streaming, texts of errors, threads, the caller's memory.

use crate::random::Random;
use aioli::backend::{Backend, BackendKind, DetectedBackend, Portable};
use aioli::params::ByteArray;
use aioli::{
    Algorithm, Error, ExpandedSigningKey, ExpandedVerifyingKey, MessageDigest, MessageHasher, ParameterSet, Signature,
    SigningKey, VerifyingKey, any, hazmat, with_set,
};
use signature::{
    Keypair, MultipartSigner, MultipartVerifier, RandomizedMultipartSigner, RandomizedSigner, SignatureEncoding,
    Signer, Verifier,
};
use std::io::Read;

const MESSAGE: &[u8] = b"one message in three parts";
const PARTS: &[&[u8]] = &[b"one message", b"", b" in three parts"];

fn key<P: ParameterSet>(label: &str) -> SigningKey<P> {
    SigningKey::generate_from_rng(&mut Random::new(format!("{label} {}", P::ALGORITHM))).unwrap()
}

/// A program that uses the traits of the `signature` crate alone.
fn generic_program<S: SignatureEncoding + PartialEq + std::fmt::Debug, K, V>(key: &K, verifier: &V)
where
    K: Signer<S> + RandomizedSigner<S> + MultipartSigner<S> + RandomizedMultipartSigner<S> + Keypair,
    K::VerifyingKey: Verifier<S> + MultipartVerifier<S>,
    V: Verifier<S> + MultipartVerifier<S>,
{
    let own = key.verifying_key();
    let random = || Random::new("generic program");
    let signatures = [
        key.sign(MESSAGE),
        key.multipart_sign(PARTS),
        key.sign_with_rng(&mut random(), MESSAGE),
        key.multipart_sign_with_rng(&mut random(), PARTS),
    ];
    for signature in &signatures {
        let decoded = S::try_from(signature.to_bytes().as_ref()).ok().expect("a signature's own encoding");
        assert_eq!(decoded, *signature);
        assert_eq!(signature.encoded_len(), signature.to_bytes().as_ref().len());
        assert!(own.verify(MESSAGE, &decoded).is_ok() && own.multipart_verify(PARTS, &decoded).is_ok());
        assert!(verifier.verify(MESSAGE, &decoded).is_ok() && verifier.multipart_verify(PARTS, &decoded).is_ok());
        assert!(own.verify(b"another", &decoded).is_err() && verifier.multipart_verify(&PARTS[1..], &decoded).is_err());
    }
    // The same randomness gives the same signature; the operating system's differs at every call.
    assert_eq!(signatures[2], signatures[3]);
    assert_ne!(signatures[0], signatures[1]);
    assert_ne!(signatures[0], signatures[2]);
}

macro_rules! for_all_sets {
    ($function:ident) => {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => $function::<P>());
        }
    };
}

fn traits<P: ParameterSet>()
where
    Signature<P>: SignatureEncoding,
{
    let key = key::<P>("traits");
    generic_program(&key, &key.verifying_key());
    generic_program(&key.expand(), &key.verifying_key().expand());
}

#[test]
fn the_traits_of_the_signature_crate_are_enough() {
    for_all_sets!(traits);
}

fn streaming<P: ParameterSet>() {
    let message = Random::new("streaming").bytes(100_000);
    let whole = MessageDigest::<P>::of(&message);
    assert_eq!(whole.as_ref().len(), P::DIGEST_BYTES);
    assert_eq!(MessageDigest::<P>::of_parts(&[&message[..1], &[], &message[1..]]), whole);
    for piece in [1, 135, 136, 137, 8192] {
        let mut hasher = MessageHasher::<P>::new();
        message.chunks(piece).for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finalize(), whole, "pieces of {piece} bytes");
    }
    let mut hasher = MessageHasher::<P>::default();
    hasher.update(&message[..10]);
    assert_eq!(hasher.update_from(&message[10..]).unwrap(), message.len() as u64 - 10);
    assert_eq!(hasher.finalize(), whole);
    let of_reader = any::MessageDigest::of_reader(P::ALGORITHM, &message[..]).unwrap();
    assert_eq!(of_reader.as_bytes(), whole.as_ref());

    let failing = (&message[..5000]).chain(Failing);
    assert_eq!(MessageHasher::<P>::new().update_from(failing).unwrap_err().kind(), std::io::ErrorKind::TimedOut);
}

/// A reader that fails.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::TimedOut.into())
    }
}

#[test]
fn a_streamed_message_has_the_digest_of_the_whole() {
    for_all_sets!(streaming);
}

/// An expanded public key whose P was made elsewhere is the one of the seed.
fn from_parts<P: ParameterSet>() {
    let key = key::<P>("parts");
    let public_key = key.verifying_key();
    let digest = MessageDigest::of(MESSAGE);
    let signature = key.sign_digest(&digest).unwrap();
    let seed = public_key.as_ref().first_chunk().unwrap();
    let mut p = vec![0; P::P_BYTES];
    hazmat::expand_p(DetectedBackend::best(), seed, &mut p);
    let verify = |p: &[u8]| {
        let expanded = hazmat::expanded_verifying_key_from_parts(&public_key, p).unwrap();
        any::ExpandedVerifyingKey::from(expanded)
            .verify_digest(&any::MessageDigest::from(digest), &any::Signature::from(signature))
    };
    assert_eq!(verify(&p), Ok(()));
    for at in [0, P::P1_BYTES, P::P_BYTES - 1] {
        p[at] ^= 1;
        assert_eq!(verify(&p), Err(Error::InvalidSignature), "byte {at}");
        p[at] ^= 1;
    }
}

#[test]
fn an_expanded_public_key_can_be_made_of_its_parts() {
    for_all_sets!(from_parts);
}

fn deterministic_or_hedged<P: ParameterSet>() {
    let key = key::<P>("hedged");
    let expanded = key.expand();
    let deterministic = key.sign_deterministic(MESSAGE).unwrap();
    assert_eq!(key.sign_deterministic(MESSAGE).unwrap(), deterministic);
    assert_eq!(expanded.sign_deterministic(MESSAGE).unwrap(), deterministic);
    assert_ne!(key.sign_deterministic(b"another").unwrap(), deterministic);
    let erased = any::SigningKey::from_bytes(P::ALGORITHM, key.as_ref()).unwrap();
    assert_eq!(erased.sign_deterministic(MESSAGE).unwrap().as_bytes(), deterministic.as_ref());

    let digest = MessageDigest::of(MESSAGE);
    let erased_digest = any::MessageDigest::of(P::ALGORITHM, MESSAGE);
    let hedged = [
        deterministic.as_ref().to_vec(),
        key.sign_digest(&digest).unwrap().as_ref().to_vec(),
        key.sign_digest(&digest).unwrap().as_ref().to_vec(),
        expanded.sign_digest(&digest).unwrap().as_ref().to_vec(),
        expanded.sign_digest(&digest).unwrap().as_ref().to_vec(),
        erased.sign(MESSAGE).unwrap().as_bytes().to_vec(),
        erased.sign_digest(&erased_digest).unwrap().as_bytes().to_vec(),
        erased.expand().sign(MESSAGE).unwrap().as_bytes().to_vec(),
    ];
    for (i, signature) in hedged.iter().enumerate() {
        let salt = |signature: &Vec<u8>| signature[P::SIGNATURE_BYTES - P::SALT_BYTES..].to_vec();
        assert!(hedged[..i].iter().all(|other| salt(other) != salt(signature)), "salt of signature {i} repeats");
        let signature = any::Signature::from_bytes(P::ALGORITHM, signature).unwrap();
        assert_eq!(erased.verifying_key().verify(MESSAGE, &signature), Ok(()));
    }
}

#[test]
fn deterministic_signatures_repeat_and_hedged_ones_do_not() {
    for_all_sets!(deterministic_or_hedged);
}

fn keys_are_their_bytes<P: ParameterSet>() {
    let mut random = Random::new("keys");
    let key = SigningKey::<P>::generate_from_rng(&mut random).unwrap();
    let other = SigningKey::<P>::generate_from_rng(&mut random).unwrap();
    let fresh = SigningKey::<P>::generate().unwrap();
    assert!(key.as_ref() != other.as_ref() && key.as_ref() != fresh.as_ref());
    let again = SigningKey::<P>::from_seed(*key.as_seed());
    assert_eq!(again.verifying_key(), key.verifying_key());
    assert_ne!(other.verifying_key(), key.verifying_key());
    assert_eq!(key.expand().compact().as_ref(), key.as_ref());
    assert_eq!(key.expand().clone().verifying_key(), key.verifying_key());
    assert_eq!(VerifyingKey::try_from(key.verifying_key().as_ref()), Ok(key.verifying_key()));
    assert_eq!(*key.verifying_key().expand().compact(), key.verifying_key());
    assert_eq!(P::ALGORITHM.secret_key_bytes(), key.as_ref().len());
    assert_eq!(P::ALGORITHM.public_key_bytes(), key.verifying_key().as_ref().len());
    assert_eq!(P::ALGORITHM.name().parse(), Ok(P::ALGORITHM));
}

#[test]
fn keys_come_back_from_their_bytes() {
    for_all_sets!(keys_are_their_bytes);
}

fn compact_and_expanded<P: ParameterSet>() {
    let key = key::<P>("agreement");
    let mut random = Random::new(format!("agreement, messages, {}", P::ALGORITHM));
    let reference = hazmat::on::verifying_key(Portable::new(), &key);
    for round in 0..8 {
        let digest = MessageDigest::<P>::of(&random.bytes(round));
        let randomizer = random.bytes(P::SALT_BYTES);
        let signature = hazmat::on::sign(Portable::new(), &key, &digest, &randomizer, 256).unwrap();
        for backend in DetectedBackend::all() {
            let public_key = hazmat::verifying_key(backend, &key);
            assert_eq!(public_key, reference, "{backend}");
            let expanded = hazmat::expand_signing_key(backend, &key);
            assert_eq!(hazmat::sign(backend, &key, &digest, &randomizer), Ok(signature), "{backend}");
            assert_eq!(hazmat::sign_expanded(backend, &expanded, &digest, &randomizer), Ok(signature), "{backend}");
            assert_eq!(hazmat::verify(backend, &public_key, &digest, &signature), Ok(()), "{backend}");
            let expanded = hazmat::expand_verifying_key(backend, &public_key);
            assert_eq!(hazmat::verify_expanded(backend, &expanded, &digest, &signature), Ok(()), "{backend}");
        }
    }
}

#[test]
fn compact_and_expanded_keys_agree_on_every_backend() {
    for_all_sets!(compact_and_expanded);
}

/// Window and memory do not begin as zeros, and the memory ends as zeros.
fn memory_of_the_caller<P: ParameterSet>() {
    use hazmat::in_place::{keygen, keygen_memory, min_window, sign, sign_memory, verify, verify_memory};
    let b = Portable::new();
    let key = key::<P>("in place");
    let digest = MessageDigest::of(MESSAGE);
    let randomizer = Random::new("in place").bytes(P::SALT_BYTES);
    let public_key = key.verifying_key();
    let deterministic = key.sign_deterministic(MESSAGE).unwrap();
    let signature = hazmat::on::sign(Portable::new(), &key, &digest, &randomizer, 256).unwrap();
    let other = MessageDigest::of(b"another");

    let minimum = min_window::<P>();
    let windows = [minimum, minimum + 1, 3 * minimum + 5, P::P_BYTES - 1, P::P_BYTES, P::P_BYTES + 7];
    for (window, width) in windows.into_iter().zip([1, P::V / 3, P::V - 1, P::V, P::V, 5]) {
        let context = format!("{}, window of {window} bytes, {width} columns at a time", P::ALGORITHM);
        let window = &mut vec![0xa5; window][..];
        let run = |needed: usize, operation: &mut dyn FnMut(&mut [u8])| {
            let mut memory = vec![0x5a; needed];
            operation(&mut memory);
            assert!(memory.iter().all(|&byte| byte == 0), "memory is cleared: {context}");
        };
        run(keygen_memory::<P>(width), &mut |memory| {
            assert_eq!(
                keygen::<P, _>(b, key.as_seed(), window, memory).as_ref(),
                Ok(public_key.as_bytes()),
                "{context}"
            );
        });
        run(sign_memory::<P>(width), &mut |memory| {
            assert_eq!(sign(b, key.as_seed(), &digest, None, window, memory), Ok(deterministic), "{context}");
        });
        run(sign_memory::<P>(width), &mut |memory| {
            assert_eq!(sign(b, key.as_seed(), &digest, Some(&randomizer), window, memory), Ok(signature), "{context}");
        });
        run(verify_memory::<P>(width.max(P::O)), &mut |memory| {
            assert_eq!(verify(b, public_key.as_bytes(), &digest, &signature, window, memory), Ok(()), "{context}");
        });
        run(verify_memory::<P>(P::N), &mut |memory| {
            let verdict = verify(b, public_key.as_bytes(), &other, &signature, window, memory);
            assert_eq!(verdict, Err(Error::InvalidSignature), "{context}");
        });
    }
    too_little_memory_is_named::<P, _>(b, &digest, &signature);
}

/// An operation on a window and memory, reduced to its error.
type Operation<'a> = dyn Fn(&mut [u8], &mut [u8]) -> Option<Error> + 'a;

fn too_little_memory_is_named<P: ParameterSet, B: Backend>(b: B, digest: &MessageDigest<P>, signature: &Signature<P>) {
    use hazmat::in_place::{keygen, keygen_memory, min_window, sign, sign_memory, verify, verify_memory};
    let seed = P::SecretKeyBytes::ZERO;
    let public_key = P::PublicKeyBytes::ZERO;
    let check = |needed: usize, operation: &Operation<'_>| {
        for given in [0, needed - 1] {
            let error = operation(&mut vec![0; min_window::<P>()], &mut vec![0; given]);
            assert_eq!(error, Some(Error::Memory { expected: needed, given }));
        }
        for given in [0, min_window::<P>() - 1] {
            let error = operation(&mut vec![0; given], &mut vec![0; needed]);
            assert_eq!(error, Some(Error::Memory { expected: min_window::<P>(), given }));
        }
    };
    check(keygen_memory::<P>(1), &|window, memory| keygen::<P, _>(b, &seed, window, memory).err());
    check(sign_memory::<P>(1), &|window, memory| sign(b, &seed, digest, None, window, memory).err());
    check(verify_memory::<P>(P::O), &|window, memory| verify(b, &public_key, digest, signature, window, memory).err());
    let expected = P::SALT_BYTES;
    for given in [0, expected - 1, expected + 1] {
        let window = &mut vec![0; min_window::<P>()];
        let memory = &mut vec![0; sign_memory::<P>(P::V)];
        let result = sign(b, &seed, digest, Some(&vec![0; given]), window, memory);
        let error = Error::Length { what: "randomizer", algorithm: P::ALGORITHM, expected, given };
        assert_eq!(result, Err(error));
    }
}

#[test]
fn the_memory_of_the_caller_serves_whatever_its_size() {
    for_all_sets!(memory_of_the_caller);
}

fn concurrent<P: ParameterSet>() {
    let key = key::<P>("threads");
    let expanded = key.expand();
    let public_key = key.verifying_key();
    let expected: Vec<_> = (0..6u8).map(|i| key.sign_deterministic(&[i]).unwrap()).collect();
    std::thread::scope(|scope| {
        let key = &key;
        let expanded = &expanded;
        let public_key = &public_key;
        let expected = &expected;
        for thread in 0..6u8 {
            scope.spawn(move || {
                for round in 0..12 {
                    let i = (thread + round) % 6;
                    assert_eq!(expanded.sign_deterministic(&[i]), Ok(expected[usize::from(i)]));
                    assert_eq!(key.sign_deterministic(&[i]), Ok(expected[usize::from(i)]));
                    let digest = MessageDigest::of(&[thread, round]);
                    let signature = expanded.sign_digest(&digest).unwrap();
                    assert_eq!(public_key.verify_digest(&digest, &signature), Ok(()));
                }
            });
        }
    });
}

#[test]
fn threads_share_a_key() {
    concurrent::<aioli::round3::Mayo1>();
    concurrent::<aioli::round3::Mayo2>();
    concurrent::<aioli::round3::Mayo5>();
    concurrent::<aioli::round2::Mayo2>();
}

fn send_and_sync<T: Send + Sync>() {}

fn thread_safe<P: ParameterSet>() {
    send_and_sync::<SigningKey<P>>();
    send_and_sync::<ExpandedSigningKey<P>>();
    send_and_sync::<VerifyingKey<P>>();
    send_and_sync::<ExpandedVerifyingKey<P>>();
    send_and_sync::<Signature<P>>();
}

#[test]
fn keys_may_cross_threads() {
    for_all_sets!(thread_safe);
    send_and_sync::<any::SigningKey>();
    send_and_sync::<any::ExpandedSigningKey>();
    send_and_sync::<any::VerifyingKey>();
    send_and_sync::<any::ExpandedVerifyingKey>();
    send_and_sync::<Error>();
}

/// Tells whether a type can be printed: if it has `Debug` or `Display`, the inherent constant is
/// found before the trait's.
struct Printable<T>(std::marker::PhantomData<T>);

trait NotPrintable {
    const DEBUG: bool = false;
    const DISPLAY: bool = false;
}

impl<T> NotPrintable for Printable<T> {}

impl<T: std::fmt::Debug> Printable<T> {
    const DEBUG: bool = true;
}

impl<T: std::fmt::Display> Printable<T> {
    const DISPLAY: bool = true;
}

#[test]
fn secret_keys_cannot_be_printed() {
    macro_rules! printable {
        ($($type:ty),*) => { [$(Printable::<$type>::DEBUG, Printable::<$type>::DISPLAY),*] };
    }
    use aioli::{mayo1, mayo2, mayo3, mayo5, round2};
    let secret = [
        printable!(mayo1::SigningKey, mayo1::ExpandedSigningKey),
        printable!(mayo2::SigningKey, mayo2::ExpandedSigningKey),
        printable!(mayo3::SigningKey, mayo3::ExpandedSigningKey),
        printable!(mayo5::SigningKey, mayo5::ExpandedSigningKey),
        printable!(round2::mayo1::SigningKey, round2::mayo1::ExpandedSigningKey),
        printable!(any::SigningKey, any::ExpandedSigningKey),
    ];
    assert_eq!(secret, [[false; 4]; 6]);
    // The control: public types can be printed.
    assert_eq!(printable!(mayo1::VerifyingKey, Error), [true, false, true, true]);
}

#[test]
fn keys_of_a_set_chosen_at_run_time_have_the_traits_too() {
    fn generic_program<S, V, T>(signer: &S, verifier: &V, message: &[u8])
    where
        S: Signer<T> + Keypair<VerifyingKey: Verifier<T>>,
        V: Verifier<T>,
    {
        let signature = signer.sign(message);
        assert!(verifier.verify(message, &signature).is_ok());
        assert!(Verifier::verify(&signer.verifying_key(), message, &signature).is_ok());
        assert!(verifier.verify(b"another", &signature).is_err());
    }
    for algorithm in Algorithm::ALL {
        let key = any::SigningKey::from_bytes(algorithm, &vec![5; algorithm.secret_key_bytes()]).unwrap();
        generic_program(&key, &key.verifying_key(), MESSAGE);
        generic_program(&key.expand(), &key.verifying_key().expand(), MESSAGE);

        let mut hasher = any::MessageHasher::new(algorithm);
        MESSAGE.chunks(7).for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.algorithm(), algorithm);
        assert_eq!(hasher.finalize(), any::MessageDigest::of(algorithm, MESSAGE));
    }
}

#[test]
fn errors_say_what_was_expected_and_given() {
    let length = VerifyingKey::<aioli::round2::Mayo1>::try_from(&[0; 1456][..]).unwrap_err();
    assert_eq!(length.to_string(), "public key of mayo1-round2 has 1420 bytes, not 1456");
    let key = |algorithm| any::SigningKey::from_bytes(algorithm, &[0; 32]).unwrap();
    let signature = key(Algorithm::Mayo3Round2).sign_deterministic(MESSAGE).unwrap();
    let mixed = key(Algorithm::Mayo3).verifying_key().verify(MESSAGE, &signature).unwrap_err().to_string();
    assert!(mixed.contains("for mayo3,") && mixed.contains("of mayo3-round2"), "{mixed}");
    let memory = Error::Memory { expected: 1234, given: 567 }.to_string();
    assert!(memory.contains("1234") && memory.contains("567"), "{memory}");
    let set = "mayo4".parse::<Algorithm>().unwrap_err().to_string();
    assert!(set.starts_with("unknown set;") && Algorithm::ALL.iter().all(|known| set.contains(known.name())), "{set}");
    let backend = "sse2".parse::<BackendKind>().unwrap_err().to_string();
    assert!(backend.starts_with("unknown backend;") && backend.ends_with("gfni256, gfni512"), "{backend}");
    let texts = [Error::InvalidSignature, Error::Randomness, Error::SamplesExhausted].map(|error| error.to_string());
    assert!(texts.iter().all(|text| text.len() > 20) && texts[0] != texts[1] && texts[1] != texts[2], "{texts:?}");
    // The opaque error of the `signature` crate keeps ours as its source.
    let opaque = signature::Error::from(Error::SamplesExhausted);
    let source = std::error::Error::source(&opaque).expect("a source");
    assert_eq!(source.downcast_ref::<Error>(), Some(&Error::SamplesExhausted));
}
