#![doc = include_str!("../README.md")]

pub mod algorithms;
mod authority;
mod certificate;
pub mod cms;
mod contents;
mod error;
mod host;
mod request;
mod signed;
mod trust;

pub use authority::{Authority, Validity, days};
pub use certificate::Certificate;
pub use contents::Contents;
pub use error::Error;
pub use host::Host;
pub use request::Request;
pub use trust::{Purpose, Trust};

pub use rustls_pki_types as pki_types;
pub use x509_cert::name::Name;
pub use x509_cert::{self, time::Time};
