//! Every distinct word once, with the terms that it stands for.

use super::analysis::{Analysis, Analyzer};
use super::for_each_word;
use super::table::{Guess, Table};

/// A term by number. Numbers depend on what was seen first and never reach a result.
pub(crate) type TermId = u32;

/// The terms of all words that were seen.
pub(crate) struct Lexicon {
    analyzer: Analyzer,
    texts: Table<Roles>,
    term_count: u32,
    /// The terms of words that have several, end to end.
    lists: Vec<TermId>,
}

/// What a text is: a word, a term, or both.
#[derive(Clone, Copy, Default)]
struct Roles {
    word: Word,
    /// The number of the term plus one; 0 if it is none.
    term: u32,
}

/// What a text stands for as a word.
#[derive(Clone, Copy, Default)]
enum Word {
    #[default]
    Unseen,
    One(TermId),
    /// Where its terms lie; none of them for a stop word.
    Several {
        start: u32,
        count: u16,
    },
}

/// How many words are looked up at once.
const AT_ONCE: usize = 128;

impl Lexicon {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        let (texts, lists) = (Table::new(), Vec::new());
        Self { analyzer: Analyzer::new(analysis), texts, term_count: 0, lists }
    }

    /// How many terms there are.
    pub(crate) fn term_count(&self) -> usize {
        self.term_count as usize
    }

    /// A term by its text, if any word has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.texts.known(self.texts.find(term)?).term.checked_sub(1)
    }

    /// Calls `emit` for each term of a text, in order.
    ///
    /// Words are looked up in two walks, some hundred at a time: what is needed lies scattered in
    /// memory, and the processor fetches it for many words at once if none waits for another.
    pub(crate) fn for_each_term(&mut self, text: &str, mut emit: impl FnMut(TermId)) {
        let mut words: Vec<(&str, Guess)> = Vec::with_capacity(AT_ONCE);
        for_each_word(text, |word| {
            words.push((word, self.texts.guess(self.texts.hash(word))));
            if words.len() == AT_ONCE {
                self.look_up(&words, &mut emit);
                words.clear();
            }
        });
        self.look_up(&words, &mut emit);
    }

    fn look_up(&mut self, words: &[(&str, Guess)], emit: &mut impl FnMut(TermId)) {
        for (word, guess) in words {
            let number = self.texts.enter_guessed(word, *guess);
            self.emit_terms(word, number, emit);
        }
    }

    fn emit_terms(&mut self, word: &str, number: u32, emit: &mut impl FnMut(TermId)) {
        let mut meaning = self.texts.known(number).word;
        if let Word::Unseen = meaning {
            meaning = self.analyze(word, number);
        }
        match meaning {
            Word::Unseen => {}
            Word::One(term) => emit(term),
            Word::Several { start, count } => {
                let start = start as usize;
                self.lists[start..start + usize::from(count)].iter().copied().for_each(emit);
            }
        }
    }

    fn analyze(&mut self, word: &str, number: u32) -> Word {
        let Self { analyzer, texts, term_count, lists } = self;
        let start = lists.len();
        analyzer.for_each_term(word, |term| {
            let text = if term == word { number } else { texts.enter(term) };
            let roles = texts.known_mut(text);
            if roles.term == 0 {
                *term_count += 1;
                roles.term = *term_count;
            }
            lists.push(roles.term - 1);
        });
        let meaning = match lists[start..] {
            [only] => {
                lists.truncate(start);
                Word::One(only)
            }
            // A word of at most 128 bytes has no more parts than that.
            _ => Word::Several { start: start as u32, count: (lists.len() - start) as u16 },
        };
        texts.known_mut(number).word = meaning;
        meaning
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
        assert_eq!(lexicon.find("deploy"), Some(deploy[0]));
        assert_eq!(lexicon.find("Deploying"), None);
        assert_eq!(lexicon.term_count(), 1);
    }

    #[test]
    fn a_text_may_be_a_stem_before_it_is_a_word() {
        let mut lexicon = Lexicon::new(&Analysis::default());
        let stem = ids(&mut lexicon, "newness");
        assert_eq!(ids(&mut lexicon, "new"), stem);
        assert_ne!(ids(&mut lexicon, "news"), stem);
    }

    #[test]
    fn stop_words_have_no_terms_and_identifiers_several() {
        let mut lexicon = Lexicon::new(&Analysis::default());
        assert!(ids(&mut lexicon, "the").is_empty());
        assert!(ids(&mut lexicon, "the").is_empty());
        assert_eq!(ids(&mut lexicon, "getUser"), [0, 1, 2]);
        assert_eq!(ids(&mut lexicon, "User"), [1]);
        assert_eq!(lexicon.find("the"), None);
    }
}
