//! Annotations of messages: time, priority, audience, session.

use chrono::{DateTime, Duration, NaiveDateTime, Utc};

use crate::json::{Json, Object};

/// Fields that tell when a message was made, the first that is there counts.
const TIMES: [&str; 6] =
    ["timestamp", "created_at", "createdAt", "created", "createTime", "create_time"];

/// Fields that tell which session a message belongs to.
const SESSIONS: [&str; 5] = ["session_id", "sessionId", "session", "thread_id", "conversation_id"];

/// Annotations of a message.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Notes {
    pub(crate) time: Option<DateTime<Utc>>,
    /// From 0 to 100.
    pub(crate) priority: Option<i64>,
    /// Set if the message is required: by an MCP priority of 1, or because it calls itself a rule.
    pub(crate) is_required: bool,
    pub(crate) audience: Vec<String>,
    pub(crate) session: Option<String>,
}

impl Notes {
    /// The notes of a message that says nothing about itself.
    pub(crate) const NONE: Self = Self {
        time: None,
        priority: None,
        is_required: false,
        audience: Vec::new(),
        session: None,
    };

    /// Takes in what an object says: a message, one of its blocks, or what it calls metadata.
    pub(crate) fn take_in(&mut self, object: &Object<'_>) {
        self.see_time(object.any_of(&TIMES).and_then(|(_, json)| instant(json)));
        if self.session.is_none() {
            self.session = object.any_of(&SESSIONS).and_then(|(_, json)| scalar(json));
        }
        if let Some(annotations) = object.get("annotations").and_then(Json::object) {
            self.annotate(&annotations);
        }
        if let Some(ours) = object.get("cupel").and_then(Json::object) {
            self.is_required |= ours.get("rule").is_some_and(|rule| rule.raw() == "true");
        }
    }

    /// MCP annotations.
    fn annotate(&mut self, annotations: &Object<'_>) {
        self.see_time(annotations.get("lastModified").and_then(instant));
        let audience = annotations.get("audience").and_then(Json::list).unwrap_or_default();
        for name in audience.into_iter().filter_map(Json::str) {
            if !self.audience.iter().any(|known| *known == name) {
                self.audience.push(name.into_owned());
            }
        }
        let priority = annotations.get("priority").and_then(Json::number);
        if let Some(priority) = priority.filter(|priority| (0.0..=1.0).contains(priority)) {
            self.priority = self.priority.max(Some((priority * 100.0).round() as i64));
            self.is_required |= priority == 1.0;
        }
    }

    fn see_time(&mut self, time: Option<DateTime<Utc>>) {
        self.time = self.time.max(time);
    }

    /// Takes in what another message of the same bundle says: the newest time, the highest priority.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.see_time(other.time);
        self.priority = self.priority.max(other.priority);
        self.is_required |= other.is_required;
        for name in &other.audience {
            if !self.audience.contains(name) {
                self.audience.push(name.clone());
            }
        }
        if self.session.is_none() {
            self.session.clone_from(&other.session);
        }
    }
}

fn scalar(json: Json<'_>) -> Option<String> {
    match json.str() {
        Some(text) => Some(text.into_owned()).filter(|text| !text.is_empty()),
        None => json.whole_number().map(|number| number.to_string()),
    }
}

/// A time by RFC 3339, by ISO 8601 without an offset (taken as UTC), or in seconds or milliseconds
/// since 1970.
fn instant(json: Json<'_>) -> Option<DateTime<Utc>> {
    if let Some(text) = json.str() {
        let with_offset = DateTime::parse_from_rfc3339(&text).ok();
        let without = || text.parse::<NaiveDateTime>().ok().map(|time| time.and_utc());
        return with_offset.map(|time| time.with_timezone(&Utc)).or_else(without);
    }
    /// Larger numbers, as seconds, would be in the year 5138: they are milliseconds.
    const LATEST_IN_SECONDS: f64 = 1e11;
    let number = json.number().filter(|number| number.is_finite() && *number > 0.0)?;
    let seconds = if number > LATEST_IN_SECONDS { number / 1000.0 } else { number };
    DateTime::from_timestamp_micros((seconds * 1e6).round() as i64)
}

