//! The beginning of a text, for people.

const LONGEST: usize = 40;

/// The beginning of a text in one line.
pub(crate) fn excerpt(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * LONGEST {
            break;
        }
    }
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_lines_joined() {
        assert_eq!(excerpt(" one\n two "), "one two");
        assert_eq!(excerpt(&"é ".repeat(500)).chars().count(), 40);
        assert_eq!(excerpt(&"x".repeat(500)), format!("{}…", "x".repeat(40)));
    }
}
