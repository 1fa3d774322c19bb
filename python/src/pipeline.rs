//! The pipeline itself, over items.

use std::sync::Arc;

use cupel::{
    ContextBudget, ContextItem, CupelError, OverflowStrategy, PolicyBuilder, SelectionReport,
    StageTraceSnapshot, TraceCollector, TraceEvent, policy_sensitivity_from_pipelines,
};
use cupel_relevance::Strategies;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::model::{Budget, Item};
use crate::options::PolicyOf;
use crate::strategy::{Placer, Scorer, Slicer};
use crate::{errors, work};

/// Scores, slices and places items.
#[pyclass(frozen, module = "cupel_context._native")]
pub(crate) struct Pipeline {
    policy: Arc<Source>,
}

/// Where the pipeline comes from.
enum Source {
    Built(cupel::Pipeline),
    /// A policy as data, for any question.
    Described(cupel_engine::CompiledPolicy),
}

impl Source {
    /// The pipeline for a question. Time stands still at the newest item.
    fn pipeline(&self, query: &str, items: &[ContextItem]) -> cupel::Pipeline {
        match self {
            Self::Built(pipeline) => pipeline.clone(),
            Self::Described(policy) => policy.pipeline(&Strategies::new(query), items),
        }
    }
}

#[pymethods]
impl Pipeline {
    #[new]
    #[pyo3(signature = (scorer, slicer, placer, *, deduplication=true, overflow_strategy="throw"))]
    fn new(
        py: Python<'_>,
        scorer: PyRef<'_, Scorer>,
        slicer: PyRef<'_, Slicer>,
        placer: PyRef<'_, Placer>,
        deduplication: bool,
        overflow_strategy: &str,
    ) -> PyResult<Self> {
        let overflow_strategy = overflow(py, overflow_strategy)?;
        let policy = PolicyBuilder::new()
            .scorer(scorer.0.clone())
            .slicer(slicer.0.clone())
            .placer(placer.0.clone())
            .deduplication(deduplication)
            .overflow_strategy(overflow_strategy)
            .build()
            .map_err(|error| errors::of_library(py, &error))?;
        let source = Source::Built(cupel::Pipeline::from(policy));
        Ok(Self { policy: Arc::new(source) })
    }

    /// A pipeline from a policy as data: a name or what a file says.
    #[staticmethod]
    fn described(py: Python<'_>, policy: PolicyOf) -> PyResult<Self> {
        let compiled = policy.read(py)?.compile().map_err(|error| errors::of_engine(py, &error))?;
        Ok(Self { policy: Arc::new(Source::Described(compiled)) })
    }

    /// Runs all stages: the positions of the window, and the report as JSON.
    fn run(
        &self,
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        budget: PyRef<'_, Budget>,
        query: String,
    ) -> PyResult<(Vec<usize>, String)> {
        let budget = budget.0.clone();
        self.ask(py, &items, query, move |pipeline, items| {
            let mut recorder = Recorder::default();
            pipeline.run_traced(items, &budget, &mut recorder)?;
            let report = recorder.report.unwrap_or_default();
            let kept = report["included"].as_array().into_iter().flatten();
            let kept = kept.filter_map(|one| one["position"].as_u64().map(|at| at as usize));
            Ok((kept.collect(), report.to_string()))
        })
    }

    /// The positions that only the larger budget includes, in placed order.
    fn marginal(
        &self,
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        budget: PyRef<'_, Budget>,
        slack_tokens: i32,
        query: String,
    ) -> PyResult<Vec<usize>> {
        let budget = budget.0.clone();
        self.ask(py, &items, query, move |pipeline, items| {
            let marginal = pipeline.get_marginal_items(items, &budget, slack_tokens)?;
            let mut next = marginal.iter().peekable();
            let window = pipeline.window(items, &budget)?;
            let is_marginal =
                |at: &usize| next.next_if(|item| item.is_same_item(&items[*at])).is_some();
            Ok(window.iter().map(|placed| placed.position).filter(is_marginal).collect())
        })
    }

    /// The smallest budget whose window holds an item.
    fn min_budget(
        &self,
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        target: PyRef<'_, Item>,
        search_ceiling: i32,
        query: String,
    ) -> PyResult<Option<i32>> {
        let target = target.0.clone();
        self.ask(py, &items, query, move |pipeline, items| {
            let budget = ContextBudget::builder(0).build()?;
            pipeline.find_min_budget_for(items, &budget, &target, search_ceiling)
        })
    }

