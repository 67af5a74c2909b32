//! Descriptions of files for people to read, and those of certificates and requests.

use crate::error::Error;
use crate::fingerprint::fingerprint;
use crate::round::round_number;
use crate::shown::{safe, shown};
use crate::terminal::say;
use aioli::Algorithm;
use aioli::any::VerifyingKey;
use aioli::pkcs8::Identifiers;
use aioli_x509::x509_cert::ext::pkix::BasicConstraints;
use aioli_x509::{Certificate, Contents, Host, Request};
use std::path::Path;

/// A description of a file.
pub(crate) struct Description {
    /// The kind of file.
    pub(crate) what: String,
    /// Names and values, one pair for each line of the output.
    pub(crate) facts: Vec<(&'static str, String)>,
}

impl Description {
    /// Prints the description of this file.
    pub(crate) fn print(&self, file: &Path) -> Result<(), Error> {
        say!("{}: {}", shown(file), self.what)?;
        self.facts.iter().try_for_each(|(name, value)| say!("  {name:<12} {value}"))
    }
}

/// The set's name, round and level, and its warning if it has one.
pub(crate) fn set(algorithm: Algorithm) -> Vec<(&'static str, String)> {
    let name = algorithm.set_name();
    let round = round_number(algorithm);
    let level = algorithm.level();
    let mut facts = vec![("set", format!("{name} of round {round} ({algorithm}), NIST level {level}"))];
    facts.extend(algorithm.warning().map(|warning| ("warning", warning.into())));
    facts
}

/// Describes the certificates, or the request, in the contents of a file; `None` if it has neither.
pub(crate) fn certificates(path: &Path, file: &[u8]) -> Option<Result<Vec<Description>, Error>> {
    Some(match Contents::read(file)? {
        Ok(Contents::Certificates(certificates)) => Ok(certificates.iter().map(of_certificate).collect()),
        Ok(Contents::Request(request)) => Ok(vec![of_request(&request)]),
        Err(error) => Err(Error::Certificate { path: path.into(), error }),
    })
}

fn of_certificate(certificate: &Certificate) -> Description {
    Description { what: "certificate (X.509)".into(), facts: certificate_facts(certificate) }
}

fn of_request(request: &Request) -> Description {
    let mut facts = vec![("subject", safe(&request.subject().to_string()))];
    facts.push(("names", names(request.hosts())));
    facts.extend(key_facts(Ok(request.key().clone())));
    facts.push(("signature", "valid, by this key".into()));
    Description { what: "request for a certificate (PKCS#10)".into(), facts }
}

/// The facts about a certificate.
pub(crate) fn certificate_facts(certificate: &Certificate) -> Vec<(&'static str, String)> {
    let fields = certificate.fields();
    let mut facts = vec![
        ("subject", safe(&fields.subject().to_string())),
        ("issuer", safe(&fields.issuer().to_string())),
        ("serial", fields.serial_number().to_string()),
        ("not before", fields.validity().not_before.to_string()),
        ("not after", fields.validity().not_after.to_string()),
        ("names", names(certificate.hosts())),
    ];
    if certificate.is_authority() {
        let below = match fields.get_extension::<BasicConstraints>() {
            Ok(Some((_, BasicConstraints { path_len_constraint: Some(below), .. }))) => {
                format!(", {below} more below it")
            }
            _ => String::new(),
        };
        facts.push(("authority", format!("may sign certificates{below}")));
    }
    let key = certificate.key();
    if fields.subject() == fields.issuer() && key.as_ref().is_ok_and(|key| certificate.verify_signature(key).is_ok()) {
        facts.push(("signature", "valid, by its own key, which proves nothing".into()));
    } else {
        let signed_by = fields.signature().oid;
        let set = Identifiers::OQS.algorithm(signed_by).map(|set| format!("by {set}"));
        facts.push(("signature", set.unwrap_or_else(|_| format!("by {signed_by}, which is no set of MAYO"))));
    }
    facts.extend(key_facts(key));
    facts
}

fn names(hosts: Result<Vec<Host>, aioli_x509::Error>) -> String {
    match hosts {
        Ok(hosts) if hosts.is_empty() => "none".into(),
        Ok(hosts) => hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(", "),
        Err(error) => format!("not understood: {error}"),
    }
}

fn key_facts(key: Result<VerifyingKey, aioli_x509::Error>) -> Vec<(&'static str, String)> {
    match key {
        Ok(key) => [set(key.algorithm()), vec![("fingerprint", fingerprint(&key))]].concat(),
        Err(error) => vec![("key", format!("not of MAYO: {error}"))],
    }
}
