//! Candidates that arrive bit by bit.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use cupel::*;
use futures_core::Stream;
use futures_executor::block_on;

use crate::support::*;

/// A stream that counts what is pulled from it, and keeps its reader waiting now and then.
struct Source {
    items: std::vec::IntoIter<ContextItem>,
    pulled: Rc<Cell<usize>>,
    waits_every: usize,
    polls: usize,
}

impl Stream for Source {
    type Item = ContextItem;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ContextItem>> {
        self.polls += 1;
        if self.waits_every > 0 && self.polls % self.waits_every == 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = self.items.next();
        self.pulled.set(self.pulled.get() + usize::from(next.is_some()));
        Poll::Ready(next)
    }
}

fn source(items: &[ContextItem]) -> (Source, Rc<Cell<usize>>) {
    let pulled = Rc::new(Cell::new(0));
    let items = Vec::from(items).into_iter();
    (Source { items, pulled: pulled.clone(), waits_every: 0, polls: 0 }, pulled)
}

fn many(count: usize) -> Vec<ContextItem> {
    (0..count).map(|i| item(&format!("{i}"), 10, (i * 7 % 10) as f64 / 10.0)).collect()
}

#[test]
fn pulling_stops_once_the_budget_is_full() {
    let (stream, pulled) = source(&many(1_000));
    let window =
        block_on(greedy().run_stream(stream, &budget(500), StreamSlice::default())).unwrap();
    assert_eq!(window.len(), 50);
    assert_eq!(pulled.get(), 64);
}

#[test]
fn a_target_of_zero_pulls_nothing() {
    let (stream, pulled) = source(&many(10));
    let window = block_on(greedy().run_stream(stream, &budget(0), StreamSlice::default())).unwrap();
    assert_eq!((window.len(), pulled.get()), (0, 0));
}

#[test]
fn one_batch_is_the_same_as_a_list() {
    let items = many(30);
    let (stream, _) = source(&items);
    let streamed = block_on(greedy().dry_run_stream(stream, &budget(95), StreamSlice::default()));
    let listed = greedy().dry_run(&items, &budget(95)).unwrap();
    let mut streamed = streamed.unwrap();
    for (event, other) in streamed.events.iter_mut().zip(&listed.events) {
        event.duration_ms = other.duration_ms;
    }
    assert_eq!(streamed, listed);
}

#[test]
fn each_batch_is_scored_as_its_own_list() {
    let items: Vec<ContextItem> = (1..=6)
        .map(|p| ContextItemBuilder::new(format!("{p}"), 10).priority(p).build().unwrap())
        .collect();
    let pipeline = Pipeline::builder()
        .scorer(PriorityScorer)
        .slicer(GreedySlice)
        .placer(ChronologicalPlacer)
        .build()
        .unwrap();
    let (stream, _) = source(&items);
    let slicing = StreamSlice::new(3).unwrap();
    let report = block_on(pipeline.dry_run_stream(stream, &budget(100), slicing)).unwrap();
    let scores: Vec<(&str, f64)> =
        report.included.iter().map(|i| (i.item.content(), i.score)).collect();
    // Both batches range from 0 to 1; merged by score, ties by arrival.
    let expected = [("3", 1.0), ("6", 1.0), ("2", 0.5), ("5", 0.5), ("1", 0.0), ("4", 0.0)];
    assert_eq!(scores, expected);
}

#[test]
fn duplicates_are_found_across_batches_and_the_earlier_stays() {
    let items =
        [item("same", 10, 0.1), item("x", 10, 0.5), item("same", 10, 0.9), item("y", 10, 0.5)];
    let (stream, _) = source(&items);
    let slicing = StreamSlice::new(2).unwrap();
    let report = block_on(greedy().dry_run_stream(stream, &budget(100), slicing)).unwrap();
    assert_eq!(included(&report), ["x", "y", "same"]);
    assert_eq!(report.included[2].score, 0.1);
    let against = ExclusionReason::Deduplicated { deduplicated_against: "same".into() };
    assert_eq!(report.excluded[0].reason, against);
    assert_eq!(report.excluded[0].score, 0.9);
    let (stream, _) = source(&items);
    let all = block_on(greedy_with_duplicates().run_stream(stream, &budget(100), slicing));
    assert_eq!(all.unwrap().len(), 4);
}

#[test]
fn pinned_items_count_before_their_batch() {
    let items = [item("a", 40, 0.9), pinned("p", 70), item("b", 30, 0.8)];
    let (stream, _) = source(&items);
    let report =
        block_on(greedy().dry_run_stream(stream, &budget(100), StreamSlice::default())).unwrap();
    assert_eq!(included(&report), ["p", "b"]);
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "p".into() };
    assert_eq!(reason(&report, "a"), &displaced);
}

