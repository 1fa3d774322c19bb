//! A program in the call shapes of version 1.2: it compiles and runs here unchanged.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use chrono::{DateTime, Duration, TimeZone, Utc};
use cupel::diagnostics::trace_collector::{
    DiagnosticTraceCollector, NullTraceCollector, TraceCollector, TraceDetailLevel,
};
use cupel::{
    ChronologicalPlacer, CompositeScorer, ContextBudget, ContextItem, ContextItemBuilder,
    ContextKind, ContextSource, CountConstrainedKnapsackSlice, CountQuotaEntry, CountQuotaSlice,
    CupelError, DecayCurve, DecayScorer, ExclusionReason, FrequencyScorer, GreedySlice, KindScorer,
    KnapsackSlice, MetadataKeyScorer, MetadataTrustScorer, OverflowStrategy, ParseContextKindError,
    Pipeline, PipelineStage, Placer, Policy, PolicyBuilder, PriorityScorer, QuotaEntry, QuotaSlice,
    RecencyScorer, ReflexiveScorer, ScaledScorer, ScarcityBehavior, ScoredItem, Scorer,
    SelectionReport, Slicer, StageTraceSnapshot, SystemTimeProvider, TagScorer, TimeProvider,
    TraceEvent, UShapedPlacer, budget_utilization, kind_diversity, policy_sensitivity,
    policy_sensitivity_from_pipelines, quota_utilization, timestamp_coverage,
};

struct Noon;

impl TimeProvider for Noon {
    fn now(&self) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2025, 1, 1, 12, 0, 0).unwrap()
    }
}

struct ByLength;

impl Scorer for ByLength {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        item.content().len() as f64 / all_items.len() as f64
    }
}

struct Everything;

impl Slicer for Everything {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        _budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        Ok(sorted.iter().map(|scored| scored.item.clone()).collect())
    }
}

struct Reversed;

impl Placer for Reversed {
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
        items.iter().rev().map(|scored| scored.item.clone()).collect()
    }
}

#[derive(Default)]
struct Counting {
    stages: usize,
    completed: bool,
}

impl TraceCollector for Counting {
    fn is_enabled(&self) -> bool {
        true
    }
    fn record_stage_event(&mut self, _event: TraceEvent) {
        self.stages += 1;
    }
    fn record_item_event(&mut self, _event: TraceEvent) {}
    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        _budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        self.completed = report.included.len() == 2
            && stage_snapshots.len() == 5
            && stage_snapshots[0].stage == PipelineStage::Classify;
    }
}

fn items() -> Result<Vec<ContextItem>, CupelError> {
    let day = |d| Utc.with_ymd_and_hms(2024, 12, d, 0, 0, 0).unwrap();
    Ok(vec![
        ContextItemBuilder::new("You are helpful.", 10)
            .kind(ContextKind::system_prompt())
            .pinned(true)
            .build()?,
        ContextItemBuilder::new("What failed?", 20)
            .timestamp(day(2))
            .priority(5)
            .tags(vec!["deploy".to_string()])
            .build()?,
        ContextItemBuilder::new("exit code 1", 60)
            .kind(ContextKind::new("ToolOutput")?)
            .source(ContextSource::new(ContextSource::TOOL)?)
            .timestamp(day(1))
            .priority(1)
            .tags(vec!["Deploy".to_string(), "error".to_string()])
            .metadata(HashMap::from([("cupel:trust".to_string(), "0.9".to_string())]))
            .future_relevance_hint(0.8)
            .original_tokens(600)
            .build()?,
    ])
}

fn composite() -> Result<CompositeScorer, CupelError> {
    CompositeScorer::new(vec![
        (Box::new(RecencyScorer), 2.0),
        (Box::new(PriorityScorer), 1.0),
        (Box::new(KindScorer::with_default_weights()), 1.0),
        (Box::new(KindScorer::new(HashMap::from([(ContextKind::message(), 0.5)]))?), 1.0),
        (Box::new(TagScorer::new(HashMap::from([("error".to_string(), 1.0)]))?), 1.0),
        (Box::new(FrequencyScorer), 1.0),
        (Box::new(ReflexiveScorer), 1.0),
        (Box::new(ScaledScorer::new(Box::new(ReflexiveScorer))), 1.0),
        (Box::new(MetadataTrustScorer::new(0.5)?), 1.0),
        (Box::new(MetadataKeyScorer::new("cupel:priority", "high", 1.5)?), 1.0),
        (
            Box::new(DecayScorer::new(
                Box::new(Noon),
                DecayCurve::exponential(Duration::hours(24))?,
                0.5,
            )?),
            1.0,
        ),
    ])
}

fn with_slicer(slicer: Box<dyn Slicer>) -> Result<Pipeline, CupelError> {
    Pipeline::builder()
        .scorer(Box::new(composite()?))
        .slicer(slicer)
        .placer(Box::new(ChronologicalPlacer))
        .deduplication(true)
        .overflow_strategy(OverflowStrategy::Throw)
        .build()
}

