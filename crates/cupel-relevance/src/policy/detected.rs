//! The languages that lists of items were found to be in.

use std::sync::{Mutex, PoisonError};

use cupel::ContextItem;

use crate::Language;
use crate::text::{Count, Reader, SharedReader};

/// Number of lists that are remembered: a few, for those who ask about several at once.
const REMEMBERED: usize = 8;

/// The languages of the lists that were last looked at, so that the scorers of a policy need not all
/// read the same texts.
#[derive(Debug, Default)]
pub(super) struct DetectedLanguages {
    known: Mutex<Vec<Known>>,
    reader: Mutex<SharedReader>,
}

#[derive(Debug)]
struct Known {
    /// The items whose words were counted: all, or the first of a long list.
    read: Vec<ContextItem>,
    is_whole: bool,
    language: Option<Language>,
}

impl Known {
    fn is_about(&self, items: &[ContextItem]) -> bool {
        let has_length = if self.is_whole { items.len() == self.read.len() } else { true };
        let begins = || {
            let begin = items.get(..self.read.len());
            begin.is_some_and(|begin| begin.iter().zip(&self.read).all(|(a, b)| a.is_same_item(b)))
        };
        has_length && begins()
    }
}

impl DetectedLanguages {
    /// The language of a list.
    pub(super) fn of(&self, items: &[ContextItem]) -> Option<Language> {
        if let Some(known) = self.lock().iter().find(|known| known.is_about(items)) {
            return known.language;
        }
        let known = detect(items, &mut self.reader().lock());
        let language = known.language;
        let mut remembered = self.lock();
        if remembered.len() == REMEMBERED {
            remembered.remove(0);
        }
        remembered.push(known);
        language
    }

    /// Reader of the items, for others that need their words.
    pub(super) fn reader(&self) -> SharedReader {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets all lists, and with them their items. The words are to be read anew: whoever knows
    /// them by number goes on with the old reader.
    pub(super) fn clear(&self) {
        self.lock().clear();
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = SharedReader::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn detect(items: &[ContextItem], reader: &mut Reader) -> Known {
    let mut count = Count::new();
    let last = items.iter().position(|item| !count.add_item(item, reader));
    let read = last.map_or(items.len(), |last| last + 1);
    Known { read: items[..read].to_vec(), is_whole: last.is_none(), language: count.language() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;

    #[test]
    fn a_list_is_known_by_its_items_not_by_its_length() {
        let languages = DetectedLanguages::default();
        let german = texts(&["Wo ist der Schlüssel?", "Er liegt unter dem Topf."]);
        let english = texts(&["Where is the key?", "It is under the pot."]);
        for _ in 0..2 {
            assert_eq!(languages.of(&german), Some(Language::German));
            assert_eq!(languages.of(&english), Some(Language::English));
            assert_eq!(languages.of(&english[..1]), Some(Language::English));
            assert_eq!(languages.of(&[]), None);
        }
        assert_eq!(languages.lock().len(), 4);
        languages.clear();
        assert!(languages.lock().is_empty());
    }

    #[test]
    fn what_comes_after_the_words_that_count_changes_nothing_and_is_not_kept() {
        let languages = DetectedLanguages::default();
        let mut items = texts(&vec!["the key is under the pot and so on"; 3_000]);
        items.extend(texts(&["Der Schlüssel liegt unter dem Topf."; 5]));
        assert_eq!(languages.of(&items), Some(Language::English));
        assert_eq!(languages.of(&items[..2_700]), Some(Language::English));
        let known = languages.lock();
        assert_eq!((known.len(), known[0].read.len(), known[0].is_whole), (1, 2_223, false));
    }

    #[test]
    fn only_the_last_lists_are_remembered() {
        let languages = DetectedLanguages::default();
        for _ in 0..20 {
            languages.of(&texts(&["Where is the key?"]));
        }
        assert_eq!(languages.lock().len(), REMEMBERED);
    }
}
