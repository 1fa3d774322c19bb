use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use cupel::{
    Candidate, ContextBudget, ContextItem, CupelError, ExclusionReason, FieldValue, ScoredItem,
    Selection, SliceRequest, Slicer, compare_scores,
};

use cupel::slicer::slice_by_selecting;

use super::{best_first, is_empty};
use crate::excerpt::excerpt;
use crate::index::ListView;
use crate::overlap::jaccard;
use crate::scorer::cosine;
use crate::text::lexicon::TermId;
use crate::{Index, ItemVectors, parameter};

/// How alike two items are, from 0 to 1.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Similarity {
    /// The share of their distinct terms that they have in common (Jaccard).
    Words(Index),
    /// The cosine of their vectors, where both have one and it is positive.
    Vectors(Arc<ItemVectors>),
}

/// Fills the budget with items that are good and unlike those already taken: maximal marginal
/// relevance.
///
/// **When to choose it:** the candidates say the same thing many times, and the budget would fill
/// with repetition. Near-copies are better found beforehand, see [`supersede`](crate::supersede).
///
/// **Steps:** an item is worth `balance · score / best score − (1 − balance) · similarity` to the
/// item most like it among those taken. Take the worthiest that fits, until nothing fits.
///
/// **Ties and edge cases:** among equals the better score comes first, then the newer as in
/// [`BestFirstSlice`](crate::BestFirstSlice). A balance of 1 is `BestFirstSlice`. NaN comes last.
/// An item that would have been taken by its score alone is reported as `TooSimilar`, with the item
/// that it resembles; others are over budget.
///
/// **Cost:** at worst N times the number taken; mostly far less, because an item's worth only falls
/// and is looked at again only when it is next in line.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, ScoredItem, Slicer};
/// use cupel_relevance::{Index, MmrSlice, Similarity};
///
/// let scored = |text: &str, score| {
///     ContextItemBuilder::new(text, 10).build().map(|item| ScoredItem { item, score })
/// };
/// let sorted = [
///     scored("deploy failed: disk full", 0.9)?,
///     scored("Deploy failed, disk full!", 0.8)?,
///     scored("disk was cleaned on Monday", 0.5)?,
/// ];
/// let slicer = MmrSlice::new(0.5, Similarity::Words(Index::default()))?;
/// let kept = slicer.slice(&sorted, &ContextBudget::builder(20).build()?)?;
/// assert_eq!(kept[1].content(), "disk was cleaned on Monday");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MmrSlice {
    balance: f64,
    similarity: Similarity,
}

impl MmrSlice {
    /// With a balance between score (1) and novelty (0), and a similarity.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if the balance is not within 0 and 1.
    pub fn new(balance: f64, similarity: Similarity) -> Result<Self, CupelError> {
        parameter::unit("balance", balance)
            .map_err(|error| CupelError::SlicerConfig(error.to_string()))?;
        Ok(Self { balance, similarity })
    }

    fn walk(&self, request: &SliceRequest<'_>, alike: &dyn Fn(usize, usize) -> f64) -> Selection {
        let order = best_first(request.candidates);
        let mut walk = Walk::new(self.balance, request, &order, alike);
        while let Some(candidate) = walk.next() {
            walk.take(candidate);
        }
        let mut selection = Selection::of(walk.taken);
        selection.excluded = too_similar(request, &order, &selection.selected, alike);
        selection
    }
}

impl Slicer for MmrSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if is_empty(request) {
            return Ok(Selection::default());
        }
        let items = request.candidates.iter().map(Candidate::item);
        Ok(match &self.similarity {
            Similarity::Words(index) => {
                let items: Vec<ContextItem> = items.cloned().collect();
                let terms = index.list(&items, sorted_terms);
                self.walk(request, &|a, b| jaccard(&terms[a], &terms[b]))
            }
            Similarity::Vectors(vectors) => {
                let vectors: Vec<Option<&[f32]>> =
                    items.map(|item| vectors.vector_of(item)).collect();
                self.walk(request, &|a, b| match (vectors[a], vectors[b]) {
                    (Some(a), Some(b)) => cosine(a, b).max(0.0),
                    _ => 0.0,
                })
            }
        })
    }
}

/// A candidate in line.
struct InLine {
    worth: f64,
    /// Its place by score alone.
    place: usize,
    position: usize,
    /// With how many of the taken items it was compared.
    compared: usize,
    /// The most that it resembles one of those.
    similarity: f64,
}

