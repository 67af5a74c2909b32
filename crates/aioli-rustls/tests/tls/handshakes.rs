//! Handshakes of TLS 1.3 with certificates of all sets, and all that must keep one from happening.

use crate::in_memory::{Identity, shake};
use aioli::pkcs8::EncodePrivateKey;
use aioli::{Algorithm, any::SigningKey};
use aioli_rustls::rustls::crypto::{CryptoProvider, ring};
use aioli_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use aioli_rustls::rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use aioli_rustls::rustls::sign::CertifiedKey;
use aioli_rustls::rustls::{
    CertificateError, ClientConfig, Error, InconsistentKeys, PeerIncompatible, ServerConfig, SignatureScheme, version,
};
use aioli_rustls::{CodePoint, ROUND_2, ROUND_3, Resolver, provider, signing_key};
use std::sync::Arc;

/// The sets of both rounds.
fn both() -> Vec<CodePoint> {
    [ROUND_3, ROUND_2].concat()
}

fn with(code_points: &[CodePoint]) -> Arc<CryptoProvider> {
    Arc::new(provider(ring::default_provider(), code_points))
}

fn der(key: &SigningKey) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(key.to_pkcs8_der().unwrap().as_bytes().to_vec().into())
}

/// A server with a chain of certificates and a key.
fn server(
    provider: &Arc<CryptoProvider>,
    chain: Vec<CertificateDer<'static>>,
    key: &SigningKey,
) -> Result<Arc<ServerConfig>, Error> {
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(&[&version::TLS13])?;
    Ok(Arc::new(builder.with_no_client_auth().with_single_cert(chain, der(key))?))
}

fn resolving(provider: &Arc<CryptoProvider>, resolver: impl ResolvesServerCert + 'static) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_protocol_versions(&[&version::TLS13]).unwrap();
    Arc::new(builder.with_no_client_auth().with_cert_resolver(Arc::new(resolver)))
}

#[test]
fn all_sets_authenticate_server_and_client() {
    let provider = with(&both());
    for (algorithm, _) in both() {
        let identity = Identity::new(algorithm);
        let server = server(&provider, identity.chain(), &identity.key).unwrap();
        shake(&identity.client(&provider), &server).unwrap_or_else(|error| panic!("{algorithm}: {error}"));

        let roots = Arc::new(identity.roots());
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build().unwrap();
        let builder = ServerConfig::builder_with_provider(provider.clone());
        let builder = builder.with_protocol_versions(&[&version::TLS13]).unwrap().with_client_cert_verifier(verifier);
        let server = Arc::new(builder.with_single_cert(identity.chain(), der(&identity.key)).unwrap());
        let builder = ClientConfig::builder_with_provider(provider.clone());
        let builder = builder.with_protocol_versions(&[&version::TLS13]).unwrap();
        let builder = builder.with_root_certificates(identity.roots());
        let client = builder.clone().with_client_auth_cert(identity.chain(), der(&identity.key)).unwrap();
        shake(&Arc::new(client), &server).unwrap_or_else(|error| panic!("{algorithm}, both sides: {error}"));
        let nobody = shake(&Arc::new(builder.with_no_client_auth()), &server);
        assert_eq!(nobody.unwrap_err(), Error::NoCertificatesPresented, "{algorithm}");
    }
}

#[test]
fn a_flipped_bit_of_a_certificate_ends_the_handshake() {
    let provider = with(&ROUND_3);
    let identity = Identity::new(Algorithm::Mayo1);
    let mut der = identity.chain()[0].to_vec();
    *der.last_mut().unwrap() ^= 1;
    let server = server(&provider, vec![der.into()], &identity.key).unwrap();
    let refused = shake(&identity.client(&provider), &server).unwrap_err();
    assert_eq!(refused, Error::InvalidCertificate(CertificateError::BadSignature));
}

#[test]
fn strangers_are_refused() {
    let provider = with(&ROUND_3);
    let [identity, other] = [(); 2].map(|()| Identity::new(Algorithm::Mayo2));
    let server = server(&provider, identity.chain(), &identity.key).unwrap();
    let refused = shake(&other.client(&provider), &server).unwrap_err();
    // Both authorities have the same name.
    assert_eq!(refused, Error::InvalidCertificate(CertificateError::BadSignature));
}

