//! The library's backends as one type, so that a scheme over techniques is compiled once.

#[cfg(target_arch = "aarch64")]
use aioli::backend::Neon;
#[cfg(target_arch = "x86_64")]
use aioli::backend::{Avx2, Gfni256, Gfni512};
use aioli::backend::{Backend, BackendKind, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;

macro_rules! library {
    ($($(#[$condition:meta])? $name:ident: $detected:expr;)*) => {
        /// A backend of the library that this machine can run.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Library {
            $($(#[$condition])? $name($name),)*
        }

        impl Library {
            /// The backend, if this machine can run it.
            pub(super) fn detect(kind: BackendKind) -> Option<Self> {
                match kind {
                    $($(#[$condition])? BackendKind::$name => $detected.map(Self::$name),)*
                    _ => None,
                }
            }
        }

        impl Backend for Library {
            const NAME: &'static str = "library";

            const REGISTER: usize = 16;

            fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
                match self {
                    $($(#[$condition])? Self::$name(b) => b.left_product(left, right, out),)*
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
                match self {
                    $($(#[$condition])? Self::$name(b) => {
                        b.left_product_of_stream(left, key, part, window, out)
                    })*
                }
            }

            fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
                match self {
                    $($(#[$condition])? Self::$name(b) => b.aes128_ctr(key, iv, first, out),)*
                }
            }

            fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
                match self {
                    $($(#[$condition])? Self::$name(b) => b.shake256(inputs, outputs),)*
                }
            }

            fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
                match self {
                    $($(#[$condition])? Self::$name(b) => b.solve(columns, m, x),)*
                }
            }

            #[inline(always)]
            fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
                match self {
                    $($(#[$condition])? Self::$name(b) => b.vectorize(f),)*
                }
            }
        }
    };
}

library! {
    Portable: Some(Portable::new());
    #[cfg(target_arch = "aarch64")]
    Neon: Neon::detect();
    #[cfg(target_arch = "x86_64")]
    Avx2: Avx2::detect();
    #[cfg(target_arch = "x86_64")]
    Gfni256: Gfni256::detect();
    #[cfg(target_arch = "x86_64")]
    Gfni512: Gfni512::detect();
}
