//! Raw keys, signatures and digests of each set: a length decides, what is accepted gives the same
//! bytes back, and all backends judge a hostile signature under a hostile key alike.
#![no_main]

use aioli::backend::{BackendKind, DetectedBackend};
use aioli::{Algorithm, Error, ParameterSet, any, hazmat, with_set};
use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: aioli_fuzz::require_backends(), |data: &[u8]| -> Corpus {
    let mut input = Unstructured::new(data);
    let Ok(set) = aioli_fuzz::set(&mut input) else { return Corpus::Reject };
    let rest = input.take_rest();
    with_set!(set, P => {
        decode::<P>(rest);
        verify::<P>(rest);
    });
    let name = String::from_utf8_lossy(rest);
    if let Ok(set) = name.parse::<Algorithm>() {
        assert_eq!(set.name(), name);
    }
    if let Ok(backend) = name.parse::<BackendKind>() {
        assert_eq!(backend.name(), name);
    }
    Corpus::Keep
});

/// Decodes all of `bytes` as each kind of value.
fn decode<P: ParameterSet>(bytes: &[u8]) {
    let set = P::ALGORITHM;
    macro_rules! check {
        ($name:ident, $length:expr) => {{
            let typed = aioli::$name::<P>::try_from(bytes);
            let any = any::$name::from_bytes(set, bytes);
            match (&typed, &any) {
                (Ok(typed), Ok(any)) => {
                    assert_eq!(bytes.len(), $length);
                    assert_eq!(typed.as_ref(), bytes);
                    assert_eq!(any.as_bytes(), bytes);
                    assert_eq!(any.algorithm(), set);
                }
                (Err(typed), Err(any)) => {
                    assert_ne!(bytes.len(), $length);
                    assert_eq!(typed, any);
                    let Error::Length { expected, given, .. } = typed else { panic!("{typed}") };
                    assert_eq!((*expected, *given), ($length, bytes.len()));
                }
                _ => panic!("typed and untyped decoders differ"),
            }
        }};
    }
    check!(SigningKey, P::SECRET_KEY_BYTES);
    check!(VerifyingKey, P::PUBLIC_KEY_BYTES);
    check!(Signature, P::SIGNATURE_BYTES);
    check!(MessageDigest, P::DIGEST_BYTES);
}

/// Takes a public key, a signature and a message from `bytes`, if it is long enough.
fn verify<P: ParameterSet>(bytes: &[u8]) {
    let Some((key, rest)) = bytes.split_at_checked(P::PUBLIC_KEY_BYTES) else { return };
    let Some((signature, message)) = rest.split_at_checked(P::SIGNATURE_BYTES) else { return };
    let key = aioli::VerifyingKey::<P>::try_from(key).expect("the length of a public key");
    let signature = aioli::Signature::<P>::try_from(signature).expect("the length of a signature");
    let digest = aioli::MessageDigest::<P>::of(message);
    let mut verdicts = DetectedBackend::all().flat_map(|backend| {
        let expanded = hazmat::expand_verifying_key(backend, &key);
        let compact = hazmat::verify(backend, &key, &digest, &signature);
        [(backend, compact), (backend, hazmat::verify_expanded(backend, &expanded, &digest, &signature))]
    });
    let (_, first) = verdicts.next().expect("the portable backend");
    for (backend, verdict) in verdicts {
        assert_eq!(verdict, first, "{backend} differs from portable, {}", P::ALGORITHM);
    }
}
