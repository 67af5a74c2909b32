//! The techniques, their names, and each as an implementation of the kernel contract.

use super::library::Library;
use super::team::Team;
use super::{m4r, scalar, sliced};
use crate::published::Published;
use aioli::backend::{Backend, BackendKind, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use anyhow::{Context, Result};
use std::fmt;
use std::str::FromStr;

/// A technique: a kernel, and the threads that share one operation, if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Technique {
    kernel: Kernel,
    team: Option<Team>,
}

/// The kernels: some for study only, and the library's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Scalar,
    Lut,
    Bitsliced,
    /// The Method of the Four Russians, with strips of one row and of two.
    M4r1,
    M4r2,
    Library(BackendKind),
}

impl Technique {
    const fn of(kernel: Kernel) -> Self {
        Self { kernel, team: None }
    }

    /// A backend of the library.
    pub(crate) const fn library(kind: BackendKind) -> Self {
        Self::of(Kernel::Library(kind))
    }

    /// All kernels that this machine can run, each on one thread.
    pub(crate) fn kernels() -> impl Iterator<Item = Self> {
        let study = [Kernel::Scalar, Kernel::Lut, Kernel::Bitsliced, Kernel::M4r1, Kernel::M4r2];
        study.into_iter().map(Self::of).chain(BackendKind::available().map(Self::library))
    }

    /// All techniques that this machine can run: the kernels alone, and the rungs of the ladder
    /// with every team. A vector kernel with a team is a hybrid.
    pub(crate) fn available() -> Vec<Self> {
        let teams = Team::all();
        let rungs = [Kernel::Scalar, Kernel::Lut, Kernel::Bitsliced].map(Self::of).into_iter();
        let library = BackendKind::available().filter(|kind| *kind != BackendKind::Gfni256).map(Self::library);
        let with_teams = rungs
            .chain(library)
            .flat_map(|alone| teams.clone().map(move |team| Self { kernel: alone.kernel, team: Some(team) }));
        Self::kernels().chain(with_teams).collect()
    }

    /// The technique as a backend, its threads started.
    ///
    /// # Errors
    ///
    /// If this machine cannot run it, or gives no threads.
    pub(crate) fn token(self) -> Result<Token> {
        let kernel = match self.kernel {
            Kernel::Scalar => KernelToken::Scalar,
            Kernel::Lut => KernelToken::Lut,
            Kernel::Bitsliced => KernelToken::Bitsliced,
            Kernel::M4r1 => KernelToken::M4r1,
            Kernel::M4r2 => KernelToken::M4r2,
            Kernel::Library(kind) => KernelToken::Library(
                Library::detect(kind)
                    .with_context(|| format!("{self}: this machine does not have the instructions"))?,
            ),
        };
        self.team.map_or(Ok(()), Team::start)?;
        Ok(Token { kernel, team: self.team })
    }

    /// Whether it works on one element at a time.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self.kernel, Kernel::Scalar | Kernel::Lut)
    }

    /// Whether threads share an operation.
    pub(super) fn has_team(self) -> bool {
        self.team.is_some()
    }

    /// A caveat that a reader of its figures must know.
    pub(crate) fn caveat(self) -> Option<String> {
        let text = match self.kernel {
            Kernel::Scalar => "one element to a byte, multiplied by logarithms as one writes it first: not constant \
                               time"
                .into(),
            Kernel::Lut => {
                format!(
                    "the same with {} bytes of tables ({} as published), addressed by secrets: not constant time",
                    scalar::OVERHEAD_BYTES,
                    Published::get().optimization_experiments.lut_memory_overhead_bytes
                )
            }
            Kernel::Bitsliced => "words of 64 elements; the time includes conversion from and to nibbles".into(),
            Kernel::M4r1 => "the Method of the Four Russians: P looks up the 16 multiples of a row of the secret; \
                             products with a secret operand are portable's"
                .into(),
            Kernel::M4r2 => "the same with the 256 combinations of two rows".into(),
            Kernel::Library(BackendKind::Portable) => "the library in plain Rust, 16 elements to a word".into(),
            Kernel::Library(_) => return None,
        };
        self.team.is_none().then_some(text)
    }
}

