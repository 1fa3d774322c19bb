//! Which items fit? Invoked by the Slice stage with the items in order of score.
//!
//! | slicer | chooses | cost | for |
//! |---|---|---|---|
//! | [`GreedySlice`] | by score per token | N log N | almost everything |
//! | [`KnapsackSlice`] | the best total score | N × budget in buckets | tight budgets, few large items |
//! | [`QuotaSlice`] | per kind, within percentages of the budget | N, plus its inner slicer | a fair share for every kind |
//! | [`CountQuotaSlice`] | at least and at most so many items of a kind | N log N, plus its inner slicer | guarantees by number |
//! | [`ShorteningSlice`] | the best score, shorter where that is enough | one sort of all forms | items with [renderings](crate::Rendering) |
//! | [`CountConstrainedKnapsackSlice`] | the same, the rest by knapsack | N log N, plus the knapsack | guarantees and tight budgets |

mod count_constrained_knapsack;
mod count_entry;
mod count_phase;
mod count_quota;
mod explanation;
mod greedy;
mod hull;
mod kind_index;
mod knapsack;
mod needs;
mod quota;
mod quota_policy;
mod reserved;
mod selection;
mod shortening;
#[cfg(feature = "stream")]
mod stream;
#[cfg(test)]
pub(crate) mod testing;
mod worth;

use std::collections::HashMap;
use std::sync::Arc;

use crate::claim::Claims;
use crate::diagnostics::{CountRequirementShortfall, Excerpt};
use crate::{Candidate, ContextBudget, ContextItem, ContextKind, CupelError, ItemList, ScoredItem};

pub use count_constrained_knapsack::CountConstrainedKnapsackSlice;
pub use count_entry::{CountQuotaEntry, ScarcityBehavior};
pub use count_quota::CountQuotaSlice;
pub use explanation::{Gain, SliceExplanation, SliceSignal};
pub use greedy::GreedySlice;
pub use hull::{Form, hull};
pub use knapsack::KnapsackSlice;
pub use needs::select_with_needs;
pub use quota::{QuotaEntry, QuotaSlice};
pub use quota_policy::{QuotaConstraint, QuotaConstraintMode, QuotaPolicy};
pub use reserved::Reserved;
pub use selection::{Selection, SliceRequest, Walk, slice_by_selecting};
pub use shortening::{ShorteningSlice, shorten_best_first};
#[cfg(feature = "stream")]
pub use stream::StreamSlice;
pub use worth::{FormWorth, Worth};

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
    /// Errors of the strategy: a table that is too large, too few candidates of a required
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

    /// Worth of the candidates together, for callers that fill a window by rules of their own. The
    /// scores, if the slicer goes by nothing else.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    fn worth(&self, request: &SliceRequest<'_>) -> Result<Worth, CupelError> {
        Ok(Worth::of_scores(request.candidates))
    }

    /// Returns what is kept before the rest competes, for whoever fills a window by rules of their own.
    /// Nothing, unless the slicer has such a rule.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    fn reserve(&self, request: &SliceRequest<'_>) -> Result<Vec<Reserved>, CupelError> {
        let _ = request;
        Ok(Vec::new())
    }

    /// Returns what items of a list cannot do without by the slicer's own reading, as pairs of positions: the
    /// first is in only with the second. [`select`](Self::select) heeds them by itself.
    fn needs_in(&self, list: &ItemList<'_>) -> Vec<(usize, usize)> {
        let _ = list;
        Vec::new()
    }

    /// Returns true if this slicer heeds the [needs](SliceRequest::needs) of a request by itself: then it
    /// never selects a candidate without all that it needs. Others are not told of needs; the
    /// pipeline sees to them by [`select_with_needs`].
    fn knows_needs(&self) -> bool {
        false
    }

    /// Returns true if this is a knapsack, or hides one inside. Count quotas refuse such inner slicers.
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

    /// Returns true if this is a [`KnapsackSlice`].
    fn is_knapsack(&self) -> bool {
        false
    }

    /// Returns true if inclusion depends on percentages of the budget: an item may drop out as the budget
    /// grows, so neither simulation of the budget applies.
    fn is_quota(&self) -> bool {
        false
    }

    /// Returns true if inclusion depends on counts: the search for the smallest budget does not apply.
    fn is_count_quota(&self) -> bool {
        false
    }

    /// The greatest number of items per kind, where there is one.
    fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
        HashMap::new()
    }
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

            fn worth(&self, request: &SliceRequest<'_>) -> Result<Worth, CupelError> {
                (**self).worth(request)
            }

            fn reserve(&self, request: &SliceRequest<'_>) -> Result<Vec<Reserved>, CupelError> {
                (**self).reserve(request)
            }

            fn needs_in(&self, list: &ItemList<'_>) -> Vec<(usize, usize)> {
                (**self).needs_in(list)
            }

            fn knows_needs(&self) -> bool {
                (**self).knows_needs()
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