#[test]
fn a_server_without_the_key_of_its_certificate_is_refused() {
    let provider = with(&ROUND_3);
    let identity = Identity::new(Algorithm::Mayo1);
    let other = SigningKey::generate(Algorithm::Mayo1).unwrap();
    let refused = server(&provider, identity.chain(), &other).unwrap_err();
    assert_eq!(refused, Error::InconsistentKeys(InconsistentKeys::KeyMismatch));
    let (_, scheme) = ROUND_3[0];
    let forged = CertifiedKey::new(identity.chain(), signing_key(&other, scheme).unwrap());
    let server = resolving(&provider, Resolver::new(vec![Arc::new(forged)]));
    let refused = shake(&identity.client(&provider), &server).unwrap_err();
    assert_eq!(refused, Error::InvalidCertificate(CertificateError::BadSignature));
}

#[test]
fn a_peer_gets_a_certificate_that_it_can_verify() {
    let provider = with(&ROUND_3);
    let identities = [Algorithm::Mayo5, Algorithm::Mayo2].map(Identity::new);
    let certified = identities.each_ref().map(|identity| {
        let certified = CertifiedKey::from_der(identity.chain(), der(&identity.key), &provider).unwrap();
        Arc::new(certified)
    });
    let server = resolving(&provider, Resolver::new(certified.to_vec()));
    let [first, second] = &identities;
    shake(&first.client(&provider), &server).unwrap();
    // Who knows the second set alone gets the second certificate.
    shake(&second.client(&with(&ROUND_3[1..2])), &server).unwrap();
    let ours = ring::default_provider();
    let refused = shake(&first.client(&Arc::new(ours)), &server).unwrap_err();
    assert!(matches!(refused, Error::General(_)), "{refused:?}");
}

#[test]
fn code_points_can_be_others() {
    let own = [(Algorithm::Mayo1, SignatureScheme::Unknown(0xfe7b))];
    let identity = Identity::new(Algorithm::Mayo1);
    let server = server(&with(&own), identity.chain(), &identity.key).unwrap();
    shake(&identity.client(&with(&own)), &server).unwrap();
    let refused = shake(&identity.client(&with(&ROUND_3)), &server).unwrap_err();
    assert_eq!(refused, Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon));
}

#[test]
fn round_2_is_used_on_demand_alone() {
    let identity = Identity::new(Algorithm::Mayo1Round2);
    let refused = server(&with(&ROUND_3), identity.chain(), &identity.key).unwrap_err();
    assert_eq!(refused, Error::General("the provider has no code point for mayo1-round2".into()));
    let server = server(&with(&ROUND_2), identity.chain(), &identity.key).unwrap();
    let refused = shake(&identity.client(&with(&ROUND_3)), &server).unwrap_err();
    assert_eq!(refused, Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon));
}

#[test]
fn other_keys_are_left_to_the_provider_underneath() {
    let provider = with(&ROUND_3);
    // An Ed25519 key of zeros, PKCS#8 version 1.
    let mut ed25519 = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    ed25519.extend([0; 32]);
    let key = provider.key_provider.load_private_key(PrivateKeyDer::Pkcs8(ed25519.into())).unwrap();
    assert!(key.choose_scheme(&[SignatureScheme::ED25519]).is_some());
    for malformed in [&b""[..], b"\x30\x00", b"a key"] {
        let key = PrivateKeyDer::Pkcs8(malformed.to_vec().into());
        assert!(provider.key_provider.load_private_key(key).is_err());
    }
    let mut damaged = SigningKey::generate(Algorithm::Mayo1).unwrap().to_pkcs8_der().unwrap().as_bytes().to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    let refused = provider.key_provider.load_private_key(PrivateKeyDer::Pkcs8(damaged.into())).unwrap_err();
    assert!(refused.to_string().contains("does not belong"), "{refused}");
    let known = &provider.signature_verification_algorithms;
    assert!(known.supported_schemes().starts_with(&ROUND_3.map(|(_, scheme)| scheme)));
    assert!(known.supported_schemes().contains(&SignatureScheme::ED25519));
}

#[test]
fn a_printed_key_shows_nothing_secret() {
    let key = SigningKey::generate(Algorithm::Mayo1).unwrap();
    let (_, scheme) = ROUND_3[0];
    let printed = format!("{:?}", signing_key(&key, scheme).unwrap());
    assert_eq!(printed, "Key { algorithm: Mayo1, scheme: SignatureScheme(0xff7b), .. }");
}
