//! Bit slices as published: P is stored in slices, and so is the product, so that nothing is
//! converted when they are multiplied.
//!
//! Slice b of a row holds bit b of its elements, 32 to a word. A multiple of P is made by renaming
//! slices and three additions, and is added under the masks of a coefficient's four bits: no
//! address and no branch depends on a secret. The compiler groups words into the vectors that it
//! may use.

use super::product::Product;
use crate::measure::Operation;
use aioli::backend::{Backend, Portable};
use aioli::gf16;
use anyhow::{Result, ensure};
use std::hint::black_box;
use std::rc::Rc;

/// The names of the two kernels: words of the target that the program is compiled for, and of AVX2.
pub(super) const WORDS: &str = "bitsliced_stored";
pub(super) const AVX2: &str = "bitsliced_stored_avx2";

/// Rows of slices: for each row its four slices, one after another.
struct Sliced(Vec<Vec<u32>>);

impl Sliced {
    /// Packed rows, each of a multiple of 16 bytes, in slices.
    fn of<'a>(rows: impl Iterator<Item = &'a [u8]>) -> Self {
        Self(
            rows.map(|row| (0..4).flat_map(|bit| row.chunks_exact(16).map(move |part| word(part, bit))).collect())
                .collect(),
        )
    }
}

/// Bit `bit` of the 32 elements in 16 bytes.
fn word(part: &[u8], bit: usize) -> u32 {
    let bits = part.iter().enumerate();
    bits.fold(0, |word, (i, byte)| {
        let [low, high] = [byte >> bit & 1, byte >> (4 + bit) & 1];
        word | u32::from(low) << (2 * i) | u32::from(high) << (2 * i + 1)
    })
}

/// `out += left * P`, all in slices. Rows of P that are shorter than those of `out` end where they
/// do.
#[inline(always)]
fn left_product(product: &Product, right: &Sliced, out: &mut Sliced) {
    let left = product.left();
    for (i, row) in right.0.iter().enumerate() {
        for (out, &coefficient) in out.0.iter_mut().zip(left.of_row(i)) {
            accumulate(out, row, gf16::bit_masks(coefficient).map(|mask| mask as u32));
        }
    }
}

/// Adds the multiple of a row that four masks name.
#[inline(always)]
fn accumulate(out: &mut [u32], row: &[u32], masks: [u32; 4]) {
    let (words, longer) = (row.len() / 4, out.len() / 4);
    let slice = |b: usize| &row[b * words..][..words];
    let [p0, p1, p2, p3] = [slice(0), slice(1), slice(2), slice(3)];
    let mut slices = out.chunks_exact_mut(longer).map(|slice| &mut slice[longer - words..]);
    let mut next = || slices.next().expect("four slices");
    let [s0, s1, s2, s3] = [next(), next(), next(), next()];
    let [m0, m1, m2, m3] = masks;
    for w in 0..words {
        let [a, b, c, d] = [p0[w], p1[w], p2[w], p3[w]];
        let [ad, cd, bc] = [a ^ d, c ^ d, b ^ c];
        s0[w] ^= a & m0 ^ d & m1 ^ c & m2 ^ b & m3;
        s1[w] ^= b & m0 ^ ad & m1 ^ cd & m2 ^ bc & m3;
        s2[w] ^= c & m0 ^ b & m1 ^ ad & m2 ^ cd & m3;
        s3[w] ^= d & m0 ^ c & m1 ^ b & m2 ^ ad & m3;
    }
}

/// The kernels for slices that are stored, as operations to time.
///
/// # Errors
///
/// If a product is not the portable backend's.
pub(super) fn operations(product: &Rc<Product>, name: &str) -> Result<Vec<(&'static str, Operation)>> {
    let mut operations = vec![(WORDS, operation(product, name, Portable::new())?)];
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = aioli::backend::Avx2::detect() {
        operations.push((AVX2, operation(product, name, avx2)?));
    }
    Ok(operations)
}

/// The product compiled for the instructions of a backend.
fn operation<B: Backend + 'static>(product: &Rc<Product>, name: &str, b: B) -> Result<Operation> {
    let product = Rc::clone(product);
    let right = Sliced::of((0..product.size.count).map(|i| product.right().row(i)));
    let zeros = vec![0; product.size.left_rows * product.size.row_bytes];
    let mut out = Sliced::of(zeros.chunks_exact(product.size.row_bytes));
    b.vectorize(|| left_product(&product, &right, &mut out));
    let expected = Sliced::of(product.expected().chunks_exact(product.size.row_bytes));
    ensure!(out.0 == expected.0, "stored bit slices: the product {name} of {:?} is wrong", product.size);
    Ok(Operation::new(name, move || {
        b.vectorize(|| left_product(&product, &right, &mut out));
        black_box(&mut out.0);
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::product::Size;

    #[test]
    fn a_slice_holds_one_bit_of_every_element() {
        let part: [u8; 16] = std::array::from_fn(|i| i as u8 * 15 + 3);
        for bit in 0..4 {
            let word = word(&part, bit);
            for i in 0..32 {
                assert_eq!(word >> i & 1, u32::from(part[i / 2] >> (4 * (i % 2) + bit) & 1));
            }
        }
    }

    #[test]
    fn products_of_triangles_and_full_matrices_are_checked() {
        for step in [0, 48] {
            let size = Size { count: 5, row_bytes: 5 * 48, step, left_rows: 3 };
            assert!(!operations(&Rc::new(Product::random(size)), "test").unwrap().is_empty());
        }
    }
}
