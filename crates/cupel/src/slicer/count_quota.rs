use std::collections::HashMap;
use std::fmt;

use super::count_phase::CountPhase;
use super::{
    CountQuotaEntry, QuotaConstraint, QuotaPolicy, ScarcityBehavior, Selection, SliceRequest,
    Slicer, slice_by_selecting,
};
use crate::diagnostics::CountRequirementShortfall;
use crate::{ContextBudget, ContextItem, ContextKind, CupelError, ScoredItem};

/// Guarantees and limits how many items of a kind are kept; another slicer chooses the rest.
///
/// **When to choose it:** "at least two tool results, at most five", whatever they cost.
///
/// **Steps:** commit the best items of each required kind; let the inner slicer choose among the
/// others with what is left of the target; drop what exceeds a cap, in the order in which the
/// inner slicer returned it.
///
/// **Ties and edge cases:** among equal scores the earlier item is committed first. Committed
/// items may exceed the target, and with it `max_tokens − output_reserve`; the pipeline's
/// [`OverflowStrategy`](crate::OverflowStrategy) then decides. Too few candidates of a kind are a
/// shortfall in the report, or an error, as [`ScarcityBehavior`] says; an empty list or a target
/// of 0 is neither. Kinds without an entry are free.
///
/// **Cost:** one pass and a sort of each required kind, plus the inner slicer.
///
/// # Example
///
/// ```
/// use cupel::{
///     ContextBudget, ContextItemBuilder, ContextKind, CountQuotaEntry, CountQuotaSlice,
///     GreedySlice, ScarcityBehavior, ScoredItem, Slicer,
/// };
///
/// let entries = vec![CountQuotaEntry::new(ContextKind::memory(), 1, 1)?];
/// let slicer = CountQuotaSlice::new(entries, Box::new(GreedySlice), ScarcityBehavior::Degrade)?;
/// let item = |text, kind, score| {
///     ContextItemBuilder::new(text, 10).kind(kind).build().map(|item| ScoredItem { item, score })
/// };
/// let sorted = [
///     item("question", ContextKind::message(), 0.9)?,
///     item("name", ContextKind::memory(), 0.2)?,
/// ];
/// let kept = slicer.slice(&sorted, &ContextBudget::builder(10).build()?)?;
/// assert_eq!(kept[0].content(), "name");
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Slicers, `CountQuotaSlice`.
pub struct CountQuotaSlice {
    counts: CountPhase,
    inner: Box<dyn Slicer>,
}

impl CountQuotaSlice {
    /// Count quotas around another slicer.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if the inner slicer is a knapsack or contains one, or if a
    /// kind has two entries.
    pub fn new(
        entries: Vec<CountQuotaEntry>,
        inner: Box<dyn Slicer>,
        scarcity: ScarcityBehavior,
    ) -> Result<Self, CupelError> {
        if inner.uses_knapsack() {
            return Err(CupelError::SlicerConfig(
                "inner: a knapsack cannot be the inner slicer of CountQuotaSlice; use GreedySlice \
                 there, or CountConstrainedKnapsackSlice instead"
                    .into(),
            ));
        }
        let counts = CountPhase::new("CountQuotaSlice", entries, scarcity)?;
        Ok(Self { counts, inner })
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

impl Slicer for CountQuotaSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        self.counts.select(request, |rest| self.inner.select(rest))
    }

    fn absent_kinds(
        &self,
        is_present: &dyn Fn(&ContextKind) -> bool,
    ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
        let mut shortfalls = self.counts.absent_kinds(is_present)?;
        shortfalls.extend(self.inner.absent_kinds(is_present)?);
        Ok(shortfalls)
    }

    fn uses_knapsack(&self) -> bool {
        self.inner.uses_knapsack()
    }

    fn is_quota(&self) -> bool {
        self.inner.is_quota()
    }

    fn is_count_quota(&self) -> bool {
        true
    }

    fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
        self.counts.cap_map()
    }
}

impl QuotaPolicy for CountQuotaSlice {
    fn quota_constraints(&self) -> Vec<QuotaConstraint> {
        self.counts.constraints()
    }
}

