//! The wire form: what is written, what is read, and what is refused.

use cupel::*;
use serde_json::{Value, json};

use crate::support::*;

fn full_item() -> ContextItem {
    ContextItemBuilder::new("text", 7)
        .kind(ContextKind::tool_output())
        .source(ContextSource::new("Tool").unwrap())
        .priority(-3)
        .tags(vec!["b".into(), "a".into()])
        .metadata([("z".into(), "1".into()), ("a".into(), "2".into())].into())
        .timestamp("2024-01-02T03:04:05Z".parse().unwrap())
        .future_relevance_hint(0.5)
        .pinned(true)
        .original_tokens(70)
        .build()
        .unwrap()
}

#[track_caller]
fn refused<T: serde::de::DeserializeOwned + wire::WireType + std::fmt::Debug>(
    input: &Value,
    message: &str,
) {
    let error = serde_json::from_value::<T>(input.clone()).unwrap_err();
    assert_eq!(error.to_string(), message);
    let error = wire::read::<T, _>(input.clone()).unwrap_err();
    let wire::ReadError::Value(problem) = error else { panic!("{error}: not a value") };
    assert_eq!(problem.to_string(), message);
}

#[test]
fn an_item_is_written_field_by_field_in_a_fixed_order() {
    let text = serde_json::to_string(&full_item()).unwrap();
    let expected = r#"{"content":"text","tokens":7,"kind":"ToolOutput","source":"Tool","priority":-3,"tags":["b","a"],"metadata":{"a":"2","z":"1"},"timestamp":"2024-01-02T03:04:05Z","future_relevance_hint":0.5,"pinned":true,"original_tokens":70}"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<ContextItem>(&text).unwrap(), full_item());
}

#[test]
fn absent_values_are_left_out() {
    let item = ContextItemBuilder::new("a", 1).build().unwrap();
    let expected = r#"{"content":"a","tokens":1,"kind":"Message","source":"Chat","tags":[],"metadata":{},"pinned":false}"#;
    assert_eq!(serde_json::to_string(&item).unwrap(), expected);
}

#[test]
fn an_item_needs_only_text_and_tokens_and_takes_null_for_absent() {
    let item: ContextItem = serde_json::from_value(json!({
        "content": "a", "tokens": 1, "kind": null, "source": null, "priority": null, "tags": null,
        "metadata": null, "timestamp": null, "future_relevance_hint": null, "pinned": null,
        "original_tokens": null,
    }))
    .unwrap();
    assert_eq!(item, ContextItemBuilder::new("a", 1).build().unwrap());
}

#[test]
fn camel_case_names_are_read() {
    let item: ContextItem = serde_json::from_value(
        json!({ "content": "a", "tokens": 1, "futureRelevanceHint": 1, "originalTokens": 5 }),
    )
    .unwrap();
    assert_eq!((item.future_relevance_hint(), item.original_tokens()), (Some(1.0), Some(5)));
    let budget: ContextBudget = serde_json::from_value(
        json!({ "maxTokens": 10, "targetTokens": 5, "outputReserve": 1, "reservedSlots": {} }),
    )
    .unwrap();
    assert_eq!((budget.max_tokens(), budget.output_reserve()), (10, 1));
}

#[test]
fn metadata_numbers_and_truth_values_are_read_as_their_text() {
    let item: ContextItem = serde_json::from_value(json!({
        "content": "a", "tokens": 1, "metadata": { "n": 5, "f": 0.85, "b": true, "s": "x" },
    }))
    .unwrap();
    let value = |key: &str| item.metadata()[key].as_str();
    assert_eq!([value("n"), value("f"), value("b"), value("s")], ["5", "0.85", "true", "x"]);
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "metadata": { "k": [1] } }),
        "metadata.k: must be a text, a number, true or false, got a list",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "metadata": { "k": null } }),
        "metadata.k: must be a text, a number, true or false, got null",
    );
}

