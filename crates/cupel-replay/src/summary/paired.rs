//! By how much one policy is better than another, request by request, and whether that is more than
//! chance. The pairs are added up, never kept: the interval is that of the normal law.

use cupel_eval::Verdict;
use serde::Serialize;

use crate::settings::Way;

/// Of fewer pairs than this, all go the same way more often than once in twenty trials.
const FEWEST: usize = 6;
/// What is left of differences that cancel out.
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
    /// Whether in a session.
    pub in_session: bool,
    /// The one that it is compared with.
    pub reference: String,
    /// The budget.
    pub budget_tokens: Option<i64>,
    /// How many pairs: requests, or runs of requests of one conversation.
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
    /// What that says.
    pub verdict: Verdict,
}

/// Differences, added up; those of neighbouring requests of one conversation, which resemble each other,
/// as one.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    conversation: Option<String>,
    sum: f64,
    count: f64,
    done: Sums,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    pairs: usize,
    wins: usize,
    losses: usize,
    sum: f64,
    count: f64,
    sum_squares: f64,
    count_squares: f64,
    products: f64,
}

impl Sums {
    fn close(&mut self, sum: f64, count: f64) {
        self.pairs += 1;
        self.wins += usize::from(sum > ROUNDING);
        self.losses += usize::from(sum < -ROUNDING);
        self.sum += sum;
        self.count += count;
        self.sum_squares += sum * sum;
        self.count_squares += count * count;
        self.products += sum * count;
    }
}

impl Pairs {
    pub(super) fn add(&mut self, shares: Option<(f64, f64)>, conversation: Option<&str>) {
        let Some((own, reference)) = shares else { return };
        if conversation.is_none() || self.conversation.as_deref() != conversation {
            self.close();
            self.conversation = conversation.map(str::to_owned);
        }
        self.sum += own - reference;
        self.count += 1.0;
    }

    fn close(&mut self) {
        if self.count > 0.0 {
            self.done.close(self.sum, self.count);
            (self.sum, self.count) = (0.0, 0.0);
        }
    }

    pub(super) fn comparison(&self, way: &Way, reference: &Way) -> Option<Comparison> {
        let mut all = self.done.clone();
        if self.count > 0.0 {
            all.close(self.sum, self.count);
        }
        if all.pairs == 0 {
            return None;
        }
        let (mean, pairs) = (all.sum / all.count, all.pairs as f64);
        let squares = all.sum_squares - 2.0 * mean * all.products + mean * mean * all.count_squares;
        let error = if all.pairs > 1 {
            (squares.max(0.0) * pairs / (pairs - 1.0)).sqrt() / all.count
        } else {
            0.0
        };
        let (low, high) = (mean - NORMAL * error, mean + NORMAL * error);
        let verdict = match all.wins + all.losses {
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
            pairs: all.pairs,
            mean,
            low,
            high,
            wins: all.wins,
            losses: all.losses,
            verdict,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way() -> Way {
        Way { name: "p".to_owned(), policy: 0, in_session: false, budget_tokens: None }
    }

    #[test]
    fn the_interval_is_that_of_the_normal_law() {
        let mut pairs = Pairs::default();
        for at in 0..400 {
            pairs.add(Some((f64::from(at % 4 != 0), 0.0)), None);
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
        for at in 0..40 {
            pairs.add(Some((1.0, 0.0)), Some(if at < 20 { "a" } else { "b" }));
        }
        pairs.add(None, Some("c"));
        let found = pairs.comparison(&way(), &way()).unwrap();
        assert_eq!((found.pairs, found.mean, found.verdict), (2, 1.0, Verdict::Unclear));
    }
}
