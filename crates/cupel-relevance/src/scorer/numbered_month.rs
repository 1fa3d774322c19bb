//! Months that are numbers, as in Chinese and Japanese: `2023年5月8日`, `十二月`.

use super::named_date::{NamedDate, year};

/// The dates in a text whose month is a number before `月`.
pub(super) fn numbered_months(text: &str) -> impl Iterator<Item = NamedDate> {
    let date = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + MONTH.len_utf8()..]);
        let (rest, month) = number_at_end(before)?;
        let year = rest.strip_suffix('年').and_then(digits_at_end).and_then(year);
        let is_month = (1..=12).contains(&month);
        is_month.then_some(NamedDate { year, month, day: day_at_start(after) })
    };
    text.match_indices(MONTH).filter_map(date)
}

const MONTH: char = '月';

/// The number at the end of a text, and what comes before it.
fn number_at_end(text: &str) -> Option<(&str, u32)> {
    if let Some(digits) = digits_at_end(text) {
        return Some((&text[..text.len() - digits.len()], digits.parse().ok()?));
    }
    let rest = text.trim_end_matches(is_numeral);
    Some((rest, numeral(&text[rest.len()..])?))
}

fn digits_at_end(text: &str) -> Option<&str> {
    let rest = text.trim_end_matches(|character: char| character.is_ascii_digit());
    Some(&text[rest.len()..]).filter(|digits| !digits.is_empty())
}

/// The day before `日` or `号`.
fn day_at_start(text: &str) -> Option<u32> {
    let end = text.find(['日', '号', '號'])?;
    let number = &text[..end];
    let day = number.parse().ok().or_else(|| numeral(number))?;
    (1..=31).contains(&day).then_some(day)
}

const ONES: &str = "一二三四五六七八九";

fn is_numeral(character: char) -> bool {
    character == '十' || ONES.contains(character)
}

/// A number below a hundred in characters.
fn numeral(text: &str) -> Option<u32> {
    let one = |text: &str| -> Option<u32> {
        let mut characters = text.chars();
        let only = characters.next().filter(|_| characters.next().is_none())?;
        Some(ONES.chars().position(|known| known == only)? as u32 + 1)
    };
    let Some((tens, ones)) = text.split_once('十') else { return one(text) };
    let tens = if tens.is_empty() { 1 } else { one(tens)? };
    let ones = if ones.is_empty() { 0 } else { one(ones)? };
    Some(10 * tens + ones)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(text: &str) -> Vec<(Option<i32>, u32, Option<u32>)> {
        numbered_months(text).map(|date| (date.year, date.month, date.day)).collect()
    }

    #[test]
    fn numbers_and_numerals_are_read() {
        assert_eq!(dates("2023年5月8日"), [(Some(2023), 5, Some(8))]);
        assert_eq!(dates("他们十二月二十三号见面"), [(None, 12, Some(23))]);
        assert_eq!(dates("5月和十一月"), [(None, 5, None), (None, 11, None)]);
        assert_eq!(dates("10月十日"), [(None, 10, Some(10))]);
    }

    #[test]
    fn spans_of_months_and_impossible_months_are_none() {
        for text in ["三个月", "上个月", "13月", "3か月", "月", "每月", "99999999999月", "十十月"]
        {
            assert_eq!(dates(text), [], "{text}");
        }
    }
}
