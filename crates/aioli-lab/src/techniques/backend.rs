//! The techniques, their names, and each as an implementation of the kernel contract.

#[cfg(feature = "openmp")]
use super::openmp;
use super::{scalar, sliced, threads};
use crate::published::Published;
#[cfg(target_arch = "x86_64")]
use aioli::backend::{Avx2, Gfni256, Gfni512};
use aioli::backend::{Backend, BackendKind, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;
use anyhow::{Context, Result};
use rayon::ThreadPool;
use std::fmt;
use std::str::FromStr;

/// A technique: a kernel, and the threads that share one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Technique {
    kernel: Kernel,
    /// The threads of a fork-join pool, if there is one. A pool of one thread shows the cost of the
    /// pool itself.
    threads: Option<usize>,
}

/// The kernels: some for study only, and the library's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Baseline,
    Lut,
    Bitsliced,
    M4r,
    /// The published loop in C, with this number of OpenMP threads.
    #[cfg(feature = "openmp")]
    OpenMp(usize),
    Library(BackendKind),
}

impl Technique {
    const fn of(kernel: Kernel) -> Self {
        Self { kernel, threads: None }
    }

    /// A backend of the library.
    pub(crate) const fn library(kind: BackendKind) -> Self {
        Self::of(Kernel::Library(kind))
    }

    /// All kernels that this machine can run, each on one thread.
    pub(crate) fn kernels() -> impl Iterator<Item = Self> {
        let study = [Kernel::Baseline, Kernel::Lut, Kernel::Bitsliced, Kernel::M4r];
        study.into_iter().map(Self::of).chain(BackendKind::available().map(Self::library))
    }

    /// All techniques that this machine can run. These are the kernels alone, the baseline with
    /// threads inside an operation, as in the published experiment, and the library's vector
    /// kernels with such threads (hybrids).
    pub(crate) fn available() -> Vec<Self> {
        let hybrids = [BackendKind::Avx2, BackendKind::Gfni512].into_iter().filter(|kind| kind.detect().is_ok());
        let with = |kernel, threads| Self { kernel, threads: Some(threads) };
        let all = Self::kernels();
        #[cfg(feature = "openmp")]
        let all = all.chain(threads::COUNTS.map(|threads| Self::of(Kernel::OpenMp(threads))));
        all.chain(threads::COUNTS.map(|threads| with(Kernel::Baseline, threads)))
            .chain(hybrids.flat_map(|kind| [2, 4].map(|threads| with(Kernel::Library(kind), threads))))
            .collect()
    }

    /// The technique as a backend.
    ///
    /// # Errors
    ///
    /// If this machine cannot run it.
    pub(crate) fn token(self) -> Result<Token> {
        let unavailable = || format!("{self}: this machine does not have the instructions");
        let kernel = match self.kernel {
            Kernel::Baseline => KernelToken::Baseline,
            Kernel::Lut => KernelToken::Lut,
            Kernel::Bitsliced => KernelToken::Bitsliced,
            Kernel::M4r => KernelToken::M4r,
            #[cfg(feature = "openmp")]
            Kernel::OpenMp(threads) => KernelToken::OpenMp(threads),
            Kernel::Library(BackendKind::Portable) => KernelToken::Portable(Portable::new()),
            #[cfg(target_arch = "x86_64")]
            Kernel::Library(BackendKind::Avx2) => KernelToken::Avx2(Avx2::detect().with_context(unavailable)?),
            #[cfg(target_arch = "x86_64")]
            Kernel::Library(BackendKind::Gfni256) => KernelToken::Gfni256(Gfni256::detect().with_context(unavailable)?),
            #[cfg(target_arch = "x86_64")]
            Kernel::Library(BackendKind::Gfni512) => KernelToken::Gfni512(Gfni512::detect().with_context(unavailable)?),
            _ => return None.with_context(unavailable),
        };
        Ok(Token { kernel, pool: self.threads.map(threads::pool).transpose()? })
    }

    /// The number of threads inside an operation, if there are any.
    pub(super) fn threads(self) -> Option<usize> {
        match self.kernel {
            #[cfg(feature = "openmp")]
            Kernel::OpenMp(threads) => Some(threads),
            _ => self.threads,
        }
    }

    /// A caveat that a reader of its figures must know.
    pub(crate) fn caveat(self) -> Option<String> {
        let text = match self.kernel {
            Kernel::Baseline => "one element at a time; its elimination branches on secrets, not constant time".into(),
            Kernel::Lut => {
                format!(
                    "{} bytes of tables ({} as published), addressed by secrets: not constant time",
                    scalar::OVERHEAD_BYTES,
                    Published::get().optimization_experiments.lut_memory_overhead_bytes
                )
            }
            Kernel::Bitsliced => "words of 64 elements; the time includes conversion from and to nibbles".into(),
            Kernel::M4r => {
                "tables of 16 multiples, addressed by secret coefficients in keygen and sign: not constant time".into()
            }
            #[cfg(feature = "openmp")]
            Kernel::OpenMp(_) => "the published loop in C, which its compiler may vectorize".into(),
            Kernel::Library(_) => return None,
        };
        self.threads.is_none().then_some(text)
    }
}

