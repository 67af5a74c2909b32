//! Masks and bits from secrets, without branches.

/// 1 if the byte is not zero, else 0.
#[inline(always)]
pub(crate) fn nonzero(byte: u8) -> u8 {
    nonzero64(u64::from(byte))
}

/// 1 if the word is not zero, else 0.
#[inline(always)]
pub(crate) fn nonzero64(word: u64) -> u8 {
    ((word | word.wrapping_neg()) >> 63) as u8
}