/// One time for each candidate, strictly rising, so that order and time never disagree.
///
/// Where no candidate has a time, they are a second apart from 1970 on. Where some have, those
/// without follow the one before them by a millisecond; and so does one whose own time is not after
/// it.
pub(crate) fn timeline(given: &[Option<DateTime<Utc>>]) -> Vec<DateTime<Utc>> {
    let first = given.iter().enumerate().find_map(|(at, time)| Some((at, (*time)?)));
    let Some((at, time)) = first else {
        let seconds = 0..i64::try_from(given.len()).unwrap_or(i64::MAX);
        return seconds.map(|second| DateTime::UNIX_EPOCH + Duration::seconds(second)).collect();
    };
    let millisecond = Duration::milliseconds(1);
    let lead = Duration::milliseconds(i64::try_from(at).unwrap_or(i64::MAX));
    let mut next = time.checked_sub_signed(lead).unwrap_or(time);
    let rise = |own: &Option<DateTime<Utc>>| {
        let time = own.map_or(next, |own| own.max(next));
        next = time.checked_add_signed(millisecond).unwrap_or(time);
        time
    };
    given.iter().map(rise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn notes(text: &str) -> Notes {
        let mut notes = Notes::default();
        notes.take_in(&Json::parse(text).unwrap().object().unwrap());
        notes
    }

    #[test]
    fn times_are_read_in_every_usual_spelling() {
        let expected = Some(time("2025-01-31T12:00:00Z"));
        for spelling in [
            r#"{"timestamp":"2025-01-31T12:00:00Z"}"#,
            r#"{"created_at":"2025-01-31T13:00:00+01:00"}"#,
            r#"{"createTime":"2025-01-31T12:00:00"}"#,
            r#"{"created":1738324800}"#,
            r#"{"timestamp":1738324800000}"#,
            r#"{"annotations":{"lastModified":"2025-01-31T12:00:00Z"}}"#,
        ] {
            assert_eq!(notes(spelling).time, expected, "{spelling}");
        }
    }

    #[test]
    fn what_is_no_time_is_passed_over() {
        for spelling in [
            r#"{"timestamp":"yesterday"}"#,
            r#"{"timestamp":-5}"#,
            r#"{"timestamp":1e400}"#,
            r#"{"created":true}"#,
        ] {
            assert_eq!(notes(spelling).time, None, "{spelling}");
        }
    }

    #[test]
    fn mcp_annotations_give_priority_audience_and_pin() {
        let notes = notes(r#"{"annotations":{"audience":["user","user"],"priority":0.756}}"#);
        assert_eq!((notes.priority, notes.is_required), (Some(76), false));
        assert_eq!(notes.audience, ["user"]);
    }

    #[test]
    fn an_mcp_priority_of_one_is_required_and_one_out_of_range_is_ignored() {
        assert!(notes(r#"{"annotations":{"priority":1}}"#).is_required);
        assert_eq!(notes(r#"{"annotations":{"priority":7}}"#), Notes::default());
    }

    #[test]
    fn without_times_order_stands_in() {
        let times = timeline(&[None, None]);
        assert_eq!(times, [time("1970-01-01T00:00:00Z"), time("1970-01-01T00:00:01Z")]);
    }

    #[test]
    fn times_never_contradict_the_order() {
        let given = [
            None,
            Some(time("2025-01-01T10:00:00Z")),
            None,
            Some(time("2025-01-01T09:00:00Z")),
            Some(time("2025-01-01T11:00:00Z")),
        ];
        let expected = [
            "2025-01-01T09:59:59.999Z",
            "2025-01-01T10:00:00Z",
            "2025-01-01T10:00:00.001Z",
            "2025-01-01T10:00:00.002Z",
            "2025-01-01T11:00:00Z",
        ];
        assert_eq!(timeline(&given), expected.map(time));
    }
}
