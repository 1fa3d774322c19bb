//! Durations in JSON and TOML are seconds.

use chrono::TimeDelta;

/// The duration of so many seconds, rounded to the nearest nanosecond.
///
/// `None` if the number is not finite or too large for a duration.
///
/// ```
/// use cupel_conformance::protocol::duration;
///
/// assert_eq!(duration(0.0005), Some(chrono::TimeDelta::microseconds(500)));
/// assert_eq!(duration(f64::NAN), None);
/// ```
pub fn duration(seconds: f64) -> Option<TimeDelta> {
    // Beyond this, whole milliseconds do not fit into 64 bits.
    if !seconds.is_finite() || seconds.abs() > 9e15 {
        return None;
    }
    let whole = seconds.floor();
    let nanoseconds = ((seconds - whole) * 1e9).round() as i64;
    TimeDelta::try_seconds(whole as i64)?.checked_add(&TimeDelta::nanoseconds(nanoseconds))
}
