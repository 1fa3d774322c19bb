//! Which items fit? Invoked by the Slice stage with the items in order of score.
//!
//! | slicer | chooses | cost | for |
//! |---|---|---|---|
//! | [`GreedySlice`] | by score per token | N log N | almost everything |
//! | [`KnapsackSlice`] | the best total score | N × budget in buckets | tight budgets, few large items |
//! | [`QuotaSlice`] | per kind, within percentages of the budget | N, plus its inner slicer | a fair share for every kind |
//! | [`CountQuotaSlice`] | at least and at most so many items of a kind | N log N, plus its inner slicer | guarantees by number |
//! | [`CountConstrainedKnapsackSlice`] | the same, the rest by knapsack | N log N, plus the knapsack | guarantees and tight budgets |

mod count_constrained_knapsack;
mod count_entry;
mod count_phase;
mod count_quota;
mod explanation;
mod greedy;
mod kind_index;
mod knapsack;
mod quota;
#[cfg(feature = "stream")]
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use crate::claim::Claims;
use crate::diagnostics::{CountRequirementShortfall, Excerpt, ExclusionReason};
use crate::{Candidate, ContextBudget, ContextItem, ContextKind, CupelError, ScoredItem};

pub use count_constrained_knapsack::CountConstrainedKnapsackSlice;
pub use count_entry::{CountQuotaEntry, ScarcityBehavior};
pub use count_quota::CountQuotaSlice;
pub use explanation::{Gain, SliceExplanation, SliceSignal};
pub use greedy::GreedySlice;
pub use knapsack::KnapsackSlice;
pub use quota::{QuotaEntry, QuotaSlice};
#[cfg(feature = "stream")]
pub use stream::StreamSlice;

/// Chooses which items to keep within the budget.
///
/// # Contract
///
/// A slicer returns some of the items that it was given, each at most once, and never others.
/// Their tokens should not exceed the target. An empty list or a target of 0 gives an empty
/// selection. The budget that it receives is the effective one: what was pinned, reserved or
/// set aside is already subtracted.
///
/// # Your own slicer
///
/// [`slice`](Self::slice) is enough. Override [`select`](Self::select) to avoid copying handles
/// and to explain why items were left out.
///
/// ```
/// use cupel::{ContextBudget, ContextItem, CupelError, ScoredItem, Slicer};
///
/// /// Takes the best items, at most `0` of them, whatever their size allows.
/// struct Top(usize);
///
/// impl Slicer for Top {
///     fn slice(
///         &self,
///         sorted: &[ScoredItem],
///         budget: &ContextBudget,
///     ) -> Result<Vec<ContextItem>, CupelError> {
///         let mut left = budget.target_tokens();
///         let mut taken = Vec::new();
///         for scored in sorted {
///             if taken.len() < self.0 && scored.item.tokens() <= left {
///                 left -= scored.item.tokens();
///                 taken.push(scored.item.clone());
///             }
///         }
///         Ok(taken)
///     }
/// }
/// ```
pub trait Slicer: Send + Sync {
    /// The items to keep, out of `sorted`, which is in order of score.
    ///
    /// # Errors
    ///
    /// What the strategy refuses: a table that is too large, too few candidates of a required
    /// kind.
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError>;

    /// The same by position, with explanations. The pipeline calls this one.
    ///
    /// The default calls [`slice`](Self::slice) and finds the positions again: each returned
    /// handle claims the first unclaimed position of that item.
    ///
    /// # Errors
    ///
    /// As [`slice`](Self::slice), and [`CupelError::SlicerConfig`] if an item was returned that
    /// was not given, or more often than it was given.
    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        let sorted: Vec<ScoredItem> =
            request.candidates.iter().map(Candidate::to_scored_item).collect();
        let kept = self.slice(&sorted, request.budget)?;
        let mut claims = Claims::new(request.candidates);
        let selected = kept.iter().map(|item| {
            claims.claim(item).ok_or_else(|| {
                CupelError::SlicerConfig(format!(
                    "the slicer returned an item that it was not given, or twice: `{}`",
                    Excerpt(item.content())
                ))
            })
        });
        Ok(Selection { selected: selected.collect::<Result<_, _>>()?, ..Selection::default() })
    }

    /// Why the selection is what it is, if the slicer has more to say than scores do: one gain for
    /// each candidate, by position in the request. Only asked for what is shown to people.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    fn explain(&self, request: &SliceRequest<'_>) -> Result<Option<SliceExplanation>, CupelError> {
        let _ = request;
        Ok(None)
    }

    /// Whether this is a knapsack, or hides one inside. Count quotas refuse such inner slicers.
    fn uses_knapsack(&self) -> bool {
        self.is_knapsack()
    }

    /// Shortfalls of required kinds that no candidate has, for a slicer that was handed only part
    /// of the candidates at a time.
    ///
    /// # Errors
    ///
    /// If such a kind is required and scarcity is an error.
    fn absent_kinds(
        &self,
        _is_present: &dyn Fn(&ContextKind) -> bool,
    ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
        Ok(Vec::new())
    }

    /// Whether this is a [`KnapsackSlice`].
    fn is_knapsack(&self) -> bool {
        false
    }

    /// Whether inclusion depends on percentages of the budget: an item may drop out as the budget
    /// grows, so neither simulation of the budget applies.
    fn is_quota(&self) -> bool {
        false
    }

    /// Whether inclusion depends on counts: the search for the smallest budget does not apply.
    fn is_count_quota(&self) -> bool {
        false
    }

    /// The greatest number of items per kind, where there is one.
    fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
        HashMap::new()
    }
}

