//! Answers: the caller's own messages, the same every time, from any thread.

use cupel::ContextItemBuilder;
use cupel_engine::{Engine, Limits, Options, Pin, Superseded};
use serde_json::json;

use crate::examples::{REQUESTS, builder, engine, example};

/// The list of messages of a request, whatever its format calls it.
fn messages(text: &str) -> Vec<serde_json::Value> {
    let request: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = ["messages", "input", "contents"].iter().find_map(|name| request.get(name));
    list.unwrap_or(&request).as_array().unwrap().clone()
}

#[test]
fn kept_messages_are_the_callers_own_in_the_order_written() {
    for name in REQUESTS {
        let text = example(name);
        let before = messages(&text);
        for budget in [2_000, 4_000, 8_000] {
            let Ok(selection) = engine(budget).select(text.as_str()) else { continue };
            let is_whole = |at: &usize| selection.rewritten.iter().all(|(other, _)| other != at);
            let after = messages(&selection.text);
            assert_eq!(selection.kept_messages.len(), after.len(), "{name} {budget}");
            for (at, message) in selection.kept_messages.iter().zip(&after) {
                assert_eq!(before[*at] == *message, is_whole(at), "{name} {budget} {at}");
            }
            assert_eq!(selection.kept_messages.len(), selection.summary.messages_after, "{name}");
            assert!(selection.summary.tokens_after <= budget, "{name} {budget}");
            let summary = &selection.summary;
            let is_whole = summary.messages_after == summary.messages_before;
            assert_eq!(is_whole, summary.tokens_before <= budget, "{name} {budget}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_on_eight_threads() {
    let text = example("support-chat.json");
    let engine = engine(1_500);
    let answer = |engine: &Engine| {
        let explanation = engine.explain(text.as_str(), &Options::new()).unwrap();
        let selection = engine.select(text.as_str()).unwrap();
        (serde_json::to_string(&explanation).unwrap(), selection.text)
    };
    let expected = answer(&engine);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|_| {
                let engine = engine.clone();
                let answer = &answer;
                scope.spawn(move || answer(&engine))
            })
            .collect();
        for handle in handles {
            assert_eq!(handle.join().unwrap(), expected);
        }
    });
}

#[test]
fn an_engine_goes_wherever_a_program_does() {
    fn is_free<T: Send + Sync + 'static>() {}
    is_free::<Engine>();
    is_free::<cupel_engine::Prepared>();
    is_free::<cupel_engine::Selection>();
    is_free::<cupel_engine::EngineError>();
}

#[test]
fn options_hold_for_one_call() {
    let text = example("support-chat.json");
    let engine = engine(1_500);
    let before = engine.select(text.as_str()).unwrap();
    let options = Options::new()
        .query("loyalty programme")
        .limits(Limits::of(3_000).with_reserve(500))
        .pin(Pin::Index(67))
        .model("gpt-4o");
    let other = engine.select_with(text.as_str(), &options).unwrap();
    assert_eq!(other.summary.budget.max_tokens, 3_000);
    assert_eq!(other.summary.budget.target_tokens, 2_500);
    assert_eq!(other.summary.model.as_deref(), Some("gpt-4o"));
    assert!(other.kept_messages.contains(&67));
    let again = engine.select(text.as_str()).unwrap();
    assert_eq!((again.summary, again.text), (before.summary, before.text));
}

#[test]
fn select_explain_and_windows_agree() {
    for name in REQUESTS {
        let text = example(name);
        let prepared = engine(4_000).prepare(text.as_str(), &Options::new()).unwrap();
        let selection = prepared.select().unwrap();
        let explanation = prepared.explain(usize::MAX).unwrap();
        let windows = prepared.windows(&[4_000]).unwrap();
        let mut explained: Vec<usize> =
            explanation.kept.iter().flat_map(|kept| kept.part.messages.clone()).collect();
        explained.sort_unstable();
        assert_eq!(explained, selection.kept_messages, "{name}");
        assert_eq!(windows.windows[0].kept_messages, selection.kept_messages, "{name}");
        assert_eq!(explanation.summary, selection.summary, "{name}");
        let all = explanation.kept.len() + explanation.left_out.len() + explanation.hidden;
        assert_eq!(all, selection.report.total_candidates, "{name}");
    }
}

#[test]
fn an_explanation_repeats_no_long_text() {
    let text = example("coding-agent.json");
    let explanation = engine(4_000).explain(text.as_str(), &Options::new()).unwrap();
    let longest = explanation.left_out.iter().map(|out| out.part.excerpt.chars().count()).max();
    assert!(longest.unwrap() <= 241, "{longest:?}");
}

