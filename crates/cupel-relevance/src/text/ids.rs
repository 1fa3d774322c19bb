//! The ids, dates and numbers that texts mention.

use std::ops::Range;

use super::table::Table;

/// The ids of many texts, each text's once.
///
/// An id is a run of letters, digits, `_` and `-` of at least four characters, one of them a digit:
/// `HAT001`, `2024-05-15`, `user_9fk2`. Case does not count. What later calls may need is more than
/// that: see [`for_each_value`](crate::need::for_each_value). Where results stand apart from their
/// calls, ids alone tell more.
pub(crate) struct Ids {
    table: Table<()>,
    /// The numbers of the ids, text by text.
    lists: Vec<u32>,
    ends: Vec<usize>,
    buffer: String,
}

const SHORTEST: usize = 4;
const LONGEST: usize = 128;

impl Ids {
    pub(crate) fn new() -> Self {
        let (lists, ends) = (Vec::new(), Vec::new());
        Self { table: Table::new(), lists, ends, buffer: String::new() }
    }

    /// The number of texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of distinct ids.
    pub(crate) fn count(&self) -> usize {
        self.table.len()
    }

    /// The ids of a text by number, each once.
    pub(crate) fn of(&self, text: usize) -> &[u32] {
        &self.lists[self.start(text)..self.ends[text]]
    }

    /// Adds the next text.
    pub(crate) fn add(&mut self, text: &str) {
        let start = self.lists.len();
        for_each_id(text, |id| {
            self.buffer.clear();
            self.buffer.extend(id.chars().flat_map(char::to_lowercase));
            self.lists.push(self.table.enter(&self.buffer));
        });
        self.ends.push(each_once_from(&mut self.lists, start).end);
    }

    fn start(&self, text: usize) -> usize {
        if text == 0 { 0 } else { self.ends[text - 1] }
    }
}

/// Sorts what stands in a list from here on, and drops what stands there twice.
pub(crate) fn each_once_from(list: &mut Vec<u32>, start: usize) -> Range<usize> {
    list[start..].sort_unstable();
    let mut kept = start;
    for at in start..list.len() {
        if kept == start || list[at] != list[kept - 1] {
            list[kept] = list[at];
            kept += 1;
        }
    }
    list.truncate(kept);
    start..kept
}

fn for_each_id<'t>(text: &'t str, mut emit: impl FnMut(&'t str)) {
    let is_outside =
        |character: char| !(character.is_alphanumeric() || character == '_' || character == '-');
    for run in text.split(is_outside) {
        let id = run.trim_matches('-');
        let is_long = id.len() >= SHORTEST && id.len() <= LONGEST;
        if is_long && id.bytes().any(|byte| byte.is_ascii_digit()) {
            emit(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for_each_id(text, |id| found.push(id));
        found
    }

    #[test]
    fn ids_have_four_characters_and_a_digit() {
        let text =
            r#"{"id": "user_9fk2", "seats": 12, "on": "2024-05-15", "fare": 1200.50, "x": "-77-"}"#;
        assert_eq!(ids(text), ["user_9fk2", "2024-05-15", "1200"]);
        assert_eq!(ids("no digits here, 123"), [""; 0]);
    }

    #[test]
    fn a_text_has_each_id_once_whatever_its_case() {
        let mut ids = Ids::new();
        ids.add("HAT001 hat002 Hat001 hat002 HAT003");
        ids.add("none");
        ids.add("hat003");
        assert_eq!((ids.of(0), ids.of(1), ids.of(2)), (&[0, 1, 2][..], &[][..], &[2][..]));
        assert_eq!((ids.len(), ids.count()), (3, 3));
    }
}
