//! The scorers. Each function is one chapter's pseudocode.

use chrono::{DateTime, TimeDelta, Utc};

use super::model::same_kind;
use crate::protocol::{
    Curve, Item, KindWeight, Scorer, StepWindow, TagComparison, TagWeight, WeightedScorer, duration,
};

/// Score of the item at `position` of `all`.
///
/// # Panics
///
/// Panics if `position` is outside `all`.
pub fn score(scorer: &Scorer, position: usize, all: &[&Item]) -> f64 {
    let item = all[position];
    match scorer {
        Scorer::Recency => recency(item, all),
        Scorer::Priority => priority(item, all),
        Scorer::Kind { weights } => kind(item, weights.as_deref()),
        Scorer::Tag { tag_weights, tag_comparison } => tag(item, tag_weights, *tag_comparison),
        Scorer::Frequency => frequency(position, all),
        Scorer::Reflexive => reflexive(item),
        Scorer::Composite { scorers } => composite(scorers, position, all),
        Scorer::Scaled { inner } => scaled(inner, position, all),
        Scorer::MetadataTrust { default_score } => metadata_trust(item, *default_score),
        Scorer::MetadataKey { key, value, boost } => metadata_key(item, key, value, *boost),
        Scorer::Decay { reference_time, curve, null_timestamp_score } => {
            decay(item, *reference_time, curve, null_timestamp_score.unwrap_or(0.5))
        }
        Scorer::RawHint => item.future_relevance_hint.unwrap_or(0.0),
    }
}

fn recency(item: &Item, all: &[&Item]) -> f64 {
    let Some(timestamp) = item.timestamp else { return 0.0 };
    let mut with_timestamp = 0_usize;
    let mut rank = 0_usize;
    for other in all {
        let Some(other_timestamp) = other.timestamp else { continue };
        with_timestamp += 1;
        if other_timestamp < timestamp {
            rank += 1;
        }
    }
    if with_timestamp <= 1 { 1.0 } else { rank as f64 / (with_timestamp - 1) as f64 }
}

fn priority(item: &Item, all: &[&Item]) -> f64 {
    let Some(priority) = item.priority else { return 0.0 };
    let mut with_priority = 0_usize;
    let mut rank = 0_usize;
    for other in all {
        let Some(other_priority) = other.priority else { continue };
        with_priority += 1;
        if other_priority < priority {
            rank += 1;
        }
    }
    if with_priority <= 1 { 1.0 } else { rank as f64 / (with_priority - 1) as f64 }
}

/// The weights that a kind scorer has when none are given.
const DEFAULT_KIND_WEIGHTS: [(&str, f64); 5] = [
    ("SystemPrompt", 1.0),
    ("Memory", 0.8),
    ("ToolOutput", 0.6),
    ("Document", 0.4),
    ("Message", 0.2),
];

fn kind(item: &Item, weights: Option<&[KindWeight]>) -> f64 {
    let weights = match weights {
        Some(weights) => weights.iter().map(|entry| (entry.kind.as_str(), entry.weight)).collect(),
        None => DEFAULT_KIND_WEIGHTS.to_vec(),
    };
    for (kind, weight) in weights {
        if same_kind(kind, item.kind()) {
            return weight;
        }
    }
    0.0
}

fn tag(item: &Item, weights: &[TagWeight], comparison: Option<TagComparison>) -> f64 {
    // Sums are taken in the order of the tags, so that equal weights give equal bits.
    let mut weights = weights.to_vec();
    weights.sort_by(|a, b| a.tag.cmp(&b.tag));
    let mut total_weight = 0.0;
    for entry in &weights {
        total_weight += entry.weight;
    }
    if total_weight == 0.0 || item.tags.is_empty() {
        return 0.0;
    }
    let mut matched_sum = 0.0;
    for tag in &item.tags {
        if let Some(weight) = tag_weight(tag, &weights, comparison) {
            matched_sum += weight;
        }
    }
    f64::min(matched_sum / total_weight, 1.0)
}

fn tag_weight(tag: &str, weights: &[TagWeight], comparison: Option<TagComparison>) -> Option<f64> {
    for entry in weights {
        let equal = match comparison {
            None | Some(TagComparison::Exact) => entry.tag == tag,
            Some(TagComparison::AsciiCaseless) => entry.tag.eq_ignore_ascii_case(tag),
        };
        if equal {
            return Some(entry.weight);
        }
    }
    None
}

