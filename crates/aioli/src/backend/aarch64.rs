//! The backend of 64-bit Arm: its detection, and the kernel behind each of its methods.
//!
//! It has no cycle figures: it was tested under QEMU, which counts instructions but knows no time
//! (`cargo xtask neon`). Two extensions make it faster:
//!
//! - The AES extension computes the key stream; otherwise the crate `aes` does, in bit slices.
//! - The SHA-3 extension has a three-way XOR, for the left product, the solver and the code inlined
//!   into `vectorize`. The crate `keccak` uses it for SHAKE256 by itself, on every backend.
#![allow(unsafe_code, reason = "calls of functions compiled for more instructions than the target has")]

mod aes128_ctr;
mod left_product;
mod solve;
mod vector;

use super::contract::Backend;
use super::kind::BackendKind;
use super::portable;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;
use std::arch::is_aarch64_feature_detected;

/// NEON, and the AES and SHA-3 extensions if the processor has them.
///
/// NEON is part of every target that this backend is built for. Each call looks for the extensions,
/// which costs a few instructions.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

impl Neon {
    /// The token, if this processor has the instructions.
    pub fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Backend for Neon {
    const NAME: &'static str = BackendKind::Neon.name();

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        if is_aarch64_feature_detected!("sha3") {
            // SAFETY: this processor has the instructions.
            unsafe { left_product::left_product_sha3(left, right, out) }
        } else {
            left_product::left_product(left, right, out);
        }
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        portable::stream::left_product(self, left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        if is_aarch64_feature_detected!("aes") {
            // SAFETY: this processor has the instructions.
            unsafe { aes128_ctr::aes128_ctr(key, iv, first, out) }
        } else {
            portable::aes128_ctr::aes128_ctr(key, iv, first, out);
        }
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        portable::shake256::shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        if is_aarch64_feature_detected!("sha3") {
            // SAFETY: this processor has the instructions.
            unsafe { solve::solve_sha3(columns, m, x) }
        } else {
            solve::solve(columns, m, x)
        }
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        if is_aarch64_feature_detected!("sha3") {
            // SAFETY: this processor has the instructions.
            unsafe { run_sha3(f) }
        } else {
            f()
        }
    }
}

/// Runs `f`, compiled for three-way XORs.
#[target_feature(enable = "sha3")]
fn run_sha3<T>(f: impl FnOnce() -> T) -> T {
    f()
}