#[test]
fn pins_that_do_not_fit_are_an_error_across_batches() {
    let (stream, _) = source(&[pinned("p", 60), pinned("q", 60)]);
    let slicing = StreamSlice::new(1).unwrap();
    let result = block_on(pipeline_with(GreedySlice, OverflowStrategy::Proceed).run_stream(
        stream,
        &ContextBudget::builder(100).target_tokens(90).build().unwrap(),
        slicing,
    ));
    let error = CupelError::PinnedExceedsBudget { pinned_tokens: 120, available: 100 };
    assert_eq!(result, Err(error));
}

#[test]
fn pins_of_two_batches_count_together_and_the_largest_of_all_is_named() {
    let items = [
        pinned("large", 40),
        item("a", 10, 0.9),
        pinned("small", 20),
        item("fits", 30, 0.8),
        pinned("tiny", 1),
        item("out", 61, 0.7),
    ];
    let (stream, _) = source(&items);
    let slicing = StreamSlice::new(2).unwrap();
    let report = block_on(greedy().dry_run_stream(stream, &budget(102), slicing)).unwrap();
    assert_eq!(included(&report), ["large", "small", "tiny", "a", "fits"]);
    // 102 − 61 pinned = 41; without pins 102.
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "large".into() };
    assert_eq!(reason(&report, "out"), &displaced);
}

#[test]
fn what_earlier_batches_took_is_not_the_fault_of_pins() {
    let items = [pinned("p", 20), item("a", 50, 0.9), item("b", 50, 0.8), item("c", 1, 0.7)];
    let (stream, _) = source(&items);
    let slicing = StreamSlice::new(2).unwrap();
    let report = block_on(greedy().dry_run_stream(stream, &budget(100), slicing)).unwrap();
    assert_eq!(included(&report), ["p", "a", "c"]);
    assert_eq!(reason(&report, "b"), &does_not_fit(50, 29));
}

#[test]
fn a_pin_of_a_later_batch_is_taken_and_earlier_choices_make_room() {
    let items = [
        item("a", 50, 0.9),
        item("b", 40, 0.8),
        pinned("p", 45),
        item("c", 5, 0.7),
        item("d", 1, 0.1),
    ];
    let slicing = StreamSlice::new(2).unwrap();
    for overflow in [OverflowStrategy::Throw, OverflowStrategy::Truncate, OverflowStrategy::Proceed]
    {
        let (stream, _) = source(&items);
        let pipeline = pipeline_with(GreedySlice, overflow);
        let report = block_on(pipeline.dry_run_stream(stream, &budget(100), slicing)).unwrap();
        // 55 are left besides the pin: by density "b" (40) is chosen before "a" (50); then "c" and
        // "d" get what is left.
        assert_eq!(included(&report), ["p", "b", "c", "d"], "{overflow:?}");
        assert_eq!(reason(&report, "a"), &does_not_fit(50, 15));
        assert_eq!(report.overflow, None);
        assert_eq!(report.total_candidates, report.included.len() + report.excluded.len());
        let counts: Vec<usize> = report.events.iter().map(|event| event.item_count).collect();
        assert_eq!(counts, [5, 4, 4, 3, 4]);
    }
}

#[test]
fn a_pin_behind_a_full_target_is_missed_unless_all_pins_are_asked_for() {
    let items = [
        item("a", 60, 0.9),
        item("b", 40, 0.8),
        item("c", 10, 0.9),
        pinned("p", 30),
        item("d", 1, 0.9),
    ];
    let slicing = StreamSlice::new(2).unwrap();
    let run = |slicing| {
        let (stream, pulled) = source(&items);
        let report = block_on(greedy().dry_run_stream(stream, &budget(100), slicing)).unwrap();
        (report, pulled.get())
    };
    let (report, pulled) = run(slicing);
    assert_eq!((included(&report), pulled), (vec!["a", "b"], 2));
    let (report, pulled) = run(slicing.with_all_pins());
    assert_eq!((included(&report), pulled), (vec!["p", "b"], 5));
    // Of the rest only the pin was a candidate. 70 are left besides it: "b" (40) is denser than
    // "a" (60), which then does not fit.
    assert_eq!(report.total_candidates, 3);
    assert_eq!(reason(&report, "a"), &does_not_fit(60, 30));
    assert!(!slicing.takes_all_pins() && slicing.with_all_pins().takes_all_pins());
}

