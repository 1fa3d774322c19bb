//! Figures by set, method and budget.

use serde::Serialize;

use super::cost::{Cost, Sent};
use super::evaluate::{AgentEvaluation, JudgedWindow};
use super::judge::StepMeasures;
use crate::budgets::Budgets;
use crate::summary::Mean;

/// Quality of a method at a budget, over the steps of all runs of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AgentRow {
    /// The set.
    pub set: String,
    /// The method.
    pub method: String,
    /// The budget: tokens beyond the head of a run.
    pub budget_tokens: i64,
    /// Number of runs.
    pub runs: usize,
    /// Number of steps.
    pub steps: usize,
    /// Steps at which nothing fits; they have no other figure.
    pub unfit: usize,
    /// Share of the values, or evidence messages, that the window still has: the mean over the
    /// steps that have such and a window.
    pub coverage: Option<Mean>,
    /// Windows that a provider refuses.
    pub invalid: usize,
    /// Windows without the newest message.
    pub stale: usize,
    /// Windows above the budget by more than 2 %.
    pub over: usize,
    /// Tokens behind the common beginning with the window before, summed up.
    pub uncached_tokens: i64,
    /// The same if everything were sent.
    pub everything_tokens: i64,
    /// All tokens of the windows, cached or not, summed up.
    pub sent_tokens: i64,
    /// Costs by each of [`PriceRule::USUAL`](crate::PriceRule::USUAL). Steps at which
    /// nothing fits cost nothing.
    pub costs: Vec<Cost>,
}

/// Figures by set, method and budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AgentSummary {
    /// Number of runs.
    pub runs: usize,
    /// Number of steps.
    pub steps: usize,
    /// The budgets, rising.
    pub budgets: Budgets,
    /// The methods, in the order in which they were given.
    pub methods: Vec<String>,
    /// By set in the order of the data, then by method, then by budget.
    pub rows: Vec<AgentRow>,
}

/// Sums an evaluation up.
pub fn summarize_agents(evaluation: &AgentEvaluation<'_>) -> AgentSummary {
    let data = evaluation.data();
    AgentSummary {
        runs: data.runs().len(),
        steps: data.step_count(),
        budgets: evaluation.budgets().clone(),
        methods: evaluation.methods().to_vec(),
        rows: data.sets().into_iter().flat_map(|set| rows(evaluation, set)).collect(),
    }
}

/// The positions of the runs of a set.
pub(super) fn runs_of(evaluation: &AgentEvaluation<'_>, set: &str) -> Vec<usize> {
    let runs = evaluation.data().runs().iter().enumerate();
    runs.filter(|(_, run)| run.set() == set).map(|(at, _)| at).collect()
}

fn rows(evaluation: &AgentEvaluation<'_>, set: &str) -> Vec<AgentRow> {
    let runs = runs_of(evaluation, set);
    let everything = Sent {
        tokens: runs.iter().map(|run| evaluation.everything_sent_tokens(*run)).sum(),
        uncached: runs.iter().map(|run| evaluation.everything_tokens(*run)).sum(),
    };
    let mut rows = Vec::new();
    for (method, name) in evaluation.methods().iter().enumerate() {
        for (budget, budget_tokens) in evaluation.budgets().tokens().iter().enumerate() {
            let steps = runs.iter().flat_map(|run| evaluation.windows(method, *run));
            let steps: Vec<Option<&JudgedWindow>> =
                steps.map(|windows| windows[budget].as_ref()).collect();
            let measures: Vec<StepMeasures> =
                steps.iter().flatten().map(|judged| judged.measures).collect();
            let count = |holds: fn(&StepMeasures) -> bool| {
                measures.iter().filter(|measures| holds(measures)).count()
            };
            let sent = Sent {
                tokens: measures.iter().map(|measures| measures.tokens).sum(),
                uncached: measures.iter().map(|measures| measures.uncached_tokens).sum(),
            };
            let coverage: Vec<f64> = measures.iter().filter_map(|m| m.coverage).collect();
            rows.push(AgentRow {
                set: set.to_owned(),
                method: name.clone(),
                budget_tokens: *budget_tokens,
                runs: runs.len(),
                steps: steps.len(),
                unfit: steps.len() - measures.len(),
                coverage: Mean::of(&coverage),
                invalid: count(|measures| measures.is_invalid),
                stale: count(|measures| measures.is_stale),
                over: count(|measures| measures.is_over),
                uncached_tokens: sent.uncached,
                everything_tokens: everything.uncached,
                sent_tokens: sent.tokens,
                costs: sent.costs(everything),
            });
        }
    }
    rows
}
