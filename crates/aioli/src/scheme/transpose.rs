//! Transposition of matrices of m-vectors: each m-vector moves as a whole.

use crate::packed::add;
use crate::params::ParameterSet;

/// Copies entry (i, j) of `from` to row j, column i of `to`, for i < `rows` and j < `columns`.
///
/// The rows of `from` are `from_columns` m-vectors long, those of `to` are `to_columns`. The last
/// row of `to` may end behind the last entry that is written.
#[inline(always)]
pub(crate) fn transpose<P: ParameterSet>(
    (rows, columns): (usize, usize),
    (from, from_columns): (&[u8], usize),
    (to, to_columns): (&mut [u8], usize),
) {
    for i in 0..rows {
        let row = &from[i * from_columns * P::M_BYTES..][..columns * P::M_BYTES];
        into_column::<P>(
            (to, to_columns),
            i,
            row,
            #[inline(always)]
            |to, from| to.copy_from_slice(from),
        );
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
    use crate::round3::Mayo2;

    #[test]
    fn transposition_moves_whole_vectors() {
        const MB: usize = Mayo2::M_BYTES;
        let mut from = [0; 6 * MB];
        for (i, vector) in from.chunks_exact_mut(MB).enumerate() {
            vector.fill(i as u8);
        }
        let mut to = [9; 9 * MB];
        transpose::<Mayo2>((2, 3), (&from, 3), (&mut to, 3));
        let firsts: [u8; 9] = core::array::from_fn(|i| to[i * MB]);
        assert_eq!(firsts, [0, 3, 9, 1, 4, 9, 2, 5, 9]);
        let mut sum = [1; 6 * MB];
        add_transposed::<Mayo2>((2, 3), &from, &mut sum);
        let lasts: [u8; 6] = core::array::from_fn(|i| sum[i * MB + MB - 1]);
        assert_eq!(lasts, [1, 2, 0, 5, 3, 4]);
    }

    #[test]
    fn transposition_takes_as_many_vectors_as_both_have() {
        const MB: usize = Mayo2::M_BYTES;
        let from: Vec<u8> = (0..3 * 11 * MB).map(|at| (at / MB) as u8 + 1).collect();
        for to_rows in 1..=12 {
            // Rows of five m-vectors; the last one is whole, or cut behind the last entry that is
            // written.
            for last in [5, 3] {
                let mut to = vec![0; ((to_rows - 1) * 5 + last) * MB];
                transpose::<Mayo2>((3, 11), (&from, 11), (&mut to, 5));
                for (at, vector) in to.chunks_exact(MB).enumerate() {
                    let j = at / 5;
                    let i = at % 5;
                    let expected = if i < 3 && j < 11 { (11 * i + j) as u8 + 1 } else { 0 };
                    assert!(vector.iter().all(|&byte| byte == expected), "row {j}, column {i} of {to_rows} rows");
                }
            }
        }
    }
}
