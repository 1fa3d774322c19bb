//! Number of tokens that may be spent.

use std::collections::HashMap;

use super::{ContextKind, TokenSum, clamp_to_i64};
use crate::CupelError;

/// Number of tokens the pipeline may spend, and what is set aside.
///
/// | field | meaning |
/// |---|---|
/// | `max_tokens` | the window of the model: a hard ceiling |
/// | `target_tokens` | what the selection aims for, at most `max_tokens` |
/// | `output_reserve` | kept free for the model's answer |
/// | `reserved_slots` | **tokens** kept free per kind, for content that you add yourself |
/// | `estimation_safety_margin_percent` | shrinks what is left, for token counts that are estimates |
///
/// The tokens that remain for items that are not pinned are
///
/// ```text
/// reserved         = sum of reserved_slots
/// effective max    = max(0, max_tokens − output_reserve − pinned − reserved)
/// effective target = min(max(0, target_tokens − pinned − reserved), effective max)
/// ```
///
/// and both are then multiplied by `1 − margin / 100` and rounded down.
///
/// Pinned items must fit into `max_tokens − output_reserve`. After that only the target is
/// enforced: a slicer that guarantees counts may exceed `max_tokens − output_reserve` under
/// [`OverflowStrategy::Proceed`](crate::OverflowStrategy::Proceed).
///
/// # Example
///
/// ```
/// use cupel::ContextBudget;
///
/// let budget = ContextBudget::builder(8_000).output_reserve(1_000).target_tokens(6_500).build()?;
/// assert_eq!(budget.unreserved_capacity(), 7_000);
///
/// let error = ContextBudget::builder(100).target_tokens(200).build().unwrap_err();
/// assert_eq!(error.to_string(), "target_tokens `200` must not exceed max_tokens `100`");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ContextBudget {
    max_tokens: i64,
    target_tokens: i64,
    output_reserve: i64,
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::sorted_map"))]
    reserved_slots: HashMap<ContextKind, i64>,
    estimation_safety_margin_percent: f64,
}

impl ContextBudget {
    /// A budget from all its fields. [`builder`](Self::builder) names them.
    ///
    /// # Errors
    ///
    /// [`CupelError::InvalidBudget`] if a count is negative, the target or the reserve exceeds
    /// `max_tokens`, or the margin is not within 0 and 100.
    pub fn new(
        max_tokens: i64,
        target_tokens: i64,
        output_reserve: i64,
        reserved_slots: HashMap<ContextKind, i64>,
        estimation_safety_margin_percent: f64,
    ) -> Result<Self, CupelError> {
        let budget = Self {
            max_tokens,
            target_tokens,
            output_reserve,
            reserved_slots,
            estimation_safety_margin_percent,
        };
        budget.check().map_err(CupelError::InvalidBudget)?;
        Ok(budget)
    }

    /// Starts a budget whose target is `max_tokens` less the output reserve, unless you set it.
    pub fn builder(max_tokens: i64) -> ContextBudgetBuilder {
        ContextBudgetBuilder {
            max_tokens,
            target_tokens: None,
            output_reserve: 0,
            reserved_slots: HashMap::new(),
            margin_percent: 0.0,
        }
    }

    /// A budget with nothing set aside, as slicers receive it. The target wins where the two
    /// disagree.
    pub(crate) fn plain(max_tokens: i64, target_tokens: i64) -> Self {
        let target_tokens = target_tokens.max(0);
        Self {
            max_tokens: max_tokens.max(target_tokens),
            target_tokens,
            output_reserve: 0,
            reserved_slots: HashMap::new(),
            estimation_safety_margin_percent: 0.0,
        }
    }

