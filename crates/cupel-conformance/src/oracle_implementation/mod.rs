//! The oracle as an implementation that can be judged, and that judges vectors in turn.
//!
//! The oracle itself accepts anything; the rules of construction are checked here, before it.

mod build;
mod scorer;
mod slicer;

use crate::implementation::{Implementation, Refusal};
use crate::oracle::{
    self, Error, Excluded, Exclusion, Inclusion, Limits, Report as OracleReport, Scored, Stage,
};
use crate::protocol::{
    Decision, Diff, ErrorAnswer, MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask,
    OverflowEvent, PipelineAnswer, PipelineTask, PlacingAnswer, PlacingTask, Reason, Report,
    ScoringAnswer, ScoringTask, SensitivityAnswer, SensitivityTask, Shortfall, SlicingAnswer,
    SlicingTask, StageCount, Status, VariantReport,
};

/// The naive oracle.
#[derive(Debug, Clone, Copy, Default)]
pub struct OracleImplementation;

impl Implementation for OracleImplementation {
    fn score(&mut self, task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        let scorer = scorer::scorer(&task.scorer)?;
        let items = build::items(&task.items)?;
        let all: Vec<&oracle::Item> = items.iter().collect();
        let score = |position| oracle::scorer::score(&scorer, position, &all);
        Ok(ScoringAnswer { scores: (0..all.len()).map(score).collect() })
    }

    fn slice(&mut self, task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        let slicer = slicer::slicer(&task.slicer)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let limits = Limits { max_tokens: budget.max_tokens, target_tokens: budget.target_tokens };
        let outcome = oracle::slicer::slice(&slicer, &items, &scored(&task.scores), limits)
            .map_err(|error| run_error(&error))?;
        Ok(SlicingAnswer {
            selected: outcome.selected,
            shortfalls: Some(outcome.shortfalls.iter().map(shortfall).collect()),
            cap_excluded: Some(outcome.capped.iter().map(|capped| capped.index).collect()),
        })
    }

    fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        let items = build::items(&task.items)?;
        let placer = build::placer(task.placer);
        Ok(PlacingAnswer { order: oracle::placer::place(placer, &items, &scored(&task.scores)) })
    }

    fn run(&mut self, task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        let policy = build::policy(&task.policy)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let run = oracle::run(&items, &budget, &policy).map_err(|error| run_error(&error))?;
        Ok(PipelineAnswer { output: run.output, report: Some(report(&run.report)) })
    }

    fn get_marginal_items(&mut self, task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        let policy = build::policy(&task.policy)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let marginal = oracle::get_marginal_items(&items, &budget, &policy, task.slack_tokens)
            .map_err(|error| run_error(&error))?;
        Ok(MarginalAnswer { marginal })
    }

    fn find_min_budget_for(&mut self, task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        let policy = build::policy(&task.policy)?;
        let items = build::items(&task.items)?;
        build::budget(&task.budget)?;
        // No item has the position after the last, which is how the oracle knows a foreign target.
        let target = task.target.unwrap_or(items.len());
        let min_budget = oracle::find_min_budget_for(&items, &policy, target, task.search_ceiling)
            .map_err(|error| run_error(&error))?;
        Ok(MinBudgetAnswer { min_budget })
    }

    fn policy_sensitivity(&mut self, task: &SensitivityTask) -> Result<SensitivityAnswer, Refusal> {
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let policies: Vec<(&str, oracle::Policy)> = task
            .variants
            .iter()
            .map(|variant| Ok((variant.label.as_str(), build::policy(&variant.policy)?)))
            .collect::<Result<_, ErrorAnswer>>()?;
        let variants: Vec<(&str, &oracle::Policy)> =
            policies.iter().map(|(label, policy)| (*label, policy)).collect();
        let outcome = oracle::policy_sensitivity(&items, &budget, &variants)
            .map_err(|error| sensitivity_error(&error))?;
        Ok(sensitivity(&outcome))
    }
}

fn scored(scores: &[f64]) -> Vec<Scored> {
    scores.iter().enumerate().map(|(index, &score)| Scored { index, score }).collect()
}

