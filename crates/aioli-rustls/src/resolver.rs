//! A choice between certificates, for peers that know MAYO and peers that do not.

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;

/// Certificates with their keys, the preferred first. A peer gets the first whose key can sign by a
/// scheme that the peer offers.
///
/// Nobody can use a key of MAYO in TLS 1.2: leave that version out, or the keys.
#[derive(Clone, Debug)]
pub struct Resolver(Vec<Arc<CertifiedKey>>);

impl Resolver {
    /// A resolver for these certificates.
    pub fn new(preferred_first: Vec<Arc<CertifiedKey>>) -> Self {
        Self(preferred_first)
    }

    fn first(&self, offered: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.iter().find(|certified| certified.key.choose_scheme(offered).is_some()).cloned()
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.first(hello.signature_schemes())
    }
}

impl ResolvesClientCert for Resolver {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.first(schemes)
    }

    fn has_certs(&self) -> bool {
        !self.0.is_empty()
    }
}
