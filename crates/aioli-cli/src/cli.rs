//! The arguments of the command, and its help.

#[path = "cli/cert.rs"]
mod cert;
#[path = "cli/git.rs"]
mod git;

pub(crate) use cert::{Ca, Cert, CertCommand, Issue, Key, Output, Purpose, Request, Show, Verify as CertVerify};
pub(crate) use git::{Git, GitX509, Operation};

use crate::keys::PassphraseSource;
use aioli::Algorithm;
use aioli::backend::{BackendKind, DetectedBackend};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use std::path::PathBuf;

/// MAYO post-quantum signatures: keys, signatures, known answers, speed
#[derive(Parser, Debug)]
#[command(name = "aioli", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The parser, whose long version names the backends of this machine.
pub(crate) fn command() -> clap::Command {
    let backends: Vec<_> = BackendKind::available().map(BackendKind::name).collect();
    let best = DetectedBackend::best();
    let version =
        format!("{}\nbackends on this machine: {} (in use: {best})", env!("CARGO_PKG_VERSION"), backends.join(", "));
    Cli::command().long_version(version)
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Keygen(Keygen),
    Pubkey(Pubkey),
    Convert(Convert),
    Sign(Sign),
    Verify(Verify),
    Inspect(Inspect),
    Cert(Cert),
    Kat(Kat),
    Speed(Speed),
    Demo(Demo),
    Completions(Completions),
    Man(Man),
}

/// Make a key pair
///
/// Writes NAME.key (PKCS#8 PEM, mode 0600) and NAME.pub (SubjectPublicKeyInfo PEM), and prints the
/// fingerprint of the public key. A fingerprint is `SHA256:` followed by the unpadded base64 of
/// SHA-256 over the SubjectPublicKeyInfo in DER.
///
/// The private key is encrypted with a passphrase (PBES2: scrypt and AES-256), which is asked for
/// on the terminal.
///
/// With --force, the old pair stays as NAME.key.old and NAME.pub.old until the new one has been
/// written and read back. If a kill leaves these files, move them back or remove them.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli keygen --set mayo1 --out release
  aioli keygen --set mayo2 --out ci --no-passphrase
  aioli keygen --out archive --passphrase-file secret.txt")]
