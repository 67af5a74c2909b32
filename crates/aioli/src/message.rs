//! Message digests, and messages that come in pieces or from a reader.

use crate::Error;
use crate::params::{ByteArray, ParameterSet};
use crate::sig::array;
use core::marker::PhantomData;
use shake::digest::{ExtendableOutput, Update, XofReader};

/// Computes the digest of a message that comes in pieces, in constant memory.
///
/// ```
/// use aioli::mayo1::{MessageHasher, SigningKey};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut hasher = MessageHasher::new();
/// hasher.update(b"first part, ");
/// hasher.update(b"second part");
/// let key = SigningKey::generate()?;
/// let signature = key.sign_digest(&hasher.finalize())?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct MessageHasher<P> {
    shake: shake::Shake256,
    set: PhantomData<P>,
}

impl<P: ParameterSet> MessageHasher<P> {
    /// A hasher that has read nothing yet.
    pub fn new() -> Self {
        Self { shake: Default::default(), set: PhantomData }
    }

    /// Reads the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.shake.update(bytes);
    }

    /// Reads `reader` to its end; returns the number of bytes.
    ///
    /// # Errors
    ///
    /// The errors of the reader.
    #[cfg(feature = "std")]
    pub fn update_from(&mut self, mut reader: impl std::io::Read) -> std::io::Result<u64> {
        std::io::copy(&mut reader, self)
    }

    /// The digest of all pieces, one after another.
    pub fn finalize(self) -> MessageDigest<P> {
        let mut digest = P::DigestBytes::ZERO;
        self.shake.finalize_xof().read(digest.as_mut());
        MessageDigest(digest)
    }
}

impl<P: ParameterSet> Default for MessageHasher<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
impl<P: ParameterSet> std::io::Write for MessageHasher<P> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The digest D = SHAKE256(message) that MAYO signs in place of a message.
///
/// A [`MessageHasher`] computes it piece by piece. Use
/// [`hazmat::message_digest`](crate::hazmat::message_digest) for a digest that is given as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageDigest<P: ParameterSet>(pub(crate) P::DigestBytes);

impl<P: ParameterSet> MessageDigest<P> {
    /// The digest of a message in one piece.
    pub fn of(message: &[u8]) -> Self {
        Self::of_parts(&[message])
    }

    /// The digest of a message in several pieces.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut digest = P::DigestBytes::ZERO;
        crate::xof::shake256(parts, digest.as_mut());
        Self(digest)
    }
}

impl<P: ParameterSet> AsRef<[u8]> for MessageDigest<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// Takes the bytes of a digest as they are. A digest that is not SHAKE256 of a message gives
/// signatures that other software cannot check.
impl<P: ParameterSet> TryFrom<&[u8]> for MessageDigest<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        array::<P, P::DigestBytes>("message digest", bytes).map(Self)
    }
}
