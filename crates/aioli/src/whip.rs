//! Whipping: sums of powers of z times m-vectors in GF(16)\[z\] / f(z).
//!
//! An m-vector is a polynomial in z, lowest coefficient first, so z^e times it is a shift by e nibbles into a wider
//! buffer. Everything is added there, and reduced modulo f once: f(z) = z^m + tail(z) with a tail of degree 3, the
//! coefficients from z^m upwards number at most `MAX_EXPONENT`, and `MAX_EXPONENT + 4 <= m`, so one fold is enough.

use crate::backend::Backend;
use crate::gf16;
use crate::memory::wipe;
use crate::params::ParameterSet;

/// The polynomial that [`times_z_to`](Wide::add) products are summed in: m + `MAX_EXPONENT` nibbles at most.
struct Wide([u64; WIDE_WORDS]);

/// An m-vector in words, with a zero word after it for the shifted-out bits.
type Words = [u64; WORDS];

/// Words of the longest m-vector (71 bytes), and one more.
const WORDS: usize = 10;
/// Words of the longest sum: 142 + 77 nibbles, and the word that [`Wide::add`] touches beyond.
const WIDE_WORDS: usize = 16;

impl Wide {
    const ZERO: Self = Self([0; WIDE_WORDS]);

    /// Adds z^exponent times an m-vector. Exponents are public.
    #[inline(always)]
    fn add<P: ParameterSet>(&mut self, vector: &Words, exponent: u8) {
        let (skip, shift) = (usize::from(exponent / 16), 4 * u32::from(exponent % 16));
        let words = P::M.div_ceil(16);
        let mut carry = 0;
        for (sum, &word) in self.0[skip..][..words + 1].iter_mut().zip(&vector[..words + 1]) {
            *sum ^= word << shift | carry;
            // Two shifts, as the whole may be 64.
            carry = word >> 1 >> (63 - shift);
        }
    }

    /// The remainder modulo f, packed.
    #[inline(always)]
    fn reduce<P: ParameterSet>(&self, out: &mut [u8]) {
        let (skip, shift) = (P::M / 16, 4 * (P::M % 16) as u32);
        let mut low = [0; WIDE_WORDS];
        low[..skip + 1].copy_from_slice(&self.0[..skip + 1]);
        low[skip] &= (1 << shift) - 1;
        for i in 0..WIDE_WORDS - skip - 1 {
            let high = self.0[skip + i] >> shift | self.0[skip + i + 1] << 1 << (63 - shift);
            let multiples = gf16::multiples(high);
            for (t, &tail) in P::F_TAIL.iter().enumerate() {
                let product = gf16::mul_word(multiples, gf16::bit_masks(tail));
                low[i] ^= product << (4 * t);
                low[i + 1] ^= product >> 1 >> (63 - 4 * t);
            }
        }
        for (out, word) in out[..P::M_BYTES].chunks_mut(8).zip(low) {
            out.copy_from_slice(&word.to_le_bytes()[..out.len()]);
        }
    }
}

#[inline(always)]
fn load<P: ParameterSet>(bytes: &[u8]) -> Words {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes[..P::M_BYTES].chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    words
}

/// W of the whipped map (MAYO.md, "The whipped map"), packed.
///
/// `products` has k rows of `columns` m-vectors: s_i^T P s_j in its first k columns and, where the round has the linear
/// map, Lambda(s_i) in the next.
pub(crate) fn whip<P: ParameterSet, B: Backend>(b: B, products: &[u8], columns: usize, out: &mut [u8]) {
    let entry = |i: usize, j: usize| load::<P>(&products[(i * columns + j) * P::M_BYTES..]);
    b.vectorize(
        #[inline(always)]
        || {
            let mut sum = Wide::ZERO;
            for i in 0..P::K {
                for j in 0..P::K {
                    // e is symmetric, so u_ij = u(i, j) + u(j, i) needs no sum of its own.
                    sum.add::<P>(&entry(i, j), P::EXPONENTS[i * P::K + j]);
                }
                if P::LINEAR {
                    sum.add::<P>(&entry(i, P::K), P::EXPONENTS[i * P::K]);
                }
            }
            sum.reduce::<P>(out);
            wipe(&mut sum.0);
        },
    );
}

/// The matrix A of the linear system (MAYO.md, "Signing", step 4) as its k * o columns, packed.
///
/// `m_matrices` are the M_j, k rows of o m-vectors; `oil_linear` is `lambda_oil + O^T lambda_vinegar`, o m-vectors.
/// Block i of A is the sum over j of z^e(i, j) M_j, plus z^e(i, 0) times the linear part.
pub(crate) fn system<P: ParameterSet, B: Backend>(b: B, m_matrices: &[u8], oil_linear: &[u8], columns: &mut [u8]) {
    b.vectorize(
        #[inline(always)]
        || {
            for l in 0..P::O {
                let mut vectors = [[0; WORDS]; MAX_K + 1];
                for (j, vector) in vectors[..P::K].iter_mut().enumerate() {
                    *vector = load::<P>(&m_matrices[(j * P::O + l) * P::M_BYTES..]);
                }
                if P::LINEAR {
                    vectors[P::K] = load::<P>(&oil_linear[l * P::M_BYTES..]);
                }
                for i in 0..P::K {
                    let mut sum = Wide::ZERO;
                    for (vector, &exponent) in vectors.iter().zip(&P::EXPONENTS[i * P::K..][..P::K]) {
                        sum.add::<P>(vector, exponent);
                    }
                    if P::LINEAR {
                        sum.add::<P>(&vectors[P::K], P::EXPONENTS[i * P::K]);
                    }
                    sum.reduce::<P>(&mut columns[(i * P::O + l) * P::M_BYTES..]);
                    wipe(&mut sum.0);
                }
                wipe(vectors.as_flattened_mut());
            }
        },
    );
}

/// The largest k of any set.
const MAX_K: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{round2, round3};

    /// Multiplication by z, one coefficient at a time.
    fn times_z<P: ParameterSet>(a: &mut [u8]) {
        let top = a[P::M - 1];
        a.rotate_right(1);
        a[0] = 0;
        for (t, &tail) in P::F_TAIL.iter().enumerate() {
            a[t] ^= gf16::mul(tail, top);
        }
    }

    fn powers_of_z_are_repeated_multiplications<P: ParameterSet>() {
        let mut expected: Vec<u8> = (0..P::M).map(|i| (i * 7 + i / 5 + 3) as u8 % 16).collect();
        let mut packed = vec![0; P::M_BYTES];
        crate::packed::encode(&expected, &mut packed);
        let vector = load::<P>(&packed);
        for exponent in 0..=P::MAX_EXPONENT {
            let mut sum = Wide::ZERO;
            sum.add::<P>(&vector, exponent as u8);
            let mut reduced = vec![0; P::M_BYTES];
            sum.reduce::<P>(&mut reduced);
            let mut elements = vec![0; P::M];
            crate::packed::decode(&reduced, &mut elements);
            assert_eq!(elements, expected, "z^{exponent}");
            times_z::<P>(&mut expected);
        }
    }

    #[test]
    fn powers_of_z() {
        powers_of_z_are_repeated_multiplications::<round3::Mayo1>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo2>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo3>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo5>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo1>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo2>();
    }
}
