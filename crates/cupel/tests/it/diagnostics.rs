//! Events that collectors get, and the content of the report.

use std::cell::RefCell;
use std::rc::Rc;

use cupel::*;

use crate::support::*;

fn stages(events: &[TraceEvent]) -> Vec<PipelineStage> {
    events.iter().map(|event| event.stage).collect()
}

const ALL_STAGES: [PipelineStage; 5] = [
    PipelineStage::Classify,
    PipelineStage::Score,
    PipelineStage::Deduplicate,
    PipelineStage::Slice,
    PipelineStage::Place,
];

fn mixed() -> Vec<ContextItem> {
    vec![
        pinned("pin", 30),
        item("neg", -1, 0.9),
        item("dup", 10, 0.4),
        item("dup", 10, 0.6),
        item("big", 500, 0.8),
        item("zero", 0, 0.0),
        item("fits", 20, 0.7),
    ]
}

#[test]
fn every_stage_reports_once_in_order_also_with_nothing_to_do() {
    for items in [vec![], mixed()] {
        let report = greedy().dry_run(&items, &budget(100)).unwrap();
        assert_eq!(stages(&report.events), ALL_STAGES);
        assert!(report.events.iter().all(|event| event.duration_ms >= 0.0));
    }
}

#[test]
fn a_stage_event_counts_the_items_that_leave_the_stage() {
    let report = greedy().dry_run(&mixed(), &budget(100)).unwrap();
    let counts: Vec<usize> = report.events.iter().map(|event| event.item_count).collect();
    // 7 less one negative; 5 scored; one duplicate less; three sliced; and the pinned one.
    assert_eq!(counts, [6, 5, 4, 3, 4]);
    let empty = greedy().dry_run(&[], &budget(100)).unwrap();
    assert!(empty.events.iter().all(|event| event.item_count == 0));
}

#[test]
fn the_report_accounts_for_every_candidate() {
    let report = greedy().dry_run(&mixed(), &budget(100)).unwrap();
    assert_eq!(report.total_candidates, 7);
    assert_eq!(report.included.len() + report.excluded.len(), 7);
    assert_eq!(report.total_tokens_considered, 30 - 1 + 10 + 10 + 500 + 20);
}

