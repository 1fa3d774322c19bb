//! Relations of requests to those before them, and the memory of them.

use cupel_replay::{Replay, RowOutcome};
use serde_json::{Value, json};

use crate::support::{rows, settings};

/// Request `step` of a conversation: two messages more than the one before.
fn request(conversation: usize, step: usize) -> String {
    let messages: Vec<Value> = (0..=2 * step)
        .map(|at| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            json!({ "role": role, "content": format!("Note {at} of talk {conversation}: box B-{conversation}-{at} is on shelf {at}.") })
        })
        .collect();
    json!({ "conversation_id": format!("talk-{conversation}"), "messages": messages }).to_string()
}

#[test]
fn sessions_keep_the_cache_and_little_memory() {
    let mut settings = settings(400);
    settings.session = true;
    settings.policies.truncate(1);
    // 60 conversations of up to 40 messages are far below 20 kB each.
    settings.conversation_bytes = 60 * 20_000;
    let mut replay = Replay::new(settings);
    let (mut anew, mut in_session) = (0, 0);
    for step in (2..20).step_by(3) {
        let batch: Vec<String> = (0..60).map(|conversation| request(conversation, step)).collect();
        for outcome in replay.push(rows(&batch)).rows {
            let RowOutcome::Request(request) = outcome else { panic!("{outcome:?}") };
            anew += request.windows[0].sent.uncached_tokens;
            in_session += request.windows[1].sent.uncached_tokens;
            assert!(request.windows.iter().all(|window| window.fits && window.sent.tokens <= 400));
        }
    }
    assert_eq!((replay.open_conversations(), replay.forgotten_conversations()), (60, 0));
    assert!(in_session < anew, "{in_session} in a session, {anew} anew");
}

#[test]
fn conversations_that_were_quiet_for_longest_are_forgotten_first() {
    let mut settings = settings(400);
    settings.conversation_bytes = 10_000;
    let mut replay = Replay::new(settings);
    for conversation in 0..50 {
        replay.push(rows(&[request(conversation, 4)]));
    }
    let (open, forgotten) = (replay.open_conversations(), replay.forgotten_conversations());
    assert_eq!(open + forgotten, 50);
    assert!((2..40).contains(&open), "{open}");
    // The last one is remembered, the first is not.
    let uncached = |replay: &mut Replay, conversation: usize| {
        let outcomes = replay.push(rows(&[request(conversation, 5)]));
        let RowOutcome::Request(request) = &outcomes.rows[0] else { panic!() };
        (request.logged.uncached_tokens, request.logged.tokens)
    };
    let (known, all) = uncached(&mut replay, 49);
    assert!(known < all / 2);
    let (unknown, all) = uncached(&mut replay, 0);
    assert_eq!(unknown, all);
}

#[test]
fn without_a_name_a_conversation_is_known_by_how_it_begins() {
    let unnamed = |conversation, step| request(conversation, step).replace("conversation_id", "x");
    let steps = [(1, 0), (2, 2), (1, 3), (2, 3)];
    let batch: Vec<String> = steps.map(|(talk, step)| unnamed(talk, step)).to_vec();
    let mut replay = Replay::new(settings(10_000));
    let outcomes = replay.push(rows(&batch));
    let uncached: Vec<bool> = outcomes
        .rows
        .iter()
        .map(|outcome| match outcome {
            RowOutcome::Request(request) => request.logged.uncached_tokens == request.logged.tokens,
            RowOutcome::Problem(problem) => panic!("{problem}"),
            _ => panic!(),
        })
        .collect();
    assert_eq!(uncached, [true, true, false, false]);
    assert_eq!(replay.open_conversations(), 2);
}

/// Prompts with the same examples in front are not looked through one by one.
#[test]
fn conversations_that_begin_alike_are_told_apart_by_all_of_their_messages() {
    let request = |talk: usize, step: usize| {
        let said = (0..=step).map(|at| format!("Talk {talk}, note {at}."));
        let texts = ["One example.", "Fine."].map(str::to_owned).into_iter().chain(said);
        let role = |at| if at % 2 == 0 { "user" } else { "assistant" };
        let messages: Vec<Value> = texts
            .enumerate()
            .map(|(at, text)| json!({ "role": role(at), "content": text }))
            .collect();
        json!({ "messages": messages }).to_string()
    };
    let mut settings = settings(10_000);
    settings.policies.truncate(1);
    let mut replay = Replay::new(settings);
    for step in [0, 2] {
        let batch: Vec<String> = (0..300).map(|talk| request(talk, step)).collect();
        let outcomes = replay.push(rows(&batch));
        let is_known = |outcome: &RowOutcome| match outcome {
            RowOutcome::Request(request) => request.logged.uncached_tokens < request.logged.tokens,
            other => panic!("{other:?}"),
        };
        assert!(outcomes.rows.iter().all(|outcome| is_known(outcome) == (step > 0)));
        assert_eq!(replay.open_conversations(), 300);
    }
}

#[test]
fn a_call_that_is_made_again_after_it_was_lost_is_counted() {
    let call = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"/srv/a.txt\"}"}}]});
    let result =
        |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "long text ".repeat(60)});
    let row = |messages: Vec<Value>, answer: Value| {
        json!({"conversation_id": "c", "request": {"messages": messages}, "response": answer})
            .to_string()
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let first = row(vec![user("Read /srv/a.txt.")], call("1"));
    let again = row(
        vec![
            user("Read /srv/a.txt."),
            call("1"),
            result("1"),
            user("Again, please, and tell me more of it."),
        ],
        call("2"),
    );
    // Here the log itself has lost the call.
    let lost = row(vec![user("What was in /srv/a.txt?")], call("3"));
    let mut replay = Replay::new(settings(60));
    let outcomes = replay.push(rows(&[first, again, lost]));
    let request = |at: usize| match &outcomes.rows[at] {
        RowOutcome::Request(request) => request,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (request(0).repeated_calls, request(1).repeated_calls, request(1).repeated_after_loss),
        (0, 1, 0)
    );
    assert_eq!(request(1).windows[0].fetched_again, 1, "the window has no room for the long text");
    assert_eq!((request(2).repeated_calls, request(2).repeated_after_loss), (1, 1));
}

#[test]
fn what_is_invalid_in_the_log_costs_nothing() {
    let valid = r#"{"messages":[{"role":"user","content":"Hello there."}]}"#.to_owned();
    let invalid = r#"{"messages":[{"role":"tool","tool_call_id":"x","content":"An orphan of many, many words."},{"role":"user","content":"a"}]}"#.to_owned();
    let mut replay = Replay::new(settings(1_000));
    let mut summing = cupel_replay::Summing::new(replay.ways(), 20);
    summing.add(&replay.push(rows(std::slice::from_ref(&valid))));
    let alone = summing.summary(true, 0);
    summing.add(&replay.push(rows(&[invalid])));
    let both = summing.summary(true, 0);
    assert_eq!((both.rows.requests, both.rows.invalid_in_log, both.rows.broken), (1, 1, 0));
    assert_eq!((both.logged, &both.ways[0].sent), (alone.logged, &alone.ways[0].sent));
    assert!(both.problems[0].rule.contains("has no call before it"), "{:?}", both.problems);
}
