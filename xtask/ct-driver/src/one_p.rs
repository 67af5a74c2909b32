//! A backend under which all keys have one P.
//!
//! portable and avx2 look products up in tables, at addresses that follow from P. As P follows from
//! the secret key, two keys could be told apart by it, although it is public.

use aioli::backend::Backend;
use aioli::packed::{Coefficients, Operand, Output};
use aioli::stream::StreamPart;

/// Delegates every call, and replaces the public seed in the hash of a secret seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneP<B>(pub(crate) B);

impl<B: Backend> Backend for OneP<B> {
    const NAME: &'static str = B::NAME;

    const REGISTER: usize = B::REGISTER;

    fn left_product(self, left: Coefficients<'_>, right: Operand<'_>, out: Output<'_>) {
        self.0.left_product(left, right, out);
    }

    fn left_product_of_stream(
        self,
        left: Coefficients<'_>,
        key: &[u8; 16],
        part: &StreamPart,
        window: &mut [u8],
        out: Output<'_>,
    ) {
        self.0.left_product_of_stream(left, key, part, window, out);
    }

    fn aes128_ctr(self, key: &[u8; 16], iv: &[u8; 16], first: u32, out: &mut [u8]) {
        self.0.aes128_ctr(key, iv, first, out);
    }

    fn shake256(self, inputs: &[&[&[u8]]], outputs: &mut [&mut [u8]]) {
        self.0.shake256(inputs, outputs);
        for (parts, output) in inputs.iter().zip(outputs) {
            // The secret seed is the only input of one part.
            if let [_] = parts {
                output[..PUBLIC_SEED.len()].copy_from_slice(&PUBLIC_SEED);
            }
        }
    }

    fn solve(self, columns: &mut [u8], m: usize, x: &mut [u8]) -> u8 {
        self.0.solve(columns, m, x)
    }

    #[inline(always)]
    fn vectorize<T>(self, f: impl FnOnce() -> T) -> T {
        self.0.vectorize(f)
    }
}

/// The public seed of all keys.
const PUBLIC_SEED: [u8; 16] = *b"one P for all of";