fn run_error(error: &Error) -> ErrorAnswer {
    let answer = |code: &str| ErrorAnswer::new(code, error.to_string());
    match error {
        Error::PinnedExceedsBudget { pinned_tokens, available } => answer("pinned_exceeds_budget")
            .with("pinned_tokens", *pinned_tokens)
            .with("available", *available),
        Error::Overflow { merged_tokens, target_tokens } => answer("overflow")
            .with("merged_tokens", *merged_tokens)
            .with("target_tokens", *target_tokens),
        Error::TableTooLarge { candidates, capacity, cells } => answer("table_too_large")
            .with("candidates", *candidates)
            .with("capacity", *capacity)
            .with("cells", *cells),
        Error::Slicer(_) => answer("slicer_config"),
        Error::NotMonotonic(_) => answer("pipeline_config"),
        Error::Argument(_) => answer("invalid_budget"),
    }
}

/// Too few variants are a matter of configuration.
fn sensitivity_error(error: &Error) -> ErrorAnswer {
    match error {
        Error::Argument(text) => ErrorAnswer::new("pipeline_config", text),
        error => run_error(error),
    }
}

fn sensitivity(outcome: &oracle::Sensitivity) -> SensitivityAnswer {
    let variants = outcome
        .variants
        .iter()
        .map(|(label, variant)| VariantReport { label: label.clone(), report: report(variant) });
    let diffs = outcome.diffs.iter().map(|diff| Diff {
        content: diff.content.clone(),
        statuses: diff
            .included
            .iter()
            .map(|(_, included)| if *included { Status::Included } else { Status::Excluded })
            .collect(),
    });
    SensitivityAnswer { variants: variants.collect(), diffs: diffs.collect() }
}

fn report(report: &OracleReport) -> Report {
    let included = report.included.iter().map(|item| Decision {
        index: item.index,
        score: item.score,
        reason: Reason::named(match item.reason {
            Inclusion::Scored => "Scored",
            Inclusion::Pinned => "Pinned",
            Inclusion::ZeroToken => "ZeroToken",
        }),
    });
    Report {
        included: Some(included.collect()),
        excluded: Some(report.excluded.iter().map(excluded).collect()),
        total_candidates: Some(report.total_candidates),
        total_tokens_considered: Some(report.total_tokens_considered),
        count_requirement_shortfalls: Some(report.shortfalls.iter().map(shortfall).collect()),
        overflow: report.overflow.as_ref().map(|event| OverflowEvent {
            tokens_over_budget: event.tokens_over_budget,
            overflowing_items: event.items.clone(),
        }),
        stages: Some(report.stages.iter().map(stage_count).collect()),
    }
}

fn excluded(item: &Excluded) -> Decision {
    let reason = match &item.reason {
        Exclusion::NegativeTokens { tokens } => {
            Reason::named("NegativeTokens").with("tokens", *tokens)
        }
        Exclusion::Deduplicated { deduplicated_against } => Reason::named("Deduplicated")
            .with("deduplicated_against", deduplicated_against.as_str()),
        Exclusion::BudgetExceeded { item_tokens, available_tokens } => {
            Reason::named("BudgetExceeded")
                .with("item_tokens", *item_tokens)
                .with("available_tokens", *available_tokens)
        }
        Exclusion::PinnedOverride { displaced_by } => {
            Reason::named("PinnedOverride").with("displaced_by", displaced_by.as_str())
        }
        Exclusion::CountCapExceeded { kind, cap, count } => Reason::named("CountCapExceeded")
            .with("kind", kind.as_str())
            .with("cap", *cap)
            .with("count", *count),
    };
    Decision { index: item.index, score: item.score, reason }
}

fn shortfall(shortfall: &oracle::Shortfall) -> Shortfall {
    Shortfall {
        kind: shortfall.kind.clone(),
        required_count: shortfall.required_count,
        satisfied_count: shortfall.satisfied_count,
    }
}

fn stage_count(count: &oracle::StageCount) -> StageCount {
    let stage = match count.stage {
        Stage::Classify => "Classify",
        Stage::Score => "Score",
        Stage::Deduplicate => "Deduplicate",
        Stage::Slice => "Slice",
        Stage::Place => "Place",
    };
    StageCount {
        stage: stage.to_owned(),
        item_count_in: count.count_in,
        item_count_out: count.count_out,
    }
}
