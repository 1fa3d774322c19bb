//! A request in, the best request that fits out.

use cupel::{ContextBudget, CupelError, Pipeline, SelectionReport};
use cupel_tokens::TokenCounter;

use crate::{CandidateOptions, Candidates, Request, SelectError};

/// A request that fits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Selected {
    /// The request without what was left out; every message that stays is its original text.
    pub text: String,
    /// The positions of the candidates that stay, in placed order.
    pub kept: Vec<usize>,
    /// Why each candidate is in or out.
    pub report: SelectionReport,
    /// How many messages stay.
    pub message_count: usize,
    /// The tokens of what stays.
    pub tokens: i64,
    /// The tokens of the whole request.
    pub total_tokens: i64,
    /// Whether token counts are estimates.
    pub is_estimate: bool,
}

/// Selects what fits of a request.
///
/// # Errors
///
/// [`SelectError::Chat`] if the request is broken or a pin names nothing,
/// [`SelectError::PinnedDoNotFit`] if what is pinned is too much by itself, and
/// [`SelectError::Cupel`] for whatever else the pipeline refuses.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, Pipeline, Preset};
/// use cupel_chat::{CandidateOptions, Request, select};
/// use cupel_tokens::EstimateCounter;
///
/// let text = r#"[{"role": "user", "content": "A long story about ships and the sea."},
///                {"role": "assistant", "content": "Thank you, I liked it."},
///                {"role": "user", "content": "Why is the sky blue?"}]"#;
/// let request = Request::parse(text, None)?;
/// let pipeline = Pipeline::from(Preset::Chat.description().build()?);
/// let budget = ContextBudget::builder(24).build()?;
/// let selected = select(
///     &request,
///     &pipeline,
///     &budget,
///     &EstimateCounter::default(),
///     &CandidateOptions::default(),
/// )?;
/// assert!(selected.text.contains("sky") && !selected.text.contains("ships"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn select(
    request: &Request<'_>,
    pipeline: &Pipeline,
    budget: &ContextBudget,
    counter: &dyn TokenCounter,
    options: &CandidateOptions,
) -> Result<Selected, SelectError> {
    let candidates = request.candidates(counter, options)?;
    let report = pipeline
        .dry_run(candidates.items(), budget)
        .map_err(|error| SelectError::of(error, &candidates))?;
    let kept = candidates.positions(report.included.iter().map(|included| &included.item));
    let tokens = report.included.iter().map(|included| included.item.tokens());
    Ok(Selected {
        text: candidates.render(&kept),
        message_count: candidates.message_count_of(&kept),
        tokens: tokens.fold(0, i64::saturating_add),
        total_tokens: candidates.total_tokens(),
        is_estimate: candidates.is_estimate(),
        kept,
        report,
    })
}

impl SelectError {
    /// What a pipeline refused, in terms of the request that the candidates are of.
    pub fn of(error: CupelError, candidates: &Candidates<'_>) -> Self {
        match error {
            CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
                let mut parts: Vec<_> = candidates.pinned().into_iter().cloned().collect();
                parts.sort_by_key(|part| std::cmp::Reverse(part.tokens()));
                Self::PinnedDoNotFit { pinned_tokens, available, parts }
            }
            other => Self::Cupel(other),
        }
    }
}
