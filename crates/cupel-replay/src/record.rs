//! Decisions of policies on a set of requests, written down without any text: to be looked over, kept beside
//! the code, and compared with later.
//!
//! JSON lines: first the settings, then a line for each request, in the order of the log. Numbers and
//! fingerprints, so that a difference between two records is a difference between two decisions.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::outcome::{RequestOutcome, WindowOutcome};
use crate::settings::{Settings, Way};
use crate::used::fingerprint;

/// The name of the form of records.
const FORM: &str = "cupel-record/1";

/// Settings of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordHead {
    /// `cupel-record/1`.
    pub record: String,
    /// The logs, as they were named.
    pub logs: Vec<String>,
    /// The policies.
    pub policies: Vec<RecordedPolicy>,
    /// The windows in tokens.
    pub max: Vec<i64>,
    /// True if in sessions too.
    pub session: bool,
    /// Texts that were shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shorten: Option<String>,
    /// Tokenizer, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// Which fields are what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// True if requests that their provider would refuse were repaired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair: bool,
    /// True if what could not be kept was dropped then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair_drops: bool,
    /// Other settings that changed a decision where it was recorded: by name, as they were written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A policy, and what tells its description again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPolicy {
    /// Name of the policy.
    pub name: String,
    /// Fingerprint of its description.
    pub fingerprint: String,
}

/// Decisions on a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// Where it is.
    pub at: String,
    /// Fingerprint of its text.
    pub request: String,
    /// One for each way; `None` where nothing fits.
    pub windows: Vec<Option<RecordedWindow>>,
}

/// Decision on a request in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedWindow {
    /// The messages that stay, as `0-3,7`.
    pub kept: String,
    /// Its tokens.
    pub tokens: i64,
    /// Those that no cache has.
    pub uncached: i64,
    /// Cost, in tokens at full price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Number of used values that are there, and of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<[usize; 2]>,
    /// Fingerprints of the values that are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// The scores of the candidates that stay, to three digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<f64>,
}

impl RecordHead {
    /// The head of a record of these settings. What they do not tell is for the caller to fill in.
    pub fn new(settings: &Settings, logs: Vec<String>) -> Self {
        let policy = |policy: &crate::ReplayedPolicy| {
            let description = serde_json::to_string(policy.engine.policy().description());
            let fingerprint = fingerprint(&description.unwrap_or_default());
            RecordedPolicy { name: policy.name.clone(), fingerprint: format!("{fingerprint:016x}") }
        };
        Self {
            record: FORM.to_owned(),
            logs,
            policies: settings.policies.iter().map(policy).collect(),
            max: settings.budgets.clone(),
            session: settings.session,
            shorten: settings.shorten.map(|shorten| shorten.to_string()),
            tokenizer: None,
            columns: None,
            repair: false,
            repair_drops: false,
            settings: BTreeMap::new(),
        }
    }
}

impl RecordedRequest {
    /// Decisions on a request.
    pub fn of(request: &RequestOutcome) -> Self {
        Self {
            at: request.place.to_string(),
            request: format!("{:016x}", request.fingerprint),
            windows: request.windows.iter().map(RecordedWindow::of).collect(),
        }
    }
}

impl RecordedWindow {
    fn of(window: &WindowOutcome) -> Option<Self> {
        let found = window.coverage.as_ref().map(|coverage| [coverage.found, coverage.used]);
        window.fits.then(|| Self {
            kept: ranges(&window.kept),
            tokens: window.sent.tokens,
            uncached: window.sent.uncached_tokens,
            cost: Some((window.sent.cost * 10.0).round() / 10.0),
            lost: window.coverage.iter().flat_map(|c| &c.lost).map(|value| mark(value)).collect(),
            found,
            scores: window.scores.iter().map(|score| (score * 1_000.0).round() / 1_000.0).collect(),
        })
    }
}

/// Fingerprint of a value.
pub(crate) fn mark(value: &str) -> String {
    format!("{:08x}", fingerprint(value) >> 32)
}

/// The indices of `0-3,7`; nothing of what is no such list.
pub(crate) fn indices(ranges: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    ranges.split(',').filter_map(range).flatten().collect()
}

/// `0-3,7`.
pub(crate) fn ranges(indices: &[u32]) -> String {
    let mut text = String::new();
    for run in indices.chunk_by(|a, b| a + 1 == *b) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match run {
            [one] => write!(text, "{comma}{one}"),
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            [] => Ok(()),
        };
    }
    text
}

/// A record: its head and its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Settings of the record.
    pub head: RecordHead,
    /// In the order of the log.
    pub requests: Vec<RecordedRequest>,
}

/// First fields of every version of a record.
#[derive(Deserialize)]
struct Form {
    record: String,
}

/// A record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {rule}")]
pub struct RecordError {
    /// The line, from 1.
    pub line: usize,
    /// Problem of the record, and its remedy.
    pub rule: String,
}

impl Record {
    /// The record as text.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(&self.head).unwrap_or_default();
        text.push('\n');
        for request in &self.requests {
            text.push_str(&serde_json::to_string(request).unwrap_or_default());
            text.push('\n');
        }
        text
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    ///
    /// If it is not that, or of another version.
    pub fn from_text(text: &str) -> Result<Self, RecordError> {
        let wrong = |line: usize, error: &dyn std::fmt::Display| RecordError {
            line,
            rule: format!(
                "is no line of a record: {}; write the record anew with `cupel record`",
                error.to_string().replace(" at line 1 column ", " at character ")
            ),
        };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, first) = lines.next().ok_or_else(|| wrong(1, &"the file is empty"))?;
        let form = serde_json::from_str(first).map(|Form { record }| record);
        match form.map_err(|error| wrong(1, &error))? {
            form if form == FORM => {}
            form => {
                return Err(wrong(1, &format!("the form `{form}` is not known, only `{FORM}` is")));
            }
        }
        let head: RecordHead = serde_json::from_str(first).map_err(|error| wrong(1, &error))?;
        let requests = lines
            .map(|(at, line)| serde_json::from_str(line).map_err(|error| wrong(at + 1, &error)));
        Ok(Self { head, requests: requests.collect::<Result<_, _>>()? })
    }

    /// The ways that it has windows for must be these.
    pub fn has_ways(&self, ways: &[Way]) -> bool {
        self.requests.iter().all(|request| request.windows.len() == ways.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 7, 9, 10]), "0-2,7,9-10");
        assert_eq!(ranges(&[]), "");
        assert_eq!(indices("0-2,7,9-10"), [0, 1, 2, 7, 9, 10]);
        assert_eq!(indices(""), [0; 0]);
    }

    #[test]
    fn what_is_no_record_is_refused_by_line() {
        assert_eq!(Record::from_text("").unwrap_err().line, 1);
        let head =
            r#"{"record":"cupel-record/1","logs":[],"policies":[],"max":[1],"session":false}"#;
        assert_eq!(Record::from_text(&format!("{head}\nnonsense")).unwrap_err().line, 2);
        let other = head.replace("record/1", "record/9").replace("logs", "sources");
        assert!(
            Record::from_text(&other).unwrap_err().rule.contains("`cupel-record/9` is not known")
        );
        assert_eq!(Record::from_text(head).unwrap().to_text(), format!("{head}\n"));
    }
}
