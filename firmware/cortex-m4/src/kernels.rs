//! Counts the products with P1 by tables of products (the method of the four Russians) and by bit
//! slices, without expanding P1.

use crate::clock::Clock;
use aioli::ParameterSet;
use aioli::backend::{Armv7em, Backend};
use aioli::packed::{Coefficients, Operand, Output};
use cortex_m_semihosting::hprintln;

/// Counts O^T P1 and V P1 of a set in both ways.
pub(crate) fn measure<P: ParameterSet>(b: Armv7em, clock: &mut Clock, memory: &mut [u8]) {
    let row_bytes = P::V * P::M_BYTES;
    let (p1, memory) = memory.split_at_mut(P::P1_BYTES);
    let (left, out) = memory.split_at_mut(P::V * P::K.max(P::O));
    for (i, byte) in p1.iter_mut().enumerate() {
        *byte = ((i * i) >> 7) as u8 ^ i as u8;
    }
    for (i, element) in left.iter_mut().enumerate() {
        *element = (i * 7 + i / 16) as u8 & 15;
    }
    for (product, rows) in [("O^T_P1", P::O), ("V_P1", P::K)] {
        let left = Coefficients::new(&left[..P::V * rows], rows, rows);
        let p1 = Operand::upper(p1, P::V, row_bytes, P::M_BYTES);
        let out = &mut out[..rows * row_bytes];
        out.fill(0);
        let sliced = clock.count(|| b.left_product(left, p1, Output::add_to(out, row_bytes)));
        let by_tables = clock.count(|| b.left_product(left, p1.public(), Output::add_to(out, row_bytes)));
        // Both products were added, and in characteristic two a vector plus itself is zero.
        let right = out.iter().all(|&byte| byte == 0);
        hprintln!(
            "kernel set={} product={} bitsliced={} tables={} agree={}",
            P::ALGORITHM.name(),
            product,
            sliced,
            by_tables,
            right
        );
    }
}
