//! The windows of many budgets.

use cupel::PlacedItem;
use serde::{Deserialize, Serialize};

use crate::prepare::{Chosen, chosen, positions};
use crate::progress::Watch;
use crate::{EngineError, Prepared, Schema, Work};

/// The windows of many budgets, from one ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Windows {
    /// `cupel/1`.
    pub schema: Schema,
    /// True if token counts are estimates.
    #[serde(default)]
    pub is_estimate: bool,
    /// Tokens of the request.
    pub total_tokens: i64,
    /// One for each budget that was asked for, in that order.
    pub windows: Vec<Window>,
}

/// Window of a budget, with nothing set aside but the margin for estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Window {
    /// The budget.
    pub budget: i64,
    /// True if the messages that must be kept fit.
    pub fits: bool,
    /// Tokens of the window.
    pub tokens: i64,
    /// The positions of the candidates that stay, in placed order.
    pub kept: Vec<usize>,
    /// The indices of the messages that stay, in the order written.
    pub kept_messages: Vec<usize>,
    /// Those of the positions whose candidate is shorter than it was, with the name of the form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ShortenedPosition>,
    /// The messages that are not what they were, as JSON, by their indices.
    #[serde(skip)]
    pub rewritten: Vec<(usize, String)>,
}

/// A candidate of a window that is shorter than it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShortenedPosition {
    /// Its position.
    pub position: usize,
    /// Name of the form.
    pub name: String,
    /// Tokens of the form.
    pub tokens: i64,
}

impl Prepared {
    /// The windows of many budgets, from one ranking, each with nothing set aside.
    ///
    /// # Errors
    ///
    /// If the policy refuses to go on. A budget that is too small is an answer, not an error.
    pub fn windows(&self, budgets: &[i64]) -> Result<Windows, EngineError> {
        let ranking = self.pipeline().rank(self.items()).map_err(|error| self.failed(error))?;
        let watch = Watch::begin(self.settings().progress.as_ref(), Work::Budgets, budgets.len());
        let window = |budget: &i64| {
            let window = self.fitting_window(&ranking, *budget)?;
            watch.advance(1);
            Ok(self.as_window(*budget, window.as_deref()))
        };
        let windows = budgets.iter().map(window).collect::<Result<_, EngineError>>()?;
        Ok(Windows {
            schema: Schema,
            is_estimate: self.candidates().is_estimate(),
            total_tokens: self.candidates().total_tokens(),
            windows,
        })
    }

    /// The window that [`select`](Self::select) would write, without its text and its report.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or the policy refuses to go on. That what must be kept does
    /// not fit is an answer, not an error.
    pub fn window(&self) -> Result<Window, EngineError> {
        let budget = self.budget()?;
        let window = self.fitting_items(budget)?;
        Ok(self.as_window(budget.max_tokens(), window.as_deref()))
    }

    /// Window of a budget, by its choice.
    fn as_window(&self, budget: i64, window: Option<&[PlacedItem]>) -> Window {
        let chosen = chosen(window.unwrap_or_default());
        let kept = positions(&chosen);
        Window {
            budget,
            fits: window.is_some(),
            tokens: self.tokens_at(&chosen),
            kept_messages: self.candidates().kept_messages(&kept),
            shortened: self.shortened_positions(&chosen),
            rewritten: self.candidates().rewritten(&chosen),
            kept,
        }
    }

    /// Those of these candidates that are shorter than they were.
    pub(crate) fn shortened_positions(&self, kept: &[Chosen]) -> Vec<ShortenedPosition> {
        let shortened = kept.iter().filter_map(|(position, rendering)| {
            let form = self.items()[*position].renderings().get((*rendering)?)?;
            let (name, tokens) = (form.name().to_owned(), form.tokens());
            Some(ShortenedPosition { position: *position, name, tokens })
        });
        shortened.collect()
    }
}