    fn check(&self) -> Result<(), String> {
        let (max, target, reserve) = (self.max_tokens, self.target_tokens, self.output_reserve);
        for (field, value) in
            [("max_tokens", max), ("target_tokens", target), ("output_reserve", reserve)]
        {
            if value < 0 {
                return Err(format!("{field} `{value}` must not be negative"));
            }
        }
        for (field, value) in [("target_tokens", target), ("output_reserve", reserve)] {
            if value > max {
                return Err(format!("{field} `{value}` must not exceed max_tokens `{max}`"));
            }
        }
        let margin = self.estimation_safety_margin_percent;
        if !(0.0..=100.0).contains(&margin) {
            return Err(format!(
                "estimation_safety_margin_percent `{margin}` must be within 0 and 100"
            ));
        }
        // The first offender by name, so that the message does not depend on the map's order.
        let negative = self.reserved_slots.iter().filter(|(_, tokens)| **tokens < 0);
        match negative.min_by_key(|(kind, _)| kind.as_str()) {
            Some((kind, tokens)) => {
                Err(format!("reserved_slots.{kind} `{tokens}` must not be negative"))
            }
            None => Ok(()),
        }
    }

    /// The hard ceiling.
    pub fn max_tokens(&self) -> i64 {
        self.max_tokens
    }

    /// Tokens that the selection aims for.
    pub fn target_tokens(&self) -> i64 {
        self.target_tokens
    }

    /// Kept free for the model's answer.
    pub fn output_reserve(&self) -> i64 {
        self.output_reserve
    }

    /// Tokens kept free per kind.
    pub fn reserved_slots(&self) -> &HashMap<ContextKind, i64> {
        &self.reserved_slots
    }

    /// By how much the rest is shrunk, in percent.
    pub fn estimation_safety_margin_percent(&self) -> f64 {
        self.estimation_safety_margin_percent
    }

    /// Output reserve and reserved slots together.
    #[must_use]
    pub fn total_reserved(&self) -> i64 {
        clamp_to_i64(i128::from(self.output_reserve) + self.reserved_slot_tokens())
    }

    /// Tokens of `max_tokens` that are not reserved; may be negative.
    #[must_use]
    pub fn unreserved_capacity(&self) -> i64 {
        let reserved = i128::from(self.output_reserve) + self.reserved_slot_tokens();
        clamp_to_i64(i128::from(self.max_tokens) - reserved)
    }

    /// Returns true if anything is left after all that is reserved.
    #[must_use]
    pub fn has_capacity(&self) -> bool {
        self.unreserved_capacity() > 0
    }

    /// Sum of the reserved slots.
    pub(crate) fn reserved_slot_tokens(&self) -> i128 {
        self.reserved_slots.values().copied().sum::<TokenSum>().0
    }

    /// The same budget with `slack` tokens less, never below 0.
    pub(crate) fn reduced_by(&self, slack: i64) -> Self {
        let max_tokens = self.max_tokens.saturating_sub(slack).max(0);
        Self {
            max_tokens,
            target_tokens: self.target_tokens.saturating_sub(slack).max(0),
            output_reserve: self.output_reserve.min(max_tokens),
            ..self.clone()
        }
    }
}

/// Builds a [`ContextBudget`]; made by [`ContextBudget::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ContextBudgetBuilder {
    max_tokens: i64,
    target_tokens: Option<i64>,
    output_reserve: i64,
    reserved_slots: HashMap<ContextKind, i64>,
    margin_percent: f64,
}

impl ContextBudgetBuilder {
    /// Sets the tokens that the selection aims for.
    pub fn target_tokens(mut self, tokens: i64) -> Self {
        self.target_tokens = Some(tokens);
        self
    }

    /// Keeps tokens free for the model's answer.
    pub fn output_reserve(mut self, tokens: i64) -> Self {
        self.output_reserve = tokens;
        self
    }

    /// Keeps tokens free for content of one kind that you add yourself.
    pub fn reserve(mut self, kind: ContextKind, tokens: i64) -> Self {
        self.reserved_slots.insert(kind, tokens);
        self
    }

    /// Shrinks what is left, for token counts that are estimates.
    pub fn estimation_safety_margin_percent(mut self, percent: f64) -> Self {
        self.margin_percent = percent;
        self
    }

