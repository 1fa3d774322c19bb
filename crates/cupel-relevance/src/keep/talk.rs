//! The nature of a user's message: a courtesy, a question, a statement, a rule, a correction.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::pattern::{Pattern, is_in_text};
use crate::text::{Cues, Vocabulary, is_han, is_kana};
use crate::{Analysis, Language};

/// So many sentences of a message are read, and so much of each: what is longer is pasted, not said.
const MOST_SENTENCES: usize = 40;
const LONGEST_SENTENCE: usize = 600;

/// The nature of a user's message, in ascending order of weight; its weightiest sentence decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Talk {
    /// It says nothing beyond politeness, agreement or amazement.
    Courtesy,
    /// It asks.
    Question,
    /// It says something.
    Statement,
    /// It states a standing rule, a constraint or a lasting wish.
    Rule,
    /// It takes back or replaces what was said.
    Correction,
}

/// The degree to which a last message leans on the reply before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) enum Lean {
    /// It stands by itself.
    #[default]
    Upright,
    /// It points at something, or says little by itself.
    Leaning,
    /// It says nothing by itself.
    Lying,
}

/// Reads messages by the cues of the languages that a conversation may be in: its own, and English.
///
/// ```
/// use cupel_relevance::{Ear, Language, Talk};
///
/// let ear = Ear::for_language(Some(Language::English));
/// assert_eq!(ear.talk("Thanks, that's great!"), Talk::Courtesy);
/// assert_eq!(ear.talk("Never touch the migrations folder."), Talk::Rule);
/// assert_eq!(ear.talk("Actually, make it Thursday."), Talk::Correction);
/// ```
pub struct Ear {
    tables: Vec<&'static Table>,
    languages: Vec<Language>,
}

/// The cues of one language, ready for use.
struct Table {
    has_spaces: bool,
    courtesies: HashSet<&'static str>,
    answers: HashSet<&'static str>,
    small: HashSet<&'static str>,
    pronouns: HashSet<&'static str>,
    pointers: Patterns,
    corrections: Patterns,
    rules: Patterns,
    not_rules: Patterns,
}

/// Patterns, as they are written, and where words have spaces between them by the words that they begin with.
struct Patterns {
    written: &'static [&'static str],
    by_first_word: HashMap<&'static str, Vec<Pattern>>,
}

impl Table {
    fn of(cues: &'static Cues) -> Self {
        let words = |list: &'static str| list.split_ascii_whitespace().collect();
        let patterns = |written: &'static [&'static str]| {
            let mut by_first_word: HashMap<&str, Vec<Pattern>> = HashMap::new();
            let parsed = written.iter().filter(|_| cues.has_spaces);
            for (word, pattern) in parsed.flat_map(|pattern| Pattern::parse(pattern)) {
                by_first_word.entry(word).or_default().push(pattern);
            }
            Patterns { written, by_first_word }
        };
        Self {
            has_spaces: cues.has_spaces,
            courtesies: words(cues.courtesies),
            answers: words(cues.answers),
            small: words(cues.small),
            pronouns: words(cues.pronouns),
            pointers: patterns(cues.pointers),
            corrections: patterns(cues.corrections),
            rules: patterns(cues.rules),
            not_rules: patterns(cues.not_rules),
        }
    }

    fn is_in(&self, patterns: &Patterns, sentence: &Sentence<'_>) -> bool {
        if !self.has_spaces {
            return patterns.written.iter().any(|pattern| is_in_text(pattern, sentence.text));
        }
        let words = &sentence.words;
        let is_polite = |word: &&&str| **word == "," || self.courtesies.contains(**word);
        let courtesies = words.iter().take_while(is_polite).count();
        words.iter().enumerate().any(|(at, word)| {
            let known = patterns.by_first_word.get(word);
            known.is_some_and(|known| known.iter().any(|it| it.matches(words, at, courtesies)))
        })
    }

    /// Returns true if a text says nothing but courtesies, in a language without spaces.
    fn is_polite_text(&self, text: &str) -> bool {
        let mut rest = text.trim_matches(is_no_letter);
        while !rest.is_empty() {
            let longest = self.courtesies.iter().filter(|word| rest.starts_with(**word));
            let Some(longest) = longest.map(|word| word.len()).max() else { return false };
            rest = rest[longest..].trim_start_matches(is_no_letter);
        }
        true
    }
}

