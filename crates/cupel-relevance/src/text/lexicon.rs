//! Every distinct word once, with the terms that it stands for.

use super::analysis::{Analysis, Analyzer};
use super::reader::Words;
use super::table::Table;

/// A term by number. Numbers depend on what was seen first and never reach a result.
pub(crate) type TermId = u32;

/// The terms of all words that were seen.
pub(crate) struct Lexicon {
    analyzer: Analyzer,
    terms: Table<()>,
    /// For each word by its number.
    meanings: Vec<Meaning>,
    /// The terms of words that have several, end to end.
    lists: Vec<TermId>,
}

/// Meaning of a word.
#[derive(Clone, Copy, Default)]
enum Meaning {
    #[default]
    Unseen,
    One(TermId),
    /// Where its terms lie; none of them for a stop word.
    Several {
        start: u32,
        count: u16,
    },
}

impl Lexicon {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        let (meanings, lists) = (Vec::new(), Vec::new());
        Self { analyzer: Analyzer::new(analysis), terms: Table::new(), meanings, lists }
    }

    /// Number of terms there are.
    pub(crate) fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// A term by its text, if any word has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.terms.find(term)
    }

    /// The text of a term.
    pub(crate) fn text(&self, term: TermId) -> &str {
        self.terms.text(term)
    }

    /// Calls `emit` for each term of a text, in order. All texts must come from one reader.
    pub(crate) fn for_each_term(&mut self, words: Words<'_>, mut emit: impl FnMut(TermId)) {
        if self.meanings.len() < words.count() {
            self.meanings.resize(words.count(), Meaning::Unseen);
        }
        for number in words.numbers {
            let mut meaning = self.meanings[*number as usize];
            if let Meaning::Unseen = meaning {
                meaning = self.analyze(words.text(*number));
                self.meanings[*number as usize] = meaning;
            }
            match meaning {
                Meaning::Unseen => {}
                Meaning::One(term) => emit(term),
                Meaning::Several { start, count } => {
                    let start = start as usize;
                    let terms = &self.lists[start..start + usize::from(count)];
                    terms.iter().copied().for_each(&mut emit);
                }
            }
        }
    }

    fn analyze(&mut self, word: &str) -> Meaning {
        let Self { analyzer, terms, lists, .. } = self;
        let start = lists.len();
        analyzer.for_each_term(word, |term| lists.push(terms.enter(term)));
        match lists[start..] {
            [only] => {
                lists.truncate(start);
                Meaning::One(only)
            }
            // A word of at most 128 bytes has no more parts than that.
            _ => Meaning::Several { start: start as u32, count: (lists.len() - start) as u16 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Reader;

    /// A lexicon and who reads to it.
    struct English(Lexicon, Reader);

    impl English {
        fn new() -> Self {
            Self(Lexicon::new(&Analysis::default()), Reader::default())
        }

        fn ids(&mut self, word: &str) -> Vec<TermId> {
            let mut ids = Vec::new();
            self.0.for_each_term(self.1.text(word), |term| ids.push(term));
            ids
        }
    }

    #[test]
    fn words_with_the_same_stem_are_the_same_term() {
        let mut lexicon = English::new();
        let deploy = lexicon.ids("deploy");
        assert_eq!(lexicon.ids("Deploying"), deploy);
        assert_eq!(lexicon.0.find("deploy"), Some(deploy[0]));
        assert_eq!(lexicon.0.find("Deploying"), None);
        assert_eq!(lexicon.0.term_count(), 1);
    }

    #[test]
    fn a_text_may_be_a_stem_before_it_is_a_word() {
        let mut lexicon = English::new();
        let stem = lexicon.ids("newness");
        assert_eq!(lexicon.ids("new"), stem);
        assert_ne!(lexicon.ids("news"), stem);
    }

    #[test]
    fn stop_words_have_no_terms_and_identifiers_several() {
        let mut lexicon = English::new();
        assert!(lexicon.ids("the").is_empty());
        assert!(lexicon.ids("the").is_empty());
        assert_eq!(lexicon.ids("getUser"), [0, 1, 2]);
        assert_eq!(lexicon.ids("User"), [1]);
        assert_eq!(lexicon.0.find("the"), None);
    }
}
