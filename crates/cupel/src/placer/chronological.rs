use super::{Placer, place_by_arranging};
use crate::order::{instant_lead, positions_by_key};
use crate::{Candidate, ContextItem, CupelError, ScoredItem};

/// Orders items by time, oldest first.
///
/// **When to choose it:** conversations and logs, which read in the order in which they happened.
///
/// **Ties and edge cases:** items without a timestamp come last. Equal timestamps, and items
/// without one, keep their order (pinned first, then by score). Scores play no part.
///
/// **Cost:** one sort.
///
/// # Example
///
/// ```
/// use cupel::{ChronologicalPlacer, ContextItemBuilder, Placer, ScoredItem};
///
/// let at = |text: &str| ContextItemBuilder::new(text, 1).timestamp(text.parse().unwrap()).build();
/// let items = [at("2025-02-01T00:00:00Z")?, at("2025-01-01T00:00:00Z")?]
///     .map(|item| ScoredItem { item, score: 0.5 });
/// assert_eq!(ChronologicalPlacer.place(&items)[0].content(), "2025-01-01T00:00:00Z");
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Placers, `ChronologicalPlacer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChronologicalPlacer;

impl Placer for ChronologicalPlacer {
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
        place_by_arranging(items, chronological)
    }

    fn arrange(&self, candidates: &[Candidate<'_>]) -> Result<Vec<usize>, CupelError> {
        Ok(chronological(candidates))
    }
}

fn chronological(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let keys = candidates.iter().map(|candidate| {
        let timestamp = candidate.item().timestamp();
        (timestamp.is_none(), timestamp)
    });
    let keys: Vec<_> = keys.collect();
    let lead = |(_, timestamp): &(bool, Option<_>)| timestamp.map_or(u64::MAX, instant_lead);
    positions_by_key(&keys, lead).into_iter().map(|at| at as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_placed;
    use super::*;
    use crate::ContextItemBuilder;
    use chrono::{TimeZone, Utc};

    fn item(content: &str, day: Option<u32>, score: f64) -> ScoredItem {
        let mut item = ContextItemBuilder::new(content, 1);
        if let Some(day) = day {
            item = item.timestamp(Utc.with_ymd_and_hms(2025, 1, day, 0, 0, 0).unwrap());
        }
        ScoredItem { item: item.build().unwrap(), score }
    }

    #[test]
    fn nothing_and_a_single_item_stay_as_they_are() {
        assert_placed(&ChronologicalPlacer, &[], &[]);
        assert_placed(&ChronologicalPlacer, &[item("a", None, 0.5)], &["a"]);
    }

    #[test]
    fn older_items_come_first_whatever_their_score() {
        let items = [item("c", Some(3), 0.9), item("a", Some(1), 0.1), item("b", Some(2), 1.0)];
        assert_placed(&ChronologicalPlacer, &items, &["a", "b", "c"]);
    }

    #[test]
    fn items_without_timestamp_come_last_in_their_order() {
        let items = [
            item("x", None, 0.9),
            item("b", Some(2), 0.1),
            item("y", None, 1.0),
            item("a", Some(1), 0.2),
        ];
        assert_placed(&ChronologicalPlacer, &items, &["a", "b", "x", "y"]);
    }

    #[test]
    fn equal_timestamps_keep_their_order() {
        let items = [item("b", Some(1), 0.1), item("a", Some(1), 0.9), item("c", Some(1), 0.5)];
        assert_placed(&ChronologicalPlacer, &items, &["b", "a", "c"]);
    }
}
