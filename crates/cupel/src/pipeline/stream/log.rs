//! Counts of the stages, over all batches together.

use std::time::Duration;

use super::super::fate::Exclusion;
use super::super::recorder::Recorder;
use crate::clock::Moment;
use crate::diagnostics::{ExclusionReason, PipelineStage};
use crate::{ContextItem, TraceCollector};

/// When a stage first ran, and how long it took in all batches together.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct StageTime {
    pub(in super::super) start: Option<Moment>,
    pub(in super::super) total: Duration,
}

/// Counts of one stage, over all batches.
#[derive(Default)]
struct StageLog {
    time: StageTime,
    count_in: usize,
    count_out: usize,
    excluded: Vec<(u32, f64, ExclusionReason)>,
}

/// The stages that run batch by batch.
const STAGES: [PipelineStage; 4] = [
    PipelineStage::Classify,
    PipelineStage::Score,
    PipelineStage::Deduplicate,
    PipelineStage::Slice,
];

/// Events so far, if anybody wants to know.
pub(super) struct Log {
    is_recording: bool,
    stages: [StageLog; STAGES.len()],
    next_stage: usize,
    start: Option<Moment>,
    first_position: u32,
}

impl Log {
    pub(super) fn new(is_recording: bool) -> Self {
        Self {
            is_recording,
            stages: Default::default(),
            next_stage: 0,
            start: None,
            first_position: 0,
        }
    }

    /// A batch begins, whose first item stands at this position of all that is pulled.
    pub(super) fn begin_batch(&mut self, first_position: u32) {
        self.first_position = first_position;
        self.next_stage = 0;
        self.begin_stage();
    }

    /// From here on the time belongs to the next stage.
    pub(super) fn begin_stage(&mut self) {
        self.start = self.is_recording.then(Moment::now);
    }

    /// The next of the stages is done with this batch.
    pub(super) fn stage<'i>(
        &mut self,
        count_in: usize,
        count_out: usize,
        excluded: impl Iterator<Item = Exclusion<'i>>,
    ) {
        let Some(start) = self.start else { return };
        let stage = &mut self.stages[self.next_stage];
        self.next_stage += 1;
        stage.time.start.get_or_insert(start);
        stage.time.total += start.elapsed();
        stage.count_in += count_in;
        stage.count_out += count_out;
        let first = self.first_position;
        stage
            .excluded
            .extend(excluded.map(|fate| (first + fate.position, fate.score, fate.reason)));
        self.begin_stage();
    }

    /// Of so many items that earlier batches had selected, so many are left.
    pub(super) fn sliced_again<'i>(
        &mut self,
        count_before: usize,
        count_after: usize,
        excluded: impl Iterator<Item = Exclusion<'i>>,
    ) {
        if self.is_recording {
            let slice = &mut self.stages[STAGES.len() - 1];
            slice.count_out = slice.count_out + count_after - count_before;
            slice.excluded.extend(excluded.map(|fate| (fate.position, fate.score, fate.reason)));
        }
    }

    /// Tells it all, stage by stage; of a batch that failed, the stages that it went through.
    /// Positions are those of `pulled`.
    pub(super) fn tell<C: TraceCollector + ?Sized>(
        &mut self,
        pulled: &[ContextItem],
        recorder: &mut Recorder<'_, C>,
        failed: bool,
    ) {
        let count = if failed { self.next_stage } else { STAGES.len() };
        let logs = std::mem::take(&mut self.stages).into_iter().take(count);
        for (stage, log) in STAGES.into_iter().zip(logs) {
            let excluded = log.excluded.into_iter().map(|(position, score, reason)| {
                let item = &pulled[position as usize];
                Exclusion { position, item, score, reason }
            });
            recorder.batched_stage(stage, log.count_in..log.count_out, log.time, excluded);
        }
    }
}
