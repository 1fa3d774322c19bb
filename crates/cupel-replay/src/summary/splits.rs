//! Cost of requests by model, by route, by user and by day.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::Dollars;
use crate::outcome::RequestOutcome;

/// So many values of each kind are told apart; what comes later is added up as one.
const MOST: usize = 200;
const OTHERS: &str = "others";
const MICROS_OF_A_DAY: i64 = 86_400_000_000;

/// Cost of a part of the requests, as it was logged and in every way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SplitCost {
    /// The model, route, user or day.
    pub name: String,
    /// Number of requests.
    pub requests: usize,
    /// As it was logged.
    pub logged: Dollars,
    /// In each way. Where nothing fits, the request as it was logged counts.
    pub ways: Vec<Dollars>,
}

/// Cost of requests, part by part.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Splits {
    /// By model.
    pub models: Vec<SplitCost>,
    /// By route.
    pub routes: Vec<SplitCost>,
    /// By user.
    pub users: Vec<SplitCost>,
    /// By day, of the requests that tell when they were sent; a day is its date.
    pub days: Vec<SplitCost>,
    /// From the first request to the last, in seconds, where they tell.
    pub span_seconds: Option<i64>,
}

type Parts = BTreeMap<String, SplitCost>;

#[derive(Debug, Default)]
pub(super) struct SplitTally {
    ways: usize,
    parts: [Parts; 4],
    first: Option<i64>,
    last: Option<i64>,
}

impl SplitTally {
    pub(super) fn new(ways: usize) -> Self {
        Self { ways, ..Self::default() }
    }

    pub(super) fn add(&mut self, request: &RequestOutcome) {
        let day = request.time.map(|time| date(time.div_euclid(MICROS_OF_A_DAY)));
        let names = [
            request.model.as_deref(),
            request.route.as_deref(),
            request.user.as_deref(),
            day.as_deref(),
        ];
        for (parts, name) in self.parts.iter_mut().zip(names) {
            if let Some(name) = name {
                add(parts, name, self.ways, request);
            }
        }
        if let Some(time) = request.time {
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
    }

    pub(super) fn splits(&self) -> Splits {
        let [models, routes, users, days] = [0, 1, 2, 3].map(|at| {
            let mut parts: Vec<SplitCost> = self.parts[at].values().cloned().collect();
            // Days stand in their order; of all else the dearest comes first.
            if at != 3 {
                parts.sort_by_key(|part| std::cmp::Reverse(part.logged.full_price_tokens));
            }
            parts
        });
        let span = self.first.zip(self.last).map(|(first, last)| (last - first) / 1_000_000);
        Splits { models, routes, users, days, span_seconds: span }
    }
}

fn add(parts: &mut Parts, name: &str, ways: usize, request: &RequestOutcome) {
    let is_known = parts.contains_key(name) || parts.len() < MOST;
    let name = if is_known { name } else { OTHERS };
    let part = parts.entry(name.to_owned()).or_insert_with(|| SplitCost {
        name: name.to_owned(),
        requests: 0,
        logged: Dollars::default(),
        ways: vec![Dollars::default(); ways],
    });
    part.requests += 1;
    part.logged.add(request.logged, &request.tariff);
    for (sum, window) in part.ways.iter_mut().zip(&request.windows) {
        sum.add(if window.fits { window.sent } else { request.logged }, &request.tariff);
    }
}

/// The date of a day since 1970.
fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
#[test]
fn days_have_dates() {
    let days = [0, 59, 60, 11_016, 20_775, -1].map(date);
    let dates =
        ["1970-01-01", "1970-03-01", "1970-03-02", "2000-02-29", "2026-11-18", "1969-12-31"];
    assert_eq!(days, dates);
}
