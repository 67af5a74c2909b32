//! The one list of backends, and their names.
//!
//! The documentation of a name lists the instructions that it demands and may execute, so a backend
//! that is chosen by name executes nothing beyond them. `cargo xtask ct-trace` checks it for avx2
//! and gfni256.

/// Hands the list of backends to the macro `$callback`, after `$arguments`.
///
/// A row is: variant of [`BackendKind`], which is also the type of its token; the condition under
/// which it is compiled, named by `build.rs`; the name on command lines; documentation. The fastest
/// one is the last.
macro_rules! for_the_backends {
    ($arguments:tt => $($callback:tt)+) => {
        $($callback)+! {
            $arguments
            Portable(all()) "portable" "Tables and bit slices, on any machine.";
            Armv7em(aioli_armv7em) "armv7em" "Cortex-M4 and its like, in assembly.";
            Simd128(aioli_wasm32) "simd128" "WebAssembly with vectors of 128 bits.";
            Neon(aioli_aarch64) "neon" "64-bit Arm with NEON.";
            Avx2(aioli_x86_64) "avx2" "x86-64 with AVX2 and AES-NI; VAES on 256 bits if the processor has it.";
            Gfni256(aioli_x86_64) "gfni256" "x86-64 with AVX2, GFNI and VAES on 256 bits, for processors without AVX-512.";
            Gfni512(aioli_x86_64) "gfni512" "x86-64 with AVX-512 (F, BW, VL, VBMI), GFNI and VAES.";
        }
    };
}
pub(crate) use for_the_backends;

macro_rules! kinds {
    (() $($name:ident($condition:meta) $label:literal $doc:literal;)*) => {
        /// The name of a backend, on every target.
        ///
        /// A name is no proof that this machine can run the backend: that is a
        /// [`DetectedBackend`](crate::backend::DetectedBackend).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum BackendKind {
            $(#[doc = $doc] $name,)*
        }

        impl BackendKind {
            /// All backends, the fastest last.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name, as `--backend` takes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)*
                }
            }
        }
    };
}
for_the_backends! { () => kinds }

impl core::fmt::Display for BackendKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
