//! Text measured in the columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width of a screen when nobody can tell.
const DEFAULT_WIDTH: usize = 100;
/// A narrower screen is treated as this wide.
const LEAST_WIDTH: usize = 40;

/// The columns of the screen: `COLUMNS`, or what the terminal says.
pub(crate) fn screen_width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = named.or_else(|| {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        size.map(|(width, _)| usize::from(width.0))
    });
    width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH)
}

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of a text on one line of at most so many columns, without what no terminal should
/// receive.
pub(crate) fn excerpt(text: &str, columns: usize) -> String {
    cupel_names::excerpt(text, columns, UnicodeWidthChar::width)
}

/// A text in lines of at most so many columns, broken between words.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_count_twice() {
        let cut = excerpt("漢字漢字", 6);
        assert_eq!((cut.as_str(), width(&cut)), ("漢字…", 5));
    }
}
