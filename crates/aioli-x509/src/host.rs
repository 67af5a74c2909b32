//! The names that a certificate is for.

use crate::Error;
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;
use der::asn1::Ia5String;
use rustls_pki_types::DnsName;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// A name that a certificate is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A DNS name in ASCII, whose first label may be `*`.
    Dns(String),
    /// An IP address.
    Ip(IpAddr),
}

/// Reads a DNS name or an IP address.
impl FromStr for Host {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Ip(address));
        }
        match DnsName::try_from(text.strip_prefix("*.").unwrap_or(text)) {
            Ok(_) => Ok(Self::Dns(text.into())),
            Err(_) => Err(Error::Host(text.into())),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => f.write_str(name),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

/// The extension with these names.
pub(crate) fn extension(hosts: &[Host]) -> Result<SubjectAltName, Error> {
    let name = |host: &Host| match host {
        Host::Dns(name) => Ia5String::new(name).map(GeneralName::DnsName).map_err(|_| Error::Host(name.clone())),
        Host::Ip(address) => Ok(GeneralName::from(*address)),
    };
    hosts.iter().map(name).collect::<Result<_, _>>().map(SubjectAltName)
}

/// The names in an extension.
pub(crate) fn hosts(extension: SubjectAltName) -> Result<Vec<Host>, Error> {
    let host = |name| match name {
        GeneralName::DnsName(name) => match name.as_str().parse() {
            Ok(host @ Host::Dns(_)) => Ok(host),
            _ => Err(Error::Host(name.as_str().into())),
        },
        GeneralName::IpAddress(address) => match address.as_bytes() {
            &[a, b, c, d] => Ok(Host::Ip([a, b, c, d].into())),
            bytes => <[u8; 16]>::try_from(bytes).map(|bytes| Host::Ip(bytes.into())).map_err(|_| Error::NameKind),
        },
        _ => Err(Error::NameKind),
    };
    extension.0.into_iter().map(host).collect()
}
