//! The collector: hears what the pipeline says and keeps it until the run is over.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cupel::{
    ContextBudget, ContextItem, CountRequirementShortfall, CupelError, ExclusionReason,
    InclusionReason, OverflowEvent, SelectionReport, StageTraceSnapshot, TraceCollector,
    TraceEvent, TraceInterest,
};
use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::trace::Tracer;

use crate::run::{Outcome, Run, Setup, milliseconds};
use crate::{CupelMetrics, CupelVerbosity, scope};

/// Turns each run into OpenTelemetry spans, and into metrics if asked to.
///
/// Hand it to [`Pipeline::run_traced`](cupel::Pipeline::run_traced). The root span is a child of
/// the span that is current on the thread when the run starts. Use one collector for any number
/// of runs, one after the other; for runs at the same time, give each a clone.
///
/// # Example
///
/// ```
/// use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, RecencyScorer};
/// use cupel_otel::{CupelOtelTraceCollector, CupelVerbosity, SOURCE_NAME};
/// use opentelemetry::trace::TracerProvider as _;
/// use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
///
/// let exporter = InMemorySpanExporter::default();
/// let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
///
/// let mut collector = CupelOtelTraceCollector::with_tracer(
///     provider.tracer(SOURCE_NAME),
///     CupelVerbosity::StageOnly,
/// );
/// # let pipeline = Pipeline::builder()
/// #     .scorer(RecencyScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
/// # let items = [ContextItemBuilder::new("hello", 1).build()?];
/// # let budget = ContextBudget::builder(10).build()?;
/// pipeline.run_traced(&items, &budget, &mut collector)?;
///
/// let names: Vec<_> = exporter.get_finished_spans()?.into_iter().map(|span| span.name).collect();
/// assert_eq!(names, [
///     "cupel.stage.classify",
///     "cupel.stage.score",
///     "cupel.stage.deduplicate",
///     "cupel.stage.slice",
///     "cupel.stage.place",
///     "cupel.pipeline",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CupelOtelTraceCollector {
    /// The global one, if absent.
    tracer: Option<Arc<BoxedTracer>>,
    verbosity: CupelVerbosity,
    metrics: Option<CupelMetrics>,
    run: Option<Run>,
}

impl CupelOtelTraceCollector {
    /// Sends spans to the global tracer provider, whichever that is when a run starts.
    #[must_use]
    pub fn new(verbosity: CupelVerbosity) -> Self {
        Self { tracer: None, verbosity, metrics: None, run: None }
    }

    /// Sends spans to this tracer.
    ///
    /// Ask your provider for one with the name [`SOURCE_NAME`](crate::SOURCE_NAME).
    #[must_use]
    pub fn with_tracer<T>(tracer: T, verbosity: CupelVerbosity) -> Self
    where
        T: Tracer + Send + Sync + 'static,
        T::Span: Send + Sync + 'static,
    {
        let tracer = Arc::new(BoxedTracer::new(Box::new(tracer)));
        Self { tracer: Some(tracer), ..Self::new(verbosity) }
    }

    /// Counts runs as well, sampled or not.
    ///
    /// Tokens and reasons are those of single items, so that every run hands out its items, also
    /// at [`CupelVerbosity::StageOnly`].
    #[must_use]
    pub fn with_metrics(self, metrics: CupelMetrics) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// Level of detail of this collector.
    pub fn verbosity(&self) -> CupelVerbosity {
        self.verbosity
    }

    /// Starts a run that began so long ago.
    fn start(&self, budget: &ContextBudget, ago: Duration) -> Run {
        let global = || Arc::new(global::tracer_with_scope(scope()));
        Run::start(
            Setup {
                tracer: self.tracer.clone().unwrap_or_else(global),
                verbosity: self.verbosity,
                metrics: self.metrics.clone(),
            },
            budget,
            ago,
        )
    }

