//! The same stages for candidates that arrive bit by bit.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use futures_core::Stream;

use super::Pipeline;
use super::classify::{Classified, classify, largest, misfit, require_pinned_fit};
use super::deduplicate::deduplicate;
use super::place::{Placed, place};
use super::recorder::Recorder;
use super::score::score;
use super::slice::{Sliced, effective_budget, slice};
use super::sort::{Sorted, sort};
use crate::diagnostics::{CountRequirementShortfall, ExcludedItem, ExclusionReason, PipelineStage};
use crate::model::{TokenSum, clamp_to_i64};
use crate::order::positions_descending;
use crate::policy::Policy;
use crate::slicer::StreamSlice;
use crate::{
    Candidate, ContextBudget, ContextItem, CupelError, DiagnosticTraceCollector,
    NullTraceCollector, SelectionReport, TraceCollector, TraceDetailLevel,
};

impl Pipeline {
    /// Selects the window from a stream, pulling no more than it needs. See [`StreamSlice`].
    ///
    /// Works with any executor.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer, StreamSlice};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// # futures_executor::block_on(async {
    /// let endless = futures_util::stream::iter((0..).map(|i| {
    ///     let item = ContextItemBuilder::new(format!("passage {i}"), 10);
    ///     item.future_relevance_hint(0.5).build().unwrap()
    /// }));
    /// let budget = ContextBudget::builder(500).build()?;
    /// let window = pipeline.run_stream(endless, &budget, StreamSlice::default()).await?;
    /// assert_eq!(window.len(), 50);
    /// # Ok::<(), cupel::CupelError>(())
    /// # })?;
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub async fn run_stream(
        &self,
        items: impl Stream<Item = ContextItem>,
        budget: &ContextBudget,
        slicing: StreamSlice,
    ) -> Result<Vec<ContextItem>, CupelError> {
        self.run_stream_traced(items, budget, slicing, &mut NullTraceCollector).await
    }

    /// Selects the window from a stream, and tells a collector how. Stages are reported once,
    /// after the last batch, with the time that they took in all batches together.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn run_stream_traced<C: TraceCollector + ?Sized>(
        &self,
        items: impl Stream<Item = ContextItem>,
        budget: &ContextBudget,
        slicing: StreamSlice,
        collector: &mut C,
    ) -> Result<Vec<ContextItem>, CupelError> {
        let mut items = pin!(items);
        let mut recorder = Recorder::begin(collector, budget);
        let mut intake = Intake::new(&self.policy, budget, recorder.is_recording());
        let mut taken = Ok(());
        while taken.is_ok() && intake.remaining_target() > 0 {
            let batch = next_batch(items.as_mut(), slicing.batch_size()).await;
            let is_last = batch.len() < slicing.batch_size();
            taken = intake.take(&batch);
            if is_last {
                break;
            }
        }
        let placed = taken.and_then(|()| intake.place(&mut recorder));
        recorder.finish(placed.as_ref().err());
        Ok(placed?.window(&intake.pulled))
    }

    /// Selects the window from a stream, and reports why. Only what was pulled is reported.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn dry_run_stream(
        &self,
        items: impl Stream<Item = ContextItem>,
        budget: &ContextBudget,
        slicing: StreamSlice,
    ) -> Result<SelectionReport, CupelError> {
        let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Stage);
        self.run_stream_traced(items, budget, slicing, &mut collector).await?;
        Ok(collector.into_report())
    }
}

/// Waits until a batch is full or the stream ends.
async fn next_batch(
    mut items: Pin<&mut impl Stream<Item = ContextItem>>,
    size: usize,
) -> Vec<ContextItem> {
    let mut batch = Vec::new();
    while batch.len() < size {
        match poll_fn(|context| items.as_mut().poll_next(context)).await {
            Some(item) => batch.push(item),
            None => break,
        }
    }
    batch
}

/// An item that is found by its text.
struct ByContent(ContextItem);

