//! Presence of each candidate in the windows of all budgets.

use cupel::{ContextBudget, PlacedItem, Ranking};

use crate::prepare::{fitting, least_pinned_tokens, tokens_of};
use crate::progress::Watch;
use crate::{EngineError, Prepared, Work};

/// Where each candidate stands in the windows of all budgets, with nothing set aside.
///
/// More budget may cost a candidate its place: then something larger took it. So no search by halves
/// will do, and all budgets are tried at which a window can change.
pub(crate) struct Scan {
    fates: Vec<Fate>,
    /// True if every budget was tried at which a window can change.
    pub(crate) is_exact: bool,
    /// Distance between budgets that were tried.
    leap: i64,
}

/// Presence of one candidate as the budget grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The smallest budget whose window holds it.
    pub(crate) first: Option<i64>,
    /// The smallest budget above the first whose window does not.
    pub(crate) lost: Option<i64>,
    /// The smallest budget above the one that was asked about whose window holds it.
    pub(crate) next: Option<i64>,
    /// The smallest budget above the one that was asked about whose window holds it whole.
    pub(crate) whole: Option<i64>,
    /// True if `next` is the smallest that was looked for, with all budgets below it known.
    pub(crate) next_is_exact: bool,
}

/// Number of windows that are tried. Where there are more, some budgets are passed over.
const PATIENCE: usize = 50_000;

/// Bound on the work for the windows of an explanation, in tenths of a microsecond for each of three rounds:
/// with [`WINDOW`] some 0.8 s of processor time, for 10,000 messages of a chat as for the 220 of a coding
/// agent's session, on which both were chosen. Half or twice as much only moves the time.
const EXPLAINED: usize = 5_000_000;

/// The work of a window beside one tenth of a microsecond for each candidate.
const WINDOW: usize = 1_000;

impl Scan {
    /// Tries budgets up to all tokens, for the least that keeps a candidate.
    pub(crate) fn of_all(
        prepared: &Prepared,
        ranking: &Ranking<'_, '_>,
    ) -> Result<Self, EngineError> {
        Self::new(prepared, ranking, i64::MAX, PATIENCE)
    }

    /// The same for what gets these candidates in above a budget, in bounded time: of long requests some
    /// budgets are passed over, and the smallest is then looked for among those that were.
    pub(crate) fn above(
        prepared: &Prepared,
        ranking: &Ranking<'_, '_>,
        above: i64,
        asked: &[usize],
    ) -> Result<Self, EngineError> {
        let patience = (EXPLAINED / (WINDOW + prepared.items().len())).clamp(200, PATIENCE);
        let mut scan = Self::new(prepared, ranking, above, patience / 2)?;
        let mut left = patience / 2;
        for fate in &mut scan.fates {
            fate.next_is_exact = scan.is_exact;
        }
        for at in asked.iter().filter(|_| !scan.is_exact) {
            let Some(mut high) = scan.fates[*at].next else { continue };
            let mut low = above.max(high.saturating_sub(scan.leap));
            while high - low > 1 && left > 0 {
                let middle = low + (high - low) / 2;
                let window = prepared.window_of(ranking, middle)?;
                let holds = window.iter().any(|placed| placed.position == *at);
                (low, high) = if holds { (low, middle) } else { (middle, high) };
                left -= 1;
            }
            scan.fates[*at].next = Some(high);
        }
        Ok(scan)
    }

