//! Masks and bits that are computed from secrets without branches, and marks that tell a checker
//! which bytes are secret.
//!
//! The marks compile to nothing in an ordinary build. `cargo xtask ct-valgrind` and
//! `cargo xtask ct-msan` build with `--cfg aioli_ct` and the name of the tool. Secret bytes then
//! count as undefined memory: the tool follows every value that is computed from them, and reports
//! each branch on such a value and each address made of one. SOUNDNESS.md says what that proves and
//! what it does not.

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

/// 1 if both slices, of one length, have the same bytes, else 0.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> u8 {
    debug_assert_eq!(a.len(), b.len());
    1 ^ nonzero(a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)))
}

/// Returns `value`, and hides from the compiler how it was computed.
///
/// Masks need this: a compiler that knows a mask to be all zeros or all ones may turn a selection
/// by it into a branch.
#[inline(always)]
pub(crate) fn barrier<T: Copy>(value: T) -> T {
    core::hint::black_box(value)
}

/// Marks bytes as secret.
#[inline(always)]
#[cfg_attr(not(aioli_ct), allow(unused_variables, reason = "an ordinary build has no marks"))]
pub(crate) fn secret(bytes: &[u8]) {
    #[cfg(aioli_ct)]
    crate::backend::taint::poison(bytes);
}

/// Declassifies secret bytes: from here on the code may branch on them.
///
/// Under a checker each of them must still be marked. Otherwise the tool has lost track of the
/// secret, and its silence would prove nothing.
#[inline(always)]
#[cfg_attr(not(aioli_ct), allow(unused_variables, reason = "an ordinary build has no marks"))]
pub(crate) fn public(bytes: &mut [u8]) {
    #[cfg(aioli_ct)]
    {
        assert_eq!(crate::backend::taint::poisoned(bytes), bytes.len(), "bytes still marked at their declassification");
        crate::backend::taint::unpoison(bytes);
    }
}

/// Declassifies one byte.
#[inline(always)]
pub(crate) fn public_byte(mut byte: u8) -> u8 {
    public(core::slice::from_mut(&mut byte));
    byte
}
