//! Tells a collector what each stage did. While it is disabled, every call returns at once.

use std::ops::Range;
use std::time::Duration;

use super::classify::Classified;
use super::deduplicate::Unique;
use super::fate::Exclusion;
use super::place::Placed;
use super::score::Scored;
use crate::clock::Moment;
use crate::diagnostics::{
    CountRequirementShortfall, ExcludedItem, IncludedItem, OverflowEvent, PipelineStage,
    ReportDraft, StageTraceSnapshot, TraceEvent, TraceInterest,
};
use crate::model::TokenSum;
use crate::{ContextBudget, ContextItem, CupelError, TraceCollector};

pub(super) struct Recorder<'c, C: ?Sized> {
    collector: &'c mut C,
    budget: &'c ContextBudget,
    /// Absent while the collector is disabled.
    recording: Option<Recording>,
}

/// Events that have been recorded so far.
struct Recording {
    interest: TraceInterest,
    run_start: Moment,
    stage_start: Moment,
    snapshots: Vec<StageTraceSnapshot>,
    draft: ReportDraft,
}

impl<'c, C: TraceCollector + ?Sized> Recorder<'c, C> {
    pub(super) fn start(
        collector: &'c mut C,
        items: &[ContextItem],
        budget: &'c ContextBudget,
    ) -> Self {
        let mut recorder = Self::begin(collector, budget);
        recorder.candidates(items);
        recorder
    }

    /// Starts before the candidates are known.
    pub(super) fn begin(collector: &'c mut C, budget: &'c ContextBudget) -> Self {
        let recording = collector.is_enabled().then(|| {
            collector.on_run_started(budget);
            let now = Moment::now();
            Recording {
                interest: collector.interest(),
                run_start: now,
                stage_start: now,
                snapshots: Vec::new(),
                draft: ReportDraft::default(),
            }
        });
        Self { collector, budget, recording }
    }

    pub(super) fn candidates(&mut self, items: &[ContextItem]) {
        if let Some(recording) = &mut self.recording {
            let tokens: TokenSum = items.iter().map(ContextItem::tokens).sum();
            self.collector.set_candidates(items.len(), tokens.clamped());
            recording.draft.candidates(items.len(), tokens.clamped());
            recording.stage_start = Moment::now();
        }
    }

    pub(super) fn classified(&mut self, classified: &Classified<'_>) {
        let counts = classified.items.len()..classified.len();
        self.stage(PipelineStage::Classify, counts, classified.exclusions());
    }

    pub(super) fn scored(&mut self, scored: &Scored<'_>) {
        self.stage(PipelineStage::Score, scored.len()..scored.len(), std::iter::empty());
    }

    pub(super) fn deduplicated(&mut self, unique: &Unique, scored: &Scored<'_>) {
        let counts = scored.len()..unique.len();
        self.stage(PipelineStage::Deduplicate, counts, unique.exclusions(scored));
    }

