//! Whipping: sums of powers of z times m-vectors in GF(16)\[z\] / f(z) (docs/mayo.md, The whipped
//! map).
//!
//! An m-vector is a polynomial in z, lowest coefficient first, so z^e times it is a shift by e
//! nibbles:
//!
//! ```text
//! e even    z^e a     =  a in the middle of zeros, read from e / 2 bytes before its beginning
//! e odd     z^e a     =  z^(e-1) (z a): the same, read from a second copy that holds z a
//! ```
//!
//! Sums are reduced modulo f(z) = z^m + tail(z) once, at the end. They have at most `MAX_EXPONENT`
//! coefficients from z^m on, and the tail has degree 3. So one fold, which replaces z^m by tail(z),
//! is enough, because `MAX_EXPONENT + 4 <= m`.

use crate::backend::Backend;
use crate::memory::wipe;
use crate::packed;
use crate::params::ParameterSet;
use crate::plants::{Leak, leak};
use crate::sets::largest;

/// An m-vector a, ready to be multiplied by powers of z: a and z a, each in the middle of zeros.
///
/// Both begin `PAD` bytes behind the beginning of their array. Reading from further left shifts
/// zeros in from below, which is multiplication by an even power of z.
type Shifts = [[u8; PADDED]; 2];

/// Writes m-vectors, and z times them, into `shifts`. The zeros around them stay.
///
/// It writes all vectors before it shifts the first one: an unaligned read right after the write
/// would wait for it.
#[inline(always)]
fn set<'a, P: ParameterSet, B: Backend>(shifts: &mut [Shifts], vectors: impl Iterator<Item = &'a [u8]>) {
    for ([even, _], vector) in shifts.iter_mut().zip(vectors) {
        even[PAD..][..P::M_BYTES].copy_from_slice(&vector[..P::M_BYTES]);
    }
    // z a is one byte longer than a. Zeros complete the last register.
    let length = (P::M_BYTES + 1).next_multiple_of(B::REGISTER);
    for [even, odd] in shifts {
        let here = &even[PAD..];
        let before = &even[PAD - 1..];
        for ((odd, here), before) in odd[PAD..][..length].iter_mut().zip(here).zip(before) {
            *odd = here << 4 | before >> 4;
        }
    }
}

/// Where z^e(i,j) times each vector begins, in the bytes of an array of k + 1 [`Shifts`].
///
/// Row i belongs to e(i, 0), ..., e(i, k-1) for the vectors 0 to k-1, and to e(i, 0) again for the
/// last vector, which is the linear part. Exponents are public, so they may be part of addresses.
struct Places<P>(core::marker::PhantomData<P>);

impl<P: ParameterSet> Places<P> {
    const OF: [[u16; MAX_K + 1]; MAX_K] = {
        let mut places = [[0; MAX_K + 1]; MAX_K];
        let mut n = 0;
        while n < P::K * (P::K + 1) {
            let i = n / (P::K + 1);
            let j = n % (P::K + 1);
            let exponent = P::EXPONENTS[i * P::K + j % P::K] as usize;
            let place = 2 * j * PADDED + place(exponent);
            assert!(place <= u16::MAX as usize);
            places[i][j] = place as u16;
            n += 1;
        }
        places
    };

    /// The first `vectors` places of row `i`: k of them, or k + 1 with the linear part.
    #[inline(always)]
    fn of(i: usize, vectors: usize) -> &'static [u16] {
        &Self::OF[i][..vectors]
    }
}

/// Where z^exponent times a vector begins, in the bytes of its [`Shifts`].
const fn place(exponent: usize) -> usize {
    exponent % 2 * PADDED + PAD - exponent / 2
}

/// A sum of powers of z times m-vectors: a polynomial of up to m + `MAX_EXPONENT` coefficients, not
/// reduced modulo f(z).
struct Sum([u8; WIDE]);

impl Sum {
    const ZERO: Self = Self([0; WIDE]);

    /// Adds z^e times each vector, read from the copy that `places` points into.
    ///
    /// It takes two vectors at a time, because a sum of three terms may be one instruction.
    #[inline(always)]
    fn add<P: ParameterSet, B: Backend>(&mut self, vectors: &[Shifts], places: &[u16]) {
        let bytes = vectors.as_flattened().as_flattened();
        let shifted = |&place: &u16| &bytes[usize::from(place)..][..wide::<P, B>()];
        let sum = &mut self.0[..wide::<P, B>()];
        if B::REGISTER < 8 {
            // Machines without vector registers add words. Compilers would add single bytes here.
            return places.iter().for_each(|place| packed::add(sum, shifted(place)));
        }
        let (pairs, last) = places.as_chunks();
        for [one, other] in pairs {
            for ((sum, one), other) in sum.iter_mut().zip(shifted(one)).zip(shifted(other)) {
                *sum ^= one ^ other;
            }
        }
        for last in last {
            for (sum, byte) in sum.iter_mut().zip(shifted(last)) {
                *sum ^= byte;
            }
        }
    }

