//! Content of each tier, to the last attribute. `otlp` holds these against the wire as well.

use cupel::OverflowStrategy;
use cupel_otel::CupelVerbosity::{self, Full, StageAndExclusions, StageOnly};

use crate::seen::{Attributes, Event, Memory, Run, STAGES, attributes};
use crate::situation::{self, Situation, TakesAll, budget, item, kind, pipeline};

fn run(verbosity: CupelVerbosity) -> Run {
    let memory = Memory::new();
    situation::usual().run(&mut memory.collector(verbosity)).unwrap();
    memory.run()
}

#[test]
fn stage_only_tells_stages_and_counts() {
    assert_stage_only(&run(StageOnly));
}

#[test]
fn stage_and_exclusions_adds_what_was_left_out() {
    assert_stage_and_exclusions(&run(StageAndExclusions));
}

#[test]
fn full_adds_what_is_in() {
    assert_full(&run(Full));
}

#[test]
fn place_tells_what_was_truncated_before_what_is_in() {
    let items = ["pinned", "first", "second"].map(|text| {
        let item = item(text, 40).kind(kind(text)).future_relevance_hint(0.5);
        item.pinned(text == "pinned").build().unwrap()
    });
    let situation = Situation {
        pipeline: pipeline()
            .slicer(TakesAll)
            .overflow_strategy(OverflowStrategy::Truncate)
            .build()
            .unwrap(),
        items: items.into(),
        budget: budget(100),
    };
    let memory = Memory::new();
    situation.run(&mut memory.collector(Full)).unwrap();
    let run = memory.run();
    let place = run.stage("place");
    assert_eq!(place.attributes, stage_attributes("place", 3, 2, 1));
    let names: Vec<_> = place.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["cupel.exclusion", "cupel.item.included", "cupel.item.included"]);
    assert_eq!(place.events[0].attributes["cupel.exclusion.item_kind"], "second".into());
}

#[test]
fn an_empty_run_has_its_spans_too() {
    let memory = Memory::new();
    let situation = Situation { items: Vec::new(), ..situation::usual() };
    situation.run(&mut memory.collector(Full)).unwrap();
    let run = memory.run();
    assert_eq!(run.stage_names(), STAGES);
    for stage in &run.stages {
        let name = stage.name.strip_prefix("cupel.stage.").unwrap();
        assert_eq!(stage.attributes, stage_attributes(name, 0, 0, 0));
        assert_eq!(stage.events, []);
    }
}

pub(crate) fn assert_stage_only(run: &Run) {
    assert_root(run, "StageOnly");
    for ((name, in_count, out_count, _), stage) in COUNTS.into_iter().zip(&run.stages) {
        assert_eq!(stage.attributes, stage_attributes(name, in_count, out_count, 0));
        assert_eq!(stage.events, []);
    }
}

pub(crate) fn assert_stage_and_exclusions(run: &Run) {
    assert_root(run, "StageAndExclusions");
    assert_exclusions(run);
    assert_eq!(run.stage("place").events, []);
}

pub(crate) fn assert_full(run: &Run) {
    assert_root(run, "Full");
    assert_exclusions(run);
    let place = run.stage("place");
    let included = |kind: &str, tokens: i64, score: f64| Event {
        name: "cupel.item.included".into(),
        time: place.end,
        attributes: attributes![
            ("cupel.item.kind", kind),
            ("cupel.item.tokens", tokens),
            ("cupel.item.score", score),
        ],
    };
    assert_eq!(
        place.events,
        [
            included("SystemPrompt", 20, 1.0),
            included("Document", 10, 0.9),
            included("Message", 30, 0.8),
        ]
    );
}

/// Stage, items in, items out, exclusions of the usual situation.
const COUNTS: [(&str, i64, i64, i64); 5] = [
    ("classify", 6, 5, 1),
    ("score", 4, 4, 0),
    ("deduplicate", 4, 3, 1),
    ("slice", 3, 2, 1),
    ("place", 3, 3, 0),
];

fn assert_root(run: &Run, verbosity: &str) {
    let expected = attributes![("cupel.budget.max_tokens", 100), ("cupel.verbosity", verbosity)];
    assert_eq!(run.root.attributes, expected);
    assert_eq!(run.root.events, []);
    assert_eq!(run.root.error, None);
    assert_eq!(run.stage_names(), STAGES);
}

fn assert_exclusions(run: &Run) {
    for ((name, in_count, out_count, excluded), stage) in COUNTS.into_iter().zip(&run.stages) {
        assert_eq!(stage.attributes, stage_attributes(name, in_count, out_count, excluded));
        assert_eq!(stage.dropped_events, 0);
    }
    let expected = [
        ("classify", "NegativeTokens", "Memory", -5),
        ("deduplicate", "Deduplicated", "Document", 10),
        ("slice", "BudgetExceeded", "ToolOutput", 500),
    ];
    for (name, reason, kind, tokens) in expected {
        let stage = run.stage(name);
        let event = Event {
            name: "cupel.exclusion".into(),
            time: stage.end,
            attributes: attributes![
                ("cupel.exclusion.reason", reason),
                ("cupel.exclusion.item_kind", kind),
                ("cupel.exclusion.item_tokens", tokens),
            ],
        };
        assert_eq!(stage.events, [event]);
    }
    assert_eq!(run.stage("score").events, []);
}

/// The attributes of a stage; the count of exclusions only if there are any.
pub(crate) fn stage_attributes(
    name: &str,
    item_count_in: i64,
    item_count_out: i64,
    exclusions: i64,
) -> Attributes {
    let mut attributes = attributes![
        ("cupel.stage.name", name),
        ("cupel.stage.item_count_in", item_count_in),
        ("cupel.stage.item_count_out", item_count_out),
    ];
    if exclusions > 0 {
        attributes.insert("cupel.exclusion.count".into(), exclusions.into());
    }
    attributes
}
