//! The interface to C of Aioli. `include/aioli.h`, made from these sources, is its documentation;
//! README.md shows how to build and use it.
//!
//! Each exported function turns its pointers into slices and references (edge.rs), and the rest is
//! the library's module `any`. Panics end there, as AIOLI_STATUS_INTERNAL.
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unreachable_pub, reason = "what C sees must be public to the program that writes the header")]

// The header keeps this order; comments between the lines keep them from being sorted.

mod status;
// Messages of failures.
mod message;
// Parameter sets.
mod algorithm;
// Keys, signatures.
mod signing_key;
// Public keys and verification.
mod public_key;
// Streaming.
mod hasher;
// Many at once.
mod batch;

mod edge;
