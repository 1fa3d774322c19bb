//! Windows of many budgets.

use cupel::Ranking;
use serde::{Deserialize, Serialize};

use crate::prepare::{chosen, least_pinned_tokens, positions};
use crate::progress::Watch;
use crate::{EngineError, ErrorCode, Prepared, Schema, Work};

/// Which budgets a curve is made of: evenly spread, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurveRange {
    /// The smallest budget; what is pinned if absent.
    pub from: Option<i64>,
    /// The largest budget; everything if absent.
    pub to: Option<i64>,
    /// Number of budgets, at least two.
    pub steps: u16,
}

impl CurveRange {
    /// So many budgets from what is pinned to everything.
    #[must_use]
    pub fn of_steps(steps: u16) -> Self {
        Self { from: None, to: None, steps }
    }

    /// Begins at this budget.
    #[must_use]
    pub fn from(mut self, tokens: Option<i64>) -> Self {
        self.from = tokens;
        self
    }

    /// Ends at this budget.
    #[must_use]
    pub fn to(mut self, tokens: Option<i64>) -> Self {
        self.to = tokens;
        self
    }
}

/// Figures of the windows of many budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Curve {
    /// `cupel/1`.
    pub schema: Schema,
    /// True if token counts are estimates.
    #[serde(default)]
    pub is_estimate: bool,
    /// Tokens of the request.
    pub total_tokens: i64,
    /// Number of candidates.
    pub total_items: usize,
    /// Number of messages.
    pub total_messages: usize,
    /// One for each budget, ascending.
    pub points: Vec<CurvePoint>,
}

/// Figures of one budget's window, with nothing set aside but the margin for estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CurvePoint {
    /// The budget.
    pub budget: i64,
    /// True if the messages that must be kept fit.
    pub fits: bool,
    /// Tokens of the window.
    pub tokens: i64,
    /// Number of candidates that are kept.
    pub items: usize,
    /// Number of messages that are kept.
    pub messages: usize,
    /// The share of all scores that is kept, from 0 to 1.
    pub score: f64,
    /// The positions of the candidates that the budget before keeps and this one does not: something
    /// larger took their place. Then the score may fall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displaced: Vec<usize>,
}

impl Prepared {
    /// Figures of the windows of many budgets.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidArgument`] if the range is empty, and whatever the policy refuses.
    pub fn curve(&self, range: CurveRange) -> Result<Curve, EngineError> {
        let budgets = self.spread(range)?;
        let ranking = self.pipeline().rank(self.items()).map_err(|error| self.failed(error))?;
        let all_scores = self.all_scores(&ranking);
        let watch = Watch::begin(self.settings().progress.as_ref(), Work::Budgets, budgets.len());
        let mut points = Vec::with_capacity(budgets.len());
        let mut before = Vec::new();
        for budget in budgets {
            let (point, kept) = self.point(&ranking, budget, all_scores, &before)?;
            points.push(point);
            before = kept;
            watch.advance(1);
        }
        Ok(Curve {
            schema: Schema,
            is_estimate: self.candidates().is_estimate(),
            total_tokens: self.candidates().total_tokens(),
            total_items: self.items().len(),
            total_messages: self.request().message_count(),
            points,
        })
    }

    /// Sum of the scores of all candidates; pinned ones score 1.
    fn all_scores(&self, ranking: &Ranking<'_, '_>) -> f64 {
        let scores = self.items().iter().zip(ranking.scores());
        scores.map(|(item, score)| if item.pinned() { 1.0 } else { score.unwrap_or(0.0) }).sum()
    }

    fn spread(&self, range: CurveRange) -> Result<Vec<i64>, EngineError> {
        let pinned = least_pinned_tokens(self.items());
        let from = range.from.unwrap_or(pinned);
        let all = self.budget_for(self.candidates().total_tokens());
        let to = range.to.unwrap_or(all.max(from));
        if from > to || range.steps < 2 {
            let rule = if from > to {
                format!("the smallest budget {from} must not exceed the largest {to}")
            } else {
                format!("a curve has at least 2 budgets, got {}", range.steps)
            };
            return Err(EngineError::new(ErrorCode::InvalidArgument, rule));
        }
        let last = i128::from(range.steps) - 1;
        let width = i128::from(to) - i128::from(from);
        let step = |at: i128| i128::from(from) + width * at / last;
        let mut budgets: Vec<i64> = (0..=last).map(|at| step(at) as i64).collect();
        budgets.dedup();
        Ok(budgets)
    }

    fn point(
        &self,
        ranking: &Ranking<'_, '_>,
        budget: i64,
        all_scores: f64,
        before: &[usize],
    ) -> Result<(CurvePoint, Vec<usize>), EngineError> {
        let window = self.fitting_window(ranking, budget)?;
        let fits = window.is_some();
        let window = window.unwrap_or_default();
        let chosen = chosen(&window);
        let kept = positions(&chosen);
        let mut is_kept = vec![false; self.items().len()];
        for at in &kept {
            is_kept[*at] = true;
        }
        let kept_scores = window.iter().fold(0.0, |sum, placed| sum + placed.score);
        let point = CurvePoint {
            budget,
            fits,
            tokens: self.tokens_at(&chosen),
            items: kept.len(),
            messages: self.candidates().message_count_of(&kept),
            score: if all_scores > 0.0 { kept_scores / all_scores } else { 0.0 },
            displaced: before.iter().filter(|at| !is_kept[**at]).copied().collect(),
        };
        Ok((point, kept))
    }
}
