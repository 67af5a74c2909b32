//! Batches: every item gets its own result, in order.

use aioli::batch::{Item, keygen_batch, sign_batch, verify_batch};
use aioli::{Algorithm, Error, MessageDigest, ParameterSet, SigningKey, VerifyingKey, with_set};

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
}

#[test]
fn every_item_gets_its_own_result() {
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => results_are_in_order_and_their_own::<P>());
    }
}

#[test]
fn nothing_to_do_gives_nothing() {
    type P = aioli::round3::Mayo2;
    assert_eq!(keygen_batch::<P>(0).len(), 0);
    assert_eq!(sign_batch::<P>(&SigningKey::from_seed([0; 24]), &[] as &[&[u8]]).len(), 0);
    assert_eq!(verify_batch::<P>(&[]), []);
}