impl Ear {
    /// Cues of a language, if it has any, and of English.
    #[must_use]
    pub fn for_language(language: Option<Language>) -> Self {
        let english = Some(Language::English);
        let languages = [english, language.filter(|own| Some(*own) != english)];
        let known = languages.into_iter().flatten();
        Self { tables: known.clone().filter_map(table).collect(), languages: known.collect() }
    }

    /// Returns the nature of a message. Code blocks do not speak.
    #[must_use]
    pub fn talk(&self, text: &str) -> Talk {
        let lower = lowered(text);
        let body = without_code(&lower);
        if self.is_courtesy(&body) {
            return Talk::Courtesy;
        }
        sentences(&body).map(|sentence| self.talk_of(&sentence)).max().unwrap_or(Talk::Statement)
    }

    fn talk_of(&self, sentence: &Sentence<'_>) -> Talk {
        if self.is_courtesy(sentence.text) {
            return Talk::Courtesy;
        }
        let has = |of: fn(&Table) -> &Patterns| {
            self.tables.iter().any(|table| table.is_in(of(table), sentence))
        };
        let is_question = sentence.is_question;
        if !is_question && has(|table| &table.corrections) {
            Talk::Correction
        } else if !is_question && has(|table| &table.rules) && !has(|table| &table.not_rules) {
            Talk::Rule
        } else if is_question {
            Talk::Question
        } else {
            Talk::Statement
        }
    }

    /// Returns true if a text says nothing beyond politeness.
    fn is_courtesy(&self, text: &str) -> bool {
        let words = words_of(text);
        let is_polite = |word: &&str| {
            *word == "," || self.tables.iter().any(|table| table.courtesies.contains(word))
        };
        if words.iter().all(is_polite) {
            return true;
        }
        let mut without_spaces = self.tables.iter().filter(|table| !table.has_spaces);
        without_spaces.any(|table| table.is_polite_text(text))
    }

