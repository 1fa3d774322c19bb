//! Requests that are broken: found, named and, when asked, repaired.

use cupel_chat::{CandidateOptions, ChatError, Format, RepairMode, Request};

use crate::pipelines::Quarters;
use crate::random::Random;
use crate::{checker, generate};

/// The request with other messages.
fn with_messages(format: Format, text: &str, messages: &[&str]) -> String {
    let (before, after) = checker::surroundings(format, text);
    format!("{before}[{}]{after}", messages.join(","))
}

/// Does to a request what careless trimming does. May leave it valid.
fn disturb(format: Format, text: &str, random: &mut Random) -> String {
    let mut messages = checker::messages(format, text).unwrap();
    let (any, other) = (random.below(messages.len()), random.below(messages.len()));
    match random.below(7) {
        0 | 1 => drop(messages.remove(any)),
        2 => messages.drain(..any).for_each(drop),
        3 => messages.truncate(any + 1),
        4 => messages.insert(any, messages[any]),
        5 => messages.swap(any, other),
        _ => {
            let moved = messages.remove(any);
            messages.insert(other.min(messages.len()), moved);
        }
    }
    with_messages(format, text, &messages)
}

/// Requests that were disturbed, of all formats that have rules.
fn disturbed() -> impl Iterator<Item = (Format, String)> {
    let formats = Format::ALL.into_iter().filter(|format| !format.has_free_order());
    formats.flat_map(|format| {
        (0..250).filter_map(move |seed| {
            let text = generate::request(format, seed);
            let list = checker::messages(format, &text).unwrap();
            let is_list = list.first().is_some_and(|first| !first.starts_with('"'));
            is_list.then(|| (format, disturb(format, &text, &mut Random::new(seed))))
        })
    })
}

#[test]
fn validate_and_the_checker_agree() {
    let mut broken = 0;
    for (format, text) in disturbed() {
        let problems = checker::problems(format, &text);
        let violations = Request::parse(text.as_str(), Some(format)).unwrap().validate();
        assert_eq!(
            problems.is_empty(),
            violations.is_empty(),
            "{format}: {problems:?} or {violations:?}?\n{text}"
        );
        broken += usize::from(!problems.is_empty());
    }
    assert!(broken > 400, "only {broken} were broken");
}

#[test]
fn nothing_is_selected_from_what_is_broken() {
    for (format, text) in disturbed() {
        let request = Request::parse(text.as_str(), Some(format)).unwrap();
        let violations = request.validate();
        let candidates = request.candidates(&Quarters, &CandidateOptions::default());
        match candidates {
            Ok(_) => assert_eq!(violations, []),
            Err(error) => assert_eq!(error, ChatError::Invalid { violations }),
        }
    }
}

/// Returns true if calls and results are blocks of messages, which may stay without them.
fn has_blocks(format: Format) -> bool {
    matches!(
        format,
        Format::Anthropic | Format::Gemini | Format::AiSdk | Format::AiSdkUi | Format::Bedrock
    )
}

#[test]
fn repair_yields_what_the_checker_accepts() {
    for (format, text) in disturbed() {
        let request = Request::parse(text.as_str(), Some(format)).unwrap();
        let (repaired, repairs) = request.repair(RepairMode::Drop);
        assert_eq!(repairs.is_empty(), repaired == text, "{repairs:?}\n{text}\n{repaired}");
        let again = Request::parse(repaired.as_str(), Some(format)).unwrap();
        if again.message_count() == 0 {
            continue;
        }
        // Where an instruction belongs, and who answered in between, only the author can say.
        let by_hand = ["system-message", "roles-alternate"];
        if again.validate().iter().any(|violation| by_hand.contains(&violation.rule)) {
            continue;
        }
        let problems = checker::problems(format, &repaired);
        assert_eq!(problems, Vec::<String>::new(), "{format}: {repairs:?}\n{text}\n{repaired}");
        assert_eq!(again.validate(), []);
        assert_eq!(again.repair(RepairMode::Drop), (repaired.clone(), Vec::new()));
        if !has_blocks(format) {
            // Here messages are moved and dropped, never rewritten.
            let originals = checker::messages(format, &text).unwrap();
            let kept = checker::messages(format, &repaired).unwrap();
            assert!(kept.iter().all(|message| originals.contains(message)), "{text}\n{repaired}");
        }
    }
}

#[test]
fn what_is_valid_is_not_repaired() {
    for format in Format::ALL {
        for seed in 0..50 {
            let text = generate::request(format, seed);
            let (repaired, repairs) =
                Request::parse(text.as_str(), Some(format)).unwrap().repair(RepairMode::Drop);
            assert_eq!(repairs, []);
            assert_eq!(repaired, text);
        }
    }
}

/// A request with one fault: the crate names its message and its rule, and repairs it to what the
/// checker accepts.
#[track_caller]
fn assert_named(format: Format, messages: &[&str], path: &str, rule: &str) {
    let field = path.split('[').next().unwrap();
    let text = format!("{{\"{field}\": [{}]}}", messages.join(", "));
    assert!(!checker::problems(format, &text).is_empty(), "the checker finds nothing in {text}");
    let request = Request::parse(text.as_str(), Some(format)).unwrap();
    let violations = request.validate();
    let found =
        violations.iter().find(|violation| violation.path == path && violation.rule == rule);
    let found = found.unwrap_or_else(|| panic!("no {rule} at {path}: {violations:?}"));
    assert!(!found.remedy.is_empty() && found.to_string().starts_with(&format!("{path}: ")));

    let (repaired, _) = request.repair(RepairMode::Drop);
    assert_eq!(checker::problems(format, &repaired), Vec::<String>::new(), "{repaired}");
}

