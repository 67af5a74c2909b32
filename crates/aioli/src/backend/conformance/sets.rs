//! The eight parameter sets, for checks that run over all of them.

/// Evaluates `$body` for each of the eight sets, which it knows by the name `$set`.
macro_rules! for_each_set {
    (|$set:ident| $body:expr) => {
        $crate::for_the_sets! { ($set, $body) => $crate::backend::conformance::sets::each_of }
    };
}
pub(super) use for_each_set;

macro_rules! each_of {
    (
        ($name:ident, $body:expr)
        $($(#[$doc:meta])* $round:ident {
            $($variant:ident = $set:ident $module:ident $label:literal $spec:literal $level:literal $oid:literal $set_doc:literal;)*
        })*
    ) => {{
        $($({
            type $name = $crate::params::$round::$set;
            $body
        })*)*
    }};
}
pub(super) use each_of;
