//! The traits that builders of certificates ask of keys and signatures: those of the crate `spki`.
//!
//! Certificates name the algorithm of a signature by the identifier of its key, without
//! parameters, and hold the raw signature in a BIT STRING. The identifiers are
//! [`Identifiers::OQS`].

use super::Identifiers;
use crate::algorithm::Algorithm;
use crate::any;
use crate::keys::{ExpandedSigningKey, SigningKey, VerifyingKey};
use crate::params::ParameterSet;
use crate::sig::Signature;
use ::pkcs8::der;
use ::pkcs8::der::asn1::{AnyRef, BitString};
use ::pkcs8::spki::{
    self, AlgorithmIdentifier, AlgorithmIdentifierOwned, AssociatedAlgorithmIdentifier,
    DynSignatureAlgorithmIdentifier, SignatureAlgorithmIdentifier, SignatureBitStringEncoding,
};

const fn identifier<T>(algorithm: Algorithm) -> AlgorithmIdentifier<T> {
    AlgorithmIdentifier { oid: Identifiers::OQS.get(algorithm), parameters: None }
}

macro_rules! typed_identifiers {
    ($($key:ident)*) => {$(
        impl<P: ParameterSet> AssociatedAlgorithmIdentifier for $key<P> {
            type Params = AnyRef<'static>;
            const ALGORITHM_IDENTIFIER: AlgorithmIdentifier<AnyRef<'static>> = identifier(P::ALGORITHM);
        }

        impl<P: ParameterSet> SignatureAlgorithmIdentifier for $key<P> {
            type Params = AnyRef<'static>;
            const SIGNATURE_ALGORITHM_IDENTIFIER: AlgorithmIdentifier<AnyRef<'static>> = identifier(P::ALGORITHM);
        }
    )*};
}
typed_identifiers! { SigningKey ExpandedSigningKey VerifyingKey }

macro_rules! identifiers_of_any {
    ($($key:ident)*) => {$(
        impl DynSignatureAlgorithmIdentifier for any::$key {
            fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
                Ok(identifier(self.algorithm()))
            }
        }
    )*};
}
identifiers_of_any! { SigningKey ExpandedSigningKey VerifyingKey }

impl<P: ParameterSet> SignatureBitStringEncoding for Signature<P> {
    fn to_bitstring(&self) -> der::Result<BitString> {
        BitString::from_bytes(self.as_ref())
    }
}

impl SignatureBitStringEncoding for any::Signature {
    fn to_bitstring(&self) -> der::Result<BitString> {
        BitString::from_bytes(self.as_bytes())
    }
}