fn frequency(position: usize, all: &[&Item]) -> f64 {
    let item = all[position];
    if item.tags.is_empty() || all.len() <= 1 {
        return 0.0;
    }
    let mut matching_items = 0_usize;
    for (other_position, other) in all.iter().enumerate() {
        if other_position != position && shares_any_tag(&item.tags, &other.tags) {
            matching_items += 1;
        }
    }
    matching_items as f64 / (all.len() - 1) as f64
}

fn shares_any_tag(a: &[String], b: &[String]) -> bool {
    a.iter().any(|tag| b.iter().any(|other| tag.eq_ignore_ascii_case(other)))
}

fn reflexive(item: &Item) -> f64 {
    match item.future_relevance_hint {
        Some(hint) if hint.is_finite() => hint.clamp(0.0, 1.0),
        _ => 0.0,
    }
}

fn composite(children: &[WeightedScorer], position: usize, all: &[&Item]) -> f64 {
    let mut total_weight = 0.0;
    for child in children {
        total_weight += child.weight;
    }
    let mut result = 0.0;
    for child in children {
        result += score(&child.scorer, position, all) * (child.weight / total_weight);
    }
    result
}

fn scaled(inner: &Scorer, position: usize, all: &[&Item]) -> f64 {
    let mut raw_score = f64::NAN;
    let mut min = f64::INFINITY;
    let mut max = f64::NEG_INFINITY;
    for other_position in 0..all.len() {
        let other_score = score(inner, other_position, all);
        if other_score < min {
            min = other_score;
        }
        if other_score > max {
            max = other_score;
        }
        if other_position == position {
            raw_score = other_score;
        }
    }
    if max == min {
        0.5
    } else if (max - min).is_finite() {
        (raw_score - min) / (max - min)
    } else {
        let raw: Vec<f64> = (0..all.len()).map(|position| score(inner, position, all)).collect();
        let [raw_score, min, max] = [raw_score, min, max].map(|score| far_place(score, &raw));
        (raw_score - min) / (max - min)
    }
}

/// Where a score lies whose distance from others is no finite number: finite ones from 0 to 1, minus
/// infinity at -1, infinity at 2.
fn far_place(score: f64, raw: &[f64]) -> f64 {
    if score.is_infinite() {
        return if score > 0.0 { 2.0 } else { -1.0 };
    }
    let mut lowest = f64::INFINITY;
    let mut highest = f64::NEG_INFINITY;
    for other in raw.iter().filter(|other| other.is_finite()) {
        lowest = lowest.min(*other);
        highest = highest.max(*other);
    }
    if score == lowest && score == highest {
        return 0.5;
    }
    // Half of everything, because the whole difference may be too large for a number.
    (score / 2.0 - lowest / 2.0) / (highest / 2.0 - lowest / 2.0)
}

fn metadata_trust(item: &Item, default_score: f64) -> f64 {
    let Some(raw) = item.metadata.get("cupel:trust") else { return default_score };
    match raw.parse::<f64>() {
        Ok(value) if value.is_finite() => value.clamp(0.0, 1.0),
        _ => default_score,
    }
}

fn metadata_key(item: &Item, key: &str, value: &str, boost: f64) -> f64 {
    match item.metadata.get(key) {
        Some(raw) if raw == value => boost,
        _ => 1.0,
    }
}

fn decay(item: &Item, now: DateTime<Utc>, curve: &Curve, null_timestamp_score: f64) -> f64 {
    let Some(timestamp) = item.timestamp else { return null_timestamp_score };
    let age = (now - timestamp).max(TimeDelta::zero());
    match curve {
        Curve::Exponential { half_life_secs } => {
            2.0_f64.powf(-duration_to_seconds(age) / duration_to_seconds(span(*half_life_secs)))
        }
        Curve::Step { windows } => step(age, windows),
        Curve::Window { max_age_secs } => {
            if age < span(*max_age_secs) {
                1.0
            } else {
                0.0
            }
        }
    }
}

fn step(age: TimeDelta, windows: &[StepWindow]) -> f64 {
    let mut last = 0.0;
    for window in windows {
        if span(window.max_age_secs) > age {
            return window.score;
        }
        last = window.score;
    }
    last
}

/// So many seconds; rules of construction keep out what is too long.
fn span(seconds: f64) -> TimeDelta {
    duration(seconds).unwrap_or(TimeDelta::MAX)
}

