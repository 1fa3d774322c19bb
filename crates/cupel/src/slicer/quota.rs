use std::collections::HashMap;
use std::fmt;

use super::kind_index::{self, KindIndex};
use super::{
    QuotaConstraint, QuotaConstraintMode, QuotaPolicy, Selection, SliceRequest, Slicer,
    slice_by_selecting,
};
use crate::diagnostics::CountRequirementShortfall;
use crate::model::{TokenSum, clamp_to_i64, look_up_kinds};
use crate::{Candidate, ContextBudget, ContextItem, ContextKind, CupelError, ScoredItem};

/// Share of the budget that one kind must and may have, in percent.
///
/// # Example
///
/// ```
/// use cupel::{ContextKind, QuotaEntry};
///
/// let entry = QuotaEntry::new(ContextKind::document(), 20.0, 60.0)?;
/// assert_eq!((entry.require(), entry.cap()), (20.0, 60.0));
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct QuotaEntry {
    kind: ContextKind,
    require: f64,
    cap: f64,
}

impl QuotaEntry {
    /// At least `require` and at most `cap` percent for `kind`.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if a percentage is not within 0 and 100, or `require` exceeds
    /// `cap`.
    pub fn new(kind: ContextKind, require: f64, cap: f64) -> Result<Self, CupelError> {
        for (field, percent) in [("require", require), ("cap", cap)] {
            if !(0.0..=100.0).contains(&percent) {
                return Err(CupelError::SlicerConfig(format!(
                    "kind `{kind}`: {field} `{percent}` must be within 0 and 100"
                )));
            }
        }
        if require > cap {
            return Err(CupelError::SlicerConfig(format!(
                "kind `{kind}`: require `{require}` must not exceed cap `{cap}`"
            )));
        }
        Ok(Self { kind, require, cap })
    }

    /// The kind.
    pub fn kind(&self) -> &ContextKind {
        &self.kind
    }

    /// At least this much, in percent.
    pub fn require(&self) -> f64 {
        self.require
    }

    /// At most this much, in percent.
    pub fn cap(&self) -> f64 {
        self.cap
    }
}

/// Shares the budget out among kinds; another slicer chooses within each.
///
/// **When to choose it:** no kind should crowd out the others, and some must have their share.
///
/// **Steps:** split the items by kind; give each kind its required share, then divide the rest in
/// proportion to the tokens of its candidates, up to its cap; let the inner slicer fill each
/// kind's share on its own.
///
/// **Ties and edge cases:** kinds without an entry require 0 and may have 100 percent. Shares are
/// rounded down, so a few tokens may stay unused. A kind whose share is 0 gets nothing, not even
/// items of zero tokens. The required share of a kind without candidates is not given to others.
/// Kinds are taken in the order in which they first appear.
///
/// **Cost:** one pass, plus the inner slicer for each kind.
///
/// # Example
///
/// ```
/// use cupel::{ContextKind, GreedySlice, QuotaEntry, QuotaSlice};
///
/// let slicer = QuotaSlice::new(
///     vec![QuotaEntry::new(ContextKind::tool_output(), 25.0, 50.0)?],
///     Box::new(GreedySlice),
/// )?;
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Slicers, `QuotaSlice`.
pub struct QuotaSlice {
    entries: Vec<QuotaEntry>,
    inner: Box<dyn Slicer>,
}

impl QuotaSlice {
    /// Quotas around another slicer.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if a kind has two entries, or if the required shares exceed
    /// 100 percent together.
    pub fn new(entries: Vec<QuotaEntry>, inner: Box<dyn Slicer>) -> Result<Self, CupelError> {
        if let Err(kind) = kind_index::distinct(entries.iter().map(QuotaEntry::kind)) {
            return Err(CupelError::SlicerConfig(format!(
                "quotas: kind `{kind}` occurs more than once; give each kind one entry"
            )));
        }
        let required: f64 = entries.iter().map(QuotaEntry::require).sum();
        if required > 100.0 {
            return Err(CupelError::SlicerConfig(format!(
                "quotas: required shares must not exceed 100 percent together, got {required}"
            )));
        }
        Ok(Self { entries, inner })
    }