    /// Returns how far the last message leans on the reply before it.
    pub(crate) fn lean(&self, text: &str) -> Lean {
        let lower = lowered(text);
        let words = words_of(&lower);
        let any = |of: fn(&Table) -> &HashSet<&'static str>, word: &str| {
            self.tables.iter().any(|table| of(table).contains(word))
        };
        let is_answer = words.iter().find(|word| **word != ",");
        let is_answer = is_answer.is_some_and(|word| any(|table| &table.answers, word))
            || self.answers_without_spaces(&lower);
        let own = self.own_words(&lower, &words);
        // "Yes. And which code opens my locker?" asks something of its own.
        let asks = own > 3 && lower.trim_end().ends_with(['?', '？']);
        if own <= 1 || is_answer && words.len() <= 12 && !asks {
            return Lean::Lying;
        }
        let points = |sentence: &Sentence<'_>| {
            self.tables.iter().any(|table| table.is_in(&table.pointers, sentence))
        };
        // "The second one please. And write me the list for it."
        let first = sentences(&lower).find(|sentence| !self.is_courtesy(sentence.text));
        let is_bare = |it: &Sentence<'_>| self.own_words(it.text, &it.words) <= 1 && points(it);
        if first.as_ref().is_some_and(is_bare) {
            return Lean::Lying;
        }
        let points = sentences(&lower).any(|sentence| points(&sentence));
        let has_pronoun = words.iter().any(|word| any(|table| &table.pronouns, word));
        if own <= 2 || is_answer || points || has_pronoun && own <= 4 {
            return Lean::Leaning;
        }
        Lean::Upright
    }

    fn answers_without_spaces(&self, text: &str) -> bool {
        let text = text.trim_start_matches(is_no_letter);
        let mut tables = self.tables.iter().filter(|table| !table.has_spaces);
        tables.any(|table| table.answers.iter().any(|word| text.starts_with(word)))
    }

    /// Counts the different words that say something by themselves. Where words have no spaces, three letters
    /// count as one.
    fn own_words(&self, text: &str, words: &[&str]) -> usize {
        let is_small = |word: &str| {
            self.tables.iter().any(|table| {
                table.courtesies.contains(word)
                    || table.small.contains(word)
                    || table.pronouns.contains(word)
            })
        };
        let is_small_number =
            |word: &str| word.len() < 3 && word.bytes().all(|b| b.is_ascii_digit());
        let mut own: HashSet<&str> = HashSet::new();
        for word in words.iter().filter(|word| word.chars().nth(1).is_some()) {
            let is_letters = word.chars().any(|letter| is_han(letter) || is_kana(letter));
            let is_stop = || self.languages.iter().any(|language| language.has_stop_word(word));
            if !is_letters && !is_small(word) && !is_small_number(word) && !is_stop() {
                own.insert(word);
            }
        }
        let mut rest = text.to_owned();
        for table in self.tables.iter().filter(|table| !table.has_spaces) {
            let mut known: Vec<&str> = table
                .courtesies
                .iter()
                .chain(&table.small)
                .chain(&table.pronouns)
                .copied()
                .collect();
            known.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
            for word in known {
                rest = rest.replace(word, " ");
            }
        }
        let letters = rest.chars().filter(|letter| is_han(*letter) || is_kana(*letter)).count();
        own.len() + letters.div_ceil(3)
    }

    /// Returns the terms of what a text corrects: of the sentences that correct; where they have none, as in
    /// "Scrap that.", of the statement behind them. A question beside them is about something else.
    pub(crate) fn correcting_subjects(&self, text: &str) -> Vec<String> {
        let lower = lowered(text);
        let body = without_code(&lower);
        let mut subjects = Vec::new();
        let mut is_open = false;
        for sentence in sentences(&body) {
            let talk = self.talk_of(&sentence);
            if talk == Talk::Correction || is_open && talk >= Talk::Statement {
                let own = self.subjects(sentence.text);
                is_open = own.is_empty();
                subjects.extend(own);
            }
        }
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }

    /// Returns true if each sentence of a text that states something is about one of these subjects.
    pub(crate) fn says_only(&self, text: &str, subjects: &[String]) -> bool {
        let lower = lowered(text);
        let body = without_code(&lower);
        let is_about = |sentence: &Sentence<'_>| {
            let own = self.subjects(sentence.text);
            own.is_empty() || own.iter().any(|it| subjects.binary_search(it).is_ok())
        };
        let mut stated = sentences(&body).filter(|it| self.talk_of(it) >= Talk::Statement);
        stated.all(|sentence| is_about(&sentence))
    }

    /// Returns the terms of a text that say something, each once, in order of the alphabet: to see which
    /// texts are about the same.
    pub(crate) fn subjects(&self, text: &str) -> Vec<String> {
        let body = without_code(text);
        let own = self.languages.last().copied().unwrap_or(Language::English);
        let mut subjects = Analysis::of(own).terms(&body);
        subjects.retain(|term| {
            !self.tables.iter().any(|table| table.courtesies.contains(term.as_str()))
                && !self.languages.iter().any(|language| language.has_stop_word(term))
        });
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }
}

/// The table of a language, made once.
fn table(language: Language) -> Option<&'static Table> {
    static TABLES: OnceLock<Vec<(Language, Table)>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let cues = |language| Some((language, Table::of(&Vocabulary::of(Some(language))?.cues)));
        Language::all().filter_map(cues).collect()
    });
    tables.iter().find(|(known, _)| *known == language).map(|(_, table)| table)
}

struct Sentence<'t> {
    text: &'t str,
    words: Vec<&'t str>,
    is_question: bool,
}

fn lowered(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// A text without its fenced blocks.
fn without_code(text: &str) -> String {
    if !text.contains("```") {
        return text.to_owned();
    }
    text.split("```").step_by(2).collect::<Vec<_>>().join(" ")
}

/// The sentences of a text, as many as are read.
fn sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '\n');
    let mut rest = text;
    let next = std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        // A dot within a word, as in `lib.rs` or `3.5`, ends nothing.
        let mut places = rest.char_indices().filter(|(_, c)| ends(*c));
        let end = places.find(|(at, c)| {
            let next = rest[at + c.len_utf8()..].chars().next();
            !matches!(c, '.' | '!' | '?') || next.is_none_or(|next| !next.is_alphanumeric())
        });
        let end = end.map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, behind) = rest.split_at(end);
        rest = behind;
        Some(sentence)
    });
    let is_question = |text: &str| {
        let text = text.trim_end().trim_end_matches(['"', '\'', ')', '”', '»']);
        text.ends_with(['?', '？']) || text.ends_with("か。") || text.ends_with("か")
    };
    next.take(MOST_SENTENCES).map(move |text| {
        let read = text.char_indices().nth(LONGEST_SENTENCE).map_or(text, |(end, _)| &text[..end]);
        let read = read.trim_start_matches(is_no_letter);
        Sentence { text: read, words: words_of(read), is_question: is_question(text) }
    })
}

