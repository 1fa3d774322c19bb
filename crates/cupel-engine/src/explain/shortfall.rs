//! What it would take to get something in.

use cupel::{ContextBudget, ContextItem};
use serde::{Deserialize, Serialize};

use crate::prepare::tokens_of;
use crate::scan::Scan;

/// What it would take to get something in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "how", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ToGetIn {
    /// A larger budget.
    MoreTokens {
        /// By how much.
        tokens: i64,
        /// A smaller budget that holds it, with nothing set aside: in this one, something else took
        /// its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was_in_at: Option<i64>,
    },
    /// A smaller budget: something else took its place in all larger ones.
    LessTokens {
        /// The smallest that holds it, with nothing set aside.
        budget: i64,
    },
    /// No budget up to all tokens would do.
    NotByBudget,
}

/// What it would take to get candidates into the window of a budget.
pub(super) struct Shortfalls {
    scan: Scan,
    pinned: i64,
    budget: ContextBudget,
}

impl Shortfalls {
    pub(super) fn new(items: &[ContextItem], budget: &ContextBudget, scan: Scan) -> Self {
        Self { scan, pinned: pinned(items), budget: budget.clone() }
    }

    pub(super) fn of(&self, position: usize) -> ToGetIn {
        let fate = self.scan.fate(position);
        match (fate.next, fate.first) {
            (Some(next), first) => ToGetIn::MoreTokens {
                tokens: self.window_for(next).saturating_sub(window(&self.budget)).max(1),
                was_in_at: first.filter(|first| *first < next),
            },
            (None, Some(budget)) => ToGetIn::LessTokens { budget },
            (None, None) => ToGetIn::NotByBudget,
        }
    }

    /// The smallest larger budget, with nothing set aside, whose window has a candidate whole.
    pub(super) fn whole_at(&self, position: usize) -> Option<i64> {
        self.scan.fate(position).whole
    }

    /// The window that leaves, after this budget's reserved slots and safety margin, as much as a
    /// budget with nothing set aside.
    fn window_for(&self, plain: i64) -> i64 {
        let scored = plain.saturating_sub(self.pinned).max(0);
        let share = kept_share(&self.budget);
        let with_margin =
            if share > 0.0 { (scored as f64 / share).ceil() as i64 } else { i64::MAX };
        with_margin.saturating_add(slots(&self.budget)).saturating_add(plain - scored)
    }
}

/// The budget with nothing set aside that leaves as much for what competes as this one does.
pub(super) fn plain(items: &[ContextItem], budget: &ContextBudget) -> i64 {
    plain_room(pinned(items), budget)
}

/// The same, where what is pinned costs so much.
pub(crate) fn plain_room(pinned: i64, budget: &ContextBudget) -> i64 {
    let scored = window(budget).saturating_sub(pinned).saturating_sub(slots(budget)).max(0);
    pinned.saturating_add((scored as f64 * kept_share(budget)).floor() as i64)
}

/// What a budget leaves for items, pinned ones included.
pub(super) fn window(budget: &ContextBudget) -> i64 {
    budget.target_tokens().min(budget.max_tokens() - budget.output_reserve())
}

fn kept_share(budget: &ContextBudget) -> f64 {
    1.0 - budget.estimation_safety_margin_percent() / 100.0
}

fn slots(budget: &ContextBudget) -> i64 {
    budget.total_reserved().saturating_sub(budget.output_reserve())
}

fn pinned(items: &[ContextItem]) -> i64 {
    tokens_of(items.iter().filter(|item| item.pinned())).max(0)
}
