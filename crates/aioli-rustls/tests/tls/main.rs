//! TLS 1.3 with certificates of MAYO: in memory, and by the examples over a network.

mod examples;
mod handshakes;
mod in_memory;
