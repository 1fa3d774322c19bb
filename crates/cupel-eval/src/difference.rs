//! By how much one method is better than another, and whether that is more than chance.

use serde::Serialize;

use crate::measure::Measures;
use crate::random::Random;

/// Number of times that the pairs are drawn anew.
const RESAMPLES: usize = 10_000;

/// Any number will do, as long as it stays the same.
const SEED: u64 = 0x0063_7570_656c;

/// Of fewer pairs than this, all go the same way more often than once in twenty trials.
const FEWEST: usize = 6;

/// Difference up to which values that cancel out count as zero, when shares are added up.
const ROUNDING: f64 = 1e-9;

/// A figure that methods are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Figure {
    /// Share of the evidence that was kept.
    Recall,
    /// Share of selections that hold all evidence.
    Full,
    /// Share of the groups of `any_of` that are covered; in the runs of agents, share of the values
    /// that the next call needed.
    Coverage,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Recall, Self::Full, Self::Coverage];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Full => "full",
            Self::Coverage => "coverage",
        }
    }

    /// Its value for one selection; `None` if the query has no such figure.
    pub fn of(self, measures: &Measures) -> Option<f64> {
        match self {
            Self::Recall => Some(measures.recall),
            Self::Full => Some(measures.full),
            Self::Coverage => measures.coverage,
        }
    }
}

/// Verdict on a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// No pair differs.
    Equal,
    /// Chance may do as much.
    Unclear,
    /// The method is better.
    Better,
    /// The method is worse.
    Worse,
}

impl Verdict {
    /// The verdict in a word, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Unclear => "unclear",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

/// By how much a method is better than another at a budget, pair by pair: query by query, or run by
/// run of an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Difference {
    /// The set.
    pub set: String,
    /// The category; `None` for the whole set.
    pub category: Option<String>,
    /// Figure that is compared.
    pub figure: Figure,
    /// The budget.
    pub budget_tokens: i64,
    /// The method.
    pub method: String,
    /// The one that it is compared with.
    pub reference: String,
    /// Number of pairs: queries, or runs.
    pub pairs: usize,
    /// The mean of the differences, over queries or over the steps of all runs: above 0 if the
    /// method is better.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
    /// Pairs at which the method is better.
    pub wins: usize,
    /// Pairs at which it is worse.
    pub losses: usize,
    /// Pairs at which both are equal.
    pub ties: usize,
    /// Verdict on it.
    pub verdict: Verdict,
}

impl Difference {
    /// Returns true if chance alone would hardly make such a difference: the interval leaves 0 out, and at
    /// least six pairs differ.
    pub fn is_clear(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }

    /// The difference that some pairs make; `None` without any.
    pub(crate) fn of(compared: Compared<'_>, pairs: &[Pair]) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let (low, high) = interval(pairs);
        let count = |holds: fn(f64) -> bool| pairs.iter().filter(|pair| holds(pair.sum)).count();
        let (wins, losses) = (count(|by| by > ROUNDING), count(|by| by < -ROUNDING));
        let mean = mean(pairs.iter());
        let verdict = match wins + losses {
            0 => Verdict::Equal,
            differing if differing < FEWEST || (low <= 0.0 && high >= 0.0) => Verdict::Unclear,
            _ if mean > 0.0 => Verdict::Better,
            _ => Verdict::Worse,
        };
        Some(Self {
            set: compared.set.to_owned(),
            category: compared.category.map(str::to_owned),
            figure: compared.figure,
            budget_tokens: compared.budget_tokens,
            method: compared.method.to_owned(),
            reference: compared.reference.to_owned(),
            pairs: pairs.len(),
            mean,
            low,
            high,
            wins,
            losses,
            ties: pairs.len() - wins - losses,
            verdict,
        })
    }
}

/// The two methods that are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared<'a> {
    pub(crate) set: &'a str,
    pub(crate) category: Option<&'a str>,
    pub(crate) figure: Figure,
    pub(crate) budget_tokens: i64,
    pub(crate) method: &'a str,
    pub(crate) reference: &'a str,
}

/// Observations that are drawn as one: a query, or a run with all its steps, which resemble each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    /// The sum of the differences in it.
    pub(crate) sum: f64,
    /// Number of observations; at least one.
    pub(crate) count: usize,
}

impl Pair {
    /// A pair of one difference.
    pub(crate) fn single(by: f64) -> Self {
        Self { sum: by, count: 1 }
    }
}

fn mean<'p>(pairs: impl Iterator<Item = &'p Pair>) -> f64 {
    let (sum, count) =
        pairs.fold((0.0, 0), |(sum, count), pair| (sum + pair.sum, count + pair.count));
    sum / count as f64
}

/// Within which 95 % of the means lie when the pairs, of which there are some, are drawn anew.
fn interval(pairs: &[Pair]) -> (f64, f64) {
    if pairs.iter().all(|pair| *pair == pairs[0]) {
        let mean = mean(pairs[..1].iter());
        return (mean, mean);
    }
    let mut random = Random::new(SEED);
    let mut draw = || mean((0..pairs.len()).map(|_| &pairs[random.below(pairs.len())]));
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    means.sort_unstable_by(f64::total_cmp);
    let outside = RESAMPLES / 40;
    (means[outside], means[RESAMPLES - 1 - outside])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(values: impl IntoIterator<Item = f64>) -> Vec<Pair> {
        values.into_iter().map(Pair::single).collect()
    }

    fn verdict(values: impl IntoIterator<Item = f64>) -> Verdict {
        let compared = Compared {
            set: "s",
            category: None,
            figure: Figure::Recall,
            budget_tokens: 1,
            method: "new",
            reference: "old",
        };
        Difference::of(compared, &singles(values)).unwrap().verdict
    }

    #[test]
    fn the_interval_of_equal_values_is_a_point() {
        assert_eq!(interval(&singles([0.25; 7])), (0.25, 0.25));
    }

    #[test]
    fn the_interval_is_that_of_the_normal_law_where_values_are_many() {
        // 300 times +1 and 100 times 0: mean 0.75, standard error √(0.75 · 0.25 / 400) = 0.02165.
        let values = singles((0..400).map(|at| f64::from(at % 4 != 0)));
        let (low, high) = interval(&values);
        assert!((low - (0.75 - 1.96 * 0.02165)).abs() < 0.004, "{low}");
        assert!((high - (0.75 + 1.96 * 0.02165)).abs() < 0.004, "{high}");
    }

    #[test]
    fn what_is_drawn_as_one_widens_the_interval() {
        // The same 400 differences in 20 runs: 15 of all +1, 5 of all 0.
        let run = |at: usize| Pair { sum: if at % 4 == 0 { 0.0 } else { 20.0 }, count: 20 };
        let runs: Vec<Pair> = (0..20).map(run).collect();
        let (low, high) = interval(&runs);
        assert_eq!(mean(runs.iter()), 0.75);
        assert!(low < 0.6 && high > 0.85, "{low} to {high}");
    }

    #[test]
    fn fewer_than_six_pairs_that_differ_are_never_clear() {
        assert_eq!(verdict([0.0; 9]), Verdict::Equal);
        assert_eq!(verdict([1.0; 5]), Verdict::Unclear);
        assert_eq!(verdict([1.0; 6]), Verdict::Better);
        assert_eq!(verdict([-1.0; 6]), Verdict::Worse);
        assert_eq!(verdict([1.0, -1.0].repeat(20)), Verdict::Unclear);
    }
}
