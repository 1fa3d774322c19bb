use serde_json::{Value, json};

use super::*;
use crate::OracleImplementation;

fn items() -> Vec<Item> {
    let plain = Item { content: "a".to_owned(), tokens: i64::MAX, ..Item::default() };
    let full = Item {
        content: "b".to_owned(),
        tokens: -1,
        kind: Some("Memory".to_owned()),
        source: Some("Rag".to_owned()),
        priority: Some(i64::MIN),
        tags: vec!["x".to_owned()],
        metadata: [("k".to_owned(), "v".to_owned())].into(),
        timestamp: "2024-06-01T00:00:00.000000001Z".parse().ok(),
        future_relevance_hint: Some(f64::NEG_INFINITY),
        pinned: Some(true),
        original_tokens: Some(7),
    };
    vec![plain, full]
}

fn policy() -> Policy {
    let curve = Curve::Step { windows: vec![StepWindow { max_age_secs: 0.1, score: 0.3 }] };
    let reference_time = "2025-01-01T12:00:00Z".parse().unwrap();
    let decay = Scorer::Decay { reference_time, curve, null_timestamp_score: None };
    let scaled = Scorer::Scaled { inner: Box::new(decay) };
    let scorers = vec![WeightedScorer { weight: 0.1, scorer: scaled }];
    let entry = CountEntry { kind: "Memory".to_owned(), require_count: 1, cap_count: 2 };
    let inner = Slicer::CountConstrainedKnapsack {
        entries: vec![entry],
        scarcity_behavior: Some(ScarcityBehavior::Throw),
        bucket_size: Some(1),
    };
    Policy {
        scorer: Scorer::Composite { scorers },
        slicer: Slicer::Quota { quotas: vec![], inner: Box::new(inner) },
        placer: Placer::UShaped,
        deduplication: Some(false),
        overflow_strategy: Some(OverflowStrategy::Proceed),
    }
}

#[test]
fn requests_survive_json() {
    let budget = Budget {
        reserved_slots: [("Memory".to_owned(), 5)].into(),
        estimation_safety_margin_percent: Some(0.1),
        ..Budget::of(i64::MAX)
    };
    let task =
        Task::Pipeline(PipelineTask { policy: policy(), items: items(), budget, report: true });
    let request = Request { id: 7, task };
    let text = serde_json::to_string(&request).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
}

#[test]
fn numbers_survive_json_to_the_last_bit() {
    let scores = vec![0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, -0.0, 1.0 / 3.0];
    let answer = ScoringAnswer { scores };
    let text = serde_json::to_string(&answer).unwrap();
    let read: ScoringAnswer = serde_json::from_str(&text).unwrap();
    let bits = |answer: &ScoringAnswer| -> Vec<u64> {
        answer.scores.iter().map(|score| score.to_bits()).collect()
    };
    assert_eq!(bits(&read), bits(&answer));
    let nan: ScoringAnswer = serde_json::from_str(r#"{"scores":["NaN", 1]}"#).unwrap();
    assert!(nan.scores[0].is_nan() && nan.scores[1] == 1.0);
}

#[test]
fn what_a_vector_does_not_say_is_not_sent() {
    let item = Item { content: "a".to_owned(), tokens: 1, ..Item::default() };
    assert_eq!(serde_json::to_value(&item).unwrap(), json!({"content": "a", "tokens": 1}));
    let greedy = serde_json::to_value(Slicer::Greedy).unwrap();
    assert_eq!(greedy, json!({"type": "greedy"}));
}

fn served(line: &str) -> Value {
    let mut output = Vec::new();
    serve(&mut OracleImplementation, line.as_bytes(), &mut output).unwrap();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn a_bad_request_is_answered_and_does_not_end_the_service() {
    let answer = served("nonsense");
    assert_eq!(answer["error"]["code"], "bad_request");
    let answer = served(r#"{"id":3,"stage":"guessing"}"#);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(3), &json!("bad_request")));
    let mut output = Vec::new();
    let input = b"nonsense\n\n{\"id\":1,\"stage\":\"placing\",\"placer\":\"u-shaped\",\"items\":[],\"scores\":[]}\n";
    serve(&mut OracleImplementation, &input[..], &mut output).unwrap();
    assert_eq!(output.split(|byte| *byte == b'\n').count(), 3);
}

#[test]
fn what_is_not_done_is_unsupported() {
    struct Nothing;
    impl crate::Implementation for Nothing {}
    let mut output = Vec::new();
    let request = r#"{"id":1,"stage":"placing","placer":"u-shaped","items":[],"scores":[]}"#;
    serve(&mut Nothing, request.as_bytes(), &mut output).unwrap();
    let answer: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer, json!({"id": 1, "unsupported": "the implementation does not do placing"}));
}
