//! One plan on one list of items. This file is compiled twice, against our
//! library and against the published one (`super::lib`), so that both get
//! exactly the same calls.

use std::collections::HashMap;

use chrono::DateTime;

use super::lib::{
    CompositeScorer, ContextBudget, ContextItem, ContextItemBuilder, ContextKind,
    DiagnosticTraceCollector, FrequencyScorer, GreedySlice, KindScorer, KnapsackSlice, Pipeline,
    PriorityScorer, QuotaEntry, QuotaSlice, RecencyScorer, ReflexiveScorer, ScaledScorer, Scorer,
    SelectionReport, Slicer, TraceCollector, TraceDetailLevel, UShapedPlacer,
};
use crate::data::Row;
use crate::workload::{Call, Plan, QUOTAS, Signal, Slicing};

/// A pipeline with its input, ready to run again and again.
pub struct Engine {
    pipeline: Pipeline,
    items: Vec<ContextItem>,
    budget: ContextBudget,
    call: Call,
}

/// What a run returned; dropping it is part of what is timed.
pub enum Answer {
    Window(Vec<ContextItem>),
    Traced(Vec<ContextItem>, Box<SelectionReport>),
    Budget(Option<i32>),
}

impl Engine {
    pub fn new(plan: Plan, rows: impl Iterator<Item = Row>) -> Self {
        let items: Vec<ContextItem> = rows.map(item).collect();
        let all: i64 = items.iter().map(ContextItem::tokens).sum();
        let budget = ContextBudget::new(all, all / 4, 0, HashMap::new(), 0.0)
            .expect("a quarter of the whole is a valid budget");
        let pipeline = Pipeline::builder()
            .scorer(scorer(plan.signal))
            .slicer(slicer(plan.slicing))
            .placer(Box::new(UShapedPlacer))
            .build()
            .expect("scorer, slicer and placer are given");
        Self { pipeline, items, budget, call: plan.call }
    }

    pub fn items(&self) -> &[ContextItem] {
        &self.items
    }

    pub fn run(&self) -> Answer {
        let (items, budget) = (self.items.as_slice(), &self.budget);
        match self.call {
            Call::Run => Answer::Window(self.pipeline.run(items, budget).expect("the run works")),
            Call::TracedByItem => {
                let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
                let window = self.pipeline.run_traced(items, budget, &mut collector);
                let report = Box::new(collector.into_report());
                Answer::Traced(window.expect("the traced run works"), report)
            }
            Call::FindMinBudget => {
                let (middle, all) = (&items[items.len() / 2], budget.max_tokens());
                let ceiling = i32::try_from(all).expect("all tokens fit 32 bits");
                let answer = self.pipeline.find_min_budget_for(items, budget, middle, ceiling);
                Answer::Budget(answer.expect("the search works"))
            }
        }
    }

    /// A plain run that tells a collector.
    pub fn run_with(&self, collector: &mut impl TraceCollector) -> Answer {
        let window = self.pipeline.run_traced(&self.items, &self.budget, collector);
        Answer::Window(window.expect("the traced run works"))
    }

    /// Why the answer is not an honest one, if it is not: nothing chosen, too
    /// much chosen, a report that does not account for every item.
    pub fn flaw(&self, answer: &Answer) -> Option<String> {
        if let Answer::Traced(window, report) = answer
            && (report.events.is_empty()
                || report.included.len() != window.len()
                || report.included.len() + report.excluded.len() != self.items.len())
        {
            return Some("the report does not account for every item".into());
        }
        match answer {
            Answer::Budget(found) => found.is_none().then(|| "found no budget".into()),
            Answer::Window(window) | Answer::Traced(window, _) => {
                let tokens: i64 = window.iter().map(ContextItem::tokens).sum();
                let target = self.budget.target_tokens();
                (window.is_empty() || tokens > target)
                    .then(|| format!("{} items, {tokens} of {target} tokens", window.len()))
            }
        }
    }
}

impl Answer {
    /// The answer in a form in which the two libraries can be compared.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Budget(found) => vec![format!("{found:?}")],
            Self::Window(window) | Self::Traced(window, _) => {
                window.iter().map(|item| item.content().to_owned()).collect()
            }
        }
    }
}

fn item(row: Row) -> ContextItem {
    let timestamp = DateTime::from_timestamp(row.timestamp, 0).expect("seconds in range");
    ContextItemBuilder::new(row.text, row.tokens)
        .kind(ContextKind::new(row.kind).expect("well-known kinds are not blank"))
        .tags(row.tags)
        .timestamp(timestamp)
        .priority(row.priority)
        .future_relevance_hint(row.hint)
        .build()
        .expect("the text is not empty")
}

fn scorer(signal: Signal) -> Box<dyn Scorer> {
    match signal {
        Signal::Recency => Box::new(RecencyScorer),
        Signal::Reflexive => Box::new(ReflexiveScorer),
        Signal::Frequency => Box::new(FrequencyScorer),
        Signal::FourSignals => composite(vec![
            (Box::new(RecencyScorer), 4.0),
            (Box::new(PriorityScorer), 3.0),
            (Box::new(KindScorer::with_default_weights()), 2.0),
            (Box::new(FrequencyScorer), 1.0),
        ]),
        Signal::ScaledPair => composite(vec![
            (Box::new(ScaledScorer::new(Box::new(RecencyScorer))), 1.0),
            (Box::new(ScaledScorer::new(Box::new(FrequencyScorer))), 1.0),
        ]),
    }
}

fn composite(parts: Vec<(Box<dyn Scorer>, f64)>) -> Box<dyn Scorer> {
    Box::new(CompositeScorer::new(parts).expect("weights are positive"))
}

fn slicer(slicing: Slicing) -> Box<dyn Slicer> {
    match slicing {
        Slicing::Greedy => Box::new(GreedySlice),
        Slicing::Knapsack { bucket } => {
            Box::new(KnapsackSlice::new(bucket).expect("the bucket is positive"))
        }
        Slicing::QuotaOverGreedy => {
            let entries = QUOTAS.iter().map(|&(kind, require, cap)| {
                let kind = ContextKind::new(kind).expect("well-known kinds are not blank");
                QuotaEntry::new(kind, require, cap).expect("quotas are within 0 and 100")
            });
            let quota = QuotaSlice::new(entries.collect(), Box::new(GreedySlice));
            Box::new(quota.expect("requirements sum to less than 100"))
        }
    }
}
