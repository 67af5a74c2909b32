//! The arguments of `aioli cert`.

use crate::keys::PassphraseSource;
use aioli_x509::{Host, Name, Time};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Make and verify certificates
///
/// X.509 certificates with MAYO keys, as OpenSSL reads them with Aioli's provider. An authority
/// certifies itself with `ca`. The owner of another key writes a `request`, and the authority
/// answers it with `issue`. There is no revocation: choose short periods.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli keygen --out ca --no-passphrase
  aioli cert ca -k ca.key --subject \"CN=Example Authority\" --out ca.pem
  aioli keygen --out server --no-passphrase
  aioli cert request -k server.key --subject CN=server --name example.org --out server.csr
  aioli cert issue --ca ca.pem -k ca.key server.csr --out server.pem
  aioli cert verify --ca ca.pem --name example.org server.pem")]
pub(crate) struct Cert {
    #[command(subcommand)]
    pub(crate) command: CertCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CertCommand {
    Ca(Ca),
    Request(Request),
    Issue(Issue),
    Show(Show),
    Verify(Verify),
}

/// Make the certificate of an authority, signed by its own key
#[derive(Args, Debug)]
pub(crate) struct Ca {
    #[command(flatten)]
    pub(crate) key: Key,
    /// The authority's name, such as "CN=Example Authority,O=Example"
    #[arg(long, value_name = "NAME", value_parser = subject)]
    pub(crate) subject: Name,
    /// Days for which it is valid, from now
    #[arg(long, value_name = "DAYS", default_value = "3650", value_parser = days())]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Ask for a certificate
#[derive(Args, Debug)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) key: Key,
    /// The name of the key's owner, such as CN=server
    #[arg(long, value_name = "NAME", value_parser = subject)]
    pub(crate) subject: Name,
    /// A DNS name or an IP address of a server, can be given several times; *.example.org stands
    /// for the names with one more label
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) hosts: Vec<Host>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Issue a certificate
///
/// Verifies that the key in the request signed it, and tells what is certified on standard error.
/// The request decides the key and the subject. It proposes names of hosts; all its other wishes
/// are passed over.
#[derive(Args, Debug)]
pub(crate) struct Issue {
    /// The certificate of the authority
    #[arg(long, value_name = "CERTIFICATE", value_hint = ValueHint::FilePath)]
    pub(crate) ca: PathBuf,
    #[command(flatten)]
    pub(crate) key: Key,
    /// The request
    #[arg(value_name = "REQUEST", value_hint = ValueHint::FilePath)]
    pub(crate) request: PathBuf,
    /// A DNS name or an IP address, can be given several times; they replace those of the request
    #[arg(long = "name", value_name = "HOST", conflicts_with = "authority")]
    pub(crate) hosts: Vec<Host>,
    /// Make the owner of the key an authority, below which there may be N others
    #[arg(long, value_name = "N")]
    pub(crate) authority: Option<u8>,
    /// Days for which it is valid, from now
    #[arg(long, value_name = "DAYS", default_value = "90", value_parser = days())]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Describe certificates and requests
///
/// Every certificate in a file is described, whether it is valid or not.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// Files to describe; - is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

/// Verify certificates
///
/// A file has the certificate to verify, and then those of authorities that lead to a trusted one.
/// Checks signatures, dates, the rights of authorities, the purpose, and with --name the name.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The certificates of trusted authorities
    #[arg(long, value_name = "CERTIFICATES", value_hint = ValueHint::FilePath)]
    pub(crate) ca: PathBuf,
    /// The certificates; - is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Demand that it is for this DNS name or IP address
    #[arg(long, value_name = "HOST")]
    pub(crate) name: Option<Host>,
    /// The purpose that it must allow
    #[arg(long, value_name = "PURPOSE", default_value = "server")]
    pub(crate) purpose: Purpose,
    /// Verify for this time instead of now, such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time: Option<Time>,
    /// Print no results; the exit code gives the result, and errors still go to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The use of a certificate.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A server proves its name with it
    Server,
    /// A client proves its name with it
    Client,
    /// Somebody signs contents with it, as `sign --certificate` does
    Signer,
    /// Anything
    Any,
}

/// A private key.
#[derive(Args, Debug)]
pub(crate) struct Key {
    /// The private key
    #[arg(short, long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
}

/// Where the result goes.
#[derive(Args, Debug)]
pub(crate) struct Output {
    /// Write PEM here; - is standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Overwrite an existing regular file, unless it is a private key
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Parses a distinguished name.
fn subject(text: &str) -> Result<Name, String> {
    let wrong = || "expected a name such as \"CN=Example,O=Example Organisation,C=IT\"".to_owned();
    text.parse().ok().filter(|name: &Name| !name.is_empty()).ok_or_else(wrong)
}

/// Parses a number of days, up to about a century.
fn days() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=36_500)
}

/// Parses a time.
fn time(text: &str) -> Result<Time, String> {
    text.parse().map_err(|_| "expected a time such as 2027-01-31T12:00:00Z".into())
}
