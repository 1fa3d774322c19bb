use chrono::{DateTime, Utc};
use cupel::{ContextItem, CupelError, ItemList, ScoreExplanation, Scorer};

use super::named_date::{NamedDate, dates_in};
use crate::{Query, parameter};

/// A factor for items of a month or a day that the query names: "Where was Ann on 8 May 2023?"
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) over
/// conversations that last for months.
///
/// **Steps:** find the dates in the query: months by name, in English and in the language of the
/// query's [`Analysis`](crate::Analysis) if its months are known, with a day and a year where they
/// stand beside; `5月8日`; and dates such as `2023-05-08`. An item of the month gets one factor, an
/// item within a day of the date the other, and the largest counts.
///
/// **Ties and edge cases:** a date without a year is one of any year. `may` and `march` are months
/// only with a capital letter, and a lone `May` only after a word such as `in` or `since`. Items
/// without a time get 1.
///
/// **Cost:** the query is read once; a comparison an item.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Scorer};
/// use cupel_relevance::{DateScorer, Query};
///
/// let at = |time: &str| ContextItemBuilder::new("x", 1).timestamp(time.parse().unwrap()).build();
/// let scorer = DateScorer::new(&Query::new("Where was Ann on 8 May 2023?"), 1.5, 2.0)?;
/// assert_eq!(scorer.score(&at("2023-05-09T10:00:00Z")?, &[]), 2.0);
/// assert_eq!(scorer.score(&at("2023-05-20T10:00:00Z")?, &[]), 1.5);
/// assert_eq!(scorer.score(&at("2022-05-08T10:00:00Z")?, &[]), 1.0);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DateScorer {
    named: Vec<NamedDate>,
    month_factor: f64,
    day_factor: f64,
}

impl DateScorer {
    /// With the factors for items of a named month, and of a named day.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if a factor is negative or not finite; it names which.
    pub fn new(query: &Query, month_factor: f64, day_factor: f64) -> Result<Self, CupelError> {
        parameter::not_negative("month_factor", month_factor)?;
        parameter::not_negative("day_factor", day_factor)?;
        let named = dates_in(query.text(), query.analysis().language());
        Ok(Self { named, month_factor, day_factor })
    }

    fn factor(&self, time: DateTime<Utc>) -> f64 {
        let factor_for = |named: &NamedDate| {
            if named.is_near(time.date_naive()) {
                self.day_factor
            } else if named.is_month_of(time.date_naive()) {
                self.month_factor
            } else {
                1.0
            }
        };
        self.named.iter().map(factor_for).reduce(f64::max).unwrap_or(1.0)
    }
}

impl Scorer for DateScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.timestamp().map_or(1.0, |time| self.factor(time))
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        if self.named.is_empty() {
            return scores.fill(1.0);
        }
        for (item, score) in items.iter().zip(scores) {
            *score = self.score(item, items);
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| {
            ScoreExplanation::new("date named in the query", self.score(&items[*at], items))
        };
        positions.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item, scores};

    #[test]
    fn the_largest_factor_counts_and_days_reach_over_the_end_of_a_month() {
        let times = ["2023-05-31T12:00:00Z", "2023-06-30T00:00:00Z", "2024-06-01T00:00:00Z"];
        let mut items = build(times.map(|time| item("x").timestamp(time.parse().unwrap())));
        items.push(item("x").build().unwrap());
        let scorer = |text: &str| DateScorer::new(&Query::new(text), 1.5, 2.0).unwrap();
        assert_eq!(scores(&scorer("on 1 June 2023"), &items), [2.0, 1.5, 1.0, 1.0]);
        assert_eq!(scores(&scorer("on 1 June"), &items), [2.0, 1.5, 2.0, 1.0]);
        assert_eq!(scores(&scorer("whenever"), &items), [1.0; 4]);
    }

    #[test]
    fn impossible_days_are_no_days() {
        let items = build([item("x").timestamp("2023-02-28T00:00:00Z".parse().unwrap())]);
        let scorer = DateScorer::new(&Query::new("31 February 2023"), 1.5, 2.0).unwrap();
        assert_eq!(scores(&scorer, &items), [1.5]);
    }
}