impl Borrow<str> for ByContent {
    fn borrow(&self) -> &str {
        self.0.content()
    }
}

impl PartialEq for ByContent {
    fn eq(&self, other: &Self) -> bool {
        self.0.content() == other.0.content()
    }
}

impl Eq for ByContent {}

impl Hash for ByContent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.content().hash(state);
    }
}

/// When a stage first ran, and how long it took in all batches together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageTime {
    pub(super) start: Option<Instant>,
    pub(super) total: Duration,
}

/// What one stage did, over all batches.
#[derive(Default)]
struct StageLog {
    time: StageTime,
    count_in: usize,
    count_out: usize,
    excluded: Vec<ExcludedItem>,
}

/// What has been taken in so far.
struct Intake<'a> {
    policy: &'a Policy,
    budget: &'a ContextBudget,
    is_recording: bool,
    pulled: Vec<ContextItem>,
    /// Texts that survived deduplication in earlier batches.
    seen: HashSet<ByContent, foldhash::fast::RandomState>,
    pinned_tokens: TokenSum,
    largest_pinned: Option<ContextItem>,
    /// Positions among all that was pulled, with scores.
    selected: Vec<(u32, f64)>,
    selected_tokens: TokenSum,
    shortfalls: Vec<CountRequirementShortfall>,
    /// Classify, Score, Deduplicate, Slice.
    logs: [StageLog; 4],
}

const STAGES: [PipelineStage; 4] = [
    PipelineStage::Classify,
    PipelineStage::Score,
    PipelineStage::Deduplicate,
    PipelineStage::Slice,
];
const CLASSIFY: usize = 0;
const SCORE: usize = 1;
const DEDUPLICATE: usize = 2;
const SLICE: usize = 3;

impl<'a> Intake<'a> {
    fn new(policy: &'a Policy, budget: &'a ContextBudget, is_recording: bool) -> Self {
        Self {
            policy,
            budget,
            is_recording,
            pulled: Vec::new(),
            seen: HashSet::default(),
            pinned_tokens: TokenSum::default(),
            largest_pinned: None,
            selected: Vec::new(),
            selected_tokens: TokenSum::default(),
            shortfalls: Vec::new(),
            logs: Default::default(),
        }
    }

    /// What earlier batches left of the effective budget.
    fn remaining(&self) -> ContextBudget {
        let effective = effective_budget(self.budget, self.pinned_tokens);
        let left = |tokens: i64| clamp_to_i64(i128::from(tokens) - self.selected_tokens.0);
        ContextBudget::plain(left(effective.max_tokens()), left(effective.target_tokens()))
    }

    fn remaining_target(&self) -> i64 {
        self.remaining().target_tokens()
    }

    /// Runs one batch through stages 1 to 5.
    fn take(&mut self, batch: &[ContextItem]) -> Result<(), CupelError> {
        // One list of candidates for the whole run would be scored as one; a batch is its own.
        let first_position = self.pulled.len() as u32;
        let policy = self.policy;

        let clock = self.clock();
        let classified = classify(batch)?;
        self.pin(&classified)?;
        self.log(CLASSIFY, clock, batch.len(), classified.len(), classified.exclusions());

        let clock = self.clock();
        let scored = score(&classified, &*policy.scorer);
        self.log(SCORE, clock, scored.len(), scored.len(), std::iter::empty());

        let clock = self.clock();
        let mut unique = deduplicate(&scored, policy.deduplication);
        let repeated = if policy.deduplication {
            self.drop_seen(&mut unique.survivors, |at| scored.item(at))
        } else {
            Vec::new()
        };
        let repeated = repeated.iter().map(|at| {
            let item = scored.item(*at as usize);
            let deduplicated_against = item.content().to_owned();
            let reason = ExclusionReason::Deduplicated { deduplicated_against };
            (item, scored.scores[*at as usize], reason)
        });
        let excluded = unique.exclusions(&scored).chain(repeated);
        self.log(DEDUPLICATE, clock, scored.len(), unique.len(), excluded);

        let sorted = sort(&scored, &unique);

        let clock = self.clock();
        let sliced = slice(&sorted, &self.remaining(), &*policy.slicer)?;
        for (at, _) in sliced.is_selected.iter().enumerate().filter(|(_, selected)| **selected) {
            let candidate = &sorted.candidates[at];
            self.selected.push((first_position + sorted.positions[at], candidate.score()));
            self.selected_tokens.add(candidate.tokens());
        }
        self.shortfalls.extend(sliced.shortfalls.iter().cloned());
        let (pinned_tokens, pinned) = (self.pinned_tokens, self.largest_pinned.clone());
        let misfit =
            |tokens, available| misfit(tokens, available, pinned_tokens, || pinned.as_ref());
        self.log(SLICE, clock, sorted.len(), sliced.len(), sliced.exclusions(&sorted, misfit));

        self.pulled.extend_from_slice(batch);
        Ok(())
    }

