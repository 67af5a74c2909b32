//! What the parts of the lab have in common: how they are run, where in a record they stand, and how they are shown.
//!
//! A part measures something and returns a section, a value that serde can write. Sections are keys of the record
//! beside `machine` and `results`; records without them stay readable, and so do records with sections of others.

use crate::show::Block;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a part puts into a record.
pub(crate) trait Section: Serialize + DeserializeOwned {
    /// Its key in the record.
    const KEY: &'static str;
    /// Its heading.
    const TITLE: &'static str;

    /// What there is to see, for the terminal and for the report.
    fn blocks(&self) -> Vec<Block>;
}

/// How a part is to be run.
pub(crate) struct Run<'a> {
    /// Less of everything, for a first look.
    pub(crate) quick: bool,
    /// Becomes true on Ctrl-C: end soon, and keep what there is.
    pub(crate) stop: &'a AtomicBool,
    bar: ProgressBar,
    /// Which part of how many, if there are several.
    part: Cell<Option<(usize, usize)>>,
}

impl<'a> Run<'a> {
    /// A run with a progress bar on stderr, where that is a terminal.
    pub(crate) fn new(quick: bool, stop: &'a AtomicBool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:40} {msg} {pos} of {len}, {eta} left (Ctrl-C keeps what there is)");
        bar.set_style(style.expect("a valid template"));
        Self { quick, stop, bar, part: Cell::new(None) }
    }

    /// Says which part of how many is run next.
    pub(crate) fn part(&self, part: usize, count: usize) {
        self.part.set(Some((part, count)));
    }

    /// Begins a stretch of so many steps, shown with this message, `peers, round` for example.
    pub(crate) fn begin(&self, message: impl Into<String>, steps: usize) {
        self.bar.reset();
        self.bar.set_length(steps as u64);
        let part = self.part.get().map_or(String::new(), |(part, count)| format!("[part {part} of {count}] "));
        self.bar.set_message(part + &message.into());
    }

    /// So many steps of the stretch are done.
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