/// What a slicer has to choose from.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct SliceRequest<'a> {
    /// The candidates, in order of score.
    pub candidates: &'a [Candidate<'a>],
    /// The effective budget.
    pub budget: &'a ContextBudget,
    /// If only the items of one kind are here, that kind: requirements for others do not apply.
    pub only_kind: Option<&'a ContextKind>,
    /// The whole list that the candidates were taken from, in the caller's order, pinned items
    /// among them; empty where nobody knows it.
    pub list: &'a [ContextItem],
}

impl<'a> SliceRequest<'a> {
    /// A request for all kinds.
    #[must_use]
    pub fn new(candidates: &'a [Candidate<'a>], budget: &'a ContextBudget) -> Self {
        Self { candidates, budget, only_kind: None, list: &[] }
    }

    /// The same, with the list that the candidates were taken from: they must be borrowed from it.
    #[must_use]
    pub fn within(mut self, list: &'a [ContextItem]) -> Self {
        self.list = list;
        self
    }

    /// Where a candidate stands in the [list](Self::list); `None` if it was not borrowed from it.
    #[must_use]
    pub fn position(&self, candidate: &Candidate<'_>) -> Option<usize> {
        // The place in memory tells, also where one handle stands in the list twice.
        let start = self.list.as_ptr().addr();
        let offset = std::ptr::from_ref(candidate.item()).addr().checked_sub(start)?;
        let position = offset / size_of::<ContextItem>();
        (position < self.list.len()).then_some(position)
    }

    /// Whether there is nothing to choose: no candidate, or no budget.
    pub(crate) fn is_empty(&self) -> bool {
        self.candidates.is_empty() || self.budget.target_tokens() <= 0
    }

    /// The same for other candidates and another budget.
    fn with<'b>(
        &'b self,
        candidates: &'b [Candidate<'b>],
        budget: &'b ContextBudget,
    ) -> SliceRequest<'b> {
        SliceRequest { candidates, budget, only_kind: self.only_kind, list: self.list }
    }
}

/// What a slicer chose, by position in the list that it was given.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The items to keep, in the order in which the slicer took them.
    pub selected: Vec<usize>,
    /// Items that were left out for a reason that only the slicer knows. All others are left out
    /// because they do not fit.
    pub excluded: Vec<(usize, ExclusionReason)>,
    /// Required counts that could not be met.
    pub shortfalls: Vec<CountRequirementShortfall>,
}

impl Selection {
    /// A selection of these positions, with nothing to explain.
    #[must_use]
    pub fn of(selected: Vec<usize>) -> Self {
        Self { selected, ..Self::default() }
    }

    /// Adds a selection that was made from part of the list: `positions` translates.
    fn absorb(&mut self, part: Selection, positions: &[usize]) {
        self.selected.extend(part.selected.into_iter().map(|at| positions[at]));
        self.excluded.extend(part.excluded.into_iter().map(|(at, why)| (positions[at], why)));
        self.shortfalls.extend(part.shortfalls);
    }
}

/// [`Slicer::slice`] by way of [`Slicer::select`], for slicers that implement the latter, as every
/// built-in one does.
///
/// # Errors
///
/// Those of `select`.
pub fn slice_by_selecting(
    slicer: &dyn Slicer,
    sorted: &[ScoredItem],
    budget: &ContextBudget,
) -> Result<Vec<ContextItem>, CupelError> {
    let candidates: Vec<Candidate<'_>> = sorted.iter().map(Candidate::from).collect();
    let selection = slicer.select(&SliceRequest::new(&candidates, budget))?;
    Ok(selection.selected.into_iter().map(|at| sorted[at].item.clone()).collect())
}