#[test]
fn a_broken_item_is_refused_by_the_name_of_the_field() {
    refused::<ContextItem>(&json!({ "content": "", "tokens": 1 }), "content must be non-empty");
    refused::<ContextItem>(&json!({ "content": "a" }), "tokens: is required");
    refused::<ContextItem>(&json!({ "tokens": 1 }), "content: is required");
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": "many" }),
        "tokens: must be a whole number, got \"many\"",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1.5 }),
        "tokens: must be a whole number, got 1.5",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 18_446_744_073_709_551_615_u64 }),
        "tokens: must be at most 9223372036854775807, got 18446744073709551615",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "kind": " " }),
        "kind: kind must not be empty or blank",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "tags": ["x", 5] }),
        "tags[1]: must be a text, got 5",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "timestamp": "yesterday" }),
        "timestamp: must be a date and time with offset, as 2025-01-31T12:00:00Z, got \"yesterday\"",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "contents": "b" }),
        "contents: unknown field; did you mean `content`?",
    );
    refused::<ContextItem>(
        &json!({ "content": "a", "tokens": 1, "colour": "b" }),
        "colour: unknown field; known are content, tokens, kind, source, tags, metadata, \
         pinned, priority, timestamp, future_relevance_hint, original_tokens, renderings, rendered_as",
    );
    refused::<ContextItem>(&json!(5), "must be a map, got 5");
}

#[test]
fn a_field_given_twice_is_refused_in_either_spelling() {
    for text in [
        r#"{"content":"a","tokens":1,"tokens":2}"#,
        r#"{"content":"a","tokens":1,"originalTokens":2,"original_tokens":2}"#,
    ] {
        let error = serde_json::from_str::<ContextItem>(text).unwrap_err().to_string();
        assert!(
            error.contains("okens: is given twice") || error.contains("tokens: is given twice"),
            "{error}"
        );
    }
}

#[test]
fn numbers_that_are_not_finite_are_written_as_text_and_read_back() {
    for (hint, text) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")]
    {
        let value = serde_json::to_value(item("a", 1, hint)).unwrap();
        assert_eq!(value["future_relevance_hint"], text);
        let read: ContextItem = serde_json::from_value(value).unwrap();
        let read = read.future_relevance_hint().unwrap();
        assert!(read == hint || (read.is_nan() && hint.is_nan()));
    }
    let scored = ScoredItem { item: item("a", 1, 0.5), score: f64::NAN };
    let value = serde_json::to_value(&scored).unwrap();
    assert_eq!(value["score"], "NaN");
    assert!(serde_json::from_value::<ScoredItem>(value).unwrap().score.is_nan());
}

#[test]
fn a_budget_is_written_whole_and_read_through_its_checks() {
    let budget = ContextBudget::builder(100)
        .target_tokens(50)
        .output_reserve(10)
        .reserve(kind("b"), 1)
        .reserve(kind("a"), 2)
        .estimation_safety_margin_percent(5.0)
        .build()
        .unwrap();
    let text = serde_json::to_string(&budget).unwrap();
    let expected = r#"{"max_tokens":100,"target_tokens":50,"output_reserve":10,"reserved_slots":{"a":2,"b":1},"estimation_safety_margin_percent":5.0}"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<ContextBudget>(&text).unwrap(), budget);

    let minimal: ContextBudget =
        serde_json::from_value(json!({ "max_tokens": 9, "target_tokens": 8 })).unwrap();
    assert_eq!(minimal, ContextBudget::builder(9).target_tokens(8).build().unwrap());
    refused::<ContextBudget>(
        &json!({ "max_tokens": 100, "target_tokens": 200 }),
        "target_tokens `200` must not exceed max_tokens `100`",
    );
    refused::<ContextBudget>(&json!({ "max_tokens": 100 }), "target_tokens: is required");
    refused::<ContextBudget>(
        &json!({ "max_tokens": 1, "target_tokens": 1, "reserved_slots": { "x": "y" } }),
        "reserved_slots.x: must be a whole number, got \"y\"",
    );
    refused::<ContextBudget>(
        &json!({ "max_tokens": 1, "target_tokens": 1, "reserve": 1 }),
        "reserve: unknown field; known are max_tokens, target_tokens, output_reserve, \
         reserved_slots, estimation_safety_margin_percent",
    );
}