    /// Finishes the budget.
    ///
    /// # Errors
    ///
    /// As [`ContextBudget::new`].
    pub fn build(self) -> Result<ContextBudget, CupelError> {
        let default_target = self.max_tokens.saturating_sub(self.output_reserve).max(0);
        ContextBudget::new(
            self.max_tokens,
            // A negative maximum must be reported as such, not as a target above it.
            self.target_tokens.unwrap_or(default_target),
            self.output_reserve,
            self.reserved_slots,
            self.margin_percent,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(max: i64, target: i64, reserve: i64, margin: f64) -> Result<ContextBudget, CupelError> {
        ContextBudget::new(max, target, reserve, HashMap::new(), margin)
    }

    #[track_caller]
    fn assert_refused(budget: Result<ContextBudget, CupelError>, text: &str) {
        assert_eq!(budget.unwrap_err(), CupelError::InvalidBudget(text.into()));
    }

    #[test]
    fn negative_counts_are_refused_by_name() {
        assert_refused(new(-1, 0, 0, 0.0), "max_tokens `-1` must not be negative");
        assert_refused(new(1, -2, 0, 0.0), "target_tokens `-2` must not be negative");
        assert_refused(new(1, 0, -3, 0.0), "output_reserve `-3` must not be negative");
        assert_refused(ContextBudget::builder(-4).build(), "max_tokens `-4` must not be negative");
    }

    #[test]
    fn target_and_reserve_must_not_exceed_max() {
        assert_refused(new(10, 11, 0, 0.0), "target_tokens `11` must not exceed max_tokens `10`");
        assert_refused(new(10, 5, 11, 0.0), "output_reserve `11` must not exceed max_tokens `10`");
        assert!(new(10, 10, 10, 0.0).is_ok());
    }

    #[test]
    fn margin_must_be_a_percentage() {
        for margin in [-0.1, 100.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_refused(
                new(10, 5, 0, margin),
                &format!("estimation_safety_margin_percent `{margin}` must be within 0 and 100"),
            );
        }
        assert!(new(10, 5, 0, 0.0).is_ok() && new(10, 5, 0, 100.0).is_ok());
    }

    #[test]
    fn negative_slots_are_refused_first_by_name() {
        let slots = ["b", "a", "c"].map(|k| (ContextKind::new(k).unwrap(), -1)).into();
        assert_refused(
            ContextBudget::new(10, 5, 0, slots, 0.0),
            "reserved_slots.a `-1` must not be negative",
        );
    }

    #[test]
    fn zero_max_is_a_valid_budget_without_capacity() {
        let budget = new(0, 0, 0, 0.0).unwrap();
        assert!(!budget.has_capacity());
    }

    #[test]
    fn reservations_add_up_without_wrapping() {
        let slots = ["a", "b"].map(|k| (ContextKind::new(k).unwrap(), i64::MAX)).into();
        let budget = ContextBudget::new(10, 5, 1, slots, 0.0).unwrap();
        assert_eq!(budget.total_reserved(), i64::MAX);
        assert_eq!(budget.unreserved_capacity(), i64::MIN);
        assert!(!budget.has_capacity());
    }

    #[test]
    fn builder_aims_for_all_but_the_reserve() {
        let budget = ContextBudget::builder(100).output_reserve(30).build().unwrap();
        assert_eq!((budget.max_tokens(), budget.target_tokens()), (100, 70));
        let kind = ContextKind::memory();
        let budget = ContextBudget::builder(100)
            .target_tokens(50)
            .reserve(kind.clone(), 7)
            .estimation_safety_margin_percent(10.0)
            .build()
            .unwrap();
        assert_eq!(budget, ContextBudget::new(100, 50, 0, [(kind, 7)].into(), 10.0).unwrap());
    }

    #[test]
    fn reducing_lowers_max_target_and_where_it_must_the_reserve() {
        let budget = new(100, 60, 50, 5.0).unwrap();
        assert_eq!(budget.reduced_by(70), new(30, 0, 30, 5.0).unwrap());
        assert_eq!(budget.reduced_by(500), new(0, 0, 0, 5.0).unwrap());
    }
}