    /// Tries so many budgets up to all tokens; `above` is the budget that [`Fate::next`] is asked about.
    fn new(
        prepared: &Prepared,
        ranking: &Ranking<'_, '_>,
        above: i64,
        patience: usize,
    ) -> Result<Self, EngineError> {
        let items = prepared.items();
        let lowest = least_pinned_tokens(items);
        let highest = tokens_of(items.iter().filter(|item| item.tokens() > 0)).max(lowest);
        let progress = prepared.settings().progress.as_ref();
        let range = usize::try_from(highest - lowest).unwrap_or(usize::MAX);
        let watch = Watch::begin(progress, Work::Budgets, range);
        let mut scan = Self { fates: vec![Fate::default(); items.len()], is_exact: true, leap: 1 };
        let mut is_in = vec![false; items.len()];
        let mut noted = lowest;
        let mut note = |scan: &mut Self, budget: i64, window: &[PlacedItem]| {
            watch.advance(usize::try_from(budget - noted).unwrap_or(usize::MAX));
            noted = budget;
            scan.note(window, budget, above, &mut is_in);
        };
        // The budget that holds all is tried by itself: what fits comes back whole.
        let mut sweep = ranking.sweep(lowest, highest - 1);
        // Nearly every candidate has a budget from which on it is in: where there are more than can be
        // tried, the first of them are no better than any others.
        let exactly = if items.len() > patience { 0 } else { patience };
        for step in sweep.by_ref().take(exactly) {
            let (budget, window) = step.map_err(|error| prepared.failed(error))?;
            note(&mut scan, budget, &window.unwrap_or_default());
        }
        if let Some(rest) = sweep.next_budget() {
            scan.is_exact = false;
            let most = i64::try_from(patience.min(10_000)).unwrap_or(i64::MAX);
            let leap = ((highest - rest) / most).max(1);
            scan.leap = leap;
            for budget in (rest..highest).step_by(usize::try_from(leap).unwrap_or(usize::MAX)) {
                note(&mut scan, budget, &prepared.window_of(ranking, budget)?);
            }
        }
        note(&mut scan, highest, &prepared.window_of(ranking, highest)?);
        Ok(scan)
    }

    fn note(&mut self, window: &[PlacedItem], budget: i64, above: i64, is_in: &mut [bool]) {
        is_in.fill(false);
        for placed in window {
            is_in[placed.position] = true;
            if placed.rendering.is_none() && budget > above {
                self.fates[placed.position].whole.get_or_insert(budget);
            }
        }
        for (fate, is_in) in self.fates.iter_mut().zip(is_in) {
            match (*is_in, fate.first) {
                (true, None) => fate.first = Some(budget),
                (false, Some(_)) if fate.lost.is_none() => fate.lost = Some(budget),
                _ => {}
            }
            if *is_in && budget > above && fate.next.is_none() {
                fate.next = Some(budget);
            }
        }
    }

    /// Presence of a candidate.
    pub(crate) fn fate(&self, position: usize) -> Fate {
        self.fates[position]
    }
}

impl Prepared {
    /// The window of a budget with nothing set aside, not even a margin; empty if what is pinned does
    /// not fit.
    pub(crate) fn window_of(
        &self,
        ranking: &Ranking<'_, '_>,
        tokens: i64,
    ) -> Result<Vec<PlacedItem>, EngineError> {
        let budget = ContextBudget::builder(tokens).build()?;
        Ok(self.window_in(ranking, &budget)?.unwrap_or_default())
    }

    /// The window of a budget with nothing set aside but the margin, as a selection for so many tokens
    /// has it; `None` if what is pinned does not fit.
    pub(crate) fn fitting_window(
        &self,
        ranking: &Ranking<'_, '_>,
        tokens: i64,
    ) -> Result<Option<Vec<PlacedItem>>, EngineError> {
        self.window_in(ranking, &self.scale().with_margin_alone().budget(tokens)?)
    }

    fn window_in(
        &self,
        ranking: &Ranking<'_, '_>,
        budget: &ContextBudget,
    ) -> Result<Option<Vec<PlacedItem>>, EngineError> {
        match self.whole(budget) {
            Some(whole) => Ok(Some(whole.window)),
            None => fitting(ranking.window(budget)).map_err(|error| self.failed(error)),
        }
    }

    /// The budget with nothing set aside but the margin that leaves as much room as one of `plain` tokens
    /// with nothing set aside.
    pub(crate) fn budget_for(&self, plain: i64) -> i64 {
        let scale = self.scale().with_margin_alone();
        scale.window_for(plain, self.pinned_tokens()).unwrap_or(i64::MAX)
    }
}
