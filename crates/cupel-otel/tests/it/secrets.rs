//! Item text never enters a span: not as text, not as a reason, not as an error.

use std::collections::HashMap;

use cupel::{
    ContextBudget, ContextItem, ContextSource, CupelError, ExclusionReason, OverflowStrategy,
    ScoredItem, Selection, SliceRequest, Slicer,
};
use cupel_otel::{CupelMetrics, CupelVerbosity::Full};
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};

use crate::seen::Memory;
use crate::situation::{Situation, budget, item, kind, pipeline};

pub(crate) const SECRET: &str = "hunter2";

#[test]
fn a_secret_in_every_field_but_the_kind_stays_inside() {
    for situation in secretive() {
        let memory = Memory::new();
        let metric_exporter = InMemoryMetricExporter::default();
        let meters =
            SdkMeterProvider::builder().with_periodic_exporter(metric_exporter.clone()).build();
        let metrics = CupelMetrics::new(&meters.meter("cupel"));
        let mut collector = memory.collector(Full).with_metrics(metrics);

        let outcome = situation.run(&mut collector);
        if let Err(CupelError::SlicerConfig(text) | CupelError::PipelineConfig(text)) = &outcome {
            assert!(text.contains(SECRET), "the error itself must be worth hiding: {text}");
        }
        meters.force_flush().unwrap();

        // Whatever there is, not only what this version of the test knows.
        let spans = memory.exporter.get_finished_spans().unwrap();
        assert!(!spans.is_empty());
        assert!(!format!("{spans:?}").contains(SECRET), "{spans:#?}");
        let metrics = metric_exporter.get_finished_metrics().unwrap();
        assert!(!metrics.is_empty());
        assert!(!format!("{metrics:?}").contains(SECRET), "{metrics:#?}");
        assert!(!format!("{collector:?}").contains(SECRET));
    }
}

#[test]
fn unknown_reasons_are_told_as_unknown() {
    let memory = Memory::new();
    let [situation, ..] = secretive();
    situation.run(&mut memory.collector(Full)).unwrap();
    let run = memory.run();
    let reasons: Vec<_> = run
        .stage("slice")
        .events_named("cupel.exclusion")
        .into_iter()
        .map(|event| event.attributes["cupel.exclusion.reason"].clone())
        .collect();
    assert_eq!(reasons, ["Filtered".into(), "Unknown".into()]);
}

/// Runs that know a secret: one that completes, and two that fail with an error that tells it.
pub(crate) fn secretive() -> [Situation; 3] {
    let situation = |slicer: Box<dyn Slicer>| Situation {
        pipeline: pipeline()
            .slicer(slicer)
            .overflow_strategy(OverflowStrategy::Proceed)
            .build()
            .unwrap(),
        items: vec![
            secret("first", 10, true),
            secret("negative", -1, false),
            secret("twin", 10, false),
            secret("twin", 10, false),
            secret("second", 10, false),
            secret("third", 10, false),
        ],
        budget: budget(15),
    };
    [
        situation(Box::new(Explains)),
        situation(Box::new(ReturnsForeign)),
        situation(Box::new(Quotes)),
    ]
}

fn secret(text: &str, tokens: i64, pinned: bool) -> ContextItem {
    item(&format!("{SECRET} {text}"), tokens)
        .kind(kind("Plain"))
        .source(ContextSource::new(SECRET).unwrap())
        .tags(vec![SECRET.into()])
        .metadata(HashMap::from([(SECRET.into(), SECRET.into())]))
        .pinned(pinned)
        .build()
        .unwrap()
}

/// Leaves two out, for reasons that tell everything, and exceeds the target.
struct Explains;

impl Slicer for Explains {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        unreachable!("the pipeline asks for a selection")
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        let mut selection = Selection::of((2..request.candidates.len()).collect());
        let filtered = ExclusionReason::Filtered { filter_name: SECRET.into() };
        let unknown = ExclusionReason::Unknown { name: SECRET.into(), fields: Vec::new() };
        selection.excluded = vec![(0, filtered), (1, unknown)];
        Ok(selection)
    }
}

/// Breaks the contract; the library's own error quotes the item.
struct ReturnsForeign;

impl Slicer for ReturnsForeign {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        Ok(vec![secret("foreign", 1, false)])
    }
}

/// A user's slicer with an error that quotes the item.
struct Quotes;

impl Slicer for Quotes {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        Err(CupelError::PipelineConfig(format!("cannot take `{SECRET}`")))
    }
}
