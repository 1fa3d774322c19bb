mod overlap;
mod pairs;
mod union;

use super::Scorer;
use crate::{ContextItem, ItemList};
use overlap::TagIndex;

/// Prefers items that share tags with many others: the share of the other items that have at
/// least one tag in common.
///
/// **When to choose it:** the theme of the candidates is not known beforehand, and what most of
/// them are about is what matters.
///
/// **Steps:** count the other items that share a tag, by ASCII case folding; divide by the number
/// of items less one.
///
/// **Ties and edge cases:** an item without tags, and a lone item, score 0.0. Others without tags
/// do not match, but count in the divisor. An item is never its own peer; an equal copy is.
///
/// **Cost:** for a whole list, items with the same tags are counted once. Where few items share two
/// tags, those are found and taken off the sum of the tags' own counts; otherwise peers are
/// counted 64 at a time for common tags, and one by one for rare ones. That is at most
/// `tags × N² / 64` simple steps for N items, and far less where tags are rare or sets repeat. It
/// needs about 30 bytes for each tag of each item, up to 100 where hardly any tag occurs twice.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, FrequencyScorer, Scorer};
///
/// let item = |tags: &[&str]| {
///     ContextItemBuilder::new("x", 1).tags(tags.iter().map(ToString::to_string).collect()).build()
/// };
/// let items = [item(&["db"])?, item(&["DB", "ui"])?, item(&["ci"])?];
/// assert_eq!(FrequencyScorer.score(&items[0], &items), 0.5);
/// # Ok::<(), cupel::CupelError>(())
/// ```
///
/// Specification: Scorers, `FrequencyScorer`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrequencyScorer;

impl Scorer for FrequencyScorer {
    fn score(&self, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
        if item.tags().is_empty() || all_items.len() <= 1 {
            return 0.0;
        }
        let sharing = all_items.iter().filter(|peer| shares_any_tag(item, peer)).count();
        // Whoever has tags shares them with itself.
        let itself = usize::from(all_items.iter().any(|peer| peer.is_same_item(item)));
        share(sharing - itself, all_items.len())
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        scores.fill(0.0);
        if items.len() <= 1 {
            return;
        }
        let index = TagIndex::new(items);
        index.for_each_overlap(|item, sharing| {
            scores[item as usize] = share(sharing - 1, items.len());
        });
    }
}

fn shares_any_tag(a: &ContextItem, b: &ContextItem) -> bool {
    a.tags().iter().any(|tag| b.tags().iter().any(|other| tag.eq_ignore_ascii_case(other)))
}

fn share(peers: usize, items: usize) -> f64 {
    peers as f64 / (items - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, item, scores};
    use super::*;

    fn tagged(tags: &[&[&str]]) -> Vec<ContextItem> {
        let tags = tags.iter().map(|tags| tags.iter().map(|t| (*t).to_owned()).collect());
        build(tags.map(|tags| item("x").tags(tags)).collect())
    }

    #[test]
    fn score_is_the_share_of_peers_with_a_tag_in_common() {
        let items = tagged(&[&["a"], &["a", "b"], &["b"], &["c"]]);
        assert_eq!(scores(&FrequencyScorer, &items), [1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 0.0]);
    }

    #[test]
    fn tags_are_compared_by_ascii_case_folding() {
        assert_eq!(scores(&FrequencyScorer, &tagged(&[&["Bug"], &["bUG"]])), [1.0, 1.0]);
        assert_eq!(scores(&FrequencyScorer, &tagged(&[&["É"], &["é"]])), [0.0, 0.0]);
    }

    #[test]
    fn items_without_tags_score_zero_and_count_in_the_divisor() {
        assert_eq!(scores(&FrequencyScorer, &tagged(&[&["a"], &["a"], &[]])), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn a_lone_item_scores_zero() {
        assert_eq!(scores(&FrequencyScorer, &tagged(&[&["a"]])), [0.0]);
        assert_eq!(scores(&FrequencyScorer, &[]), [0.0; 0]);
    }

    #[test]
    fn equal_items_are_peers_of_each_other() {
        let twins = tagged(&[&["a"], &["a"]]);
        assert_eq!(scores(&FrequencyScorer, &twins), [1.0, 1.0]);
        let same_handle_twice = [twins[0].clone(), twins[0].clone()];
        assert_eq!(scores(&FrequencyScorer, &same_handle_twice), [1.0, 1.0]);
    }

    #[test]
    fn repeated_and_reordered_tags_change_nothing() {
        let items = tagged(&[&["a", "A", "b"], &["B", "a"], &["b", "b"], &["c", "empty"]]);
        assert_eq!(scores(&FrequencyScorer, &items), [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.0]);
    }

    #[test]
    fn common_rare_and_universal_tags_agree_with_the_pairwise_count() {
        // 200 items: "half" is dense, "third" is dense, the others are too rare for a bit row.
        let tags = (0..200).map(|i: usize| {
            let mut tags = vec![format!("own{i}"), format!("ten{}", i / 10)];
            if i % 2 == 0 {
                tags.push("half".into());
            }
            if i % 3 == 0 {
                tags.push("THIRD".into());
            }
            if i % 7 == 0 {
                tags.clear();
            }
            tags
        });
        let tags: Vec<Vec<String>> = tags.collect();
        let items = build(tags.iter().map(|t| item("x").tags(t.clone())).collect());
        scores(&FrequencyScorer, &items);
        let everywhere = tags.into_iter().map(|mut t| {
            t.push("everywhere".into());
            item("x").tags(t)
        });
        assert_eq!(scores(&FrequencyScorer, &build(everywhere.collect())), [1.0; 200]);
    }
}