#[test]
fn what_took_the_room_is_kept_and_large_enough() {
    let text = example("support-chat.json");
    let explanation = engine(1_500).explain(text.as_str(), &Options::new()).unwrap();
    let tokens = |position: &usize| {
        let kept = explanation.kept.iter().find(|kept| kept.part.position == *position);
        kept.expect("what took the room is in the window").part.tokens
    };
    let room = explanation.summary.budget.target_tokens - explanation.summary.tokens_after;
    let scored: i64 = explanation
        .kept
        .iter()
        .filter(|kept| kept.part.pinned.is_none())
        .map(|kept| kept.part.tokens)
        .sum();
    assert!(!explanation.left_out.is_empty());
    for out in &explanation.left_out {
        let taken: i64 = out.room_taken_by.iter().map(tokens).sum();
        assert!(taken >= (out.part.tokens - room).min(scored), "{}", out.part.path);
    }
}

#[test]
fn what_is_superseded_goes_only_if_asked_and_is_named() {
    let text = example("coding-agent.json");
    let keep = builder().max_tokens(1_000_000).build().unwrap().select(text.as_str()).unwrap();
    assert_eq!(keep.text, text);
    assert!(keep.superseded.is_empty());
    let engine = builder().max_tokens(1_000_000).superseded(Superseded::Drop).build().unwrap();
    let dropped = engine.select(text.as_str()).unwrap();
    assert!(!dropped.superseded.is_empty());
    for outdated in &dropped.superseded {
        assert!(outdated.messages.iter().all(|at| !dropped.kept_messages.contains(at)));
    }
}

#[test]
fn a_result_that_prints_a_call_does_not_supersede_the_result_of_that_call() {
    let step = |id: &str, command: &str, output: &str| {
        let arguments = json!({ "cmd": command }).to_string();
        let function = json!({ "name": "run", "arguments": arguments });
        [
            json!({ "role": "assistant", "tool_calls": [{ "id": id, "type": "function", "function": function }] }),
            json!({ "role": "tool", "tool_call_id": id, "content": output }),
        ]
    };
    let mut messages = vec![json!({ "role": "user", "content": "Build it." })];
    messages.extend(step("c1", "make", "two errors in main.c"));
    messages.extend(step("c2", "cat log", "run {\"cmd\":\"make\"}"));
    messages.push(json!({ "role": "user", "content": "What did make say?" }));
    let text = json!({ "model": "gpt-4o", "messages": messages }).to_string();
    let engine = builder().max_tokens(1_000_000).superseded(Superseded::Drop).build().unwrap();
    let window = engine.select(text.as_str()).unwrap();
    assert!(window.superseded.is_empty(), "{:?}", window.superseded);
    assert_eq!(window.text, text);
}

#[test]
fn candidates_that_are_no_request_are_selected_by_position() {
    let item = |text: &str, tokens| ContextItemBuilder::new(text, tokens).build().unwrap();
    let items = [
        item("The deploy key is on the blue card.", 9),
        item("Lunch is at noon.", 6),
        item("Soup again.", 4),
    ];
    let engine = Engine::builder().max_tokens(10).build().unwrap();
    let options = Options::new().query("Where is the deploy key?");
    let selection = engine.select_items(&items, &options).unwrap();
    assert_eq!(selection.kept, [0]);
    assert_eq!((selection.tokens_before, selection.tokens_after), (19, 9));
    assert_eq!(selection.report.excluded.len(), 2);
}

#[test]
fn comparisons_name_what_differs_and_count_by_one_budget() {
    let text = example("support-chat.json");
    let policies = ["chat", "auto"].map(|name| cupel_engine::NamedPolicy::find(name).unwrap());
    let comparison = engine(1_500).compare(text.as_str(), &policies, &Options::new()).unwrap();
    assert_eq!(comparison.policies[0].policy, "chat");
    assert_eq!(comparison.policies[0].budget, comparison.policies[1].budget);
    assert!(!comparison.swings.is_empty());
    for swing in &comparison.swings {
        assert_eq!(swing.is_kept.len(), 2);
        assert_ne!(swing.is_kept[0], swing.is_kept[1]);
    }
    let same = [policies[0].clone(), policies[0].clone()];
    let comparison = engine(1_500).compare(text.as_str(), &same, &Options::new()).unwrap();
    assert!(comparison.swings.is_empty());
}

#[test]
fn counts_add_up() {
    for name in REQUESTS {
        let count = engine(1).count(example(name), &Options::new()).unwrap();
        let parts: i64 = count.parts.iter().map(|part| part.tokens).sum();
        assert_eq!(parts, count.total_tokens, "{name}");
        assert!(count.is_estimate);
    }
    let count = engine(1).count_texts(&[("a", "one two"), ("b", "")]);
    assert_eq!(count.texts[1].tokens, 0);
    assert_eq!(count.total_tokens, count.texts[0].tokens);
}
