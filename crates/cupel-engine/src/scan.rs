//! What the windows of all budgets say of each candidate.

use cupel::{ContextBudget, PlacedItem, Ranking};

use crate::prepare::{fitting, tokens_of};
use crate::progress::Watch;
use crate::{EngineError, Prepared, Work};

/// Where each candidate stands in the windows of all budgets, with nothing set aside.
///
/// More budget may cost a candidate its place: then something larger took it. So no search by halves
/// will do, and all budgets are tried at which a window can change.
pub(crate) struct Scan {
    fates: Vec<Fate>,
    /// Whether every budget was tried at which a window can change.
    pub(crate) is_exact: bool,
}

/// What becomes of one candidate as the budget grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The smallest budget whose window holds it.
    pub(crate) first: Option<i64>,
    /// The smallest budget above the first whose window does not.
    pub(crate) lost: Option<i64>,
    /// The smallest budget above the one that was asked about whose window holds it.
    pub(crate) next: Option<i64>,
}

/// How many candidates are looked at before budgets are passed over.
const PATIENCE: usize = 60_000_000;

impl Scan {
    /// Tries budgets up to all tokens; `above` is the budget that [`Fate::next`] is asked about.
    pub(crate) fn new(
        prepared: &Prepared,
        ranking: &Ranking<'_, '_>,
        above: i64,
    ) -> Result<Self, EngineError> {
        let items = prepared.items();
        let lowest = tokens_of(items.iter().filter(|item| item.pinned())).max(0);
        let highest = tokens_of(items.iter().filter(|item| item.tokens() > 0)).max(lowest);
        let budgets = usize::try_from(highest - lowest).unwrap_or(usize::MAX).saturating_add(1);
        let watch = Watch::begin(prepared.settings().progress.as_ref(), Work::Budgets, budgets);
        let mut scan = Self { fates: vec![Fate::default(); items.len()], is_exact: true };
        let mut is_in = vec![false; items.len()];
        let mut patience = PATIENCE;
        let mut budget = lowest;
        loop {
            let window = prepared.window_of(ranking, budget)?;
            scan.note(&window, budget, above, &mut is_in);
            if budget >= highest {
                return Ok(scan);
            }
            let next = prepared.next_budget(ranking, budget, highest)?;
            patience = patience.saturating_sub(items.len().max(1));
            let leap = if patience == 0 { ((highest - lowest) / 1_000).max(1) } else { 1 };
            scan.is_exact &= leap <= next.saturating_sub(budget);
            let next = next.max(budget.saturating_add(leap)).min(highest);
            watch.advance(usize::try_from(next - budget).unwrap_or(usize::MAX));
            budget = next;
        }
    }

    fn note(&mut self, window: &[PlacedItem], budget: i64, above: i64, is_in: &mut [bool]) {
        is_in.fill(false);
        for placed in window {
            is_in[placed.position] = true;
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

    /// What becomes of a candidate.
    pub(crate) fn fate(&self, position: usize) -> Fate {
        self.fates[position]
    }
}

impl Prepared {
    /// The window of a budget with nothing set aside; empty if what is pinned does not fit.
    pub(crate) fn window_of(
        &self,
        ranking: &Ranking<'_, '_>,
        tokens: i64,
    ) -> Result<Vec<PlacedItem>, EngineError> {
        Ok(self.fitting_window(ranking, tokens)?.unwrap_or_default())
    }

    /// The window of a budget with nothing set aside; `None` if what is pinned does not fit.
    pub(crate) fn fitting_window(
        &self,
        ranking: &Ranking<'_, '_>,
        tokens: i64,
    ) -> Result<Option<Vec<PlacedItem>>, EngineError> {
        let budget = ContextBudget::builder(tokens).build()?;
        let window = match self.whole(&budget)? {
            Some(whole) => whole.window(self.items(), &budget),
            None => ranking.window(&budget),
        };
        fitting(window).map_err(|error| self.failed(error))
    }

    /// The next budget at which the window may be another one.
    fn next_budget(
        &self,
        ranking: &Ranking<'_, '_>,
        tokens: i64,
        highest: i64,
    ) -> Result<i64, EngineError> {
        let _ = (ranking, highest);
        Ok(tokens.saturating_add(1))
    }
}
