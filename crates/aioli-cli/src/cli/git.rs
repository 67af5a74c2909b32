//! The arguments of `aioli-git`, which are those that git gives to ssh-keygen and to gpgsm.

use clap::{ArgAction, Parser, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// MAYO signatures for git, in place of ssh-keygen and gpgsm
///
/// git runs this program if `gpg.format` is `ssh` and `gpg.ssh.program` names it. The program is
/// `aioli` under the name `aioli-git`: a link to it.
///
/// With certificates it takes the place of gpgsm: `gpg.format` is then `x509`, and
/// `gpg.x509.program` names the program. The key's certificate is in a file beside the key that
/// ends in .pem, followed by those that lead to an authority. `aioli.ca` in git's configuration
/// names the file of the authorities that are trusted.
///
/// A key that is encrypted needs its passphrase, which is asked for on the terminal, or taken from
/// the first line of the file that AIOLI_PASSPHRASE_FILE in the environment names.
#[derive(Parser, Debug)]
#[command(
    name = "aioli-git",
    version,
    after_help = "Examples:
  git config gpg.format ssh
  git config gpg.ssh.program aioli-git
  git config user.signingKey ~/keys/git.key
  git config gpg.ssh.allowedSignersFile ~/keys/signers
  echo \"alice@example.org $(aioli-git -y -f ~/keys/git.pub)\" >> ~/keys/signers

With certificates:
  git config gpg.format x509
  git config gpg.x509.program aioli-git
  git config user.signingKey ~/keys/git.key
  git config aioli.ca ~/keys/ca.pem

Exit codes are those of aioli; 5 is also a key that is not allowed to sign."
)]
pub(crate) struct Git {
    /// The operation
    #[arg(short = 'Y', value_name = "OPERATION", required_unless_present = "print_key")]
    pub(crate) operation: Option<Operation>,
    /// Print the public key of KEY, private or public, as the file of allowed signers has it
    #[arg(short = 'y', conflicts_with = "operation")]
    pub(crate) print_key: bool,
    /// The kind of message that is signed; git gives `git`
    #[arg(short, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The key, or for find-principals and verify the file of allowed signers
    #[arg(short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// The signature of standard input
    #[arg(short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) signature: Option<PathBuf>,
    /// Who should have signed
    #[arg(short = 'I', value_name = "PRINCIPAL", allow_hyphen_values = true)]
    pub(crate) principal: Option<String>,
    /// A file of revoked public keys, one a line as -y prints them
    #[arg(short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) revoked: Option<PathBuf>,
    /// verify-time=YYYYMMDD[HHMM[SS]][Z]: the time at which the key must be valid, now by default
    #[arg(short = 'O', value_name = "OPTION")]
    pub(crate) options: Vec<String>,
    /// Refused: no agent holds keys of MAYO
    #[arg(short = 'U')]
    pub(crate) use_agent: bool,
    /// Files to sign; standard input by default
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<OsString>,
}

/// The operations of ssh-keygen that follow -Y.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Write FILE.sig for every FILE
    Sign,
    /// Print the principals that may sign with the key of a signature
    FindPrincipals,
    /// Verify a signature, and that its key may sign for PRINCIPAL
    Verify,
    /// Verify a signature under the key that it names, whoever has it
    CheckNovalidate,
}

/// The arguments that git gives to gpgsm. Only git gives them, so `aioli-git --help` tells of the
/// other ones.
#[derive(Parser, Debug)]
#[command(name = "aioli-git")]
pub(crate) struct GitX509 {
    /// Write the lines for git to standard output (1) or standard error (2)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) status_fd: u8,
    /// Sign a content that is kept elsewhere
    #[arg(short = 'b')]
    detached: bool,
    /// Sign standard input
    #[arg(short = 's')]
    sign: bool,
    /// Write PEM
    #[arg(short = 'a')]
    armour: bool,
    /// The private key to sign with
    #[arg(short = 'u', value_name = "KEY", value_hint = ValueHint::FilePath)]
    #[arg(requires_all = ["detached", "sign", "armour"], required_unless_present = "verify")]
    pub(crate) key: Option<PathBuf>,
    /// Verify the signature of a content
    #[arg(long, value_names = ["SIGNATURE", "CONTENT"], num_args = 2, action = ArgAction::Set)]
    #[arg(conflicts_with = "key", value_hint = ValueHint::FilePath)]
    pub(crate) verify: Vec<PathBuf>,
}

impl GitX509 {
    /// Whether this program runs in place of gpgsm: its arguments begin with one that ssh-keygen
    /// does not have.
    pub(crate) fn is_meant() -> bool {
        std::env::args_os().nth(1).is_some_and(|argument| argument.as_encoded_bytes().starts_with(b"--status-fd"))
    }
}
