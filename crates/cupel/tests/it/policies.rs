//! Policies as data.

use cupel::*;
use serde_json::{Value, json};

use crate::support::*;

/// A description that uses every strategy and every option.
fn everything() -> Value {
    json!({
        "name": "everything",
        "description": "uses all that there is",
        "scorers": [
            "recency",
            { "type": "priority", "weight": 2 },
            { "type": "kind" },
            { "type": "kind", "weights": { "Memory": 1.0, "Plan": 0.5 }, "weight": 0.5 },
            { "type": "tag", "weights": { "a": 1 }, "caseless": true },
            { "type": "frequency" },
            { "type": "reflexive" },
            { "type": "metadata_trust" },
            { "type": "metadata-trust", "default_score": 0.25 },
            { "type": "metadata-key", "key": "cupel:priority", "value": "high", "boost": 1.5 },
            { "type": "decay", "curve": { "type": "exponential", "half_life": "24h" } },
            {
                "type": "decay",
                "curve": { "type": "window", "max_age": 90 },
                "null_timestamp_score": 0.1,
                "reference_time": "2025-01-01T12:00:00Z",
            },
            {
                "type": "decay",
                "curve": { "type": "step", "windows": [
                    { "max_age": "1h", "score": 0.9 }, { "max_age": "1d 12h", "score": 0.1 },
                ] },
            },
            { "type": "composite", "scorers": [
                { "type": "scaled", "scorer": { "type": "scaled", "scorer": "recency" } },
                { "type": "composite", "scorers": ["priority"], "weight": 3 },
            ] },
        ],
        "slicer": {
            "type": "quota",
            "quotas": [{ "kind": "Memory", "require": 10, "cap": 50 }],
            "inner": {
                "type": "count-quota",
                "entries": [{ "kind": "Memory", "require_count": 1, "cap_count": 3 }],
                "scarcity": "throw",
                "inner": "greedy",
            },
        },
        "placer": "u-shaped",
        "deduplication": false,
        "overflow_strategy": "Truncate",
        "budget": { "max_tokens": 100, "target_tokens": 50 },
    })
}

/// Slicers that the description above has no place for.
fn further_slicers() -> Vec<Value> {
    vec![
        json!({ "type": "shortening" }),
        json!({ "type": "knapsack" }),
        json!({ "type": "knapsack", "bucket_size": 7 }),
        json!({ "type": "knapsack", "bucket_size": "finest" }),
        json!({ "type": "count_constrained_knapsack", "entries": [], "bucket_size": 5 }),
    ]
}

fn read(value: &Value) -> Result<PolicyDescription, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

#[test]
fn every_strategy_can_be_described_built_and_written_back() {
    let description = read(&everything()).unwrap();
    description.build().unwrap();
    let written = serde_json::to_value(&description).unwrap();
    assert_eq!(read(&written).unwrap(), description);
    let toml = toml::to_string(&description).unwrap();
    assert_eq!(toml::from_str::<PolicyDescription>(&toml).unwrap(), description);
    for slicer in further_slicers() {
        let description =
            read(&json!({ "scorers": ["recency"], "slicer": slicer.clone() })).unwrap();
        description.build().unwrap();
        let written = serde_json::to_value(&description).unwrap();
        assert_eq!(read(&written).unwrap(), description);
    }
}

/// Every name of a strategy in a description, at any depth.
fn names_in(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(name) => names.push(name.replace('_', "-")),
        Value::Array(list) => list.iter().for_each(|value| names_in(value, names)),
        Value::Object(map) => map.values().for_each(|value| names_in(value, names)),
        _ => {}
    }
}

#[test]
fn no_strategy_is_missing_above() {
    let mut used = Vec::new();
    names_in(&everything(), &mut used);
    for name in [ScorerDescription::names(), CurveDescription::names()].concat() {
        assert!(used.iter().any(|used| used == name), "{name}");
    }
    for name in SlicerDescription::names() {
        let is_tried = |slicer: &&Value| slicer["type"].as_str().unwrap().replace('_', "-") == name;
        let nested = used.iter().any(|used| used == name);
        assert!(nested || further_slicers().iter().any(|slicer| is_tried(&slicer)), "{name}");
    }
    for name in PlacerDescription::names() {
        let description = read(&json!({ "scorers": ["recency"], "placer": name })).unwrap();
        assert_eq!(description.placer.name(), name);
        assert_eq!(serde_json::to_value(&description).unwrap()["placer"], name);
    }
}

