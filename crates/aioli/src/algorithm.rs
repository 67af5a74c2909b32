//! The parameter sets as values, for edges that choose at run time: commands, files, bindings.

/// A version of MAYO. The rounds do not interoperate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Round {
    /// Specification of February 2025.
    Two,
    /// Specification of August 2026, the current MAYO.
    Three,
}

macro_rules! algorithm {
    (
        ()
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {
        /// A parameter set of a round.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Algorithm {
            $($(
                #[doc = $set_doc]
                $variant,
            )*)*
        }

        impl Algorithm {
            /// All sets, round 3 first.
            pub const ALL: [Self; [$($($level),*),*].len()] = [$($(Self::$variant),*),*];

            /// The name on command lines and in files: `mayo1`, `mayo1-round2`.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$variant => $label,)*)*
                }
            }

            /// The specification's name of the set, without the round: `MAYO_1`.
            pub const fn set_name(self) -> &'static str {
                match self {
                    $($(Self::$variant => $spec,)*)*
                }
            }

            /// The NIST security level claimed for the set.
            pub const fn level(self) -> u8 {
                match self {
                    $($(Self::$variant => $level,)*)*
                }
            }
        }
    };
}
crate::for_the_sets! { () => algorithm }

impl Algorithm {
    /// Why the set should not protect anything, if there is a reason.
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "round2")]
            Self::Mayo2Round2 => {
                Some("round 2's MAYO_2 is broken at its claimed level (wedge attack, about 2^113): for comparison only")
            }
            _ => None,
        }
    }
}

/// Prints [`Algorithm::name`].
impl core::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
