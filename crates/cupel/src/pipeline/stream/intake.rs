//! Items that a stream has yielded so far, and those that were selected.

use super::super::classify::{Classified, classify, largest, require_pinned_fit};
use super::super::deduplicate::{deduplicate, repeats};
use super::super::pins::Pins;
use super::super::place::{Entry, Placed, place};
use super::super::recorder::Recorder;
use super::super::score::score;
use super::super::shape::Shape;
use super::super::slice::{Sliced, effective_budget, room, slice};
use super::super::sort::{Sorted, sort};
use super::log::Log;
use super::seen::SeenTexts;
use crate::Pipeline;
use crate::diagnostics::{CountRequirementShortfall, ExclusionReason};
use crate::model::{TokenSum, clamp_to_i64};
use crate::order::positions_descending;
use crate::slicer::SliceRequest;
use crate::{Candidate, ContextBudget, ContextItem, CupelError, TraceCollector};

/// Items that have been taken in so far.
pub(super) struct Intake<'a> {
    pipeline: &'a Pipeline,
    budget: &'a ContextBudget,
    pulled: Vec<ContextItem>,
    /// Texts that survived deduplication in earlier batches.
    seen: SeenTexts,
    pinned_tokens: TokenSum,
    largest_pinned: Option<ContextItem>,
    /// Positions among all that was pulled, with scores.
    selected: Vec<Entry>,
    selected_tokens: TokenSum,
    shortfalls: Vec<CountRequirementShortfall>,
    log: Log,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        pipeline: &'a Pipeline,
        budget: &'a ContextBudget,
        is_recording: bool,
    ) -> Self {
        Self {
            pipeline,
            budget,
            pulled: Vec::new(),
            seen: SeenTexts::default(),
            pinned_tokens: TokenSum::default(),
            largest_pinned: None,
            selected: Vec::new(),
            selected_tokens: TokenSum::default(),
            shortfalls: Vec::new(),
            log: Log::new(is_recording),
        }
    }

    pub(super) fn pulled(&self) -> &[ContextItem] {
        &self.pulled
    }

    /// Tokens of the effective budget that earlier batches left.
    fn remaining(&self) -> ContextBudget {
        let effective = effective_budget(self.budget, self.pinned_tokens);
        let left = |tokens: i64| clamp_to_i64(i128::from(tokens) - self.selected_tokens.0);
        ContextBudget::plain(left(effective.max_tokens()), left(effective.target_tokens()))
    }

    pub(super) fn remaining_target(&self) -> i64 {
        self.remaining().target_tokens()
    }

    /// Runs one batch through stages 1 to 5.
    pub(super) fn take(&mut self, batch: &[ContextItem]) -> Result<(), CupelError> {
        // One list of candidates for the whole run would be scored as one; a batch is its own.
        let first_position = self.pulled.len() as u32;
        let (policy, context) = (&self.pipeline.policy, &self.pipeline.context);
        self.pulled.extend_from_slice(batch);
        self.log.begin_batch(first_position);

        let classified = classify(batch)?;
        let has_pins = !classified.pinned.is_empty();
        self.pin(&classified)?;
        self.log.stage(batch.len(), classified.len(), classified.exclusions());

        let scored = score(classified, &*policy.scorer, context);
        self.log.stage(scored.len(), scored.len(), std::iter::empty());

        let mut unique = deduplicate(&scored, policy.deduplication, None);
        let mut repeated = Vec::new();
        if policy.deduplication {
            repeated = self.seen.drop_repeated(&mut unique.survivors, |at| scored.item(at));
        }
        let repeated = repeated.iter().map(|at| repeats(&scored, *at, *at));
        let excluded = unique.exclusions(&scored).chain(repeated);
        self.log.stage(scored.len(), unique.len(), excluded);

        let sorted = sort(&scored, &unique);
        self.log.begin_stage();

        if has_pins {
            self.make_room()?;
        }
        let remaining = self.remaining();
        let request =
            SliceRequest::new(&sorted.candidates, &remaining).within(batch).in_context(context);
        let sliced = slice(&request, &*policy.slicer, None)?;
        self.select(first_position, &sorted, &sliced);
        self.shortfalls.extend(sliced.shortfalls.iter().cloned());
        let excluded = sliced.exclusions(&sorted, None, self.misfit());
        self.log.stage(sorted.len(), sliced.len(), excluded);
        Ok(())
    }

    fn pin(&mut self, classified: &Classified<'_>) -> Result<(), CupelError> {
        self.pinned_tokens.0 += classified.pinned_tokens.0;
        let pinned = classified.pinned.iter().map(|at| &classified.items[*at as usize]);
        self.largest_pinned = largest(self.largest_pinned.iter().chain(pinned)).cloned();
        require_pinned_fit(self.pinned_tokens, self.budget)
    }

    fn select(&mut self, first_position: u32, sorted: &Sorted<'_>, sliced: &Sliced) {
        for (at, _) in sliced.is_selected.iter().enumerate().filter(|(_, selected)| **selected) {
            let candidate = &sorted.candidates[at];
            let shape = sliced.shape(at);
            let position = first_position + sorted.positions[at];
            self.selected.push(Entry { position, shape, score: candidate.score() });
            self.selected_tokens.add(shape.tokens(candidate.item()));
        }
    }

    /// Where pins take what earlier batches have used, the slicer chooses once more among what it
    /// chose there. Their shortfalls are known already.
    fn make_room(&mut self) -> Result<(), CupelError> {
        let effective = effective_budget(self.budget, self.pinned_tokens);
        if self.selected_tokens.0 <= i128::from(effective.target_tokens()) {
            return Ok(());
        }
        // Lent out, so that what is selected can change meanwhile.
        let pulled = std::mem::take(&mut self.pulled);
        let chosen = self.choose_again(&pulled, &effective);
        self.pulled = pulled;
        chosen
    }

    fn choose_again(
        &mut self,
        pulled: &[ContextItem],
        effective: &ContextBudget,
    ) -> Result<(), CupelError> {
        let (sorted, _) = best_first(&std::mem::take(&mut self.selected), pulled);
        self.selected_tokens = TokenSum::default();
        let Pipeline { policy, context, .. } = self.pipeline;
        let request =
            SliceRequest::new(&sorted.candidates, effective).within(pulled).in_context(context);
        let sliced = slice(&request, &*policy.slicer, None)?;
        self.select(0, &sorted, &sliced);
        let excluded = sliced.exclusions(&sorted, None, self.misfit());
        self.log.sliced_again(sorted.len(), sliced.len(), excluded);
        Ok(())
    }

    /// Why an item did not fit, as far as pins are known.
    fn misfit(&self) -> impl Fn(i64, i64) -> ExclusionReason + use<> {
        let (room, pinned) = (room(self.budget, self.pinned_tokens), self.largest_pinned.clone());
        move |tokens, available| room.misfit(tokens, available, || pinned.as_ref())
    }

    /// Reports what the batches went through: all of it, or as far as a failed one came.
    pub(super) fn tell<C: TraceCollector + ?Sized>(
        &mut self,
        recorder: &mut Recorder<'_, C>,
        failed: bool,
    ) {
        recorder.candidates(&self.pulled);
        recorder.shortfalls(&self.shortfalls);
        self.log.tell(&self.pulled, recorder, failed);
    }

    /// Reports stages 1 to 5, and runs the last.
    pub(super) fn place<C: TraceCollector + ?Sized>(
        &mut self,
        recorder: &mut Recorder<'_, C>,
    ) -> Result<Placed, CupelError> {
        self.tell(recorder, false);
        // Whether pinned items fit was asked batch by batch.
        let classified = classify(&self.pulled)?;
        let (sorted, shapes) = best_first(&self.selected, &self.pulled);
        let sliced = Sliced::all(&shapes);
        let pins = Pins::whole(&classified);
        let placed =
            place(&classified, &pins, &sorted, &sliced, self.budget, &self.pipeline.policy, None)?;
        recorder.placed(&placed, &classified, self.budget);
        Ok(placed)
    }
}

/// Selected items, in the order of the Sort stage, and the form of each.
fn best_first<'i>(selected: &[Entry], pulled: &'i [ContextItem]) -> (Sorted<'i>, Vec<Shape>) {
    let order = positions_descending(selected.iter().map(|entry| entry.score));
    let selected: Vec<Entry> = order.into_iter().map(|at| selected[at as usize]).collect();
    let candidate = |entry: &Entry| {
        let position = entry.position as usize;
        Candidate::new(&pulled[position], entry.score).at(position)
    };
    let candidates = selected.iter().map(candidate).collect();
    let positions = selected.iter().map(|entry| entry.position).collect();
    let shapes = selected.iter().map(|entry| entry.shape).collect();
    (Sorted { candidates, positions }, shapes)
}
