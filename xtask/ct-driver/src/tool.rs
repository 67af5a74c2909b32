//! The checker is the tool around this process. It follows marked bytes, reports leaks, and sets
//! the exit status.

/// Runs each operation once, with its secrets marked.
pub(crate) struct Checker;

/// The part of an operation that is checked: all of it.
pub(crate) struct Section;

impl Checker {
    /// The number of secrets that an operation is run with.
    pub(crate) const SECRETS: usize = 1;

    pub(crate) fn new(backend: &str, subject: &str) -> Self {
        assert!(aioli::hazmat::is_watched(), "this program runs under the tool that it was built for");
        println!("{subject} on {backend}");
        Self
    }

    /// Marks bytes as secret. Keys are marked already.
    pub(crate) fn secret(bytes: &[u8]) {
        aioli::hazmat::mark_secret(bytes);
    }

    /// Checks `run`, which takes the number of the secret to use.
    pub(crate) fn operation(&mut self, name: &str, mut run: impl FnMut(usize, &mut Section)) {
        println!("  {name}");
        for secret in 0..Self::SECRETS {
            run(secret, &mut Section);
        }
    }

    pub(crate) fn finish(self) {}
}

impl Section {
    /// Runs the code to check.
    pub(crate) fn enter(&mut self, f: impl FnOnce()) {
        f();
    }
}
