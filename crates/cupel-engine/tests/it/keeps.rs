//! Messages that nobody would drop stay, anew and in a session, and more room does not lose them.

use cupel_engine::{Engine, Session};
use serde_json::{Value, json};

use crate::talk::Random;

const RULES: [&str; 2] =
    ["Never touch the migrations folder.", "From now on, always answer in two sentences at most."];
const STATED: &str = "The ferry to Kirkwall leaves on Monday.";
const CORRECTED: &str = "Actually, the ferry to Kirkwall leaves on Thursday.";
const LIST: &str =
    "Three cabins are left: 1. the one at the bow 2. the one by the stairs 3. the one at the stern";
const BARE: &str = "The second one please";

fn below(random: &mut Random, limit: usize) -> usize {
    usize::try_from(random.below(limit as u64)).unwrap()
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

/// Talk of so many turns, into which rules, a statement and its correction are strewn; it ends with a list and a turn
/// that cannot be understood without. With `calls`, an agent works between turns.
fn talk(random: &mut Random, turns: usize, calls: bool) -> Vec<Value> {
    const SUBJECTS: [&str; 6] = ["harbour", "library", "orchard", "station", "bakery", "museum"];
    let mut places: Vec<usize> = (0..4).map(|_| 1 + below(random, turns - 2)).collect();
    // What corrects comes behind what it corrects.
    if places[2] >= places[3] {
        (places[2], places[3]) = (places[3].min(turns - 3), turns - 2);
    }
    let strewn = [RULES[0], RULES[1], STATED, CORRECTED];
    let mut messages = vec![said("user", "Please help me plan a week in the north.")];
    for turn in 1..turns {
        let subject = SUBJECTS[below(random, SUBJECTS.len())];
        messages.push(said(
            "assistant",
            &format!("{turn}: the {subject} opens early and {}", "closes late, ".repeat(4)),
        ));
        if calls && below(random, 2) == 0 {
            let id = format!("call_{turn}");
            let call = json!({ "id": id, "type": "function",
                "function": { "name": "look_up", "arguments": format!("{{\"place\":\"{subject}_{turn}\"}}") } });
            messages.push(json!({ "role": "assistant", "tool_calls": [call] }));
            let result =
                format!("{subject}_{turn} {}", "row of a table, ".repeat(1 + below(random, 12)));
            messages.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
            messages.push(said("assistant", "That is what the table has."));
        }
        for (_, text) in places.iter().zip(strewn).filter(|(place, _)| **place == turn) {
            messages.push(said("user", text));
        }
        messages.push(said(
            "user",
            &format!("How far is the {subject} from the quay, and is it worth {turn} hours?"),
        ));
    }
    messages.extend([said("assistant", LIST), said("user", BARE)]);
    messages
}

fn engine(max_tokens: i64) -> Engine {
    Engine::builder().max_tokens(max_tokens).tokenizer("estimate").build().unwrap()
}

/// Returns true if what was corrected in a request is out of its window, or in with its correction.
fn is_current(request: &str, window: &str) -> bool {
    !request.contains(CORRECTED) || !window.contains(STATED) || window.contains(CORRECTED)
}

const BUDGETS: [i64; 4] = [300, 450, 700, 1_000];

#[test]
fn at_every_budget_rules_corrections_and_the_reply_are_in() {
    for seed in 0..24 {
        let messages = talk(&mut Random(seed), 24, seed % 2 == 0);
        let text = json!({ "messages": messages }).to_string();
        for budget in BUDGETS {
            let window = engine(budget).select(text.as_str()).unwrap().text;
            for kept in [RULES[0], RULES[1], LIST, BARE] {
                assert!(window.contains(kept), "{seed}, {budget}: {kept}");
            }
            assert!(is_current(&text, &window), "{seed}, {budget}");
        }
    }
}

#[test]
fn in_a_session_rules_stay_corrections_come_and_more_room_loses_neither() {
    for seed in 100..116 {
        let messages = talk(&mut Random(seed), 24, seed % 2 == 0);
        let mut sessions: Vec<Session> = BUDGETS.iter().map(|max| engine(*max).session()).collect();
        let is_users = |at: &usize| messages[at - 1]["role"] == "user";
        for end in (1..=messages.len()).filter(is_users) {
            let text = json!({ "messages": messages[..end] }).to_string();
            let mut before: Vec<&str> = Vec::new();
            for (session, budget) in sessions.iter_mut().zip(BUDGETS) {
                let window = session.next(text.as_str()).unwrap().text;
                assert!(session.accept());
                assert!(is_current(&text, &window), "{seed}, {end}, {budget}");
                let kept =
                    RULES.into_iter().filter(|rule| window.contains(rule)).collect::<Vec<_>>();
                let lost = before.iter().find(|rule| !kept.contains(rule));
                assert_eq!(lost, None, "{seed}, {end}: more than {budget} loses it");
                let said = RULES.iter().filter(|rule| text.contains(**rule)).count();
                assert_eq!(kept.len(), said, "{seed}, {end}, {budget}");
                assert!(
                    end < messages.len() || window.contains(LIST),
                    "{seed}, {budget}: the reply"
                );
                before = kept;
            }
        }
    }
}

/// A reply that was sent in a shorter form for one turn cannot be sent so at the next: what was said behind it stays
/// nevertheless.
#[test]
fn what_was_said_behind_a_shortened_reply_stays() {
    const CHANGED: &str = "We are only 25 guests now, some cancelled.";
    let paragraphs = |subject: &str| {
        let sentence =
            |at: usize| format!("Point {at}: the {subject} needs number {at} of it all.");
        (0..28).map(sentence).collect::<Vec<_>>().join("\n")
    };
    let messages = [
        said("user", "There will be 40 guests. Any advice on the garden?"),
        said("assistant", &paragraphs("garden")),
        said("user", "And what would you say of the kitchen?"),
        said("assistant", &paragraphs("kitchen")),
        said("user", CHANGED),
        said("assistant", "All right."),
        said("user", "Thanks!"),
    ];
    let mut session = engine(500).session();
    let mut step = |end: usize| {
        let text = json!({ "messages": messages[..end] }).to_string();
        let window = session.next(text.as_str()).unwrap().text;
        assert!(session.accept());
        window
    };
    step(1);
    step(3);
    let shortened = step(5);
    assert!(shortened.contains("Point 0: the kitchen") && !shortened.contains("Point 14: the k"));
    let window = step(7);
    assert!(window.contains("40 guests") && window.contains(CHANGED), "{window}");
}
