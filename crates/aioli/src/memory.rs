//! Working memory: cut from one run of bytes, so that nothing large lives on the stack.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Declares the working memory of an operation, once: a struct of named slices.
///
/// From one list of names and lengths follow the struct, the bytes that its slices need together (`bytes`), and the
/// cutting of a run of bytes into them (`carve`). Lengths are expressions in the set P and the named arguments; slices
/// lie in memory in their order.
macro_rules! buffers {
    (
        $(#[$doc:meta])*
        $name:ident<P>($($given:ident: $type:ty),*) {
            $($(#[$slice_doc:meta])* $slice:ident: $length:expr,)*
        }
    ) => {
        $(#[$doc])*
        pub(crate) struct $name<'a> {
            $($(#[$slice_doc])* $slice: &'a mut [u8],)*
        }

        impl<'a> $name<'a> {
            /// The bytes of all slices together.
            pub(crate) const fn bytes<P: ParameterSet>($($given: $type),*) -> usize {
                0 $(+ $length)*
            }

            /// Cuts `memory`, of at least as many bytes, into the slices.
            fn carve<P: ParameterSet>(memory: &'a mut [u8] $(, $given: $type)*) -> Self {
                $(let ($slice, memory) = memory.split_at_mut($length);)*
                _ = memory;
                Self { $($slice),* }
            }
        }
    };
}
pub(crate) use buffers;

/// A value that begins at a cache line: a vector load or store that straddles two lines costs more.
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Clears secrets for good: like [`zeroize::Zeroize`], but with wide stores.
pub(crate) fn wipe<T: Copy + Default>(values: &mut [T]) {
    values.fill(T::default());
    zeroize::optimization_barrier(values);
}

/// Calls `f` with `public` bytes of any content and `secret` zero bytes, and zeroizes the latter afterwards.
///
/// With `std` the memory stays with the thread for the next call, so that none is requested or returned by the
/// operating system in a loop of operations.
#[cfg(feature = "alloc")]
pub(crate) fn with<T>(public: usize, secret: usize, f: impl FnOnce(&mut [u8], &mut [u8]) -> T) -> T {
    let mut in_use = InUse::take(public, secret);
    let (public, secret) = in_use.split(public, secret);
    f(public, secret)
}

/// The public and the secret run of memory, neither in use; the secret one is zero.
#[cfg(feature = "alloc")]
type Runs = (Vec<u8>, Vec<u8>);

/// The two runs of memory while they are in use.
#[cfg(feature = "alloc")]
struct InUse {
    runs: Runs,
    /// How much of the secret memory, from its beginning, is in use.
    secret_bytes: usize,
}

#[cfg(feature = "alloc")]
impl InUse {
    fn take(public: usize, secret: usize) -> Self {
        #[cfg(feature = "std")]
        let mut runs = THREAD.try_with(core::cell::Cell::take).unwrap_or_default();
        #[cfg(not(feature = "std"))]
        let mut runs = Runs::default();
        for (run, bytes) in [(&mut runs.0, public), (&mut runs.1, secret)] {
            if run.len() < bytes + ALIGNMENT {
                *run = alloc::vec![0; bytes + ALIGNMENT];
            }
        }
        Self { runs, secret_bytes: 0 }
    }

    fn split(&mut self, public: usize, secret: usize) -> (&mut [u8], &mut [u8]) {
        let [public_at, secret_at] =
            [&self.runs.0, &self.runs.1].map(|run| run.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT));
        self.secret_bytes = secret_at + secret;
        (&mut self.runs.0[public_at..][..public], &mut self.runs.1[secret_at..][..secret])
    }
}

#[cfg(feature = "alloc")]
impl Drop for InUse {
    fn drop(&mut self) {
        wipe(&mut self.runs.1[..self.secret_bytes]);
        #[cfg(feature = "std")]
        {
            let runs = core::mem::take(&mut self.runs);
            // A thread that is ending has no place to keep them.
            let _ = THREAD.try_with(|thread| thread.set(runs));
        }
    }
}

/// Bytes of a cache line: wide stores of a key stream do not straddle two.
#[cfg(feature = "alloc")]
pub(crate) const ALIGNMENT: usize = 64;

#[cfg(feature = "std")]
std::thread_local! {
    static THREAD: core::cell::Cell<Runs> = const { core::cell::Cell::new((Vec::new(), Vec::new())) };
}
