//! Keys and bytes, all from labels, and the scheme on the portable backend.

use aioli::backend::Portable;
use aioli::{Algorithm, Error, MessageDigest, ParameterSet, Signature, SigningKey, VerifyingKey, hazmat, with_set};
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

/// Bytes that follow from a label.
pub(crate) fn bytes(label: &str, count: usize) -> Vec<u8> {
    shake256(&[b"aioli vectors: ", label.as_bytes()], count)
}

pub(crate) fn shake256(parts: &[&[u8]], count: usize) -> Vec<u8> {
    let mut hasher = Shake256::default();
    parts.iter().for_each(|part| hasher.update(part));
    let mut out = vec![0; count];
    hasher.finalize_xof().read(&mut out);
    out
}

/// The key of a set. Both rounds of a set share the seed, which real keys must never do: a
/// signature of the wrong round is then as close to a valid one as it can be.
pub(crate) fn key<P: ParameterSet>() -> SigningKey<P> {
    key_from(&bytes(P::ALGORITHM.set_name(), P::SECRET_KEY_BYTES))
}

pub(crate) fn key_from<P: ParameterSet>(seed: &[u8]) -> SigningKey<P> {
    SigningKey::try_from(seed).expect("a seed of the set's length")
}

pub(crate) fn public_key<P: ParameterSet>(key: &SigningKey<P>) -> VerifyingKey<P> {
    hazmat::on::verifying_key(Portable::new(), key)
}

/// Signs with a given randomizer and at most `samples` vinegar samples.
pub(crate) fn sign_with<P: ParameterSet>(
    key: &SigningKey<P>,
    message: &[u8],
    randomizer: &[u8],
    samples: u16,
) -> Result<Signature<P>, Error> {
    hazmat::on::sign(Portable::new(), key, &MessageDigest::of(message), randomizer, samples)
}

/// Signs with a randomizer that follows from the message.
pub(crate) fn sign<P: ParameterSet>(key: &SigningKey<P>, message: &[u8]) -> Vec<u8> {
    let randomizer = shake256(&[b"randomizer", message], P::SALT_BYTES);
    sign_with(key, message, &randomizer, 256).expect("one of 256 samples has a solution").as_ref().to_vec()
}

/// The signature of a message by the key of a set, as bytes.
pub(crate) fn signature_of(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    with_set!(algorithm, P => sign(&key::<P>(), message))
}