#[test]
fn defaults_are_greedy_chronological_deduplicated_and_throw() {
    let description = read(&json!({ "scorers": ["recency"] })).unwrap();
    let expected =
        PolicyDescription::new(vec![WeightedScorer::new(ScorerDescription::Recency, 1.0)]);
    assert_eq!(description, expected);
}

/// The error for a description in which one field is replaced.
fn error_with(path: &str, value: Value) -> String {
    let mut wrong = everything();
    *wrong.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value;
    read(&wrong).unwrap_err()
}

#[test]
fn errors_name_the_path_the_value_and_the_rule() {
    let cases = [
        ("/scorers/1/weight", json!(-1), "scorers[1].weight: must be positive, got -1"),
        ("/scorers/1/weight", json!("NaN"), "scorers[1].weight: must be finite, got NaN"),
        ("/scorers/1/weight", json!("x"), "scorers[1].weight: must be a number, got \"x\""),
        ("/scorers", json!([]), "scorers: at least one scorer is required"),
        (
            "/scorers/3/weights/Plan",
            json!(-2),
            "scorers[3].weights.Plan: must be finite and not negative, got -2",
        ),
        ("/scorers/4/weights/a", json!([]), "scorers[4].weights.a: must be a number, got a list"),
        (
            "/scorers/8/default_score",
            json!(2),
            "scorers[8].default_score: must be within 0 and 1, got 2",
        ),
        ("/scorers/9/boost", json!(0), "scorers[9].boost: must be positive, got 0"),
        (
            "/scorers/10/curve/half_life",
            json!("soon"),
            "scorers[10].curve.half_life: must be a duration such as \"24h\", \"1d 12h\" or \"500us\", or a number of seconds, got \"soon\"",
        ),
        (
            "/scorers/10/curve/half_life",
            json!(0),
            "scorers[10].halfLife: must be positive, got P0D",
        ),
        (
            "/scorers/10/curve/type",
            json!("linear"),
            "scorers[10].curve.type: unknown curve `linear`; known are exponential, window, step",
        ),
        (
            "/scorers/12/curve/windows/1/max_age",
            json!("30m"),
            "scorers[12].windows[1].maxAge: must be greater than the one before, got PT1800S after PT3600S",
        ),
        (
            "/scorers/13/scorers/1/weight",
            json!(0),
            "scorers[13].scorers[1].weight: must be positive, got 0",
        ),
        (
            "/scorers/13/scorers/0/scorer/scorer",
            json!("age"),
            "scorers[13].scorers[0].scorer.scorer.type: unknown scorer `age`; known are recency, priority, kind, tag, frequency, reflexive, composite, scaled, metadata-trust, metadata-key, decay",
        ),
        (
            "/slicer/type",
            json!("best"),
            "slicer.type: unknown slicer `best`; known are greedy, knapsack, shortening, quota, count-quota, count-constrained-knapsack",
        ),
        (
            "/slicer/quotas/0/require",
            json!(60),
            "slicer.quotas[0]: kind `Memory`: require `60` must not exceed cap `50`",
        ),
        (
            "/slicer/inner/entries/0/require_count",
            json!(-1),
            "slicer.inner.entries[0].require_count: must be a whole number that is not negative, got -1",
        ),
        (
            "/slicer/inner/entries/0/require_count",
            json!(9),
            "slicer.inner.entries[0]: kind `Memory`: require_count `9` must not exceed cap_count `3`",
        ),
        (
            "/slicer/inner/scarcity",
            json!("panic"),
            "slicer.inner.scarcity: must be one of degrade, throw, got \"panic\"",
        ),
        (
            "/slicer/inner/inner",
            json!("knapsack"),
            "slicer.inner.inner: a knapsack cannot be the inner slicer of CountQuotaSlice; use GreedySlice there, or CountConstrainedKnapsackSlice instead",
        ),
        (
            "/placer",
            json!("random"),
            "placer.type: unknown placer `random`; known are chronological, u-shaped",
        ),
        (
            "/overflow_strategy",
            json!("Shrug"),
            "overflow_strategy: must be one of Throw, Truncate, Proceed, got \"Shrug\"",
        ),
        ("/deduplication", json!("yes"), "deduplication: must be true or false, got \"yes\""),
        (
            "/budget/target_tokens",
            json!(200),
            "budget: target_tokens `200` must not exceed max_tokens `100`",
        ),
    ];
    for (path, value, expected) in cases {
        assert_eq!(error_with(path, value), expected);
    }
}

