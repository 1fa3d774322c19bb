//! Every distinct word once, with the terms that it stands for.

use super::analysis::{Analysis, Analyzer};
use super::table::Table;

/// A term by number. Numbers depend on what was seen first and never reach a result.
pub(crate) type TermId = u32;

/// The terms of all words that were seen. A text may be a word, a term, or both.
pub(crate) struct Lexicon {
    analyzer: Analyzer,
    texts: Table,
    /// For each text what it stands for as a word.
    words: Vec<Option<Terms>>,
    /// For each text the term that it is.
    terms_by_text: Vec<Option<TermId>>,
    /// For each term its text.
    texts_by_term: Vec<u32>,
    /// The terms of words that have several or none, end to end.
    lists: Vec<TermId>,
}

/// The terms of a word.
#[derive(Clone, Copy)]
struct Terms {
    /// The term if there is one, or else where they lie.
    first: u32,
    count: u32,
}

impl Lexicon {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        Self {
            analyzer: Analyzer::new(analysis),
            texts: Table::new(),
            words: Vec::new(),
            terms_by_text: Vec::new(),
            texts_by_term: Vec::new(),
            lists: Vec::new(),
        }
    }

    /// How many terms there are.
    pub(crate) fn term_count(&self) -> usize {
        self.texts_by_term.len()
    }

    /// The text of a term.
    pub(crate) fn text(&self, term: TermId) -> &str {
        self.texts.text(self.texts_by_term[term as usize])
    }

    /// A term by its text, if any word has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.terms_by_text[self.texts.find(term)? as usize]
    }

    /// Calls `emit` for each term of a word as it stands in a text.
    pub(crate) fn for_each_term(&mut self, word: &str, mut emit: impl FnMut(TermId)) {
        let number = self.enter(word);
        let Terms { first, count } = match self.words[number as usize] {
            Some(terms) => terms,
            None => self.analyze(word, number),
        };
        if count == 1 {
            emit(first);
        } else {
            let first = first as usize;
            self.lists[first..first + count as usize].iter().copied().for_each(emit);
        }
    }

    #[cold]
    fn analyze(&mut self, word: &str, number: u32) -> Terms {
        let start = self.lists.len();
        let mut analyzer = std::mem::take(&mut self.analyzer);
        analyzer.for_each_term(word, |term| {
            let text = if term == word { number } else { self.enter(term) };
            let term = self.term(text);
            self.lists.push(term);
        });
        self.analyzer = analyzer;
        let terms = match self.lists[start..] {
            [only] => {
                self.lists.truncate(start);
                Terms { first: only, count: 1 }
            }
            _ => Terms { first: start as u32, count: (self.lists.len() - start) as u32 },
        };
        self.words[number as usize] = Some(terms);
        terms
    }

    /// The term that a text is, new or known.
    fn term(&mut self, text: u32) -> TermId {
        *self.terms_by_text[text as usize].get_or_insert_with(|| {
            self.texts_by_term.push(text);
            self.texts_by_term.len() as u32 - 1
        })
    }

    fn enter(&mut self, text: &str) -> u32 {
        let number = self.texts.enter(text);
        if number as usize == self.words.len() {
            self.words.push(None);
            self.terms_by_text.push(None);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(lexicon: &mut Lexicon, word: &str) -> Vec<TermId> {
        let mut ids = Vec::new();
        lexicon.for_each_term(word, |term| ids.push(term));
        ids
    }

    #[test]
    fn words_with_the_same_stem_are_the_same_term() {
        let mut lexicon = Lexicon::new(&Analysis::default());
        let deploy = ids(&mut lexicon, "deploy");
        assert_eq!(ids(&mut lexicon, "Deploying"), deploy);
        assert_eq!(lexicon.text(deploy[0]), "deploy");
        assert_eq!(lexicon.find("deploy"), Some(deploy[0]));
        assert_eq!(lexicon.find("Deploying"), None);
        assert_eq!(lexicon.term_count(), 1);
    }

    #[test]
    fn a_stem_and_a_word_of_the_same_letters_keep_their_roles_apart() {
        // "news" stays, so that the stem "new" is not its term.
        let mut lexicon = Lexicon::new(&Analysis::default());
        let news = ids(&mut lexicon, "news");
        let new = ids(&mut lexicon, "newness");
        assert_ne!(news, new);
        assert_eq!(ids(&mut lexicon, "new"), new);
    }

    #[test]
    fn stop_words_have_no_terms_and_identifiers_several() {
        let mut lexicon = Lexicon::new(&Analysis::default());
        assert_eq!(ids(&mut lexicon, "the"), []);
        assert_eq!(ids(&mut lexicon, "the"), []);
        assert_eq!(ids(&mut lexicon, "getUser"), [0, 1, 2]);
        assert_eq!(ids(&mut lexicon, "User"), [1]);
        assert_eq!(lexicon.find("the"), None);
    }
}
