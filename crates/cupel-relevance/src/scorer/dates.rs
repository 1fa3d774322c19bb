use chrono::{DateTime, Datelike, NaiveDate, Utc};
use cupel::{ContextItem, CupelError, ScoreExplanation, Scorer};

use crate::{Query, parameter};

/// A factor for items of a month or a day that the query names: "Where was Ann on 8 May 2023?"
///
/// **When to choose it:** as a factor in a [`ProductScorer`](crate::ProductScorer) over
/// conversations that last for months.
///
/// **Steps:** find the dates in the query: English months, with a day and a year where they stand
/// beside, and dates such as `2023-05-08`. An item of the month gets one factor, an item within a
/// day of the date the other, and the largest counts.
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

/// A date as far as the query says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedDate {
    year: Option<i32>,
    month: u32,
    day: Option<u32>,
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
        Ok(Self { named: dates_in(query.text()), month_factor, day_factor })
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

impl NamedDate {
    fn is_month_of(self, date: NaiveDate) -> bool {
        self.month == date.month() && self.year.is_none_or(|year| year == date.year())
    }

    /// Whether the item is of the named day, or of the one before or after.
    fn is_near(self, date: NaiveDate) -> bool {
        let Some(day) = self.day else { return false };
        let year = self.year.unwrap_or(date.year());
        NaiveDate::from_ymd_opt(year, self.month, day)
            .is_some_and(|named| (named - date).num_days().abs() <= 1)
    }
}

impl Scorer for DateScorer {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.timestamp().map_or(1.0, |time| self.factor(time))
    }

    fn score_all(&self, items: &[ContextItem], scores: &mut [f64]) {
        if self.named.is_empty() {
            return scores.fill(1.0);
        }
        for (item, score) in items.iter().zip(scores) {
            *score = self.score(item, items);
        }
    }

    fn explain(&self, items: &[ContextItem], positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| {
            ScoreExplanation::new("date named in the query", self.score(&items[*at], items))
        };
        positions.iter().map(explain).collect()
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// After these, a lone `May` is a month.
const BEFORE_A_MONTH: [&str; 13] = [
    "in", "of", "during", "since", "last", "next", "late", "early", "by", "before", "after",
    "until", "from",
];

fn dates_in(text: &str) -> Vec<NamedDate> {
    let is_outside = |character: char| !character.is_alphanumeric();
    let words: Vec<&str> = text.split(is_outside).filter(|word| !word.is_empty()).collect();
    (0..words.len())
        .filter_map(|at| month_at(&words, at).or_else(|| digits_at(&words, at)))
        .collect()
}

/// A date around a month's name.
fn month_at(words: &[&str], at: usize) -> Option<NamedDate> {
    let month = month_named(words[at])?;
    let before = |distance: usize| at.checked_sub(distance).map(|at| words[at]);
    let after = |distance: usize| words.get(at + distance).copied();
    let day_before = match before(1) {
        Some("of") => before(2).and_then(day),
        other => other.and_then(day),
    };
    let day = day_before.or_else(|| after(1).and_then(day));
    let year = (1..=3).find_map(|distance| after(distance).and_then(year));
    let is_lone_may = month == 5 && day.is_none() && year.is_none();
    if is_lone_may && !before(1).is_some_and(precedes_a_month) {
        return None;
    }
    Some(NamedDate { year, month, day })
}

/// A date such as `2023-05-08`.
fn digits_at(words: &[&str], at: usize) -> Option<NamedDate> {
    let [first, second, third] = words.get(at..at + 3)? else { return None };
    let month = second.parse().ok().filter(|month| (1..=12).contains(month))?;
    Some(NamedDate { year: Some(year(first)?), month, day: Some(day(third)?) })
}

/// The number of a month by its name or a short form of it.
fn month_named(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    let is_meant = |month: &str| match month {
        "may" | "march" => month == lower && word.starts_with(char::is_uppercase),
        "september" if lower == "sept" => true,
        _ => month == lower || lower.len() == 3 && month.starts_with(&lower),
    };
    let mut months = (1_u32..).zip(MONTHS);
    months.find(|(_, month)| is_meant(month)).map(|(number, _)| number)
}

fn precedes_a_month(word: &str) -> bool {
    BEFORE_A_MONTH.iter().any(|before| before.eq_ignore_ascii_case(word))
}

fn year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| (1900..2200).contains(year))
}

/// `8`, `08` or `8th`.
fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    is_ordinal.then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item, scores};

    fn named(year: impl Into<Option<i32>>, month: u32, day: impl Into<Option<u32>>) -> NamedDate {
        NamedDate { year: year.into(), month, day: day.into() }
    }

    #[test]
    fn dates_are_found_however_they_are_written() {
        let date = named(2023, 5, 8);
        for text in
            ["8 May 2023", "May 8, 2023", "May 8th, 2023", "the 8th of May 2023", "on 2023-05-08?"]
        {
            assert_eq!(dates_in(text), [date], "{text}");
        }
        assert_eq!(dates_in("in June"), [named(None, 6, None)]);
        assert_eq!(dates_in("oct 3"), [named(None, 10, 3)]);
        assert_eq!(dates_in("Sept 2022"), [named(2022, 9, None)]);
        assert_eq!(dates_in("from July to Aug"), [named(None, 7, None), named(None, 8, None)]);
    }

    #[test]
    fn words_that_look_like_months_are_not() {
        let texts =
            ["She may come", "May I ask?", "we march on", "the mar", "janitor", "2023-13-08"];
        for text in texts {
            assert_eq!(dates_in(text), [], "{text}");
        }
        assert_eq!(dates_in("since May"), [named(None, 5, None)]);
    }

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
