//! The situation that a file describes, by stage.

use super::fields::Fields;
use super::{Expected, ExpectedError, VectorError, expected, item, strategy};
use crate::protocol::{
    Budget, Item, MarginalTask, MinBudgetTask, PipelineTask, PlacingTask, Policy, ScoringTask,
    SensitivityTask, SlicingTask, Task, Variant,
};

/// Reads what is expected, unless that is an error.
type Expect = fn(&mut Fields) -> Result<Expected, VectorError>;

/// The situation, and what is expected of it unless that is an error.
pub(super) fn task(
    root: &mut Fields,
    test: &mut Fields,
    error: Option<ExpectedError>,
) -> Result<(Task, Expected), VectorError> {
    let stage = test.text(&["stage"])?.ok_or_else(|| test.missing("stage"))?;
    let (task, expect): (Task, Expect) = match stage.as_str() {
        "scoring" => return scoring(root, test, error),
        "slicing" => (slicing(root, test)?, expected::slicing),
        "placing" => (placing(root, test)?, expected::placing),
        "pipeline" => return pipeline(root, error),
        "get_marginal_items" => (marginal(root)?, expected::marginal),
        "find_min_budget_for" => (min_budget(root)?, expected::min_budget),
        "policy_sensitivity" => (sensitivity(root)?, expected::sensitivity),
        _ => return Err(test.error("stage", format_args!("has the unknown value `{stage}`"))),
    };
    let expected = error.map_or_else(|| expect(root), |error| Ok(Expected::Error(error)))?;
    Ok((task, expected))
}

/// `[config]`, which may be absent.
fn config(root: &mut Fields) -> Result<Fields, VectorError> {
    Ok(root.table(&["config"])?.unwrap_or_else(|| root.child("config", toml::Table::new())))
}

fn scoring(
    root: &mut Fields,
    test: &mut Fields,
    error: Option<ExpectedError>,
) -> Result<(Task, Expected), VectorError> {
    let name = test.text(&["scorer"])?.ok_or_else(|| test.missing("scorer"))?;
    let mut config = config(root)?;
    let scorer = strategy::scorer(&name, &mut config)?;
    config.finish();
    let items = item::items(root)?;
    let expected = match error {
        Some(error) => Expected::Error(error),
        None => expected::scores(root, &items)?,
    };
    Ok((Task::Scoring(ScoringTask { scorer, items }), expected))
}

fn slicing(root: &mut Fields, test: &mut Fields) -> Result<Task, VectorError> {
    let name = test.text(&["slicer"])?.ok_or_else(|| test.missing("slicer"))?;
    let mut config = config(root)?;
    let slicer = strategy::slicer(&name, &mut config)?;
    config.finish();
    let budget = item::slicing_budget(root)?;
    let (items, scores) = item::scored_items(root)?;
    Ok(Task::Slicing(SlicingTask { slicer, items, scores, budget }))
}

fn placing(root: &mut Fields, test: &mut Fields) -> Result<Task, VectorError> {
    let placer = strategy::placer(test)?;
    let (items, scores) = item::scored_items(root)?;
    Ok(Task::Placing(PlacingTask { placer, items, scores }))
}

fn policy(root: &mut Fields) -> Result<Policy, VectorError> {
    let mut config = config(root)?;
    let policy = strategy::policy(&mut config)?;
    config.finish();
    Ok(policy)
}

fn pipeline(
    root: &mut Fields,
    error: Option<ExpectedError>,
) -> Result<(Task, Expected), VectorError> {
    let policy = policy(root)?;
    let budget = item::budget(root)?;
    let items = item::items(root)?;
    let expected = match error {
        Some(error) => Expected::Error(error),
        None => expected::pipeline(root)?,
    };
    let report = matches!(expected, Expected::Pipeline { diagnostics: Some(_), .. });
    Ok((Task::Pipeline(PipelineTask { policy, items, budget, report }), expected))
}

fn simulation(root: &mut Fields) -> Result<Fields, VectorError> {
    root.table(&["simulation"])?.ok_or_else(|| root.missing("simulation"))
}

fn marginal(root: &mut Fields) -> Result<Task, VectorError> {
    let policy = policy(root)?;
    let budget = item::budget(root)?;
    let items = item::items(root)?;
    let mut fields = simulation(root)?;
    let slack_tokens =
        fields.integer("slack_tokens")?.ok_or_else(|| fields.missing("slack_tokens"))?;
    fields.finish();
    Ok(Task::GetMarginalItems(MarginalTask { policy, items, budget, slack_tokens }))
}

fn min_budget(root: &mut Fields) -> Result<Task, VectorError> {
    let policy = policy(root)?;
    let items = item::items(root)?;
    let mut fields = simulation(root)?;
    let search_ceiling =
        fields.integer("search_ceiling")?.ok_or_else(|| fields.missing("search_ceiling"))?;
    let budget = match root.table(&["budget"])? {
        Some(budget) => item::budget_table(budget)?,
        None => Budget::of(search_ceiling.max(0)),
    };
    let foreign_target = match fields.table(&["foreign_target"])? {
        Some(mut foreign) => {
            let item = item::item(&mut foreign)?;
            foreign.finish();
            Some(Box::new(item))
        }
        None => None,
    };
    let target = match foreign_target {
        Some(_) => None,
        None => Some(target(&mut fields, &items)?),
    };
    fields.finish();
    let task = MinBudgetTask { policy, items, budget, target, foreign_target, search_ceiling };
    Ok(Task::FindMinBudgetFor(task))
}

fn target(fields: &mut Fields, items: &[Item]) -> Result<usize, VectorError> {
    if let Some(index) = fields.count("target_index")? {
        let exists = index < items.len();
        return exists
            .then_some(index)
            .ok_or_else(|| fields.error("target_index", "names no item"));
    }
    let content = fields.text(&["target"])?.ok_or_else(|| fields.missing("target"))?;
    let position = items.iter().position(|item| item.content == content);
    position.ok_or_else(|| fields.error("target", "names no item"))
}

fn sensitivity(root: &mut Fields) -> Result<Task, VectorError> {
    let budget = item::budget(root)?;
    let items = item::items(root)?;
    let mut variants = Vec::new();
    for mut variant in root.tables(&["variants"])?.unwrap_or_default() {
        let label = variant.text(&["label"])?.ok_or_else(|| variant.missing("label"))?;
        variants.push(Variant { label, policy: strategy::policy(&mut variant)? });
        variant.finish();
    }
    Ok(Task::PolicySensitivity(SensitivityTask { items, budget, variants }))
}
