//! Patterns of words, as the tables of languages have them.

/// The most words that a gap may skip: a cue and what completes it stand in one clause.
const LONGEST_GAP: usize = 4;

/// A pattern of words in one sentence.
///
/// Written as words with spaces between them: `a|b` is either of them, `_` any word, `…` at most four words, `,` any
/// of `,;:` and dashes. `^` before the first says that the sentence begins with it, courtesies before it left aside. In
/// a language without spaces a pattern is a text that is found anywhere, `…` anything between two of them.
pub(crate) struct Pattern {
    begins_sentence: bool,
    /// The slots behind the first word.
    slots: Vec<Slot>,
}

#[derive(Clone)]
enum Slot {
    AnyOf(Vec<&'static str>),
    Word,
    Gap,
}

impl Pattern {
    /// Reads a pattern: for each word that it may begin with what has to follow.
    pub(super) fn parse(written: &'static str) -> Vec<(&'static str, Self)> {
        let (begins_sentence, written) = match written.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, written),
        };
        let slot = |word: &'static str| match word {
            "_" => Slot::Word,
            "…" => Slot::Gap,
            word => Slot::AnyOf(word.split('|').collect()),
        };
        let mut words = written.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let slots: Vec<Slot> = words.map(slot).collect();
        first
            .split('|')
            .map(|word| (word, Self { begins_sentence, slots: slots.clone() }))
            .collect()
    }

    /// Returns true if it stands at this place of a sentence whose first `courtesies` words are but polite.
    pub(super) fn matches(&self, words: &[&str], at: usize, courtesies: usize) -> bool {
        (at <= courtesies || !self.begins_sentence) && follows(&self.slots, &words[at + 1..])
    }
}

fn follows(slots: &[Slot], words: &[&str]) -> bool {
    let Some((slot, rest)) = slots.split_first() else { return true };
    match slot {
        Slot::Gap => {
            let longest = LONGEST_GAP.min(words.len());
            (0..=longest).any(|skipped| follows(rest, &words[skipped..]))
        }
        Slot::Word => {
            let is_word = words.first().is_some_and(|word| *word != ",");
            is_word && follows(rest, &words[1..])
        }
        Slot::AnyOf(known) => {
            let is_known = words.first().is_some_and(|word| known.contains(word));
            is_known && follows(rest, &words[1..])
        }
    }
}

/// Returns true if a pattern of a language without spaces stands in a sentence.
pub(super) fn is_in_text(pattern: &str, sentence: &str) -> bool {
    let (begins, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut rest = sentence;
    for (number, piece) in pattern.split('…').enumerate() {
        let Some(at) = rest.find(piece) else { return false };
        if number == 0 && begins && at > 0 {
            return false;
        }
        rest = &rest[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(pattern: &'static str, sentence: &str, courtesies: usize) -> bool {
        let words: Vec<&str> = sentence.split(' ').collect();
        let mut patterns = Pattern::parse(pattern).into_iter();
        patterns.any(|(first, pattern)| {
            let mut places = (0..words.len()).filter(|at| words[*at] == first);
            places.any(|at| pattern.matches(&words, at, courtesies))
        })
    }

    #[test]
    fn words_stand_side_by_side_and_gaps_are_short() {
        assert!(is_in("i was|am wrong", "but i was wrong there", 0));
        assert!(!is_in("i was|am wrong", "i was very wrong", 0));
        assert!(is_in("switch … to", "switch the whole thing over to rust", 0));
        assert!(!is_in("switch … to", "switch a b c d e to", 0));
        assert!(is_in("^no _", "no tabs", 0) && !is_in("^no _", "no , tabs", 0));
    }

    #[test]
    fn a_sentence_begins_behind_its_courtesies() {
        assert!(is_in("^never", "ok so never do that", 2));
        assert!(!is_in("^never", "i never do that", 0));
        assert!(!is_in("^never", "", 0) && !is_in("^never", "ok", 1));
    }

    #[test]
    fn texts_without_spaces_are_searched() {
        assert!(is_in_text("不是…是", "不是周一是周二"));
        assert!(!is_in_text("不是…是", "是周二不是周一"));
        assert!(is_in_text("^别", "别动它") && !is_in_text("^别", "请别动"));
    }
}