/// The name, `baseline` or `avx2`. `threads_2` is the baseline with two threads, `avx2_threads_2` a
/// hybrid.
impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = match self.kernel {
            Kernel::Baseline => "baseline",
            Kernel::Lut => "lut",
            Kernel::Bitsliced => "bitsliced",
            Kernel::M4r => "m4r",
            #[cfg(feature = "openmp")]
            Kernel::OpenMp(threads) => return f.pad(&format!("openmp_{threads}")),
            Kernel::Library(kind) => kind.name(),
        };
        match (self.kernel, self.threads) {
            (_, None) => f.pad(kernel),
            (Kernel::Baseline, Some(threads)) => f.pad(&format!("threads_{threads}")),
            (_, Some(threads)) => f.pad(&format!("{kernel}_threads_{threads}")),
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
    pool: Option<&'static ThreadPool>,
}

#[derive(Clone, Copy, Debug)]
enum KernelToken {
    Baseline,
    Lut,
    Bitsliced,
    M4r,
    #[cfg(feature = "openmp")]
    OpenMp(usize),
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Gfni256(Gfni256),
    #[cfg(target_arch = "x86_64")]
    Gfni512(Gfni512),
}

impl Token {
    /// Runs `f` on a thread of the pool, if there is one, so that entering the pool costs once and
    /// not at every kernel.
    pub(crate) fn enter<T: Send>(self, f: impl FnOnce() -> T + Send) -> T {
        match self.pool {
            Some(pool) => pool.install(f),
            None => f(),
        }
    }
}

impl Backend for Token {
    const NAME: &'static str = "technique";

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        match self.pool {
            Some(pool) => threads::left_product(self.kernel, pool, left, right, out),
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
        // P is in memory wherever a technique is measured, so no pool is asked for.
        self.kernel.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        match self.pool {
            Some(pool) => threads::aes128_ctr(self.kernel, pool, key, iv, first, out),
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

/// Every kernel uses the processor's AES, if there is any. A study kernel replaces the left
/// product; a scalar one (baseline, look-up tables, OpenMP) replaces the elimination too.
impl Backend for KernelToken {
    const NAME: &'static str = "kernel";

    const REGISTER: usize = 16;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        match self {
            Self::Baseline => scalar::left_product::<scalar::Computed>(left, right, out),
            Self::Lut => scalar::left_product::<scalar::Tables>(left, right, out),
            Self::Bitsliced => sliced::bitsliced(left, right, out),
            Self::M4r => sliced::m4r(left, right, out),
            #[cfg(feature = "openmp")]
            Self::OpenMp(threads) => openmp::left_product(threads, left, right, out),
            Self::Portable(b) => b.left_product(left, right, out),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(b) => b.left_product(left, right, out),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni256(b) => b.left_product(left, right, out),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni512(b) => b.left_product(left, right, out),
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
        Portable::new().left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(b) => b.aes128_ctr(key, iv, first, out),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni256(b) => b.aes128_ctr(key, iv, first, out),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni512(b) => b.aes128_ctr(key, iv, first, out),
            _ => Portable::new().aes128_ctr(key, iv, first, out),
        }
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Gfni512(b) => b.shake256(inputs, outputs),
            _ => Portable::new().shake256(inputs, outputs),
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        match self {
            Self::Baseline => scalar::solve::<scalar::Computed>(columns, m, x),
            Self::Lut => scalar::solve::<scalar::Tables>(columns, m, x),
            #[cfg(feature = "openmp")]
            Self::OpenMp(_) => scalar::solve::<scalar::Computed>(columns, m, x),
            Self::Bitsliced | Self::M4r => Portable::new().solve(columns, m, x),
            Self::Portable(b) => b.solve(columns, m, x),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(b) => b.solve(columns, m, x),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni256(b) => b.solve(columns, m, x),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni512(b) => b.solve(columns, m, x),
        }
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(b) => b.vectorize(f),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni256(b) => b.vectorize(f),
            #[cfg(target_arch = "x86_64")]
            Self::Gfni512(b) => b.vectorize(f),
            _ => f(),
        }
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
        for name in ["baseline", "lut", "bitsliced", "m4r", "portable", "threads_1", "threads_2", "threads_4"] {
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
