//! Steps of a turn are in or out by themselves in every format, with what they need.

use std::sync::Arc;

use cupel_engine::{Engine, Explanation, KeptReason, Options, Why};

use crate::talk::{FORMATS, Quarters, Turn, messages, request, written_messages};

const GREEDY: &str =
    r#"{"scorers": [{"type": "recency"}], "slicer": {"type": "greedy"}, "deduplication": false}"#;

fn reading(at: usize, part: usize) -> String {
    format!(
        "lever_{at} moves signal_{} on track {}; oiled in week {}, force {} newton, the bolt was \
         replaced by crew_{} after the frost, and the wire runs free to post {}.",
        (at + part) * 7 % 60,
        (at + part) % 9,
        at % 52,
        100 + at * 13 % 80,
        (at + part) % 5,
        at * 3 + part
    )
}

/// Somebody has a signal box checked, lever by lever, and then asks about one of them.
fn story(steps: usize) -> Vec<Turn> {
    let mut turns =
        vec![Turn::Asks("Check all levers of the signal box at Elm Street.".to_owned())];
    turns.extend((0..steps).map(|at| Turn::Calls {
        arguments: format!("lever {at}"),
        // Long enough that what a format adds to each call counts little.
        result: (0..6).map(|part| reading(at, part)).collect::<Vec<_>>().join(" "),
    }));
    turns.push(Turn::Says("All levers are checked.".to_owned()));
    turns.push(Turn::Asks("Which crew replaced the bolt of lever_17?".to_owned()));
    turns
}

fn engine(policy: &str, max_tokens: i64) -> Engine {
    let builder = Engine::builder().max_tokens(max_tokens).counter(Arc::new(Quarters));
    let builder = match policy {
        "greedy" => builder.policy_text("greedy", GREEDY),
        policy => builder.policy(policy),
    };
    builder.build().unwrap()
}

#[test]
fn every_format_keeps_about_as_much_of_a_long_turn_before_the_last_one() {
    for policy in ["auto", "chat", "greedy"] {
        let mut kept = Vec::new();
        for format in FORMATS {
            let text = request(format, &messages(format, &story(60)));
            let engine = engine(policy, 4_000);
            let selection = engine.select(text.as_str()).unwrap();
            assert!(engine.validate(selection.text.as_str()).unwrap().is_valid, "{format}");
            let summary = &selection.summary;
            println!("{policy} {format}: {} {}", summary.messages_after, summary.tokens_after);
            assert!(summary.messages_after < summary.messages_before, "{format} was cut");
            kept.push((summary.messages_after as f64, summary.tokens_after as f64));
        }
        let (messages, tokens) = kept[0];
        for (format, (its_messages, its_tokens)) in FORMATS.iter().zip(&kept) {
            let is_near = |its: f64, of: f64| (its - of).abs() <= 0.1 * of;
            assert!(is_near(*its_messages, messages), "{policy} {format}: {kept:?}");
            assert!(is_near(*its_tokens, tokens), "{policy} {format}: {kept:?}");
        }
    }
}

#[test]
fn a_session_keeps_as_much() {
    for format in FORMATS {
        let text = request(format, &messages(format, &story(60)));
        let step = engine("auto", 4_000).session().next(text.as_str()).unwrap();
        assert!(step.summary.messages_after > 25, "{format}: {:?}", step.summary);
    }
}

/// Several long turns before the last, at many budgets, by several policies.
#[test]
fn windows_of_many_long_turns_are_valid_at_every_budget() {
    for format in FORMATS {
        let mut turns = story(8);
        turns.extend(story(6));
        turns.extend(story(9));
        let text = request(format, &messages(format, &turns));
        for policy in ["auto", "chat", "greedy"] {
            for tokens in (60..6_000).step_by(197) {
                let engine = engine(policy, tokens);
                let Ok(selection) = engine.select(text.as_str()) else { continue };
                let answer = engine.validate(selection.text.as_str()).unwrap();
                assert!(answer.is_valid, "{policy} {format} {tokens}: {answer:?}");
                assert!(selection.summary.tokens_after <= tokens);
            }
        }
    }
}

#[test]
fn whole_turns_are_kept_or_dropped_where_the_caller_asks() {
    let format = cupel_engine::Format::Anthropic;
    let text = request(format, &messages(format, &story(60)));
    let builder = Engine::builder().max_tokens(4_000).counter(Arc::new(Quarters));
    let selection = builder.whole_turns(true).build().unwrap().select(text.as_str()).unwrap();
    assert_eq!(written_messages(&selection.text).len(), 1);
}

fn explained(max_tokens: i64) -> Explanation {
    let format = cupel_engine::Format::Anthropic;
    let mut turns = story(3);
    if let Turn::Asks(words) = &mut turns[0] {
        *words = format!("{words} {}", "Be thorough and write everything down. ".repeat(60));
    }
    let text = request(format, &messages(format, &turns));
    engine("greedy", max_tokens).explain(text.as_str(), &Options::new()).unwrap()
}

#[test]
fn an_explanation_says_what_is_in_for_others_and_what_lacks_what_it_needs() {
    let roomy = explained(1_200);
    let opening = roomy.kept.iter().find(|kept| kept.part.path == "messages[0]").unwrap();
    assert_eq!(opening.reason, KeptReason::Scored);
    assert!(!opening.needed_by.is_empty());
    let steps = roomy.kept.iter().filter(|kept| opening.needed_by.contains(&kept.part.position));
    assert!(steps.clone().count() > 0 && steps.clone().all(|kept| kept.part.position > 1));
    let tight = explained(500);
    let whys: Vec<&Why> = tight.left_out.iter().map(|out| &out.why).collect();
    let lacks = |why: &&&Why| {
        matches!(why, Why::NoRoomForNeeds { left, tokens, paths, .. }
            if tokens > left && paths == &["messages[0]"])
    };
    assert!(whys.iter().any(|why| lacks(&why)), "{whys:?}");
}
