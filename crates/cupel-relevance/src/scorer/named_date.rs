//! Dates that a text names.

use chrono::{Datelike, NaiveDate};

use super::numbered_month::numbered_months;
use crate::Language;
use crate::text::{Vocabulary, has};

/// A date as far as a text says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NamedDate {
    pub(super) year: Option<i32>,
    pub(super) month: u32,
    pub(super) day: Option<u32>,
}

impl NamedDate {
    /// Returns true if the item is of the named month.
    pub(super) fn is_month_of(self, date: NaiveDate) -> bool {
        self.month == date.month() && self.year.is_none_or(|year| year == date.year())
    }

    /// Returns true if the item is of the named day, or of the one before or after.
    pub(super) fn is_near(self, date: NaiveDate) -> bool {
        let Some(day) = self.day else { return false };
        let year = self.year.unwrap_or(date.year());
        NaiveDate::from_ymd_opt(year, self.month, day)
            .is_some_and(|named| (named - date).num_days().abs() <= 1)
    }
}

/// After these, a lone `May` is a month.
const BEFORE_A_MONTH: [&str; 13] = [
    "in", "of", "during", "since", "last", "next", "late", "early", "by", "before", "after",
    "until", "from",
];

/// The dates in a text, by the months of English and of a language.
pub(super) fn dates_in(text: &str, language: Option<Language>) -> Vec<NamedDate> {
    let is_outside = |character: char| !character.is_alphanumeric();
    let words: Vec<&str> = text.split(is_outside).filter(|word| !word.is_empty()).collect();
    let date_at = |at: usize| {
        let by_name =
            || Vocabulary::heard_in(language).find_map(|heard| month_at(&words, at, heard));
        by_name().or_else(|| digits_at(&words, at))
    };
    (0..words.len()).filter_map(date_at).chain(numbered_months(text)).collect()
}

/// A date around a month's name.
fn month_at(words: &[&str], at: usize, heard: &Vocabulary) -> Option<NamedDate> {
    let month = month_named(words[at], heard)?;
    let before = |distance: usize| at.checked_sub(distance).map(|at| words[at]);
    let after = |distance: usize| words.get(at + distance).copied();
    let day_before = match before(1) {
        Some(word) if has(heard.between_day_and_month, word) => before(2).and_then(day),
        other => other.and_then(day),
    };
    let day = day_before.or_else(|| after(1).and_then(day));
    let year = (1..=3).find_map(|distance| after(distance).and_then(year));
    let is_lone_may = words[at].eq_ignore_ascii_case("may") && day.is_none() && year.is_none();
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
fn month_named(word: &str, heard: &Vocabulary) -> Option<u32> {
    let lower = word.to_lowercase();
    let is_verb = matches!(&*lower, "may" | "march") && !word.starts_with(char::is_uppercase);
    let is_meant = |forms: &str| !is_verb && has(forms, &lower);
    let mut months = (1_u32..).zip(heard.months);
    months.find(|(_, forms)| is_meant(forms)).map(|(number, _)| number)
}

fn precedes_a_month(word: &str) -> bool {
    BEFORE_A_MONTH.iter().any(|before| before.eq_ignore_ascii_case(word))
}

pub(super) fn year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| (1900..2200).contains(year))
}

/// `8`, `08`, `8th`, `1er`.
fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th" | "er");
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day))?;
    is_ordinal.then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(year: impl Into<Option<i32>>, month: u32, day: impl Into<Option<u32>>) -> NamedDate {
        NamedDate { year: year.into(), month, day: day.into() }
    }

    #[test]
    fn dates_are_found_however_they_are_written() {
        let date = named(2023, 5, 8);
        for text in
            ["8 May 2023", "May 8, 2023", "May 8th, 2023", "the 8th of May 2023", "on 2023-05-08?"]
        {
            assert_eq!(dates_in(text, None), [date], "{text}");
        }
        assert_eq!(dates_in("in June", None), [named(None, 6, None)]);
        assert_eq!(dates_in("oct 3", None), [named(None, 10, 3)]);
        assert_eq!(dates_in("Sept 2022", None), [named(2022, 9, None)]);
        assert_eq!(
            dates_in("from July to Aug", None),
            [named(None, 7, None), named(None, 8, None)]
        );
    }

    #[test]
    fn words_that_look_like_months_are_not() {
        let texts =
            ["She may come", "May I ask?", "we march on", "the mar", "janitor", "2023-13-08"];
        for text in texts {
            assert_eq!(dates_in(text, None), [], "{text}");
        }
        assert_eq!(dates_in("since May", None), [named(None, 5, None)]);
    }

    #[test]
    fn months_are_known_in_ten_languages() {
        let date = named(2023, 5, 8);
        for (language, text) in [
            (Language::German, "Wo war Anna am 8. Mai 2023?"),
            (Language::French, "le 8 mai 2023"),
            (Language::Spanish, "el 8 de mayo de 2023"),
            (Language::Portuguese, "em 8 de maio de 2023"),
            (Language::Italian, "l'8 maggio 2023"),
            (Language::Dutch, "op 8 mei 2023"),
            (Language::Russian, "8-го мая 2023 года"),
            (Language::Chinese, "2023年5月8日他在哪里"),
            (Language::Japanese, "2023年5月8日にどこにいた"),
            (Language::Finnish, "8 May 2023"),
        ] {
            assert_eq!(dates_in(text, Some(language)), [date], "{text}");
        }
        assert_eq!(dates_in("в марте", Some(Language::Russian)), [named(None, 3, None)]);
        assert_eq!(dates_in("1er août", Some(Language::French)), [named(None, 8, 1)]);
    }

    #[test]
    fn months_of_other_languages_are_plain_words() {
        assert_eq!(dates_in("the mars rover", Some(Language::English)), []);
        assert_eq!(dates_in("8 toukokuu 2023", Some(Language::Finnish)), []);
    }
}
