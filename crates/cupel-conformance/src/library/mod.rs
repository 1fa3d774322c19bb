//! The library, in process.
//!
//! Strategies are made by their own constructors, because vectors expect the errors of those.

mod build;
mod report;
mod strategy;

use cupel::{
    Candidate, ContextBudget, ContextItem, CupelError, ExclusionReason, Pipeline, Policy,
    ScoredItem, SliceRequest, Slicer, policy_sensitivity,
};

use crate::implementation::{Implementation, Refusal};
use crate::protocol::{
    Diff, ErrorAnswer, MarginalAnswer, MarginalTask, MinBudgetAnswer, MinBudgetTask,
    PipelineAnswer, PipelineTask, PlacingAnswer, PlacingTask, ScoringAnswer, ScoringTask,
    SensitivityAnswer, SensitivityTask, SlicingAnswer, SlicingTask, Status, VariantReport,
};
use report::Recorder;

pub use build::{budget, item};
pub use report::{report, stage_count};
pub use strategy::{placer, policy, scorer, slicer};

/// The library. Where it has two ways to do a thing, both are taken and must agree.
#[derive(Debug, Clone, Copy, Default)]
pub struct LibraryImplementation;

impl Implementation for LibraryImplementation {
    fn score(&mut self, task: &ScoringTask) -> Result<ScoringAnswer, Refusal> {
        let scorer = strategy::scorer(&task.scorer)?;
        let items = build::items(&task.items)?;
        let mut together = vec![f64::NAN; items.len()];
        scorer.score_all(&cupel::ItemList::new(&items), &mut together);
        let one_by_one: Vec<f64> = items.iter().map(|item| scorer.score(item, &items)).collect();
        if bits(&one_by_one) != bits(&together) {
            let text = format!("score and score_all disagree: {one_by_one:?} and {together:?}");
            return Err(Refusal::Broken(text));
        }
        Ok(ScoringAnswer { scores: together })
    }

    fn slice(&mut self, task: &SlicingTask) -> Result<SlicingAnswer, Refusal> {
        let slicer = strategy::slicer(&task.slicer)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let sorted = scored(&items, &task.scores);
        let candidates: Vec<Candidate<'_>> = sorted.iter().map(Candidate::from).collect();
        let selection = slicer.select(&SliceRequest::new(&candidates, &budget))?;
        let kept = slicer.slice(&sorted, &budget)?;
        agree("slice and select", &kept, &items, &selection.selected)?;
        let capped = selection.excluded.iter().filter(|(_, reason)| is_count_cap(reason));
        Ok(SlicingAnswer {
            selected: selection.selected,
            shortfalls: Some(selection.shortfalls.iter().map(report::shortfall).collect()),
            cap_excluded: Some(capped.map(|(index, _)| *index).collect()),
        })
    }

    fn place(&mut self, task: &PlacingTask) -> Result<PlacingAnswer, Refusal> {
        let placer = strategy::placer(task.placer);
        let items = build::items(&task.items)?;
        let scored = scored(&items, &task.scores);
        let candidates: Vec<Candidate<'_>> = scored.iter().map(Candidate::from).collect();
        let order = placer.arrange(&candidates)?;
        agree("place and arrange", &placer.place(&scored), &items, &order)?;
        Ok(PlacingAnswer { order })
    }

    fn run(&mut self, task: &PipelineTask) -> Result<PipelineAnswer, Refusal> {
        let pipeline = pipeline(&task.policy)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let mut recorder = Recorder::default();
        let traced = pipeline.run_traced(&items, &budget, &mut recorder);
        let plain = pipeline.run(&items, &budget);
        let output = match window(&pipeline, &items, &budget) {
            Ok(output) => output,
            Err(error) => {
                let errors = [plain.as_ref().err(), traced.as_ref().err()];
                let is_same = errors == [Some(&error); 2];
                let text = || format!("run and run_traced disagree: {errors:?} and {error}");
                return Err(if is_same { error.into() } else { Refusal::Broken(text()) });
            }
        };
        agree("run_traced and window", &traced?, &items, &output)?;
        agree("run and window", &plain?, &items, &output)?;
        Ok(PipelineAnswer { output, report: Some(recorder.report()) })
    }

    fn get_marginal_items(&mut self, task: &MarginalTask) -> Result<MarginalAnswer, Refusal> {
        let pipeline = pipeline(&task.policy)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let slack_tokens = argument("slack_tokens", task.slack_tokens)?;
        let mut found = pipeline.get_marginal_items(&items, &budget, slack_tokens)?.into_iter();
        // Marginal items are some of the window's, in its order.
        let mut next = found.next();
        let mut marginal = window(&pipeline, &items, &budget)?;
        marginal.retain(|position| {
            let is_next = next.as_ref().is_some_and(|item| item.is_same_item(&items[*position]));
            if is_next {
                next = found.next();
            }
            is_next
        });
        match next {
            None => Ok(MarginalAnswer { marginal }),
            Some(item) => Err(Refusal::Broken(format!("{item:?} is marginal, not in the window"))),
        }
    }