impl Ord for InLine {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_scores(other.worth, self.worth).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for InLine {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InLine {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for InLine {}

struct Walk<'a> {
    balance: f64,
    best: f64,
    request: &'a SliceRequest<'a>,
    alike: &'a dyn Fn(usize, usize) -> f64,
    line: BinaryHeap<InLine>,
    taken: Vec<usize>,
    left: i64,
}

impl<'a> Walk<'a> {
    fn new(
        balance: f64,
        request: &'a SliceRequest<'a>,
        order: &[usize],
        alike: &'a dyn Fn(usize, usize) -> f64,
    ) -> Self {
        let best = request.candidates[order[0]].score();
        let best = if best > 0.0 && best.is_finite() { best } else { 1.0 };
        let left = request.budget.target_tokens();
        let mut walk = Self {
            balance,
            best,
            request,
            alike,
            line: BinaryHeap::new(),
            taken: Vec::new(),
            left,
        };
        let in_line = |(place, position): (usize, &usize)| InLine {
            worth: walk.worth(*position, 0.0),
            place,
            position: *position,
            compared: 0,
            similarity: 0.0,
        };
        walk.line = order.iter().enumerate().map(in_line).collect();
        walk
    }

    fn worth(&self, position: usize, similarity: f64) -> f64 {
        let score = self.request.candidates[position].score() / self.best;
        self.balance * score - (1.0 - self.balance) * similarity
    }

    /// The worthiest candidate that fits. Worth only falls, so whoever is still first after a
    /// comparison with all that was taken is the worthiest.
    fn next(&mut self) -> Option<usize> {
        while let Some(mut first) = self.line.pop() {
            if self.request.candidates[first.position].tokens() > self.left {
                continue;
            }
            if first.compared == self.taken.len() {
                return Some(first.position);
            }
            for taken in &self.taken[first.compared..] {
                first.similarity = first.similarity.max((self.alike)(first.position, *taken));
            }
            first.compared = self.taken.len();
            first.worth = self.worth(first.position, first.similarity);
            self.line.push(first);
        }
        None
    }

    fn take(&mut self, position: usize) {
        self.left = self.left.saturating_sub(self.request.candidates[position].tokens());
        self.taken.push(position);
    }
}

/// Items that their score alone would have brought in, with what they resemble.
fn too_similar(
    request: &SliceRequest<'_>,
    order: &[usize],
    taken: &[usize],
    alike: &dyn Fn(usize, usize) -> f64,
) -> Vec<(usize, ExclusionReason)> {
    let mut is_taken = vec![false; request.candidates.len()];
    for at in taken {
        is_taken[*at] = true;
    }
    let mut left = request.budget.target_tokens();
    let mut excluded = Vec::new();
    for at in order {
        let tokens = request.candidates[*at].tokens();
        if tokens > left {
            continue;
        }
        left = left.saturating_sub(tokens);
        if !is_taken[*at] {
            excluded.extend(resembles(*at, taken, alike, request).map(|reason| (*at, reason)));
        }
    }
    excluded
}

fn resembles(
    position: usize,
    taken: &[usize],
    alike: &dyn Fn(usize, usize) -> f64,
    request: &SliceRequest<'_>,
) -> Option<ExclusionReason> {
    let similarities = taken.iter().map(|taken| (alike(position, *taken), *taken));
    let (similarity, most) =
        similarities.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let text = excerpt(request.candidates[most].item().content());
    (similarity > 0.0).then(|| ExclusionReason::Unknown {
        name: "TooSimilar".into(),
        fields: vec![
            ("similarity".into(), FieldValue::Float(similarity)),
            ("similar_to".into(), FieldValue::Text(text)),
        ],
    })
}

/// For each item of a list its distinct terms by number.
fn sorted_terms(view: &ListView<'_>) -> Vec<Vec<TermId>> {
    let sorted = |position: usize| {
        let mut terms: Vec<TermId> =
            view.terms(position).iter().map(|posting| posting.term).collect();
        terms.sort_unstable();
        terms
    };
    (0..view.len()).map(sorted).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slice, budget, scored};
    use super::*;
    use crate::testing::Random;
    use crate::{BestFirstSlice, Index};

    fn by_words(balance: f64) -> MmrSlice {
        MmrSlice::new(balance, Similarity::Words(Index::default())).unwrap()
    }

    fn repetitive() -> [ScoredItem; 4] {
        [
            scored("deploy failed disk full", 10, 1.0),
            scored("Disk full, deploy failed!", 10, 0.9),
            scored("deploy key rotated", 10, 0.5),
            scored("lunch", 10, 0.1),
        ]
    }

    #[test]
    fn what_was_said_already_waits() {
        let items = repetitive();
        let texts = items.each_ref().map(|scored| scored.item.content());
        // Worth after the first: 0.45 - 0.5, 0.25 - 0.5 / 6, 0.05.
        assert_slice(&by_words(0.5), &items, 20, &[texts[0], texts[2]]);
        assert_slice(&by_words(0.5), &items, 40, &[texts[0], texts[2], texts[3], texts[1]]);
    }

