//! Names of files as people may see them: escaped where a terminal would be deceived.

use std::fmt;
use std::path::Path;

/// A path for people to read: no name can move the cursor, colour the line or end it.
///
/// Control characters, and those that change the direction of text or are invisible, are escaped as
/// in Rust, and so are bytes that are not UTF-8 (`\xff`). On Unix a backslash is doubled, so that
/// names that differ look different.
pub(crate) fn shown(path: &Path) -> Shown<'_> {
    Shown(path)
}

/// See [`shown`].
pub(crate) struct Shown<'a>(&'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_encoded_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' if cfg!(unix) => f.write_str("\\\\")?,
                    c if is_deceptive(c) => write!(f, "{}", c.escape_default())?,
                    c => write!(f, "{c}")?,
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

/// A text for people to read, with the same characters escaped, but backslashes as they are.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|c| if is_deceptive(c) { c.escape_default().to_string() } else { c.into() }).collect()
}

/// Whether a terminal obeys or hides a character instead of showing it.
pub(crate) fn is_deceptive(c: char) -> bool {
    let invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || invisible
}
