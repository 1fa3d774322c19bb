//! Messages that have the room of those that were left out.

use cupel::{ContextBudget, InclusionReason, SelectionReport, compare_scores};

/// Messages that compete for room and have it, the lowest scored first.
pub(super) struct Room {
    /// Positions, with the tokens of all up to and including each.
    taken: Vec<(usize, i64)>,
    left: i64,
}

impl Room {
    pub(super) fn new(report: &SelectionReport, budget: &ContextBudget) -> Self {
        let scored =
            |reason| matches!(reason, InclusionReason::Scored | InclusionReason::Shortened);
        let mut kept: Vec<_> = report.included.iter().filter(|kept| scored(kept.reason)).collect();
        kept.sort_by(|a, b| compare_scores(b.score, a.score).then(a.position.cmp(&b.position)));
        let mut sum = 0_i64;
        let running = kept.into_iter().filter_map(|kept| {
            sum = sum.saturating_add(kept.item.tokens());
            Some((kept.position?, sum))
        });
        Self { taken: running.collect(), left: left(report, budget) }
    }

    /// The lowest scored ones that together are as large as what is missing for so many tokens.
    pub(super) fn taken_from(&self, tokens: i64) -> Vec<usize> {
        let missing = tokens.saturating_sub(self.left);
        if missing <= 0 {
            return Vec::new();
        }
        let enough = self.taken.partition_point(|(_, sum)| *sum < missing);
        self.taken.iter().take(enough + 1).map(|(position, _)| *position).collect()
    }
}

/// Tokens of the budget that the selection left.
pub(super) fn left(report: &SelectionReport, budget: &ContextBudget) -> i64 {
    let used = crate::prepare::tokens_of(report.included.iter().map(|kept| &kept.item));
    super::shortfall::window(budget).saturating_sub(used).max(0)
}
