//! Texts in messages.

use std::fmt;

use crate::model::write_letter;

/// The beginning of a text, for messages, which are one line: line breaks and the like are escaped.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LIMIT: usize = 40;
        for (at, letter) in self.0.chars().enumerate() {
            match letter {
                _ if at == LIMIT => return f.write_str("…"),
                letter => write_letter(f, letter)?,
            }
        }
        Ok(())
    }
}
