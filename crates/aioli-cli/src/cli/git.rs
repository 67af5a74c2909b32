//! The arguments of `aioli-git`, which are those that git gives to ssh-keygen.

use clap::{Parser, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// MAYO signatures for git, in place of ssh-keygen
///
/// git runs this program if `gpg.format` is `ssh` and `gpg.ssh.program` names it. The program is
/// `aioli` under the name `aioli-git`: a link to it.
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
