//! Tokens or budgets with which something would get in.

use cupel::{ContextBudget, ContextItem};
use serde::{Deserialize, Serialize};

use crate::Prepared;
use crate::limits::Scale;
use crate::prepare::tokens_of;
use crate::scan::Scan;

/// Tokens or budget with which something would get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "how", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ToGetIn {
    /// A larger budget.
    MoreTokens {
        /// By how much.
        tokens: i64,
        /// True if nothing less would do. If not, so much does, and less may: of long requests not all
        /// budgets are tried.
        #[serde(default = "yes")]
        is_least: bool,
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

fn yes() -> bool {
    true
}

/// Budgets that would get candidates into a window.
pub(super) struct Shortfalls {
    scan: Scan,
    pinned: i64,
    window: i64,
    scale: Scale,
}

impl Shortfalls {
    pub(super) fn new(prepared: &Prepared, budget: &ContextBudget, scan: Scan) -> Self {
        let scale = prepared.scale().clone();
        Self { scan, pinned: prepared.pinned_tokens(), window: window(budget), scale }
    }

    pub(super) fn of(&self, position: usize) -> ToGetIn {
        let fate = self.scan.fate(position);
        match (fate.next, fate.first) {
            (Some(next), first) => match self.more_for(next) {
                Some(tokens) => ToGetIn::MoreTokens {
                    tokens,
                    is_least: fate.next_is_exact,
                    was_in_at: first.filter(|first| *first < next).map(|plain| self.alone(plain)),
                },
                None => ToGetIn::NotByBudget,
            },
            (None, Some(plain)) => ToGetIn::LessTokens { budget: self.alone(plain) },
            (None, None) => ToGetIn::NotByBudget,
        }
    }

    /// The smallest larger budget, with nothing set aside, whose window has a candidate whole.
    pub(super) fn whole_at(&self, position: usize) -> Option<i64> {
        self.scan.fate(position).whole.map(|plain| self.alone(plain))
    }

    /// Number of additional tokens that leave as much room, beside reserved ones, as a budget with nothing set
    /// aside.
    fn more_for(&self, plain: i64) -> Option<i64> {
        let max = self.scale.window_for(plain, self.pinned)?;
        let window = self.scale.budget(max).map(|budget| window(&budget)).ok()?;
        Some(window.saturating_sub(self.window).max(1))
    }

    /// The budget with nothing but the margin set aside that leaves as much room.
    fn alone(&self, plain: i64) -> i64 {
        let scale = self.scale.with_margin_alone();
        scale.window_for(plain, self.pinned).unwrap_or(i64::MAX)
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

/// Tokens that a budget leaves for items, pinned ones included.
pub(crate) fn window(budget: &ContextBudget) -> i64 {
    budget.target_tokens().min(budget.max_tokens() - budget.output_reserve())
}

fn kept_share(budget: &ContextBudget) -> f64 {
    1.0 - budget.estimation_safety_margin_percent() / 100.0
}

/// Tokens that a budget reserves for kinds.
pub(crate) fn slots(budget: &ContextBudget) -> i64 {
    budget.total_reserved().saturating_sub(budget.output_reserve())
}

/// Tokens of the pinned items.
pub(crate) fn pinned(items: &[ContextItem]) -> i64 {
    tokens_of(items.iter().filter(|item| item.pinned())).max(0)
}
