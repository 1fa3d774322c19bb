//! The same stages for candidates that arrive bit by bit.

mod intake;
mod log;
mod seen;

use std::future::poll_fn;
use std::pin::{Pin, pin};

use futures_core::Stream;

use super::Pipeline;
use super::recorder::Recorder;
use crate::slicer::StreamSlice;
use crate::{
    ContextBudget, ContextItem, CupelError, DiagnosticTraceCollector, NullTraceCollector,
    SelectionReport, TraceCollector, TraceDetailLevel,
};
use intake::Intake;
pub(super) use log::StageTime;

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
    /// As [`run`](Self::run), and [`CupelError::PipelineConfig`] if items [need](Self::with_needs) one
    /// another: a stream is no list.
    pub async fn run_stream_traced<C: TraceCollector + ?Sized>(
        &self,
        items: impl Stream<Item = ContextItem>,
        budget: &ContextBudget,
        slicing: StreamSlice,
        collector: &mut C,
    ) -> Result<Vec<ContextItem>, CupelError> {
        if self.needs().is_some_and(|needs| !needs.is_empty()) {
            let text = "needs: a stream has no positions that items could need".to_owned();
            return Err(CupelError::PipelineConfig(text));
        }
        let mut items = pin!(items);
        let mut recorder = Recorder::begin(collector, budget);
        let mut intake = Intake::new(self, budget, recorder.is_recording());
        let mut taken = Ok(());
        let mut is_full = intake.remaining_target() == 0;
        while taken.is_ok() && (!is_full || slicing.takes_all_pins()) {
            let mut batch = next_batch(items.as_mut(), slicing.batch_size()).await;
            let is_last = batch.len() < slicing.batch_size();
            if is_full {
                batch.retain(ContextItem::pinned);
            }
            taken = intake.take(&batch);
            // Where pins drive others out there may be room again, but what was passed over is gone.
            is_full = is_full || intake.remaining_target() == 0;
            if is_last {
                break;
            }
        }
        let placed = match taken {
            Ok(()) => intake.place(&mut recorder),
            Err(error) => {
                intake.tell(&mut recorder, true);
                Err(error)
            }
        };
        recorder.finish(placed.as_ref().err());
        Ok(placed?.window(intake.pulled()))
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
