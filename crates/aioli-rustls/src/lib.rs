#![doc = include_str!("../README.md")]

mod key;
mod provider;
mod resolver;

pub use key::signing_key;
pub use provider::{CodePoint, ROUND_2, ROUND_3, provider};
pub use resolver::Resolver;

pub use rustls;