    /// Differences between several pipelines, as JSON.
    #[staticmethod]
    fn sensitivity(
        py: Python<'_>,
        items: Vec<PyRef<'_, Item>>,
        budget: PyRef<'_, Budget>,
        variants: Vec<(String, PyRef<'_, Self>)>,
        query: String,
    ) -> PyResult<String> {
        let budget = budget.0.clone();
        let items: Vec<ContextItem> = items.iter().map(|item| item.0.clone()).collect();
        let variants: Vec<(String, Arc<Source>)> =
            variants.into_iter().map(|(label, variant)| (label, variant.policy.clone())).collect();
        let told = work::run(py, true, move || {
            let pipelines: Vec<_> = variants
                .iter()
                .map(|(label, source)| (label, source.pipeline(&query, &items)))
                .collect();
            let pipelines: Vec<_> = pipelines.iter().map(|(label, one)| (label, one)).collect();
            let told = policy_sensitivity_from_pipelines(&items, &budget, &pipelines)?;
            let diffs: Vec<Value> = told
                .diffs
                .iter()
                .map(|diff| {
                    let statuses: Vec<String> =
                        diff.statuses.iter().map(|(_, status)| format!("{status:?}")).collect();
                    json!({ "content": diff.content, "statuses": statuses })
                })
                .collect();
            let variants: Vec<Value> = told
                .variants
                .iter()
                .map(|(label, report)| json!({ "label": label, "report": with_positions(report) }))
                .collect();
            Ok(json!({ "variants": variants, "diffs": diffs }).to_string())
        })?;
        told.map_err(|error: CupelError| errors::of_library(py, &error))
    }
}

impl Pipeline {
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        items: &[PyRef<'_, Item>],
        query: String,
        ask: impl FnOnce(&cupel::Pipeline, &[ContextItem]) -> Result<T, CupelError> + Send + 'static,
    ) -> PyResult<T> {
        let items: Vec<ContextItem> = items.iter().map(|item| item.0.clone()).collect();
        let source = self.policy.clone();
        let answer = work::run(py, true, move || ask(&source.pipeline(&query, &items), &items))?;
        answer.map_err(|error| errors::of_library(py, &error))
    }
}

fn overflow(py: Python<'_>, name: &str) -> PyResult<OverflowStrategy> {
    match name {
        "throw" => Ok(OverflowStrategy::Throw),
        "truncate" => Ok(OverflowStrategy::Truncate),
        "proceed" => Ok(OverflowStrategy::Proceed),
        other => {
            let rule = format!("must be \"throw\", \"truncate\" or \"proceed\", got {other:?}");
            Err(errors::invalid_argument(py, "overflow_strategy", rule))
        }
    }
}

/// Keeps what a finished run reports.
#[derive(Default)]
struct Recorder {
    report: Option<Value>,
}

impl TraceCollector for Recorder {
    fn is_enabled(&self) -> bool {
        true
    }

    fn record_stage_event(&mut self, _event: TraceEvent) {}

    fn record_item_event(&mut self, _event: TraceEvent) {}

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        _budget: &ContextBudget,
        stages: &[StageTraceSnapshot],
    ) {
        let mut written = with_positions(report);
        let stage = |stage: &StageTraceSnapshot| {
            json!({
                "stage": stage.stage.name(),
                "item_count_in": stage.item_count_in,
                "item_count_out": stage.item_count_out,
            })
        };
        written["stages"] = stages.iter().map(stage).collect();
        self.report = Some(written);
    }
}

/// The report, whose entries also have the position of their item.
fn with_positions(report: &SelectionReport) -> Value {
    let mut written = serde_json::to_value(report).unwrap_or_default();
    let included = report.included.iter().map(|one| one.position);
    let excluded = report.excluded.iter().map(|one| one.position);
    for (name, positions) in
        [("included", included.collect::<Vec<_>>()), ("excluded", excluded.collect::<Vec<_>>())]
    {
        let entries = written[name].as_array_mut().into_iter().flatten();
        for (entry, position) in entries.zip(positions) {
            entry["position"] = position.into();
        }
    }
    written
}