#[test]
fn included_items_come_in_placed_order_with_score_and_reason() {
    let report = greedy().dry_run(&mixed(), &budget(100)).unwrap();
    let found: Vec<_> =
        report.included.iter().map(|i| (i.item.content(), i.score, i.reason)).collect();
    let expected = [
        ("pin", 1.0, InclusionReason::Pinned),
        ("fits", 0.7, InclusionReason::Scored),
        ("dup", 0.6, InclusionReason::Scored),
        ("zero", 0.0, InclusionReason::ZeroToken),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_pinned_item_of_zero_tokens_is_pinned() {
    let report = greedy().dry_run(&[pinned("p", 0)], &budget(10)).unwrap();
    assert_eq!(report.included[0].reason, InclusionReason::Pinned);
}

#[test]
fn excluded_items_come_best_first_and_ties_in_the_order_of_exclusion() {
    let items = [
        item("slice-1", 90, 0.0),
        item("neg-1", -1, 0.9),
        item("dup", 5, 0.0),
        item("dup", 5, 0.0),
        item("neg-2", -2, 0.9),
        item("slice-2", 80, 0.0),
        item("slice-best", 99, 0.5),
        item("nan", 70, f64::NAN),
    ];
    let report = greedy().dry_run(&items, &budget(10)).unwrap();
    let expected = ["slice-best", "neg-1", "neg-2", "dup", "slice-1", "slice-2", "nan"];
    assert_eq!(excluded(&report), expected);
}

#[test]
fn available_tokens_are_what_the_sliced_items_leave_of_the_effective_target() {
    let items = [item("fits", 150, 1.0), item("too-big", 400, 0.0)];
    let budget = ContextBudget::builder(1000).target_tokens(200).build().unwrap();
    let report = greedy().dry_run(&items, &budget).unwrap();
    assert_eq!(reason(&report, "too-big"), &does_not_fit(400, 50));
}

#[test]
fn available_tokens_are_negative_where_a_count_quota_overspent() {
    let items = [of_kind("k", "k", 150, 0.9), item("m", 10, 0.5)];
    let pipeline = pipeline_with(counting(1, 1), OverflowStrategy::Proceed);
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    assert_eq!(reason(&report, "m"), &does_not_fit(10, -50));
}

#[test]
fn pinned_override_is_for_items_that_pins_alone_keep_out() {
    // 100 − 60 pinned = 40, of which 30 are sliced.
    let run = |tokens| {
        let items = [
            pinned("small", 20),
            pinned("large", 40),
            item("in", 30, 0.9),
            item("out", tokens, 0.01),
        ];
        let report = greedy().dry_run(&items, &budget(100)).unwrap();
        reason(&report, "out").clone()
    };
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "large".into() };
    assert_eq!(run(11), does_not_fit(11, 10), "crowded out by another item");
    assert_eq!(run(40), does_not_fit(40, 10), "alone it would fit");
    assert_eq!(run(41), displaced);
    assert_eq!(run(100), displaced);
    assert_eq!(run(101), does_not_fit(101, 10), "it would not fit without pins either");
}

#[test]
fn pinned_override_knows_reserve_slots_margin_and_clamping() {
    // With pins: min(900 − 200 − 100, 1000 − 300 − 200 − 100) = 400, less 10 percent: 360.
    // Without: min(900 − 100, 1000 − 300 − 100) = 600, less 10 percent: 540.
    let budget = ContextBudget::builder(1000)
        .target_tokens(900)
        .output_reserve(300)
        .reserve(kind("k"), 100)
        .estimation_safety_margin_percent(10.0)
        .build()
        .unwrap();
    let run = |tokens| {
        let items = [pinned("p", 200), item("in", 360, 0.9), item("out", tokens, 0.01)];
        let report = greedy().dry_run(&items, &budget).unwrap();
        reason(&report, "out").clone()
    };
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "p".into() };
    assert_eq!(run(360), does_not_fit(360, 0));
    assert_eq!(run(361), displaced);
    assert_eq!(run(540), displaced);
    assert_eq!(run(541), does_not_fit(541, 0));
}

#[test]
fn among_equally_large_pins_the_first_is_named() {
    let items = [pinned("first", 40), pinned("second", 40), item("out", 50, 0.5)];
    let report = greedy().dry_run(&items, &budget(100)).unwrap();
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "first".into() };
    assert_eq!(reason(&report, "out"), &displaced);
}

#[test]
fn an_item_that_fits_but_was_not_chosen_is_not_blamed_on_the_pins() {
    let items = [pinned("p", 10), item("worthless", 10, 0.0)];
    let knapsack = KnapsackSlice::new(1).unwrap();
    let report =
        pipeline_with(knapsack, OverflowStrategy::Throw).dry_run(&items, &budget(100)).unwrap();
    assert_eq!(reason(&report, "worthless"), &does_not_fit(10, 90));
}

#[test]
fn truncate_blames_pins_where_only_their_tokens_are_missing() {
    let budget = ContextBudget::builder(100).target_tokens(60).build().unwrap();
    let items = [pinned("p", 40), of_kind("k", "a", 15, 0.9), of_kind("k", "b", 30, 0.8)];
    let pipeline = pipeline_with(counting(2, 2), OverflowStrategy::Truncate);
    let report = pipeline.dry_run(&items, &budget).unwrap();
    // 5 are left for "b"; without the pinned 40 they would be 45.
    let displaced = ExclusionReason::PinnedOverride { displaced_by: "p".into() };
    assert_eq!(reason(&report, "b"), &displaced);
}

#[test]
fn a_count_cap_names_kind_cap_and_count_and_what_was_never_chosen_did_not_fit() {
    let items =
        [of_kind("K", "a", 10, 0.9), of_kind("k", "b", 10, 0.8), of_kind("k", "huge", 900, 0.7)];
    let pipeline = pipeline_with(counting(0, 1), OverflowStrategy::Throw);
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    let capped = ExclusionReason::CountCapExceeded { kind: "k".into(), cap: 1, count: 1 };
    assert_eq!(reason(&report, "b"), &capped);
    assert_eq!(reason(&report, "huge"), &does_not_fit(900, 90));
}

