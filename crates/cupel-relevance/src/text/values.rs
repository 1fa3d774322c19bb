//! Values: the ids, dates and numbers that texts mention.

use super::table::Table;

/// The values of many texts, each text's once.
///
/// A value is a run of letters, digits, `_` and `-` of at least four characters, one of them a
/// digit: `HAT001`, `2024-05-15`, `user_9fk2`. Case does not count.
pub(crate) struct Values {
    table: Table<()>,
    /// The numbers of the values, text by text.
    lists: Vec<u32>,
    ends: Vec<usize>,
    buffer: String,
}

const SHORTEST: usize = 4;
const LONGEST: usize = 128;

impl Values {
    pub(crate) fn new() -> Self {
        let (lists, ends) = (Vec::new(), Vec::new());
        Self { table: Table::new(), lists, ends, buffer: String::new() }
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many distinct values there are.
    pub(crate) fn count(&self) -> usize {
        self.table.len()
    }

    /// The values of a text by number, each once.
    pub(crate) fn of(&self, text: usize) -> &[u32] {
        &self.lists[self.start(text)..self.ends[text]]
    }

    /// Adds the next text.
    pub(crate) fn add(&mut self, text: &str) {
        let start = self.lists.len();
        for_each_value(text, |value| {
            self.buffer.clear();
            self.buffer.extend(value.chars().flat_map(char::to_lowercase));
            self.lists.push(self.table.enter(&self.buffer));
        });
        self.lists[start..].sort_unstable();
        let mut kept = start;
        for at in start..self.lists.len() {
            if kept == start || self.lists[at] != self.lists[kept - 1] {
                self.lists[kept] = self.lists[at];
                kept += 1;
            }
        }
        self.lists.truncate(kept);
        self.ends.push(kept);
    }

    fn start(&self, text: usize) -> usize {
        if text == 0 { 0 } else { self.ends[text - 1] }
    }
}

fn for_each_value<'t>(text: &'t str, mut emit: impl FnMut(&'t str)) {
    let is_outside =
        |character: char| !(character.is_alphanumeric() || character == '_' || character == '-');
    for run in text.split(is_outside) {
        let value = run.trim_matches('-');
        let is_long = value.len() >= SHORTEST && value.len() <= LONGEST;
        if is_long && value.bytes().any(|byte| byte.is_ascii_digit()) {
            emit(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for_each_value(text, |value| values.push(value));
        values
    }

    #[test]
    fn values_have_four_characters_and_a_digit() {
        let text =
            r#"{"id": "user_9fk2", "seats": 12, "on": "2024-05-15", "fare": 1200.50, "x": "-77-"}"#;
        assert_eq!(values(text), ["user_9fk2", "2024-05-15", "1200"]);
        assert_eq!(values("no digits here, 123"), [""; 0]);
    }

    #[test]
    fn a_text_has_each_value_once_whatever_its_case() {
        let mut values = Values::new();
        values.add("HAT001 hat002 Hat001 hat002 HAT003");
        values.add("none");
        values.add("hat003");
        assert_eq!((values.of(0), values.of(1), values.of(2)), (&[0, 1, 2][..], &[][..], &[2][..]));
        assert_eq!((values.len(), values.count()), (3, 3));
    }
}