macro_rules! forward_slicer {
    ($($pointer:ident),*) => {$(
        impl<T: Slicer + ?Sized> Slicer for $pointer<T> {
            fn slice(
                &self,
                sorted: &[ScoredItem],
                budget: &ContextBudget,
            ) -> Result<Vec<ContextItem>, CupelError> {
                (**self).slice(sorted, budget)
            }

            fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
                (**self).select(request)
            }

            fn explain(
                &self,
                request: &SliceRequest<'_>,
            ) -> Result<Option<SliceExplanation>, CupelError> {
                (**self).explain(request)
            }

            fn uses_knapsack(&self) -> bool {
                (**self).uses_knapsack()
            }

            fn absent_kinds(
                &self,
                is_present: &dyn Fn(&ContextKind) -> bool,
            ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
                (**self).absent_kinds(is_present)
            }

            fn is_knapsack(&self) -> bool {
                (**self).is_knapsack()
            }

            fn is_quota(&self) -> bool {
                (**self).is_quota()
            }

            fn is_count_quota(&self) -> bool {
                (**self).is_count_quota()
            }

            fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
                (**self).count_cap_map()
            }
        }
    )*};
}

forward_slicer!(Box, Arc);

/// A slicer that limits kinds, for [`quota_utilization`](crate::quota_utilization).
pub trait QuotaPolicy {
    /// One constraint for each kind that is limited.
    fn quota_constraints(&self) -> Vec<QuotaConstraint>;
}

/// What a [`QuotaConstraint`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaConstraintMode {
    /// Percent of the target tokens.
    Percentage,
    /// Items.
    Count,
}

/// How much of one kind a slicer requires and allows.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaConstraint {
    /// The kind.
    pub kind: ContextKind,
    /// What the two numbers count.
    pub mode: QuotaConstraintMode,
    /// At least this much.
    pub require: f64,
    /// At most this much.
    pub cap: f64,
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::ContextItemBuilder;

    pub(crate) fn scored(content: &str, tokens: i64, score: f64) -> ScoredItem {
        ScoredItem { item: ContextItemBuilder::new(content, tokens).build().unwrap(), score }
    }

    pub(crate) fn of_kind(kind: &str, content: &str, tokens: i64, score: f64) -> ScoredItem {
        let item = ContextItemBuilder::new(content, tokens).kind(self::kind(kind));
        ScoredItem { item: item.build().unwrap(), score }
    }

    pub(crate) fn kind(name: &str) -> ContextKind {
        ContextKind::new(name).unwrap()
    }

    pub(crate) fn target(tokens: i64) -> ContextBudget {
        ContextBudget::plain(tokens, tokens)
    }

    pub(crate) fn select(
        slicer: &dyn Slicer,
        items: &[ScoredItem],
        tokens: i64,
    ) -> Result<Selection, CupelError> {
        let candidates: Vec<Candidate<'_>> = items.iter().map(Candidate::from).collect();
        slicer.select(&SliceRequest::new(&candidates, &target(tokens)))
    }

    /// What a slicer keeps, in its own order, by both of its methods.
    #[track_caller]
    pub(crate) fn assert_slice(
        slicer: &dyn Slicer,
        items: &[ScoredItem],
        tokens: i64,
        expected: &[&str],
    ) {
        let kept = slicer.slice(items, &target(tokens)).unwrap();
        let contents: Vec<&str> = kept.iter().map(ContextItem::content).collect();
        assert_eq!(contents, expected);
        let selected = select(slicer, items, tokens).unwrap().selected;
        let contents: Vec<&str> = selected.iter().map(|at| items[*at].item.content()).collect();
        assert_eq!(contents, expected);
    }

    #[track_caller]
    pub(crate) fn empty_inputs_give_nothing(slicer: &dyn Slicer) {
        assert_slice(slicer, &[], 100, &[]);
        assert_slice(slicer, &[scored("a", 1, 0.9), scored("zero", 0, 0.9)], 0, &[]);
    }

    /// A slicer that returns whatever it was told to.
    struct Returns(Vec<ContextItem>);

    impl Slicer for Returns {
        fn slice(
            &self,
            _: &[ScoredItem],
            _: &ContextBudget,
        ) -> Result<Vec<ContextItem>, CupelError> {
            Ok(self.0.clone())
        }
    }

    #[test]
    fn handles_that_a_slicer_returns_claim_positions_in_order() {
        let a = scored("a", 1, 0.9);
        let items = [a.clone(), scored("a", 1, 0.5), a.clone()];
        let slicer = Returns(vec![a.item.clone(), items[1].item.clone(), a.item.clone()]);
        assert_eq!(select(&slicer, &items, 10).unwrap().selected, [0, 1, 2]);
    }

    #[test]
    fn a_slicer_that_returns_foreign_or_repeated_items_is_an_error() {
        let items = [scored("a", 1, 0.9)];
        let text = |kept| select(&Returns(kept), &items, 10).unwrap_err().to_string();
        let expected = "the slicer returned an item that it was not given, or twice: `a`";
        assert_eq!(text(vec![scored("a", 1, 0.9).item]), expected);
        assert_eq!(text(vec![items[0].item.clone(), items[0].item.clone()]), expected);
    }
}
