//! Candidates that are no chat request.

use cupel::{ContextItem, CupelError, SelectionReport};
use cupel_relevance::Strategies;

use crate::explain::pinned as pinned_tokens;
use crate::limits::{self, Sources};
use crate::model::Named;
use crate::prepare::tokens_of;
use crate::select::BudgetSummary;
use crate::{Engine, EngineError, ErrorCode, Options};

/// The best of candidates that are no chat request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ItemSelection {
    /// The positions of what stays, in placed order.
    pub kept: Vec<usize>,
    /// Tokens of all candidates.
    pub tokens_before: i64,
    /// Tokens of those that stay.
    pub tokens_after: i64,
    /// Budget of the window.
    pub budget: BudgetSummary,
    /// The report of the specification.
    pub report: SelectionReport,
}

pub(crate) fn select(
    engine: &Engine,
    candidates: &[ContextItem],
    options: &Options,
) -> Result<ItemSelection, EngineError> {
    let settings = engine.settings();
    let given = options.model.as_deref().or(settings.model.as_deref());
    let sources = Sources {
        model: Named::new(given, None)?.model,
        policy: settings.policy.description().budget.as_ref(),
        ..Sources::default()
    };
    let budget = limits::decide(options.limits.or(settings.limits), sources)?.ok_or_else(|| {
        EngineError::new(ErrorCode::NoBudget, "how much fits?")
            .with_remedy("give the window in tokens, or a known model")
    })?;
    let query = options.query.as_deref().unwrap_or_default();
    let pipeline = engine.compiled().pipeline(&Strategies::new(query), candidates);
    let report = pipeline.dry_run(candidates, &budget).map_err(failed)?;
    let kept: Vec<usize> =
        report.included.iter().filter_map(|included| included.position).collect();
    Ok(ItemSelection {
        tokens_before: tokens_of(candidates),
        tokens_after: tokens_of(kept.iter().map(|at| &candidates[*at])),
        budget: BudgetSummary::of(&budget, pinned_tokens(candidates)),
        kept,
        report,
    })
}

fn failed(error: CupelError) -> EngineError {
    match error {
        CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
            EngineError::does_not_fit(pinned_tokens, available, Vec::new())
        }
        CupelError::Overflow { merged_tokens, target_tokens } => {
            EngineError::does_not_fit(merged_tokens, target_tokens, Vec::new())
        }
        error => error.into(),
    }
}
