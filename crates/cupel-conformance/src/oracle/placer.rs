//! The placers.

use std::cmp::Ordering;

use super::model::Scored;
use super::order::descending;
use crate::protocol::{Item, Placer};

/// Indices of the merged items in their final order.
pub fn place(placer: Placer, items: &[Item], merged: &[Scored]) -> Vec<usize> {
    match placer {
        Placer::Chronological => chronological(items, merged),
        Placer::UShaped => u_shaped(merged),
    }
}

fn chronological(items: &[Item], merged: &[Scored]) -> Vec<usize> {
    let mut sortable: Vec<usize> = merged.iter().map(|scored| scored.index).collect();
    sortable.sort_by(|&a, &b| match (items[a].timestamp, items[b].timestamp) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    sortable
}

fn u_shaped(merged: &[Scored]) -> Vec<usize> {
    let mut ranked = merged.to_vec();
    ranked.sort_by(|a, b| descending(a.score, b.score));

    let mut left = Vec::new();
    let mut right = Vec::new();
    for (rank, scored) in ranked.iter().enumerate() {
        if rank % 2 == 0 {
            left.push(scored.index);
        } else {
            right.insert(0, scored.index);
        }
    }
    left.append(&mut right);
    left
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;

    fn at(timestamp: Option<i64>) -> Item {
        let timestamp =
            timestamp.map(|seconds| DateTime::<Utc>::from_timestamp(seconds, 0).unwrap());
        Item { timestamp, ..Item::new("x", 1) }
    }

    fn scored(scores: &[f64]) -> Vec<Scored> {
        scores.iter().enumerate().map(|(index, &score)| Scored { index, score }).collect()
    }

    #[test]
    fn seven_items_form_a_u() {
        let merged = scored(&[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]);
        let names: String = place(Placer::UShaped, &[], &merged)
            .into_iter()
            .map(|index| char::from(b'A' + index as u8))
            .collect();
        assert_eq!(names, "ACEGFDB");
    }

    #[test]
    fn equal_scores_alternate_in_merged_order() {
        assert_eq!(place(Placer::UShaped, &[], &scored(&[0.5, 0.5, 0.5, 0.5])), [0, 2, 3, 1]);
        assert_eq!(place(Placer::UShaped, &[], &scored(&[f64::NAN, -0.0, 0.0])), [1, 0, 2]);
    }

    #[test]
    fn oldest_first_then_those_without_time_in_merged_order() {
        let items = [at(None), at(Some(9)), at(Some(3)), at(None), at(Some(9))];
        let merged = scored(&[0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(place(Placer::Chronological, &items, &merged), [2, 1, 4, 0, 3]);
    }
}
