//! Changes to a JSON text that leave all else as it is written.

use std::ops::Range;

/// Changes to a text, made all at once.
pub(super) struct Edits<'t> {
    text: &'t str,
    /// Text in place of each range; `None` takes an element or a field out, with its comma.
    edits: Vec<(Range<usize>, Option<String>)>,
}

impl<'t> Edits<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, edits: Vec::new() }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn replace(&mut self, range: Range<usize>, with: String) {
        self.edits.push((range, Some(with)));
    }

    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.edits.push((range, None));
    }

    /// The text with all changes; `None` if there are none.
    pub(super) fn apply(mut self) -> Option<String> {
        if self.edits.is_empty() {
            return None;
        }
        // From the end, so that what is still to be changed stays where it is.
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = self.text.to_owned();
        for (range, with) in self.edits.into_iter().rev() {
            match with {
                Some(with) => text.replace_range(range, &with),
                None => text.replace_range(with_comma(&text, range), ""),
            }
        }
        Some(text)
    }
}

/// An element with the comma behind it, or, if it is the last, with the one before it.
fn with_comma(text: &str, range: Range<usize>) -> Range<usize> {
    let behind = &text[range.end..];
    let next = behind.trim_start();
    if let Some(next) = next.strip_prefix(',') {
        return range.start..text.len() - next.trim_start().len();
    }
    let before = text[..range.start].trim_end();
    match before.strip_suffix(',') {
        Some(before) => before.trim_end().len()..range.end,
        None => range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(letters: &str) -> String {
        let text = "[ a, b ,c ]";
        let mut edits = Edits::new(text);
        for letter in letters.chars() {
            let at = text.find(letter).unwrap();
            edits.delete(at..at + 1);
        }
        edits.apply().unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn commas_go_with_what_goes() {
        let cases = [
            ("", "[ a, b ,c ]"),
            ("a", "[ b ,c ]"),
            ("b", "[ a, c ]"),
            ("c", "[ a, b ]"),
            ("bc", "[ a ]"),
            ("ab", "[ c ]"),
            ("cba", "[  ]"),
        ];
        for (letters, left) in cases {
            assert_eq!(without(letters), left, "{letters}");
        }
    }
}
