//! Metrics with the names that the conventions have for clients of models.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use cupel_otel::names;
use serde_json::{Value, json};

use super::text;
use crate::record::{Outcome, Record};

/// Most models that are told apart. Clients name them, so there may be any number.
const MOST: usize = 1_000;

/// Name in the conventions for whatever is not told apart.
const OTHER: &str = "_OTHER";

/// Ends of buckets, as the conventions have them.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// Group of requests that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    provider: &'static str,
    model: String,
    error: Option<String>,
}

/// Measures of a request.
pub(super) struct Measured {
    group: Group,
    tokens: Option<i64>,
    seconds: f64,
}

impl Measured {
    pub(super) fn of(record: &Record) -> Self {
        let status = record.status.filter(|status| *status >= 400).map(|code| code.to_string());
        let is_whole = record.outcome == Outcome::Answered;
        let error = status.or_else(|| (!is_whole).then(|| record.outcome.name().to_owned()));
        Self {
            group: Group {
                provider: record.api.map_or("", crate::api::Api::provider),
                model: record.model.clone().unwrap_or_default(),
                error,
            },
            tokens: record.figures.map(|figures| figures.tokens_after),
            seconds: record.duration.as_secs_f64(),
        }
    }
}

struct Histogram {
    ends: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    fn new(ends: &'static [f64]) -> Self {
        Self { ends, counts: vec![0; ends.len() + 1], sum: 0.0 }
    }

    fn add(&mut self, value: f64) {
        let at = self.ends.partition_point(|end| *end < value);
        self.counts[at] += 1;
        self.sum += value;
    }

    fn point(&self, attributes: &[Value], begun: u128, now: u128) -> Option<Value> {
        let count: u64 = self.counts.iter().sum();
        let counts: Vec<String> = self.counts.iter().map(ToString::to_string).collect();
        (count > 0).then(|| {
            json!({
                "attributes": attributes, "startTimeUnixNano": begun.to_string(),
                "timeUnixNano": now.to_string(), "count": count.to_string(), "sum": self.sum,
                "bucketCounts": counts, "explicitBounds": self.ends,
            })
        })
    }
}

/// Measures since the beginning.
pub(super) struct Measures {
    begun: u128,
    groups: BTreeMap<Group, [Histogram; 2]>,
    is_told: bool,
}

impl Measures {
    pub(super) fn new() -> Self {
        Self { begun: now(), groups: BTreeMap::new(), is_told: true }
    }

    pub(super) fn add(&mut self, measured: Measured) {
        let Measured { mut group, tokens, seconds } = measured;
        if self.groups.len() >= MOST && !self.groups.contains_key(&group) {
            OTHER.clone_into(&mut group.model);
        }
        let new = || [Histogram::new(&TOKENS), Histogram::new(&SECONDS)];
        let [of_tokens, of_seconds] = self.groups.entry(group).or_insert_with(new);
        if let Some(tokens) = tokens {
            of_tokens.add(tokens as f64);
        }
        of_seconds.add(seconds);
        self.is_told = false;
    }

    /// All of it, if something is new.
    pub(super) fn told(&mut self) -> Option<Value> {
        if std::mem::replace(&mut self.is_told, true) {
            return None;
        }
        let now = now();
        let metric = |name: &str, unit: &str, help: &str, which: usize| {
            let points = self.groups.iter().filter_map(|(group, both)| {
                let mut attributes = vec![
                    text("gen_ai.operation.name", "chat"),
                    text("gen_ai.provider.name", group.provider),
                    text("gen_ai.request.model", &group.model),
                ];
                if which == 0 {
                    attributes.push(text("gen_ai.token.type", "input"));
                }
                if let Some(error) = &group.error {
                    attributes.push(text(names::ERROR_TYPE, error));
                }
                both[which].point(&attributes, self.begun, now)
            });
            json!({
                "name": name, "unit": unit, "description": help,
                // Cumulative.
                "histogram": { "aggregationTemporality": 2, "dataPoints": points.collect::<Vec<_>>() },
            })
        };
        Some(json!([
            metric(
                "gen_ai.client.token.usage",
                "{token}",
                "Tokens that went out, as counted here.",
                0
            ),
            metric("gen_ai.client.operation.duration", "s", "Time until the end of the answer.", 1),
        ]))
    }
}

/// Nanoseconds since 1970.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(model: &str, tokens: i64) -> Measured {
        let group = Group { provider: "openai", model: model.to_owned(), error: None };
        Measured { group, tokens: Some(tokens), seconds: 0.05 }
    }

    #[test]
    fn values_fall_into_the_bucket_that_ends_at_or_above_them() {
        let mut measures = Measures::new();
        assert_eq!(measures.told(), None, "nothing was measured");
        for tokens in [1, 4, 5, 100_000_000] {
            measures.add(measured("m", tokens));
        }
        let told = measures.told().unwrap();
        let point = &told[0]["histogram"]["dataPoints"][0];
        let counts: Vec<&str> = point["bucketCounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap())
            .collect();
        assert_eq!((counts[0], counts[1], counts[2], counts[14]), ("1", "1", "1", "1"));
        assert_eq!((point["count"].as_str(), counts.len()), (Some("4"), 15));
        assert_eq!(told[1]["histogram"]["dataPoints"][0]["bucketCounts"][3], "4");
        assert_eq!(measures.told(), None, "nothing is new");
    }

    #[test]
    fn models_are_told_apart_up_to_a_bound() {
        let mut measures = Measures::new();
        for model in 0..MOST + 50 {
            measures.add(measured(&model.to_string(), 1));
        }
        assert_eq!(measures.groups.len(), MOST + 1);
    }

    #[test]
    fn tokens_and_seconds_are_told_apart() {
        let mut measures = Measures::new();
        measures.add(measured("m", 3));
        measures.add(measured("m", 5));
        measures.add(Measured { tokens: None, ..measured("unread", 0) });
        let told = measures.told().unwrap();
        let points = |which: usize| told[which]["histogram"]["dataPoints"].as_array().unwrap();
        assert_eq!((points(0).len(), points(1).len()), (1, 2), "nobody counted the other");
        assert_eq!(points(0)[0]["sum"], 8.0);
        let is_input = |point: &Value| {
            let attributes = point["attributes"].as_array().unwrap().iter();
            attributes.into_iter().any(|one| one["key"] == "gen_ai.token.type")
        };
        assert!(is_input(&points(0)[0]) && !is_input(&points(1)[0]));
        let begun = points(0)[0]["startTimeUnixNano"].as_str().unwrap();
        assert!(begun.parse::<u128>().unwrap() > 1_700_000_000_000_000_000, "{begun}");
    }

    #[test]
    fn an_error_is_a_status_or_an_outcome() {
        let error = |status, outcome| {
            Measured::of(&Record { status, outcome, ..Record::for_tests(1) }).group.error
        };
        assert_eq!(error(Some(200), Outcome::Answered), None);
        assert_eq!(error(Some(399), Outcome::Answered), None);
        assert_eq!(error(Some(400), Outcome::Answered).as_deref(), Some("400"));
        assert_eq!(error(Some(200), Outcome::BrokenOff).as_deref(), Some("broken-off"));
        assert_eq!(error(None, Outcome::NoAnswer).as_deref(), Some("no-answer"));
    }
}
