//! Helpers that several fuzz targets share. `cargo xtask fuzz` builds and runs the targets.

pub mod formats;
pub mod guard;

use aioli::Algorithm;
use aioli::backend::BackendKind;
use arbitrary::Unstructured;

/// Evaluates an expression for the token of each backend that this machine can run, portable first.
#[macro_export]
macro_rules! on_every_backend {
    (|$b:ident| $body:expr) => {{
        {
            let $b = aioli::backend::Portable::new();
            $body
        }
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($b) = aioli::backend::Avx2::detect() {
                $body
            }
            if let Some($b) = aioli::backend::Gfni256::detect() {
                $body
            }
            if let Some($b) = aioli::backend::Gfni512::detect() {
                $body
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some($b) = aioli::backend::Neon::detect() {
            $body
        }
    }};
}

/// Fails unless every backend runs that `AIOLI_REQUIRE_BACKENDS` names, separated by commas.
///
/// # Panics
///
/// Panics if one of them does not run.
pub fn require_backends() {
    let required = std::env::var("AIOLI_REQUIRE_BACKENDS").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        let kind: BackendKind = name.parse().expect("AIOLI_REQUIRE_BACKENDS has names of backends");
        assert!(kind.detect().is_ok(), "backend {name} is required, and this machine cannot run it");
    }
}

/// The passphrase of the encrypted private keys among the seeds.
pub const PASSPHRASE: &[u8] = b"passphrase";

/// A parameter set, chosen by the input.
///
/// # Errors
///
/// Those of [`Unstructured::choose`].
pub fn set(input: &mut Unstructured<'_>) -> arbitrary::Result<Algorithm> {
    input.choose(&Algorithm::ALL).copied()
}

/// A generator of data whose values matter little: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        });
        words.take(length.div_ceil(8)).flat_map(u64::to_le_bytes).take(length).collect()
    }
}
