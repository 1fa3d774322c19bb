//! Texts from outside, as people may be shown them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true if a character acts on a terminal or on a reader's eye instead of being read: control characters,
/// and those that turn the direction of what follows.
///
/// # Example
///
/// ```
/// use cupel_names::is_hidden;
///
/// assert!(is_hidden('\u{1b}') && is_hidden('\u{9b}') && is_hidden('\u{202e}'));
/// assert!(!is_hidden('é') && !is_hidden('漢') && !is_hidden('\u{200d}'));
/// ```
#[must_use]
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

/// Returns a text as people may be shown it: of what [is hidden](is_hidden) line breaks stay, and all else
/// is escaped.
///
/// # Example
///
/// ```
/// use cupel_names::readable;
///
/// assert_eq!(readable("\u{1b}[2Jgone\n\u{202e}txet"), "\\u{1b}[2Jgone\n\\u{202e}txet");
/// assert_eq!(readable("a\rb\tc"), "a\\rb\\tc");
/// ```
#[must_use]
pub fn readable(text: &str) -> Cow<'_, str> {
    escaped(text, |to, char| match char {
        '\n' => to.push('\n'),
        _ => to.extend(char.escape_default()),
    })
}

/// Returns JSON that says the same with everything [hidden](is_hidden) in its texts escaped. Line breaks
/// and tabs between values stay; carriage returns there go, since they mean nothing.
///
/// # Example
///
/// ```
/// use cupel_names::readable_json;
///
/// assert_eq!(readable_json("{\"a\":\"\u{9b}2J\u{202e}\"}\r\n"), "{\"a\":\"\\u009b2J\\u202e\"}\n");
/// ```
#[must_use]
pub fn readable_json(json: &str) -> Cow<'_, str> {
    escaped(json, |to, char| match char {
        '\n' | '\t' => to.push(char),
        '\r' => {}
        _ => {
            let _ = write!(to, "\\u{:04x}", u32::from(char));
        }
    })
}

/// The text with each hidden character written as told.
fn escaped(text: &str, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let Some(first) = text.find(|char| is_hidden(char) && char != '\n') else {
        return Cow::Borrowed(text);
    };
    let (before, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(before);
    for char in rest.chars() {
        if is_hidden(char) {
            write(&mut escaped, char);
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_stays_where_it_is() {
        for text in ["", "größe 名 \\ \"x\"", "two\nlines\n", "family 👨\u{200d}👩\u{200d}👧"]
        {
            assert!(matches!(readable(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(readable_json(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn nothing_hidden_is_left_whatever_it_is() {
        let all: String = ('\0'..='\u{10ffff}').filter(|char| is_hidden(*char)).collect();
        assert!(all.chars().count() > 65 && all.contains(['\u{7f}', '\u{85}', '\u{2066}']));
        for text in [readable(&all), readable_json(&all)] {
            assert!(!text.chars().any(|char| is_hidden(char) && !matches!(char, '\n' | '\t')));
        }
        assert!(!readable(&all).contains('\t'));
    }
}
