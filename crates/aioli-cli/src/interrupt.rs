//! Cleans up after an interrupt: it leaves no temporary file, and no terminal without echo.
//!
//! SIGINT, SIGTERM, SIGHUP and SIGQUIT end a process without running its destructors. A thread
//! waits for them, cleans up, and then lets the signal take its usual effect. A signal that was
//! ignored when the command started, as under `nohup`, stays ignored. SIGKILL cannot be answered.
//!
//! One lock orders this thread and the others: whoever makes a temporary file, renames one or turns
//! echo off holds it meanwhile. The thread never gives it back, so nothing changes after cleaning.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tempfile::TempDir;

/// The changes that an interrupt must undo.
struct State {
    /// Files and directories to remove, each while its [`Remembered`] lives.
    temporary: Vec<Weak<Path>>,
    /// A terminal without echo, and its settings before.
    #[cfg(unix)]
    terminal: Option<(std::fs::File, rustix::termios::Termios)>,
}

/// Keeps an interrupt waiting while it lives.
pub(crate) struct Hold(MutexGuard<'static, State>);

/// Delays interrupts until the result is dropped.
pub(crate) fn hold() -> Hold {
    #[cfg(unix)]
    signals::watch();
    Hold(lock())
}

impl Hold {
    /// Lets an interrupt remove this file or directory while the result lives.
    pub(crate) fn remember(&mut self, path: &Path) -> Remembered {
        let path: Remembered = std::path::absolute(path).unwrap_or_else(|_| path.into()).into();
        self.0.temporary.retain(|path| path.strong_count() > 0);
        self.0.temporary.push(Arc::downgrade(&path));
        path
    }
}

/// A path that an interrupt removes. Dropping it takes no lock; drop it once the path is removed or
/// renamed.
pub(crate) type Remembered = Arc<Path>;

/// A temporary directory, which is removed when it is dropped and by an interrupt.
pub(crate) struct TemporaryDirectory {
    directory: TempDir,
    _remembered: Remembered,
}

impl TemporaryDirectory {
    pub(crate) fn new() -> io::Result<Self> {
        let mut held = hold();
        let directory = tempfile::tempdir()?;
        let remembered = held.remember(directory.path());
        Ok(Self { directory, _remembered: remembered })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Removes the directory, and says if that fails.
    pub(crate) fn close(self) -> io::Result<()> {
        self.directory.close()
    }
}

fn lock() -> MutexGuard<'static, State> {
    static STATE: Mutex<State> = Mutex::new(State {
        temporary: Vec::new(),
        #[cfg(unix)]
        terminal: None,
    });
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A terminal that does not show what is typed. Dropping it restores the terminal.
#[cfg(unix)]
pub(crate) struct WithoutEcho(());

#[cfg(unix)]
impl WithoutEcho {
    pub(crate) fn new(terminal: &std::fs::File) -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let mut held = hold();
        let before = tcgetattr(terminal)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        let terminal_to_restore = terminal.try_clone()?;
        tcsetattr(terminal, OptionalActions::Flush, &silent)?;
        held.0.terminal = Some((terminal_to_restore, before));
        Ok(Self(()))
    }
}

#[cfg(unix)]
impl Drop for WithoutEcho {
    fn drop(&mut self) {
        lock().restore_terminal();
    }
}

#[cfg(unix)]
impl State {
    fn clean(&mut self) {
        self.restore_terminal();
        for path in self.temporary.iter().filter_map(Weak::upgrade) {
            if std::fs::remove_file(&path).is_err() {
                let _ = std::fs::remove_dir_all(&path);
            }
        }
    }

    fn restore_terminal(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some((terminal, before)) = self.terminal.take() {
            let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
        }
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    use std::sync::Once;

    /// Starts the thread that waits for signals, once.
    pub(super) fn watch() {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let ignored = ignored();
            let signals =
                [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
            let Ok(mut signals) = Signals::new(signals) else { return };
            // Without this thread nobody would answer a signal, so failing to start it is fatal.
            std::thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    // Kept until the process ends.
                    let mut state = super::lock();
                    state.clean();
                    let _ = emulate_default_handler(signal);
                    std::process::exit(128 + signal);
                }
            });
        });
    }

    /// The signals that the process ignores, one in each bit; none where the system does not say.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
