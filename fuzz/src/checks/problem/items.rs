//! Items.

use std::collections::BTreeMap;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use cupel_conformance::protocol::{Item, Scorer};

use super::choices::Choices;
use super::scorer::uses_powers;

/// Kinds that are all different, also without regard to ASCII case.
pub(super) const KINDS: [&str; 6] = ["Message", "Document", "ToolOutput", "k", "Ä", "ä"];

/// Tags, some of which differ in ASCII case only.
pub(super) const TAGS: [&str; 6] = ["a", "A", "b", "urgent", "URGENT", "É"];

/// Keys of metadata that scorers look at.
pub(super) const KEYS: [&str; 3] = ["cupel:trust", "cupel:priority", "k"];

/// Values of metadata.
pub(super) const VALUES: [&str; 10] =
    ["high", "High", "", "0.5", "1e-400", "+.5", "nan", "inf", "-0", "0x1"];

/// So many, counting copies.
const MOST: usize = 100;

/// Items for a scorer.
pub(super) fn items(choices: &mut Choices<'_>, scorer: &Scorer) -> Vec<Item> {
    // A nested scorer costs the oracle a factor of the item count per level.
    let most = if is_nested(scorer) { 12 } else { 40 };
    let mut items = Vec::new();
    for item in choices.list(most, item) {
        // Long lists for few bytes; what an implementation does with them may be another way.
        let copies = choices.pick(&[0, 0, 0, 1, 2, 3, 60]);
        let copies = if is_nested(scorer) { copies.min(2) } else { copies };
        items.extend((0..copies).map(|copy| nearly(&item, copy)));
        items.push(item);
    }
    items.truncate(MOST);
    if uses_powers(scorer) {
        // Ages in whole seconds are exact in every arithmetic, so that ties stay ties.
        for item in &mut items {
            item.timestamp = item.timestamp.map(near_in_whole_seconds);
        }
    }
    items
}

fn is_nested(scorer: &Scorer) -> bool {
    matches!(scorer, Scorer::Composite { .. } | Scorer::Scaled { .. })
}

fn item(choices: &mut Choices<'_>) -> Item {
    Item {
        content: content(choices),
        tokens: choices.integer(),
        kind: Some(kind(choices)),
        source: Some(choices.pick(&["Chat", "Tool", "rag"]).to_owned()),
        priority: choices.maybe(Choices::integer),
        tags: choices.list(4, |choices| choices.pick(&TAGS).to_owned()),
        metadata: metadata(choices),
        timestamp: choices.maybe(timestamp),
        future_relevance_hint: choices.maybe(Choices::float),
        pinned: Some(choices.below(8) == 1),
        original_tokens: choices.maybe(Choices::integer),
    }
}

/// A copy that differs in a detail, or in nothing.
fn nearly(item: &Item, copy: i64) -> Item {
    match copy % 4 {
        0 => item.clone(),
        1 => Item { tokens: item.tokens.saturating_add(copy), ..item.clone() },
        2 => Item { content: format!("{}{copy}", item.content), ..item.clone() },
        _ => Item { priority: Some(copy), timestamp: None, ..item.clone() },
    }
}

/// Often the text of another item.
fn content(choices: &mut Choices<'_>) -> String {
    match choices.byte() {
        byte @ 0..=200 => format!("text {}", byte % 16),
        byte @ 201..=220 => "l".repeat(usize::from(byte)),
        _ => choices.pick(&["same", "Same", "same ", "\u{e9}", "e\u{301}", "\0"]).to_owned(),
    }
}

/// A kind in one of its spellings.
pub(super) fn kind(choices: &mut Choices<'_>) -> String {
    let kind = choices.pick(&KINDS);
    respelled(choices, kind)
}

pub(super) fn respelled(choices: &mut Choices<'_>, kind: &str) -> String {
    if choices.flag() { kind.to_ascii_uppercase() } else { kind.to_owned() }
}

fn metadata(choices: &mut Choices<'_>) -> BTreeMap<String, String> {
    let entry = |choices: &mut Choices<'_>| {
        let key = choices.pick(&KEYS).to_owned();
        let value = if choices.flag() {
            format!("{:?}", choices.float())
        } else {
            choices.pick(&VALUES).to_owned()
        };
        (key, value)
    };
    choices.list(3, entry).into_iter().collect()
}

/// The fixed time that timestamps lie around.
pub(super) fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_735_732_800, 0).unwrap_or_default()
}

/// Mostly near noon, sometimes within a leap second, sometimes at the ends of time.
fn timestamp(choices: &mut Choices<'_>) -> DateTime<Utc> {
    let age = match choices.below(7) {
        0 | 1 => TimeDelta::hours(i64::from(choices.byte())),
        2 => TimeDelta::seconds(choices.integer() % (1 << 31)),
        3 => TimeDelta::nanoseconds(choices.integer()),
        4 => return within_leap_second(choices),
        5 => return DateTime::<Utc>::MIN_UTC,
        _ => return DateTime::<Utc>::MAX_UTC,
    };
    noon() - age
}

/// As if a minute near noon had 61 seconds.
fn within_leap_second(choices: &mut Choices<'_>) -> DateTime<Utc> {
    let last_second = noon().timestamp() - 60 * i64::from(choices.byte() % 4) - 1;
    let fraction = u32::from(choices.byte()) * 3_900_000;
    DateTime::from_timestamp(last_second, 1_000_000_000 + fraction).unwrap_or_default()
}

fn near_in_whole_seconds(timestamp: DateTime<Utc>) -> DateTime<Utc> {
    let century = TimeDelta::days(36_500);
    timestamp.clamp(noon() - century, noon() + century).trunc_subsecs(0)
}
