//! Words that the tests share.

use chrono::{DateTime, TimeDelta, Utc};
use cupel::{ContextItem, ContextItemBuilder, Scorer};

pub(crate) fn item(content: &str) -> ContextItemBuilder {
    ContextItemBuilder::new(content, 10)
}

pub(crate) fn build(items: impl IntoIterator<Item = ContextItemBuilder>) -> Vec<ContextItem> {
    items.into_iter().map(|item| item.build().unwrap()).collect()
}

pub(crate) fn texts(texts: &[&str]) -> Vec<ContextItem> {
    build(texts.iter().map(|text| item(text)))
}

/// Minutes after a moment of 2025.
pub(crate) fn at_minute(minute: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_740_000_000, 0).unwrap() + TimeDelta::minutes(minute)
}

/// Scores of the whole list, after checking that the one-item method agrees to the last bit.
#[track_caller]
pub(crate) fn scores(scorer: &dyn Scorer, items: &[ContextItem]) -> Vec<f64> {
    let mut scores = vec![f64::NAN; items.len()];
    scorer.score_all(&cupel::ItemList::new(items), &mut scores);
    for (item, score) in items.iter().zip(&scores) {
        assert_eq!(scorer.score(item, items).to_bits(), score.to_bits(), "{item:?}");
    }
    scores
}

#[track_caller]
pub(crate) fn assert_close(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len());
    for (one, other) in actual.iter().zip(expected) {
        assert!((one - other).abs() < 1e-9, "{actual:?} {expected:?}");
    }
}

/// Scores an item by its priority, 0 if it has none: a scorer whose scores a test can choose.
pub(crate) struct Given;

impl Scorer for Given {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.priority().unwrap_or(0) as f64
    }
}

/// Items for [`Given`] to score.
pub(crate) fn given(scores: &[i64]) -> Vec<ContextItem> {
    build(scores.iter().enumerate().map(|(at, score)| item(&format!("item {at}")).priority(*score)))
}

/// `SplitMix64`: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// From 1 to a most.
    pub(crate) fn tokens(&mut self, most: u32) -> i64 {
        1 + i64::from(self.below(most as usize) as u32)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 33) % end as u64) as usize
    }
}
