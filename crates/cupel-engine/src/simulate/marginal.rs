//! Messages that the last tokens of a budget buy.

use cupel::{ContextBudget, CupelError};
use serde::{Deserialize, Serialize};

use crate::prepare::{Chosen, chosen};
use crate::{EngineError, ErrorCode, Part, Prepared, Schema};

/// Messages that the last tokens of a budget buy: in its window, but not in the smaller one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Marginal {
    /// `cupel/1`.
    pub schema: Schema,
    /// Difference between the two budgets.
    pub slack_tokens: i64,
    /// True if token counts are estimates.
    #[serde(default)]
    pub is_estimate: bool,
    /// Tokens of those messages.
    pub tokens: i64,
    /// Those messages, in placed order.
    pub parts: Vec<Part>,
}

impl Prepared {
    /// Messages that the last tokens of the budget buy.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidArgument`] if the slack is negative, and if one of the two budgets does
    /// not hold what must be kept.
    pub fn marginal(&self, slack_tokens: i64) -> Result<Marginal, EngineError> {
        if slack_tokens < 0 {
            let rule = format!("the slack must not be negative, got {slack_tokens}");
            return Err(EngineError::new(ErrorCode::InvalidArgument, rule));
        }
        let budget = self.budget()?;
        let kept = self.kept(budget)?;
        let mut had = vec![None; self.items().len()];
        for chosen in self.kept(&self.reduced(budget, slack_tokens)?)? {
            had[chosen.0] = Some(chosen);
        }
        // What is there anyway, but shorter, is bought too: the rest of it.
        let bought: Vec<Chosen> =
            kept.into_iter().filter(|chosen| had[chosen.0] != Some(*chosen)).collect();
        let before: Vec<Chosen> = bought.iter().filter_map(|chosen| had[chosen.0]).collect();
        Ok(Marginal {
            schema: Schema,
            slack_tokens,
            is_estimate: self.candidates().is_estimate(),
            tokens: self.tokens_at(&bought).saturating_sub(self.tokens_at(&before)),
            parts: bought.into_iter().map(|(at, _)| Part::of(self.candidates(), at)).collect(),
        })
    }

    /// The budget with a smaller window; what is set aside stays, as far as there is room for it.
    fn reduced(&self, budget: &ContextBudget, slack: i64) -> Result<ContextBudget, CupelError> {
        let less = |tokens: i64| tokens.saturating_sub(slack).max(0);
        let max = less(budget.max_tokens());
        let reserve = budget.output_reserve().min(max);
        let target = less(budget.target_tokens());
        let margin = self.scale().margin_percent(target.min(max - reserve));
        ContextBudget::new(max, target, reserve, budget.reserved_slots().clone(), margin)
    }

    /// Messages that a budget keeps, in placed order.
    pub(crate) fn kept(&self, budget: &ContextBudget) -> Result<Vec<Chosen>, EngineError> {
        let window = self.judged_for(budget, |judge| judge.window(self.items(), budget));
        Ok(chosen(&window.map_err(|error| self.failed(error))?))
    }
}
