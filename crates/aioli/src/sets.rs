//! The one list of parameter sets.
//!
//! Everything that runs over the sets follows from it: [`Algorithm`](crate::Algorithm) and its
//! names, the modules of types, the object identifiers, the bounds of kernels,
//! [`with_set!`](crate::with_set). A new set takes a row here, its numbers in `params.rs`, and the
//! digests of its known answers in the crate `aioli-kat`.

/// Hands the list of sets to the macro `$callback`, after `$arguments`.
///
/// A row is: variant of `Algorithm`, type and module of the round, name on command lines, name in
/// the specification, NIST level, object identifier (experimental arcs of the Open Quantum Safe
/// provider), documentation of the module.
#[doc(hidden)]
#[macro_export]
macro_rules! for_the_sets {
    ($arguments:tt => $($callback:tt)+) => {
        $crate::with_round2! {
            ($arguments => $($callback)+)

            /// Round 3 (specification of August 2026), the current MAYO. Its modules are also at
            /// the top of the crate.
            round3 {
                Mayo1 = Mayo1 mayo1 "mayo1" "MAYO_1" 1 "1.3.9999.8.1.5"
                    "MAYO_1, NIST level 1: public key 1456 bytes, signature 464.";
                Mayo2 = Mayo2 mayo2 "mayo2" "MAYO_2" 1 "1.3.9999.8.2.5"
                    "MAYO_2, NIST level 1: public key 2928 bytes, signature 239.";
                Mayo3 = Mayo3 mayo3 "mayo3" "MAYO_3" 3 "1.3.9999.8.3.5"
                    "MAYO_3, NIST level 3: public key 2986 bytes, signature 681.";
                Mayo5 = Mayo5 mayo5 "mayo5" "MAYO_5" 5 "1.3.9999.8.5.5"
                    "MAYO_5, NIST level 5: public key 5554 bytes, signature 964.";
            }
        }
    };
}

/// Adds the sets of round 2 to the list, if they are compiled.
#[cfg(feature = "round2")]
#[doc(hidden)]
#[macro_export]
macro_rules! with_round2 {
    (($arguments:tt => $($callback:tt)+) $($round3:tt)*) => {
        $($callback)+! {
            $arguments
            $($round3)*

            /// Round 2 (specification of February 2025), the round of most published figures. It
            /// does not interoperate with round 3.
            round2 {
                Mayo1Round2 = Mayo1 mayo1 "mayo1-round2" "MAYO_1" 1 "1.3.9999.8.1.3"
                    "Round 2's MAYO_1, NIST level 1: public key 1420 bytes, signature 454.";
                Mayo2Round2 = Mayo2 mayo2 "mayo2-round2" "MAYO_2" 1 "1.3.9999.8.2.3"
                    "Round 2's MAYO_2, **broken at its claimed level 1** (wedge attack, about 2^113): for comparison only.";
                Mayo3Round2 = Mayo3 mayo3 "mayo3-round2" "MAYO_3" 3 "1.3.9999.8.3.3"
                    "Round 2's MAYO_3, NIST level 3: public key 2986 bytes, signature 681.";
                Mayo5Round2 = Mayo5 mayo5 "mayo5-round2" "MAYO_5" 5 "1.3.9999.8.5.3"
                    "Round 2's MAYO_5, NIST level 5: public key 5554 bytes, signature 964.";
            }
        }
    };
}

/// Hands on the list as it is: the sets of round 2 are not compiled.
#[cfg(not(feature = "round2"))]
#[doc(hidden)]
#[macro_export]
macro_rules! with_round2 {
    (($arguments:tt => $($callback:tt)+) $($round3:tt)*) => {
        $($callback)+! {
            $arguments
            $($round3)*
        }
    };
}

/// The largest value that an expression over a set P takes: `largest!(P => P::K * P::O)`.
macro_rules! largest {
    ($set:ident => $value:expr) => {
        $crate::for_the_sets! { ($set, $value) => $crate::sets::largest_of }
    };
}
pub(crate) use largest;

macro_rules! largest_of {
    (
        ($name:ident, $value:expr)
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {{
        use $crate::params::ParameterSet;
        let mut largest = 0;
        $($({
            type $name = $crate::params::$round::$set;
            let value = $value;
            if value > largest {
                largest = value;
            }
        })*)*
        largest
    }};
}
pub(crate) use largest_of;