    /// A stage is done: how many items entered and left it, and what it left out.
    pub(super) fn stage<'i>(
        &mut self,
        stage: PipelineStage,
        counts: Range<usize>,
        exclusions: impl Iterator<Item = Exclusion<'i>>,
    ) {
        let Some(recording) = &mut self.recording else { return };
        let mut snapshot = recording.snapshot(stage, counts);
        recording.exclude(self.collector, &mut snapshot, exclusions);
        recording.complete(self.collector, snapshot);
    }

    #[cfg(feature = "stream")]
    pub(super) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// A stage that ran batch by batch is done.
    #[cfg(feature = "stream")]
    pub(super) fn batched_stage<'i>(
        &mut self,
        stage: PipelineStage,
        counts: Range<usize>,
        time: super::stream::StageTime,
        exclusions: impl Iterator<Item = Exclusion<'i>>,
    ) {
        let Some(recording) = &mut self.recording else { return };
        let mut snapshot = recording.snapshot(stage, counts);
        let start = time.start.unwrap_or(recording.run_start);
        snapshot.start_ms = milliseconds(start.duration_since(recording.run_start));
        snapshot.duration_ms = milliseconds(time.total);
        recording.exclude(self.collector, &mut snapshot, exclusions);
        recording.complete(self.collector, snapshot);
    }

    /// The items are sorted: an inner step, whose time belongs to no stage.
    pub(super) fn sorted(&mut self) {
        if let Some(recording) = &mut self.recording {
            recording.stage_start = Moment::now();
        }
    }

    pub(super) fn shortfalls(&mut self, shortfalls: &[CountRequirementShortfall]) {
        let Some(recording) = &mut self.recording else { return };
        for shortfall in shortfalls {
            self.collector.record_shortfall(shortfall.clone());
            recording.draft.shortfall(shortfall.clone());
        }
    }

    /// The last stage is done, and the window is known.
    pub(super) fn placed(
        &mut self,
        placed: &Placed,
        classified: &Classified<'_>,
        budget: &ContextBudget,
    ) {
        let Some(recording) = &mut self.recording else { return };
        let exclusions = placed.exclusions(classified);
        let count_out = placed.entries.len();
        let count_in = count_out + exclusions.size_hint().0;
        let mut snapshot = recording.snapshot(PipelineStage::Place, count_in..count_out);
        recording.exclude(self.collector, &mut snapshot, exclusions);
        if let Some((tokens_over_budget, merged)) = &placed.overflow {
            let handle = |position: u32| classified.items[position as usize].clone();
            let overflow = OverflowEvent {
                tokens_over_budget: *tokens_over_budget,
                overflowing_items: merged.iter().map(|entry| handle(entry.position)).collect(),
                budget: budget.clone(),
            };
            self.collector.record_overflow(overflow.clone());
            recording.draft.overflow(overflow);
        }
        if recording.interest.item_events {
            for included in placed.inclusions(classified.items) {
                let message = format!("{}: score {}", included.reason, included.score);
                let event = TraceEvent::item(PipelineStage::Place, message);
                recording.item_event(self.collector, event);
            }
        }
        recording.complete(self.collector, snapshot);
        for included in placed.inclusions(classified.items) {
            if recording.interest.report {
                recording.draft.included(IncludedItem::from(&included));
            }
            if recording.interest.records {
                if included.item.rendering.is_some() {
                    self.collector.record_shortened(IncludedItem::from(&included));
                    continue;
                }
                let (position, item) = (included.position as usize, included.item.item.clone());
                self.collector.record_included_at(position, item, included.score, included.reason);
            }
        }
    }

    /// The run is over, one way or the other.
    pub(super) fn finish(self, error: Option<&CupelError>) {
        match (self.recording, error) {
            (None, _) => {}
            (Some(_), Some(error)) => self.collector.on_run_failed(error),
            (Some(recording), None) => {
                let report = recording.draft.finish();
                self.collector.on_pipeline_completed(&report, self.budget, &recording.snapshots);
            }
        }
    }
}

impl Recording {
    /// Stops the clock for a stage. What is recorded from here on does not count.
    fn snapshot(&self, stage: PipelineStage, counts: Range<usize>) -> StageTraceSnapshot {
        StageTraceSnapshot {
            stage,
            item_count_in: counts.start,
            item_count_out: counts.end,
            start_ms: milliseconds(self.stage_start.duration_since(self.run_start)),
            duration_ms: milliseconds(self.stage_start.elapsed()),
            excluded_count: counts.start.saturating_sub(counts.end),
            excluded: Vec::new(),
        }
    }

    fn exclude<'i, C: TraceCollector + ?Sized>(
        &mut self,
        collector: &mut C,
        snapshot: &mut StageTraceSnapshot,
        exclusions: impl Iterator<Item = Exclusion<'i>>,
    ) {
        if self.interest == TraceInterest::STAGES {
            // Nobody would hear of them, and reasons cost texts.
            return;
        }
        for fate in exclusions {
            if self.interest.item_events {
                let event = TraceEvent::item(snapshot.stage, fate.reason.to_string());
                self.item_event(collector, event);
            }
            if self.interest.report {
                let excluded = ExcludedItem::from(&fate);
                snapshot.excluded.push(excluded.clone());
                self.draft.excluded(excluded);
            }
            if self.interest.records {
                let Exclusion { position, item, score, reason } = fate;
                collector.record_excluded_at(position as usize, item.clone(), score, reason);
            }
        }
    }

    fn item_event<C: TraceCollector + ?Sized>(&mut self, collector: &mut C, event: TraceEvent) {
        if self.interest.report {
            self.draft.event(event.clone());
        }
        collector.record_item_event(event);
    }

    fn complete<C: TraceCollector + ?Sized>(
        &mut self,
        collector: &mut C,
        snapshot: StageTraceSnapshot,
    ) {
        let event =
            TraceEvent::stage(snapshot.stage, snapshot.duration_ms, snapshot.item_count_out);
        self.draft.event(event.clone());
        collector.record_stage_event(event);
        self.snapshots.push(snapshot);
        self.stage_start = Moment::now();
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