    fn find_min_budget_for(&mut self, task: &MinBudgetTask) -> Result<MinBudgetAnswer, Refusal> {
        let pipeline = pipeline(&task.policy)?;
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let foreign = task.foreign_target.as_deref().map(build::item).transpose()?;
        let target = foreign.as_ref().or_else(|| items.get(task.target?));
        let Some(target) = target else {
            return Err(Refusal::Broken("the vector's target does not exist".to_owned()));
        };
        let ceiling = argument("search_ceiling", task.search_ceiling)?;
        let min_budget = pipeline.find_min_budget_for(&items, &budget, target, ceiling)?;
        Ok(MinBudgetAnswer { min_budget: min_budget.map(i64::from) })
    }

    fn policy_sensitivity(&mut self, task: &SensitivityTask) -> Result<SensitivityAnswer, Refusal> {
        let items = build::items(&task.items)?;
        let budget = build::budget(&task.budget)?;
        let policies: Vec<(&str, Policy)> = task
            .variants
            .iter()
            .map(|variant| Ok((variant.label.as_str(), strategy::policy(&variant.policy)?)))
            .collect::<Result<_, CupelError>>()?;
        let variants: Vec<(&str, &Policy)> =
            policies.iter().map(|(label, policy)| (*label, policy)).collect();
        let outcome = policy_sensitivity(&items, &budget, &variants)?;
        let diffs = outcome.diffs.iter().map(|diff| Diff {
            content: diff.content.clone(),
            statuses: diff.statuses.iter().map(|(_, status)| self::status(*status)).collect(),
        });
        let variants = outcome.variants.iter().map(|(label, variant)| VariantReport {
            label: label.clone(),
            report: report::report(variant),
        });
        Ok(SensitivityAnswer { variants: variants.collect(), diffs: diffs.collect() })
    }
}

impl From<CupelError> for Refusal {
    fn from(error: CupelError) -> Self {
        Self::Error(error_answer(&error))
    }
}

/// An error of the library as an answer.
pub fn error_answer(error: &CupelError) -> ErrorAnswer {
    let answer = ErrorAnswer::new(error.code(), error.to_string());
    match error {
        CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
            answer.with("pinned_tokens", *pinned_tokens).with("available", *available)
        }
        CupelError::Overflow { merged_tokens, target_tokens } => {
            answer.with("merged_tokens", *merged_tokens).with("target_tokens", *target_tokens)
        }
        CupelError::TableTooLarge { candidates, capacity, cells } => {
            answer.with("candidates", *candidates).with("capacity", *capacity).with("cells", *cells)
        }
        _ => answer,
    }
}

fn pipeline(policy: &crate::protocol::Policy) -> Result<Pipeline, CupelError> {
    strategy::policy(policy).map(Pipeline::from)
}

fn scored(items: &[ContextItem], scores: &[f64]) -> Vec<ScoredItem> {
    let pairs = items.iter().zip(scores);
    pairs.map(|(item, &score)| ScoredItem { item: item.clone(), score }).collect()
}

fn is_count_cap(reason: &ExclusionReason) -> bool {
    matches!(reason, ExclusionReason::CountCapExceeded { .. })
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// The items that one way returns must be those at the positions that the other way returns.
fn agree(
    what: &str,
    returned: &[ContextItem],
    items: &[ContextItem],
    positions: &[usize],
) -> Result<(), Refusal> {
    let expected = positions.iter().map(|position| items.get(*position));
    let is_same = returned.len() == positions.len()
        && returned.iter().zip(expected).all(|(a, b)| b.is_some_and(|b| a.is_same_item(b)));
    if is_same {
        return Ok(());
    }
    let texts: Vec<&str> = returned.iter().map(ContextItem::content).collect();
    Err(Refusal::Broken(format!("{what} do not agree: {texts:?} and positions {positions:?}")))
}

fn window(
    pipeline: &Pipeline,
    items: &[ContextItem],
    budget: &ContextBudget,
) -> Result<Vec<usize>, CupelError> {
    let window = pipeline.window(items, budget)?;
    Ok(window.iter().map(|placed| placed.position).collect())
}

/// The library takes 32 bits where the protocol has 64.
fn argument(name: &str, value: i64) -> Result<i32, Refusal> {
    i32::try_from(value)
        .map_err(|_| Refusal::Unsupported(format!("the library has 32 bits for {name}")))
}

fn status(status: cupel::ItemStatus) -> Status {
    match status {
        cupel::ItemStatus::Included => Status::Included,
        cupel::ItemStatus::Excluded => Status::Excluded,
    }
}