#[test]
fn all_pins_are_asked_for_and_do_not_fit() {
    let items = [item("a", 100, 0.9), item("b", 5, 0.9), pinned("p", 60), pinned("q", 60)];
    let slicing = StreamSlice::new(1).unwrap().with_all_pins();
    let (stream, _) = source(&items);
    let error = block_on(greedy().run_stream(stream, &budget(100), slicing)).unwrap_err();
    let listed = greedy().run(&items, &budget(100)).unwrap_err();
    assert_eq!(error, listed);
    assert_eq!(error, CupelError::PinnedExceedsBudget { pinned_tokens: 120, available: 100 });
}

#[test]
fn required_counts_survive_the_pin_of_a_later_batch() {
    let items = [
        of_kind("k", "required", 30, 0.1),
        item("better", 60, 0.9),
        pinned("p", 50),
        item("late", 5, 0.5),
    ];
    let slicing = StreamSlice::new(2).unwrap();
    let (stream, _) = source(&items);
    let pipeline = pipeline_with(counting(1, 1), OverflowStrategy::Throw);
    let report = block_on(pipeline.dry_run_stream(stream, &budget(100), slicing)).unwrap();
    assert_eq!(included(&report), ["p", "late", "required"]);
}

#[test]
fn the_report_accounts_for_all_that_was_pulled_with_one_event_per_stage() {
    let mut items = many(40);
    items[3] = item("neg", -1, 0.5);
    items[35] = items[1].clone();
    let (stream, pulled) = source(&items);
    let slicing = StreamSlice::new(8).unwrap();
    let report = block_on(greedy().dry_run_stream(stream, &budget(345), slicing)).unwrap();
    assert_eq!(pulled.get(), 40);
    assert_eq!(report.total_candidates, 40);
    assert_eq!(report.included.len() + report.excluded.len(), 40);
    assert_eq!(report.events.len(), 5);
    let counts: Vec<usize> = report.events.iter().map(|event| event.item_count).collect();
    assert_eq!(counts, [39, 39, 38, 34, 34]);
    let included = report.included.iter().map(|i| (i.position.unwrap(), &i.item));
    let fates = included.chain(report.excluded.iter().map(|e| (e.position.unwrap(), &e.item)));
    let mut fates: Vec<(usize, &ContextItem)> = fates.collect();
    fates.sort_by_key(|(position, _)| *position);
    assert!(fates.iter().map(|(position, _)| *position).eq(0..40));
    assert!(fates.iter().all(|(position, item)| items[*position].is_same_item(item)));
}

#[test]
fn timing_does_not_change_the_result() {
    let items = many(100);
    let run = |waits_every| {
        let (mut stream, _) = source(&items);
        stream.waits_every = waits_every;
        let window = block_on(greedy().run_stream(stream, &budget(605), StreamSlice::default()));
        contents(&window.unwrap()).join(" ")
    };
    assert_eq!(run(0), run(2));
    assert_eq!(run(0), run(3));
}

#[test]
fn an_empty_stream_gives_an_empty_window() {
    let (stream, _) = source(&[]);
    let report =
        block_on(greedy().dry_run_stream(stream, &budget(10), StreamSlice::default())).unwrap();
    assert_eq!((report.total_candidates, report.events.len()), (0, 5));
}

#[test]
fn a_batch_that_fails_is_told_as_far_as_it_came() {
    // The first batch takes both; in the second there is too little of a required kind.
    let entry = CountQuotaEntry::new(kind("k"), 1, 1).unwrap();
    let slicer = CountQuotaSlice::new(vec![entry], Box::new(GreedySlice), ScarcityBehavior::Throw);
    let pipeline = pipeline_with(slicer.unwrap(), OverflowStrategy::Throw);
    let items = [of_kind("k", "a", 10, 0.9), item("neg", -1, 0.5), item("b", 10, 0.8)];
    let (stream, _) = source(&items);
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Stage);
    let slicing = StreamSlice::new(2).unwrap();
    let budget = budget(100);
    let run = pipeline.run_stream_traced(stream, &budget, slicing, &mut collector);
    assert_eq!(block_on(run).unwrap_err().code(), "slicer_config");
    let report = collector.into_report();
    let told: Vec<_> = report.events.iter().map(|event| (event.stage, event.item_count)).collect();
    use PipelineStage::{Classify, Deduplicate, Score};
    assert_eq!(told, [(Classify, 2), (Score, 2), (Deduplicate, 2)]);
    assert_eq!((report.total_candidates, excluded(&report)), (3, vec!["neg"]));
}