#[test]
fn required_kinds_that_are_absent_are_reported_once_at_any_depth_of_quotas() {
    let counts = |name: &str, inner: Box<dyn Slicer>| {
        let entry = CountQuotaEntry::new(kind(name), 1, 2).unwrap();
        let slicer = CountQuotaSlice::new(vec![entry], inner, ScarcityBehavior::Degrade);
        Box::new(slicer.unwrap()) as Box<dyn Slicer>
    };
    let quota = |inner| Box::new(QuotaSlice::new(vec![], inner).unwrap()) as Box<dyn Slicer>;
    // Three kinds with a partition each; none of them is what the two levels of counts require.
    let slicer = quota(quota(counts("outer", counts("inner", Box::new(GreedySlice)))));
    let items = ["a", "b", "c"].map(|name| of_kind(name, name, 10, 0.5));
    let request: Vec<ScoredItem> =
        items.iter().map(|item| ScoredItem { item: item.clone(), score: 0.5 }).collect();
    assert_eq!(slicer.slice(&request, &budget(100)).unwrap().len(), 3);
    let pipeline = pipeline_with(slicer, OverflowStrategy::Throw);
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    let expected = ["outer", "inner"].map(|name| CountRequirementShortfall::new(name, 1, 0));
    assert_eq!(report.count_requirement_shortfalls, expected);
}

#[test]
fn shortfalls_reach_the_report_through_nested_slicers() {
    let entry = |name: &str| CountQuotaEntry::new(kind(name), 2, 3).unwrap();
    let inner = CountQuotaSlice::new(
        vec![entry("a"), entry("none")],
        Box::new(GreedySlice),
        ScarcityBehavior::Degrade,
    );
    let nested = QuotaSlice::new(vec![], Box::new(inner.unwrap())).unwrap();
    let pipeline = pipeline_with(nested, OverflowStrategy::Throw);
    let items = [of_kind("a", "a1", 10, 0.9), of_kind("b", "b1", 10, 0.8)];
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    let shortfalls: Vec<_> = report
        .count_requirement_shortfalls
        .iter()
        .map(|s| (s.kind.as_str(), s.required_count, s.satisfied_count))
        .collect();
    assert_eq!(shortfalls, [("a", 2, 1), ("none", 2, 0)]);
}

#[test]
fn only_proceed_produces_an_overflow_event() {
    let items = [of_kind("k", "a", 150, 0.9)];
    for (strategy, expected) in
        [(OverflowStrategy::Truncate, false), (OverflowStrategy::Proceed, true)]
    {
        let report = pipeline_with(counting(1, 1), strategy).dry_run(&items, &budget(100)).unwrap();
        assert_eq!(report.overflow.is_some(), expected);
    }
    let within = pipeline_with(counting(1, 1), OverflowStrategy::Proceed);
    assert!(within.dry_run(&items, &budget(150)).unwrap().overflow.is_none());
}

#[test]
fn at_item_level_every_decision_is_one_event_before_its_stages_event() {
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    greedy().run_traced(&mixed(), &budget(100), &mut collector).unwrap();
    let report = collector.into_report();
    let found: Vec<_> = report
        .events
        .iter()
        .map(|event| (event.stage, event.message.as_deref().unwrap_or("")))
        .collect();
    use PipelineStage::*;
    let expected = [
        (Classify, "NegativeTokens: -1 tokens"),
        (Classify, ""),
        (Score, ""),
        (Deduplicate, "Deduplicated: same text as `dup`"),
        (Deduplicate, ""),
        (Slice, "BudgetExceeded: 500 tokens requested, 40 available"),
        (Slice, ""),
        (Place, "Pinned: score 1"),
        (Place, "Scored: score 0.7"),
        (Place, "Scored: score 0.6"),
        (Place, "ZeroToken: score 0"),
        (Place, ""),
    ];
    assert_eq!(found, expected);
    let items = report.events.iter().filter(|event| event.message.is_some());
    assert!(items.clone().all(|event| event.duration_ms == 0.0 && event.item_count == 1));
    assert_eq!(items.count(), 7);
}

