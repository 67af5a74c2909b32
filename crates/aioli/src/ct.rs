//! Masks and bits from secrets that stay without branches; and the marks that say to a checker what is secret.
//!
//! In an ordinary build the marks are nothing. `cargo xtask ct-valgrind` and `ct-msan` build with `--cfg aioli_ct` and
//! the name of the tool, and then secret bytes count as undefined memory: the tool follows what is computed from them
//! and reports every branch on it and every address made of it. SOUNDNESS.md says what that proves and what not.

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

/// A value of which the compiler no longer knows how it came about.
///
/// For masks: where it knows that a mask is all zeros or all ones, it may turn what the mask selects into a branch.
#[inline(always)]
pub(crate) fn barrier<T: Copy>(value: T) -> T {
    core::hint::black_box(value)
}

/// Marks bytes as secret.
#[inline(always)]
#[cfg_attr(not(aioli_ct), allow(unused_variables, reason = "nothing in an ordinary build"))]
pub(crate) fn secret(bytes: &[u8]) {
    #[cfg(aioli_ct)]
    crate::backend::taint::poison(bytes);
}

/// Declassifies bytes that are secret until here: from now on the code may branch on them.
///
/// Under a checker each of them must still be marked; if not, the tool has lost the secret on its way and its silence
/// would prove nothing.
#[inline(always)]
#[cfg_attr(not(aioli_ct), allow(unused_variables, reason = "nothing in an ordinary build"))]
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
