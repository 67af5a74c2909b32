//! The product of key generation, in columns all the way.
//!
//! Bit slices do not care in which order the elements of a row are. So what the look-ups make of P1, the columns of
//! (O^T P1)', stays as it is, and P2 is turned into such columns: of eight m-vectors the words of eight nibbles, those of
//! low nibbles first. Interleaving takes half of the instructions of the opposite, and nothing has to be transposed. Only
//! the sum of all rows becomes m-vectors in the end.

use super::slices::{self, FEW_SUMS, TILE};
use super::tables::{self, TABLE, WIDE};
use crate::packed::{Coefficients, Operand};

/// See [`Backend::key_product`](crate::backend::Backend::key_product). For O of eight columns and P1 of at most [`WIDE`],
/// so for MAYO_1.
pub(super) fn key_product(
    oil: Coefficients<'_>,
    p1: Operand<'_>,
    p2: Operand<'_>,
    memory: &mut [u8],
    p3: &mut [u8],
) -> bool {
    let (width, count) = (p1.step(), p1.count());
    // Of shorter vectors, whose rows are filled up by more than half, there would not be enough memory.
    let fits = p1.is_public() && p2.is_public() && oil.rows() == 8 && (16..=VECTOR).contains(&width);
    if !fits || !(TABLE..=WIDE + width - VECTOR).contains(&p1.row_bytes()) {
        return false;
    }
    assert!(oil.columns() == count && p1.row_bytes() == count * width, "shape of a key product");
    assert!(p2.count() == count && p2.row_bytes() == 8 * width && p2.step() == 0, "shape of P2");
    assert!(memory.len() >= 2 * p2.bytes().len() && p3.len() == 8 * p2.row_bytes(), "lengths of a key product");
    // Whole tiles.
    let row_bytes = p2.row_bytes().next_multiple_of(TILE);
    set_rows(oil, p1, p2, memory, row_bytes);
    let q = Operand::full(&memory[..count * row_bytes], count, row_bytes);
    let mut columns = [0; 8 * 8 * VECTOR];
    slices::left_product::<FEW_SUMS>(oil, q, &mut columns, row_bytes);
    add_vectors(&columns, row_bytes, width, p3);
    crate::memory::wipe(&mut columns);
    true
}

/// Q in columns: `q` has rows of `row_bytes`.
#[inline(never)]
fn set_rows(oil: Coefficients<'_>, p1: Operand<'_>, p2: Operand<'_>, q: &mut [u8], row_bytes: usize) {
    let width = p1.step();
    tables::columns_of_product::<u32, WIDE>(oil, p1, |sums, _| {
        for j in 0..p2.count() {
            let mut vectors = [0; 8 * VECTOR];
            vectors[..p2.row_bytes()].copy_from_slice(p2.row(j));
            let sums = sums.each_ref().map(|sums| sums[j * width..].first_chunk().expect("room for a vector"));
            set_row(q[j * row_bytes..].as_chunks_mut().0, &vectors, width, sums);
        }
    });
}

/// A row of Q: the sums and the columns of eight vectors, those of low nibbles and then those of high ones.
///
/// Always [`VECTOR`] columns, for which the compiler makes vector instructions: those beyond `width` are overwritten by
/// the high half and by the next row, and behind the last row nobody reads them.
#[inline(never)]
fn set_row(q: &mut [[u8; 4]], vectors: &[u8; 8 * VECTOR], width: usize, sums: [&[u32; VECTOR]; 2]) {
    let mut nibbles = [[[0; VECTOR]; 4]; 2];
    let [low, high] = &mut nibbles;
    for (r, (low, high)) in low.iter_mut().zip(high).enumerate() {
        let [a, b] = [2 * r, 2 * r + 1].map(|r| vectors[r * width..].first_chunk::<VECTOR>().expect("eight vectors"));
        tables::pair_chunk(low, high, a, b);
    }
    let mut halves = [[0; VECTOR]; 2];
    for (([a, b, c, d], sums), begin) in nibbles.iter().zip(sums).zip([0, width]) {
        let [low, high] = &mut halves;
        for (((((low, high), &a), &b), &c), &d) in low.iter_mut().zip(&mut *high).zip(a).zip(b).zip(c).zip(d) {
            *low = u16::from_le_bytes([a, b]);
            *high = u16::from_le_bytes([c, d]);
        }
        let q = q[begin..].first_chunk_mut::<VECTOR>().expect("room for a vector");
        for (((q, sum), &low), &high) in q.iter_mut().zip(sums).zip(&*low).zip(&*high) {
            *q = (sum ^ (u32::from(low) | u32::from(high) << 16)).to_le_bytes();
        }
    }
}

/// Adds eight rows of columns to eight times eight vectors.
fn add_vectors(columns: &[u8], row_bytes: usize, width: usize, p3: &mut [u8]) {
    let mut sums = [[0; VECTOR]; 2];
    for (p3, columns) in p3.chunks_exact_mut(8 * width).zip(columns.chunks_exact(row_bytes)) {
        for (sums, columns) in sums.iter_mut().zip(columns.chunks_exact(4 * width)) {
            for (sum, &column) in sums.iter_mut().zip(columns.as_chunks().0) {
                *sum = u32::from_le_bytes(column);
            }
        }
        tables::add_columns::<_, VECTOR, VECTOR>(&sums, 8, width, p3, width);
    }
    crate::memory::wipe(sums.as_flattened_mut());
}

/// Room for the bytes of a vector of MAYO_1, in whole vector registers.
const VECTOR: usize = 48;