/// The name: `scalar`, `avx2`; with a team `scalar_rayon_2`, `avx2_openmp_4`.
impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = match self.kernel {
            Kernel::Scalar => "scalar",
            Kernel::Lut => "lut",
            Kernel::Bitsliced => "bitsliced",
            Kernel::M4r1 => "m4r_1",
            Kernel::M4r2 => "m4r_2",
            Kernel::Library(kind) => kind.name(),
        };
        match self.team {
            None => f.pad(kernel),
            Some(team) => f.pad(&format!("{kernel}_{team}")),
        }
    }
}

impl FromStr for Technique {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Self::available();
        all.iter().copied().find(|technique| technique.to_string() == name).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(Self::to_string).collect();
            format!("expected a technique that this machine can run: {}", names.join(", "))
        })
    }
}

/// A technique that this machine can run.
///
/// All techniques share this type, so that the scheme is compiled once for each set. The choice
/// costs a branch per call of a kernel, some nanoseconds per operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    kernel: KernelToken,
    team: Option<Team>,
}

#[derive(Clone, Copy, Debug)]
enum KernelToken {
    Scalar,
    Lut,
    Bitsliced,
    M4r1,
    M4r2,
    Library(Library),
}

impl Token {
    /// Runs `f` on a thread of the team, if there is one.
    pub(crate) fn enter<T: Send>(self, f: impl FnOnce() -> T + Send) -> T {
        match self.team {
            Some(team) => team.enter(f),
            None => f(),
        }
    }
}

impl Backend for Token {
    const NAME: &'static str = "technique";

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        match self.team {
            Some(team) => team.left_product(self.kernel, left, right, out),
            None => self.kernel.left_product(left, right, out),
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
        // P is in memory wherever a technique is measured, so no team is asked for.
        self.kernel.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        match self.team {
            Some(team) => team.aes128_ctr(self.kernel, key, iv, first, out),
            None => self.kernel.aes128_ctr(key, iv, first, out),
        }
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        self.kernel.shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        self.kernel.solve(columns, m, x)
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        self.kernel.vectorize(f)
    }
}

impl KernelToken {
    /// The backend behind whatever this kernel does not replace. A study kernel replaces the left
    /// product; the scalar ones replace the elimination too. Every kernel uses the processor's AES,
    /// if there is any.
    #[inline(always)]
    fn rest(self) -> Library {
        match self {
            Self::Library(b) => b,
            _ => Library::Portable(Portable::new()),
        }
    }
}

