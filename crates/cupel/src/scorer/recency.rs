use super::{Scorer, rank};
use crate::order::instant_lead;
use crate::{ContextItem, ItemList};

/// Prefers newer items, by rank: the newest scores 1.0, the oldest 0.0, the rest evenly between.
///
/// **When to choose it:** conversations and logs, where the order of events matters and the time
/// between them does not. Where age itself matters, use [`DecayScorer`](crate::DecayScorer).
///
/// **Steps:** count the timestamped items that are strictly older; divide by the number of
/// timestamped items less one.
///
/// **Ties and edge cases:** equal timestamps score alike, so if all are equal all score 0.0. An
/// item without a timestamp scores 0.0. A lone timestamped item scores 1.0.
///
/// **Cost:** one sort for the list.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, RecencyScorer, Scorer};
///
/// let at = |text: &str| ContextItemBuilder::new(text, 1).timestamp(text.parse().unwrap()).build();
/// let items = [at("2025-01-01T00:00:00Z")?, at("2025-03-01T00:00:00Z")?, at("2025-02-01T00:00:00Z")?];
/// assert_eq!(RecencyScorer.score(&items[2], &items), 0.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `RecencyScorer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecencyScorer;

impl Scorer for RecencyScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        rank::rank_score(item.timestamp(), all_items.iter().map(ContextItem::timestamp))
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        let timestamps = items.iter().map(ContextItem::timestamp);
        rank::rank_scores(timestamps, |timestamp| instant_lead(*timestamp), scores);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;
    use chrono::{DateTime, TimeZone, Utc};

    fn day(day: u32) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2025, 1, day, 0, 0, 0).unwrap()
    }

    fn at(days: &[Option<u32>]) -> Vec<f64> {
        let items = days.iter().map(|d| match d {
            Some(d) => item("x").timestamp(day(*d)),
            None => item("x"),
        });
        scores(&RecencyScorer, &build(items.collect()))
    }

    #[test]
    fn distinct_timestamps_spread_evenly_from_oldest_to_newest() {
        assert_eq!(at(&[Some(9), Some(1), Some(5)]), [1.0, 0.0, 0.5]);
    }

    #[test]
    fn items_without_timestamp_score_zero_and_do_not_count() {
        assert_eq!(at(&[None, Some(1), Some(2), None]), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(at(&[None, None]), [0.0, 0.0]);
    }

    #[test]
    fn a_lone_timestamped_item_scores_one() {
        assert_eq!(at(&[Some(3)]), [1.0]);
        assert_eq!(at(&[None, Some(3)]), [0.0, 1.0]);
    }

    #[test]
    fn equal_timestamps_share_the_lower_rank() {
        assert_eq!(at(&[Some(1), Some(1)]), [0.0, 0.0]);
        assert_eq!(at(&[Some(2), Some(1), Some(2)]), [0.5, 0.0, 0.5]);
    }

    #[test]
    fn instants_far_apart_and_a_nanosecond_apart_are_told_apart() {
        let first = DateTime::<Utc>::MIN_UTC;
        let items = [first + chrono::Duration::nanoseconds(1), DateTime::<Utc>::MAX_UTC, first];
        let items = build(items.map(|t| item("x").timestamp(t)).into());
        assert_eq!(scores(&RecencyScorer, &items), [0.5, 1.0, 0.0]);
    }
}
