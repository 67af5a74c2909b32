//! The kernel contract, and the choice of a backend for this machine.
//!
//! A [`Backend`] serves the few steps that the time goes into; all else is written once, over the trait. The portable
//! one is complete, and a new one begins as a copy of its delegations and replaces one kernel at a time. A backend is a
//! zero-sized token that only its `detect` can make: holding it is the proof that this processor can run it.
//!
//! [`BackendKind`] names the backends, and [`BackendKind::best`] is what every public operation uses, chosen once a call.
#![doc = ""]
#![doc = include_str!("../docs/one-pass.md")]

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_pointer_width = "64", feature = "std"))]
mod aarch64;
#[cfg(aioli_armv7em)]
mod armv7em;
#[cfg(all(test, feature = "std"))]
mod contract;
mod portable;
#[cfg(aioli_ct)]
pub(crate) mod taint;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86_64;

use crate::packed::{Coefficients, Operand};
use crate::stream::StreamPart;

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_pointer_width = "64", feature = "std"))]
pub use aarch64::Neon;
#[cfg(aioli_armv7em)]
pub use armv7em::Armv7em;
pub use portable::Portable;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub use x86_64::{Avx2, Gfni256, Gfni512};

/// The largest number of rows that [`Backend::left_product`] is asked for: k + o of MAYO_5.
pub const MAX_ROWS: usize = 24;

/// The kernels.
///
/// Every method must run in a time and touch addresses that depend on shapes and public arguments alone. Which
/// arguments are secret stands at each method.
pub trait Backend: Copy + Send + Sync + 'static {
    /// The name under which measurements know it.
    const NAME: &'static str;

    /// Bytes of a vector register: what [`vectorize`](Self::vectorize)d code has whole multiples of where it can choose.
    const REGISTER: usize = 16;

    /// `out += X R`: the product of a small dense matrix from the left with a matrix of m-vectors.
    ///
    /// X has at most [`MAX_ROWS`] rows and as many columns as `rows` has rows. For each row r of X, the
    /// `rows.row_bytes()` bytes at `r * stride` of `out` receive the sum over i of X\[r\]\[i\] times row i of `rows`,
    /// added to what they held; a row of a triangle lands at `i * step` within them. Bytes of `out` between the rows
    /// keep their values. `out` reaches at least to the end of its last row.
    ///
    /// Secret: `out`, X, and `rows` unless [`Operand::is_public`]. Public: all shapes. Linear in X and in `rows`.
    fn left_product(self, x: Coefficients<'_>, rows: Operand<'_>, out: &mut [u8], stride: usize);

    /// `out += X R` as [`left_product`](Self::left_product) does, R being part of the AES-128-CTR stream of `key`: P1 and
    /// P2 where they are not in memory.
    ///
    /// X has as many columns as the part has rows. Row i of it lands at `part.column(i)` within each row of `out`.
    /// `window` is memory to expand into, at least the longest row of the part and 32 bytes; it may be left with
    /// anything public in it, and nothing else.
    ///
    /// Secret: `out`, X.
    fn left_product_of_stream(
        self,
        x: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: &mut [u8],
        stride: usize,
    ) {
        crate::stream::left_product(self, x, key, part, window, out, stride);
    }

    /// `p3 += O^T Q` with Q = P2 + (O^T P1)', ' transposing a matrix of m-vectors, where a backend has a shorter way to it
    /// than two left products. Returns false, and has changed nothing, where it has none; that depends on shapes and on
    /// [`Operand::is_public`] alone.
    ///
    /// `oil` is O^T, of o rows and v columns. `p1` is a public upper triangle of v rows, whose m-vectors are `p1.step()`
    /// bytes long, `p2` has v public rows of o m-vectors, and `p3` o rows of o. `memory`, of any content, is at least twice
    /// as long as `p2`, and may be left with secrets.
    ///
    /// Secret: `oil`, `memory`, `p3`. Public: `p1`, `p2`, all shapes.
    fn key_product(
        self,
        oil: Coefficients<'_>,
        p1: Operand<'_>,
        p2: Operand<'_>,
        memory: &mut [u8],
        p3: &mut [u8],
    ) -> bool {
        _ = (oil, p1, p2, memory, p3);
        false
    }

    /// Fills `out` with AES-128 of the blocks `iv ^ j`, j = `first`, `first + 1`, ... as 128-bit big-endian numbers.
    ///
    /// With a zero `iv` that is counter mode from block `first` on. The last block is cut to the length of `out`.
    /// Nothing is secret.
    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]);

    /// SHAKE256 of each input, the concatenation of its parts, into all of the output in the same place.
    ///
    /// Inputs have at most 271 bytes. Several at a time may cost what one costs.
    ///
    /// Secret: what inputs and outputs hold. Public: their lengths.
    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        for (parts, output) in inputs.iter().zip(outputs) {
            crate::xof::shake256(parts, output);
        }
    }

    /// Solves `A x = y` with the free variables zero; returns 1, or 0 if the rank of A is below m.
    ///
    /// `columns` holds the columns of A and then y, each `m` elements packed into `m / 2` bytes; it is used as working
    /// memory. Pivots are taken from the left: a column is free exactly if it depends on those before it. `x`
    /// receives one element a byte for each column of A. When the result is 0, what `x` holds is unspecified. `m` is
    /// even and at most 142; A has at most 144 columns and fewer than m + 15.
    ///
    /// Secret: everything but `m` and the lengths; the returned byte, too, is declassified by the caller alone.
    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        crate::solve::solve(columns, m, x)
    }

    /// Runs `f`, compiled with the vector instructions that this backend may use.
    ///
    /// For code that the compiler vectorizes well enough by itself. Only what is inlined into `f` is affected.
    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        f()
    }
}

