//! Pseudo-random bytes from a label, so that a failure repeats.

use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};
use signature::rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;

/// SHAKE256 of the label and the number of the request.
pub(crate) struct Random {
    label: String,
    requests: u64,
}

impl Random {
    pub(crate) fn new(label: impl std::fmt::Display) -> Self {
        Self { label: label.to_string(), requests: 0 }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.fill(&mut bytes);
        bytes
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        let mut hasher = Shake256::default();
        hasher.update(self.label.as_bytes());
        hasher.update(&self.requests.to_le_bytes());
        self.requests += 1;
        hasher.finalize_xof().read(bytes);
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Random {}