fn duration_to_seconds(duration: TimeDelta) -> f64 {
    let nanoseconds =
        i128::from(duration.num_seconds()) * 1_000_000_000 + i128::from(duration.subsec_nanos());
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn score_one(scorer: &Scorer, item: &Item) -> f64 {
        score(scorer, 0, &[item])
    }

    fn score_each(scorer: &Scorer, items: &[Item]) -> Vec<f64> {
        let all: Vec<&Item> = items.iter().collect();
        (0..all.len()).map(|position| score(scorer, position, &all)).collect()
    }

    fn noon() -> DateTime<Utc> {
        "2025-01-01T12:00:00Z".parse().unwrap()
    }

    fn aged(hours: i64) -> Item {
        Item { timestamp: Some(noon() - TimeDelta::hours(hours)), ..Item::new("x", 1) }
    }

    fn decaying(curve: Curve) -> Scorer {
        Scorer::Decay { reference_time: noon(), curve, null_timestamp_score: None }
    }

    fn one_day_half_life() -> Scorer {
        decaying(Curve::Exponential { half_life_secs: 86_400.0 })
    }

    fn three_steps() -> Scorer {
        let windows = [(1.0, 0.9), (24.0, 0.5), (72.0, 0.1)]
            .map(|(hours, score)| StepWindow { max_age_secs: hours * 3_600.0, score });
        decaying(Curve::Step { windows: windows.into() })
    }

    fn with_metadata(key: &str, value: &str) -> Item {
        let metadata = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        Item { metadata, ..Item::new("x", 1) }
    }

    fn tagged(tags: &[&str]) -> Item {
        Item { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..Item::new("x", 1) }
    }

    fn hinted(hint: f64) -> Item {
        Item { future_relevance_hint: Some(hint), ..Item::new("x", 1) }
    }

    #[test]
    fn recency_ranks_oldest_zero_and_newest_one() {
        let items = [aged(1), aged(9), Item::new("x", 1), aged(5)];
        assert_eq!(score_each(&Scorer::Recency, &items), [1.0, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn the_only_timestamp_scores_one_and_shared_timestamps_score_zero() {
        assert_eq!(score_each(&Scorer::Recency, &[Item::new("x", 1), aged(1)]), [0.0, 1.0]);
        assert_eq!(score_each(&Scorer::Recency, &[aged(1), aged(1)]), [0.0, 0.0]);
    }

    #[test]
    fn priority_ranks_strictly_lower_values() {
        let items = [Some(5), Some(10), None, Some(5)]
            .map(|priority| Item { priority, ..Item::new("x", 1) });
        assert_eq!(score_each(&Scorer::Priority, &items), [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn kind_weights_are_found_without_regard_to_case() {
        let scorer = Scorer::Kind { weights: None };
        let of = |kind: &str| Item { kind: Some(kind.to_owned()), ..Item::new("x", 1) };
        assert_eq!(score_one(&scorer, &of("SYSTEMPROMPT")), 1.0);
        assert_eq!(score_one(&scorer, &of("memory")), 0.8);
        assert_eq!(score_one(&scorer, &of("other")), 0.0);
    }

    #[test]
    fn tag_score_counts_every_occurrence_and_is_at_most_one() {
        let scorer = |tag_comparison| Scorer::Tag {
            tag_weights: [("b", 3.0), ("a", 1.0)]
                .map(|(tag, weight)| TagWeight { tag: tag.to_owned(), weight })
                .into(),
            tag_comparison,
        };
        let (exact, caseless) = (scorer(None), scorer(Some(TagComparison::AsciiCaseless)));
        assert_eq!(score_one(&exact, &tagged(&["a", "a"])), 0.5);
        assert_eq!(score_one(&exact, &tagged(&["b", "b"])), 1.0);
        assert_eq!(score_one(&exact, &tagged(&["B"])), 0.0);
        assert_eq!(score_one(&caseless, &tagged(&["B"])), 0.75);
    }

    #[test]
    fn frequency_is_the_share_of_peers_with_a_common_tag() {
        let items = [tagged(&["Important"]), tagged(&["important"]), tagged(&[]), tagged(&["z"])];
        assert_eq!(score_each(&Scorer::Frequency, &items), [1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
    }

    #[test]
    fn reflexive_clamps_finite_hints_and_ignores_the_rest() {
        let of = |hint| score_one(&Scorer::Reflexive, &hinted(hint));
        assert_eq!([of(0.5), of(-0.3), of(1.7)], [0.5, 0.0, 1.0]);
        assert_eq!([of(f64::NAN), of(f64::INFINITY), of(f64::NEG_INFINITY)], [0.0; 3]);
    }

    #[test]
    fn composite_weights_are_relative() {
        let child = |key: &str| Scorer::MetadataKey {
            key: key.to_owned(),
            value: "high".to_owned(),
            boost: 3.0,
        };
        let composite = |a, b| Scorer::Composite {
            scorers: [("k", a), ("l", b)]
                .map(|(key, weight)| WeightedScorer { weight, scorer: child(key) })
                .into(),
        };
        let item = with_metadata("k", "high");
        assert_eq!(score_one(&composite(3.0, 1.0), &item), 2.5);
        assert_eq!(score_one(&composite(0.75, 0.25), &item), 2.5);
    }

    #[test]
    fn scaled_spans_zero_to_one_and_is_one_half_when_all_are_equal() {
        let scaled = Scorer::Scaled { inner: Box::new(Scorer::Reflexive) };
        let items = [hinted(0.25), hinted(0.5), hinted(0.375)];
        assert_eq!(score_each(&scaled, &items), [0.0, 1.0, 0.5]);
        assert_eq!(score_each(&scaled, &items[..1]), [0.5]);
    }

    #[test]
    fn scaled_keeps_the_order_of_scores_too_far_apart_to_subtract() {
        const INF: f64 = f64::INFINITY;
        let scaled = Scorer::Scaled { inner: Box::new(Scorer::RawHint) };
        let of = |hints: &[f64]| {
            score_each(&scaled, &hints.iter().map(|h| hinted(*h)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[f64::MIN, 0.0, f64::MAX]), [0.0, 0.5, 1.0]);
        assert_eq!(of(&[0.0, 1.0, INF]), [0.0, 0.5, 1.0]);
        assert_eq!(of(&[-INF, 3.0, 5.0]), [0.0, 0.5, 1.0]);
        assert_eq!(of(&[7.0, INF]), [0.0, 1.0]);
        assert_eq!(of(&[INF, -INF, 7.0]), [1.0, 0.0, 0.5]);
        assert_eq!(of(&[INF, INF]), [0.5, 0.5]);
        assert!(of(&[f64::NAN, INF, 1.0])[0].is_nan());
    }

    #[test]
    fn trust_falls_back_when_absent_unparseable_or_not_finite() {
        let scorer = Scorer::MetadataTrust { default_score: 0.5 };
        let of = |value| score_one(&scorer, &with_metadata("cupel:trust", value));
        assert_eq!([of("0.85"), of("1.5"), of("-0.1")], [0.85, 1.0, 0.0]);
        assert_eq!([of("high"), of(""), of("NaN"), of("Infinity")], [0.5; 4]);
        assert_eq!(score_one(&scorer, &Item::new("x", 1)), 0.5);
    }

    #[test]
    fn metadata_key_boosts_only_the_exact_value() {
        let key = "cupel:priority";
        let scorer =
            Scorer::MetadataKey { key: key.to_owned(), value: "high".to_owned(), boost: 1.5 };
        assert_eq!(score_one(&scorer, &with_metadata(key, "high")), 1.5);
        assert_eq!(score_one(&scorer, &with_metadata(key, "normal")), 1.0);
        assert_eq!(score_one(&scorer, &Item::new("x", 1)), 1.0);
    }

    #[test]
    fn one_half_life_scores_one_half() {
        assert_eq!(score_one(&one_day_half_life(), &aged(24)), 0.5);
    }

    #[test]
    fn a_future_timestamp_counts_as_age_zero() {
        assert_eq!(score_one(&one_day_half_life(), &aged(-12)), 1.0);
    }

    #[test]
    fn a_missing_timestamp_scores_the_configured_value() {
        assert_eq!(score_one(&one_day_half_life(), &Item::new("x", 1)), 0.5);
    }

    #[test]
    fn step_takes_the_first_window_longer_than_the_age() {
        let of = |hours| score_one(&three_steps(), &aged(hours));
        assert_eq!([of(0), of(1), of(6), of(24), of(72)], [0.9, 0.5, 0.5, 0.1, 0.1]);
    }

    #[test]
    fn window_is_open_at_its_end() {
        let scorer = decaying(Curve::Window { max_age_secs: 21_600.0 });
        assert_eq!(score_one(&scorer, &aged(6)), 0.0);
        assert_eq!(score_one(&scorer, &aged(5)), 1.0);
    }

    #[test]
    fn half_lives_below_a_millisecond_count_in_full() {
        let timestamp = Some(noon() - TimeDelta::microseconds(500));
        let item = Item { timestamp, ..Item::new("x", 1) };
        let scorer = decaying(Curve::Exponential { half_life_secs: 0.000_5 });
        assert_eq!(score_one(&scorer, &item), 0.5);
    }
}
