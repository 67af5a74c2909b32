//! Batches: every item gets its own result, in order.

use aioli::backend::DetectedBackend;
use aioli::batch::{Item, Row, keygen_batch, sign_batch, verify_batch, verify_grouped};
use aioli::{Algorithm, Error, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat, with_set};

fn results_are_in_order_and_their_own<P: ParameterSet>() {
    let keys: Vec<(SigningKey<P>, VerifyingKey<P>)> = keygen_batch(5).into_iter().map(Result::unwrap).collect();
    for (i, (key, public_key)) in keys.iter().enumerate() {
        assert_eq!(key.verifying_key(), *public_key);
        assert!(keys[..i].iter().all(|(other, _)| other.as_ref() != key.as_ref()), "keys are fresh");
    }

    let messages: Vec<String> = (0..12).map(|i| format!("message {i}")).collect();
    let (key, public_key) = &keys[0];
    let signatures: Vec<_> = sign_batch(key, &messages).into_iter().map(Result::unwrap).collect();
    assert_eq!(signatures.len(), messages.len());
    for (message, signature) in messages.iter().zip(&signatures) {
        assert_eq!(public_key.verify_digest(&MessageDigest::of(message.as_bytes()), signature), Ok(()));
    }

    // Twelve items share one key; four more keys have one item each.
    let mut items: Vec<Item<'_, P>> = (messages.iter().zip(&signatures))
        .map(|(message, signature)| Item {
            key: public_key,
            message: message.as_bytes(),
            signature: signature.as_ref(),
        })
        .collect();
    let single: Vec<_> = keys[1..].iter().map(|(key, _)| key.sign_deterministic(b"alone").unwrap()).collect();
    for (i, ((_, key), signature)) in keys[1..].iter().zip(&single).enumerate() {
        items.insert(3 * i, Item { key, message: b"alone", signature: signature.as_ref() });
    }
    let mut expected = vec![Ok(()); items.len()];
    assert_eq!(verify_batch(&items), expected);

    // A wrong message, a wrong key, and a short, a long and an empty signature, under shared keys
    // and under keys of one item.
    let invalid = Err(Error::InvalidSignature);
    let length = |given| {
        let expected = P::SIGNATURE_BYTES;
        Err(Error::Length { what: "signature", algorithm: P::ALGORITHM, expected, given })
    };
    let long = vec![0; P::SIGNATURE_BYTES + 1];
    (items[0].message, expected[0]) = (b"not alone", invalid);
    (items[5].message, expected[5]) = (b"another", invalid);
    (items[7].key, expected[7]) = (&keys[4].1, invalid);
    (items[8].signature, expected[8]) = (&items[8].signature[1..], length(P::SIGNATURE_BYTES - 1));
    (items[9].signature, expected[9]) = (&long, length(P::SIGNATURE_BYTES + 1));
    (items[13].signature, expected[13]) = (&[], length(0));
    assert_eq!(verify_batch(&items), expected);

    // The same items by the indices of their keys, and three that name no key.
    let public_keys: Vec<VerifyingKey<P>> = keys.iter().map(|(_, key)| *key).collect();
    let index = |key| public_keys.iter().position(|known| known == key).unwrap();
    let mut rows: Vec<Row<'_>> = (items.iter())
        .map(|item| Row { key: index(item.key), message: item.message, signature: item.signature })
        .collect();
    assert_eq!(verify_grouped(&public_keys, &rows), expected);
    for (i, given) in [(0, 5), (6, usize::MAX), (9, 6)] {
        (rows[i].key, expected[i]) = (given, Err(Error::KeyIndex { keys: 5, given }));
    }
    assert_eq!(verify_grouped(&public_keys, &rows), expected);
    let none: [VerifyingKey<P>; 0] = [];
    assert!(verify_grouped(&none, &rows).iter().all(|result| matches!(result, Err(Error::KeyIndex { keys: 0, .. }))));
}

#[test]
fn every_item_gets_its_own_result() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => results_are_in_order_and_their_own::<P>());
    }
}

/// Seven signatures are more than one group of every set, and leave a group that is not full.
const SIGNED: usize = 7;

fn many_are_verified_as_one_by_one<P: ParameterSet>() {
    let key = SigningKey::<P>::try_from(&[21; 40][..P::SECRET_KEY_BYTES]).unwrap();
    let expanded = key.expand();
    let public_key = key.verifying_key().expand();
    let signed: Vec<_> =
        (0..SIGNED as u8).map(|i| (MessageDigest::of(&[i]), expanded.sign_deterministic(&[i]).unwrap())).collect();
    for b in DetectedBackend::all() {
        for count in 0..=SIGNED {
            let results = hazmat::verify_many(b, &public_key, &signed[..count]);
            assert_eq!(results, vec![Ok(()); count], "{} on {b}", P::ALGORITHM);
        }
        // Each in turn is damaged at its beginning, in the last half byte of s, which is padding in
        // some sets, and in its salt; or its message is another.
        for at in 0..SIGNED {
            for byte in [0, P::SIGNATURE_BYTES - P::SALT_BYTES - 1, P::SIGNATURE_BYTES - 1] {
                let mut signed = signed.clone();
                let mut signature = signed[at].1.as_ref().to_vec();
                signature[byte] ^= 0x80;
                signed[at].1 = Signature::try_from(&signature[..]).unwrap();
                alone_is_invalid(b, at, &hazmat::verify_many(b, &public_key, &signed));
            }
            let mut signed = signed.clone();
            signed[at].0 = MessageDigest::of(b"another");
            alone_is_invalid(b, at, &hazmat::verify_many(b, &public_key, &signed));
        }
    }
}

#[track_caller]
fn alone_is_invalid(b: DetectedBackend, at: usize, results: &[Result<(), Error>]) {
    for (i, result) in results.iter().enumerate() {
        let expected = if i == at { Err(Error::InvalidSignature) } else { Ok(()) };
        assert_eq!(*result, expected, "signature {i} of {SIGNED} on {b}, where {at} is damaged");
    }
    assert_eq!(results.len(), SIGNED);
}

#[test]
fn signatures_under_one_key_do_not_disturb_each_other() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => many_are_verified_as_one_by_one::<P>());
    }
}

#[test]
fn nothing_to_do_gives_nothing() {
    type P = aioli::round3::Mayo2;
    assert_eq!(keygen_batch::<P>(0).len(), 0);
    assert_eq!(sign_batch::<P>(&SigningKey::from_seed([0; 24]), &[] as &[&[u8]]).len(), 0);
    assert_eq!(verify_batch::<P>(&[]), []);
    assert_eq!(verify_grouped::<P, VerifyingKey<P>>(&[], &[]), []);
}
