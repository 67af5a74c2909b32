//! Measures handshakes in memory, and prints a record as JSON: bytes of each side, and the median
//! of the time of each side.
//!
//! ```sh
//! cargo run --release -p aioli-rustls --example measure > record.json
//! ```
//!
//! Both sides run on one thread. The server presents one certificate by an authority that the
//! client trusts, both of one set. There are no tickets, so every handshake is a full one.

#[path = "../tests/tls/in_memory.rs"]
mod in_memory;

use aioli::Round;
use aioli::backend::DetectedBackend;
use aioli::pkcs8::EncodePrivateKey;
use aioli_rustls::rustls::client::Resumption;
use aioli_rustls::rustls::crypto::ring;
use aioli_rustls::rustls::pki_types::PrivateKeyDer;
use aioli_rustls::rustls::{ServerConfig, version};
use aioli_rustls::{ROUND_2, ROUND_3, provider};
use in_memory::{Cost, Identity, shake};
use serde_json::{Value, json};
use std::error::Error;
use std::process::Command;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let code_points = [ROUND_3, ROUND_2].concat();
    let provider = Arc::new(provider(ring::default_provider(), &code_points));
    let mut results = Vec::new();
    for (algorithm, _) in code_points {
        let identity = Identity::new(algorithm);
        let key = PrivateKeyDer::Pkcs8(identity.key.to_pkcs8_der()?.as_bytes().to_vec().into());
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(identity.chain(), key)?;
        server.send_tls13_tickets = 0;
        let server = Arc::new(server);
        let mut client = identity.client(&provider);
        Arc::get_mut(&mut client).expect("nobody else has it").resumption = Resumption::disabled();

        let costs = (0..HANDSHAKES).map(|_| shake(&client, &server)).collect::<Result<Vec<_>, _>>()?;
        // The first tenth warms up.
        let costs = &costs[HANDSHAKES / 10..];
        let [from_client, from_server] = costs[0].sent;
        if costs.iter().any(|cost| cost.sent != costs[0].sent) {
            return Err(format!("{algorithm}: the sizes differ between handshakes").into());
        }
        results.push(json!({
            "set": algorithm.set_name(),
            "round": if algorithm.round() == Round::Three { 3 } else { 2 },
            "bytes_from_client": from_client,
            "bytes_from_server": from_server,
            "bytes": from_client + from_server,
            "certificate_bytes": identity.certificate.as_der().len(),
            "median_client_us": median(costs, 0),
            "median_server_us": median(costs, 1),
        }));
    }
    let record = json!({ "machine": machine(), "handshakes": HANDSHAKES, "results": results });
    println!("{}", serde_json::to_string_pretty(&record)?);
    Ok(())
}

/// The median of the time of a side, in microseconds with one digit.
fn median(costs: &[Cost], side: usize) -> f64 {
    let mut times: Vec<_> = costs.iter().map(|cost| cost.time[side]).collect();
    times.sort();
    (times[times.len() / 2].as_secs_f64() * 1e7).round() / 10.0
}

fn machine() -> Value {
    let first = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
        output.and_then(|output| String::from_utf8(output.stdout).ok()).map(|text| text.trim().to_owned())
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(": ")?.1.to_owned())
    });
    let changes = first("git", &["status", "--porcelain", "--untracked-files=no"]);
    json!({
        "cpu": cpu,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "commit": first("git", &["rev-parse", "HEAD"]),
        "dirty": changes.map(|changes| !changes.is_empty()),
        "rustc": first("rustc", &["--version"]),
        "backend": DetectedBackend::best().to_string(),
        "notes": [
            "TLS 1.3 by rustls over its provider ring: X25519, in memory, client and server on one thread by turns",
            "one certificate for localhost, by an authority of the same set that the client trusts; no tickets",
            "the server checks each signature before it is released, as protection against faults",
        ],
    })
}

const HANDSHAKES: usize = 500;
