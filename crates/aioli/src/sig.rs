//! Signatures.

use crate::Error;
use crate::params::ParameterSet;

/// A signature: k vectors of n field elements, packed, and the salt.
///
/// Every byte string of the right length decodes. If n k is odd, a signature whose vectors end with
/// a non-zero high nibble is malformed and does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<P: ParameterSet>(P::SignatureBytes);

impl<P: ParameterSet> Signature<P> {
    /// Makes a signature from its encoding.
    pub const fn from_bytes(bytes: P::SignatureBytes) -> Self {
        Self(bytes)
    }

    /// The encoded signature.
    pub const fn as_bytes(&self) -> &P::SignatureBytes {
        &self.0
    }
}

impl<P: ParameterSet> AsRef<[u8]> for Signature<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for Signature<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        array::<P, P::SignatureBytes>("signature", bytes).map(Self)
    }
}

macro_rules! encodings {
    (
        ()
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {$($(
        impl signature::SignatureEncoding for Signature<crate::params::$round::$set> {
            type Repr = <crate::params::$round::$set as ParameterSet>::SignatureBytes;
        }

        impl From<Signature<crate::params::$round::$set>> for <crate::params::$round::$set as ParameterSet>::SignatureBytes {
            fn from(signature: Signature<crate::params::$round::$set>) -> Self {
                signature.0
            }
        }
    )*)*};
}
crate::for_the_sets! { () => encodings }

/// The bytes as an array, or an error that names both lengths.
pub(crate) fn array<P: ParameterSet, A: crate::params::ByteArray>(
    what: &'static str,
    bytes: &[u8],
) -> Result<A, Error> {
    A::try_from(bytes).map_err(|_| Error::Length {
        what,
        algorithm: P::ALGORITHM,
        expected: A::ZERO.as_ref().len(),
        given: bytes.len(),
    })
}