#[test]
fn reserved_slots_that_differ_only_in_case_are_one() {
    let text = r#"{"max_tokens":9,"target_tokens":8,"reserved_slots":{"Doc":1,"DOC":2}}"#;
    let budget: ContextBudget = serde_json::from_str(text).unwrap();
    assert_eq!(budget.reserved_slots(), &[(kind("doc"), 2)].into());
}

#[test]
fn kinds_sources_and_strategies_are_bare_texts() {
    assert_eq!(serde_json::to_value(kind("Odd")).unwrap(), "Odd");
    assert_eq!(serde_json::to_value(OverflowStrategy::Truncate).unwrap(), "Truncate");
    assert_eq!(serde_json::to_value(PipelineStage::Classify).unwrap(), "Classify");
    assert_eq!(serde_json::to_value(TraceDetailLevel::Item).unwrap(), "Item");
    assert_eq!(serde_json::to_value(NullTraceCollector::default()).unwrap(), Value::Null);
    refused::<ContextKind>(&json!(""), "kind must not be empty or blank");
    refused::<ContextSource>(&json!("  "), "source must not be empty or blank");
}

#[test]
fn quota_entries_are_read_through_their_checks() {
    let entry: QuotaEntry =
        serde_json::from_value(json!({ "kind": "a", "require": 10, "cap": 20.5 })).unwrap();
    let written = json!({ "kind": "a", "require": 10.0, "cap": 20.5 });
    assert_eq!(serde_json::to_value(&entry).unwrap(), written);
    refused::<QuotaEntry>(
        &json!({ "kind": "a", "require": 30, "cap": 20 }),
        "kind `a`: require `30` must not exceed cap `20`",
    );
    refused::<QuotaEntry>(&json!({ "kind": "a", "require": 30 }), "cap: is required");
}

fn reasons() -> Vec<(ExclusionReason, Value)> {
    vec![
        (
            does_not_fit(2048, 512),
            json!({ "reason": "BudgetExceeded", "item_tokens": 2048, "available_tokens": 512 }),
        ),
        (
            ExclusionReason::ScoredTooLow { score: 0.12, threshold: 0.25 },
            json!({ "reason": "ScoredTooLow", "score": 0.12, "threshold": 0.25 }),
        ),
        (
            ExclusionReason::Deduplicated { deduplicated_against: "abc".into() },
            json!({ "reason": "Deduplicated", "deduplicated_against": "abc" }),
        ),
        (
            ExclusionReason::QuotaCapExceeded { kind: "ToolOutput".into(), cap: 3, actual: 4 },
            json!({ "reason": "QuotaCapExceeded", "kind": "ToolOutput", "cap": 3, "actual": 4 }),
        ),
        (
            ExclusionReason::QuotaRequireDisplaced { displaced_by_kind: "SystemPrompt".into() },
            json!({ "reason": "QuotaRequireDisplaced", "displaced_by_kind": "SystemPrompt" }),
        ),
        (
            ExclusionReason::NegativeTokens { tokens: -1 },
            json!({ "reason": "NegativeTokens", "tokens": -1 }),
        ),
        (
            ExclusionReason::PinnedOverride { displaced_by: "rules".into() },
            json!({ "reason": "PinnedOverride", "displaced_by": "rules" }),
        ),
        (
            ExclusionReason::Filtered { filter_name: "max_age".into() },
            json!({ "reason": "Filtered", "filter_name": "max_age" }),
        ),
        (
            ExclusionReason::CountCapExceeded { kind: "tool".into(), cap: 2, count: 2 },
            json!({ "reason": "CountCapExceeded", "kind": "tool", "cap": 2, "count": 2 }),
        ),
        (
            ExclusionReason::CountRequireCandidatesExhausted { kind: "tool".into() },
            json!({ "reason": "CountRequireCandidatesExhausted", "kind": "tool" }),
        ),
    ]
}

