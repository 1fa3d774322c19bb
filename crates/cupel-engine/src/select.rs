//! The best request that fits.

use cupel::{ContextBudget, IncludedItem, SelectionReport};
use serde::{Deserialize, Serialize};

use crate::explain::{plain_room, slots, window};
use crate::prepare::{Chosen, positions};
use crate::{
    EngineError, FittedTool, Outdated, Prepared, RepairDone, Schema, ShortenedText, UnusedRendering,
};

/// The best request that fits, and in short what became of it.
///
/// As JSON it has everything but the text and the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Selection {
    /// `cupel/1`.
    pub schema: Schema,
    /// Sizes before and after, and what they were measured with.
    pub summary: Summary,
    /// The indices of the messages that stay, in the request's own list, in the order written.
    pub kept_messages: Vec<usize>,
    /// Texts in the window that are shorter than they were, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ShortenedText>,
    /// Fate of each tool, in the order of the request; empty where all are as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<FittedTool>,
    /// Shorter forms that were given and are of no use, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_renderings: Vec<UnusedRendering>,
    /// Repairs before the selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairDone>,
    /// Messages that did not compete, since something newer makes them superfluous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Outdated>,
    /// The messages that are not what they were, as JSON, by their indices: for whoever has messages
    /// as objects of their own.
    #[serde(skip)]
    pub rewritten: Vec<(usize, String)>,
    /// The request without what was left out; every message that stays is its original text, but for
    /// what is listed as shortened.
    #[serde(skip)]
    pub text: String,
    /// The report of the specification.
    #[serde(skip)]
    pub report: SelectionReport,
}

/// Sizes before and after, and what they were measured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Summary {
    /// The format of the request, as in `openai-chat`.
    pub format: String,
    /// The policy that chose.
    pub policy: String,
    /// The model that the counts are for, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// True if token counts are estimates.
    pub is_estimate: bool,
    /// The family of tokenizers that counts are estimated like, as in `claude`; `unknown` where the
    /// name of the model speaks of none. Absent where counts are exact or the caller chose a
    /// tokenizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_like: Option<String>,
    /// Budget of the window.
    pub budget: BudgetSummary,
    /// Number of messages before the selection.
    pub messages_before: usize,
    /// Number of messages that stay.
    pub messages_after: usize,
    /// Tokens of the request before the selection.
    pub tokens_before: i64,
    /// Tokens of the window.
    pub tokens_after: i64,
}

impl Summary {
    /// Returns true if all of the request fits.
    #[must_use]
    pub fn fits_whole(&self) -> bool {
        self.tokens_before <= self.budget.target_tokens
    }
}

/// Budget of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BudgetSummary {
    /// The window in tokens.
    pub max_tokens: i64,
    /// Tokens that the selection aims for.
    pub target_tokens: i64,
    /// Tokens that are kept free for the answer.
    pub output_reserve: i64,
    /// By how much the room for what competes is reduced because counts may be off, in percent.
    pub margin_percent: f64,
    /// The part of the window that stays free because of that, in percent of all that is not reserved.
    #[serde(default)]
    pub kept_free_percent: f64,
}

impl BudgetSummary {
    /// A budget of which what is pinned takes so much.
    pub(crate) fn of(budget: &ContextBudget, pinned: i64) -> Self {
        let window = window(budget);
        let competing = window.saturating_sub(pinned).saturating_sub(slots(budget)).max(0);
        let room = plain_room(pinned, budget).saturating_sub(pinned);
        let free = competing.saturating_sub(room) as f64 * 100.0 / window.max(1) as f64;
        Self {
            kept_free_percent: (free * 10.0).round() / 10.0,
            max_tokens: budget.max_tokens(),
            target_tokens: budget.target_tokens(),
            output_reserve: budget.output_reserve(),
            margin_percent: budget.estimation_safety_margin_percent(),
        }
    }
}

/// Items that a report includes.
pub(crate) fn of_report(report: &SelectionReport) -> Vec<Chosen> {
    let chosen = |included: &IncludedItem| Some((included.position?, included.rendering));
    report.included.iter().filter_map(chosen).collect()
}

impl Prepared {
    /// The best request that fits.
    ///
    /// # Errors
    ///
    /// If nothing says how much fits, or what must be kept does not fit.
    pub fn select(&self) -> Result<Selection, EngineError> {
        let report = self.report()?;
        let kept = of_report(&report);
        Ok(Selection {
            schema: Schema,
            summary: self.summary(&kept)?,
            kept_messages: self.candidates().kept_messages(&positions(&kept)),
            shortened: self.shortened(&kept),
            tools: self.read.tools.clone(),
            unused_renderings: self.read.unused.clone(),
            repairs: self.read.repairs.clone(),
            superseded: self.read.superseded.clone(),
            rewritten: self.candidates().rewritten(&kept),
            text: self.candidates().render_forms(&kept),
            report,
        })
    }

    /// Sizes before and after keeping these candidates.
    pub(crate) fn summary(&self, kept: &[Chosen]) -> Result<Summary, EngineError> {
        Ok(Summary {
            format: self.request().format().name().to_owned(),
            policy: self.settings().policy.name().to_owned(),
            model: self.model().map(|model| model.name.to_owned()),
            tokenizer: self.tokenizer().to_owned(),
            is_estimate: self.candidates().is_estimate(),
            estimated_like: self.read.like.map(|family| family.name().to_owned()),
            budget: BudgetSummary::of(self.budget()?, self.pinned_tokens()),
            messages_before: self.request().message_count(),
            messages_after: self.candidates().message_count_of(&positions(kept)),
            tokens_before: self.read.whole_tokens,
            tokens_after: self.tokens_at(kept),
        })
    }

    /// The tokens of these candidates together.
    pub(crate) fn tokens_at(&self, kept: &[Chosen]) -> i64 {
        kept.iter().fold(0, |sum, chosen| sum.saturating_add(self.tokens_as(*chosen)))
    }

    /// The tokens of a candidate in one of its forms.
    pub(crate) fn tokens_as(&self, (position, rendering): Chosen) -> i64 {
        let item = &self.items()[position];
        let form = rendering.and_then(|rendering| item.renderings().get(rendering));
        form.map_or_else(|| item.tokens(), cupel::Rendering::tokens)
    }
}