pub(crate) struct Keygen {
    /// Parameter set; names without -round2 are the sets of round 3, the current MAYO
    #[arg(long, value_name = "SET", default_value = "mayo1", value_parser = sets())]
    pub(crate) set: Algorithm,
    /// Write NAME.key and NAME.pub
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
    /// Leave the private key unencrypted
    #[arg(long, conflicts_with = "passphrase_file")]
    pub(crate) no_passphrase: bool,
    /// Overwrite existing files, which must be regular
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Derive the public key from a private key
///
/// Writes NAME.pub for NAME.key, and prints the fingerprint of the public key.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli pubkey release.key
  aioli pubkey release.key --out - | openssl pkey -pubin -text")]
pub(crate) struct Pubkey {
    /// The private key
    #[arg(value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// Write the public key here; with - it goes to standard output, and the fingerprint is not
    /// printed
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
    /// Overwrite an existing regular file, unless it is a private key
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Rewrite a key for another program
///
/// Reads a private or public key in any form, PEM or DER, and writes it in the form that another
/// program reads. If the private key was encrypted, the new one is too, under the same passphrase,
/// unless --no-passphrase says otherwise.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli convert release.pub --to bouncycastle --der --out release.der
  aioli convert release.key --to seed --no-passphrase --out release.seed
  aioli convert theirs.der --to oqs --out ours.pub")]
pub(crate) struct Convert {
    /// The key
    #[arg(value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// The form to write
    #[arg(long, value_name = "FORM")]
    pub(crate) to: KeyForm,
    /// Write the key here; - is standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Write DER in place of PEM
    #[arg(long)]
    pub(crate) der: bool,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
    /// Write the private key unencrypted
    #[arg(long)]
    pub(crate) no_passphrase: bool,
    /// Overwrite an existing regular file, unless it is a private key
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// A form of keys, by the program that reads it.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// Aioli, liboqs's OpenSSL provider
    Oqs,
    /// Bouncy Castle
    #[value(name = "bouncycastle")]
    BouncyCastle,
    /// The Rust crate pq-mayo
    PqMayo,
    /// The bare bytes: the seed of a private key, or a raw public key
    Seed,
}

/// Sign files
///
/// Writes FILE.sig for every FILE: a short text with the set, its round, the key's fingerprint and
/// the signature over the bytes of FILE. Files of any size are read in constant memory; several
/// files are signed on all cores.
///
/// MAYO alone does not bind a signature to one key: anyone can compute another public key under
/// which it is valid, too. With --bind-key the signature covers the key's fingerprint and then the
/// file. FILE.sig names the key in a line `bound-key:` in place of `key:`, and other MAYO software
/// must be given this message: the line `aioli bound key`, the line of the fingerprint, FILE.
///
/// With --certificate, FILE.p7s is written in its place: CMS, as OpenSSL reads it with Aioli's
/// provider. It holds the certificates, tells the time, and is bound to the key.
///
/// Each signature is verified with the public key before it is written, as protection against
/// faults of the machine: a signature that was disturbed can give the private key away.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli sign -k release.key aioli-0.1.0.tar.gz
  aioli sign -k ci.key --force dist/*
  aioli sign -k alice.key --certificate alice.pem aioli-0.1.0.tar.gz
  tar c src | aioli sign -k ci.key - > src.tar.sig")]
pub(crate) struct Sign {
    /// The private key
    #[arg(short, long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// Files to sign; - is standard input, and its signature goes to standard output
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Write the signature of a single FILE here; - is standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Write the bare bytes of the signature, without the text around them
    #[arg(long)]
    pub(crate) raw: bool,
    /// Sign the fingerprint of the key together with the file
    #[arg(long, conflicts_with = "raw")]
    pub(crate) bind_key: bool,
    /// Write CMS with the certificates in this file: the key's own, then those that lead to an
    /// authority
    #[arg(long, value_name = "CERTIFICATES", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["raw", "bind_key", "no_check"])]
    pub(crate) certificate: Option<PathBuf>,
    /// Do not verify signatures before they are written
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
    /// Overwrite existing regular files, unless they are inputs or private keys
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Print errors and warnings only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Verify the signatures of files
///
/// Reads FILE.sig for every FILE, in the form that `sign` writes, as bare bytes or in CMS. If there
/// is none, and always with --ca, reads FILE.p7s. With several files, exits with the highest of
/// their codes.
///
/// With --ca, a signature is valid if it has the certificate of its signer, to which an authority
/// leads. The result names the signer.
///
/// A signature made with --bind-key or --certificate is valid for its own key alone. With
/// --bind-key here, all others are refused with exit code 5: anyone can compute a key under which
/// they are valid.
///
/// Messages escape control characters in file names. The JSON document gives each name as a string;
/// for a name that is not UTF-8, `file_bytes` or `signature_bytes` gives all its bytes in
/// hexadecimal too.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli verify -k release.pub aioli-0.1.0.tar.gz
  aioli verify -k release.pub --signature other/place.sig aioli-0.1.0.tar.gz
  aioli verify -k ci.pub --json dist/*.tar.gz
  aioli verify --ca ca.pem aioli-0.1.0.tar.gz
  tar c src | aioli verify -k ci.pub --signature src.tar.sig -")]
pub(crate) struct Verify {
    /// The public key, or a certificate or request with it, which is not verified here
    #[arg(short, long, value_name = "KEY", value_hint = ValueHint::FilePath, required_unless_present = "ca")]
    pub(crate) key: Option<PathBuf>,
    /// The certificates of trusted authorities, in place of a key
    #[arg(long, value_name = "CERTIFICATES", value_hint = ValueHint::FilePath, conflicts_with = "key")]
    pub(crate) ca: Option<PathBuf>,
    /// Signed files; - is standard input and needs --signature
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The signature of a single FILE, if it is not FILE.sig or FILE.p7s
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) signature: Option<PathBuf>,
    /// Refuse signatures that were made without --bind-key or --certificate
    #[arg(long)]
    pub(crate) bind_key: bool,
    /// Print no results; the exit code gives the result, and errors still go to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

/// Describe files of keys, signatures and certificates
///
/// Recognises private, encrypted and public keys, certificates, requests and signatures of CMS (PEM
/// and DER), and signatures in the forms that `sign` and `aioli-git` write. Knows raw keys and
/// signatures by their length. Prints nothing secret.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli inspect release.pub aioli-0.1.0.tar.gz.sig
  aioli inspect --passphrase-file secret.txt release.key")]
pub(crate) struct Inspect {
    /// Files to describe; - is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passphrase: PassphraseSource,
}

/// Regenerate NIST's known-answer files
///
/// Makes the file of 100 records of each set and compares its SHA-256 with the official one. Prints
/// the digest, the set, and `ok` or `DIFFERS`. Exits with 1 if a file differs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli kat
  aioli kat mayo1 mayo1-round2 --backend portable
  aioli kat --write kat/")]
pub(crate) struct Kat {
    /// Sets to check; all eight by default
    #[arg(value_name = "SET", value_parser = sets())]
    pub(crate) sets: Vec<Algorithm>,
    /// Write the .rsp files into this directory, replacing files of the same name
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) write: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) backend: Backend,
}

/// Measure this machine
///
/// Times every operation of each set, on messages of 32 bytes. Prints the median, the spread and
/// operations per second. The spread is the distance between the quartiles, in percent of the
/// median.
///
/// On x86-64, also prints cycles of the time-stamp counter. Its rate is constant and is not that of
/// the core.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli speed
  aioli speed --set mayo2 --backend portable
  aioli speed --threads 8 --json speed.json")]
pub(crate) struct Speed {
    /// Set to measure, can be given several times; the four of round 3 by default
    #[arg(long = "set", value_name = "SET", value_parser = sets())]
    pub(crate) sets: Vec<Algorithm>,
    #[command(flatten)]
    pub(crate) backend: Backend,
    /// Measure the throughput of batches on N threads instead; a time is then that of the batch,
    /// divided by its operations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Measure batches of 16384 operations on an NVIDIA GPU instead; a time is then that of the
    /// batch, divided by its operations. Needs a build with the feature gpu
    #[arg(long, conflicts_with_all = ["threads", "backend"])]
    pub(crate) gpu: bool,
    /// Seconds to spend on each operation
    #[arg(long, value_name = "SECONDS", default_value = "0.25", value_parser = seconds)]
    pub(crate) time: f64,
    /// Write the results to this file too, replacing a regular file that is no private key; - is
    /// standard output, in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,
}

/// Show how it works, in less than ten seconds
///
/// Makes a key, signs a file, verifies it, shows that the file with one flipped bit is refused, and
/// measures the speed briefly. Works in a temporary directory, which it removes.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// File to sign; README.md of the current directory by default
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}

/// Print shell completions
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli completions bash > ~/.local/share/bash-completion/completions/aioli
  aioli completions fish > ~/.config/fish/completions/aioli.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  aioli man | man -l -
  aioli man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write this page and the pages of all commands into this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

/// The choice of a backend.
#[derive(Args, Debug)]
pub(crate) struct Backend {
    /// Backend to use; the fastest that this machine can run by default
    #[arg(long, value_name = "BACKEND", value_parser = backends())]
    backend: Option<BackendKind>,
}

impl Backend {
    /// The chosen backend, or an error if this machine cannot run it.
    pub(crate) fn detect(&self) -> Result<DetectedBackend, aioli::Error> {
        self.backend.map_or_else(|| Ok(DetectedBackend::best()), BackendKind::detect)
    }
}

/// Parses the name of a set; the help shows the level of each.
fn sets() -> impl TypedValueParser<Value = Algorithm> {
    let values = Algorithm::ALL.map(|algorithm| {
        let help = match algorithm.warning() {
            Some(_) => "broken at its claimed level, for comparison only".into(),
            None => format!("level {}", algorithm.level()),
        };
        PossibleValue::new(algorithm.name()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Parses the name of a backend.
fn backends() -> impl TypedValueParser<Value = BackendKind> {
    PossibleValuesParser::new(BackendKind::ALL.iter().map(|kind| kind.name())).try_map(|name| name.parse())
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number from 0.001 to 3600".into()),
    }
}

const EXIT_CODES: &str = "Exit codes (stable):
  0  done, or every signature or certificate is valid
  1  a signature or certificate is not valid, a fault was detected while signing, or a known answer
     differs
  2  usage: wrong, missing or conflicting arguments (standard input used twice, an output that is
     an input), or no terminal to ask for a passphrase
  3  input or output: a file cannot be read or written, exists already, or must not be replaced
  4  malformed or unsupported input, a wrong passphrase, or a key file whose decryption costs more
     than 256 MiB or about a second
  5  a key does not fit: wrong set, round or fingerprint, or a signature that does not bind it
With several files, the highest of their codes.

Under the name aioli-git, a link to it, this program signs for git: aioli-git --help.

Examples:
  aioli demo
  aioli keygen --set mayo1 --out release
  aioli sign -k release.key FILE
  aioli verify -k release.pub FILE";