#[test]
fn unknown_and_misplaced_fields_are_refused_by_path() {
    let mut wrong = everything();
    wrong["scorers"][1]["half_life"] = json!("1h");
    assert_eq!(
        read(&wrong).unwrap_err(),
        "scorers[1].half_life: unknown field; known are type, weight"
    );
    let mut wrong = everything();
    wrong["scorer"] = json!("recency");
    assert!(
        read(&wrong).unwrap_err().starts_with("scorer: unknown field; did you mean `scorers`?")
    );
    assert_eq!(read(&json!({})).unwrap_err(), "scorers: is required");
}

#[test]
fn duplicate_kinds_are_refused_by_path() {
    let quota = json!({ "kind": "memory", "require": 1, "cap": 2 });
    let mut wrong = everything();
    wrong["slicer"]["quotas"].as_array_mut().unwrap().push(quota);
    let text = "slicer.quotas: kind `memory` occurs more than once; give each kind one entry";
    assert_eq!(read(&wrong).unwrap_err(), text);
    let mut wrong = everything();
    wrong["scorers"][3]["weights"]["MEMORY"] = json!(1);
    let text = "scorers[3].weights: kind `Memory` occurs more than once";
    assert_eq!(read(&wrong).unwrap_err(), text);
}

#[test]
fn build_checks_descriptions_that_were_changed_by_hand() {
    let mut description = read(&everything()).unwrap();
    description.scorers[1].weight = f64::NAN;
    let text = "scorers[1].weight: must be finite, got NaN";
    assert_eq!(description.build().unwrap_err(), CupelError::PipelineConfig(text.into()));
}

#[test]
fn a_described_policy_selects_what_a_built_one_does() {
    let description = read(&json!({
        "scorers": [{ "type": "reflexive", "weight": 3 }, { "type": "priority", "weight": 1 }],
        "slicer": { "type": "knapsack", "bucket_size": 1 },
        "placer": "u-shaped",
    }))
    .unwrap();
    let composite = CompositeScorer::new(vec![
        (Box::new(ReflexiveScorer), 3.0),
        (Box::new(PriorityScorer), 1.0),
    ]);
    let built = Pipeline::builder()
        .scorer(composite.unwrap())
        .slicer(KnapsackSlice::new(1).unwrap())
        .placer(UShapedPlacer)
        .build()
        .unwrap();
    let items: Vec<ContextItem> = (0..20)
        .map(|i| {
            let hint = f64::from(i * 7 % 20) / 20.0;
            let item = hinted(&format!("{i}"), 5 + i64::from(i % 6), hint);
            item.priority(i64::from(i * 3 % 11)).build().unwrap()
        })
        .collect();
    let described = Pipeline::from(description.build().unwrap());
    let budget = budget(60);
    let (a, b) = (described.run(&items, &budget).unwrap(), built.run(&items, &budget).unwrap());
    assert_eq!(contents(&a), contents(&b));
}

