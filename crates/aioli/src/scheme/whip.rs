//! Whipping: sums of powers of z times m-vectors in GF(16)\[z\] / f(z).
//!
//! An m-vector is a polynomial in z, lowest coefficient first, so z^e times it is a shift by e nibbles: a copy of it in
//! the middle of zeros, read from e / 2 bytes before it, or the same of a copy shifted by a nibble. The sums are reduced
//! modulo f once: f(z) = z^m + tail(z) with a tail of degree 3, the coefficients from z^m upwards number at most
//! `MAX_EXPONENT`, and `MAX_EXPONENT + 4 <= m`, so one fold is enough.

use crate::backend::Backend;
use crate::memory::wipe;
use crate::packed;
use crate::params::ParameterSet;
use crate::sets::largest;

/// An m-vector ready to be multiplied by powers of z: itself, and z times it, each in the middle of zeros.
type Shifts = [[u8; PADDED]; 2];

/// Replaces vectors.
///
/// First all of them, then z times all of them: a shifted read right after the write would wait for it.
#[inline(always)]
fn set<'a, P: ParameterSet, B: Backend>(shifts: &mut [Shifts], vectors: impl Iterator<Item = &'a [u8]>) {
    for ([even, _], vector) in shifts.iter_mut().zip(vectors) {
        even[PAD..][..P::M_BYTES].copy_from_slice(&vector[..P::M_BYTES]);
    }
    // One byte more than a vector, and zeros to a whole register.
    let length = (P::M_BYTES + 1).next_multiple_of(B::REGISTER);
    for [even, odd] in shifts {
        let (here, before) = (&even[PAD..], &even[PAD - 1..]);
        for ((odd, here), before) in odd[PAD..][..length].iter_mut().zip(here).zip(before) {
            *odd = here << 4 | before >> 4;
        }
    }
}

/// Where among the bytes of k + 1 vectors what is z^e(i, j) times vector j begins, for each i; the last vector, the linear
/// part, goes with e(i, 0). Exponents are public.
struct Places<P>(core::marker::PhantomData<P>);

impl<P: ParameterSet> Places<P> {
    const OF: [[u16; MAX_K + 1]; MAX_K] = {
        let mut places = [[0; MAX_K + 1]; MAX_K];
        let mut n = 0;
        while n < P::K * (P::K + 1) {
            let (i, j) = (n / (P::K + 1), n % (P::K + 1));
            let exponent = P::EXPONENTS[i * P::K + j % P::K] as usize;
            let place = 2 * j * PADDED + place(exponent);
            assert!(place <= u16::MAX as usize);
            places[i][j] = place as u16;
            n += 1;
        }
        places
    };

    #[inline(always)]
    fn of(i: usize, vectors: usize) -> &'static [u16] {
        &Self::OF[i][..vectors]
    }
}

/// Where in the bytes of a vector z^exponent times it begins.
const fn place(exponent: usize) -> usize {
    exponent % 2 * PADDED + PAD - exponent / 2
}

/// A sum of powers of z times m-vectors, not reduced.
struct Sum([u8; WIDE]);

impl Sum {
    const ZERO: Self = Self([0; WIDE]);