#[test]
fn a_program_written_for_version_1_2_runs_unchanged() -> Result<(), CupelError> {
    let items = items()?;
    let budget = ContextBudget::new(100, 90, 10, HashMap::new(), 0.0)?;
    assert_eq!(budget.total_reserved(), 10);
    assert_eq!(budget.unreserved_capacity(), 90);
    assert!(budget.has_capacity());

    let pipeline = with_slicer(Box::new(GreedySlice))?;
    let window: Vec<ContextItem> = pipeline.run(&items, &budget)?;
    assert_eq!(window.len(), 3);
    assert_eq!(
        format!("{pipeline:?}"),
        "Pipeline { deduplication: true, overflow_strategy: Throw }"
    );

    let report: SelectionReport = pipeline.dry_run(&items, &budget)?;
    assert_eq!(report.total_candidates, 3);
    assert!((budget_utilization(&report, &budget) - 0.9).abs() < 1e-12);
    assert_eq!(kind_diversity(&report), 3);
    assert!(timestamp_coverage(&report) > 0.6);

    let events = Rc::new(Cell::new(0));
    let seen = Rc::clone(&events);
    let mut collector = DiagnosticTraceCollector::with_callback(
        TraceDetailLevel::Stage,
        Box::new(move |_| seen.set(seen.get() + 1)),
    );
    pipeline.run_traced(&items, &budget, &mut collector)?;
    assert_eq!((events.get(), collector.into_report().events.len()), (5, 5));
    pipeline.run_traced(&items, &budget, &mut NullTraceCollector::default())?;

    let slicers: Vec<Box<dyn Slicer>> = vec![
        Box::new(KnapsackSlice::new(10)?),
        Box::new(KnapsackSlice::with_default_bucket_size()),
        Box::new(QuotaSlice::new(
            vec![QuotaEntry::new(ContextKind::tool_output(), 10.0, 80.0)?],
            Box::new(GreedySlice),
        )?),
        Box::new(CountQuotaSlice::new(
            vec![CountQuotaEntry::new(ContextKind::tool_output(), 1, 2)?],
            Box::new(GreedySlice),
            ScarcityBehavior::Degrade,
        )?),
        Box::new(CountConstrainedKnapsackSlice::new(
            vec![CountQuotaEntry::new(ContextKind::tool_output(), 1, 2)?],
            KnapsackSlice::new(10)?,
            ScarcityBehavior::default(),
        )?),
        Box::new(Everything),
    ];
    for slicer in slicers {
        assert!(!with_slicer(slicer)?.run(&items, &budget)?.is_empty());
    }

    let quota = QuotaSlice::new(
        vec![QuotaEntry::new(ContextKind::tool_output(), 10.0, 80.0)?],
        Box::new(GreedySlice),
    )?;
    assert_eq!(quota_utilization(&report, &quota, &budget).len(), 1);

    let own = Pipeline::builder()
        .scorer(Box::new(ByLength))
        .slicer(Box::new(GreedySlice))
        .placer(Box::new(Reversed))
        .build()?;
    let mut counting = Counting::default();
    let tight = ContextBudget::new(100, 35, 0, HashMap::new(), 0.0)?;
    own.run_traced(&items, &tight, &mut counting)?;
    assert!(counting.completed && counting.stages == 5);
    let report = own.dry_run(&items, &tight)?;
    match &report.excluded[0].reason {
        ExclusionReason::BudgetExceeded { item_tokens, .. } => assert_eq!(*item_tokens, 60),
        ExclusionReason::PinnedOverride { .. } | ExclusionReason::_Unknown => {
            unreachable!("the pinned item is small")
        }
        _ => unreachable!("no other reason applies"),
    }

    let marginal = pipeline.get_marginal_items(&items, &budget, 30)?;
    assert_eq!(marginal.len(), 1);
    let smallest: Option<i32> = pipeline.find_min_budget_for(&items, &budget, &items[1], 1000)?;
    assert!(smallest.is_some());

    let policy: Policy = PolicyBuilder::new()
        .scorer(Arc::new(RecencyScorer))
        .slicer(Arc::new(GreedySlice))
        .placer(Arc::new(UShapedPlacer))
        .build()?;
    assert_eq!(pipeline.dry_run_with_policy(&items, &budget, &policy)?.included.len(), 3);
    let variants: Vec<(&str, &Policy)> = vec![("a", &policy), ("b", &policy)];
    assert!(policy_sensitivity(&items, &budget, &variants)?.diffs.is_empty());
    let pipelines = [("a".to_string(), &pipeline), ("b".to_string(), &own)];
    assert_eq!(policy_sensitivity_from_pipelines(&items, &budget, &pipelines)?.variants.len(), 2);

    let blank: Result<ContextKind, ParseContextKindError> = ContextKind::try_from("  ");
    assert!(blank.is_err());
    assert!(matches!(ContextItemBuilder::new("", 1).build(), Err(CupelError::EmptyContent)));
    assert!(SystemTimeProvider.now() > Noon.now() - Duration::days(365));
    assert!(matches!(
        ContextBudget::new(10, 20, 0, HashMap::new(), 0.0),
        Err(CupelError::InvalidBudget(_))
    ));
    Ok(())
}
