//! Texts inside of messages.

use std::fmt;

/// A text for a message, which is one line: line breaks and other control characters are escaped.
/// Whoever writes a name that came from outside writes it through this.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(breaks_lines) {
            let mut escaped = String::with_capacity(self.0.len() + 8);
            self.0.chars().try_for_each(|letter| write_letter(&mut escaped, letter))?;
            return f.pad(&escaped);
        }
        f.pad(self.0)
    }
}

/// Writes one letter of such a text.
pub(crate) fn write_letter(to: &mut impl fmt::Write, letter: char) -> fmt::Result {
    if breaks_lines(letter) {
        return write!(to, "{}", letter.escape_default());
    }
    to.write_char(letter)
}

/// Control characters, and the two separators that Unicode has besides.
fn breaks_lines(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_are_escaped_and_all_else_stays() {
        assert_eq!(OneLine("a\nb\r\u{85}\u{2028}c").to_string(), r"a\nb\r\u{85}\u{2028}c");
        assert_eq!(OneLine("größe 名 \\").to_string(), "größe 名 \\");
        assert_eq!(format!("{:>4}", OneLine("é")), "   é");
    }
}
