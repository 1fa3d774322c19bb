//! One run, from its start to its end: what has been heard of it so far.
//!
//! Spans are written when the run is over, with the times that were taken while it went on. A run
//! that completes hands out exact times and counts in its snapshots; for one that fails, the
//! calls that were heard until then must do.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cupel::{
    ContextBudget, ContextItem, CupelError, ExclusionReason, PipelineStage, StageTraceSnapshot,
};
use opentelemetry::Context;
use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::TraceContextExt as _;

use crate::metrics::{Tally, Totals};
use crate::reason::error_description;
use crate::{CupelMetrics, CupelVerbosity, exclusion_reason_name, spans};

/// Settings that do not change from run to run.
pub(crate) struct Setup {
    pub(crate) tracer: Arc<BoxedTracer>,
    pub(crate) verbosity: CupelVerbosity,
    pub(crate) metrics: Option<CupelMetrics>,
}

pub(crate) struct Run {
    setup: Setup,
    /// Holds the root span.
    context: Context,
    recording: bool,
    clock: Clock,
    max_tokens: i64,
    candidates: usize,
    tokens_in: i64,
    tokens_out: i128,
    reasons: Tally,
    /// Of the stage that is under way.
    exclusions: Vec<Exclusion>,
    /// When the stage that is under way was first heard to be over.
    stage_end: Option<Duration>,
    stages: Vec<FinishedStage>,
    inclusions: Vec<Inclusion>,
    ended: bool,
}

/// The wall clock, read once. What comes later is measured from there and cannot run backwards.
struct Clock {
    start_time: SystemTime,
    start: Instant,
    /// From there until the pipeline started its own clock.
    lead: Duration,
}

/// A stage that is over. Times are from the start of the run.
pub(crate) struct FinishedStage {
    pub(crate) stage: PipelineStage,
    pub(crate) item_count_in: usize,
    pub(crate) item_count_out: usize,
    pub(crate) excluded_count: usize,
    pub(crate) exclusions: Vec<Exclusion>,
    /// Why it failed, if it did.
    pub(crate) error: Option<Cow<'static, str>>,
    start: Duration,
    end: Duration,
}

/// The stages that are told, in their order.
const STAGES: [PipelineStage; 5] = [
    PipelineStage::Classify,
    PipelineStage::Score,
    PipelineStage::Deduplicate,
    PipelineStage::Slice,
    PipelineStage::Place,
];

/// Of the item, only kind and tokens are ever read.
pub(crate) struct Exclusion {
    pub(crate) item: ContextItem,
    pub(crate) reason: &'static str,
}

/// Of the item, only kind and tokens are ever read.
pub(crate) struct Inclusion {
    pub(crate) item: ContextItem,
    pub(crate) score: f64,
}

#[derive(Clone, Copy)]
pub(crate) enum Outcome<'a> {
    Completed,
    Failed(&'a CupelError),
    /// A strategy panicked, or a collector around this one kept the end to itself.
    Unfinished,
}

impl Run {
    /// Starts the root span, as a child of whichever span is current.
    pub(crate) fn start(setup: Setup, budget: &ContextBudget, ago: Duration) -> Self {
        let mut clock = Clock::started(ago);
        let parent = Context::current();
        let root = spans::root(&setup, budget, clock.start_time, &parent);
        let context = parent.with_span(root);
        clock.lead = clock.elapsed().saturating_sub(ago);
        Self {
            recording: context.span().is_recording(),
            setup,
            context,
            clock,
            max_tokens: budget.max_tokens(),
            candidates: 0,
            tokens_in: 0,
            tokens_out: 0,
            reasons: Tally::default(),
            exclusions: Vec::new(),
            stage_end: None,
            stages: Vec::new(),
            inclusions: Vec::new(),
            ended: false,
        }
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.recording
    }

    pub(crate) fn candidates(&mut self, total: usize, total_tokens: i64) {
        self.candidates = total;
        self.tokens_in = total_tokens;
    }

    pub(crate) fn excluded(&mut self, item: ContextItem, reason: &ExclusionReason) {
        self.stage_ends();
        let reason = exclusion_reason_name(reason);
        if self.setup.metrics.is_some() {
            self.reasons.add(reason);
        }
        if self.shows(CupelVerbosity::StageAndExclusions) {
            self.exclusions.push(Exclusion { item, reason });
        }
    }

    pub(crate) fn included(&mut self, item: ContextItem, score: f64) {
        self.tokens_out += i128::from(item.tokens());
        if self.shows(CupelVerbosity::Full) {
            self.inclusions.push(Inclusion { item, score });
        }
    }

    /// The work of a stage is done; what follows is only told.
    pub(crate) fn stage_ends(&mut self) {
        if self.stage_end.is_none() {
            self.stage_end = Some(self.clock.elapsed());
        }
    }

    /// A stage has been told completely.
    pub(crate) fn stage(&mut self, stage: PipelineStage, duration_ms: f64, item_count_out: usize) {
        let end = self.stage_end.take().unwrap_or_else(|| self.clock.elapsed());
        let exclusions = std::mem::take(&mut self.exclusions);
        let before = self.stages.last();
        let earliest = before.map_or(Duration::ZERO, |before| before.end);
        let item_count_in = match (stage, before) {
            (PipelineStage::Classify, _) => self.candidates,
            (PipelineStage::Deduplicate | PipelineStage::Slice, Some(before)) => {
                before.item_count_out
            }
            _ => item_count_out + exclusions.len(),
        };
        self.stages.push(FinishedStage {
            stage,
            item_count_in,
            item_count_out,
            excluded_count: exclusions.len(),
            exclusions,
            error: None,
            start: end.saturating_sub(milliseconds(duration_ms)).max(earliest),
            end,
        });
    }