fn is_no_letter(c: char) -> bool {
    !c.is_alphanumeric()
}

/// The words of a text, and a `,` for each comma, colon, semicolon or dash between them.
fn words_of(text: &str) -> Vec<&str> {
    let is_inner = |c: char| matches!(c, '\'' | '-' | '_');
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_word = c.is_alphanumeric() || is_inner(c) && start.is_some();
        match (start, is_word) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word: &str = &text[from..at];
                words.push(word.trim_end_matches(is_inner));
                start = None;
            }
            _ => {}
        }
        let is_break = matches!(c, ',' | ';' | ':' | '—' | '–') || c == '-' && !is_word;
        if is_break && words.last().is_some_and(|last| *last != ",") {
            words.push(",");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english() -> Ear {
        Ear::for_language(None)
    }

    #[test]
    fn words_keep_apostrophes_and_breaks_count_once() {
        assert_eq!(
            words_of("no, don't -- e-mail: x"),
            ["no", ",", "don't", ",", "e-mail", ",", "x"]
        );
        assert_eq!(words_of("it-"), ["it"]);
        assert!(words_of(" ,").is_empty());
    }

    #[test]
    fn dots_within_words_end_no_sentence() {
        let texts: Vec<String> =
            sentences("see lib.rs v3.5. done! ok?\nnew").map(|s| s.text.to_owned()).collect();
        assert_eq!(texts, ["see lib.rs v3.5.", "done!", "ok?", "new"]);
    }

    #[test]
    fn the_weightiest_sentence_decides() {
        let ear = english();
        assert_eq!(ear.talk("Thanks! Never use tabs."), Talk::Rule);
        assert_eq!(ear.talk("Never use tabs. Actually, do."), Talk::Correction);
        assert_eq!(ear.talk("What is it?"), Talk::Question);
        assert_eq!(ear.talk("The port is 8443."), Talk::Statement);
        assert_eq!(ear.talk("ok, great :)"), Talk::Courtesy);
        assert_eq!(ear.talk("Look:\n```\nnever()\n```"), Talk::Statement);
        assert_eq!(ear.talk(""), Talk::Courtesy);
    }

    #[test]
    fn a_denial_is_no_rule_and_a_rule_is_no_denial() {
        let ear = english();
        assert_eq!(ear.talk("No, the other file."), Talk::Correction);
        assert_eq!(ear.talk("No new dependencies."), Talk::Rule);
        assert_eq!(ear.talk("No problem at all with this one"), Talk::Statement);
    }

    #[test]
    fn short_answers_lie_and_pointers_lean() {
        let ear = english();
        assert_eq!(ear.lean("The second one please"), Lean::Lying);
        assert_eq!(ear.lean("yes, and send me the guide"), Lean::Lying);
        assert_eq!(
            ear.lean("Please rewrite the above paragraph for lawyers in Norway"),
            Lean::Leaning
        );
        assert_eq!(
            ear.lean(
                "Great! The second one please. Write the shopping list and plan the whole day."
            ),
            Lean::Lying
        );
        let upright = "Which database do the billing workers of the northern region use?";
        assert_eq!(ear.lean(upright), Lean::Upright);
    }

    #[test]
    fn languages_without_spaces_are_heard() {
        let ear = Ear::for_language(Some(Language::Chinese));
        assert_eq!(ear.talk("好的，谢谢！"), Talk::Courtesy);
        assert_eq!(ear.talk("不是周一，是周二。"), Talk::Correction);
        assert_eq!(ear.lean("第二个"), Lean::Lying);
    }

    #[test]
    fn huge_messages_are_read_at_their_beginning() {
        let text = format!("{} never use tabs.", "blah ".repeat(200_000));
        assert_eq!(english().talk(&text), Talk::Statement);
    }
}
