//! The parameter sets as values, for edges that choose at run time: commands, files, bindings.

use crate::Error;
use crate::params::ParameterSet;

/// A version of MAYO. The rounds do not interoperate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Round {
    /// Specification of February 2025.
    Two,
    /// Specification of August 2026: today's MAYO.
    Three,
}

/// A parameter set of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// MAYO_1 of round 3.
    Mayo1,
    /// MAYO_2 of round 3.
    Mayo2,
    /// MAYO_3 of round 3.
    Mayo3,
    /// MAYO_5 of round 3.
    Mayo5,
    /// MAYO_1 of round 2.
    Mayo1Round2,
    /// MAYO_2 of round 2, broken at its claimed level.
    Mayo2Round2,
    /// MAYO_3 of round 2.
    Mayo3Round2,
    /// MAYO_5 of round 2.
    Mayo5Round2,
}

/// Evaluates an expression with a type alias bound to the set of an [`Algorithm`].
///
/// `with_set!(algorithm, P => hazmat::keygen::<P>(kind, seed))`
#[macro_export]
macro_rules! with_set {
    ($algorithm:expr, $set:ident => $body:expr) => {{
        match $algorithm {
            $crate::Algorithm::Mayo1 => {
                type $set = $crate::round3::Mayo1;
                $body
            }
            $crate::Algorithm::Mayo2 => {
                type $set = $crate::round3::Mayo2;
                $body
            }
            $crate::Algorithm::Mayo3 => {
                type $set = $crate::round3::Mayo3;
                $body
            }
            $crate::Algorithm::Mayo5 => {
                type $set = $crate::round3::Mayo5;
                $body
            }
            $crate::Algorithm::Mayo1Round2 => {
                type $set = $crate::round2::Mayo1;
                $body
            }
            $crate::Algorithm::Mayo2Round2 => {
                type $set = $crate::round2::Mayo2;
                $body
            }
            $crate::Algorithm::Mayo3Round2 => {
                type $set = $crate::round2::Mayo3;
                $body
            }
            $crate::Algorithm::Mayo5Round2 => {
                type $set = $crate::round2::Mayo5;
                $body
            }
        }
    }};
}
#[cfg(all(feature = "alloc", not(aioli_ct)))]
pub(crate) use with_set;

impl Algorithm {
    /// All sets, today's first.
    pub const ALL: [Self; 8] = [
        Self::Mayo1,
        Self::Mayo2,
        Self::Mayo3,
        Self::Mayo5,
        Self::Mayo1Round2,
        Self::Mayo2Round2,
        Self::Mayo3Round2,
        Self::Mayo5Round2,
    ];

    /// The name on command lines and in files: `mayo1`, `mayo1-round2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mayo1 => "mayo1",
            Self::Mayo2 => "mayo2",
            Self::Mayo3 => "mayo3",
            Self::Mayo5 => "mayo5",
            Self::Mayo1Round2 => "mayo1-round2",
            Self::Mayo2Round2 => "mayo2-round2",
            Self::Mayo3Round2 => "mayo3-round2",
            Self::Mayo5Round2 => "mayo5-round2",
        }
    }

    /// The specification's name of the set, without the round: `MAYO_1`.
    pub const fn set_name(self) -> &'static str {
        match self {
            Self::Mayo1 | Self::Mayo1Round2 => "MAYO_1",
            Self::Mayo2 | Self::Mayo2Round2 => "MAYO_2",
            Self::Mayo3 | Self::Mayo3Round2 => "MAYO_3",
            Self::Mayo5 | Self::Mayo5Round2 => "MAYO_5",
        }
    }

    /// The round.
    pub fn round(self) -> Round {
        with_set!(self, P => P::ROUND)
    }

    /// The NIST security level claimed for the set.
    pub const fn level(self) -> u8 {
        match self {
            Self::Mayo1 | Self::Mayo2 | Self::Mayo1Round2 | Self::Mayo2Round2 => 1,
            Self::Mayo3 | Self::Mayo3Round2 => 3,
            Self::Mayo5 | Self::Mayo5Round2 => 5,
        }
    }

    /// Why the set should not protect anything, if there is a reason.
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Mayo2Round2 => {
                Some("round 2's MAYO_2 is broken at its claimed level (wedge attack, about 2^113): for comparison only")
            }
            _ => None,
        }
    }

    /// Bytes of a compact secret key.
    pub fn secret_key_bytes(self) -> usize {
        with_set!(self, P => P::SECRET_KEY_BYTES)
    }

    /// Bytes of a compact public key.
    pub fn public_key_bytes(self) -> usize {
        with_set!(self, P => P::PUBLIC_KEY_BYTES)
    }

    /// Bytes of a signature.
    pub fn signature_bytes(self) -> usize {
        with_set!(self, P => P::SIGNATURE_BYTES)
    }
}

/// As in [`Algorithm::name`].
impl core::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// As in [`Algorithm::name`].
impl core::str::FromStr for Algorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or(Error::UnknownName { what: "set" })
    }
}
