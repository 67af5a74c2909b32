//! The backends of x86-64: which instructions each may use, and its delegations to the kernels.
#![allow(unsafe_code, reason = "calls of functions compiled for more instructions than the target has")]

mod aes;
mod avx2;
mod gfni;
mod gfni256;
mod gfni512;
mod keccak;
mod solve_avx2;
mod solve_gfni256;
mod solve_gfni512;

use super::{Backend, portable};
use crate::packed::{Coefficients, Operand};
use std::arch::is_x86_feature_detected;

/// A backend whose kernels are compiled for the listed features, and can be run where all of them were detected.
macro_rules! backend {
    ($(#[$doc:meta])* $name:ident, [$($feature:tt),*], $enable:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The token, if this processor has the instructions.
            pub fn detect() -> Option<Self> {
                ($(is_x86_feature_detected!($feature))&&*).then_some(Self(()))
            }

            #[target_feature(enable = $enable)]
            fn run<T>(f: impl FnOnce() -> T) -> T {
                f()
            }
        }
    };
}

backend!(
    /// AVX2 and AES-NI.
    Avx2, ["bmi1", "avx2", "aes"], "bmi1,avx2,aes"
);
backend!(
    /// AVX2 and GFNI, without AVX-512; VAES on 256 bits where there is any.
    Gfni256, ["bmi1", "avx2", "aes", "gfni"], "bmi1,avx2,aes,gfni"
);
backend!(
    /// AVX-512 (F, BW, VL, VBMI), GFNI and VAES.
    Gfni512,
    ["bmi1", "avx2", "aes", "gfni", "vaes", "avx512f", "avx512bw", "avx512vl", "avx512vbmi"],
    "bmi1,avx2,aes,gfni,vaes,avx512f,avx512bw,avx512vl,avx512vbmi"
);

/// The trait for one backend, its kernels given by path.
macro_rules! delegate {
    ($name:ident, $label:literal, register: $register:literal, left_product: $left_product:path, aes128_ctr: $aes128_ctr:path, solve: $solve:path $(, shake256: $shake256:path)?) => {
        impl Backend for $name {
            const NAME: &'static str = $label;
            const REGISTER: usize = $register;

            fn left_product(self, x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize) {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { $left_product(x, rows, out, stride) }
                #[cfg(aioli_ct = "msan")]
                super::taint::spread(x, rows, out, stride);
            }

            fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
                // SAFETY: holding the token proves that this processor has the instructions.
                #[allow(unused_unsafe, reason = "some backends share the portable kernel")]
                unsafe {
                    $aes128_ctr(key, iv, first, out);
                }
            }

            $(fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { $shake256(inputs, outputs) }
            })?

            fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
                #[cfg(aioli_ct = "msan")]
                let secret = super::taint::poisoned(columns) > 0;
                // SAFETY: holding the token proves that this processor has the instructions.
                let solved = unsafe { $solve(columns, m, x) };
                #[cfg(aioli_ct = "msan")]
                if secret {
                    super::taint::poison(x);
                }
                solved
            }

            #[inline(always)]
            fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { Self::run(f) }
            }
        }
    };
}

delegate!(Avx2, "avx2", register: 32, left_product: avx2::left_product, aes128_ctr: portable::aes128_ctr, solve: solve_avx2::solve);
delegate!(Gfni256, "gfni256", register: 32, left_product: gfni256::left_product, aes128_ctr: portable::aes128_ctr, solve: solve_gfni256::solve);
delegate!(Gfni512, "gfni512", register: 64, left_product: gfni512::left_product, aes128_ctr: aes::aes128_ctr, solve: solve_gfni512::solve, shake256: keccak::shake256);
