//! Random items.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Mood, Rng};
use crate::protocol::Item;

/// Kinds that are all different, also without regard to ASCII case.
pub(super) const KINDS: [&str; 7] =
    ["Message", "Document", "Äther", "ToolOutput", "äther", "Memory", "custom"];

/// Tags, some of which differ in ASCII case only.
pub(super) const TAGS: [&str; 8] = ["a", "A", "b", "B", "urgent", "URGENT", "é", "É"];

/// The metadata key that boosts look at.
pub(super) const BOOST_KEY: &str = "cupel:priority";

const TOKENS: [i64; 12] = [0, 0, 1, 1, 2, 5, 10, 10, 50, 99, 100, 101];
const HUGE_TOKENS: [i64; 6] = [i64::MAX, i64::MAX, i64::MAX - 1, i64::MAX / 2, 1 << 53, 0];
const TRUST: [&str; 14] = [
    "0.85", "0.5", "0", "1.0", "1.5", "-0.1", "-0.0", "high", "", "NaN", "Infinity", "-inf",
    " 0.5", "1e-3",
];
const HINTS: [f64; 18] = [
    0.0,
    -0.0,
    0.1,
    0.25,
    0.3,
    0.5,
    0.5,
    0.5,
    0.75,
    1.0,
    1.7,
    -0.3,
    0.000_05,
    f64::MAX,
    f64::MIN,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// The fixed time that timestamps lie around.
pub(super) fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_735_732_800, 0).unwrap_or_default()
}

pub(super) fn items(rng: &mut Rng, mood: Mood) -> Vec<Item> {
    (0..mood.item_count).map(|index| item(rng, mood, index)).collect()
}

fn item(rng: &mut Rng, mood: Mood, index: usize) -> Item {
    Item {
        content: content(rng, mood, index),
        tokens: tokens(rng, mood),
        kind: Some(kind(rng, mood)),
        source: Some(rng.pick(&["Chat", "Tool", "Rag"]).to_owned()),
        priority: maybe(rng, &[0, 1, 1, 2, 3, -5, i64::MAX, i64::MIN]),
        tags: tags(rng),
        metadata: metadata(rng),
        timestamp: timestamp(rng),
        future_relevance_hint: maybe(rng, &HINTS),
        pinned: Some(rng.chance(mood.pinned_percent)),
        original_tokens: maybe(rng, &[7]),
    }
}

fn content(rng: &mut Rng, mood: Mood, index: usize) -> String {
    if rng.chance(mood.same_text_percent) {
        // Equal up to case, trailing space and normal form: only equal bytes are equal texts.
        return rng.pick(&["same", "same", "Same", "same ", "\u{e9}", "e\u{301}"]).to_owned();
    }
    if rng.chance(mood.same_text_percent / 2) {
        return long_text(rng);
    }
    format!("text {index}")
}

/// A long text that differs from others of its length in one byte at most.
fn long_text(rng: &mut Rng) -> String {
    let length = rng.pick(&[48, 100, 256]);
    let mut text = "l".repeat(length);
    let at = rng.pick(&[0, 20, length / 2 - 1, length / 2, length - 17, length - 1]);
    text.replace_range(at..=at, "!");
    text
}

fn tokens(rng: &mut Rng, mood: Mood) -> i64 {
    if rng.chance(mood.negative_percent) {
        return rng.pick(&[-1, -7, -100, i64::MIN]);
    }
    if rng.chance(mood.huge_percent) {
        return rng.pick(&HUGE_TOKENS);
    }
    if rng.chance(50) { rng.pick(&TOKENS) } else { i64::from(rng.next_u64() as u8 % 60) }
}

fn kind(rng: &mut Rng, mood: Mood) -> String {
    let kind = rng.pick(&KINDS[..mood.kind_count]);
    respelled(rng, kind)
}

/// The same kind in another spelling, sometimes.
pub(super) fn respelled(rng: &mut Rng, kind: &str) -> String {
    match rng.below(6) {
        0 => kind.to_ascii_uppercase(),
        1 => kind.to_ascii_lowercase(),
        _ => kind.to_owned(),
    }
}

fn tags(rng: &mut Rng) -> Vec<String> {
    if rng.chance(30) {
        return Vec::new();
    }
    (0..rng.between(1, 3)).map(|_| rng.pick(&TAGS).to_owned()).collect()
}

fn metadata(rng: &mut Rng) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    if rng.chance(60) {
        metadata.insert("cupel:trust".to_owned(), rng.pick(&TRUST).to_owned());
    }
    if rng.chance(40) {
        metadata.insert(BOOST_KEY.to_owned(), rng.pick(&["high", "High", "normal"]).to_owned());
    }
    metadata
}

fn timestamp(rng: &mut Rng) -> Option<DateTime<Utc>> {
    if rng.chance(25) {
        return None;
    }
    let age = match rng.below(10) {
        0 => TimeDelta::microseconds(rng.pick(&[250, 500, 1000])),
        1 => -TimeDelta::hours(12),
        _ => TimeDelta::hours(rng.pick(&[0, 1, 1, 6, 24, 24, 72, 1000])),
    };
    Some(noon() - age)
}

fn maybe<T: Clone>(rng: &mut Rng, choices: &[T]) -> Option<T> {
    if rng.chance(25) { None } else { Some(rng.pick(choices)) }
}