impl fmt::Debug for CountQuotaSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountQuotaSlice")
            .field("entries", &self.counts.entries())
            .field("inner", &"<dyn Slicer>")
            .field("scarcity", &self.counts.scarcity())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        assert_slice, empty_inputs_give_nothing, kind, of_kind, scored, select,
    };
    use super::super::{
        CountConstrainedKnapsackSlice, GreedySlice, KnapsackSlice, QuotaEntry, QuotaSlice,
    };
    use super::*;
    use crate::diagnostics::ExclusionReason;

    fn entry(name: &str, require: usize, cap: usize) -> CountQuotaEntry {
        CountQuotaEntry::new(kind(name), require, cap).unwrap()
    }

    fn slicer(entries: &[(&str, usize, usize)], scarcity: ScarcityBehavior) -> CountQuotaSlice {
        let entries = entries.iter().map(|(k, r, c)| entry(k, *r, *c)).collect();
        CountQuotaSlice::new(entries, Box::new(GreedySlice), scarcity).unwrap()
    }

    fn degrade(entries: &[(&str, usize, usize)]) -> CountQuotaSlice {
        slicer(entries, ScarcityBehavior::Degrade)
    }

    fn shortfall(kind: &str, required: usize, satisfied: usize) -> CountRequirementShortfall {
        CountRequirementShortfall {
            kind: kind.into(),
            required_count: required,
            satisfied_count: satisfied,
        }
    }

    #[test]
    fn an_empty_list_and_a_target_of_zero_come_before_scarcity() {
        empty_inputs_give_nothing(&slicer(&[("tool", 3, 5)], ScarcityBehavior::Throw));
        let selection = select(&degrade(&[("tool", 3, 5)]), &[], 100).unwrap();
        assert!(selection.shortfalls.is_empty());
    }

    #[test]
    fn required_items_are_committed_first_and_the_rest_is_filled() {
        let items = [
            of_kind("msg", "m1", 100, 0.95),
            of_kind("TOOL", "t1", 100, 0.9),
            of_kind("tool", "t2", 100, 0.7),
            of_kind("msg", "m2", 100, 0.5),
        ];
        assert_slice(&degrade(&[("Tool", 2, 4)]), &items, 300, &["t1", "t2", "m1"]);
    }

    #[test]
    fn among_equal_scores_the_earlier_item_is_committed() {
        let items = [of_kind("a", "a1", 9, 0.5), of_kind("a", "a2", 1, 0.5)];
        assert_slice(&degrade(&[("a", 1, 1)]), &items, 10, &["a1"]);
    }

    #[test]
    fn unsorted_candidates_are_committed_by_score() {
        let items = [of_kind("a", "worse", 5, 0.1), of_kind("a", "better", 5, 0.9)];
        assert_slice(&degrade(&[("a", 1, 1)]), &items, 10, &["better"]);
    }

    #[test]
    fn committed_items_may_exceed_the_target_and_leave_nothing_for_the_rest() {
        let items = [of_kind("a", "a1", 80, 0.9), of_kind("a", "a2", 80, 0.8), scored("m", 1, 0.7)];
        assert_slice(&degrade(&[("a", 2, 2)]), &items, 100, &["a1", "a2"]);
    }

    #[test]
    fn caps_drop_what_the_inner_slicer_chose_beyond_them_in_its_order() {
        // By density the inner slicer returns c, b, a.
        let items =
            [of_kind("k", "a", 30, 0.9), of_kind("k", "b", 20, 0.8), of_kind("k", "c", 5, 0.7)];
        let selection = select(&degrade(&[("K", 0, 2)]), &items, 100).unwrap();
        assert_eq!(selection.selected, [2, 1]);
        let reason = ExclusionReason::CountCapExceeded { kind: "k".into(), cap: 2, count: 2 };
        assert_eq!(selection.excluded, [(0, reason)]);
    }

    #[test]
    fn committed_items_count_toward_the_cap_and_are_never_dropped_by_it() {
        let items = [of_kind("k", "a", 10, 0.9), of_kind("k", "b", 10, 0.8), scored("m", 10, 0.1)];
        assert_slice(&degrade(&[("k", 1, 1)]), &items, 100, &["a", "m"]);
    }

    #[test]
    fn a_cap_of_zero_keeps_the_kind_out() {
        assert_slice(&degrade(&[("k", 0, 0)]), &[of_kind("k", "a", 10, 0.9)], 100, &[]);
    }

    #[test]
    fn without_entries_the_inner_slicer_decides_alone() {
        assert_slice(&degrade(&[]), &[scored("a", 10, 0.9), scored("b", 10, 0.8)], 10, &["a"]);
    }

    #[test]
    fn scarcity_degrades_to_a_shortfall_also_for_kinds_without_any_candidate() {
        let items = [of_kind("tool", "t", 10, 0.9)];
        let slicer = degrade(&[("Tool", 3, 5), ("doc", 1, 1), ("free", 0, 9)]);
        let selection = select(&slicer, &items, 100).unwrap();
        assert_eq!(selection.shortfalls, [shortfall("Tool", 3, 1), shortfall("doc", 1, 0)]);
        assert_eq!(selection.selected, [0]);
    }

    #[test]
    fn scarcity_throws_when_told_to() {
        let slicer = slicer(&[("tool", 3, 5)], ScarcityBehavior::Throw);
        let error = select(&slicer, &[of_kind("tool", "t", 10, 0.9)], 100).unwrap_err();
        let text =
            "CountQuotaSlice: candidate pool for kind 'tool' has 1 items but RequireCount is 3.";
        assert_eq!(error, CupelError::SlicerConfig(text.into()));
    }

    #[test]
    fn a_knapsack_inside_is_refused_however_deep() {
        let knapsack = KnapsackSlice::with_default_bucket_size;
        let count_knapsack =
            CountConstrainedKnapsackSlice::new(vec![], knapsack(), ScarcityBehavior::Degrade);
        let quota = QuotaSlice::new(vec![], Box::new(knapsack())).unwrap();
        let nested = QuotaSlice::new(vec![], Box::new(std::sync::Arc::new(knapsack()))).unwrap();
        let inners: [Box<dyn Slicer>; 4] = [
            Box::new(knapsack()),
            Box::new(count_knapsack.unwrap()),
            Box::new(quota),
            Box::new(QuotaSlice::new(vec![], Box::new(nested)).unwrap()),
        ];
        for inner in inners {
            let error = CountQuotaSlice::new(vec![], inner, ScarcityBehavior::Degrade).unwrap_err();
            assert!(error.to_string().starts_with("inner: a knapsack cannot be"), "{error}");
        }
    }

    #[test]
    fn duplicate_kinds_are_refused_by_name() {
        let entries = vec![entry("Tool", 0, 1), entry("doc", 0, 1), entry("TOOL", 0, 2)];
        let slicer = CountQuotaSlice::new(entries, Box::new(GreedySlice), ScarcityBehavior::Throw);
        let text = "entries: kind `TOOL` occurs more than once; give each kind one entry";
        assert_eq!(slicer.unwrap_err().to_string(), text);
    }

    #[test]
    fn inside_a_quota_entries_of_other_kinds_are_ignored_and_absent_kinds_reported_once() {
        let counts = degrade(&[("a", 2, 5), ("b", 1, 5), ("absent", 1, 1)]);
        let quota = QuotaSlice::new(vec![], Box::new(counts)).unwrap();
        let items = [of_kind("b", "b1", 10, 0.9), of_kind("a", "a1", 10, 0.8)];
        let selection = select(&quota, &items, 100).unwrap();
        assert_eq!(selection.selected, [0, 1]);
        assert_eq!(selection.shortfalls, [shortfall("a", 2, 1), shortfall("absent", 1, 0)]);
        assert!(quota.is_count_quota());
    }

    #[test]
    fn a_quota_inside_still_reports_and_counts() {
        let quota = QuotaEntry::new(kind("a"), 0.0, 50.0).unwrap();
        let inner = QuotaSlice::new(vec![quota], Box::new(GreedySlice)).unwrap();
        let slicer = CountQuotaSlice::new(
            vec![entry("a", 1, 2)],
            Box::new(inner),
            ScarcityBehavior::Degrade,
        )
        .unwrap();
        let items: Vec<_> =
            (0..6).map(|i| of_kind("a", &format!("a{i}"), 10, 0.9 - 0.1 * f64::from(i))).collect();
        let selection = select(&slicer, &items, 60).unwrap();
        // One committed; half of the remaining 50 buys two more, of which the cap allows one.
        assert_eq!(selection.selected, [0, 1]);
        assert_eq!(selection.excluded.len(), 1);
        assert!(slicer.is_quota());
    }

    #[test]
    fn abilities_are_stated() {
        let slicer = degrade(&[("a", 1, 2)]);
        assert!(slicer.is_count_quota() && !slicer.is_quota() && !slicer.is_knapsack());
        assert_eq!(slicer.count_cap_map(), [(kind("A"), 2)].into());
        assert_eq!(slicer.quota_constraints()[0].require, 1.0);
        assert!(format!("{slicer:?}").contains("inner: \"<dyn Slicer>\""));
    }
}