#[test]
fn the_level_gates_item_events_only() {
    let run = |level| {
        let mut collector = DiagnosticTraceCollector::new(level);
        greedy().run_traced(&mixed(), &budget(100), &mut collector).unwrap();
        collector.into_report()
    };
    let (stage, item) = (run(TraceDetailLevel::Stage), run(TraceDetailLevel::Item));
    assert_eq!(stage.events.len(), 5);
    assert_eq!((stage.included, stage.excluded), (item.included, item.excluded));
}

#[test]
fn item_events_are_discarded_at_stage_level_whoever_sends_them() {
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Stage);
    collector.record_item_event(TraceEvent::item(PipelineStage::Score, "x".into()));
    assert!(collector.into_report().events.is_empty());
}

#[test]
fn the_callback_fires_for_each_recorded_event_as_it_happens() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&seen);
    let mut collector = DiagnosticTraceCollector::with_callback(
        TraceDetailLevel::Item,
        Box::new(move |event| sink.borrow_mut().push(event.clone())),
    );
    greedy().run_traced(&mixed(), &budget(100), &mut collector).unwrap();
    assert_eq!(*seen.borrow(), collector.into_report().events);
}

/// Writes down every call.
struct Log {
    calls: Vec<String>,
    interest: TraceInterest,
    completed: Option<(SelectionReport, Vec<StageTraceSnapshot>)>,
    enabled: bool,
}

impl Log {
    fn new(interest: TraceInterest) -> Self {
        Self { calls: vec![], interest, completed: None, enabled: true }
    }
}

impl TraceCollector for Log {
    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn record_stage_event(&mut self, event: TraceEvent) {
        self.calls.push(format!("stage {}", event.stage));
    }

    fn record_item_event(&mut self, event: TraceEvent) {
        self.calls.push(format!("event {}", event.stage));
    }

    fn record_included(&mut self, item: ContextItem, _: f64, _: InclusionReason) {
        self.calls.push(format!("in {}", item.content()));
    }

    fn record_excluded(&mut self, item: ContextItem, _: f64, _: ExclusionReason) {
        self.calls.push(format!("out {}", item.content()));
    }

    fn set_candidates(&mut self, total: usize, tokens: i64) {
        self.calls.push(format!("candidates {total} {tokens}"));
    }

    fn on_pipeline_completed(
        &mut self,
        report: &SelectionReport,
        _: &ContextBudget,
        snapshots: &[StageTraceSnapshot],
    ) {
        self.calls.push("completed".into());
        self.completed = Some((report.clone(), snapshots.to_vec()));
    }

    fn interest(&self) -> TraceInterest {
        self.interest
    }

    fn on_run_started(&mut self, budget: &ContextBudget) {
        self.calls.push(format!("started {}", budget.max_tokens()));
    }

    fn on_run_failed(&mut self, error: &CupelError) {
        self.calls.push(format!("failed {}", error.code()));
    }

    fn record_overflow(&mut self, event: OverflowEvent) {
        self.calls.push(format!("overflow {}", event.tokens_over_budget));
    }

    fn record_shortfall(&mut self, shortfall: CountRequirementShortfall) {
        self.calls.push(format!("short {}", shortfall.kind));
    }
}

#[test]
fn calls_come_in_the_documented_order() {
    let mut log = Log::new(TraceInterest::ALL);
    let items = [item("neg", -1, 0.0), of_kind("k", "a", 90, 0.9), item("big", 50, 0.1)];
    let pipeline = pipeline_with(counting(2, 3), OverflowStrategy::Proceed);
    pipeline.run_traced(&items, &budget(80), &mut log).unwrap();
    let expected = [
        "started 80",
        "candidates 3 139",
        "event Classify",
        "out neg",
        "stage Classify",
        "stage Score",
        "stage Deduplicate",
        "short k",
        "event Slice",
        "out big",
        "stage Slice",
        "overflow 10",
        "event Place",
        "stage Place",
        "in a",
        "completed",
    ];
    assert_eq!(log.calls, expected);
}

