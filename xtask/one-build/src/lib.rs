//! No code: cargo selects this crate beside a package, as in `cargo test -p aioli-x509 -p
//! one-build`. The library and all below it then have the features of every other build of the
//! checks, so that all of them share one.
