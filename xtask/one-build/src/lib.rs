//! Nothing. Selected beside a package, as in `cargo test -p aioli-x509 -p one-build`, this crate
//! makes cargo build the library and all below it with the features of every other build of the
//! checks, so that all of them share one.
