//! Assertions about where items stand in the window.

use cupel::{IncludedItem, compare_scores};

use crate::{OnFailure, SelectionReportAssertionChain, SelectionReportAssertionError};

impl<'a, F: OnFailure> SelectionReportAssertionChain<'a, F> {
    /// The first or the last item of the window satisfies the predicate.
    ///
    /// It is the position that counts: another item with the same score elsewhere does not help,
    /// and further matches elsewhere do no harm. What a position means is up to the placer;
    /// [`UShapedPlacer`](cupel::UShapedPlacer) puts the best item first and the second best last.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report()
    ///     .included(item("first", 5))
    ///     .included(item("middle", 5))
    ///     .included(item("last", 5))
    ///     .build();
    /// report.should().place_item_at_edge(|i| i.item.content() == "last");
    /// ```
    #[track_caller]
    pub fn place_item_at_edge(
        self,
        predicate: impl FnMut(&IncludedItem) -> bool,
    ) -> F::Outcome<'a> {
        let included = &self.report().included;
        let matched: Vec<bool> = included.iter().map(predicate).collect();
        let holds = [matched.first(), matched.last()].contains(&Some(&true));
        self.require(holds, || {
            let count = included.len();
            let (actual, message) = match matched.iter().position(|matched| *matched) {
                Some(index) => (
                    format!("first match at index {index} of {count} items"),
                    format!(
                        "PlaceItemAtEdge failed: item matching predicate was at index {index} \
                         (not at edge). Edge positions: 0 and {}. Included had {count} items.",
                        count - 1,
                    ),
                ),
                None => (
                    format!("0 of {count} included items matched"),
                    "PlaceItemAtEdge failed: no item in Included matched the predicate.".to_owned(),
                ),
            };
            SelectionReportAssertionError {
                assertion: "PlaceItemAtEdge",
                expected: "an item that matches the predicate at the first or last position"
                    .to_owned(),
                actual,
                message,
            }
        })
    }

    /// The `n` items with the highest scores stand at the `n` outermost positions of the window:
    /// first, last, second, last but one, and so on inward.
    ///
    /// Which of those positions an item takes does not matter, so `n` equal to the size of the
    /// window always holds, as does 0; a larger `n` never does. Where the lowest of the `n` scores
    /// is shared by further items, any of these may stand at the edge. NaN ranks last. What a
    /// position means is up to the placer; this is what [`UShapedPlacer`](cupel::UShapedPlacer)
    /// promises.
    ///
    /// # Example
    ///
    /// ```
    /// use cupel_testing::{SelectionReportAssertions, item, report};
    ///
    /// let report = report()
    ///     .included(item("best", 5).score(0.9))
    ///     .included(item("weak", 5).score(0.1))
    ///     .included(item("good", 5).score(0.8))
    ///     .build();
    /// report.should().place_top_n_scored_at_edges(2);
    /// ```
    #[track_caller]
    pub fn place_top_n_scored_at_edges(self, n: usize) -> F::Outcome<'a> {
        let included = &self.report().included;
        let top = top_scored(included, n);
        let away = top.iter().filter(|at| !is_edge(**at, n, included.len())).count();
        let fail_count = away + (n - top.len());
        self.require(fail_count == 0, || {
            let count = included.len();
            let top_items = top.iter().map(|at| {
                let IncludedItem { item, score, .. } = &included[*at];
                format!("(kind={}, score={score}, idx={at})", item.kind())
            });
            let top_items = top_items.collect::<Vec<_>>().join(", ");
            let edges = edge_positions(count).take(n).map(|at| at.to_string());
            let edges = edges.collect::<Vec<_>>().join(", ");
            let too_few = if n > count {
                format!(" Included had {count} items, fewer than n={n}.")
            } else {
                String::new()
            };
            SelectionReportAssertionError {
                assertion: "PlaceTopNScoredAtEdges",
                expected: format!("the top-{n} scored items at positions [{edges}]"),
                actual: format!("{fail_count} not there; top-{n} items: [{top_items}]"),
                message: format!(
                    "PlaceTopNScoredAtEdges({n}) failed: {fail_count} of the top-{n} scored items \
                     were not at expected edge positions. Top-{n} items (by score): \
                     [{top_items}]. Expected edge positions: [{edges}].{too_few}"
                ),
            }
        })
    }
}

/// Positions of the `n` best items, best first, then by position; all of them if there are fewer.
///
/// Among items that share the lowest score those at the edges are taken first, so that a tie at
/// the boundary counts in favour of the window.
fn top_scored(included: &[IncludedItem], n: usize) -> Vec<usize> {
    let by_score = |a: &usize, b: &usize| compare_scores(included[*a].score, included[*b].score);
    let mut positions: Vec<usize> = (0..included.len()).collect();
    positions.sort_by(|a, b| {
        by_score(a, b)
            .then_with(|| is_edge(*b, n, included.len()).cmp(&is_edge(*a, n, included.len())))
    });
    positions.truncate(n);
    positions.sort_by(|a, b| by_score(a, b).then(a.cmp(b)));
    positions
}

/// All positions of a window, from the edges inward: 0, last, 1, last but one, and so on.
fn edge_positions(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |rank| if rank % 2 == 0 { rank / 2 } else { count - 1 - rank / 2 })
}