/// The backends by name, on every target; [`BackendKind::available`] lists those that this machine can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendKind {
    /// Tables and bit slices, on any machine.
    Portable,
    /// 64-bit Arm with NEON.
    Neon,
    /// Cortex-M4 and its like, in assembly.
    Armv7em,
    /// x86-64 with AVX2 and AES-NI.
    Avx2,
    /// x86-64 with AVX2 and GFNI, for processors without AVX-512.
    Gfni256,
    /// x86-64 with AVX-512 (F, BW, VL, VBMI), GFNI and VAES.
    Gfni512,
}

impl BackendKind {
    /// All kinds, the fastest last.
    pub const ALL: &'static [BackendKind] = &[
        BackendKind::Portable,
        BackendKind::Armv7em,
        BackendKind::Neon,
        BackendKind::Avx2,
        BackendKind::Gfni256,
        BackendKind::Gfni512,
    ];

    /// The name, as `--backend` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            BackendKind::Portable => "portable",
            BackendKind::Neon => "neon",
            BackendKind::Armv7em => "armv7em",
            BackendKind::Avx2 => "avx2",
            BackendKind::Gfni256 => "gfni256",
            BackendKind::Gfni512 => "gfni512",
        }
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        self == BackendKind::Portable || !matches!(self.token(), Token::Portable(_))
    }

    /// The kinds that this machine can run, the fastest last.
    pub fn available() -> impl DoubleEndedIterator<Item = BackendKind> {
        Self::ALL.iter().copied().filter(|kind| kind.is_available())
    }

    /// The fastest kind that this machine can run.
    pub fn best() -> BackendKind {
        Self::available().next_back().unwrap_or(BackendKind::Portable)
    }

    /// The backend itself if this machine can run it, else the portable one.
    pub(crate) fn token(self) -> Token {
        let token = match self {
            #[cfg(all(
                target_arch = "aarch64",
                target_endian = "little",
                target_pointer_width = "64",
                feature = "std"
            ))]
            BackendKind::Neon => Neon::detect().map(Token::Neon),
            #[cfg(aioli_armv7em)]
            BackendKind::Armv7em => Armv7em::detect().map(Token::Armv7em),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            BackendKind::Avx2 => Avx2::detect().map(Token::Avx2),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            BackendKind::Gfni256 => Gfni256::detect().map(Token::Gfni256),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            BackendKind::Gfni512 => Gfni512::detect().map(Token::Gfni512),
            _ => None,
        };
        token.unwrap_or(Token::Portable(Portable::detect()))
    }
}

/// The token of some backend.
pub(crate) enum Token {
    Portable(Portable),
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_pointer_width = "64", feature = "std"))]
    Neon(Neon),
    #[cfg(aioli_armv7em)]
    Armv7em(Armv7em),
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2(Avx2),
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Gfni256(Gfni256),
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Gfni512(Gfni512),
}

impl core::fmt::Display for BackendKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

impl core::str::FromStr for BackendKind {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or(crate::Error::UnknownName { what: "backend" })
    }
}

/// Runs an expression with the backend of a [`BackendKind`], the one place where a run-time choice becomes a type; a kind that
/// this machine cannot run falls back to portable.
#[cfg(feature = "alloc")]
macro_rules! with_backend {
    ($kind:expr, |$backend:ident| $body:expr) => {
        match $kind.token() {
            $crate::backend::Token::Portable($backend) => $body,
            #[cfg(all(
                target_arch = "aarch64",
                target_endian = "little",
                target_pointer_width = "64",
                feature = "std"
            ))]
            $crate::backend::Token::Neon($backend) => $body,
            #[cfg(aioli_armv7em)]
            $crate::backend::Token::Armv7em($backend) => $body,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            $crate::backend::Token::Avx2($backend) => $body,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            $crate::backend::Token::Gfni256($backend) => $body,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            $crate::backend::Token::Gfni512($backend) => $body,
        }
    };
}
#[cfg(feature = "alloc")]
pub(crate) use with_backend;
