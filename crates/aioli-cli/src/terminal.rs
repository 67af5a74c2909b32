//! Standard output, messages, passphrases, progress.

use crate::error::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use zeroize::Zeroizing;

/// Writes a line to standard output. A closed pipe is an error, where `println` would panic.
macro_rules! say {
    ($($format:tt)*) => {
        $crate::terminal::put(format_args!("{}\n", format_args!($($format)*)))
    };
}
pub(crate) use say;

/// Writes to standard output.
pub(crate) fn put(text: std::fmt::Arguments<'_>) -> Result<(), Error> {
    io::stdout().lock().write_fmt(text).map_err(Error::Output)
}

/// Writes bytes to standard output.
pub(crate) fn put_bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Reports an error on standard error, unless nobody reads what this program says.
pub(crate) fn complain(error: &Error) {
    if !error.is_broken_pipe() {
        note(format_args!("aioli: {error}"));
    }
}

/// Writes a line to standard error. Ignores a failure, because there is nowhere to report it.
pub(crate) fn note(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether a question on standard error reaches a terminal.
pub(crate) fn can_ask() -> bool {
    io::stderr().is_terminal()
}

/// Asks for a passphrase on the terminal, without echo. An interrupt turns echo on again.
#[cfg(unix)]
pub(crate) fn ask(prompt: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let read = || {
        let mut terminal = std::fs::File::options().read(true).write(true).open("/dev/tty")?;
        let _silent = crate::interrupt::WithoutEcho::new(&terminal)?;
        terminal.write_all(prompt.as_bytes())?;
        read_line(&mut terminal)
    };
    read().map_err(Error::Terminal)
}

/// Asks for a passphrase on the terminal, without echo.
#[cfg(not(unix))]
pub(crate) fn ask(prompt: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let passphrase = rpassword::prompt_password(prompt).map_err(Error::Terminal)?;
    Ok(Zeroizing::new(passphrase.into_bytes()))
}

/// A line without its end. Reads byte by byte into memory reserved beforehand, so no buffer and no
/// reallocation leaves a copy of a secret behind.
#[cfg(unix)]
fn read_line(terminal: &mut impl io::Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST_LINE));
    let mut byte = Zeroizing::new([0]);
    loop {
        match terminal.read(&mut *byte) {
            Ok(0) if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => return Ok(line),
            Ok(_) if byte[0] == b'\n' => return Ok(line),
            Ok(_) if line.len() == LONGEST_LINE => return Err(io::Error::other("the line is too long")),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
}

/// A progress bar on standard error, hidden if that is not a terminal.
pub(crate) fn progress(total: u64, unit: Unit) -> ProgressBar {
    let template = match unit {
        Unit::Bytes => "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        Unit::Records => "{bar:40} {pos}/{len} {eta}",
    };
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(template).expect("a constant template"));
    bar
}

/// The unit of a progress bar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Bytes read.
    Bytes,
    /// Known-answer records.
    Records,
}

/// Bytes of the longest line that terminals pass on.
#[cfg(unix)]
const LONGEST_LINE: usize = 4096;
