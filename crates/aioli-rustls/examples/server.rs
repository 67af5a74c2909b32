//! A server that sends each line back:
//!
//! ```sh
//! cargo run --release -p aioli-rustls --example server -- 127.0.0.1:8443 server.pem server.key
//! ```
//!
//! `server.pem` has its certificate, and then those of authorities below the trusted one.
//! A last argument `round2` also allows the sets of round 2.

use aioli_rustls::rustls::crypto::ring;
use aioli_rustls::rustls::pki_types::pem::PemObject;
use aioli_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use aioli_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, version};
use aioli_rustls::{ROUND_2, ROUND_3, provider};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (address, chain, key, code_points) = match &arguments[..] {
        [address, chain, key] => (address, chain, key, ROUND_3.to_vec()),
        [address, chain, key, round] if round == "round2" => (address, chain, key, [ROUND_3, ROUND_2].concat()),
        _ => return Err("usage: server ADDRESS:PORT CERTIFICATES KEY [round2]".into()),
    };
    let chain = CertificateDer::pem_file_iter(chain)?.collect::<Result<_, _>>()?;
    let config = ServerConfig::builder_with_provider(Arc::new(provider(ring::default_provider(), &code_points)))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    let config = Arc::new(config);

    let listener = TcpListener::bind(address)?;
    eprintln!("listening on {}", listener.local_addr()?);
    for stream in listener.incoming() {
        if let Err(error) = serve(&config, stream?) {
            eprintln!("a client went away: {error}");
        }
    }
    Ok(())
}

fn serve(config: &Arc<ServerConfig>, stream: TcpStream) -> Result<(), Box<dyn Error>> {
    let stream = StreamOwned::new(ServerConnection::new(config.clone())?, stream);
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        lines.get_mut().write_all(line.as_bytes())?;
        lines.get_mut().flush()?;
        line.clear();
    }
    Ok(())
}
