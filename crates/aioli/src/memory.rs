//! Working memory, cut from one run of bytes so that nothing large is on the stack.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Declares the working memory of an operation, once: a struct of named slices.
///
/// From one list of names and lengths follow the struct, the bytes that its slices need together
/// (`bytes`), and the cutting of a run of bytes into them (`carve`). Lengths are expressions in the
/// set P and the named arguments; slices lie in memory in their order.
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

/// A value that begins at a cache line, because a vector load or store across two lines costs more.
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Overwrites secrets with zeros in a way that the compiler cannot remove.
///
/// Does the same as [`zeroize::Zeroize`], but with wide stores.
pub(crate) fn wipe<T: Copy + Default>(values: &mut [T]) {
    overwrite(values, T::default());
}

/// Fills memory in a way that the compiler cannot remove, even if all of it is written again.
pub(crate) fn overwrite<T: Copy>(values: &mut [T], value: T) {
    values.fill(value);
    zeroize::optimization_barrier(values);
}

/// Calls `f` with `public` bytes of any content and `secret` zero bytes, and clears the latter
/// afterwards.
///
/// With `std` the memory stays with the thread for the next call. So a loop of operations neither
/// requests memory from the operating system nor returns it.
#[cfg(feature = "alloc")]
pub(crate) fn with<T>(public: usize, secret: usize, f: impl FnOnce(&mut [u8], &mut [u8]) -> T) -> T {
    let mut in_use = InUse::take(public, secret);
    let (public, secret) = in_use.split(public, secret);
    f(public, secret)
}

/// The public and the secret run of memory. The secret one is zero while it is not in use.
#[cfg(feature = "alloc")]
type Runs = (Vec<u8>, Vec<u8>);

/// The two runs of memory while they are in use. Dropping it clears the secret run and, with `std`,
/// leaves both to the thread.
#[cfg(feature = "alloc")]
struct InUse {
    runs: Runs,
    /// The bytes at the beginning of the secret run that may hold secrets.
    secret_bytes: usize,
}

#[cfg(feature = "alloc")]
impl InUse {
    /// Takes the runs of the thread, or allocates where they are missing or too short.
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

    /// The public and the secret bytes, each from the beginning of a cache line on.
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
            // A thread that is ending cannot keep them, so they are freed.
            let _ = THREAD.try_with(|thread| thread.set(runs));
        }
    }
}

/// Bytes of a cache line. Memory begins at one, so wide stores of a key stream do not straddle two.
#[cfg(feature = "alloc")]
pub(crate) const ALIGNMENT: usize = 64;

#[cfg(feature = "std")]
std::thread_local! {
    /// The runs that the thread keeps between two operations.
    static THREAD: core::cell::Cell<Runs> = const { core::cell::Cell::new((Vec::new(), Vec::new())) };
}
