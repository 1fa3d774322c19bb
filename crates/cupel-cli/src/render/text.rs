//! Text measured in the columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide a screen is when nobody can tell.
const DEFAULT_WIDTH: usize = 100;
/// What is narrower is treated as this wide.
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

/// The beginning of a text on one line: white space becomes single blanks, what no terminal should
/// receive becomes nothing, and what is too long ends in `…`.
pub(crate) fn excerpt(text: &str, columns: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    let mut is_pending = false;
    for char in text.chars() {
        if char.is_whitespace() {
            is_pending = !line.is_empty();
            continue;
        }
        let Some(char_width) = char.width() else { continue };
        let needed = char_width + usize::from(is_pending);
        if used + needed > columns {
            return shortened(line, columns);
        }
        if std::mem::take(&mut is_pending) {
            line.push(' ');
        }
        line.push(char);
        used += needed;
    }
    line
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

/// Makes room for the mark of an omission.
fn shortened(mut line: String, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    while width(&line) + 1 > columns && line.pop().is_some() {}
    line.truncate(line.trim_end().len());
    line.push('…');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_without_control_characters() {
        assert_eq!(excerpt(" a\n\n b\u{1b}[31mc\t", 20), "a b[31mc");
    }

    #[test]
    fn what_is_too_long_is_cut_to_the_columns() {
        assert_eq!(excerpt("one two three", 8), "one two…");
        assert_eq!(excerpt("one two", 7), "one two");
        assert_eq!(excerpt("abc", 0), "");
    }

    #[test]
    fn wide_letters_count_twice() {
        let cut = excerpt("漢字漢字", 6);
        assert_eq!((cut.as_str(), width(&cut)), ("漢字…", 5));
    }
}
