use super::{Placer, place_by_arranging};
use crate::order::positions_descending;
use crate::{Candidate, ContextItem, CupelError, ScoredItem};

/// Puts the best items at both ends and the weakest in the middle.
///
/// **When to choose it:** models attend most to the beginning and the end of a long context, and
/// the order of the items carries no meaning.
///
/// **Steps:** order by score; the best goes to the start, the next to the end, the third behind
/// the first, and so on inward.
///
/// **Ties and edge cases:** among equal scores the earlier item ranks first. Pinned items have a
/// score of 1.0 and are not treated otherwise.
///
/// **Cost:** one sort.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Placer, ScoredItem, UShapedPlacer};
///
/// let items = [0.9, 0.8, 0.7, 0.6].map(|score| {
///     ScoredItem { item: ContextItemBuilder::new(score.to_string(), 1).build().unwrap(), score }
/// });
/// let placed = UShapedPlacer.place(&items);
/// let placed: Vec<_> = placed.iter().map(|item| item.content()).collect();
/// assert_eq!(placed, ["0.9", "0.7", "0.6", "0.8"]);
/// ```
///
/// Specification: Placers, `UShapedPlacer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UShapedPlacer;

impl Placer for UShapedPlacer {
    fn place(&self, items: &[ScoredItem]) -> Vec<ContextItem> {
        place_by_arranging(items, u_shaped)
    }

    fn arrange(&self, candidates: &[Candidate<'_>]) -> Result<Vec<usize>, CupelError> {
        Ok(u_shaped(candidates))
    }
}

fn u_shaped(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let ranked = positions_descending(candidates.iter().map(Candidate::score));
    let from_start = ranked.iter().step_by(2);
    let from_end = ranked.iter().skip(1).step_by(2).rev();
    from_start.chain(from_end).map(|at| *at as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_placed;
    use super::*;
    use crate::ContextItemBuilder;

    fn items(scores: &[(&str, f64)]) -> Vec<ScoredItem> {
        let items = scores.iter().map(|(content, score)| ScoredItem {
            item: ContextItemBuilder::new(*content, 1).build().unwrap(),
            score: *score,
        });
        items.collect()
    }

    #[test]
    fn nothing_and_a_single_item_stay_as_they_are() {
        assert_placed(&UShapedPlacer, &[], &[]);
        assert_placed(&UShapedPlacer, &items(&[("a", 0.5)]), &["a"]);
    }

    #[test]
    fn the_better_of_two_comes_first() {
        assert_placed(&UShapedPlacer, &items(&[("low", 0.1), ("high", 0.9)]), &["high", "low"]);
    }

    #[test]
    fn seven_items_form_a_u() {
        let scores =
            [("A", 0.9), ("B", 0.8), ("C", 0.7), ("D", 0.6), ("E", 0.5), ("F", 0.4), ("G", 0.3)];
        assert_placed(&UShapedPlacer, &items(&scores), &["A", "C", "E", "G", "F", "D", "B"]);
        let mut shuffled = scores;
        shuffled.reverse();
        assert_placed(&UShapedPlacer, &items(&shuffled), &["A", "C", "E", "G", "F", "D", "B"]);
    }

    #[test]
    fn equal_scores_rank_in_their_order() {
        let scores = [("a", 0.5), ("b", 0.5), ("c", 0.5), ("d", 0.5)];
        assert_placed(&UShapedPlacer, &items(&scores), &["a", "c", "d", "b"]);
    }

    #[test]
    fn nan_goes_to_the_middle_and_zeros_of_both_signs_tie() {
        let scores = [("nan", f64::NAN), ("-0", -0.0), ("0", 0.0)];
        assert_placed(&UShapedPlacer, &items(&scores), &["-0", "nan", "0"]);
    }
}
