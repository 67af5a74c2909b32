//! `--bind-key`, and the other key that it keeps away.

use crate::Place;
use aioli::pkcs8::{EncodePublicKey, Identifiers, LineEnding};
use aioli::{Algorithm, ParameterSet, any, gf16, with_set};

/// Another public key under which this signature is valid whenever it is valid under `public_key`,
/// whatever the message.
///
/// An m-vector p of P3, at row a and column b, adds `g_ab(z) p(z)` to W(s), and g_ab depends on s
/// alone. So adding g_01 to the m-vector at (0, 0) and g_00 to the one at (0, 1) changes W(s) by
/// `g_00 g_01 + g_01 g_00 = 0`.
fn another_key<P: ParameterSet>(public_key: &[u8], signature: &[u8]) -> Vec<u8> {
    let s: Vec<u8> = signature.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(P::K * P::N).collect();
    let oil = |i: usize, a: usize| s[i * P::N + P::V + a];
    let factor = |a: usize, b: usize| {
        let mut sum = vec![0; P::M];
        for (i, j) in (0..P::K).flat_map(|i| (i..P::K).map(move |j| (i, j))) {
            let mut coefficient = gf16::mul(oil(i, a), oil(j, b));
            if i != j {
                coefficient ^= gf16::mul(oil(j, a), oil(i, b));
            }
            let power = power_of_z::<P>(P::EXPONENTS[i * P::K + j]);
            sum.iter_mut().zip(power).for_each(|(sum, power)| *sum ^= gf16::mul(coefficient, power));
        }
        sum
    };
    let mut other = public_key.to_vec();
    let p3 = &mut other[aioli::params::PUBLIC_SEED_BYTES..];
    let added = [factor(0, 1), factor(0, 0)].concat();
    p3.iter_mut().zip(added.chunks(2)).for_each(|(byte, pair)| *byte ^= pair[0] | pair[1] << 4);
    assert_ne!(other, public_key);
    other
}

/// The coefficients of z^e modulo f(z), lowest first.
fn power_of_z<P: ParameterSet>(exponent: u8) -> Vec<u8> {
    let mut power = vec![0; P::M];
    power[0] = 1;
    for _ in 0..exponent {
        power.rotate_right(1);
        let top = power[0];
        power[0] = 0;
        power.iter_mut().zip(P::F_TAIL).for_each(|(coefficient, tail)| *coefficient ^= gf16::mul(top, tail));
    }
    power
}

/// A place with a key of the set in `k.pub`, the signature of `f` by it in `f.sig`, and in
/// `other.pub` another key under which the same signature is valid. Returns the two fingerprints.
fn place_with_another_key(set: Algorithm, arguments: &[&str]) -> (Place, [String; 2]) {
    let place = Place::with_key(set.name());
    place.run(&[&["sign", "-k", "k.key", "f"], arguments].concat()).expect(0);
    let key = Identifiers::OQS.decode_public_key(&place.read("k.pub")).unwrap();
    let signature = bare(&place.text("f.sig"));
    let other = with_set!(set, P => another_key::<P>(key.as_bytes(), &signature));
    let other = any::VerifyingKey::from_bytes(set, &other).unwrap();
    place.write("other.pub", other.to_public_key_pem(LineEnding::LF).unwrap());
    let fingerprints = ["k.pub", "other.pub"].map(|name| {
        let facts = place.run(&["inspect", name]).expect(0).out();
        facts.split_whitespace().find(|word| word.starts_with("SHA256:")).unwrap().to_owned()
    });
    (place, fingerprints)
}

/// The bytes of the signature in an envelope.
fn bare(envelope: &str) -> Vec<u8> {
    use base64ct::{Base64, Encoding};
    let lines: Vec<_> = envelope.lines().collect();
    Base64::decode_vec(&lines[5..lines.len() - 1].concat()).unwrap()
}

const SETS: [Algorithm; 2] = [Algorithm::Mayo2, Algorithm::Mayo1Round2];

#[test]
fn an_unbound_signature_is_valid_under_a_computed_key_too() {
    for set in SETS {
        let (place, [own, other]) = place_with_another_key(set, &[]);
        place.run(&["verify", "-k", "other.pub", "f"]).expect(5).saying(&own).saying(&other);
        place.write("f.sig", place.text("f.sig").replace(&own, &other));
        place.run(&["verify", "-k", "other.pub", "f"]).expect(0);
        place.write("bare", bare(&place.text("f.sig")));
        for key in ["k.pub", "other.pub"] {
            place.run(&["verify", "-k", key, "-s", "bare", "f"]).expect(0);
        }
    }
}

#[test]
fn a_bound_signature_is_valid_under_its_own_key_alone() {
    for set in SETS {
        let (place, [own, other]) = place_with_another_key(set, &["--bind-key"]);
        let good = place.text("f.sig");
        place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
        place.run(&["verify", "-k", "k.pub", "--bind-key", "f"]).expect(0);
        assert!(good.contains(&format!("\nbound-key: {own}\n")));
        assert!(place.run(&["inspect", "f.sig"]).expect(0).out().contains("bound key"));

        place.run(&["verify", "-k", "other.pub", "f"]).expect(5).saying(&own).saying(&other);
        for (text, key) in [
            (good.replace(&own, &other), "other.pub"),
            (good.replace("bound-key:", "key:").replace(&own, &other), "other.pub"),
            (good.replace("bound-key:", "key:"), "k.pub"),
        ] {
            place.write("f.sig", text);
            assert_eq!(place.run(&["verify", "-k", key, "f"]).expect(1).out(), "f: NOT VALID\n");
        }
        // The same bytes are a signature of prefix and file for any other software.
        let prefix = format!("aioli bound key\n{own}\n");
        place.write("message", [prefix.as_bytes(), b"a message"].concat());
        place.write("message.sig", bare(&good));
        place.run(&["verify", "-k", "k.pub", "message"]).expect(0);
        place.run(&["verify", "-k", "other.pub", "message"]).expect(0);
    }
}

#[test]
fn a_reader_can_demand_a_bound_signature() {
    let place = Place::with_key("mayo2");
    for arguments in [&["--raw"][..], &[]] {
        place.run(&[&["sign", "--force", "-k", "k.key", "f"], arguments].concat()).expect(0);
        place.run(&["verify", "-k", "k.pub", "f"]).expect(0);
        place.run(&["verify", "--bind-key", "-k", "k.pub", "f"]).expect(5).saying("f.sig").saying("does not bind");
    }
    // A line that claims it is not enough.
    place.write("f.sig", place.text("f.sig").replace("key:", "bound-key:"));
    place.run(&["verify", "--bind-key", "-k", "k.pub", "f"]).expect(1);
    place.run(&["sign", "--force", "--raw", "--bind-key", "-k", "k.key", "f"]).expect(2);
}
