//! Durations as people write them: `24h`, `1d 12h`, `500us`.

use chrono::Duration;

use crate::wire::{Problem, Value};

/// Units with their nanoseconds, largest first.
const UNITS: [(&str, i64); 8] = [
    ("w", 7 * 24 * 3_600_000_000_000),
    ("d", 24 * 3_600_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A duration that reads and writes itself as text; a bare number is seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span(pub(super) Duration);

impl crate::wire::Read for Span {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let duration = match &value {
            Value::Integer(seconds) => Duration::try_seconds(*seconds),
            Value::Float(seconds) => from_seconds(*seconds),
            Value::Text(text) => parse(text),
            _ => None,
        };
        duration.map(Self).ok_or_else(|| {
            Problem::new(format!(
                "must be a duration such as \"24h\", \"1d 12h\" or \"500us\", or a number of \
                 seconds, got {value}"
            ))
        })
    }
}

fn from_seconds(seconds: f64) -> Option<Duration> {
    let whole = seconds.floor();
    if !(i64::MIN as f64..i64::MAX as f64).contains(&whole) {
        return None;
    }
    let fraction = ((seconds - whole) * 1e9).round() as i64;
    Duration::try_seconds(whole as i64)?.checked_add(&Duration::nanoseconds(fraction))
}

fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = Duration::zero();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
        let amount: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let nanoseconds = UNITS.iter().find(|(unit, _)| *unit == &rest[..letters])?.1;
        rest = rest[letters..].trim_start();
        total = total.checked_add(&times(amount, nanoseconds)?)?;
    }
    Some(total)
}

fn times(amount: i64, nanoseconds: i64) -> Option<Duration> {
    let total = i128::from(amount) * i128::from(nanoseconds);
    let seconds = i64::try_from(total / 1_000_000_000).ok()?;
    Duration::try_seconds(seconds)?
        .checked_add(&Duration::nanoseconds((total % 1_000_000_000) as i64))
}

/// Writes a duration in the largest units that express it.
pub(super) fn serialize<S: serde::Serializer>(
    duration: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

fn format(duration: Duration) -> String {
    let mut left =
        i128::from(duration.num_seconds()) * 1_000_000_000 + i128::from(duration.subsec_nanos());
    let mut parts = Vec::new();
    for (unit, nanoseconds) in UNITS {
        let amount = left / i128::from(nanoseconds);
        left %= i128::from(nanoseconds);
        if amount != 0 {
            parts.push(format!("{amount}{unit}"));
        }
    }
    if parts.is_empty() { "0s".into() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(parse("24h"), Some(Duration::hours(24)));
        assert_eq!(parse("1d 12h"), Some(Duration::hours(36)));
        assert_eq!(parse(" 1 h 30m"), Some(Duration::minutes(90)));
        assert_eq!(parse("500us"), Some(Duration::microseconds(500)));
        for wrong in [
            "",
            "h",
            "5",
            "5 parsecs",
            "-1h",
            "1.5h",
            "99999999999999999999s",
            "9223372036854775807w",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn seconds_are_read_with_their_fraction() {
        assert_eq!(from_seconds(0.0005), Some(Duration::microseconds(500)));
        assert_eq!(from_seconds(90.0), Some(Duration::seconds(90)));
        assert_eq!(from_seconds(f64::NAN), None);
        assert_eq!(from_seconds(f64::INFINITY), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["1w 2d", "24h", "1d 500us", "90m", "1ns"] {
            let duration = parse(text).unwrap();
            assert_eq!(parse(&format(duration)), Some(duration));
        }
        assert_eq!(format(Duration::hours(36)), "1d 12h");
    }
}