    /// Writes the sum modulo f(z), packed, into `out`.
    ///
    /// It is best called some time after [`add`](Self::add): it reads at other byte positions than
    /// were written, and a read right after such a write would wait for it.
    #[inline(always)]
    fn reduce<P: ParameterSet, B: Backend>(&self, out: &mut [u8]) {
        let [f0, f1, f2, f3] = P::F_TAIL;
        // The coefficients from z^m on, and z^2 and z^4 times them, which are one and two bytes
        // further up. Masks remove coefficients below z^m from the latter two.
        let high: &[u8; ABOVE] = array(&self.0[P::M_BYTES..]);
        let before: &[u8; ABOVE] = array(&self.0[P::M_BYTES - 1..]);
        let before_that: &[u8; ABOVE] = array(&self.0[P::M_BYTES - 2..]);
        let mut folded: [u8; ABOVE] = *array(&self.0);
        let above = above::<P, B>();
        for i in 0..above {
            let high = high[i];
            let before = before[i] & FROM_1[i];
            let before_that = before_that[i] & FROM_2[i];
            // high tail(z) = high (f0 + f2 z^2) + z high (f1 + f3 z^2). A factor z^2 is a byte, a
            // factor z a nibble.
            let odd = sum_of_products([high, before], [f1, f3]);
            let odd_before = sum_of_products([before, before_that], [f1, f3]);
            folded[i] ^= sum_of_products([high, before], [f0, f2]) ^ odd << 4 ^ odd_before >> 4;
        }
        let (low, rest) = out[..P::M_BYTES].split_at_mut(above.min(P::M_BYTES));
        low.copy_from_slice(&folded[..low.len()]);
        rest.copy_from_slice(&self.0[low.len()..P::M_BYTES]);
        leak(Leak::Whipping, low[0]);
    }
}

/// The mask that clears the first byte.
const FROM_1: [u8; ABOVE] = ones_from(1);
/// The mask that clears the first two bytes.
const FROM_2: [u8; ABOVE] = ones_from(2);

const fn ones_from(begin: usize) -> [u8; ABOVE] {
    let mut mask = [0; ABOVE];
    let mut i = begin;
    while i < ABOVE {
        mask[i] = 0xff;
        i += 1;
    }
    mask
}

/// The first `N` bytes as an array.
#[inline(always)]
fn array<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("no array is longer than its source")
}

/// `a by_a + b by_b` for both elements in each byte; `by_a` and `by_b` are constants.
///
/// All arithmetic is on bytes, so that a vector register holds as many as possible.
#[inline(always)]
fn sum_of_products([a, b]: [u8; 2], [by_a, by_b]: [u8; 2]) -> u8 {
    // α times both elements of a byte.
    let double = |byte: u8| ((byte & 0x77) << 1 | (byte & 0x88) >> 3) ^ (byte & 0x88) >> 2;
    // The sum of the operands whose constant has bit i.
    let sum = |i: u8| (if by_a >> i & 1 == 1 { a } else { 0 }) ^ (if by_b >> i & 1 == 1 { b } else { 0 });
    double(double(double(sum(3)) ^ sum(2)) ^ sum(1)) ^ sum(0)
}

/// Bytes of a [`Sum`], in whole registers.
const fn wide<P: ParameterSet, B: Backend>() -> usize {
    (P::M_BYTES + P::MAX_EXPONENT / 2 + 1).next_multiple_of(B::REGISTER)
}

/// Bytes of `out` that the fold changes, in whole registers: at most `MAX_EXPONENT` coefficients
/// are multiplied by the tail, which reaches three nibbles further.
const fn above<P: ParameterSet, B: Backend>() -> usize {
    let bytes = ((P::MAX_EXPONENT + 4).div_ceil(2)).next_multiple_of(B::REGISTER);
    assert!(bytes <= ABOVE);
    bytes
}

/// Bytes of memory for a [`Sum`] of any set, and for reading [`ABOVE`] bytes from z^m on.
const WIDE: usize = largest!(P => P::M_BYTES) + ABOVE;
/// The most bytes that [`above`] gives for any set and backend.
const ABOVE: usize = 64;
/// Zeros before a vector: half the largest exponent, and one byte to shift the first nibble from.
const PAD: usize = 40;
const _: () = assert!(largest!(P => P::MAX_EXPONENT / 2) < PAD);
/// Bytes of a vector with all zeros that a shifted read reaches: 128 is the most that [`wide`]
/// gives for any set and backend.
const PADDED: usize = PAD + 128;