#[test]
fn every_reason_is_its_name_beside_its_fields() {
    let mut kinds: Vec<_> = reasons().iter().map(|(reason, _)| reason.kind()).collect();
    kinds.push(ExclusionReasonKind::Unknown);
    assert_eq!(kinds, ExclusionReasonKind::ALL, "each has an example above");
    for (reason, wire) in reasons() {
        assert_eq!(serde_json::to_value(&reason).unwrap(), wire);
        assert_eq!(serde_json::from_value::<ExclusionReason>(wire).unwrap(), reason);
    }
    let wire = json!({ "reason": "Scored" });
    assert_eq!(serde_json::to_value(InclusionReason::Scored).unwrap(), wire);
}

#[test]
fn a_known_reason_must_have_its_fields() {
    for (_, wire) in reasons() {
        for field in wire.as_object().unwrap().keys().filter(|key| *key != "reason") {
            let mut broken = wire.clone();
            broken.as_object_mut().unwrap().remove(field);
            refused::<ExclusionReason>(&broken, &format!("{field}: is required"));
        }
    }
}

#[test]
fn an_unknown_reason_keeps_its_name_and_fields() {
    let wire = json!({
        "reason": "TooRude", "words": ["x", 1, 2.5, null, true, { "deep": 18_446_744_073_709_551_615_u64 }],
    });
    let reason: ExclusionReason = serde_json::from_value(wire.clone()).unwrap();
    assert!(matches!(&reason, ExclusionReason::Unknown { name, .. } if name == "TooRude"));
    assert_eq!(reason.name(), "TooRude");
    assert_eq!(serde_json::to_value(&reason).unwrap(), wire);
}

#[test]
fn the_fields_of_an_unknown_reason_keep_their_order() {
    let text = r#"{"reason":"TooRude","z":1,"a":{"y":2,"b":3},"m":"x"}"#;
    let reason: ExclusionReason = serde_json::from_str(text).unwrap();
    let ExclusionReason::Unknown { fields, .. } = &reason else { panic!("{reason:?}") };
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m"]);
    assert_eq!(serde_json::to_string(&reason).unwrap(), text);
}

#[test]
fn an_unknown_inclusion_reason_is_refused() {
    refused::<InclusionReason>(
        &json!({ "reason": "Lucky" }),
        "reason: must be one of Scored, Pinned, ZeroToken, Shortened, got \"Lucky\"",
    );
}

#[test]
fn an_event_leaves_an_absent_message_out_and_keeps_the_name_of_an_unknown_stage() {
    let event = TraceEvent::stage(PipelineStage::Score, 12.4, 47);
    let wire = json!({ "stage": "Score", "duration_ms": 12.4, "item_count": 47 });
    assert_eq!(serde_json::to_value(&event).unwrap(), wire);
    assert_eq!(serde_json::from_value::<TraceEvent>(wire).unwrap(), event);
    let wire = json!({
        "stage": "Rerank", "duration_ms": 0.0, "item_count": 1, "message": "moved up",
    });
    let event: TraceEvent = serde_json::from_value(wire.clone()).unwrap();
    assert_eq!(event.stage, PipelineStage::Unknown);
    assert_eq!(event.unknown_stage.as_deref(), Some("Rerank"));
    assert_eq!(serde_json::to_value(&event).unwrap(), wire);
    assert_eq!(
        serde_json::from_value::<PipelineStage>(json!("Rerank")).unwrap(),
        PipelineStage::Unknown
    );
}

fn report() -> SelectionReport {
    let items = [
        pinned("p", 30),
        of_kind("k", "a", 90, f64::INFINITY),
        item("neg", -1, 0.0),
        item("left", 50, 0.1),
    ];
    let pipeline = pipeline_with(counting(2, 3), OverflowStrategy::Proceed);
    let mut collector = DiagnosticTraceCollector::new(TraceDetailLevel::Item);
    pipeline.run_traced(&items, &budget(100), &mut collector).unwrap();
    collector.into_report()
}

