//! A client that sends a line and prints the line that comes back:
//!
//! ```sh
//! cargo run --release -p aioli-rustls --example client -- 127.0.0.1:8443 localhost authority.pem
//! ```
//!
//! The second argument is the name that the certificate of the server must have.
//! A last argument `round2` also allows the sets of round 2.

use aioli_rustls::rustls::crypto::ring;
use aioli_rustls::rustls::pki_types::pem::PemObject;
use aioli_rustls::rustls::pki_types::{CertificateDer, ServerName};
use aioli_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, version};
use aioli_rustls::{ROUND_2, ROUND_3, provider};
use aioli_x509::Certificate;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (address, name, authorities, code_points) = match &arguments[..] {
        [address, name, authorities] => (address, name, authorities, ROUND_3.to_vec()),
        [address, name, authorities, round] if round == "round2" => {
            (address, name, authorities, [ROUND_3, ROUND_2].concat())
        }
        _ => return Err("usage: client ADDRESS:PORT NAME AUTHORITIES [round2]".into()),
    };
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_file_iter(authorities)? {
        roots.add(authority?)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(provider(ring::default_provider(), &code_points)))
        .with_protocol_versions(&[&version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();

    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from(name.clone())?)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, TcpStream::connect(address)?));
    stream.get_mut().write_all(b"a line\n")?;
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let presented = stream.get_ref().conn.peer_certificates().and_then(<[_]>::first);
    let presented = Certificate::from_der(presented.ok_or("the server sent no certificate")?)?;
    eprintln!("verified: a server with a key of {}", presented.key()?.algorithm());
    print!("{line}");
    stream.get_mut().conn.send_close_notify();
    Ok(stream.get_mut().flush()?)
}
