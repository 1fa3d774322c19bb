//! The short answer to why an item has its place.

use std::collections::HashMap;

use cupel::{ScoreExplanation, ScorePart};

/// The words and neighbours that earned an item its score: the short form of a
/// [`ScoreExplanation`].
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ItemList, Scorer};
/// use cupel_relevance::{Bm25Scorer, Highlights, Index, Query};
///
/// let items = [
///     ContextItemBuilder::new("The deploy failed.", 5).build()?,
///     ContextItemBuilder::new("Lunch is at noon.", 6).build()?,
/// ];
/// let scorer = Bm25Scorer::new(Query::new("why did the deploy fail?"), Index::default())?;
/// let why = Highlights::of(&scorer.explain(&ItemList::new(&items), &[0])[0]);
/// assert_eq!(why.words, ["deploy", "fail"]);
/// assert!(why.neighbours.is_empty());
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Highlights {
    /// Words of the query that the item has too, those that earned most first.
    pub words: Vec<String>,
    /// Beginnings of the neighbours that share their score with it, those that gave most first.
    pub neighbours: Vec<String>,
}

impl Highlights {
    /// The words and neighbours of an explanation, however deep they stand in it.
    #[must_use]
    pub fn of(explanation: &ScoreExplanation) -> Self {
        let (mut words, mut neighbours) = (Earned::default(), Earned::default());
        let mut pending = vec![explanation];
        while let Some(part) = pending.pop() {
            match &part.what {
                ScorePart::Word(word) => words.add(word, part.score),
                ScorePart::Neighbour(beginning) => neighbours.add(beginning, part.score),
                _ => pending.extend(part.parts.iter().rev()),
            }
        }
        Self { words: words.best_first(), neighbours: neighbours.best_first() }
    }

    /// Returns true if there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.neighbours.is_empty()
    }
}

/// Scores by their sources, in the order in which they were met.
#[derive(Default)]
struct Earned<'e> {
    parts: Vec<(&'e str, f64)>,
    places: HashMap<&'e str, usize>,
}

impl<'e> Earned<'e> {
    fn add(&mut self, what: &'e str, score: f64) {
        let place = *self.places.entry(what).or_insert(self.parts.len());
        match self.parts.get_mut(place) {
            Some((_, total)) => *total += score,
            None => self.parts.push((what, score)),
        }
    }

    fn best_first(mut self) -> Vec<String> {
        self.parts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        self.parts.into_iter().map(|(what, _)| what.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(what: &str, score: f64) -> ScoreExplanation {
        ScoreExplanation::new(what, score)
    }

    fn word(word: &str, score: f64) -> ScoreExplanation {
        ScoreExplanation::new(ScorePart::Word(word.into()), score)
    }

    fn neighbour(beginning: &str, score: f64) -> ScoreExplanation {
        ScoreExplanation::new(ScorePart::Neighbour(beginning.into()), score)
    }

    #[test]
    fn what_earned_most_comes_first_wherever_it_stands() {
        let own = step("words", 3.0).with_parts(vec![word("a", 1.0), word("b", 2.0)]);
        let near = step("neighbours", 2.0).with_parts(vec![
            neighbour("once", 0.5),
            neighbour("upon", 1.5).with_parts(vec![word("z", 1.5)]),
        ]);
        let wide = step("wide", 4.0).with_parts(vec![word("a", 4.0)]);
        let whole = step("sum", 9.0).with_parts(vec![own, near, wide, step("other", 0.1)]);
        let why = Highlights::of(&whole);
        assert_eq!(why.words, ["a", "b"]);
        assert_eq!(why.neighbours, ["upon", "once"]);
        assert!(!why.is_empty());
    }

    #[test]
    fn a_text_that_looks_like_a_word_is_none() {
        assert!(Highlights::of(&step("word `a`", 1.0)).is_empty());
    }
}
