//! Transposition of matrices of m-vectors: each m-vector moves as a whole.

use super::target::t_columns;
use crate::backend::Backend;
use crate::packed::add;
use crate::params::ParameterSet;
use core::ops::Range;

/// Writes the rows `strip` of `[T | lambda]`: a column of `from`, K m-vectors, and in round 3 an
/// entry of `lambda`. `from` has as many columns as these rows.
#[inline(always)]
pub(crate) fn write_t<P: ParameterSet, B: Backend>(from: &[u8], lambda: &[u8], strip: Range<usize>, to: &mut [u8]) {
    let columns = strip.len();
    for j in 0..columns {
        let to = &mut to[j * t_columns::<P>() * P::M_BYTES..];
        for i in 0..P::K {
            copy_in_turn::<P, B>(&mut to[i * P::M_BYTES..], &from[(i * columns + j) * P::M_BYTES..]);
        }
        if P::LINEAR {
            copy_in_turn::<P, B>(&mut to[P::K * P::M_BYTES..], &lambda[(strip.start + j) * P::M_BYTES..]);
        }
    }
}

/// Copies the m-vector at the beginning of `from` to the beginning of `to`, which is written from
/// left to right.
///
/// The longest registers copy more than that, in one instruction. The next copies overwrite the
/// rest.
#[inline(always)]
fn copy_in_turn<P: ParameterSet, B: Backend>(to: &mut [u8], from: &[u8]) {
    const WIDE: usize = 64;
    if B::REGISTER == WIDE
        && P::M_BYTES < WIDE
        && !P::M_BYTES.is_multiple_of(32)
        && let Some((to, from)) = to.first_chunk_mut::<WIDE>().zip(from.first_chunk())
    {
        *to = *from;
    } else {
        to[..P::M_BYTES].copy_from_slice(&from[..P::M_BYTES]);
    }
}

/// Adds the transpose of the `rows` by `columns` matrix `from` onto `to`.
#[inline(always)]
pub(crate) fn add_transposed<P: ParameterSet>((rows, columns): (usize, usize), from: &[u8], to: &mut [u8]) {
    for (i, row) in from.chunks_exact(columns * P::M_BYTES).take(rows).enumerate() {
        // The call of a function that is passed by its name would not be inlined into code compiled
        // for more instructions.
        into_column::<P>(
            (to, rows),
            i,
            row,
            #[expect(clippy::redundant_closure, reason = "the function by its name is not inlined")]
            #[inline(always)]
            |to, from| add(to, from),
        );
    }
}

/// Calls `f` with entry (i, j) of `to` and entry i of `row`, for as many i as both have.
///
/// The rows of `to` are `columns` m-vectors long.
#[inline(always)]
fn into_column<P: ParameterSet>((to, columns): (&mut [u8], usize), j: usize, row: &[u8], f: impl Fn(&mut [u8], &[u8])) {
    let to = &mut to[j * P::M_BYTES..];
    let stride = columns * P::M_BYTES;
    // Four m-vectors at a time: in vector registers each is a few instructions, so the loop itself
    // counts. On machines of 32 bits, which may have no vector registers, each is many
    // instructions, and the plain loop below does.
    let four_rows = 4 * stride;
    let four = 4 * P::M_BYTES;
    let fours = if cfg!(target_pointer_width = "64") { (to.len() / four_rows).min(row.len() / four) } else { 0 };
    let (to_fours, to) = to.split_at_mut(fours * four_rows);
    let (fours, row) = row.split_at(fours * four);
    for (to, from) in to_fours.chunks_exact_mut(four_rows).zip(fours.chunks_exact(four)) {
        for (to, from) in to.chunks_exact_mut(stride).zip(from.chunks_exact(P::M_BYTES)) {
            f(&mut to[..P::M_BYTES], from);
        }
    }
    let whole = to.len() / stride;
    // Exact chunks need no check of their length. The last row, which may be cut, follows after
    // them.
    for (to, from) in to.chunks_exact_mut(stride).zip(row.chunks_exact(P::M_BYTES)) {
        f(&mut to[..P::M_BYTES], from);
    }
    let last = row.get(whole * P::M_BYTES..).and_then(|row| row.get(..P::M_BYTES));
    if let (Some(from), Some(to)) = (last, to[whole * stride..].get_mut(..P::M_BYTES)) {
        f(to, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use crate::params::with_set;

    /// The number of an m-vector in each of its bytes.
    fn numbered<P: ParameterSet>(vectors: usize, first: usize) -> Vec<u8> {
        (0..vectors * P::M_BYTES).map(|at| (first + at / P::M_BYTES) as u8).collect()
    }

    fn t_is_transposed_beside_lambda<P: ParameterSet, B: Backend>() {
        for columns in 1..=12 {
            let from = numbered::<P>(P::K * columns, 0);
            let lambda = numbered::<P>(9 + columns, 200);
            let mut to = vec![255; columns * t_columns::<P>() * P::M_BYTES];
            write_t::<P, B>(&from, &lambda, 9..9 + columns, &mut to);
            for (at, vector) in to.chunks_exact(P::M_BYTES).enumerate() {
                let [j, i] = [at / t_columns::<P>(), at % t_columns::<P>()];
                let expected = if i < P::K { i * columns + j } else { 209 + j } as u8;
                let set = P::ALGORITHM;
                assert!(vector.iter().all(|&byte| byte == expected), "{set}: row {j}, column {i} of {columns} rows");
            }
        }
    }

    fn t_is_transposed_in_registers_of<B: Backend>() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => t_is_transposed_beside_lambda::<P, B>());
        }
    }

    // The code asks a backend for the length of its registers alone, so any machine can test it for
    // all of them.
    #[test]
    fn t_is_transposed() {
        t_is_transposed_in_registers_of::<crate::backend::Portable>();
        #[cfg(aioli_x86_64)]
        {
            t_is_transposed_in_registers_of::<crate::backend::Avx2>();
            t_is_transposed_in_registers_of::<crate::backend::Gfni512>();
        }
    }

    fn whole_vectors_are_added<P: ParameterSet>() {
        for columns in 1..=12 {
            let from = numbered::<P>(3 * columns, 1);
            let mut sum = vec![0x80; 3 * columns * P::M_BYTES];
            add_transposed::<P>((3, columns), &from, &mut sum);
            for (at, vector) in sum.chunks_exact(P::M_BYTES).enumerate() {
                let [j, i] = [at / 3, at % 3];
                let expected = 0x80 ^ (columns * i + j + 1) as u8;
                let set = P::ALGORITHM;
                assert!(vector.iter().all(|&byte| byte == expected), "{set}: row {j}, column {i} of {columns} rows");
            }
        }
    }

    #[test]
    fn transposition_adds_whole_vectors() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => whole_vectors_are_added::<P>());
        }
    }
}
