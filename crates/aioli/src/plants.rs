//! Leaks on purpose, for `cargo xtask ct-selftest`: a checker of constant time that does not report
//! them checks nothing.
//!
//! The places call [`leak`], which compiles to nothing unless the build has `--cfg aioli_plants`.
//! With it, nothing leaks until [`plant`] chooses a place.

/// A leak, by the place in the library where it can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(aioli_plants), allow(unreachable_pub, reason = "`hazmat` exports it where there are plants"))]
pub enum Leak {
    /// A branch on whether a column of the linear system has no pivot.
    Solver = 1,
    /// A branch on a bit of a whipped sum.
    Whipping,
    /// A table indexed by the first element that was unpacked.
    Codec,
    /// A table indexed by the first byte of a hash.
    Hash,
}

/// Leaks `secret` if this is where a leak was planted.
#[inline(always)]
#[cfg_attr(not(aioli_plants), allow(unused_variables, reason = "an ordinary build has no plants"))]
pub(crate) fn leak(place: Leak, secret: u8) {
    #[cfg(aioli_plants)]
    planted::leak(place, secret);
}

#[cfg(aioli_plants)]
pub use planted::plant;

#[cfg(aioli_plants)]
mod planted {
    use super::Leak;
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

    /// Plants a leak, in place of an earlier one.
    pub fn plant(place: Leak) {
        PLANTED.store(place as u8, Relaxed);
    }

    #[inline(never)]
    pub(super) fn leak(place: Leak, secret: u8) {
        if PLANTED.load(Relaxed) != place as u8 {
            return;
        }
        match place {
            Leak::Solver | Leak::Whipping => {
                if secret & 1 == 1 {
                    TABLE[0].fetch_add(1, Relaxed);
                }
            }
            Leak::Codec | Leak::Hash => {
                core::hint::black_box(TABLE[usize::from(secret)].load(Relaxed));
            }
        }
    }

    /// The place with a leak, or 0.
    static PLANTED: AtomicU8 = AtomicU8::new(0);
    /// Atomic, so that the compiler neither folds a look-up nor turns a branch into a select.
    static TABLE: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];
}
