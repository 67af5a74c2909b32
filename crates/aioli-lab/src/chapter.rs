//! Chapters of the lab: how one is run, which section of a record it fills, and how that section is
//! shown.
//!
//! A chapter (peers, techniques, kernel, profile, credibility, GPU) measures something and returns
//! its [`Section`], a value that serde can write. A section is a key of the record beside `machine`
//! and `results`. Every section is optional, and a reader ignores the keys that it does not know.

use crate::show::Block;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The part of a record that belongs to one chapter.
pub(crate) trait Section: Serialize + DeserializeOwned {
    /// Its key in the record.
    const KEY: &'static str;
    /// Its heading.
    const TITLE: &'static str;

    /// Its text, tables and charts, for the terminal and for the report.
    fn blocks(&self) -> Vec<Block>;
}

/// A run of one or several chapters: how thorough it is, whether to stop, and its progress bar.
pub(crate) struct Run<'a> {
    /// Measure less of everything, for a first look.
    pub(crate) quick: bool,
    /// Becomes true on Ctrl-C: end soon, and keep the finished measurements.
    pub(crate) stop: &'a AtomicBool,
    bar: ProgressBar,
    /// The number of the current chapter and of all chapters, if there are several.
    chapter: Cell<Option<(usize, usize)>>,
}

impl<'a> Run<'a> {
    /// A run with a progress bar on stderr, if stderr is a terminal.
    pub(crate) fn new(quick: bool, stop: &'a AtomicBool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:40} {msg} {pos} of {len}, {eta} left (Ctrl-C keeps finished rounds)");
        bar.set_style(style.expect("a valid template"));
        Self { quick, stop, bar, chapter: Cell::new(None) }
    }

    /// Says that chapter number `chapter` of `count` is next.
    pub(crate) fn chapter(&self, chapter: usize, count: usize) {
        self.chapter.set(Some((chapter, count)));
    }

    /// Begins a stretch of `steps` steps, shown with this message, `peers, round` for example.
    pub(crate) fn begin(&self, message: impl Into<String>, steps: usize) {
        self.bar.reset();
        self.bar.set_length(steps as u64);
        let chapter = self.chapter.get();
        let prefix = chapter.map_or(String::new(), |(chapter, count)| format!("[chapter {chapter} of {count}] "));
        self.bar.set_message(prefix + &message.into());
    }

    /// Shows that `steps` steps of the stretch are done.
    pub(crate) fn done(&self, steps: usize) {
        self.bar.set_position(steps as u64);
    }

    /// Removes the bar, before something is printed.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether to end.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
