//! Texts in messages.

use std::fmt::{self, Write as _};

/// The beginning of a text, for messages, which are one line: line breaks and the like are escaped.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: usize = 40;
        for (at, letter) in self.0.chars().enumerate() {
            match letter {
                _ if at == LIMIT => return f.write_str("…"),
                letter if letter.is_control() => write!(f, "{}", letter.escape_default())?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}
