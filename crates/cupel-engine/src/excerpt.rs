//! How a text begins, for people.

/// Enough to recognise a text by, on any screen.
const LONGEST: usize = 240;

/// The beginning of a text on one line: white space becomes single blanks, control characters
/// become nothing, and what is too long ends in `…`.
pub(crate) fn excerpt(text: &str) -> String {
    let mut line = String::new();
    let (mut used, mut is_pending) = (0, false);
    for char in text.chars() {
        if char.is_whitespace() {
            is_pending = !line.is_empty();
            continue;
        }
        if char.is_control() {
            continue;
        }
        let needed = 1 + usize::from(is_pending);
        if used + needed > LONGEST {
            line.push('…');
            break;
        }
        if std::mem::take(&mut is_pending) {
            line.push(' ');
        }
        line.push(char);
        used += needed;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_without_control_characters() {
        assert_eq!(excerpt("  a\n\tb\u{1b}[0m  "), "a b[0m");
        assert_eq!(excerpt(""), "");
        let long = excerpt(&"x".repeat(1_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST + 1, true));
    }
}
