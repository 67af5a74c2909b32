//! A generator of test data: xorshift with 32 bits, whose outputs are multiplied by a constant.

/// The generator, by its state, which is never zero.
pub(crate) struct Random(u32);

impl Random {
    /// A generator for a seed that is not zero.
    pub(crate) const fn new(seed: u32) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0.wrapping_mul(0x9e37_79b9)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(4) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}