    /// The run failed: the stage that was under way is the one after the last that was told.
    fn stage_fails(&mut self, error: &CupelError) {
        let Some(stage) = STAGES.get(self.stages.len()) else { return };
        let start = self.stages.last().map_or(self.clock.lead, |before| before.end);
        let item_count_in = match self.stages.as_slice() {
            [] => self.candidates,
            // What was pinned went past the stages between.
            [classify, score, _, slice] => {
                let pinned = classify.item_count_out.saturating_sub(score.item_count_in);
                pinned + slice.item_count_out
            }
            [.., before] => before.item_count_out,
        };
        self.stages.push(FinishedStage {
            stage: *stage,
            item_count_in,
            item_count_out: 0,
            excluded_count: 0,
            exclusions: Vec::new(),
            error: Some(error_description(error)),
            start,
            end: self.clock.elapsed().max(start),
        });
    }

    /// The run completed: what the pipeline measured replaces what was heard.
    pub(crate) fn settle(&mut self, snapshots: &[StageTraceSnapshot]) {
        for snapshot in snapshots {
            let heard = self.stages.iter_mut().find(|heard| heard.stage == snapshot.stage);
            if let Some(heard) = heard {
                heard.item_count_in = snapshot.item_count_in;
                heard.item_count_out = snapshot.item_count_out;
                heard.excluded_count = snapshot.excluded_count;
                heard.start = self.clock.lead + milliseconds(snapshot.start_ms);
                heard.end = heard.start + milliseconds(snapshot.duration_ms);
            }
        }
    }

    /// Writes everything. Only the first end counts.
    pub(crate) fn end(&mut self, outcome: Outcome<'_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Outcome::Failed(error) = outcome {
            self.stage_fails(error);
        }
        let length = self.clock.elapsed();
        self.count(length, outcome);
        if self.recording {
            for stage in &self.stages {
                spans::stage(self, stage);
            }
            let last_end = self.stages.iter().map(|stage| stage.end).max().unwrap_or_default();
            let end_time = self.time(length.max(last_end));
            spans::end_root(&self.context.span(), outcome, end_time);
        }
    }

    fn count(&self, length: Duration, outcome: Outcome<'_>) {
        let Some(metrics) = &self.setup.metrics else { return };
        let seconds = length.as_secs_f64();
        match outcome {
            Outcome::Completed => metrics.completed(&Totals {
                seconds,
                tokens_in: self.tokens_in,
                tokens_out: self.tokens_out,
                max_tokens: self.max_tokens,
                exclusions: &self.reasons,
            }),
            Outcome::Failed(error) => metrics.failed(seconds, error.code()),
            Outcome::Unfinished => metrics.failed(seconds, "unfinished"),
        }
    }

    /// Returns true if the spans of this run will show what this tier adds.
    pub(crate) fn shows(&self, tier: CupelVerbosity) -> bool {
        self.recording && self.setup.verbosity >= tier
    }

    pub(crate) fn tracer(&self) -> &BoxedTracer {
        &self.setup.tracer
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn inclusions(&self) -> &[Inclusion] {
        &self.inclusions
    }

    pub(crate) fn start_of(&self, stage: &FinishedStage) -> SystemTime {
        self.time(stage.start)
    }

    pub(crate) fn end_of(&self, stage: &FinishedStage) -> SystemTime {
        self.time(stage.end)
    }

    fn time(&self, offset: Duration) -> SystemTime {
        self.clock.start_time.checked_add(offset).unwrap_or(self.clock.start_time)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.end(Outcome::Unfinished);
    }
}

impl Clock {
    fn started(ago: Duration) -> Self {
        let (time, instant) = (SystemTime::now(), Instant::now());
        Self {
            start_time: time.checked_sub(ago).unwrap_or(time),
            start: instant.checked_sub(ago).unwrap_or(instant),
            lead: Duration::ZERO,
        }
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Nothing that is negative or not a number has a length.
pub(crate) fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use cupel::ContextItemBuilder;
    use opentelemetry::trace::noop::NoopTracer;

    use super::*;

    #[test]
    fn telling_a_stage_is_not_part_of_it() {
        const TELLING: Duration = Duration::from_millis(20);
        let setup = Setup {
            tracer: Arc::new(BoxedTracer::new(Box::new(NoopTracer::new()))),
            verbosity: CupelVerbosity::StageAndExclusions,
            metrics: None,
        };
        let budget = ContextBudget::builder(10).build().unwrap();
        let item = ContextItemBuilder::new("a", -1).build().unwrap();
        let mut run = Run::start(setup, &budget, Duration::ZERO);
        run.excluded(item, &ExclusionReason::NegativeTokens { tokens: -1 });
        std::thread::sleep(TELLING);
        run.stage(PipelineStage::Classify, 0.0, 0);
        assert!(run.stages[0].end + TELLING <= run.clock.elapsed());
        run.stage(PipelineStage::Score, 1_000.0, 0);
        assert_eq!(run.stages[1].start, run.stages[0].end, "one stage after the other");
    }

    #[test]
    fn milliseconds_keep_their_fractions_and_never_panic() {
        assert_eq!(milliseconds(1.5), Duration::from_micros(1_500));
        assert_eq!(milliseconds(0.25), Duration::from_micros(250));
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(milliseconds(value), Duration::ZERO);
        }
    }
}
