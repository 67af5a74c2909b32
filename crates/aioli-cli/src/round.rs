//! The number of a round, as files and tables show it.

use aioli::{Algorithm, Round};

/// The number of the round that a set belongs to.
pub(crate) fn round_number(set: Algorithm) -> u8 {
    match set.round() {
        Round::Two => 2,
        Round::Three => 3,
    }
}