#[test]
fn a_clock_can_be_handed_in_for_decay() {
    let description = read(&json!({
        "scorers": [{ "type": "decay", "curve": { "type": "exponential", "half_life": "1h" } }],
    }))
    .unwrap();
    let noon = "2025-01-01T12:00:00Z".parse().unwrap();
    let policy = description.build_with_clock(FixedClock(noon)).unwrap();
    let item = ContextItemBuilder::new("a", 1).timestamp(noon - chrono::Duration::hours(1));
    let report = Pipeline::from(policy).dry_run(&[item.build().unwrap()], &budget(10)).unwrap();
    assert_eq!(report.included[0].score, 0.5);
}

#[test]
fn every_preset_is_named_described_and_builds() {
    let names = Preset::ALL.map(Preset::name);
    let expected =
        ["chat", "code-review", "rag", "document-qa", "tool-use", "long-running", "debugging"];
    assert_eq!(names, expected);
    for preset in Preset::ALL {
        assert_eq!(preset.name().parse(), Ok(preset));
        let description = preset.description();
        assert_eq!(description.name.as_deref(), Some(preset.name()));
        let written = serde_json::to_value(&description).unwrap();
        assert_eq!(read(&written).unwrap(), description);
        let pipeline = Pipeline::from(description.build().unwrap());
        pipeline.run(&[item("a", 5, 0.5)], &budget(10)).unwrap();
    }
    let error = "chats".parse::<Preset>().unwrap_err().to_string();
    assert!(error.starts_with("unknown preset `chats`; did you mean `chat`?"), "{error}");
}

/// The item that a preset keeps of two that fill the budget alone.
fn prefers(preset: Preset, left: ContextItemBuilder, right: ContextItemBuilder) -> String {
    let items = [left.build().unwrap(), right.build().unwrap()];
    let pipeline = Pipeline::from(preset.description().build().unwrap());
    let window = pipeline.run(&items, &budget(18)).unwrap();
    assert_eq!(window.len(), 1, "{preset}");
    window[0].content().to_owned()
}

#[test]
fn presets_favour_what_they_say() {
    let day = |day: u32| format!("2025-01-{day:02}T00:00:00Z").parse().unwrap();
    let plain = |text: &str| ContextItemBuilder::new(text, 10);
    let newer =
        prefers(Preset::Chat, plain("old").timestamp(day(1)), plain("new").timestamp(day(2)));
    assert_eq!(newer, "new");
    let trusted = |text: &str, hint, trust: &str| {
        let metadata = [("cupel:trust".to_owned(), trust.to_owned())].into();
        plain(text).future_relevance_hint(hint).metadata(metadata)
    };
    assert_eq!(
        prefers(Preset::Rag, trusted("far", 0.2, "0.5"), trusted("near", 0.9, "0.5")),
        "near"
    );
    assert_eq!(
        prefers(Preset::Rag, trusted("rumour", 0.5, "0.1"), trusted("fact", 0.5, "0.9")),
        "fact"
    );
    let important =
        prefers(Preset::LongRunning, plain("idle").priority(1), plain("vital").priority(9));
    assert_eq!(important, "vital");
    let error = prefers(
        Preset::Debugging,
        plain("fine").timestamp(day(2)),
        plain("broken").tags(vec!["Error".into()]).timestamp(day(1)),
    );
    assert_eq!(error, "broken");
    let code =
        prefers(Preset::CodeReview, plain("talk"), plain("main.rs").kind(ContextKind::document()));
    assert_eq!(code, "main.rs");
    let results: Vec<ContextItem> = (1..4)
        .map(|i| {
            let item = plain(&format!("result {i}")).kind(ContextKind::tool_output());
            item.timestamp(day(i)).build().unwrap()
        })
        .collect();
    let tool_use = Pipeline::from(Preset::ToolUse.description().build().unwrap());
    let report = tool_use.dry_run(&results, &budget(20)).unwrap();
    assert_eq!(included(&report), ["result 2", "result 3"]);
}

#[test]
fn document_qa_packs_the_window() {
    let pipeline = Pipeline::from(Preset::DocumentQa.description().build().unwrap());
    let items = [item("half", 50, 0.7), item("other half", 50, 0.7), item("dense", 10, 0.5)];
    let report = pipeline.dry_run(&items, &budget(100)).unwrap();
    assert_eq!(budget_utilization(&report, &budget(100)), 1.0);
}
