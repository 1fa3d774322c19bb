//! Values as people write them: `8k` tokens, `5m`, `64MB`.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A number of tokens: `8000` or `"8k"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens(pub i64);

/// A span of time: `30` seconds, `"500ms"`, `"5m"` or `"1h"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A number of bytes: `1000000` or `"64MB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub usize);

/// A share in percent: `10` or `"10%"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(pub f64);

/// Reads a span of time.
///
/// # Errors
///
/// Error about the text, in words.
pub fn parse_span(text: &str) -> Result<Duration, String> {
    let wrong = || "not a span of time; write it as 30s, 5m or 1h".to_owned();
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim() {
        "ms" => return Ok(Duration::from_millis(number)),
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number.saturating_mul(factor)))
}

/// Reads a number of bytes.
///
/// # Errors
///
/// Error about the text, in words.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || "not a number of bytes; write it as 64MB".to_owned();
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: usize = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    Ok(number.saturating_mul(factor))
}

/// Reads a number or a text.
struct Written<T>(&'static str, fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Written<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        (self.1)(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        (self.1)(&number.to_string()).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(|error| E::custom(format!("`{text}`: {error}")))
    }
}

macro_rules! written {
    ($name:ident, $what:literal, $parse:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Written($what, $parse)).map(Self)
            }
        }
    };
}

written!(Tokens, "a number of tokens, as 8000 or \"8k\"", cupel_engine::parse_tokens);
written!(Span, "a span of time, as \"30s\" or \"5m\"", parse_span);
written!(Size, "a number of bytes, as \"64MB\"", parse_size);
written!(Percent, "a share, as \"10%\"", cupel_engine::parse_margin);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_are_read_as_people_write_them() {
        assert_eq!(parse_span("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_span("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_span("5 m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_span("18446744073709551615h"), Ok(Duration::from_secs(u64::MAX)));
        assert_eq!(parse_span("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(parse_size("64MB"), Ok(64_000_000));
        assert_eq!(parse_size("2 GB"), Ok(2_000_000_000));
        assert_eq!(parse_size("1"), Ok(1));
        for text in ["", "m", "-1", "1.5m", "1 fortnight", "99999999999999999999"] {
            assert!(parse_span(text).is_err(), "{text}");
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