    /// Tokens that each kind may spend, by partition.
    fn shares(&self, partitions: &Partitions<'_>, target: i64) -> Vec<Share> {
        let tokens_of = |percent: f64| (percent / 100.0 * target as f64).floor() as i64;
        let mut shares =
            vec![Share { require: 0, cap: target, budget: 0 }; partitions.masses.len()];
        let mut total_required = 0_i128;
        for entry in &self.entries {
            let require = tokens_of(entry.require);
            total_required += i128::from(require);
            if let Some(number) = partitions.kinds.get(&entry.kind) {
                shares[number] = Share { require, cap: tokens_of(entry.cap), budget: 0 };
            }
        }
        let unassigned = (i128::from(target) - total_required).max(0);
        let growing = |share: &Share| share.cap > share.require;
        let masses = || shares.iter().zip(&partitions.masses);
        let total_mass: i128 = masses().filter(|(s, _)| growing(s)).map(|(_, mass)| mass.0).sum();
        for (share, mass) in shares.iter_mut().zip(&partitions.masses) {
            let proportional = if total_mass > 0 && growing(share) {
                proportion(unassigned, mass.0, total_mass)
            } else {
                0
            };
            let budget = i128::from(share.require).saturating_add(proportional);
            share.budget = clamp_to_i64(budget).min(share.cap);
        }
        shares
    }
}

/// `⌊amount × part / whole⌋` for numbers that are not negative, `amount` below 2⁶³.
fn proportion(amount: i128, part: i128, whole: i128) -> i128 {
    if let Some(product) = amount.checked_mul(part) {
        return product / whole;
    }
    // Masses of several huge items: multiply and divide bit by bit, so that nothing overflows.
    let (mut quotient, mut rest) = (0, 0);
    for bit in (0..63).rev() {
        rest = 2 * rest + ((amount >> bit) & 1) * part;
        quotient = 2 * quotient + rest / whole;
        rest %= whole;
    }
    quotient
}

#[derive(Debug, Clone, Copy)]
struct Share {
    require: i64,
    cap: i64,
    budget: i64,
}

/// The candidates by kind, kinds in the order in which they first appear.
struct Partitions<'a> {
    kinds: KindIndex<'a>,
    names: Vec<&'a ContextKind>,
    positions: Vec<Vec<usize>>,
    masses: Vec<TokenSum>,
}

impl<'a> Partitions<'a> {
    fn new(candidates: &[Candidate<'a>]) -> Self {
        let (mut kinds, mut names) = (KindIndex::default(), Vec::new());
        let mut parts: Vec<(Vec<usize>, TokenSum)> = Vec::new();
        let number_of = |kind| {
            let number = kinds.number(kind);
            if number == names.len() {
                names.push(kind);
            }
            number
        };
        let mut rest = candidates.iter().enumerate();
        let add = |number: usize| {
            let Some((at, candidate)) = rest.next() else { return };
            if number == parts.len() {
                parts.push(Default::default());
            }
            let (positions, mass) = &mut parts[number];
            positions.push(at);
            mass.add(candidate.tokens());
        };
        look_up_kinds(candidates.iter().map(|candidate| candidate.item().kind()), number_of, add);
        let (positions, masses) = parts.into_iter().unzip();
        Self { kinds, names, positions, masses }
    }
}

impl Slicer for QuotaSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if request.is_empty() {
            return Ok(Selection::default());
        }
        let partitions = Partitions::new(request.candidates);
        let shares = self.shares(&partitions, request.budget.target_tokens());
        let mut selection = Selection::default();
        for (number, share) in shares.iter().enumerate().filter(|(_, share)| share.budget > 0) {
            let positions = &partitions.positions[number];
            let candidates: Vec<Candidate<'_>> =
                positions.iter().map(|at| request.candidates[*at]).collect();
            let part = self.inner.select(&SliceRequest {
                candidates: &candidates,
                budget: &ContextBudget::plain(share.cap, share.budget),
                only_kind: Some(partitions.names[number]),
                needs: None,
                ..*request
            })?;
            selection.absorb(part, positions);
        }
        if request.only_kind.is_none() {
            let is_present = |kind: &ContextKind| partitions.kinds.contains(kind);
            selection.shortfalls.extend(self.inner.absent_kinds(&is_present)?);
        }
        Ok(selection)
    }

    fn absent_kinds(
        &self,
        is_present: &dyn Fn(&ContextKind) -> bool,
    ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
        self.inner.absent_kinds(is_present)
    }

    fn uses_knapsack(&self) -> bool {
        self.inner.uses_knapsack()
    }

    fn is_quota(&self) -> bool {
        true
    }

    fn is_count_quota(&self) -> bool {
        self.inner.is_count_quota()
    }

    fn count_cap_map(&self) -> HashMap<ContextKind, usize> {
        self.inner.count_cap_map()
    }
}