/// Computes W(s) (docs/mayo.md, The whipped map), packed, into `out`.
///
/// `products` has k rows of `columns` m-vectors: row i begins with `U[i][0]`, ..., `U[i][k-1]`,
/// followed in round 3 by Lambda(s_i).
pub(crate) fn whipped_sum<P: ParameterSet, B: Backend>(b: B, products: &[u8], columns: usize, out: &mut [u8]) {
    b.vectorize(
        #[inline(always)]
        || {
            let mut sum = Sum::ZERO;
            let mut vectors = [[[0; PADDED]; 2]; MAX_K + 1];
            let vectors = &mut vectors[..if P::LINEAR { P::K + 1 } else { P::K }];
            for (i, row) in products.chunks_exact(columns * P::M_BYTES).take(P::K).enumerate() {
                set::<P, B>(vectors, row.chunks_exact(P::M_BYTES));
                // e is symmetric, so adding z^e(i,j) U[i][j] and z^e(j,i) U[j][i] adds z^e(i,j)
                // u_ij.
                sum.add::<P, B>(vectors, Places::<P>::of(i, vectors.len()));
            }
            sum.reduce::<P, B>(out);
            wipe(&mut sum.0);
            wipe_all(vectors);
        },
    );
}

/// Computes the matrix A of the linear system (docs/mayo.md, Signing, step 4) as its k o columns,
/// packed.
///
/// `m_matrices` has the rows M_j, k rows of o m-vectors. `oil_linear` is
/// `lambda_oil + O^T lambda_vinegar`, o m-vectors, and is not used in round 2.
///
/// ```text
/// block i of A  =  sum over j of z^e(i,j) M_j  +  z^e(i,0) (lambda_oil + O^T lambda_vinegar)
/// ```
pub(crate) fn linear_system<P: ParameterSet, B: Backend>(
    b: B,
    m_matrices: &[u8],
    oil_linear: &[u8],
    columns: &mut [u8],
) {
    b.vectorize(
        #[inline(always)]
        || {
            let mut vectors = [[[0; PADDED]; 2]; MAX_K + 1];
            let vectors = &mut vectors[..if P::LINEAR { P::K + 1 } else { P::K }];
            let mut sums = [const { Sum::ZERO }; MAX_K];
            let sums = &mut sums[..P::K];
            for l in 0..P::O {
                let rows = m_matrices.chunks_exact(P::O * P::M_BYTES).chain([oil_linear]);
                set::<P, B>(vectors, rows.map(|row| &row[l * P::M_BYTES..]));
                for (i, slot) in sums.iter_mut().enumerate() {
                    let mut sum = Sum::ZERO;
                    sum.add::<P, B>(vectors, Places::<P>::of(i, vectors.len()));
                    *slot = sum;
                }
                for (i, sum) in sums.iter().enumerate() {
                    sum.reduce::<P, B>(&mut columns[(i * P::O + l) * P::M_BYTES..]);
                }
            }
            wipe_all(vectors);
            for sum in sums {
                wipe(&mut sum.0);
            }
        },
    );
}

fn wipe_all(vectors: &mut [Shifts]) {
    for vector in vectors {
        wipe(vector.as_flattened_mut());
    }
}

/// The largest k of all sets.
const MAX_K: usize = largest!(P => P::K);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, gf16, with_set};

    /// Multiplication by z, one coefficient at a time.
    fn times_z<P: ParameterSet>(a: &mut [u8]) {
        let top = a[P::M - 1];
        a.rotate_right(1);
        a[0] = 0;
        for (t, &tail) in P::F_TAIL.iter().enumerate() {
            a[t] ^= gf16::mul(tail, top);
        }
    }

    fn powers_of_z_are_repeated_multiplications<P: ParameterSet, B: Backend>() {
        let mut expected: Vec<u8> = (0..P::M).map(|i| (i * 7 + i / 5 + 3) as u8 % 16).collect();
        let mut packed = vec![0; P::M_BYTES];
        packed::encode(&expected, &mut packed);
        let mut vector = [[[0; PADDED]; 2]];
        set::<P, B>(&mut vector, [packed.as_slice()].into_iter());
        for exponent in 0..=P::MAX_EXPONENT {
            let mut sum = Sum::ZERO;
            sum.add::<P, B>(&vector, &[place(exponent) as u16]);
            let mut reduced = vec![0; P::M_BYTES];
            sum.reduce::<P, B>(&mut reduced);
            let mut elements = vec![0; P::M];
            packed::decode(&reduced, &mut elements);
            assert_eq!(elements, expected, "z^{exponent}");
            times_z::<P>(&mut expected);
        }
    }

    fn powers_of_z_in_registers_of<B: Backend>() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => powers_of_z_are_repeated_multiplications::<P, B>());
        }
    }

    // The code asks a backend for the length of its registers alone, so any machine can test it for
    // all of them.
    #[test]
    fn powers_of_z() {
        powers_of_z_in_registers_of::<crate::backend::Portable>();
        #[cfg(aioli_x86_64)]
        {
            powers_of_z_in_registers_of::<crate::backend::Avx2>();
            powers_of_z_in_registers_of::<crate::backend::Gfni512>();
        }
    }
}
