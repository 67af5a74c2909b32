//! Guards of V, the vinegar vectors: what a fault may leave in their place is refused.
//!
//! Whatever V is, a signature that uses it throughout is valid, so verifying cannot notice these
//! faults. Yet s_i = (v_i + O x_i) || x_i: a v_i that is known, or two that are equal, give vectors
//! of the oil space away (`docs/faults.md`).

use crate::ct;
use crate::memory::wipe;
use crate::params::ParameterSet;
use crate::sets::largest;

/// The element that fills the memory of V until V is sampled: a step that is skipped leaves equal
/// rows.
pub(crate) const UNSAMPLED: u8 = 6;
/// [`UNSAMPLED`] in both halves of a byte, for the packed V.
pub(crate) const UNSAMPLED_PACKED: u8 = UNSAMPLED * 0x11;

/// 1 if no row of V, k rows of v elements, is zero, unsampled, or equal to another row; else 0.
///
/// It compares the ends of the rows, which a loop that stops early leaves unsampled. An honest
/// sample is refused with a probability below 2^-120.
pub(crate) fn is_sampled<P: ParameterSet>(v: &[u8]) -> u8 {
    // Behind the ends that no row may have, those of the rows.
    let mut ends = [0; FORBIDDEN + MAX_K];
    ends[1] = packed_end(&[UNSAMPLED; END]);
    let mut sampled = 1;
    for (i, row) in (FORBIDDEN..).zip(v.chunks_exact(P::V)) {
        ends[i] = packed_end(row);
        for other in 0..i {
            let difference = ends[i] ^ ends[other];
            sampled &= ct::nonzero64((difference | difference >> 64) as u64);
        }
    }
    wipe(&mut ends);
    sampled
}

/// The last [`END`] elements of a row, two to a byte in any order.
fn packed_end(row: &[u8]) -> u128 {
    let (_, [.., low, high]) = row.as_rchunks() else { panic!("a row of V is longer than its end") };
    u128::from_le_bytes(*low) | u128::from_le_bytes(*high) << 4
}

/// The elements of a row that are compared.
const END: usize = 32;
/// The rows that no row may equal: zeros, and unsampled memory.
const FORBIDDEN: usize = 2;
/// The largest k of all sets.
const MAX_K: usize = largest!(P => P::K);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::params::with_set;

    /// A row of its own for each i.
    fn sampled<P: ParameterSet>() -> Vec<u8> {
        (0..P::K * P::V).map(|i| (i % P::V * (i / P::V + 1)) as u8 % 16).collect()
    }

    fn refuses_what_faults_leave<P: ParameterSet>() {
        let v = sampled::<P>();
        assert_eq!(is_sampled::<P>(&v), 1, "{}", P::ALGORITHM);
        for i in 0..P::K {
            let row = i * P::V..(i + 1) * P::V;
            for j in 0..P::K {
                let mut v = v.clone();
                v.copy_within(j * P::V..(j + 1) * P::V, row.start);
                assert_eq!(is_sampled::<P>(&v), u8::from(i == j), "{}: row {i} is row {j}", P::ALGORITHM);
            }
            for element in [0, UNSAMPLED] {
                for missing in [END, P::V - 1, P::V] {
                    let mut v = v.clone();
                    v[row.end - missing..row.end].fill(element);
                    assert_eq!(is_sampled::<P>(&v), 0, "{}: the end of row {i} is {element}", P::ALGORITHM);
                }
            }
        }
    }

    #[test]
    fn rows_that_are_zero_unsampled_or_equal_are_refused() {
        for algorithm in Algorithm::ALL {
            with_set!(algorithm, P => refuses_what_faults_leave::<P>());
        }
    }
}
