//! The backends of x86-64: the instructions that each may use, and the kernel behind each of its
//! methods.
#![allow(unsafe_code, reason = "calls of functions compiled for more instructions than the target has")]

mod gfni;
mod masks;
mod vector;

mod avx2 {
    pub(super) mod aes128_ctr;
    pub(super) mod left_product;
    pub(super) mod solve;
}

mod gfni256 {
    pub(super) mod aes128_ctr;
    pub(super) mod left_product;
    pub(super) mod solve;
}

mod gfni512 {
    pub(super) mod aes128_ctr;
    pub(super) mod left_product;
    pub(super) mod shake256;
    pub(super) mod solve;
}

use super::contract::Backend;
use super::kind::BackendKind;
use super::portable;
use crate::packed::{Coefficients, Operand, Output};
use crate::stream::StreamPart;
use std::arch::is_x86_feature_detected;

/// Defines a backend: its kernels are compiled for the listed features, and run where all of them
/// were detected.
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
    /// AVX2 and AES-NI; VAES on 256 bits if the processor has it.
    Avx2, ["bmi1", "avx2", "aes"], "bmi1,avx2,aes"
);
backend!(
    /// AVX2, GFNI and VAES on 256 bits, without AVX-512.
    Gfni256, ["bmi1", "avx2", "aes", "gfni", "vaes"], "bmi1,avx2,aes,gfni,vaes"
);
backend!(
    /// AVX-512 (F, BW, VL, VBMI), GFNI and VAES.
    Gfni512,
    ["bmi1", "avx2", "aes", "gfni", "vaes", "avx512f", "avx512bw", "avx512vl", "avx512vbmi"],
    "bmi1,avx2,aes,gfni,vaes,avx512f,avx512bw,avx512vl,avx512vbmi"
);

/// Implements the contract for one backend, given the bytes of a register and the kernel of each
/// method.
macro_rules! delegate {
    (
        $name:ident,
        register: $register:literal,
        left_product: $left_product:path,
        left_product_of_stream: $left_product_of_stream:path,
        aes128_ctr: $aes128_ctr:path,
        shake256: $shake256:path,
        solve: $solve:path,
    ) => {
        #[allow(unused_unsafe, reason = "a portable kernel needs no instructions beyond the target's")]
        impl Backend for $name {
            const NAME: &'static str = BackendKind::$name.name();

            const REGISTER: usize = $register;

            #[cfg_attr(
                not(aioli_ct = "msan"),
                allow(unused_mut, reason = "MemorySanitizer's marks follow the product")
            )]
            fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, mut out: Output<'_>) {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { $left_product(left, right, out.from_column(0)) }
                #[cfg(aioli_ct = "msan")]
                spread_marks(left, right, &out);
            }

            fn left_product_of_stream(
                self,
                left: Coefficients<'_>,
                key: &[u8; 16],
                part: &StreamPart,
                window: &mut [u8],
                out: Output<'_>,
            ) {
                $left_product_of_stream(self, left, key, part, window, out);
            }

            fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { $aes128_ctr(key, iv, first, out) }
            }

            fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
                // SAFETY: holding the token proves that this processor has the instructions.
                unsafe { $shake256(inputs, outputs) }
            }

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

delegate! {
    Avx2,
    register: 32,
    left_product: avx2::left_product::left_product,
    left_product_of_stream: portable::stream::left_product,
    aes128_ctr: avx2::aes128_ctr::aes128_ctr,
    shake256: portable::shake256::shake256,
    solve: avx2::solve::solve,
}

delegate! {
    Gfni256,
    register: 32,
    left_product: gfni256::left_product::left_product,
    left_product_of_stream: portable::stream::left_product,
    aes128_ctr: gfni256::aes128_ctr::aes128_ctr,
    shake256: portable::shake256::shake256,
    solve: gfni256::solve::solve,
}

delegate! {
    Gfni512,
    register: 64,
    left_product: gfni512::left_product::left_product,
    left_product_of_stream: portable::stream::left_product,
    aes128_ctr: gfni512::aes128_ctr::aes128_ctr,
    shake256: gfni512::shake256::shake256,
    solve: gfni512::solve::solve,
}

/// Marks the whole of a left product as secret if `left` or `right` has a mark.
///
/// A byte of a matrix of `vgf2p8affineqb` goes into all eight bytes of a word of the result.
/// MemorySanitizer carries its mark only to the byte in the same place.
#[cfg(aioli_ct = "msan")]
fn spread_marks(left: Coefficients<'_>, right: Operand<'_>, out: &Output<'_>) {
    use super::taint::{poison, poisoned};
    if poisoned(left.elements()) > 0 || (0..right.count()).any(|i| poisoned(right.row(i)) > 0) {
        out.bytes.chunks(out.stride).take(left.rows()).for_each(|row| poison(&row[..right.row_bytes()]));
    }
}
