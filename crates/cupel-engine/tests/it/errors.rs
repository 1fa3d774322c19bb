//! Whatever is wrong is named, with a code that stays.

use cupel_engine::{Engine, EngineError, ErrorCode, Options, Pin};

use crate::examples::{builder, engine, example};

const TALK: &str = r#"[{"role": "user", "content": "Hello"}]"#;

#[track_caller]
fn assert_error<T>(result: Result<T, EngineError>, code: ErrorCode, text: &str) {
    let error = result.err().expect("it must be refused");
    assert_eq!((error.code(), error.to_string().as_str()), (code, text));
}

#[test]
fn names_that_nobody_knows_get_the_nearest() {
    let built = |builder: cupel_engine::EngineBuilder| builder.build();
    assert_error(
        built(builder().policy("caht")),
        ErrorCode::UnknownPolicy,
        "unknown policy `caht`; did you mean `chat`?",
    );
    assert_error(
        built(Engine::builder().model("gtp-4o")),
        ErrorCode::UnknownModel,
        "unknown model `gtp-4o`; did you mean `gpt-4o`?",
    );
    assert_error(
        built(Engine::builder().tokenizer("o200k")),
        ErrorCode::UnknownTokenizer,
        "unknown tokenizer `o200k`; known are o200k_base, cl100k_base, estimate, or give a file",
    );
}

#[test]
fn a_policy_that_cannot_be_read_names_its_place() {
    let error = builder().policy_text("mine", "scorers = [").build().unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidPolicy);
    assert_eq!(error.location().map(|(line, _)| line), Some(1));
}

#[test]
fn what_does_not_fit_lists_what_must_be_kept_largest_first() {
    let error = engine(100).select(example("support-chat.json")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DoesNotFit);
    assert!(error.is_refusal());
    let tokens: Vec<i64> = error.parts().iter().map(|part| part.tokens).collect();
    assert!(tokens.is_sorted_by(|a, b| a >= b) && tokens.len() > 1, "{tokens:?}");
    assert!(error.parts().iter().all(|part| part.pinned.is_some()));
}

#[test]
fn a_call_without_a_budget_says_what_would_give_one() {
    let engine = builder().build().unwrap();
    assert_error(
        engine.select(TALK),
        ErrorCode::NoBudget,
        "how much fits? the request names no model; give the window in tokens, or a known model",
    );
    let text = r#"{"model": "eliza", "messages": [{"role": "user", "content": "Hello"}]}"#;
    let error = engine.select(text).unwrap_err();
    assert!(error.rule().contains("the model `eliza`, which is not known"), "{error}");
    let engine = Engine::builder().model("eliza").build().unwrap();
    assert_eq!(engine.select(TALK).unwrap_err().code(), ErrorCode::NoBudget);
}

#[test]
fn a_model_that_nobody_knows_is_estimated_and_a_slip_is_told() {
    let select = |name: &str| Engine::builder().model(name).max_tokens(1_000).build()?.select(TALK);
    for name in [
        "grok-4",
        "command-a",
        "codellama:13b",
        "my-model",
        "gpt-5.6-cyber",
        "gpt-3.5-turbo-16k",
        "aihubmix/gpt-5.4-low",
        "scx-ai/DeepSeek-V4.1-flash",
    ] {
        let selection = select(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(selection.summary.is_estimate, "{name}");
        assert!(selection.summary.estimated_like.is_some(), "{name}");
    }
    for name in ["gtp-4o", "gpt-4p", "cluade-sonnet-4-5", "openai/gpt-4o-mnii"] {
        assert_eq!(select(name).unwrap_err().code(), ErrorCode::UnknownModel, "{name}");
    }
}

#[test]
fn repair_is_recommended_only_where_it_helps() {
    let orphan = r#"[{"role": "tool", "tool_call_id": "x", "content": "?"},
        {"role": "user", "content": "a"}]"#;
    let error = engine(100).select(orphan).unwrap_err();
    let drop = "repair it, and drop what cannot be kept";
    assert_eq!((error.code(), error.remedy()), (ErrorCode::InvalidRequest, Some(drop)));
    assert_eq!(error.violations()[0].rule, "orphan-result");
    let unnamed = r#"[{"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": "?"}]"#;
    assert_eq!(engine(100).select(unnamed).unwrap_err().remedy(), Some("repair it"));
    let beyond = r#"[{"role": "wizard", "content": "a"}]"#;
    let options = Options::new();
    let engine = builder().format(cupel_engine::Format::OpenAiChat).max_tokens(9).build().unwrap();
    let error = engine.select_with(beyond, &options).unwrap_err();
    assert_eq!(error.remedy(), Some("correct it by hand"));
}

#[test]
fn a_repairing_engine_tells_what_it_did() {
    let orphan = r#"[{"role": "tool", "tool_call_id": "x", "content": "?"},
        {"role": "user", "content": "a"}]"#;
    let mode = Some(cupel_engine::RepairMode::Drop);
    let engine = builder().max_tokens(100).repair_by(mode).build().unwrap();
    let selection = engine.select(orphan).unwrap();
    assert_eq!(selection.repairs.len(), 1);
    assert_eq!(selection.summary.messages_after, 1);
}

#[test]
fn pins_and_messages_that_are_not_there_are_errors() {
    for pin in ["9", "role:wizard", "field:meta.keep=true"] {
        let pin: Pin = pin.parse().unwrap();
        let error = engine(100).select_with(TALK, &Options::new().pin(pin)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnmatchedPin, "{error}");
    }
    assert_error(
        engine(100).min_budget(TALK, 1, &Options::new()),
        ErrorCode::UnknownMessage,
        "there is no message 1: the request has 1, counted from 0",
    );
}

#[test]
fn errors_are_json_too_and_are_read_back() {
    let error = engine(1).select(example("support-chat.json")).unwrap_err();
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["schema"], "cupel/1");
    assert_eq!(json["code"], "does-not-fit");
    assert_eq!(serde_json::from_value::<EngineError>(json).unwrap(), error);
}