#[test]
fn a_failed_run_ends_with_on_run_failed() {
    let mut log = Log::new(TraceInterest::ALL);
    let result = greedy().run_traced(&[pinned("p", 90)], &budget(50), &mut log);
    assert!(result.is_err());
    assert_eq!(log.calls, ["started 50", "candidates 1 90", "failed pinned_exceeds_budget"]);
}

#[test]
fn a_collector_gets_only_what_it_wants() {
    let run = |interest| {
        let mut log = Log::new(interest);
        greedy().run_traced(&mixed(), &budget(100), &mut log).unwrap();
        log
    };
    let count = |log: &Log, word: &str| log.calls.iter().filter(|c| c.starts_with(word)).count();

    let stages = run(TraceInterest::STAGES);
    assert_eq!((count(&stages, "event"), count(&stages, "in "), count(&stages, "out ")), (0, 0, 0));
    let (report, snapshots) = stages.completed.unwrap();
    assert!(report.included.is_empty() && report.excluded.is_empty());
    assert_eq!((report.total_candidates, report.events.len()), (7, 5));
    let counts: Vec<_> = snapshots.iter().map(|s| (s.excluded_count, s.excluded.len())).collect();
    assert_eq!(counts, [(1, 0), (0, 0), (1, 0), (1, 0), (0, 0)]);

    let records = run(TraceInterest { records: true, ..TraceInterest::STAGES });
    assert_eq!(
        (count(&records, "event"), count(&records, "in "), count(&records, "out ")),
        (0, 4, 3)
    );

    let events = run(TraceInterest { item_events: true, ..TraceInterest::STAGES });
    assert_eq!((count(&events, "event"), count(&events, "in ")), (7, 0));
}

#[test]
fn the_completion_hook_gets_the_finished_report_with_the_events_it_asked_for() {
    let mut log = Log::new(TraceInterest::ALL);
    greedy().run_traced(&mixed(), &budget(100), &mut log).unwrap();
    let (mut report, _) = log.completed.unwrap();
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    greedy().run_traced(&mixed(), &budget(100), &mut collector).unwrap();
    let mut expected = collector.into_report();
    for event in report.events.iter_mut().chain(&mut expected.events) {
        event.duration_ms = 0.0;
    }
    assert_eq!(report, expected);
}

#[test]
fn snapshots_count_what_enters_and_leaves_each_stage() {
    let mut log = Log::new(TraceInterest::ALL);
    greedy().run_traced(&mixed(), &budget(100), &mut log).unwrap();
    let (_, snapshots) = log.completed.unwrap();
    let counts: Vec<_> =
        snapshots.iter().map(|s| (s.stage, s.item_count_in, s.item_count_out)).collect();
    use PipelineStage::*;
    let expected =
        [(Classify, 7, 6), (Score, 5, 5), (Deduplicate, 5, 4), (Slice, 4, 3), (Place, 4, 4)];
    assert_eq!(counts, expected);
    let excluded: Vec<_> = snapshots
        .iter()
        .map(|s| s.excluded.iter().map(|e| e.item.content()).collect::<Vec<_>>())
        .collect();
    assert_eq!(excluded, [vec!["neg"], vec![], vec!["dup"], vec!["big"], vec![]]);
    assert!(snapshots.windows(2).all(|w| w[0].start_ms + w[0].duration_ms <= w[1].start_ms));
}

#[test]
fn a_disabled_collector_is_told_nothing() {
    let mut log = Log { enabled: false, ..Log::new(TraceInterest::ALL) };
    greedy().run_traced(&mixed(), &budget(100), &mut log).unwrap();
    assert!(log.calls.is_empty());
}

#[test]
fn the_null_collector_is_disabled() {
    let mut null = NullTraceCollector::default();
    assert!(!null.is_enabled());
    null.record_stage_event(TraceEvent::stage(PipelineStage::Score, 1.0, 1));
    null.record_item_event(TraceEvent::item(PipelineStage::Score, String::new()));
}

