//! Every name that leaves this crate: spans, their attributes and events, metrics.
//!
//! All of them begin with `cupel.`, but for [`ERROR_TYPE`], which OpenTelemetry defines. They are
//! not yet stable: the conventions for language models are still being written, and these names
//! may follow them. Refer to the constants rather than to the texts.

use cupel::PipelineStage;

/// The span of a whole run.
pub const PIPELINE: &str = "cupel.pipeline";
/// The span of the Classify stage.
pub const STAGE_CLASSIFY: &str = "cupel.stage.classify";
/// The span of the Score stage.
pub const STAGE_SCORE: &str = "cupel.stage.score";
/// The span of the Deduplicate stage.
pub const STAGE_DEDUPLICATE: &str = "cupel.stage.deduplicate";
/// The span of the Slice stage.
pub const STAGE_SLICE: &str = "cupel.stage.slice";
/// The span of the Place stage.
pub const STAGE_PLACE: &str = "cupel.stage.place";

/// On the root span: the budget's maximum, an integer.
pub const BUDGET_MAX_TOKENS: &str = "cupel.budget.max_tokens";
/// On the root span: the name of the verbosity.
pub const VERBOSITY: &str = "cupel.verbosity";

/// On a stage span: the name of the stage in lower case.
pub const STAGE_NAME: &str = "cupel.stage.name";
/// On a stage span: how many items entered it, an integer.
pub const STAGE_ITEM_COUNT_IN: &str = "cupel.stage.item_count_in";
/// On a stage span: how many items left it, an integer.
pub const STAGE_ITEM_COUNT_OUT: &str = "cupel.stage.item_count_out";
/// On a stage span that left items out: how many, an integer.
pub const EXCLUSION_COUNT: &str = "cupel.exclusion.count";

/// The event of an item that a stage left out.
pub const EXCLUSION: &str = "cupel.exclusion";
/// On [`EXCLUSION`] and on [`METRIC_EXCLUSIONS`]: the name of the reason.
pub const EXCLUSION_REASON: &str = "cupel.exclusion.reason";
/// On [`EXCLUSION`]: the kind of the item.
pub const EXCLUSION_ITEM_KIND: &str = "cupel.exclusion.item_kind";
/// On [`EXCLUSION`]: the tokens of the item, an integer.
pub const EXCLUSION_ITEM_TOKENS: &str = "cupel.exclusion.item_tokens";

/// The event of an item that is in the window, on the span of the Place stage.
pub const ITEM_INCLUDED: &str = "cupel.item.included";
/// On [`ITEM_INCLUDED`]: the kind of the item.
pub const ITEM_KIND: &str = "cupel.item.kind";
/// On [`ITEM_INCLUDED`]: the tokens of the item, an integer.
pub const ITEM_TOKENS: &str = "cupel.item.tokens";
/// On [`ITEM_INCLUDED`]: the score of the item, a float.
pub const ITEM_SCORE: &str = "cupel.item.score";

/// Counts runs; with [`ERROR_TYPE`], if they failed.
pub const METRIC_RUNS: &str = "cupel.runs";
/// Seconds that a run took; with [`ERROR_TYPE`], if it failed.
pub const METRIC_RUN_DURATION: &str = "cupel.run.duration";
/// Tokens of all candidates of a run.
pub const METRIC_TOKENS_IN: &str = "cupel.tokens.in";
/// Tokens of the window.
pub const METRIC_TOKENS_OUT: &str = "cupel.tokens.out";
/// Tokens of the window as a share of the budget's maximum.
pub const METRIC_BUDGET_UTILIZATION: &str = "cupel.budget.utilization";
/// Counts items that were left out, with [`EXCLUSION_REASON`].
pub const METRIC_EXCLUSIONS: &str = "cupel.exclusions";

/// On the metrics of a run that failed: the [code](cupel::CupelError::code) of the error.
pub const ERROR_TYPE: &str = "error.type";

/// The name of a stage's span; none for a stage that has no span.
pub(crate) fn stage_span(stage: PipelineStage) -> Option<&'static str> {
    match stage {
        PipelineStage::Classify => Some(STAGE_CLASSIFY),
        PipelineStage::Score => Some(STAGE_SCORE),
        PipelineStage::Deduplicate => Some(STAGE_DEDUPLICATE),
        PipelineStage::Slice => Some(STAGE_SLICE),
        PipelineStage::Place => Some(STAGE_PLACE),
        _ => None,
    }
}

/// The value of [`STAGE_NAME`] on a stage's span: its last part.
pub(crate) fn stage_name(span: &'static str) -> &'static str {
    span.rsplit('.').next().unwrap_or(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_stages_have_spans_and_an_unknown_one_has_none() {
        let stages = [
            (PipelineStage::Classify, "classify"),
            (PipelineStage::Score, "score"),
            (PipelineStage::Deduplicate, "deduplicate"),
            (PipelineStage::Slice, "slice"),
            (PipelineStage::Place, "place"),
        ];
        for (stage, name) in stages {
            let span = stage_span(stage).unwrap();
            assert_eq!(span, format!("cupel.stage.{name}"));
            assert_eq!(stage_name(span), name);
            assert_eq!(name, stage.name().to_ascii_lowercase());
        }
        assert_eq!(stage_span(PipelineStage::Unknown), None);
    }
}