/// Returns true if a position is among the `n` outermost.
fn is_edge(position: usize, n: usize, count: usize) -> bool {
    let from_end = count - 1 - position;
    position < n.div_ceil(2) || from_end < n / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SelectionReportAssertions, item, report};
    use cupel::{
        ChronologicalPlacer, ContextBudget, GreedySlice, Pipeline, Placer, ReflexiveScorer,
        SelectionReport, UShapedPlacer,
    };

    fn placed(scores: &[f64]) -> SelectionReport {
        scores.iter().fold(report(), |r, score| r.included(item("x", 1).score(*score))).build()
    }

    fn scores(score: f64) -> impl Fn(&IncludedItem) -> bool {
        move |included| included.score == score
    }

    #[test]
    fn the_first_and_the_last_position_are_the_edges() {
        let report = placed(&[0.9, 0.5, 0.8]);
        report.should().place_item_at_edge(scores(0.9)).place_item_at_edge(scores(0.8));
        assert!(report.check().place_item_at_edge(scores(0.5)).is_err());
    }

    #[test]
    fn a_single_item_is_at_both_edges() {
        placed(&[0.5]).should().place_item_at_edge(scores(0.5));
    }

    #[test]
    fn an_empty_window_has_no_edges() {
        assert!(placed(&[]).check().place_item_at_edge(|_| true).is_err());
    }

    #[test]
    fn any_match_at_an_edge_passes_though_others_are_inside() {
        placed(&[0.1, 0.5, 0.5]).should().place_item_at_edge(scores(0.5));
    }

    #[test]
    fn sharing_the_score_of_an_edge_item_is_not_enough() {
        let report = report()
            .included(item("edge", 1).score(0.5))
            .included(item("inside", 1).score(0.5))
            .included(item("end", 1).score(0.1))
            .build();
        let checked = report.check().place_item_at_edge(|i| i.item.content() == "inside");
        assert!(checked.is_err());
    }

    #[test]
    fn edges_alternate_inward() {
        assert_eq!(edge_positions(6).collect::<Vec<_>>(), [0, 5, 1, 4, 2, 3]);
        assert_eq!(edge_positions(5).collect::<Vec<_>>(), [0, 4, 1, 3, 2]);
        for count in 0..8 {
            for n in 0..10 {
                let edges: Vec<usize> = edge_positions(count).take(n).collect();
                for position in 0..count {
                    assert_eq!(is_edge(position, n, count), edges.contains(&position));
                }
            }
        }
    }

    #[test]
    fn the_best_may_take_any_of_the_edge_positions() {
        placed(&[0.9, 0.1, 0.2, 0.8]).should().place_top_n_scored_at_edges(2);
        placed(&[0.8, 0.1, 0.2, 0.9]).should().place_top_n_scored_at_edges(2);
        placed(&[0.7, 0.9, 0.1, 0.8]).should().place_top_n_scored_at_edges(3);
    }

    #[test]
    fn one_of_the_best_inside_fails() {
        assert!(placed(&[0.9, 0.8, 0.1]).check().place_top_n_scored_at_edges(2).is_err());
        assert!(placed(&[0.1, 0.9, 0.2]).check().place_top_n_scored_at_edges(1).is_err());
    }

    #[test]
    fn the_first_edge_alone_is_the_first_position() {
        placed(&[0.9, 0.1]).should().place_top_n_scored_at_edges(1);
        assert!(placed(&[0.1, 0.9]).check().place_top_n_scored_at_edges(1).is_err());
    }

    #[test]
    fn a_tie_at_the_boundary_passes_whichever_item_is_at_the_edge() {
        placed(&[0.9, 0.5, 0.1, 0.5]).should().place_top_n_scored_at_edges(2);
        placed(&[0.5, 0.5, 0.5]).should().place_top_n_scored_at_edges(2);
    }

    #[test]
    fn a_tie_at_the_boundary_does_not_excuse_a_better_item_inside() {
        assert!(placed(&[0.5, 0.9, 0.5]).check().place_top_n_scored_at_edges(2).is_err());
    }

    #[test]
    fn zeros_of_both_signs_tie_and_nan_ranks_last() {
        placed(&[0.0, -0.0, -0.0]).should().place_top_n_scored_at_edges(2);
        placed(&[0.1, f64::NAN, f64::NEG_INFINITY]).should().place_top_n_scored_at_edges(2);
        assert!(placed(&[f64::NAN, 0.1]).check().place_top_n_scored_at_edges(1).is_err());
    }

    #[test]
    fn none_and_all_pass_and_more_than_all_fails() {
        for scores in [&[][..], &[0.5], &[0.1, 0.9, 0.5, 0.7]] {
            let report = placed(scores);
            report.should().place_top_n_scored_at_edges(0);
            report.should().place_top_n_scored_at_edges(scores.len());
            for n in [scores.len() + 1, usize::MAX] {
                assert!(report.check().place_top_n_scored_at_edges(n).is_err());
            }
        }
    }

    fn run(placer: impl Placer + 'static) -> SelectionReport {
        let pipeline = Pipeline::builder()
            .scorer(ReflexiveScorer)
            .slicer(GreedySlice)
            .placer(placer)
            .build()
            .unwrap();
        let items = [0.3, 0.9, 0.5, 0.7, 0.5]
            .iter()
            .enumerate()
            .map(|(at, score)| item(at.to_string(), 1).score(*score).build());
        let budget = ContextBudget::builder(100).build().unwrap();
        pipeline.dry_run(&items.collect::<Vec<_>>(), &budget).unwrap()
    }

    #[test]
    fn the_u_shaped_placer_keeps_its_promise_and_the_chronological_one_made_none() {
        let report = run(UShapedPlacer);
        for n in 0..=5 {
            report.should().place_top_n_scored_at_edges(n);
        }
        let report = run(ChronologicalPlacer);
        assert!(report.check().place_top_n_scored_at_edges(2).is_err());
    }
}
