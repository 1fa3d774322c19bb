//! Why was this chosen, beside what it scores?

use super::classify::classify;
use super::needs::Bound;
use super::pins::Pins;
use super::slice::effective_budget;
use super::{Pipeline, Ranking};
use crate::slicer::{Gain, Reserved, SliceExplanation, SliceRequest, Worth};
use crate::{ContextBudget, ContextItem, CupelError, Slicer};

impl Ranking<'_, '_> {
    /// Signals of the slicer at a budget, and the gain of each item, by position in
    /// the list that was ranked. `None` if the slicer has nothing to add to the scores.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`](crate::Pipeline::run).
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let items = [ContextItemBuilder::new("ping", 50).build()?];
    /// let budget = ContextBudget::builder(60).build()?;
    /// assert_eq!(pipeline.rank(&items)?.explain_slice(&budget)?, None);
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn explain_slice(
        &self,
        budget: &ContextBudget,
    ) -> Result<Option<SliceExplanation>, CupelError> {
        let explanation = self.ask_bound(budget, |slicer, request| slicer.explain(request))?;
        Ok(explanation.map(|SliceExplanation { signals, gains, reserved, notes }| {
            let in_list =
                |gain: Gain| Some(Gain { position: self.in_list(gain.position)?, ..gain });
            let mut gains: Vec<Gain> = gains.into_iter().filter_map(in_list).collect();
            gains.sort_unstable_by_key(|gain| gain.position);
            let notes = notes.into_iter().filter_map(|(at, note)| Some((self.in_list(at)?, note)));
            let (reserved, notes) = (self.reserved_in_list(reserved), notes.collect());
            SliceExplanation { signals, gains, reserved, notes }
        }))
    }

    /// Returns what the slicer keeps at a budget before the rest competes, by position in the list that was
    /// ranked. Nothing, unless the slicer has a rule for that.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`](crate::Pipeline::run).
    pub fn reserve(&self, budget: &ContextBudget) -> Result<Vec<Reserved>, CupelError> {
        let reserved = self.ask_bound(budget, |slicer, request| slicer.reserve(request))?;
        Ok(self.reserved_in_list(reserved))
    }

    fn reserved_in_list(&self, reserved: Vec<Reserved>) -> Vec<Reserved> {
        let in_list =
            |kept: Reserved| Some(Reserved { position: self.in_list(kept.position)?, ..kept });
        reserved.into_iter().filter_map(in_list).collect()
    }

    /// The position in the list of a candidate that the slicer knows by number.
    fn in_list(&self, candidate: usize) -> Option<usize> {
        let at = match self.bound_for_slicer() {
            Some(bound) => bound.sorted_position(candidate)?,
            None => candidate,
        };
        Some(*self.ranked.sorted.positions.get(at)? as usize)
    }

    /// Asks the slicer something about the candidates at a budget, and tells it what they need if it knows of
    /// that.
    fn ask_bound<A>(
        &self,
        budget: &ContextBudget,
        ask: impl FnOnce(&dyn Slicer, &SliceRequest<'_>) -> Result<A, CupelError>,
    ) -> Result<A, CupelError> {
        let bound = self.bound_for_slicer();
        self.ask(budget, |slicer, request| match bound {
            Some(bound) => {
                let budget = bound.budget(request.budget)?;
                ask(slicer, &bound.request(request, &budget))
            }
            None => ask(slicer, request),
        })
    }

    /// Worth of the items together at a budget, by position in the list that was ranked. What
    /// is pinned, or does not compete, is worth nothing here.
    ///
    /// # Errors
    ///
    /// As [`Pipeline::run`](crate::Pipeline::run).
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Pipeline, ReflexiveScorer};
    /// # let pipeline = Pipeline::builder()
    /// #     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?;
    /// let item = |hint| ContextItemBuilder::new("ping", 50).future_relevance_hint(hint);
    /// let items = [item(0.1).pinned(true).build()?, item(0.4).build()?];
    /// let worth = pipeline.rank(&items)?.worth(&ContextBudget::builder(60).build()?)?;
    /// assert_eq!((worth.alone(0), worth.alone(1)), (0.0, 0.4));
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn worth(&self, budget: &ContextBudget) -> Result<Worth, CupelError> {
        let worth = self.ask(budget, |slicer, request| slicer.worth(request))?;
        Ok(self.by_item(&worth))
    }

    /// The same for a window that [goes on](SliceRequest::goes_on) from one that was sent before.
    ///
    /// # Errors
    ///
    /// As [`worth`](Self::worth).
    pub fn worth_going_on(&self, budget: &ContextBudget) -> Result<Worth, CupelError> {
        let worth = self.ask(budget, |slicer, request| slicer.worth(&request.going_on()))?;
        Ok(self.by_item(&worth))
    }

