//! The files of the command, read and written by its own code.

#[path = "../../aioli-cli/src/envelope.rs"]
pub(crate) mod envelope;
#[path = "../../aioli-cli/src/fingerprint.rs"]
pub(crate) mod fingerprint;
#[path = "../../aioli-cli/src/round.rs"]
pub(crate) mod round;