#[test]
fn openai_chat_breaks_are_named() {
    let user = r#"{"role":"user","content":"Which trams run?"}"#;
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let two = r#"{"role":"assistant","content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"4 and 7"}"#;
    let format = Format::OpenAiChat;
    assert_named(format, &[user, result], "messages[1]", "orphan-result");
    assert_named(format, &[user, call, user], "messages[1]", "unanswered-call");
    assert_named(format, &[user, two, result], "messages[1]", "unanswered-call");
    assert_named(format, &[user, call, user, result], "messages[3]", "result-not-adjacent");
    assert_named(format, &[user, result, call], "messages[1]", "result-before-call");
    assert_named(format, &[user, call, result, result], "messages[3]", "duplicate-result");
}

#[test]
fn openai_responses_breaks_are_named() {
    let user = r#"{"role":"user","content":"Which trams run?"}"#;
    let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"a","output":"4 and 7"}"#;
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[]}"#;
    let format = Format::OpenAiResponses;
    assert_named(format, &[user, output], "input[1]", "orphan-result");
    assert_named(format, &[user, call], "input[1]", "unanswered-call");
    assert_named(format, &[user, output, call], "input[1]", "result-before-call");
    assert_named(format, &[user, reasoning], "input[1]", "reasoning-without-follower");
    assert_named(format, &[reasoning, user], "input[0]", "reasoning-without-follower");
}

#[test]
fn anthropic_breaks_are_named() {
    let user = r#"{"role":"user","content":"Which trams run?"}"#;
    let said = r#"{"role":"assistant","content":"Let me see."}"#;
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let result =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"4"}]}"#;
    let late = r#"{"role":"user","content":[{"type":"text","text":"Here:"},{"type":"tool_result","tool_use_id":"a","content":"4"}]}"#;
    let format = Format::Anthropic;
    assert_named(format, &[said, user], "messages[0]", "first-not-user");
    assert_named(format, &[user, said, result, user], "messages[2]", "orphan-result");
    assert_named(format, &[user, call, user], "messages[1]", "unanswered-call");
    assert_named(format, &[user, call, late], "messages[2]", "result-not-first");
    assert_named(format, &[user, call, said, result], "messages[3]", "result-not-adjacent");
    let empty =
        r#"{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"x"}]}"#;
    assert_named(format, &[user, said, empty], "messages[2].content[0]", "empty-text");
    let found = r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}"#;
    assert_named(format, &[user, found, user], "messages[1].content[1]", "orphan-result");
}

#[test]
fn a_last_turn_without_its_thinking_is_named_where_thinking_is_on() {
    let request = |thinking: &str| {
        format!(
            r#"{{"thinking":{{"type":"{thinking}"}},"messages":[{{"role":"user","content":"Which trams run?"}},
            {{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"4"}}]}}]}}"#
        )
    };
    let (on, off) = (request("enabled"), request("disabled"));
    let violations = Request::parse(on, Some(Format::Anthropic)).unwrap().validate();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(
        (violations[0].path.as_str(), violations[0].rule),
        ("messages[1]", "missing-thinking")
    );
    assert_eq!(Request::parse(off, Some(Format::Anthropic)).unwrap().validate(), []);
}

#[test]
fn gemini_breaks_are_named() {
    let user = r#"{"role":"user","parts":[{"text":"Which trams run?"}]}"#;
    let said = r#"{"role":"model","parts":[{"text":"Let me see."}]}"#;
    let calls = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}"#;
    let both = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"g","response":{}}}]}"#;
    let one = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
    let format = Format::Gemini;
    assert_named(format, &[user, calls, one], "contents[1]", "response-count");
    assert_named(format, &[user, calls], "contents[1]", "unanswered-call");
    assert_named(format, &[user, one, user], "contents[1]", "orphan-result");
    assert_named(format, &[user, said, calls, both], "contents[2]", "call-turn-position");
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"1","args":{}}}]}"#;
    let other =
        r#"{"role":"user","parts":[{"functionResponse":{"name":"f","id":"2","response":{}}}]}"#;
    assert_named(format, &[user, call, other, user], "contents[2]", "orphan-result");
}

#[test]
fn langchain_breaks_are_named() {
    let human = r#"{"type":"human","content":"Which trams run?"}"#;
    let ai = r#"{"type":"ai","content":"","tool_calls":[{"id":"a","name":"f","args":{}}]}"#;
    let said = r#"{"type":"ai","content":"Let me see."}"#;
    let tool = r#"{"type":"tool","tool_call_id":"a","content":"4 and 7"}"#;
    let format = Format::LangChain;
    assert_named(format, &[human, tool], "messages[1]", "orphan-result");
    assert_named(format, &[human, ai], "messages[1]", "unanswered-call");
    assert_named(format, &[human, ai, human, tool], "messages[3]", "result-not-adjacent");
    let greeting = format!("[{said},{human}]");
    let greeted = Request::parse(greeting, Some(format)).unwrap();
    assert_eq!(greeted.validate(), [], "a dump may begin with a greeting");
}
