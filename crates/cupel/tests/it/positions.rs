//! Positions in the caller's list, from the first stage to the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupel::*;

use crate::support::*;

/// Handles of the same items at other places, equal texts, pins, negative and zero tokens: where
/// nothing but a position tells who is meant.
fn tricky() -> Vec<ContextItem> {
    let twin = item("twin", 7, 0.5);
    let mut items = vec![
        twin.clone(),
        pinned("pin", 9),
        item("negative", -3, 0.9),
        twin.clone(),
        item("twin", 7, 0.5),
        item("negative", -3, 0.9),
        item("free", 0, 0.1),
        pinned("pin", 9),
        of_kind("k", "capped", 4, 0.8),
        of_kind("k", "capped too", 4, 0.7),
        twin,
    ];
    items.extend((0..20).map(|i: u32| {
        item(&format!("{}", i % 15), 2 + i64::from(i * 7 % 11), f64::from(i * 5 % 9) / 9.0)
    }));
    items
}

fn pipelines() -> Vec<Pipeline> {
    use OverflowStrategy::{Proceed, Throw, Truncate};
    let mut pipelines = vec![greedy(), greedy_with_duplicates()];
    for overflow in [Throw, Truncate, Proceed] {
        pipelines.push(pipeline_with(counting(2, 1 + 1), overflow));
        pipelines.push(pipeline_with(counting(1, 1), overflow));
        pipelines.push(pipeline_with(KnapsackSlice::new(1).unwrap(), overflow));
    }
    pipelines
}

/// Timings differ from run to run.
fn untimed(mut report: SelectionReport) -> SelectionReport {
    for event in &mut report.events {
        event.duration_ms = 0.0;
    }
    report
}

fn positions(report: &SelectionReport) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let included = report.included.iter().map(|included| included.position).collect();
    (included, report.excluded.iter().map(|excluded| excluded.position).collect())
}

#[test]
fn a_report_names_every_position_once_and_its_item_stands_there() {
    let items = tricky();
    for pipeline in pipelines() {
        for tokens in (0..160).step_by(3) {
            let Ok(report) = pipeline.dry_run(&items, &budget(tokens)) else { continue };
            let (included, excluded) = positions(&report);
            let included_items = report.included.iter().map(|included| &included.item);
            let all_items = included_items.chain(report.excluded.iter().map(|e| &e.item));
            let mut all: Vec<usize> =
                included.iter().chain(&excluded).map(|position| position.unwrap()).collect();
            for (position, item) in all.iter().zip(all_items) {
                assert!(items[*position].is_same_item(item), "{position}");
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..items.len()));
        }
    }
}

#[test]
fn a_window_of_positions_is_the_window_of_a_run() {
    let items = tricky();
    for pipeline in pipelines() {
        for tokens in 0..160 {
            let budget = budget(tokens);
            let window = pipeline.window(&items, &budget);
            assert_eq!(window, pipeline.rank(&items).unwrap().window(&budget));
            let report = pipeline.dry_run(&items, &budget);
            let fates = report.map(|report| {
                let fate = |i: &IncludedItem| (i.position.unwrap(), i.score);
                report.included.iter().map(fate).collect::<Vec<_>>()
            });
            let placed = |window: Vec<PlacedItem>| {
                window.iter().map(|placed| (placed.position, placed.score)).collect::<Vec<_>>()
            };
            assert_eq!(window.map(placed), fates);
        }
    }
}

#[test]
fn a_ranking_reports_what_a_dry_run_reports() {
    let items = tricky();
    for pipeline in pipelines() {
        let ranking = pipeline.rank(&items).unwrap();
        for tokens in 0..160 {
            let budget = budget(tokens);
            let from_ranking = ranking.report(&budget).map(untimed);
            let from_run = pipeline.dry_run(&items, &budget).map(untimed);
            assert_eq!(from_ranking, from_run, "{pipeline:?} {tokens}");
            if let (Ok(a), Ok(b)) = (&from_ranking, &from_run) {
                assert_eq!(positions(a), positions(b));
            }
        }
    }
}

#[test]
fn a_ranking_knows_the_score_of_what_was_scored() {
    let items = [pinned("p", 1), item("a", 1, 0.25), item("n", -1, 0.9), item("a", 1, 0.125)];
    let pipeline = greedy();
    let ranking = pipeline.rank(&items).unwrap();
    assert_eq!(ranking.scores(), [None, Some(0.25), None, Some(0.125)]);
    assert_eq!((ranking.score(3), ranking.score(4)), (Some(0.125), None));
}

/// Counts how often a list is scored.
struct Counting(Arc<AtomicUsize>);

impl Scorer for Counting {
    fn score(&self, item: &ContextItem, _: &[ContextItem]) -> f64 {
        item.tokens() as f64
    }

    fn score_all(&self, items: &ItemList<'_>, scores: &mut [f64]) {
        self.0.fetch_add(1, Ordering::Relaxed);
        for (item, score) in items.iter().zip(scores) {
            *score = item.tokens() as f64;
        }
    }

    fn explain(&self, items: &ItemList<'_>, positions: &[usize]) -> Vec<ScoreExplanation> {
        let explain = |at: &usize| ScoreExplanation::new("tokens", items[*at].tokens() as f64);
        positions.iter().map(explain).collect()
    }
}

#[test]
fn explaining_costs_one_scoring_however_deep_the_scorer_is() {
    let calls = Arc::new(AtomicUsize::new(0));
    let nested = |scorer: Box<dyn Scorer>| -> Box<dyn Scorer> {
        Box::new(CompositeScorer::new(vec![(scorer, 1.0), (Box::new(RawHint), 1.0)]).unwrap())
    };
    let scorer = nested(nested(nested(Box::new(Counting(calls.clone())))));
    let pipeline =
        Pipeline::builder().scorer(scorer).slicer(GreedySlice).placer(AsMerged).build().unwrap();
    let items = [pinned("p", 1), item("a", 8, 0.5), item("n", -1, 0.5), item("b", 16, 0.5)];
    let ranking = pipeline.rank(&items).unwrap();
    ranking.report(&budget(20)).unwrap();
    assert_eq!(calls.swap(0, Ordering::Relaxed), 1);

    let explained = ranking.explain(&[3, 0, 2, 9, 1]);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let scores: Vec<_> = explained.iter().map(|e| e.as_ref().map(|e| e.score)).collect();
    assert_eq!(scores, [ranking.score(3), None, None, None, ranking.score(1)]);
    assert_eq!(explained, pipeline.explain_scores(&items, &[3, 0, 2, 9, 1]).unwrap());
}

/// Hears of items as version 1 told of them.
#[derive(Default)]
struct WithoutPositions(Vec<String>);

impl TraceCollector for WithoutPositions {
    fn is_enabled(&self) -> bool {
        true
    }

    fn record_stage_event(&mut self, _: TraceEvent) {}

    fn record_item_event(&mut self, _: TraceEvent) {}

    fn record_included(&mut self, item: ContextItem, _: f64, _: InclusionReason) {
        self.0.push(format!("in {}", item.content()));
    }

    fn record_excluded(&mut self, item: ContextItem, _: f64, _: ExclusionReason) {
        self.0.push(format!("out {}", item.content()));
    }
}

#[test]
fn a_collector_that_knows_no_positions_is_told_all_the_same() {
    let items = [item("big", 90, 0.9), item("small", 5, 0.1)];
    let mut collector = WithoutPositions::default();
    greedy().run_traced(&items, &budget(10), &mut collector).unwrap();
    assert_eq!(collector.0, ["out big", "in small"]);
}