    /// Adds what of each vector stands at its place.
    ///
    /// Two vectors at a time: such a sum of three may be one instruction.
    #[inline(always)]
    fn add<P: ParameterSet, B: Backend>(&mut self, vectors: &[Shifts], places: &[u16]) {
        let bytes = vectors.as_flattened().as_flattened();
        let shifted = |&place: &u16| &bytes[usize::from(place)..][..wide::<P, B>()];
        let sum = &mut self.0[..wide::<P, B>()];
        if B::REGISTER < 8 {
            // Without vectors, by words: of bytes a compiler makes none.
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

    /// The remainder modulo f, packed.
    ///
    /// From memory, at some distance after the sum was written there: it is read at other places than it was written.
    #[inline(always)]
    fn reduce<P: ParameterSet, B: Backend>(&self, out: &mut [u8]) {
        let [f0, f1, f2, f3] = P::F_TAIL;
        // The coefficients from z^m on, and those one and two bytes before, without the ones below z^m.
        let high: &[u8; ABOVE] = array(&self.0[P::M_BYTES..]);
        let before: &[u8; ABOVE] = array(&self.0[P::M_BYTES - 1..]);
        let before_that: &[u8; ABOVE] = array(&self.0[P::M_BYTES - 2..]);
        let mut folded: [u8; ABOVE] = *array(&self.0);
        let above = above::<P, B>();
        for i in 0..above {
            let (high, before, before_that) = (high[i], before[i] & FROM_1[i], before_that[i] & FROM_2[i]);
            // Times f0 + f2 z^2, and z times that by f1 + f3 z^2, a nibble further on.
            let odd = sum_of_products([high, before], [f1, f3]);
            let odd_before = sum_of_products([before, before_that], [f1, f3]);
            folded[i] ^= sum_of_products([high, before], [f0, f2]) ^ odd << 4 ^ odd_before >> 4;
        }
        let (low, rest) = out[..P::M_BYTES].split_at_mut(above.min(P::M_BYTES));
        low.copy_from_slice(&folded[..low.len()]);
        rest.copy_from_slice(&self.0[low.len()..P::M_BYTES]);
    }
}

/// All ones except in the first byte, and except in the first two.
const FROM_1: [u8; ABOVE] = ones_from(1);
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

/// The first bytes, as an array.
#[inline(always)]
fn array<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("no array is longer than its source")
}

/// The elements of two bytes, times two constants. In bytes throughout, for as many of them in a register as there can be.
#[inline(always)]
fn sum_of_products([a, b]: [u8; 2], [by_a, by_b]: [u8; 2]) -> u8 {
    let double = |byte: u8| ((byte & 0x77) << 1 | (byte & 0x88) >> 3) ^ (byte & 0x88) >> 2;
    // Of which the bit i of the constant is one.
    let sum = |i: u8| (if by_a >> i & 1 == 1 { a } else { 0 }) ^ (if by_b >> i & 1 == 1 { b } else { 0 });
    double(double(double(sum(3)) ^ sum(2)) ^ sum(1)) ^ sum(0)
}

/// Bytes of an unreduced sum, in whole registers.
const fn wide<P: ParameterSet, B: Backend>() -> usize {
    (P::M_BYTES + P::MAX_EXPONENT / 2 + 1).next_multiple_of(B::REGISTER)
}

/// Bytes that z^m and what is above it fold onto, in whole registers: the tail reaches three nibbles beyond the
/// coefficients that it multiplies.
const fn above<P: ParameterSet, B: Backend>() -> usize {
    let bytes = ((P::MAX_EXPONENT + 4).div_ceil(2)).next_multiple_of(B::REGISTER);
    assert!(bytes <= ABOVE);
    bytes
}

/// Room for an unreduced sum of any set, and for reading [`ABOVE`] bytes after its m-vector.
const WIDE: usize = 71 + ABOVE;
/// The most that [`above`] gives for any set.
const ABOVE: usize = 64;
/// Zeros before a vector: half the largest exponent, and one for the nibble shift.
const PAD: usize = 40;
/// A vector with all the zeros that a shifted read reaches: 128 bytes are the most that [`wide`] gives for any set.
const PADDED: usize = PAD + 128;

/// W of the whipped map (MAYO.md, "The whipped map"), packed.
///
/// `products` has k rows of `columns` m-vectors: s_i^T P s_j in its first k columns and, where the round has the linear
/// map, Lambda(s_i) in the next.
pub(crate) fn whipped_sum<P: ParameterSet, B: Backend>(b: B, products: &[u8], columns: usize, out: &mut [u8]) {
    b.vectorize(
        #[inline(always)]
        || {
            let mut sum = Sum::ZERO;
            let mut vectors = [[[0; PADDED]; 2]; MAX_K + 1];
            let vectors = &mut vectors[..if P::LINEAR { P::K + 1 } else { P::K }];
            for (i, row) in products.chunks_exact(columns * P::M_BYTES).take(P::K).enumerate() {
                set::<P, B>(vectors, row.chunks_exact(P::M_BYTES));
                // e is symmetric, so u_ij = u(i, j) + u(j, i) needs no sum of its own.
                sum.add::<P, B>(vectors, Places::<P>::of(i, vectors.len()));
            }
            sum.reduce::<P, B>(out);
            wipe(&mut sum.0);
            wipe_all(vectors);
        },
    );
}

/// The matrix A of the linear system (MAYO.md, "Signing", step 4) as its k * o columns, packed.
///
/// `m_matrices` are the M_j, k rows of o m-vectors; `oil_linear` is `lambda_oil + O^T lambda_vinegar`, o m-vectors.
/// Block i of A is the sum over j of z^e(i, j) M_j, plus z^e(i, 0) times the linear part.
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
    use crate::gf16;
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
        powers_of_z_are_repeated_multiplications::<round3::Mayo1, B>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo2, B>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo3, B>();
        powers_of_z_are_repeated_multiplications::<round3::Mayo5, B>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo1, B>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo2, B>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo3, B>();
        powers_of_z_are_repeated_multiplications::<round2::Mayo5, B>();
    }

    // The length of a register is all that is used of a backend.
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
