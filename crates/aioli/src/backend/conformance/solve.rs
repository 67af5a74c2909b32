//! The solver against elimination by rows.

use super::random::Random;
use super::sets::for_each_set;
use crate::backend::Backend;
use crate::gf16;
use crate::packed;
use crate::params::ParameterSet;

pub(super) fn solve<B: Backend>(b: B) {
    let mut random = Random(5);
    for_each_set!(|P| {
        let m = P::M;
        let columns = P::K * P::O;
        let mut solvable = 0;
        let mut singular = 0;
        for round in 0..60 {
            let mut a: Vec<Vec<u8>> = (0..m).map(|_| random.elements(columns)).collect();
            let y = random.elements(m);
            // Columns that depend on those before them.
            for _ in 0..round % 5 {
                let column = 1 + random.below(columns - 1);
                let from = random.below(column);
                let factor = random.next() as u8 & 15;
                a.iter_mut().for_each(|row| row[column] = gf16::mul(factor, row[from]));
            }
            match round % 12 {
                // Low rank: a row that is the sum of two others.
                7 => {
                    let [i, j, k] = [(); 3].map(|()| random.below(m));
                    let sum: Vec<u8> = a[i].iter().zip(&a[j]).map(|(a, b)| a ^ b).collect();
                    a[k] = if i == j { vec![0; columns] } else { sum };
                }
                // Few non-zero entries: pivots far down, and in any order.
                8 => {
                    let shift = random.below(m);
                    for (i, row) in a.iter_mut().enumerate() {
                        for (j, entry) in row.iter_mut().enumerate() {
                            *entry = if (i + shift) % m == j % m { *entry | 1 } else { 0 };
                        }
                    }
                }
                9 if round % 24 == 9 => a.iter_mut().for_each(|row| row.fill(0)),
                _ => {}
            }
            let expected = solve_by_rows(&a, &y, columns);
            let mut bytes = vec![0; (columns + 1) * m / 2];
            for (c, bytes) in bytes.chunks_exact_mut(m / 2).enumerate() {
                let column: Vec<u8> = (0..m).map(|i| if c < columns { a[i][c] } else { y[i] }).collect();
                packed::encode(&column, bytes);
            }
            let mut x = random.bytes(columns);
            let solved = b.solve(&mut bytes, m, &mut x);
            assert!(solved <= 1);
            assert_eq!(solved == 1, expected.is_some(), "{}: m = {m}, {columns} columns, round {round}", B::NAME);
            match expected {
                Some(expected) => {
                    assert_eq!(x, expected, "{}: m = {m}, {columns} columns, round {round}", B::NAME);
                    solvable += 1;
                }
                None => singular += 1,
            }
        }
        assert!(solvable > 10 && singular > 5, "{solvable} systems solvable, {singular} singular");
    });
}

/// Elimination by rows, with branches: the textbook, independent of the kernels. `None` if the rank
/// is too low.
fn solve_by_rows(a: &[Vec<u8>], y: &[u8], columns: usize) -> Option<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = a.iter().zip(y).map(|(row, &y)| [row.as_slice(), &[y]].concat()).collect();
    let mut pivots = Vec::new();
    for column in 0..columns {
        let top = pivots.len();
        let Some(found) = (top..rows.len()).find(|&i| rows[i][column] != 0) else { continue };
        rows.swap(top, found);
        let inverse = gf16::inverse(rows[top][column]);
        let pivot: Vec<u8> = rows[top].iter().map(|&a| gf16::mul(a, inverse)).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = if i == top { 0 } else { row[column] };
            row.iter_mut().zip(&pivot).for_each(|(a, &p)| *a ^= gf16::mul(factor, p));
        }
        rows[top] = pivot;
        pivots.push(column);
        if pivots.len() == rows.len() {
            break;
        }
    }
    (pivots.len() == rows.len()).then(|| {
        let mut x = vec![0; columns];
        pivots.iter().zip(&rows).for_each(|(&column, row)| x[column] = row[columns]);
        x
    })
}
