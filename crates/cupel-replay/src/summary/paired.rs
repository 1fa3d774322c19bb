//! By how much one policy is better than another, request by request, and whether that is more than
//! chance. The pairs are added up by conversation: the interval is that of the normal law.

use cupel_eval::Verdict;
use serde::Serialize;

use super::clusters::{ClusteredMean, Clusters};
use crate::settings::Way;

/// Of fewer pairs than this, all go the same way more often than once in twenty trials.
const FEWEST: usize = 6;
/// Difference up to which values that cancel out count as zero.
const ROUNDING: f64 = 1e-9;
/// Within so many standard errors lie 95 % of the means.
const NORMAL: f64 = 1.96;

/// By how much the coverage of a policy is better than that of the first, at the same budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// The policy.
    pub policy: String,
    /// True if it is in a session.
    pub in_session: bool,
    /// The one that it is compared with.
    pub reference: String,
    /// The budget.
    pub budget_tokens: Option<i64>,
    /// Number of pairs: conversations.
    pub pairs: usize,
    /// The mean of the differences over requests: above 0 if the policy is better.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Pairs at which the policy is better.
    pub wins: usize,
    /// Pairs at which it is worse.
    pub losses: usize,
    /// Verdict.
    pub verdict: Verdict,
}

/// Differences, added up by conversation.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    differences: Clusters,
}

impl Pairs {
    pub(super) fn add(&mut self, shares: Option<(f64, f64)>, conversation: u64) {
        if let Some((own, reference)) = shares {
            self.differences.add(conversation, own - reference);
        }
    }

    pub(super) fn comparison(&self, way: &Way, reference: &Way) -> Option<Comparison> {
        let ClusteredMean { mean, error, conversations } = self.differences.mean()?;
        let wins = self.differences.sums().filter(|sum| *sum > ROUNDING).count();
        let losses = self.differences.sums().filter(|sum| *sum < -ROUNDING).count();
        let (low, high) = (mean - NORMAL * error, mean + NORMAL * error);
        let verdict = match wins + losses {
            0 => Verdict::Equal,
            differing if differing < FEWEST || (low <= 0.0 && high >= 0.0) => Verdict::Unclear,
            _ if mean > 0.0 => Verdict::Better,
            _ => Verdict::Worse,
        };
        Some(Comparison {
            policy: way.name.clone(),
            in_session: way.in_session,
            reference: reference.title(),
            budget_tokens: way.budget_tokens,
            pairs: conversations,
            mean,
            low,
            high,
            wins,
            losses,
            verdict,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way() -> Way {
        Way {
            name: "p".to_owned(),
            policy: 0,
            in_session: false,
            budget_tokens: None,
            baseline: None,
        }
    }

    #[test]
    fn the_interval_is_that_of_the_normal_law() {
        let mut pairs = Pairs::default();
        for at in 0..400_u64 {
            pairs.add(Some((f64::from(u8::from(at % 4 != 0)), 0.0)), at);
        }
        let found = pairs.comparison(&way(), &way()).unwrap();
        // Mean 0.75, standard error √(0.75 · 0.25 / 399) = 0.02168.
        assert!(
            (found.mean - 0.75).abs() < 1e-12
                && (found.high - found.mean - 1.96 * 0.02168).abs() < 1e-4
        );
        assert_eq!((found.pairs, found.wins, found.verdict), (400, 300, Verdict::Better));
    }

    #[test]
    fn requests_of_one_conversation_are_one_pair() {
        let mut pairs = Pairs::default();
        for at in 0..40_u64 {
            pairs.add(Some((1.0, 0.0)), at % 2);
        }
        pairs.add(None, 3);
        let found = pairs.comparison(&way(), &way()).unwrap();
        assert_eq!((found.pairs, found.mean, found.verdict), (2, 1.0, Verdict::Unclear));
    }
}
