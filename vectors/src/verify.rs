//! Signatures to verify, a file for each set.

use crate::file::{File, Flag, Group, Test, Variants, Verdict};
use crate::material::{bytes, key, key_from, public_key, sign, signature_of};
use Verdict::{Invalid, Valid};
use aioli::backend::{DetectedBackend, Portable};
use aioli::{Algorithm, MessageDigest, ParameterSet, hazmat, with_set};

pub(crate) fn file(algorithm: Algorithm) -> File {
    File {
        name: format!("verify-{algorithm}.json"),
        header: "Public keys, messages and signatures: whether each signature is valid.",
        groups: with_set!(algorithm, P => groups::<P>()),
    }
}

const MESSAGE: &[u8] = b"Aioli";

fn groups<P: ParameterSet>() -> Vec<Group> {
    let mut groups = vec![signatures::<P>()];
    // Levels 3 and 5 would repeat this with longer keys.
    if P::ALGORITHM.level() == 1 {
        groups.push(zero_key::<P>());
    }
    groups
}

fn signatures<P: ParameterSet>() -> Group {
    let key = key::<P>();
    let public_key = public_key(&key);
    let mut group = Group::new("MayoVerify", P::ALGORITHM).seed(key.as_ref()).public_key(public_key.as_ref());
    let mut add = |verdict, flag, comment: &str, message: &[u8], signature: &[u8]| {
        group.push(Test::new(verdict, &[flag], comment).signed(message, signature));
    };
    let signature = sign(&key, MESSAGE);
    let vectors = &signature[..P::SIGNATURE_BYTES - P::SALT_BYTES];
    let salt = &signature[vectors.len()..];

    add(Valid, Flag::Valid, "valid", MESSAGE, &signature);
    // A block of SHAKE256 has 136 bytes.
    for length in [0, 136, 1000] {
        let message = bytes("message", length);
        add(Valid, Flag::MessageLength, &format!("message of {length} bytes"), &message, &sign(&key, &message));
    }
    let with = |fits: fn(&[u8]) -> bool| {
        let messages = (0u32..).map(u32::to_be_bytes);
        messages.map(|message| (message, sign(&key, &message))).find(|(_, signature)| fits(signature)).expect("endless")
    };
    let (message, begins) = with(|signature| signature.first() == Some(&0));
    add(Valid, Flag::ZeroBytes, "begins with a zero byte", &message, &begins);
    let (message, ends) = with(|signature| signature.last() == Some(&0));
    add(Valid, Flag::ZeroBytes, "ends with a zero byte", &message, &ends);

    add(Invalid, Flag::WrongMessage, "another message", b"aioli", &signature);
    add(Invalid, Flag::WrongMessage, "a zero byte behind the message", &[MESSAGE, &[0]].concat(), &signature);
    let other = key_from::<P>(&bytes("another key", P::SECRET_KEY_BYTES));
    add(Invalid, Flag::WrongKey, "signature of another key", MESSAGE, &sign(&other, MESSAGE));
    let other_than = |fits: fn(Algorithm) -> bool| {
        let mut others = Algorithm::ALL.into_iter().filter(|&other| other != P::ALGORITHM && fits(other));
        others.next().expect("both rounds have several sets")
    };
    let other = other_than(|other| other.set_name() == P::ALGORITHM.set_name());
    add(Invalid, Flag::WrongRound, &format!("signature of {other}"), MESSAGE, &signature_of(other, MESSAGE));
    let other = other_than(|other| other.round() == P::ROUND);
    let mut resized = signature_of(other, MESSAGE);
    resized.resize(P::SIGNATURE_BYTES, 0);
    add(Invalid, Flag::WrongSet, &format!("signature of {other}, resized"), MESSAGE, &resized);
    add(Invalid, Flag::ZeroSignature, "all zero", MESSAGE, &vec![0; P::SIGNATURE_BYTES]);
    add(Invalid, Flag::ZeroSignature, "zero vectors", MESSAGE, &[&vec![0; vectors.len()], salt].concat());
    add(Invalid, Flag::ZeroSignature, "zero salt", MESSAGE, &[vectors, &vec![0; salt.len()]].concat());
    add(Invalid, Flag::Order, "salt first", MESSAGE, &[salt, vectors].concat());
    let high_first: Vec<u8> = vectors.iter().map(|byte| byte.rotate_left(4)).collect();
    add(Invalid, Flag::Order, "high nibbles first", MESSAGE, &[&high_first, salt].concat());
    let mut swapped: Vec<u8> = vectors.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
    let (first, second) = swapped[..2 * P::N].split_at_mut(P::N);
    first.swap_with_slice(second);
    let swapped: Vec<u8> = swapped.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect();
    add(Invalid, Flag::Order, "s_1 and s_2 exchanged", MESSAGE, &[&swapped, salt].concat());

    let mut vary = |flag, comment: &str, variants| {
        group.push(Test::new(Invalid, &[flag], comment).signed(MESSAGE, &signature).variants(variants));
    };
    let right = P::SIGNATURE_BYTES;
    let lengths = (0..right).chain(right + 1..=right + 16).chain([2 * right]).collect();
    vary(Flag::SignatureLength, "every truncation, some extensions", Variants::SigLengths(lengths));
    vary(Flag::BitFlip, "a flipped bit", Variants::SigBits(border_bits::<P>()));
    let right = P::PUBLIC_KEY_BYTES;
    let lengths = vec![0, 1, 15, 16, 17, right - 1, right + 1, right + 16, 2 * right];
    vary(Flag::KeyLength, "a public key of another length", Variants::KeyLengths(lengths));
    let last = 8 * right - 1;
    let p3 = 8 * aioli::params::PUBLIC_SEED_BYTES;
    let bits = vec![0, 7, p3 - 1, p3, p3 + 3, p3 + 4 * P::M - 1, p3 + 4 * P::M, p3.midpoint(last), last - 3, last];
    vary(Flag::KeyBitFlip, "a flipped bit of the public key", Variants::KeyBits(bits));
    group
}

