use std::collections::HashMap;

use super::count_phase::CountPhase;
use super::{
    CountQuotaEntry, KnapsackSlice, QuotaConstraint, QuotaPolicy, ScarcityBehavior, Selection,
    SliceRequest, Slicer, slice_by_selecting,
};
use crate::diagnostics::CountRequirementShortfall;
use crate::order::descending_key;
use crate::{ContextBudget, ContextItem, ContextKind, CupelError, ScoredItem};

/// Guarantees and limits how many items of a kind are kept; a knapsack chooses the rest.
///
/// **When to choose it:** as [`CountQuotaSlice`](crate::CountQuotaSlice), where the budget is
/// tight enough for a [`KnapsackSlice`] to pay.
///
/// **Steps:** commit the best items of each required kind; let the knapsack choose among the
/// others with what is left of the target; order its choice by score, and drop what exceeds a cap.
///
/// **Ties and edge cases:** among equal scores the earlier item comes first, both when committing
/// and when capping. Committed items may exceed the target, and with it
/// `max_tokens − output_reserve`. Tokens that the knapsack spent on items which a cap then drops
/// are not spent again.
///
/// **Cost:** one pass and a sort of each required kind, plus the knapsack.
///
/// # Example
///
/// ```
/// use cupel::{
///     ContextKind, CountConstrainedKnapsackSlice, CountQuotaEntry, KnapsackSlice,
///     ScarcityBehavior,
/// };
///
/// let slicer = CountConstrainedKnapsackSlice::new(
///     vec![CountQuotaEntry::new(ContextKind::tool_output(), 2, 4)?],
///     KnapsackSlice::new(50)?,
///     ScarcityBehavior::Degrade,
/// )?;
/// assert_eq!(slicer.entries().len(), 1);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Slicers, `CountConstrainedKnapsackSlice`.
#[derive(Debug, Clone)]
pub struct CountConstrainedKnapsackSlice {
    counts: CountPhase,
    knapsack: KnapsackSlice,
}

impl CountConstrainedKnapsackSlice {
    /// Count quotas around a knapsack.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if a kind has two entries.
    pub fn new(
        entries: Vec<CountQuotaEntry>,
        knapsack: KnapsackSlice,
        scarcity: ScarcityBehavior,
    ) -> Result<Self, CupelError> {
        let counts = CountPhase::new("CountConstrainedKnapsackSlice", entries, scarcity)?;
        Ok(Self { counts, knapsack })
    }

    /// The entries, as given.
    pub fn entries(&self) -> &[CountQuotaEntry] {
        self.counts.entries()
    }

    /// Behaviour when candidates are too few.
    pub fn scarcity(&self) -> ScarcityBehavior {
        self.counts.scarcity()
    }
}

impl Slicer for CountConstrainedKnapsackSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        self.counts.select(request, |rest| {
            let mut filled = self.knapsack.select(rest)?;
            let by_score = |at: &usize| (descending_key(rest.candidates[*at].score()), *at);
            filled.selected.sort_unstable_by_key(by_score);
            Ok(filled)
        })
    }

    fn absent_kinds(
        &self,
        is_present: &dyn Fn(&ContextKind) -> bool,
    ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
        self.counts.absent_kinds(is_present)
    }

    fn uses_knapsack(&self) -> bool {
        true
    }

    fn is_count_quota(&self) -> bool {
        true
    }

    fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
        self.counts.cap_map()
    }
}

impl QuotaPolicy for CountConstrainedKnapsackSlice {
    fn quota_constraints(&self) -> Vec<QuotaConstraint> {
        self.counts.constraints()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_slice, empty_inputs_give_nothing, kind, of_kind, select};
    use super::*;

    fn slicer(
        entries: &[(&str, usize, usize)],
        bucket: i64,
        scarcity: ScarcityBehavior,
    ) -> CountConstrainedKnapsackSlice {
        let entries =
            entries.iter().map(|(k, r, c)| CountQuotaEntry::new(kind(k), *r, *c).unwrap());
        let knapsack = KnapsackSlice::new(bucket).unwrap();
        CountConstrainedKnapsackSlice::new(entries.collect(), knapsack, scarcity).unwrap()
    }

    fn degrade(entries: &[(&str, usize, usize)], bucket: i64) -> CountConstrainedKnapsackSlice {
        slicer(entries, bucket, ScarcityBehavior::Degrade)
    }