    #[test]
    fn a_balance_of_one_is_best_first() {
        let items = repetitive();
        let kept = BestFirstSlice.slice(&items, &budget(30)).unwrap();
        let expected: Vec<&str> = kept.iter().map(ContextItem::content).collect();
        assert_slice(&by_words(1.0), &items, 30, &expected);
    }

    #[test]
    fn an_item_that_its_score_would_have_brought_in_is_too_similar() {
        let items = repetitive();
        let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
        let target = budget(20);
        let request = SliceRequest::new(&candidates, &target);
        let excluded = by_words(0.5).select(&request).unwrap().excluded;
        assert_eq!(excluded.len(), 1);
        assert_eq!(excluded[0].0, 1);
        let fields = vec![
            ("similarity".to_owned(), FieldValue::Float(1.0)),
            ("similar_to".to_owned(), FieldValue::Text("deploy failed disk full".into())),
        ];
        let reason = ExclusionReason::Unknown { name: "TooSimilar".into(), fields };
        assert_eq!(excluded[0].1, reason);
    }

    #[test]
    fn vectors_can_say_what_is_alike() {
        let items = [scored("a", 10, 1.0), scored("b", 10, 0.9), scored("c", 10, 0.8)];
        let handles = items.each_ref().map(|scored| scored.item.clone());
        let mut vectors = ItemVectors::new(2).unwrap();
        let rows = [vec![1.0, 0.0], vec![1.0, 0.1]];
        vectors.extend(&handles[..2], &rows).unwrap();
        let slicer = MmrSlice::new(0.5, Similarity::Vectors(Arc::new(vectors))).unwrap();
        assert_slice(&slicer, &items, 20, &["a", "c"]);
    }

    #[test]
    fn nothing_is_taken_from_nothing_or_for_nothing() {
        assert_slice(&by_words(0.5), &[], 10, &[]);
        assert_slice(&by_words(0.5), &[scored("zero", 0, 0.9)], 0, &[]);
    }

    #[test]
    fn scores_that_are_zero_negative_or_not_numbers_are_ordered() {
        let items =
            [scored("a", 10, f64::NAN), scored("b", 10, -1.0), scored("c", 10, f64::NEG_INFINITY)];
        assert_slice(&by_words(0.5), &items, 30, &["b", "c", "a"]);
    }

    #[test]
    fn a_balance_beyond_one_is_refused() {
        let error = MmrSlice::new(2.0, Similarity::Words(Index::default())).unwrap_err();
        assert_eq!(
            error,
            CupelError::SlicerConfig("balance: must be within 0 and 1, got 2".into())
        );
    }

    /// Compares everything with everything at every step.
    fn oracle(items: &[ScoredItem], tokens: i64, balance: f64) -> Vec<String> {
        let words = |at: usize| {
            items[at].item.content().split(' ').collect::<std::collections::BTreeSet<_>>()
        };
        let alike = |a: usize, b: usize| {
            let (a, b) = (words(a), words(b));
            a.intersection(&b).count() as f64 / a.union(&b).count() as f64
        };
        let best = items.iter().map(|scored| scored.score).fold(0.0, f64::max);
        let best = if best > 0.0 { best } else { 1.0 };
        let (mut taken, mut left): (Vec<usize>, i64) = (Vec::new(), tokens);
        loop {
            let mut found: Option<(f64, f64, usize)> = None;
            for (at, scored) in items.iter().enumerate() {
                if taken.contains(&at) || scored.item.tokens() > left {
                    continue;
                }
                let most = taken.iter().map(|other| alike(at, *other)).fold(0.0, f64::max);
                let worth = balance * scored.score / best - (1.0 - balance) * most;
                let is_better = found.is_none_or(|(w, s, a)| (w, s, a) < (worth, scored.score, at));
                if is_better {
                    found = Some((worth, scored.score, at));
                }
            }
            let Some((_, _, at)) = found else { break };
            left -= items[at].item.tokens();
            taken.push(at);
        }
        taken.into_iter().map(|at| items[at].item.content().to_owned()).collect()
    }

    #[test]
    fn random_lists_agree_with_the_oracle() {
        let vocabulary = ["amber", "birch", "cloud", "delta", "ember", "flint"];
        let mut random = Random(11);
        for _ in 0..300 {
            let mut items: Vec<ScoredItem> = (0..random.below(9))
                .map(|_| {
                    let words: Vec<&str> =
                        (0..=random.below(4)).map(|_| vocabulary[random.below(6)]).collect();
                    scored(&words.join(" "), random.tokens(9), random.below(4) as f64)
                })
                .collect();
            items.sort_by(|a, b| compare_scores(a.score, b.score));
            let tokens = random.tokens(30);
            let expected = oracle(&items, tokens, 0.5);
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            assert_slice(&by_words(0.5), &items, tokens, &expected);
        }
    }
}
