//! Findings of the fuzz targets, each as small as it gets.

use chrono::{DateTime, Utc};
use cupel::*;

/// Instants near the ends of what RFC 3339 knows were read, but what was written for them was not.
#[test]
fn instants_outside_of_four_digit_years_round_trip() {
    let earliest_and_latest = [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC];
    for timestamp in earliest_and_latest.into_iter().chain(just_outside()) {
        let item = ContextItemBuilder::new("x", 1).timestamp(timestamp).build().unwrap();
        let text = serde_json::to_string(&item).unwrap();
        assert_eq!(serde_json::from_str::<ContextItem>(&text).unwrap(), item, "{text}");
        let text = toml::to_string(&item).unwrap();
        assert_eq!(toml::from_str::<ContextItem>(&text).unwrap(), item, "{text}");
    }
}

/// In the years -1 and 10000, once their offset is taken off.
fn just_outside() -> [DateTime<Utc>; 2] {
    ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"].map(|text| {
        let json = format!(r#"{{"content":"x","tokens":1,"timestamp":"{text}"}}"#);
        let item: ContextItem = serde_json::from_str(&json).unwrap();
        item.timestamp().unwrap()
    })
}

/// Each level was built twice, so that a few hundred bytes took longer than anyone can wait.
#[test]
fn a_composite_of_one_composite_of_one_and_so_on_is_built_once() {
    let innermost = r#""recency""#.to_owned();
    let nested = (0..50)
        .fold(innermost, |inner, _| format!(r#"{{"type":"composite","scorers":[{inner}]}}"#));
    let text = format!(r#"{{"scorers":[{nested}]}}"#);
    let description: PolicyDescription = serde_json::from_str(&text).unwrap();
    assert!(description.build().is_ok());
}