    /// The needs of items, for a slicer that knows of them.
    fn bound_for_slicer(&self) -> Option<&Bound<'_>> {
        self.ranked.bound.as_ref().filter(|_| self.pipeline.policy.slicer.knows_needs())
    }

    fn by_item(&self, worth: &Worth) -> Worth {
        worth.within(self.ranked.classified().items.len(), &self.ranked.sorted.positions)
    }

    /// Asks the slicer something about the candidates at a budget.
    fn ask<A>(
        &self,
        budget: &ContextBudget,
        ask: impl FnOnce(&dyn Slicer, &SliceRequest<'_>) -> Result<A, CupelError>,
    ) -> Result<A, CupelError> {
        let (classified, sorted) = (self.ranked.classified(), &self.ranked.sorted);
        let effective = effective_budget(budget, Pins::fit(classified, budget)?.tokens);
        let request = SliceRequest::new(&sorted.candidates, &effective)
            .within(classified.items)
            .in_context(&self.pipeline.context);
        ask(&*self.pipeline.policy.slicer, &request)
    }
}

impl Pipeline {
    /// Tokens that competing items may cost together at a budget: those left beside the pinned items of
    /// the list, reserved slots, the reserve and the margin.
    ///
    /// # Errors
    ///
    /// If the pinned items do not fit.
    ///
    /// # Example
    ///
    /// ```
    /// # use cupel::{ContextBudget, ContextItemBuilder, Pipeline};
    /// let items = [ContextItemBuilder::new("rules", 20).pinned(true).build()?];
    /// let budget = ContextBudget::builder(100).output_reserve(30).build()?;
    /// assert_eq!(Pipeline::competing_tokens(&items, &budget)?, 50);
    /// # Ok::<(), cupel::CupelError>(())
    /// ```
    pub fn competing_tokens(
        items: &[ContextItem],
        budget: &ContextBudget,
    ) -> Result<i64, CupelError> {
        let pins = Pins::fit(&classify(items)?, budget)?;
        Ok(effective_budget(budget, pins.tokens).target_tokens())
    }

    /// The pinned items that a run would take shorter at a budget, since all of them whole do not fit:
    /// their positions, and which of their renderings.
    ///
    /// # Errors
    ///
    /// If the pinned items do not fit even so.
    pub fn shortened_pins(
        items: &[ContextItem],
        budget: &ContextBudget,
    ) -> Result<Vec<(usize, usize)>, CupelError> {
        Ok(Pins::fit(&classify(items)?, budget)?.shortened())
    }
}

#[cfg(test)]
mod tests {
    use crate::slicer::slice_by_selecting;
    use crate::{
        ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, CupelError, Gain,
        Pipeline, ReflexiveScorer, ScoredItem, Selection, SliceExplanation, SliceRequest,
        SliceSignal, Slicer,
    };

    /// Takes everything; an item adds its position in the list, the signal is how many are pinned.
    struct Places;

    impl Slicer for Places {
        fn slice(
            &self,
            sorted: &[ScoredItem],
            budget: &ContextBudget,
        ) -> Result<Vec<ContextItem>, CupelError> {
            slice_by_selecting(self, sorted, budget)
        }

        fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
            Ok(Selection::of((0..request.candidates.len()).collect()))
        }

        fn explain(
            &self,
            request: &SliceRequest<'_>,
        ) -> Result<Option<SliceExplanation>, CupelError> {
            let place = |at: usize| request.position(&request.candidates[at]);
            let gains = (0..request.candidates.len())
                .map(|at| Gain { position: at, gain: place(at).map_or(f64::NAN, |at| at as f64) });
            let pinned = request.list.iter().filter(|item| item.pinned()).count();
            let signals = vec![SliceSignal::new("pinned", pinned as f64, "pins")];
            Ok(Some(SliceExplanation {
                signals,
                gains: gains.collect(),
                ..SliceExplanation::default()
            }))
        }
    }

    #[test]
    fn slicers_see_the_whole_list_and_gains_come_back_by_its_positions() {
        let pipeline = Pipeline::builder()
            .scorer(ReflexiveScorer)
            .slicer(Places)
            .placer(ChronologicalPlacer)
            .deduplication(false)
            .build()
            .unwrap();
        let item = |hint: f64| ContextItemBuilder::new("same", 1).future_relevance_hint(hint);
        let twice = item(0.5).build().unwrap();
        let pinned = item(0.0).pinned(true).build().unwrap();
        let items = [twice.clone(), pinned, item(0.9).build().unwrap(), twice];
        let ranking = pipeline.rank(&items).unwrap();
        let explained = ranking.explain_slice(&ContextBudget::builder(10).build().unwrap());
        let explained = explained.unwrap().unwrap();
        assert_eq!(explained.signals[0].value, 1.0);
        for position in [0, 2, 3] {
            assert_eq!(explained.gain(position), Some(position as f64));
        }
        assert_eq!(explained.gain(1), None, "what is pinned adds nothing of its own");
    }

    #[test]
    fn a_candidate_without_a_position_or_beyond_the_list_is_nowhere() {
        let items = [ContextItemBuilder::new("a", 1).build().unwrap()];
        let budget = ContextBudget::builder(10).build().unwrap();
        let candidate = crate::Candidate::new(&items[0], 1.0);
        let candidates = [candidate, candidate.at(0), candidate.at(1), candidate.at(usize::MAX)];
        let request = SliceRequest::new(&candidates, &budget);
        let positions = |request: SliceRequest<'_>| candidates.map(|c| request.position(&c));
        assert_eq!(positions(request), [None; 4]);
        assert_eq!(positions(request.within(&items)), [None, Some(0), None, None]);
    }
}