/// The lowest and the highest bit of the elements at borders of fields.
fn border_bits<P: ParameterSet>() -> Vec<usize> {
    let starts = (0..P::K).flat_map(|i| [i * P::N, i * P::N + P::V]);
    let ends = (0..P::K).flat_map(|i| [i * P::N + P::V - 1, (i + 1) * P::N - 1]);
    let salt = [P::K * P::N, 2 * P::SIGNATURE_BYTES - 1];
    let mut bits: Vec<usize> =
        starts.chain(ends).chain(salt).flat_map(|element| [4 * element, 4 * element + 3]).collect();
    bits.sort_unstable();
    bits
}

/// A key of zeros. P3 is zero, so the last o coordinates alone are an oil space: O = 0 signs.
fn zero_key<P: ParameterSet>() -> Group {
    let public_key = vec![0; P::PUBLIC_KEY_BYTES];
    let mut p = vec![0; P::P_BYTES];
    hazmat::expand_p(DetectedBackend::best(), &[0; 16], &mut p);
    let expanded = hazmat::expanded_signing_key_from_parts(&key::<P>(), &vec![0; P::V * P::O], &p);
    let expanded = expanded.expect("parts of the set's lengths");
    let digest = MessageDigest::of(MESSAGE);
    let signature = hazmat::on::sign_expanded(Portable::new(), &expanded, &digest, &vec![0; P::SALT_BYTES], 256);
    let signature = signature.expect("one of 256 samples has a solution");
    let mut group = Group::new("MayoVerify", P::ALGORITHM).public_key(&public_key);
    let zero = [Flag::ZeroPublicKey];
    group.push(Test::new(Valid, &zero, "valid under the zero key").signed(MESSAGE, signature.as_ref()));
    let both = [Flag::ZeroPublicKey, Flag::ZeroSignature];
    let signature = vec![0; P::SIGNATURE_BYTES];
    group.push(Test::new(Invalid, &both, "zero key and zero signature").signed(MESSAGE, &signature));
    group
}