impl QuotaPolicy for QuotaSlice {
    fn quota_constraints(&self) -> Vec<QuotaConstraint> {
        let constraints = self.entries.iter().map(|entry| QuotaConstraint {
            kind: entry.kind.clone(),
            mode: QuotaConstraintMode::Percentage,
            require: entry.require,
            cap: entry.cap,
        });
        constraints.collect()
    }
}

impl fmt::Debug for QuotaSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuotaSlice")
            .field("entries", &self.entries)
            .field("inner", &"<dyn Slicer>")
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::super::GreedySlice;
    use super::super::testing::{assert_slice, empty_inputs_give_nothing, kind, of_kind};
    use super::*;

    fn quota(entries: &[(&str, f64, f64)]) -> QuotaSlice {
        let entries = entries.iter().map(|(k, r, c)| QuotaEntry::new(kind(k), *r, *c).unwrap());
        QuotaSlice::new(entries.collect(), Box::new(GreedySlice)).unwrap()
    }

    /// Records the budgets that the inner slicer receives.
    #[derive(Clone, Default)]
    struct Spy(Arc<Mutex<Vec<(String, i64, i64)>>>);

    impl Slicer for Spy {
        fn slice(
            &self,
            sorted: &[ScoredItem],
            budget: &ContextBudget,
        ) -> Result<Vec<ContextItem>, CupelError> {
            let kind = sorted[0].item.kind().to_string();
            let call = (kind, budget.max_tokens(), budget.target_tokens());
            self.0.lock().unwrap().push(call);
            Ok(Vec::new())
        }
    }

    /// The (kind, cap, budget) that each partition gets.
    fn budgets(
        entries: &[(&str, f64, f64)],
        items: &[ScoredItem],
        target: i64,
    ) -> Vec<(String, i64, i64)> {
        let spy = Spy::default();
        let entries = entries.iter().map(|(k, r, c)| QuotaEntry::new(kind(k), *r, *c).unwrap());
        let slicer = QuotaSlice::new(entries.collect(), Box::new(spy.clone())).unwrap();
        slicer.slice(items, &ContextBudget::plain(target, target)).unwrap();
        spy.0.lock().unwrap().clone()
    }

    fn call(kind: &str, cap: i64, budget: i64) -> (String, i64, i64) {
        (kind.to_owned(), cap, budget)
    }

    #[test]
    fn an_empty_list_and_a_target_of_zero_give_nothing() {
        empty_inputs_give_nothing(&quota(&[("a", 10.0, 50.0)]));
    }

    #[test]
    fn without_quotas_kinds_share_in_proportion_to_their_candidates() {
        let items = [of_kind("a", "a", 300, 0.9), of_kind("b", "b", 100, 0.8)];
        assert_eq!(budgets(&[], &items, 100), [call("a", 100, 75), call("b", 100, 25)]);
    }

    #[test]
    fn required_shares_come_first_and_the_rest_is_divided_and_rounded_down() {
        let items =
            [of_kind("A", "a", 500, 0.9), of_kind("b", "b", 500, 0.8), of_kind("c", "c", 1, 0.1)];
        let entries = [("a", 33.0, 100.0), ("B", 33.0, 100.0)];
        // 340 of 1000 are left; ⌊340 × 500 / 1001⌋ = 169.
        let expected = [call("A", 1000, 499), call("b", 1000, 499)];
        assert_eq!(budgets(&entries, &items, 1000), expected);
    }

    #[test]
    fn a_share_never_exceeds_its_cap() {
        let items = [of_kind("a", "a", 900, 0.9), of_kind("b", "b", 100, 0.8)];
        let expected = [call("a", 20, 20), call("b", 100, 10)];
        assert_eq!(budgets(&[("a", 0.0, 20.0)], &items, 100), expected);
    }

    #[test]
    fn requiring_everything_leaves_nothing_for_others() {
        let items = [of_kind("b", "b", 10, 0.9), of_kind("a", "a", 10, 0.8)];
        assert_slice(&quota(&[("a", 100.0, 100.0)]), &items, 100, &["a"]);
    }

    #[test]
    fn a_cap_of_zero_keeps_the_kind_out_zero_token_items_too() {
        let items =
            [of_kind("a", "a", 10, 0.9), of_kind("a", "a0", 0, 0.9), of_kind("b", "b", 9, 0.8)];
        assert_slice(&quota(&[("a", 0.0, 0.0)]), &items, 100, &["b"]);
    }

    #[test]
    fn candidates_without_tokens_get_the_required_share_only() {
        let items = [of_kind("a", "a0", 0, 0.9), of_kind("b", "b0", 0, 0.8)];
        assert_eq!(budgets(&[("a", 30.0, 60.0)], &items, 100), [call("a", 60, 30)]);
    }

    #[test]
    fn the_share_of_a_kind_without_candidates_stays_unused() {
        let items = [of_kind("b", "b", 100, 0.8)];
        assert_eq!(budgets(&[("a", 40.0, 60.0)], &items, 100), [call("b", 100, 60)]);
    }

    #[test]
    fn kinds_that_cannot_grow_take_no_part_in_the_division() {
        let items = [of_kind("a", "a", 100, 0.9), of_kind("b", "b", 100, 0.8)];
        let expected = [call("a", 50, 50), call("b", 100, 50)];
        assert_eq!(budgets(&[("a", 50.0, 50.0)], &items, 100), expected);
    }

    #[test]
    fn spellings_of_a_kind_are_one_partition_in_order_of_first_appearance() {
        let items =
            [of_kind("Doc", "1", 5, 0.9), of_kind("x", "2", 5, 0.8), of_kind("DOC", "3", 5, 0.7)];
        assert_slice(&quota(&[("doc", 0.0, 100.0)]), &items, 100, &["1", "3", "2"]);
    }

    #[test]
    fn huge_masses_and_targets_do_not_wrap() {
        let items = [of_kind("a", "a", i64::MAX, 0.9), of_kind("a", "b", i64::MAX, 0.8)];
        let budgets = budgets(&[("a", 10.0, 100.0)], &items, i64::MAX);
        assert_eq!(budgets, [call("a", i64::MAX, i64::MAX)]);
    }

    #[test]
    fn proportions_of_products_beyond_128_bits_are_exact() {
        let (amount, huge) = (i128::from(i64::MAX), i128::from(i64::MAX) * 1000);
        assert!(amount.checked_mul(huge).is_none());
        assert_eq!(proportion(amount, huge, huge), amount);
        assert_eq!(proportion(amount, huge, 2 * huge), amount / 2);
        assert_eq!(proportion(amount, huge, 3 * huge), amount / 3);
    }

    #[test]
    fn percentages_out_of_range_or_order_are_refused() {
        let text = |require, cap| {
            QuotaEntry::new(ContextKind::memory(), require, cap).unwrap_err().to_string()
        };
        assert_eq!(text(-1.0, 5.0), "kind `Memory`: require `-1` must be within 0 and 100");
        assert_eq!(text(0.0, 100.5), "kind `Memory`: cap `100.5` must be within 0 and 100");
        assert_eq!(text(f64::NAN, 5.0), "kind `Memory`: require `NaN` must be within 0 and 100");
        assert_eq!(text(6.0, 5.0), "kind `Memory`: require `6` must not exceed cap `5`");
    }

    #[test]
    fn required_shares_beyond_one_hundred_percent_are_refused() {
        let entry = |k, require| QuotaEntry::new(kind(k), require, 100.0).unwrap();
        let entries = vec![entry("a", 60.0), entry("b", 50.0)];
        let error = QuotaSlice::new(entries, Box::new(GreedySlice)).unwrap_err();
        let text = "quotas: required shares must not exceed 100 percent together, got 110";
        assert_eq!(error.to_string(), text);
        let entries = vec![entry("a", 60.0), entry("b", 40.0)];
        assert!(QuotaSlice::new(entries, Box::new(GreedySlice)).is_ok());
    }

    #[test]
    fn duplicate_kinds_are_refused_by_name() {
        let entry = |k| QuotaEntry::new(kind(k), 0.0, 100.0).unwrap();
        let error = QuotaSlice::new(vec![entry("a"), entry("A")], Box::new(GreedySlice));
        let text = "quotas: kind `A` occurs more than once; give each kind one entry";
        assert_eq!(error.unwrap_err().to_string(), text);
    }
}