    fn pin(&mut self, classified: &Classified<'_>) -> Result<(), CupelError> {
        self.pinned_tokens.0 += classified.pinned_tokens.0;
        let pinned = classified.pinned.iter().map(|at| &classified.items[*at as usize]);
        self.largest_pinned = largest(self.largest_pinned.iter().chain(pinned)).cloned();
        require_pinned_fit(self.pinned_tokens, self.budget)
    }

    /// Drops survivors whose text occurred in an earlier batch; returns those.
    fn drop_seen<'i>(
        &mut self,
        survivors: &mut Vec<u32>,
        item: impl Fn(usize) -> &'i ContextItem,
    ) -> Vec<u32> {
        let mut repeated = Vec::new();
        survivors.retain(|at| {
            let item = item(*at as usize);
            let is_new = self.seen.insert(ByContent(item.clone()));
            if !is_new {
                repeated.push(*at);
            }
            is_new
        });
        repeated
    }

    fn clock(&self) -> Option<Instant> {
        self.is_recording.then(Instant::now)
    }

    fn log<'i>(
        &mut self,
        stage: usize,
        clock: Option<Instant>,
        count_in: usize,
        count_out: usize,
        excluded: impl Iterator<Item = (&'i ContextItem, f64, ExclusionReason)>,
    ) {
        let Some(start) = clock else { return };
        let log = &mut self.logs[stage];
        log.time.start.get_or_insert(start);
        log.time.total += start.elapsed();
        log.count_in += count_in;
        log.count_out += count_out;
        log.excluded.extend(excluded.map(|(item, score, reason)| ExcludedItem {
            item: item.clone(),
            score,
            reason,
        }));
    }

    /// Reports stages 1 to 5, and runs the last.
    fn place<C: TraceCollector + ?Sized>(
        &self,
        recorder: &mut Recorder<'_, C>,
    ) -> Result<Placed, CupelError> {
        recorder.candidates(&self.pulled);
        recorder.shortfalls(&self.shortfalls);
        for (stage, log) in STAGES.into_iter().zip(&self.logs) {
            recorder.batched_stage(stage, log.count_in..log.count_out, log.time, &log.excluded);
        }
        // Whether pinned items fit was asked batch by batch.
        let classified = classify(&self.pulled)?;
        let order = positions_descending(self.selected.iter().map(|(_, score)| *score));
        let selected = order.into_iter().map(|at| self.selected[at as usize]);
        let (positions, candidates) = selected
            .map(|(at, score)| (at, Candidate::new(&self.pulled[at as usize], score)))
            .unzip();
        let sorted = Sorted { candidates, positions };
        let sliced = Sliced::all(sorted.len());
        let placed = place(&classified, &sorted, &sliced, self.budget, self.policy)?;
        recorder.placed(&placed, &classified, self.budget);
        Ok(placed)
    }
}