    /// A run of which only the end was told: by a collector around this one that passes on no
    /// more than that. What happened is then in the report.
    fn replay(
        &self,
        report: &SelectionReport,
        budget: &ContextBudget,
        snapshots: &[StageTraceSnapshot],
    ) -> Run {
        let ends = snapshots.iter().map(|one| one.start_ms + one.duration_ms);
        let mut run = self.start(budget, milliseconds(ends.fold(0.0, f64::max)));
        run.candidates(report.total_candidates, report.total_tokens_considered);
        for snapshot in snapshots {
            for excluded in &snapshot.excluded {
                run.excluded(excluded.item.clone(), &excluded.reason);
            }
            run.stage(snapshot.stage, snapshot.duration_ms, snapshot.item_count_out);
        }
        for included in &report.included {
            run.included(included.item.clone(), included.score);
        }
        run
    }
}

impl TraceCollector for CupelOtelTraceCollector {
    fn is_enabled(&self) -> bool {
        true
    }

    /// Items are handed out only where somebody will see them: not at
    /// [`CupelVerbosity::StageOnly`], and not for a run that the sampler dropped.
    fn interest(&self) -> TraceInterest {
        let recording = self.run.as_ref().is_none_or(Run::is_recording);
        let items = recording && self.verbosity >= CupelVerbosity::StageAndExclusions;
        TraceInterest { records: items || self.metrics.is_some(), ..TraceInterest::STAGES }
    }

    fn on_run_started(&mut self, budget: &ContextBudget) {
        // One that never ended ends here, and before the next begins.
        self.run = None;
        self.run = Some(self.start(budget, Duration::ZERO));
    }

    fn set_candidates(&mut self, total: usize, total_tokens: i64) {
        if let Some(run) = &mut self.run {
            run.candidates(total, total_tokens);
        }
    }

    fn record_item_event(&mut self, _event: TraceEvent) {}

    fn record_excluded(&mut self, item: ContextItem, _score: f64, reason: ExclusionReason) {
        if let Some(run) = &mut self.run {
            run.excluded(item, &reason);
        }
    }

    fn record_shortfall(&mut self, _shortfall: CountRequirementShortfall) {
        if let Some(run) = &mut self.run {
            run.stage_ends();
        }
    }

    fn record_overflow(&mut self, _event: OverflowEvent) {
        if let Some(run) = &mut self.run {
            run.stage_ends();
        }
    }

    fn record_stage_event(&mut self, event: TraceEvent) {
        if let Some(run) = &mut self.run {
            run.stage(event.stage, event.duration_ms, event.item_count);
        }
    }

    fn record_included(&mut self, item: ContextItem, score: f64, _reason: InclusionReason) {
        if let Some(run) = &mut self.run {
            run.included(item, score);
        }
    }

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        budget: &ContextBudget,
        stage_snapshots: &[StageTraceSnapshot],
    ) {
        let run = self.run.take();
        let mut run = run.unwrap_or_else(|| self.replay(report, budget, stage_snapshots));
        run.settle(stage_snapshots);
        run.end(Outcome::Completed);
    }

    fn on_run_failed(&mut self, error: &CupelError) {
        if let Some(mut run) = self.run.take() {
            run.end(Outcome::Failed(error));
        }
    }
}

/// The same settings, and no run.
impl Clone for CupelOtelTraceCollector {
    fn clone(&self) -> Self {
        Self {
            tracer: self.tracer.clone(),
            verbosity: self.verbosity,
            metrics: self.metrics.clone(),
            run: None,
        }
    }
}

impl fmt::Debug for CupelOtelTraceCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CupelOtelTraceCollector")
            .field("tracer", if self.tracer.is_some() { &"given" } else { &"global" })
            .field("verbosity", &self.verbosity)
            .field("metrics", &self.metrics.is_some())
            .field("running", &self.run.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_may_move_to_another_thread() {
        fn is_send_and_sync<T: Send + Sync + 'static>() {}
        is_send_and_sync::<CupelOtelTraceCollector>();
        is_send_and_sync::<CupelMetrics>();
    }

    #[test]
    fn it_says_what_it_is() {
        let collector = CupelOtelTraceCollector::new(CupelVerbosity::Full);
        assert!(collector.is_enabled());
        assert_eq!(collector.clone().verbosity(), CupelVerbosity::Full);
        assert_eq!(
            format!("{collector:?}"),
            "CupelOtelTraceCollector { tracer: \"global\", verbosity: Full, metrics: false, \
             running: false }"
        );
    }
}
