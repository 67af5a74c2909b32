//! Handshakes without a network: what one side writes, the other reads.

use aioli::any::SigningKey;
use aioli_rustls::rustls::crypto::CryptoProvider;
use aioli_rustls::rustls::pki_types::{CertificateDer, ServerName};
use aioli_rustls::rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, Error, RootCertStore, ServerConfig, ServerConnection, version,
};
use aioli_x509::{Authority, Certificate, Request, days};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An authority for the keys of a set, and a key with its certificate for `localhost`.
pub(crate) struct Identity {
    pub(crate) authority: Authority,
    pub(crate) key: SigningKey,
    pub(crate) certificate: Certificate,
}

impl Identity {
    pub(crate) fn new(algorithm: aioli::Algorithm) -> Self {
        let keys = [(); 2].map(|()| SigningKey::generate(algorithm).unwrap());
        let authority = Authority::root(&keys[0], "CN=authority".parse().unwrap(), days(9).unwrap()).unwrap();
        let [_, key] = keys;
        let request = Request::new(&key, "CN=leaf".parse().unwrap(), &["localhost".parse().unwrap()]).unwrap();
        let certificate = authority.issue(&request, request.hosts().unwrap(), days(9).unwrap()).unwrap();
        Self { authority, key, certificate }
    }

    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.as_der().clone()]
    }

    /// The roots of someone who trusts the authority.
    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.certificate().as_der().clone()).unwrap();
        roots
    }

    /// A client without a certificate that trusts the authority.
    pub(crate) fn client(&self, provider: &Arc<CryptoProvider>) -> Arc<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(provider.clone());
        let builder = builder.with_protocol_versions(&[&version::TLS13]).unwrap();
        Arc::new(builder.with_root_certificates(self.roots()).with_no_client_auth())
    }
}

/// The cost of a handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Bytes that the client and the server sent.
    pub(crate) sent: [usize; 2],
    /// Time that the client and the server took.
    pub(crate) time: [Duration; 2],
}

/// A handshake with `localhost`, until both sides have finished it or one has refused.
pub(crate) fn shake(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<Cost, Error> {
    let mut cost = Cost::default();
    let start = Instant::now();
    let mut client = ClientConnection::new(client.clone(), ServerName::try_from("localhost").unwrap())?;
    cost.time[0] += start.elapsed();
    let start = Instant::now();
    let mut server = ServerConnection::new(server.clone())?;
    cost.time[1] += start.elapsed();
    while client.is_handshaking() || server.is_handshaking() {
        step(&mut client, &mut server, &mut cost, 0)?;
        step(&mut server, &mut client, &mut cost, 1)?;
    }
    Ok(cost)
}

/// All that one side has to send now. Its index in the cost is `from`.
fn step<A, B>(
    sender: &mut ConnectionCommon<A>,
    receiver: &mut ConnectionCommon<B>,
    cost: &mut Cost,
    from: usize,
) -> Result<(), Error> {
    let start = Instant::now();
    let mut flight = Vec::new();
    while sender.wants_write() {
        sender.write_tls(&mut flight).unwrap();
    }
    cost.time[from] += start.elapsed();
    cost.sent[from] += flight.len();
    let start = Instant::now();
    let mut rest = &flight[..];
    while !rest.is_empty() {
        receiver.read_tls(&mut rest).unwrap();
        receiver.process_new_packets()?;
    }
    cost.time[1 - from] += start.elapsed();
    Ok(())
}