#[test]
fn traced_and_plain_runs_select_the_same() {
    let (items, budget) = (mixed(), budget(100));
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    let traced = greedy().run_traced(&items, &budget, &mut collector).unwrap();
    assert_eq!(traced, greedy().run(&items, &budget).unwrap());
    assert_eq!(contents(&traced), included(&collector.into_report()));
}

#[test]
fn a_collector_that_is_used_again_starts_afresh() {
    let items = [item("a", 10, 0.9), item("b", 20, 0.8), item("c", -1, 0.7)];
    let failing = pipeline_with(Refuses, OverflowStrategy::Throw);
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    failing.run_traced(&items, &budget(10), &mut collector).unwrap_err();
    greedy().run_traced(&items, &budget(10), &mut collector).unwrap();
    let mut once = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    greedy().run_traced(&items, &budget(10), &mut once).unwrap();
    let (again, once) = (collector.into_report(), once.into_report());
    assert_eq!((again.included, again.excluded), (once.included, once.excluded));
    assert_eq!(again.total_candidates, 3);
    assert_eq!(again.events.len(), once.events.len());
}

/// A slicer that always fails.
struct Refuses;

impl Slicer for Refuses {
    fn slice(&self, _: &[ScoredItem], _: &ContextBudget) -> Result<Vec<ContextItem>, CupelError> {
        Err(CupelError::SlicerConfig("no".into()))
    }
}

#[test]
fn overflowing_items_are_the_pinned_in_input_order_then_the_others_by_score() {
    let items = [
        of_kind("k", "worse", 60, 0.1),
        pinned("first pin", 10),
        of_kind("k", "better", 60, 0.9),
        pinned("second pin", 10),
        of_kind("k", "as good", 60, 0.9),
    ];
    let pipeline = pipeline_with(counting(3, 3), OverflowStrategy::Proceed);
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    let overflow = report.overflow.unwrap();
    assert_eq!(overflow.tokens_over_budget, 100);
    let expected = ["first pin", "second pin", "better", "as good", "worse"];
    assert_eq!(contents(&overflow.overflowing_items), expected);
}

#[test]
fn a_line_break_in_a_kind_does_not_split_a_message() {
    let broken = "a\nb\u{2028}c";
    assert_eq!(kind(broken).as_str(), broken);
    let entry = CountQuotaEntry::new(kind(broken), 0, 1).unwrap();
    let slicer =
        CountQuotaSlice::new(vec![entry.clone()], Box::new(GreedySlice), ScarcityBehavior::Degrade);
    let pipeline = pipeline_with(slicer.unwrap(), OverflowStrategy::Throw);
    let items = [of_kind(broken, "x", 1, 0.9), of_kind(broken, "y", 1, 0.8)];
    let report = pipeline.dry_run(&items, &budget(10)).unwrap();
    let capped = &report.excluded[0].reason;
    // What programs read stays as it was; what people read is one line.
    let kept = ExclusionReason::CountCapExceeded { kind: broken.into(), cap: 1, count: 1 };
    assert_eq!(capped, &kept);
    let twice = CountQuotaSlice::new(
        vec![entry.clone(), entry],
        Box::new(GreedySlice),
        ScarcityBehavior::Throw,
    )
    .unwrap_err();
    let exhausted = ExclusionReason::CountRequireCandidatesExhausted { kind: broken.into() };
    let over = ExclusionReason::QuotaCapExceeded { kind: broken.into(), cap: 1, actual: 2 };
    let displaced = ExclusionReason::QuotaRequireDisplaced { displaced_by_kind: broken.into() };
    for text in [
        capped.to_string(),
        twice.to_string(),
        exhausted.to_string(),
        over.to_string(),
        displaced.to_string(),
        QuotaEntry::new(kind(broken), 2.0, 1.0).unwrap_err().to_string(),
        kind(broken).to_string(),
    ] {
        assert!(text.contains(r"a\nb\u{2028}c"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
