//! The windows of many budgets.

use serde::{Deserialize, Serialize};

use crate::prepare::positions;
use crate::progress::Watch;
use crate::{EngineError, Prepared, Schema, Work};

/// The windows of many budgets, from one ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Windows {
    /// `cupel/1`.
    pub schema: Schema,
    /// What the request costs.
    pub total_tokens: i64,
    /// One for each budget that was asked for, in that order.
    pub windows: Vec<Window>,
}

/// What a budget keeps, with nothing set aside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Window {
    /// The budget.
    pub budget: i64,
    /// Whether what must be kept fits.
    pub fits: bool,
    /// What is kept costs so much.
    pub tokens: i64,
    /// The positions of the candidates that stay, in placed order.
    pub kept: Vec<usize>,
    /// The indices of the messages that stay, in the order written.
    pub kept_messages: Vec<usize>,
}

impl Prepared {
    /// The windows of many budgets, from one ranking, each with nothing set aside.
    ///
    /// # Errors
    ///
    /// If the policy refuses to go on. A budget that is too small is an answer, not an error.
    pub fn windows(&self, budgets: &[i64]) -> Result<Windows, EngineError> {
        let ranking = self.pipeline.rank(self.items()).map_err(|error| self.failed(error))?;
        let watch = Watch::begin(self.settings().progress.as_ref(), Work::Budgets, budgets.len());
        let window = |budget: &i64| {
            let window = self.fitting_window(&ranking, *budget)?;
            let fits = window.is_some();
            let kept = positions(&window.unwrap_or_default());
            watch.advance(1);
            Ok(Window {
                budget: *budget,
                fits,
                tokens: self.tokens_at(&kept),
                kept_messages: self.candidates.kept_messages(&kept),
                kept,
            })
        };
        let windows = budgets.iter().map(window).collect::<Result<_, EngineError>>()?;
        Ok(Windows { schema: Schema, total_tokens: self.candidates.total_tokens(), windows })
    }
}
