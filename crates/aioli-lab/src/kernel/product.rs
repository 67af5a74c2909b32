//! A left product and its operands, checked before it is timed.

use crate::measure::Operation;
use crate::random::Random;
use crate::techniques::Technique;
use aioli::backend::{Backend, Portable};
use aioli::packed::{Coefficients, Operand, Output};
use anyhow::{Result, ensure};
use std::hint::black_box;
use std::rc::Rc;

/// The size of a left product: that of its operand P, and the rows of `left`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Rows of P.
    pub(super) count: usize,
    /// Bytes of P's first row.
    pub(super) row_bytes: usize,
    /// Bytes that each row begins further to the right; zero in a full matrix.
    pub(super) step: usize,
    pub(super) left_rows: usize,
}

impl Size {
    /// Bytes of P.
    pub(super) fn bytes(self) -> usize {
        self.count * self.row_bytes - self.step * (self.count * (self.count - 1) / 2)
    }
}

/// A left product with random operands.
pub(super) struct Product {
    pub(super) size: Size,
    right: Rc<[u8]>,
    elements: Vec<u8>,
}

impl Product {
    pub(super) fn random(size: Size) -> Self {
        let mut right = vec![0; size.bytes()];
        Random::fill(&mut right);
        let mut elements = vec![0; size.count * size.left_rows];
        Random::fill(&mut elements);
        elements.iter_mut().for_each(|element| *element &= 15);
        Self { size, right: right.into(), elements }
    }

    /// The public operand.
    pub(super) fn right(&self) -> Operand<'_> {
        let Size { count, row_bytes, step, .. } = self.size;
        let right = match step {
            0 => Operand::full(&self.right, count, row_bytes),
            step => Operand::upper(&self.right, count, row_bytes, step),
        };
        right.public()
    }

    /// The secret operand.
    pub(super) fn left(&self) -> Coefficients<'_> {
        Coefficients::new(&self.elements, self.size.left_rows, self.size.left_rows)
    }

    /// The product by a backend, added to `out`.
    fn add_to<B: Backend>(&self, b: B, out: &mut [u8]) {
        b.left_product(self.left(), self.right(), Output::add_to(out, self.size.row_bytes));
    }

    /// The product by the portable backend, with which all others are compared.
    pub(super) fn expected(&self) -> Vec<u8> {
        let mut out = vec![0; self.size.left_rows * self.size.row_bytes];
        self.add_to(Portable::new(), &mut out);
        out
    }

    /// The product by a technique, as an operation to time.
    ///
    /// # Errors
    ///
    /// If it is not the portable backend's, or this machine cannot run it.
    pub(super) fn operation(self: Rc<Self>, name: &str, technique: Technique) -> Result<Operation> {
        let token = technique.token()?;
        let mut out = vec![0; self.size.left_rows * self.size.row_bytes];
        self.add_to(token, &mut out);
        ensure!(out == self.expected(), "{technique}: its product {name} of {:?} is wrong", self.size);
        Ok(Operation::new(name, move || {
            self.add_to(token, &mut out);
            black_box(&mut out);
            Ok(())
        }))
    }
}
