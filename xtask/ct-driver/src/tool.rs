//! The checker is the tool around this process. It follows marked bytes, reports leaks, and sets
//! the exit status.

/// Runs each operation once, with its secrets marked.
pub(crate) struct Checker {
    /// The only operation to run, if not all.
    operation: Option<String>,
    operations: usize,
}

/// The part of an operation that is checked: all of it.
pub(crate) struct Section;

impl Checker {
    pub(crate) fn new(backend: &str, subject: &str, operation: Option<&str>) -> Self {
        assert!(aioli::hazmat::is_watched(), "this program runs under the tool that it was built for");
        println!("{subject} on {backend}");
        Self { operation: operation.map(str::to_owned), operations: 0 }
    }

    /// The number of keys: marks make one stand for all.
    pub(crate) fn keys(&self) -> usize {
        1
    }

    /// Marks bytes as secret. Keys are marked already.
    pub(crate) fn secret(bytes: &[u8]) {
        aioli::hazmat::mark_secret(bytes);
    }

    /// Checks `run`, which takes the number of the secret to use. The first stands for all.
    pub(crate) fn operation(&mut self, name: &str, _secrets: usize, run: impl FnOnce(usize, &mut Section)) {
        if self.operation.as_ref().is_none_or(|only| only == name) {
            println!("  {name}");
            self.operations += 1;
            run(0, &mut Section);
        }
    }

    pub(crate) fn finish(self) {
        assert!(self.operations > 0, "an operation of this name");
    }
}

impl Section {
    /// Runs the code to check.
    pub(crate) fn enter(&mut self, f: impl FnOnce()) {
        f();
    }
}