#[test]
fn a_whole_report_survives_the_round_trip() {
    let report = report();
    assert!(report.overflow.is_some() && !report.count_requirement_shortfalls.is_empty());
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(serde_json::from_str::<SelectionReport>(&text).unwrap(), report);
}

#[test]
fn a_report_whose_counts_disagree_is_refused() {
    let mut wire = serde_json::to_value(report()).unwrap();
    wire["total_candidates"] = json!(5);
    refused::<SelectionReport>(
        &wire,
        "total_candidates 5 does not equal included.len() 2 + excluded.len() 2",
    );
}

#[test]
fn a_report_may_lack_shortfalls_and_have_fields_that_we_do_not_know() {
    let mut wire = serde_json::to_value(report()).unwrap();
    wire.as_object_mut().unwrap().remove("count_requirement_shortfalls");
    wire["later_version"] = json!({ "x": 1 });
    let read: SelectionReport = serde_json::from_value(wire).unwrap();
    assert!(read.count_requirement_shortfalls.is_empty());
}

#[test]
fn errors_deep_inside_a_report_name_the_whole_path() {
    let mut wire = serde_json::to_value(report()).unwrap();
    wire["included"][1]["item"]["tokens"] = json!("x");
    refused::<SelectionReport>(&wire, "included[1].item.tokens: must be a whole number, got \"x\"");
}

#[test]
fn a_collector_survives_the_round_trip_but_for_its_callback() {
    let mut collector =
        DiagnosticTraceCollector::with_callback(TraceDetailLevel::Item, Box::new(|_| {}));
    greedy()
        .run_traced(&[item("a", 1, 0.5), item("b", 99, 0.5)], &budget(10), &mut collector)
        .unwrap();
    let wire = serde_json::to_value(&collector).unwrap();
    assert_eq!(wire["detail_level"], "Item");
    let read: DiagnosticTraceCollector = serde_json::from_value(wire).unwrap();
    assert_eq!(read.into_report(), collector.into_report());
}

#[test]
fn toml_is_read_with_its_own_dates() {
    let item: ContextItem =
        toml::from_str("content = 'a'\ntokens = 1\ntimestamp = 2024-06-01T00:00:00Z").unwrap();
    assert_eq!(item.timestamp(), Some("2024-06-01T00:00:00Z".parse().unwrap()));
    let error = toml::from_str::<ContextItem>("content = 'a'\ntokens = 1\ntimestamp = 2024-06-01");
    assert!(
        error.unwrap_err().to_string().contains("timestamp: must be a date and time with offset")
    );
}

#[test]
fn hostile_json_is_an_error_and_nothing_worse() {
    let deep = format!("{{\"content\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for text in
        ["", "{", "[1,2", "nul", "\"\\ud800\"", "{\"content\":\"a\",\"tokens\":1e999}", &deep]
    {
        assert!(serde_json::from_str::<ContextItem>(text).is_err());
        assert!(serde_json::from_str::<ContextBudget>(text).is_err());
        assert!(serde_json::from_str::<SelectionReport>(text).is_err());
        assert!(serde_json::from_str::<PolicyDescription>(text).is_err());
    }
    let error =
        serde_json::from_str::<ContextItem>("{\"content\":\"a\",\n\"tokens\":true}").unwrap_err();
    assert!(error.to_string().starts_with("tokens: must be a whole number, got true"), "{error}");
}

#[test]
fn messages_stay_on_one_line_whatever_the_input_holds() {
    let item = r#"{"content": "a", "tokens": 1, "timestamp": "to\nday\u0007"}"#;
    let error = serde_json::from_str::<ContextItem>(item).unwrap_err().to_string();
    assert!(error.contains(r#"got "to\nday\u{7}""#), "{error}");
    let item = r#"{"content": "a", "tokens": "o\nne"}"#;
    let error = serde_json::from_str::<ContextItem>(item).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
}
