//! When something happened, in the spellings of logs.

use serde_json::Value;

/// Microseconds since 1970. `None` where it is not a time.
///
/// Numbers are seconds, milliseconds, microseconds or nanoseconds, as their size tells: all of them are
/// apart by a factor of a thousand for any time between 1973 and 5138.
pub(super) fn micros(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => of_number(number.as_f64()?),
        Value::String(text) => {
            of_text(text).or_else(|| text.trim().parse().ok().and_then(of_number))
        }
        _ => None,
    }
}

fn of_number(number: f64) -> Option<i64> {
    const SECONDS: f64 = 1e8;
    let scale = match number {
        n if n < SECONDS => return None,
        n if n < 1e11 => 1e6,
        n if n < 1e14 => 1e3,
        n if n < 1e17 => 1.0,
        _ => 1e-3,
    };
    Some((number * scale) as i64)
}

/// `2026-11-18T10:19:57.402853+00:00`, with a blank instead of the `T`, without the zone, or without all
/// that is behind the minutes.
fn of_text(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = |from: usize, count: usize| -> Option<i64> {
        let part = text.get(from..from + count)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let bytes = text.as_bytes();
    if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 2)?, digits(8, 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut micros = days(year, month, day) * 86_400_000_000;
    if bytes.len() >= 16 && matches!(bytes[10], b'T' | b' ' | b't') && bytes[13] == b':' {
        micros += (digits(11, 2)? * 60 + digits(14, 2)?) * 60_000_000;
        let mut at = 16;
        if bytes.get(16) == Some(&b':') {
            micros += digits(17, 2)? * 1_000_000;
            at = 19;
            if matches!(bytes.get(19), Some(b'.' | b',')) {
                let fraction: String =
                    text[20..].chars().take_while(char::is_ascii_digit).collect();
                at = 20 + fraction.len();
                let six = format!("{fraction:0<6}");
                micros += six.get(..6)?.parse::<i64>().ok()?;
            }
        }
        micros -= zone(text.get(at..)?)?;
    }
    Some(micros)
}

/// The difference of a zone from UTC; a time without one is taken to be in UTC.
fn zone(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let sign = match text.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(char::is_ascii_digit).collect();
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = digits.get(2..4).map_or(Some(0), |part| part.parse().ok())?;
    Some(sign * (hours * 60 + minutes) * 60_000_000)
}

/// Days since 1970, by the calendar that shifts the leap day to the end of the year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_spellings_of_a_time_are_the_same_time() {
        let expected = 1_794_997_197_402_853;
        for spelling in [
            json!("2026-11-18T10:19:57.402853+00:00"),
            json!("2026-11-18T10:19:57.402853Z"),
            json!("2026-11-18 10:19:57.402853"),
            json!("2026-11-18T12:49:57.402853+02:30"),
            json!("2026-11-18T12:19:57.402853+0200"),
            json!("1794997197402853000"),
            json!(1_794_997_197_402_853_i64),
        ] {
            assert_eq!(micros(&spelling), Some(expected), "{spelling}");
        }
        let seconds = json!(1_794_997_197.402_853);
        assert!((micros(&seconds).unwrap() - expected).abs() <= 1);
        assert_eq!(micros(&json!(1_794_997_197_402_i64)), Some(expected / 1_000 * 1_000));
        assert_eq!(micros(&json!("2024-02-29")), Some(1_709_164_800_000_000));
        for none in [json!(3), json!("soon"), json!("2026-13-01"), json!(null), json!("12345")] {
            assert_eq!(micros(&none), None, "{none}");
        }
    }
}