    #[test]
    fn an_empty_list_and_a_target_of_zero_come_before_scarcity() {
        empty_inputs_give_nothing(&slicer(&[("tool", 3, 5)], 1, ScarcityBehavior::Throw));
    }

    #[test]
    fn two_required_and_the_rest_by_knapsack() {
        let items = [
            of_kind("tool", "tool-a", 100, 0.9),
            of_kind("tool", "tool-b", 100, 0.7),
            of_kind("msg", "msg-x", 100, 0.5),
        ];
        let slicer = degrade(&[("tool", 2, 4)], 100);
        assert_slice(&slicer, &items, 1000, &["tool-a", "tool-b", "msg-x"]);
    }

    #[test]
    fn caps_see_the_knapsacks_choice_by_score() {
        let items = [
            of_kind("tool", "tool-a", 100, 0.9),
            of_kind("tool", "tool-b", 100, 0.8),
            of_kind("tool", "tool-c", 100, 0.7),
            of_kind("tool", "tool-d", 100, 0.6),
        ];
        let selection = select(&degrade(&[("tool", 1, 2)], 100), &items, 600).unwrap();
        assert_eq!(selection.selected, [0, 1]);
        let excluded: Vec<usize> = selection.excluded.iter().map(|(at, _)| *at).collect();
        assert_eq!(excluded, [2, 3]);
    }

    #[test]
    fn scarcity_degrades_to_a_shortfall() {
        let items = [of_kind("tool", "tool-a", 100, 0.9)];
        let selection = select(&degrade(&[("tool", 3, 5)], 100), &items, 500).unwrap();
        assert_eq!(selection.selected, [0]);
        let shortfall = &selection.shortfalls[0];
        assert_eq!((shortfall.required_count, shortfall.satisfied_count), (3, 1));
    }

    #[test]
    fn scarcity_throws_with_the_prescribed_text() {
        let slicer = slicer(&[("tool", 3, 5)], 100, ScarcityBehavior::Throw);
        let error = select(&slicer, &[of_kind("tool", "a", 100, 0.9)], 500).unwrap_err();
        assert_eq!(
            error.to_string(),
            "CountConstrainedKnapsackSlice: candidate pool for kind 'tool' has 1 items but \
             RequireCount is 3."
        );
    }

    #[test]
    fn kinds_are_required_independently() {
        let items = [
            of_kind("tool", "item-tool", 100, 0.9),
            of_kind("memory", "item-memory", 100, 0.8),
            of_kind("tool", "item-extra", 100, 0.5),
        ];
        let slicer = degrade(&[("tool", 1, 4), ("memory", 1, 4)], 100);
        assert_slice(&slicer, &items, 1000, &["item-tool", "item-memory", "item-extra"]);
    }

    #[test]
    fn requirement_equal_to_the_cap_leaves_the_rest_to_other_kinds() {
        let items = [
            of_kind("tool", "tool-a", 100, 0.9),
            of_kind("msg", "msg-s", 50, 0.8),
            of_kind("tool", "tool-b", 100, 0.7),
            of_kind("msg", "msg-m", 150, 0.6),
            of_kind("msg", "msg-l", 200, 0.4),
        ];
        let expected = ["tool-a", "tool-b", "msg-s", "msg-m", "msg-l"];
        assert_slice(&degrade(&[("tool", 2, 2)], 1), &items, 1000, &expected);
    }

    #[test]
    fn a_table_that_is_too_large_is_an_error_here_too() {
        let items: Vec<_> = (0..100).map(|i| of_kind("m", &format!("{i}"), 10, 0.5)).collect();
        let error = select(&degrade(&[], 1), &items, 1_000_000).unwrap_err();
        assert!(matches!(error, CupelError::TableTooLarge { .. }));
    }

    #[test]
    fn duplicate_kinds_are_refused_and_abilities_stated() {
        let entry = |name| CountQuotaEntry::new(kind(name), 0, 1).unwrap();
        let knapsack = KnapsackSlice::with_default_bucket_size();
        let entries = vec![entry("a"), entry("A")];
        let result = CountConstrainedKnapsackSlice::new(entries, knapsack, ScarcityBehavior::Throw);
        assert!(matches!(result, Err(CupelError::SlicerConfig(_))));
        let slicer = degrade(&[("a", 0, 1)], 1);
        assert!(slicer.is_count_quota() && !slicer.is_knapsack() && slicer.uses_knapsack());
    }
}
