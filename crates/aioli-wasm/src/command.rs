//! The files of the command, read, written and described by its own code.

#[cfg(feature = "describe")]
#[path = "../../aioli-cli/src/describe.rs"]
pub(crate) mod describe;
#[path = "../../aioli-cli/src/envelope.rs"]
pub(crate) mod envelope;
#[path = "../../aioli-cli/src/fingerprint.rs"]
pub(crate) mod fingerprint;
#[cfg(feature = "describe")]
#[path = "../../aioli-cli/src/reason.rs"]
#[allow(dead_code, reason = "the command refuses more kinds of files")]
pub(crate) mod reason;
#[path = "../../aioli-cli/src/round.rs"]
pub(crate) mod round;
#[cfg(feature = "describe")]
#[path = "../../aioli-cli/src/shown.rs"]
#[allow(dead_code, reason = "there are no paths here")]
pub(crate) mod shown;
#[cfg(feature = "describe")]
#[path = "../../aioli-cli/src/sshsig.rs"]
#[allow(dead_code, reason = "signatures for git are described here, not made")]
pub(crate) mod sshsig;
