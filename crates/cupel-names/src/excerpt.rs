/// Returns the beginning of a text on one line: white space becomes single blanks, what is not shown
/// becomes nothing, and what is too long ends in `…`.
///
/// `width` says how many columns a character takes, and `None` for what is not shown; [`letters`] counts
/// characters.
///
/// # Example
///
/// ```
/// use cupel_names::{excerpt, letters};
///
/// assert_eq!(excerpt("one\n two three", 8, letters), "one two…");
/// ```
#[must_use]
pub fn excerpt(text: &str, columns: usize, width: impl Fn(char) -> Option<usize>) -> String {
    let mut line = String::new();
    // The columns used, and how much of the line leaves room for the mark of an omission.
    let (mut used, mut cut, mut is_pending) = (0, 0, false);
    for char in text.chars() {
        if char.is_whitespace() {
            is_pending = !line.is_empty();
            continue;
        }
        let Some(char_width) = width(char).filter(|_| !crate::is_hidden(char)) else { continue };
        let needed = char_width + usize::from(is_pending);
        if used + needed > columns {
            line.truncate(cut);
            line.extend((columns > 0).then_some('…'));
            return line;
        }
        if std::mem::take(&mut is_pending) {
            line.push(' ');
        }
        line.push(char);
        used += needed;
        if used < columns {
            cut = line.len();
        }
    }
    line
}

/// One column for each character but those that [are hidden](crate::is_hidden), which are not shown.
#[must_use]
pub fn letters(char: char) -> Option<usize> {
    (!crate::is_hidden(char)).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_without_control_characters() {
        assert_eq!(excerpt("  a\n\tb\u{1b}[0m  ", 20, letters), "a b[0m");
        assert_eq!(excerpt("", 20, letters), "");
    }

    #[test]
    fn what_is_too_long_is_cut_to_the_columns() {
        assert_eq!(excerpt("one two three", 8, letters), "one two…");
        assert_eq!(excerpt("one two", 7, letters), "one two");
        assert_eq!(excerpt("abc", 0, letters), "");
        assert_eq!(excerpt("abc", 1, letters), "…");
    }
}
