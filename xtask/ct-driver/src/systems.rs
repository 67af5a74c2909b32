//! The solver by itself, on systems whose pivots lie in different places.
//!
//! Two keys for which the first vinegar sample succeeds have nearly the same pattern of pivots. So
//! a branch on "this column has no pivot" would hardly show in signatures.

use crate::checker::Checker;
use aioli::ParameterSet;
use aioli::backend::Backend;

/// Solves each of the [`PATTERNS`].
pub(crate) fn run<P: ParameterSet, B: Backend>(b: B, checker: &mut Checker) {
    let systems = PATTERNS.map(packed::<P>);
    // Systems are cloned, so that each lies at the same address.
    checker.operation("solve", systems.len(), |pattern, section| {
        let mut columns = systems[pattern].clone();
        let mut x = vec![0; P::K * P::O];
        Checker::secret(&columns);
        section.enter(|| _ = std::hint::black_box(b.solve(&mut columns, P::M, &mut x)));
    });
}

/// The columns of A and y, packed, for an A that `change` has made of noise.
fn packed<P: ParameterSet>(change: fn(&mut [Vec<u8>])) -> Vec<u8> {
    let unknowns = P::K * P::O;
    let elements: Vec<u8> = noise((unknowns + 1) * P::M, 0).into_iter().map(|byte| byte & 15).collect();
    let mut columns: Vec<Vec<u8>> = elements.chunks_exact(P::M).map(Vec::from).collect();
    change(&mut columns[..unknowns]);
    columns.concat().as_chunks().0.iter().map(|[low, high]| low | high << 4).collect()
}

/// Bytes that look random, others for each number.
pub(crate) fn noise(length: usize, number: usize) -> Vec<u8> {
    let mut state = number as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Makes a system of noise into one of each kind. It is given the columns of A, one element a byte.
const PATTERNS: [fn(&mut [Vec<u8>]); 12] = [
    // Noise has full rank, and its pivots are in the columns from the left.
    |_| {},
    // A zero column: the first, or one further to the right.
    |a| a[0].fill(0),
    |a| a[29].fill(0),
    // A repeated column, within the eight columns that some kernels take together, and beyond.
    |a| a[5] = a[3].clone(),
    |a| a[40] = a[2].clone(),
    // A column whose only row is used by the one before.
    |a| {
        for (i, column) in a[..2].iter_mut().enumerate() {
            column.fill(0);
            column[7] = 3 + i as u8;
        }
    },
    // No pivot in the last row, hence no full rank.
    |a| a.iter_mut().for_each(|column| *column.last_mut().expect("m rows") = 0),
    // Two equal rows.
    |a| a.iter_mut().for_each(|column| column[11] = column[50]),
    // No pivot at all.
    |a| a.iter_mut().for_each(|column| column.fill(0)),
    // Pivots from the last row upwards, one in each column.
    |a| {
        for (j, column) in a.iter_mut().enumerate() {
            let row = column.len().saturating_sub(1 + j);
            column.iter_mut().enumerate().for_each(|(i, entry)| *entry = if i == row { *entry | 1 } else { 0 });
        }
    },
    // As few columns as possible: pivots in all of the last, none before them.
    |a| {
        let free = a.len() - a[0].len();
        a[..free].iter_mut().for_each(|column| column.fill(0));
    },
    // Every other column zero.
    |a| a.iter_mut().step_by(2).for_each(|column| column.fill(0)),
];