impl Backend for KernelToken {
    const NAME: &'static str = "kernel";

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        match self {
            Self::Scalar => scalar::left_product::<scalar::Logarithms>(left, right, out),
            Self::Lut => scalar::left_product::<scalar::Tables>(left, right, out),
            Self::Bitsliced => sliced::bitsliced(left, right, out),
            Self::M4r1 if right.is_public() => m4r::left_product::<1>(left, right, out),
            Self::M4r2 if right.is_public() => m4r::left_product::<2>(left, right, out),
            _ => self.rest().left_product(left, right, out),
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
        self.rest().left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        self.rest().aes128_ctr(key, iv, first, out);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        self.rest().shake256(inputs, outputs);
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        match self {
            Self::Scalar => scalar::solve::<scalar::Logarithms>(columns, m, x),
            Self::Lut => scalar::solve::<scalar::Tables>(columns, m, x),
            _ => self.rest().solve(columns, m, x),
        }
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        self.rest().vectorize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn random(length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        Random::fill(&mut bytes);
        bytes
    }

    #[test]
    fn names_are_told_apart_and_read_back() {
        let all = Technique::available();
        for technique in &all {
            assert_eq!(technique.to_string().parse(), Ok(*technique));
        }
        let names: Vec<String> = all.iter().map(Technique::to_string).collect();
        for name in ["scalar", "lut", "bitsliced", "m4r_1", "m4r_2", "portable", "scalar_rayon_1", "portable_rayon_4"] {
            assert!(names.iter().any(|found| found == name), "{names:?}");
        }
        assert!("sse".parse::<Technique>().unwrap_err().contains("m4r"));
    }

    /// Small shapes, triangles whose diagonal cuts tiles everywhere, and shapes large enough for
    /// threads.
    #[test]
    fn every_technique_gives_the_products_of_the_portable_backend() {
        let shapes = [
            (1, 1usize, 1, 0),
            (3, 2, 7, 3),
            (5, 4, 40, 9),
            (8, 3, 129, 39),
            (10, 6, 66, 0),
            (23, 4, 100, 32),
            (24, 5, 33, 8),
            (2, 0, 12, 0),
            (7, 40, 640, 13),
            (18, 20, 900, 0),
        ];
        for technique in Technique::available() {
            let token = technique.token().unwrap();
            for (left_rows, count, row_bytes, step) in shapes {
                let bytes = random(count * row_bytes - step * (count * count.saturating_sub(1) / 2));
                let elements: Vec<u8> = random(count * (left_rows + 1)).iter().map(|byte| byte & 15).collect();
                let right = match step {
                    0 => Operand::full(&bytes, count, row_bytes),
                    step => Operand::upper(&bytes, count, row_bytes, step),
                };
                let stride = row_bytes + 5;
                for public in [false, true] {
                    let left = Coefficients::new(&elements, left_rows + 1, left_rows);
                    let right = if public { right.public() } else { right };
                    for adds in [false, true] {
                        let mut out = random((left_rows - 1) * stride + row_bytes + 2);
                        let mut expected = out.clone();
                        Portable::new().left_product(left, right, Output::new(&mut expected, stride, adds));
                        token.left_product(left, right, Output::new(&mut out, stride, adds));
                        assert!(
                            out == expected,
                            "{technique}: {left_rows} rows, {count} of {row_bytes} bytes, step {step}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_technique_gives_the_key_stream() {
        let key = Random::bytes();
        let iv = Random::bytes();
        for technique in Technique::available() {
            for (first, length) in [(0, 100), (3, 9000), (u32::MAX - 2, 9000), (7, 50_001)] {
                let mut out = vec![0; length];
                let mut expected = vec![0; length];
                Portable::new().aes128_ctr(&key, &iv, first, &mut expected);
                technique.token().unwrap().aes128_ctr(&key, &iv, first, &mut out);
                assert!(out == expected, "{technique}: {length} bytes from block {first}");
            }
        }
    }

    #[test]
    fn every_technique_solves_and_sees_low_rank() {
        let m = 64;
        let columns = 65;
        let mut solvable = random((columns + 1) * m / 2);
        // The third column depends on the first.
        let first = solvable[..m / 2].to_vec();
        solvable[m..m + m / 2].copy_from_slice(&first);
        let mut singular = solvable.clone();
        // The last two rows are zero.
        singular.chunks_exact_mut(m / 2).for_each(|column| column[m / 2 - 1] = 0);
        for technique in Technique::available() {
            let token = technique.token().unwrap();
            let mut x = vec![9; columns];
            let mut expected = vec![7; columns];
            let found = Portable::new().solve(&mut solvable.clone(), m, &mut expected);
            assert_eq!(token.solve(&mut solvable.clone(), m, &mut x), found, "{technique}");
            if found == 1 {
                assert_eq!(x, expected, "{technique}");
            }
            assert_eq!(token.solve(&mut singular.clone(), m, &mut x), 0, "{technique}");
        }
    }
}
